// SPDX-License-Identifier: MIT
#include "core/log.h"

#include "core/hal.h"

static struct tutti_log *ring;
static uint32_t mask;

void log_init(void)
{
	const struct tutti_discovery *discovery = (const void *)HAL_WINDOW;
	uint32_t bytes = 1;

	ring = hal_region(discovery->log);
	while (2 * bytes + sizeof(*ring) <= discovery->log.bytes)
		bytes *= 2;
	mask = bytes - 1;
	words_clear(ring, (sizeof(*ring) + bytes) / 4);
	ring->bytes = bytes;
}

static void put(char c)
{
	uint64_t head = ring->head;

	ring->text[(uint32_t)head & mask] = c;
	hal_release();
	ring->head = head + 1;
}

COLD void log_text(const char *text)
{
	while (*text)
		put(*text++);
}

static void put_digit(uint32_t digit)
{
	put((char)(digit + (digit < 10 ? '0' : 'a' - 10)));
}

COLD void log_hex(uint32_t value)
{
	int shift = 28;

	while (shift && !(value >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		put_digit(value >> shift & 15);
}

COLD void log_line(const char *text, uint32_t value)
{
	log_text(text);
	log_text(" 0x");
	log_hex(value);
	put('\n');
}
