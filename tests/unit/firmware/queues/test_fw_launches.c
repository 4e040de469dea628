/* SPDX-License-Identifier: MIT */
/*
 * Kernels from their packets to their signals: which fences, times and signals are written, and in which order, whichever way
 * a kernel takes (PKT-04, PKT-17); that it gets the room it needs, and not more; and when the slots of packets are handed back.
 */
#include "fw_notes.h"

#define Q 1u
#define VECTOR 6u

/* ---- what happens around a kernel ---- */

enum what { ACQUIRE, START, TIME, LAUNCH, RELEASE, SIGNAL };
struct step { enum what what; unsigned number; };

static struct step seen[64];
static unsigned steps;

static void see(enum what what, unsigned number)
{
	assert_true(steps < 64);
	seen[steps++] = (struct step){ what, number };
}

static void see_command(const uint32_t *w)
{
	unsigned sub = w[0] >> 16;

	switch (w[0] & 0xff) {
	case TUTTI_CMD_FENCE:
		see(sub & TUTTI_FENCE_ACQUIRE ? ACQUIRE : RELEASE, sub & 3);
		break;
	case TUTTI_CMD_TASK:
		if (sub & 3)
			see(ACQUIRE, sub & 3);
		see(START, 0);
		break;
	case TUTTI_CMD_STATE: see(START, 0); break;
	case TUTTI_CMD_LAUNCH: see(LAUNCH, 0); break;
	case TUTTI_CMD_WRITE:
		if ((w[2] | (uint64_t)w[3] << 32) == SIGNAL_AT + offsetof(struct tutti_signal, start_time)) {
			assert_int_equal(w[1], ASID | Q << 16);
			assert_int_equal(sub, 8);
			assert_int_equal(w[4] | (uint64_t)w[5] << 32, hal_host.time);
			see(TIME, 0);
		}
		break;
	case TUTTI_CMD_SIGNAL:
		assert_int_equal(w[1], ASID | Q << 16);
		assert_in_range(w[2] | (uint64_t)w[3] << 32, SIGNAL_AT, SIGNAL_AT + 0xffff);
		see(SIGNAL, sub | (unsigned)((w[2] | (uint64_t)w[3] << 32) - SIGNAL_AT) << 16);
		break;
	}
}

static void take_seen(void)
{
	do {
		take_noted();
		for (unsigned i = 0; i < notes; i++)
			see_command(noted[i].word);
	} while (notes);
}

struct way {
	const char *name;
	unsigned flags;
	bool metadata, stores, waits;
	unsigned kernels; /* of a condensed packet */
	uint16_t diff;
};

static const struct way ways[] = {
	{ .name = "plain" },
	{ .name = "stores a reference", .stores = true },
	{ .name = "metadata", .metadata = true },
	{ .name = "waits for a slot", .waits = true },
	{ .name = "metadata, waits for a slot", .metadata = true, .waits = true },
	{ .name = "condensed", .kernels = 1 },
	{ .name = "condensed, patched", .kernels = 1, .diff = TUTTI_DIFF_SCOPES },
	{ .name = "condensed, waits for a slot", .kernels = 1, .waits = true },
	{ .name = "condensed, overlapping", .kernels = 1, .flags = TUTTI_QUEUE_OVERLAP },
	{ .name = "condensed, overlapping, patched", .kernels = 1, .flags = TUTTI_QUEUE_OVERLAP, .diff = TUTTI_DIFF_SCOPES },
	{ .name = "condensed, overlapping, waits for a slot", .kernels = 1, .flags = TUTTI_QUEUE_OVERLAP, .waits = true },
};

static void begin(unsigned sms, unsigned slots, unsigned flags)
{
	start(sms, slots);
	rig_rsb(Q, ASID, TUTTI_RSB_SCRATCH);
	rig_queue(Q, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB | flags);
	queue_at(Q)->vector = VECTOR;
	rig_queue(0, ASID, 0);
	hal_host.time += 12345;
}

static void write_kernel(const struct way *way, struct tutti_dispatch_packet p)
{
	union tutti_packet c = condensed(way->kernels);

	if (way->diff) { /* the same scopes once more */
		c.condensed.unit[0] = (uint16_t)(way->diff << TUTTI_DIFF_VECTOR_SHIFT);
		c.condensed.unit[1] = p.header >> 8;
	}
	if (way->metadata)
		p.tmd = TMD_AT;
	if (way->stores)
		p.ref_num = TUTTI_REF_STORE | 3;
	write_packet(Q, way->kernels ? (const void *)&c : (const void *)&p);
}

static void expect_steps(const struct way *way, const struct step *want, unsigned n)
{
	for (unsigned i = 0; i < steps || i < n; i++)
		if (i >= n || i >= steps || seen[i].what != want[i].what || seen[i].number != want[i].number)
			fail_msg("%s: step %u of %u (%u) is %u %#x", way->name, i, steps, n, seen[i].what, seen[i].number);
	steps = 0;
}

/* Take out of the steps the times written before any CTA. Return: how many there were */
static unsigned times_taken(void)
{
	unsigned n = 0, i;

	for (i = 0; i < steps && seen[i].what != LAUNCH; i++)
		if (seen[i].what == TIME)
			n++;
		else
			seen[i - n] = seen[i];
	for (; i < steps; i++)
		seen[i - n] = seen[i];
	steps -= n;
	return n;
}

/* One kernel with these scopes, with or without a signal and times. */
static void one_kernel(const struct way *way, unsigned acquire, unsigned release, bool signal, bool times)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1), other = kernel_packet(0, 1);
	struct step want[8];
	unsigned n = 0, written;

	begin(2, way->waits, way->flags | (times ? TUTTI_QUEUE_PROFILE : 0));
	tmd[0] = child(0);
	p.header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 0, acquire, release);
	p.signal = signal ? SIGNAL_AT : 0;
	if (way->kernels)
		store(Q, 0, p);
	else
		submit(0, &other); /* the descriptor is known now */
	for (unsigned s = 0; s < SLOTS; s++)
		end_all(s);
	if (way->waits)
		submit(0, &other);
	write_kernel(way, p);
	steps = 0;
	rig_event(TUTTI_EVENT_DOORBELL, 1u << Q, 0);
	take_seen();
	if (way->waits) {
		struct tutti_event end = { { TUTTI_EVENT_CTA | 1u << 24, 1, 1, running[0].on[0] ? 1 : 2 } };

		assert_int_equal(started[Q], 0);
		memset(&running[0], 0, sizeof(running[0]));
		hal_host_event(&end);
		take_seen();
	}
	written = times_taken();
	if (written != (times && signal))
		fail_msg("%s: %u times", way->name, written);
	if (acquire)
		want[n++] = (struct step){ ACQUIRE, acquire };
	want[n++] = (struct step){ START, 0 };
	want[n++] = (struct step){ LAUNCH, 0 };
	expect_steps(way, want, n);
	for (unsigned s = 0; s < SLOTS; s++)
		if (running[s].ctas && running[s].queue == Q) {
			struct tutti_event end = { { TUTTI_EVENT_CTA | s << 8 | 1u << 24, 1, 1, running[s].on[0] ? 1 : 2 } };

			memset(&running[s], 0, sizeof(running[s]));
			hal_host_event(&end);
		}
	take_seen();
	n = 0;
	if (release)
		want[n++] = (struct step){ RELEASE, release };
	if (signal)
		want[n++] = (struct step){ SIGNAL, VECTOR | (times ? TUTTI_SIGNAL_TIMES : 0) };
	expect_steps(way, want, n);
	assert_int_equal(queue_at(Q)->flight, 0);
}

static void fences_times_and_signals(void **unused)
{
	(void)unused;
	for (const struct way *way = ways; way < ways + sizeof(ways) / sizeof(*ways); way++)
		for (unsigned i = 0; i < 36; i++)
			one_kernel(way, i % 3, i / 3 % 3, i / 9 & 1, i / 18);
}

/* ---- the kernels of one packet ---- */

/* What a kernel of a condensed packet is told: its scopes and its signal, a number or 0. */
struct kern { unsigned acquire, release, signal; };

static unsigned units;

static void put(union tutti_packet *p, uint64_t value, unsigned n)
{
	for (; n--; value >>= 16)
		p->condensed.unit[units++] = (uint16_t)value;
}

static uint64_t signal_of(unsigned number)
{
	return number ? SIGNAL_AT + number : 0;
}

/* Add a kernel as reference @ref, with differences or without. Return: what it is */
static struct kern add(union tutti_packet *p, unsigned ref, struct kern k)
{
	static const uint16_t diffs[] = { 0, 0, 0, TUTTI_DIFF_KERNARG, TUTTI_DIFF_GRID_X, TUTTI_DIFF_SIGNAL, TUTTI_DIFF_SCOPES,
					  TUTTI_DIFF_KERNARG | TUTTI_DIFF_SIGNAL, TUTTI_DIFF_SCOPES | TUTTI_DIFF_SIGNAL };
	unsigned diff = diffs[roll(sizeof(diffs) / sizeof(*diffs))];

	if (units + 1 + diff_units(diff) > 26)
		diff = 0;
	put(p, diff << TUTTI_DIFF_VECTOR_SHIFT | ref, 1);
	if (diff & TUTTI_DIFF_SCOPES) {
		k.acquire = roll(3);
		k.release = roll(3);
		put(p, tutti_header(0, 0, k.acquire, k.release) >> 8, 1);
	}
	if (diff & TUTTI_DIFF_GRID_X)
		put(p, 17, 2); /* one workgroup as before */
	if (diff & TUTTI_DIFF_KERNARG)
		put(p, roll32(), 4);
	if (diff & TUTTI_DIFF_SIGNAL) {
		k.signal = 64 * roll(20);
		put(p, signal_of(k.signal), 4);
	}
	p->condensed.num_kernels++;
	return k;
}

/* The one kernel of the queue that runs ends. */
static void end_running(void)
{
	for (unsigned s = 0; s < SLOTS; s++)
		if (running[s].ctas && running[s].queue == Q) {
			struct tutti_event end = { { TUTTI_EVENT_CTA | s << 8 | 1u << 24, 1, 1, running[s].on[0] ? 1 : 2 } };

			assert_int_equal(running[s].ctas, 1);
			memset(&running[s], 0, sizeof(running[s]));
			hal_host_event(&end);
			take_seen();
			return;
		}
	fail();
}

/*
 * Each kernel has its acquire fence. One that is not the last is cleaned up only if it names a signal, with its own release
 * fence; the last one has the widest of all, and its signal behind it.
 */
static void one_clean_up(void **unused)
{
	static const struct way way = { .name = "condensed" };
	struct kern reference[TUTTI_REFERENCES], k[31];
	struct step want[64];

	(void)unused;
	seed(301);
	for (unsigned round = 0; round < 400; round++) {
		union tutti_packet p = condensed(0);
		unsigned kernels = 1 + roll(8), widest = 0, n = 0, i;

		if (round % 50 == 0) {
			begin(2, 0, 0);
			for (i = 0; i < TUTTI_REFERENCES; i++) {
				struct tutti_dispatch_packet r = kernel_packet(0, 1);

				reference[i] = (struct kern){ roll(3), roll(3), roll(2) ? 0 : 64 * (1 + roll(20)) };
				r.header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, roll(2), reference[i].acquire, reference[i].release);
				r.signal = signal_of(reference[i].signal);
				store(Q, i, r);
			}
		}
		units = 0;
		for (i = 0; i < kernels; i++) {
			unsigned ref = roll(8);

			k[i] = add(&p, ref, reference[ref]);
			widest = k[i].release > widest ? k[i].release : widest;
		}
		write_packet(Q, &p);
		steps = 0;
		rig_event(TUTTI_EVENT_DOORBELL, 1u << Q, 0);
		take_seen();
		for (i = 0; i < kernels; i++) {
			unsigned release = i + 1 == kernels ? widest : k[i].signal ? k[i].release : 0;

			if (k[i].acquire)
				want[n++] = (struct step){ ACQUIRE, k[i].acquire };
			want[n++] = (struct step){ START, 0 };
			want[n++] = (struct step){ LAUNCH, 0 };
			expect_steps(&way, want, n);
			n = 0;
			end_running();
			if (release)
				want[n++] = (struct step){ RELEASE, release };
			if (k[i].signal)
				want[n++] = (struct step){ SIGNAL, VECTOR | k[i].signal << 16 };
		}
		expect_steps(&way, want, n);
		assert_int_equal(queue_at(Q)->flight, 0);
	}
}

/* ---- room ---- */

static unsigned ctas_of(unsigned q)
{
	unsigned n = 0;

	for (unsigned s = 0; s < SLOTS; s++)
		n += running[s].queue == q ? running[s].ctas : 0;
	return n;
}

static void end_of(unsigned q)
{
	for (unsigned s = 0; s < SLOTS; s++)
		while (running[s].ctas && running[s].queue == q)
			end_all(s);
}

/* The kernels of a packet need different parts of an SM; another queue's CTAs get all that is left of the card, and no more. */
static void room_beside_each(void **unused)
{
	static const unsigned waves[TUTTI_REFERENCES] = { 1, 32, 2, 31, 16, 1, 8, 32 };
	struct tutti_dispatch_packet p = kernel_packet(0, 1), other = kernel_packet(1, 64);

	(void)unused;
	seed(302);
	for (unsigned round = 0; round < 100; round++) {
		unsigned kernels = 2 + roll(5), order[8], alone = roll(4);
		union tutti_packet c = condensed(kernels);

		if (round % 10 == 0) {
			begin(2, 0, 0);
			for (unsigned i = 0; i < TUTTI_REFERENCES; i++) {
				p.workgroup_x = p.grid_x = (uint16_t)(32 * waves[i]);
				store(Q, i, p);
			}
		} else if (round % 10 == 5) { /* another kernel in a place that is free again, and was used for a small one */
			assert_int_equal(rig_request(TUTTI_MSG_RSB_INVALIDATE, Q, 0x21, 0), 0);
			started[Q] = 0;
			p.workgroup_x = p.grid_x = 32 * 24;
			store(Q, 5, p);
			p.workgroup_x = p.grid_x = 32;
			store(Q, 0, p);
		}
		units = 0;
		for (unsigned i = 0; i < kernels; i++) {
			order[i] = roll(8);
			put(&c, (roll(3) ? 0 : TUTTI_DIFF_KERNARG << TUTTI_DIFF_VECTOR_SHIFT) | order[i], 1);
			if (c.condensed.unit[units - 1] >> TUTTI_DIFF_VECTOR_SHIFT)
				put(&c, 16 * i, 4);
		}
		submit(Q, &c);
		for (unsigned i = 0; i < kernels; i++) {
			unsigned need = round % 10 >= 5 && order[i] == 5 ? 24 : waves[order[i]], s = 0;

			if (alone)
				alone--;
			else
				submit(0, &other);
			while (running[s].queue != Q || !running[s].ctas)
				assert_true(++s < SLOTS);
			if (started[0]) {
				assert_int_equal(ctas_of(0), 64 - need);
				alone = roll(4); /* so many kernels have the card for themselves, so that all is as usual again */
				started[0] = 0;
			}
			end_of(0);
			end_all(s);
			end_of(0); /* those that had to wait */
		}
		assert_int_equal(queue_at(Q)->flight, 0);
	}
}

/* ---- the slots of the ring ---- */

static uint64_t read_index;
static uint32_t scrubbed;    /* slots since the read index was written */
static bool clears;          /* of which some had their references cleared */
static unsigned slots;       /* of the ring */

static void watch_retiring(void)
{
	take_noted();
	for (unsigned i = 0; i < notes; i++) {
		const uint32_t *w = noted[i].word;
		uint64_t address = w[2] | (uint64_t)w[3] << 32;

		if ((w[0] & 0xff) == TUTTI_CMD_SCRUB) {
			assert_int_equal(address, RIG_RING + Q * 4096 + (read_index + scrubbed) % slots * 64);
			assert_in_range(w[4], 1, slots - (read_index + scrubbed) % slots);
			scrubbed += w[4];
			clears |= w[0] >> 16 & 1;
		} else if ((w[0] & 0xff) == TUTTI_CMD_WRITE && address == 0x20000000ull + 64 * Q) {
			read_index += scrubbed;
			assert_int_equal(w[4] | (uint64_t)w[5] << 32, read_index);
			scrubbed = 0;
		}
	}
}

static void put_slot(const void *packet)
{
	memcpy(&ring[Q][written[Q]++ % slots], packet, 64);
}

/* Write some packets. Return: one of them names or stores a reference, so its slot has to be cleared of that */
static bool write_some(unsigned packets, bool chain)
{
	bool special = false;

	for (; packets; packets--) {
		struct tutti_dispatch_packet p = kernel_packet(0, 1);
		union tutti_packet c = condensed(1);
		unsigned kind = chain ? 9 : roll(16);

		p.header |= chain || roll(2) ? TUTTI_HEADER_BARRIER : 0;
		if (kind < 3)
			p.ref_num = (uint16_t)(TUTTI_REF_STORE | (1 + kind));
		if (kind == 2 || kind == 3)
			p.tmd = TMD_AT;
		special |= kind < 3 || kind == 4;
		put_slot(kind == 4 ? (const void *)&c : (const void *)&p);
	}
	return special;
}

static void end_one(void)
{
	unsigned s = 0;

	while (!running[s].ctas)
		s++;
	hal_host_event(&(struct tutti_event){ { TUTTI_EVENT_CTA | s << 8 | 1u << 24, 1, 1, running[s].on[0] ? 1 : 2 } });
	running[s].on[0] = running[s].on[1] = running[s].ctas = 0;
	watch_retiring();
}

static void begin_ring(unsigned size)
{
	struct tutti_message m = { .type = TUTTI_MSG_QUEUE_CREATE,
				   .queue = { .queue = Q, .asid = ASID, .flags = TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB, .rsb = Q,
					      .ring = RIG_RING + Q * 4096, .read_index = 0x20000000ull + 64 * Q, .priority = 5,
					      .size_log2 = (uint8_t)__builtin_ctz(size) } };

	start(2, 0);
	rig_rsb(Q, ASID, TUTTI_RSB_SCRATCH);
	assert_int_equal(rig_message(&m), 0);
	tmd[0] = child(0);
	slots = size;
	read_index = scrubbed = 0;
}

/*
 * Slots are handed back in their order, INVALID before the read index passes them, also round the end of the ring, and are
 * cleared of references if there are any. As long as kernels have to wait for each other that may be late, but not by more
 * than a quarter of the ring.
 */
static void slots_in_order(void **unused)
{
	const struct tutti_discovery *d = (const void *)hal_host.window;

	(void)unused;
	seed(303);
	start(2, 0);
	for (unsigned size = d->ring_packets_min; size <= RING; size *= 2) {
		begin_ring(size);
		put_slot(&(struct tutti_dispatch_packet){ 0 });
		ring[Q][0].dispatch = kernel_packet(0, 1);
		ring[Q][0].dispatch.ref_num = TUTTI_REF_STORE;
		for (unsigned round = 0; round < 300; round++) {
			bool chain = roll(2), special;

			clears = false;
			special = write_some(1 + roll(size > 4 && roll(4) ? 4 : size - !round), chain) || !round;
			rig_event(TUTTI_EVENT_DOORBELL, 1u << Q, 0);
			watch_retiring();
			for (unsigned idle = 0; idle < 3; idle++) {
				if (ctas_of(Q)) {
					end_one();
					idle = 0;
				} else { /* something may have waited until the engines had taken commands */
					main_before_idle();
					watch_retiring();
				}
				assert_in_range(queue_at(Q)->head - read_index, 0, size / 4 + 1);
			}
			assert_int_equal(read_index, written[Q]);
			assert_int_equal(clears, special);
			for (unsigned i = 0; i < size; i++)
				assert_int_equal(ring[Q][i].dispatch.header, TUTTI_PACKET_INVALID);
		}
	}
}

/* The slot of a packet that was refused is cleared, too, when a reset passes over it, on extended queues. */
static void refused_slots_are_cleared(void **unused)
{
	(void)unused;
	for (unsigned extended = 0; extended < 2; extended++) {
		struct tutti_dispatch_packet p = kernel_packet(0, 1);

		start(2, 0);
		rig_queue(Q, ASID, extended ? TUTTI_QUEUE_EXTENDED : 0);
		p.setup = 0;
		submit(Q, &p);
		assert_int_equal(queue_at(Q)->state, QUEUE_STOPPED);
		slots = RING;
		read_index = scrubbed = 0;
		clears = false;
		rig_command = note;
		notes = 0;
		assert_int_equal(rig_request(TUTTI_MSG_QUEUE_RESET, Q, 0, 0), 0);
		rig_command = NULL;
		assert_int_equal(noted[0].word[0] & 0xff, TUTTI_CMD_SCRUB);
		assert_int_equal(noted[0].word[0] >> 16 & 1, extended);
		assert_int_equal(noted[0].word[4], 1);
	}
}

/* ---- the barrier bit ---- */

/* A condensed packet waits for kernels of packets before it if its first kernel has the barrier bit, by reference or diff. */
static void first_kernel_may_wait(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < 16; i++) {
		struct tutti_dispatch_packet before = kernel_packet(0, 1), r = kernel_packet(0, 1);
		bool bit = i & 1, scopes = i & 2;
		union tutti_packet c = condensed(0);

		begin(4, 0, i & 8 ? TUTTI_QUEUE_OVERLAP : 0);
		r.header |= bit != scopes ? TUTTI_HEADER_BARRIER : 0;
		store(Q, 0, r);
		units = 0;
		if (scopes) {
			put(&c, TUTTI_DIFF_SCOPES << TUTTI_DIFF_VECTOR_SHIFT, 1);
			put(&c, bit ? TUTTI_HEADER_BARRIER >> 8 : 0, 1);
		} else if (i & 4) {
			put(&c, TUTTI_DIFF_KERNARG << TUTTI_DIFF_VECTOR_SHIFT, 1);
			put(&c, 64, 4);
		}
		c.condensed.num_kernels = 2;
		submit(Q, &before);
		submit(Q, &c);
		assert_int_equal(slot_of(Q, 2) >= 0, !bit);
		end_all((unsigned)slot_of(Q, 1));
		assert_true(slot_of(Q, 2) >= 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("PKT-04 PKT-17", fences_times_and_signals),
		RIG_TEST("PKT-04 PKT-17", one_clean_up),
		RIG_TEST("PKT-11 PKT-16 RES-01", room_beside_each),
		RIG_TEST("PKT-05 PKT-08", slots_in_order),
		RIG_TEST("PKT-06 PKT-08", refused_slots_are_cleared),
		RIG_TEST("PKT-12 PKT-16", first_kernel_may_wait),
	};

	return cmocka_run_group_tests_name("firmware: kernels from packets to signals", tests, NULL, NULL);
}
