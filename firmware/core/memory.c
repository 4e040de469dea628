// SPDX-License-Identifier: MIT
/* The mem* functions to which the compiler may generate calls. */
#include "core/base.h"

void *memcpy(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);

/* Records are aligned and have whole words, so bytes are the exception. */
void *memcpy(void *to, const void *from, size_t bytes)
{
	uint8_t *t = to;
	const uint8_t *f = from;

	if (!(((uintptr_t)t | (uintptr_t)f) & 3)) {
		words_copy(t, f, bytes / 4);
		if (likely(!(bytes & 3)))
			return to;
		t += bytes & ~3u;
		f += bytes & ~3u;
		bytes &= 3;
	}
	while (bytes--)
		*t++ = *f++;
	return to;
}

void *memset(void *to, int value, size_t bytes)
{
	uint8_t *t = to;
	uint32_t word = (uint8_t)value * 0x01010101u;

	if (!((uintptr_t)t & 3)) {
		for (; bytes >= 16; bytes -= 16, t += 16) {
			((uint32_t *)t)[0] = word;
			((uint32_t *)t)[1] = word;
			((uint32_t *)t)[2] = word;
			((uint32_t *)t)[3] = word;
		}
		for (; bytes >= 4; bytes -= 4, t += 4)
			*(uint32_t *)t = word;
	}
	while (bytes--)
		*t++ = (uint8_t)value;
	return to;
}

int memcmp(const void *a, const void *b, size_t bytes)
{
	const uint8_t *x = a, *y = b;

	for (; bytes--; x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}
