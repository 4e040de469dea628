// SPDX-License-Identifier: MIT
/*
 * Debian's libxrt_swemu 2.13 loses the result of a realloc() of its message buffer, so that buffer must never have to
 * move: preloaded, this makes every small block large enough for all of its messages. It is for that test rig only.
 */
#include <stddef.h>

#define MESSAGE_BYTES 65536u

void *__libc_malloc(size_t bytes);
void *malloc(size_t bytes);

void *malloc(size_t bytes)
{
	return __libc_malloc(bytes < MESSAGE_BYTES ? MESSAGE_BYTES : bytes);
}
