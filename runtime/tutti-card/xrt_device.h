/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_XRT_DEVICE_H
#define TUTTI_XRT_DEVICE_H

#include "process.h"

/**
 * xrt_device_run() - be the device process of XRT's software emulation (XCL_EMULATION_MODE=sw_emu).
 *
 * XRT starts it, names its socket in EMULATION_SOCKETID and ends it by a last call or by closing the socket. Buffer
 * objects that the host maps are shared files, so the real XRT and the card see the same memory. Two packages' worth
 * of settings are needed around XRT; tests/xrt/ shows them.
 * Return: 0 or -errno.
 */
int xrt_device_run(const struct process_options *options);

#endif
