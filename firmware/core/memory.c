// SPDX-License-Identifier: MIT
/* The mem* functions to which the compiler may generate calls. */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);

void *memcpy(void *to, const void *from, size_t bytes)
{
	uint8_t *t = to;
	const uint8_t *f = from;

	if (!(((uintptr_t)t | (uintptr_t)f) & 3))
		for (; bytes >= 4; bytes -= 4, t += 4, f += 4)
			*(uint32_t *)t = *(const uint32_t *)f;
	while (bytes--)
		*t++ = *f++;
	return to;
}

void *memset(void *to, int value, size_t bytes)
{
	uint8_t *t = to;

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
