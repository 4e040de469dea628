// SPDX-License-Identifier: MIT
/* Small helpers against naive ones, log, command ring, memory functions, shapes. */
#include "check.h"
#include "core/command_ring.h"
#include "core/log.h"
#include "packets/dispatch_packet.h"
#include "place/cta_shape.h"

void *memcpy(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);

static void bits(void)
{
	for (unsigned i = 0; i < 20000; i++) {
		uint32_t x = i < 32 ? 1u << i : i < 64 ? ~0u << (i - 32) : i & 1 ? target_random() : target_random() & target_random();
		unsigned count = 0, lowest = 32;

		for (unsigned b = 32; b--;)
			if (x >> b & 1) {
				count++;
				lowest = b;
			}
		CHECK(popcount32(x) == count);
		CHECK(!x || lowest_bit(x) == lowest);
	}
	CHECK(popcount32(0) == 0);
	CHECK(popcount32(~0u) == 32);
}

/* quotient by shift and subtract */
static uint64_t divide(uint64_t a, uint64_t b, uint64_t *rest)
{
	uint64_t q = 0, r = 0;

	for (unsigned i = 64; i--;) {
		r = r << 1 | (a >> i & 1);
		if (r >= b) {
			r -= b;
			q |= 1ull << i;
		}
	}
	*rest = r;
	return q;
}

static void divisions(void)
{
	static const uint32_t edges[] = { 1, 2, 3, 31, 32, 33, 1023, 1024, 0xffff, 0x10000, 0x7fffffff, 0x80000000u,
					  0xfffffffeu, 0xffffffffu };
	const unsigned n = sizeof(edges) / sizeof(edges[0]);

	for (unsigned i = 0; i < 4000; i++) {
		uint32_t grid = i < n * n ? edges[i % n] : target_random() >> target_roll(32);
		uint32_t group = i < n * n ? edges[i / n] : target_random() >> target_roll(32);
		struct divisor size;
		uint64_t rest, q, a = (uint64_t)target_random() << 32 | target_random(), b = a >> target_roll(64);

		grid += !grid;
		group += !group;
		b += !b;
		q = divide(grid, group, &rest);
		if (group < 1u << 16) {
			divisor_set(&size, group);
			CHECK(packet_groups(&size, grid) == q + !!rest);
		}
		CHECK(grid / group == q && grid % group == rest);
		a = (uint64_t)target_random() << 32 | target_random();
		q = divide(a, b, &rest);
		CHECK(a / b == q && a % b == rest);
	}
}

static uint32_t model_capacity(uint32_t scalar, uint32_t vector, uint32_t shared, uint32_t barriers, uint32_t waves)
{
	uint32_t n, peu = fw.peu_waves;

	while (peu && (peu * scalar > fw.scalar_blocks || peu * vector > fw.vector_blocks))
		peu--;
	for (n = fw.cta_slots; n; n--)
		if (n * waves <= peu * fw.peus && n * shared <= fw.shared_blocks && n * barriers <= fw.barriers)
			break;
	return n;
}

static void capacities(void)
{
	for (unsigned i = 0; i < 500; i++) {
		uint32_t scalar = target_roll(33), vector = target_roll(33), shared = target_roll(65), barriers = target_roll(17);
		uint32_t waves = 1 + target_roll(32), capacity;

		if (i & 1)
			scalar = vector = 0;
		if (i & 2)
			shared &= 7;
		capacity = shape_capacity(scalar | vector << 16, shared | barriers << 16, waves);
		CHECK(capacity == model_capacity(scalar, vector, shared, barriers, waves));
		check_word(capacity);
	}
}

static void memory(void)
{
	static uint8_t a[64], b[64], c[64];

	for (unsigned i = 0; i < 2000; i++) {
		unsigned from = target_roll(16), to = target_roll(16), n = target_roll(40);
		int order = 0;

		for (unsigned k = 0; k < 64; k++) {
			a[k] = (uint8_t)target_random();
			b[k] = c[k] = (uint8_t)target_random();
		}
		CHECK(memcpy(b + to, a + from, n) == b + to);
		for (unsigned k = 0; k < n; k++)
			c[to + k] = a[from + k];
		for (unsigned k = 0; k < 64; k++)
			CHECK(b[k] == c[k]);
		CHECK(memcmp(b, c, 64) == 0);
		if (n) {
			c[to + target_roll(n)] ^= 0x81;
			for (unsigned k = 0; k < 64 && !order; k++)
				order = b[k] - c[k];
			CHECK((memcmp(b, c, 64) > 0) == (order > 0) && (memcmp(b, c, 64) < 0) == (order < 0));
		}
		CHECK(memset(b + to, (int)i, n) == b + to);
		for (unsigned k = 0; k < 64; k++)
			CHECK(k >= to && k < to + n ? b[k] == (uint8_t)i : k < to || b[k] == (uint8_t)(k < to + n ? i : b[k]));
	}
}

/* Records stay whole, the rest of the ring becomes NOPs, and there is room only when the engines have read. */
static void commands(void)
{
	static uint32_t words[COMMAND_RECORD - 1];
	unsigned wraps = 0;

	CHECK(target_engines());
	for (unsigned i = 0; i < 200; i++) {
		unsigned n = 1 + target_roll(sizeof(words) / 4), k;
		const uint32_t *before = command_ring.next, *record;
		bool ok = true;

		for (k = 0; k < n; k++)
			words[k] = target_random();
		if (!command_room(n + 1)) {
			command_publish();
			CHECK(target_engines());
			CHECK(command_room(n + 1));
		}
		command_words(TUTTI_CMD_NOP, 0, words, n);
		record = command_ring.next - n - 1;
		CHECK(record >= command_ring.word && command_ring.next <= command_ring.end);
		CHECK(*record == TUTTI_COMMAND(TUTTI_CMD_NOP, n + 1, 0));
		for (k = 0; k < n; k++)
			ok = ok && record[1 + k] == words[k];
		CHECK(ok);
		if (record == before)
			continue;
		wraps++;
		CHECK(record == command_ring.word);
		while (before < command_ring.end) {
			CHECK((*before & 0xff) == TUTTI_CMD_NOP && *before >> 8 <= COMMAND_RECORD && *before >> 8);
			before += *before >> 8;
		}
		CHECK(before == command_ring.end);
	}
	CHECK(wraps > 3);
	command_publish();
	CHECK(HAL_ENGINES->command_tail == command_ring.published);
	CHECK(target_engines());
}

static void log_ring(void)
{
	const struct tutti_log *ring = hal_region(((const struct tutti_discovery *)HAL_WINDOW)->log);
	static const char expected[] = "# log 0x0\n# log 0xdeadbeef\n# log 0x10\n";
	uint64_t start = ring->head;

	log_line("# log", 0);
	log_line("# log", 0xdeadbeefu);
	log_line("# log", 16);
	CHECK(ring->head - start == sizeof(expected) - 1);
	for (unsigned i = 0; i < sizeof(expected) - 1; i++)
		CHECK(ring->text[(uint32_t)(start + i) & (ring->bytes - 1)] == expected[i]);
}

/* The core reaches card memory through a window, up to its last byte and not beyond. */
static void card_window(void)
{
#ifdef __riscv
	const uint64_t end = TUTTI_CORE_CARD_BYTES;

	CHECK(hal_card(0, 64) == (void *)TUTTI_CORE_CARD);
	CHECK(hal_card(end - 64, 64) == (void *)(TUTTI_CORE_CARD + TUTTI_CORE_CARD_BYTES - 64));
	CHECK(!hal_card(end - 63, 64));
	CHECK(!hal_card(end, 64));
	CHECK(!hal_card(1ull << 32, 64)); /* its lower half would be inside */
#endif
}

const struct target_test target_basic[] = {
	{ "REL-02: population count and lowest bit", bits },
	{ "REL-02: divisions, 32 and 64 bits", divisions },
	{ "REL-02 CGA-04: CTAs of a shape on an idle SM", capacities },
	{ "REL-02: memcpy, memset, memcmp", memory },
	{ "REL-02: command ring", commands },
	{ "REL-02 SYS-04: window to card memory", card_window },
	{ "REL-02 SYS-05: log ring", log_ring },
	{ 0 },
};
