// SPDX-License-Identifier: MIT
/* Water filling against placing CTAs one at a time, on the soft core (CGA-06, 07, 08, 13). */
#include "check.h"
#include "packets/condensed.h"
#include "place/cta_shape.h"

#define MOST 4096u

static struct lake *const lake = &shapes.mixed; /* local memory is short */
static uint8_t level[TUTTI_MAX_SMS];
static uint16_t want[MOST];
static uint32_t out[LAKE_MESSAGE(LAKE_WORDS)];
static unsigned sms, words;

static void fill(unsigned n, unsigned top)
{
	unsigned i;

	sms = n;
	words = (n + 31) / 32;
	for (i = 0; i < words; i++)
		out[i] = n - 32 * i >= 32 ? ~0u : (1u << (n - 32 * i)) - 1;
	lake_init(lake, words, out, 0);
	lake->top = lake->row;
	for (i = 0; i < sms; i++) {
		level[i] = (uint8_t)target_roll(top + 1);
		if (level[i])
			lake_add(lake, i / 32, 1u << (i % 32), level[i]);
	}
}

static uint32_t slots(void)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < sms; i++)
		n += level[i];
	return n;
}

/* One at a time, on the SM with the most free slots, ties by position. */
static uint32_t one_at_a_time(uint32_t n)
{
	uint32_t placed = 0;

	for (; n; n--) {
		unsigned best = 0;

		for (unsigned i = 1; i < sms; i++)
			if (level[i] > level[best])
				best = i;
		if (!level[best])
			break;
		level[best]--;
		want[placed++] = (uint16_t)best;
	}
	return placed;
}

static void same(const uint32_t *p, const uint32_t *end, uint32_t placed)
{
	uint32_t n = 0;
	bool ok = true;

	while (p < end) {
		unsigned repeat = *p & 0xffff, first = *p >> 16 & 0xff, count = *p >> 24;

		for (p++; repeat--;)
			for (unsigned w = 0; w < count; w++)
				for (unsigned b = 0; b < 32; b++)
					if (p[w] >> b & 1) {
						ok = ok && n < placed && want[n] == 32 * (first + w) + b;
						n++;
					}
		p += count;
	}
	CHECK(ok);
	CHECK(n == placed);
	for (unsigned i = 0; i < sms; i++)
		CHECK(lake_level(lake, i) == level[i]);
}

static void pours(unsigned n, unsigned top, unsigned rounds)
{
	uint32_t *end, want_now, placed;

	while (rounds--) {
		place_state.level_search = rounds % 3;
		fill(n, top);
		for (unsigned k = 0; k < 4 && slots(); k++) {
			want_now = 1 + target_roll(k == 3 ? 2 * slots() : slots());
			placed = want_now < slots() ? want_now : slots();
			CHECK(placed <= MOST);
			CHECK(one_at_a_time(want_now) == placed);
			CHECK(lake_pour(lake, want_now, out, &end) == want_now - placed);
			CHECK(end - out <= (long)LAKE_MESSAGE(words));
			same(out, end, placed);
			check_vector(out, (unsigned)(end - out));
			/* some CTAs end (CGA-13) */
			for (unsigned w = 0; w < words; w++) {
				uint32_t mask = target_random() & target_random();

				for (unsigned b = 0; b < 32; b++)
					if (32 * w + b >= sms || level[32 * w + b] >= top)
						mask &= ~(1u << b);
					else
						level[32 * w + b] = (uint8_t)(level[32 * w + b] + (mask >> b & 1));
				lake_raise(lake, w, mask);
			}
		}
	}
	place_state.level_search = LAKE_SCAN;
}

static void sms_144(void)
{
	pours(144, 28, 12);
}

static void sms_most(void)
{
	pours(TUTTI_SMALL_CARD_SMS, 4, 3);
}

static void sms_few(void)
{
	for (unsigned n = 1; n < 70; n += 3)
		pours(n, 32, 3);
}

static void round_robin(void)
{
	uint32_t first = 100, *end, n = 0;

	fill(144, 3);
	for (unsigned tried = 0, at = first; n < 200 && slots();) {
		for (tried = 0; tried < sms && !level[at % sms]; tried++)
			at++;
		level[at % sms]--;
		want[n++] = (uint16_t)(at++ % sms);
	}
	for (uint32_t left = n, done = 0; left; ) {
		uint32_t rest = lake_pour_round(lake, left, &first, out, &end), i = done;

		CHECK(rest < left);
		if (rest >= left)
			return;
		for (uint32_t *p = out; p < end;) {
			unsigned repeat = *p & 0xffff, start = *p >> 16 & 0xff, count = *p >> 24;

			for (p++; repeat--;)
				for (unsigned b = 0; b < 32 * count; b++)
					if (p[b / 32] >> (b % 32) & 1) {
						CHECK(i < n && want[i] == 32 * start + b);
						i++;
					}
			p += count;
		}
		CHECK(i - done == left - rest);
		done = i;
		left = rest;
	}
}

const struct target_test target_lake[] = {
	{ "REL-02 CGA-07: water filling is one at a time, 1 to 67 SMs", sms_few },
	{ "REL-02 CGA-07 CGA-08 CGA-13: water filling is one at a time, 144 SMs", sms_144 },
	{ "REL-02 CGA-07 CGA-08 CGA-13: water filling is one at a time, as many SMs as fit", sms_most },
	{ "REL-02: round robin", round_robin },
	{ 0 },
};
