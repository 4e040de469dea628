/* SPDX-License-Identifier: MIT */
/** DOC: Names of what lies in loaded code: for texts about faults */
#ifndef TUTTI_CODE_NAME_H
#define TUTTI_CODE_NAME_H

#include "device/device.h"

#define CODE_NAME_BYTES 96u
#define CODE_LINE_BYTES 256u

/** code_kernel_name() - name of the kernel whose descriptor is at @object. False if no loaded code has it there. */
bool code_kernel_name(struct tutti_device *device, uint64_t object, char name[CODE_NAME_BYTES]);
/** code_function_name() - the function that @pc is in, and how far behind its start that is. */
bool code_function_name(struct tutti_device *device, uint64_t pc, char name[CODE_NAME_BYTES], uint64_t *offset);
/** code_line() - "file:line" of the code at @pc; false if it is not known. */
bool code_line(struct tutti_device *device, uint64_t pc, char text[CODE_LINE_BYTES]);

#endif
