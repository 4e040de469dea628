// SPDX-License-Identifier: MIT
#include "base/sized.h"

#include <errno.h>
#include <string.h>

int sized_check(const void *from, size_t bytes, size_t known, size_t first)
{
	const unsigned char *byte = from;

	if (bytes < first)
		return -EINVAL;
	for (size_t i = known; i < bytes; i++)
		if (byte[i])
			return -E2BIG;
	return 0;
}

int sized_copy(void *to, size_t to_bytes, const void *from, size_t bytes, size_t first)
{
	int error;

	if (!bytes)
		bytes = first;
	error = sized_check(from, bytes, to_bytes, first);
	if (error)
		return error;
	memset(to, 0, to_bytes);
	memcpy(to, from, bytes < to_bytes ? bytes : to_bytes);
	return 0;
}
