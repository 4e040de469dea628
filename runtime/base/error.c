// SPDX-License-Identifier: MIT
#include <errno.h>
#include <string.h>

#include "tutti.h"

static const char *const error_text[] = {
    [TUTTI_ERROR_NONE] = "no error",
    [TUTTI_ERROR_DIMENSIONS] = "dimensions not 1..3, or a zero size",
    [TUTTI_ERROR_GROUP_MEMORY] = "group segment larger than an SM's shared memory",
    [TUTTI_ERROR_PRIVATE_MEMORY] = "private segment larger than a wave may have",
    [TUTTI_ERROR_WORKGROUP] = "workgroup too large, or not what the kernel requires",
    [TUTTI_ERROR_CODE_OBJECT] = "null, unmapped or invalid kernel object",
    [TUTTI_ERROR_PACKET] = "invalid packet",
    [TUTTI_ERROR_KERNEL_TRAP] = "kernel trap",
    [TUTTI_ERROR_MEMORY_FAULT] = "memory fault",
    [TUTTI_ERROR_TIMEOUT] = "kernel hung: no workgroup completed within the queue's limit",
    [TUTTI_ERROR_RING_FAULT] = "ring, read index or signal not accessible",
    [TUTTI_ERROR_GRID] = "grid or CGA can never fit this card",
    [TUTTI_ERROR_TMD] = "bad task metadata",
    [TUTTI_ERROR_TENSOR] = "rejected tensor request",
    [TUTTI_ERROR_CGA] = "bad access to another workgroup's memory",
    [TUTTI_ERROR_CANCELLED] = "cancelled",
    [TUTTI_ERROR_AGENT] = "unknown agent dispatch function or bad argument",
    [TUTTI_ERROR_SM] = "an SM does not answer",
    [TUTTI_ERROR_MEMORY] = "uncorrectable memory error",
};

/* Errors of functions for which the operating system's own text would speak of files, disks or networks. */
static const struct {
	int error;
	const char *text;
} function_text[] = {
    {-ENOENT, "not found"},
    {-EIO, "the queue has stopped, or the card has died"},
    {-E2BIG, "the program was built for a later version of libtutti"},
    {-ENOEXEC, "not a code object that this card can run"},
    {-ENOLINK, "a symbol of the code object is not defined"},
    {-ENOSPC, "no room left on the card"},
    {-EPIPE, "the work queue is closed"},
    {-EPROTO, "card, firmware and library speak different versions of the contract"},
    {-ETIMEDOUT, "not done in time"},
};

static const char *function_error(int error)
{
	for (size_t i = 0; i < sizeof(function_text) / sizeof(*function_text); i++)
		if (function_text[i].error == error)
			return function_text[i].text;
	return strerror(-error);
}

const char *tutti_strerror(int error)
{
	if (error <= 0)
		return error ? function_error(error) : "success";
	if ((size_t)error < sizeof(error_text) / sizeof(error_text[0]) && error_text[error])
		return error_text[error];
	return "unknown error";
}

uint32_t tutti_version(void)
{
	return TUTTI_VERSION(0, 1);
}
