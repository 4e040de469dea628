/* SPDX-License-Identifier: MIT */
/**
 * DOC: The functions of libxrt_coreutil that the transport calls
 *
 * The library is opened when a device is, so nothing of XRT is needed to build Tutti, and tests put a table of
 * their own in its place.
 */
#ifndef TUTTI_TRANSPORT_XRT_LIBRARY_H
#define TUTTI_TRANSPORT_XRT_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Flags of xrtBOAlloc() and values of xrtBOSync(), as in XRT's xrt_mem.h. */
#define XRT_P2P	      (1u << 30)
#define XRT_HOST_ONLY (1u << 29)

typedef unsigned char xrt_uuid[16];

/**
 * XRT_FUNCTIONS() - X(result, name, parameters) for each function, as XRT's C headers declare them. They set errno and
 * return NULL, -1 or an errno if they fail, after XRT itself has printed why.
 */
#define XRT_FUNCTIONS(X)                                                                              \
	X(void *, xrtDeviceOpen, (unsigned index))                                                    \
	X(void *, xrtDeviceOpenByBDF, (const char *bdf))                                              \
	X(int, xrtDeviceClose, (void *device))                                                        \
	X(int, xrtDeviceLoadXclbinFile, (void *device, const char *path))                             \
	X(int, xrtDeviceGetXclbinUUID, (void *device, xrt_uuid uuid))                                 \
	X(void *, xrtPLKernelOpenExclusive, (void *device, const xrt_uuid uuid, const char *name))    \
	X(int, xrtKernelClose, (void *kernel))                                                        \
	X(int, xrtKernelArgGroupId, (void *kernel, int argument))                                     \
	X(int, xrtKernelReadRegister, (void *kernel, uint32_t offset, uint32_t *value))               \
	X(int, xrtKernelWriteRegister, (void *kernel, uint32_t offset, uint32_t value))               \
	X(void *, xrtBOAlloc, (void *device, size_t bytes, uint64_t flags, uint32_t group))           \
	X(int, xrtBOFree, (void *buffer))                                                             \
	X(void *, xrtBOMap, (void *buffer))                                                           \
	X(uint64_t, xrtBOAddress, (void *buffer))

/** struct xrt_library - pointers to these functions, each under its name without the prefix "xrt". */
struct xrt_library {
#define X(result, name, parameters) result(*name) parameters;
	XRT_FUNCTIONS(X)
#undef X
};

/**
 * xrt_library_open() - find XRT and what it needs, and load it.
 * @library: receives the functions; they stay valid until the process ends
 *
 * XRT ends the process if it does not find its own parts, so they are looked for before its first call. Where
 * XILINX_XRT is not set and the library lies where Debian puts it, a folder that XRT understands is made.
 * Return: 0, or -ENODEV after one sentence on stderr.
 */
int xrt_library_open(const struct xrt_library **library);

/** xrt_library_replace() - for tests: use @library from now on; NULL ends that. */
void xrt_library_replace(const struct xrt_library *library);

#endif
