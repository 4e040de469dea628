// SPDX-License-Identifier: MIT
/* Services of waves, argument by argument: what comes back, what is a fault and where; requests of CGAs. */
#include "sm_rig.h"
#include "tutti/tensor.h"

/*
 * call: ld s0, 0(a0); ld a7, 8(a0); ld a1, 24(a0); ld a0, 16(a0); ecall; sd a0, 0(s0); li a7, 0; ecall
 * stay: mv s1, a0; ld s0, 0(a0); ld a7, 8(a0); ld a1, 24(a0); ld a0, 16(a0); ecall
 *	 1: li a7, 4; ecall; ld t0, 32(s1); lwu t1, 100(tp); bgeu t1, t0, 1b; li a7, 0; ecall: until its rank may leave
 */
static const uint32_t kernel[] = {
    0x00053403, 0x00853883, 0x01853583, 0x01053503, 0x00000073, 0x00a43023, 0x00000893,
    0x00000073, 0x00050493, 0x00053403, 0x00853883, 0x01853583, 0x01053503, 0x00000073,
    0x00400893, 0x00000073, 0x0204b283, 0x06426303, 0xfe5378e3, 0x00000893, 0x00000073,
};
#define STAY  0x20u
#define ECALL 0x10u
#define RING  (DATA + 4096) /* print ring, in pages of its own */
#define BLIND 0x30000000ull /* may be written, but not read */

static struct tutti_card *card;
static uint64_t *data;
static uint32_t shared_bytes;

static void fill_card(void)
{
	data = rig_context(card, 1);
	memcpy(rig_find(card, 1, CODE)->host, kernel, sizeof(kernel));
	rig_map(card, 1, BLIND, 4096, TUTTI_PTE_W);
	data[61440 / 8] = DATA;
}

static int setup(void **state)
{
	card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 4);
	shared_bytes = 2000;
	fill_card();
	return 0;
}

static int teardown(void **state)
{
	rig_destroy(card);
	return 0;
}

static struct tutti_task_state state_of(unsigned cga)
{
	struct tutti_task_state state = rig_state(1, 0, 63, 1);

	state.shared_bytes = shared_bytes;
	state.shared_blocks = 1;
	state.cga_x = (uint16_t)cga;
	state.cga_y = state.cga_z = cga ? 1 : 0;
	return state;
}

static void start(uint64_t service, uint64_t a0, uint64_t a1)
{
	const struct tutti_task_state state = state_of(0);

	data[0] = 0xdead;
	data[61440 / 8 + 1] = service;
	data[61440 / 8 + 2] = a0;
	data[61440 / 8 + 3] = a1;
	card->done[0] = card->faults = 0;
	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 1, 1), 0);
}

static int64_t answer(uint64_t service, uint64_t a0, uint64_t a1)
{
	start(service, a0, a1);
	rig_until(card, 0, 1);
	return (int64_t)data[0];
}

static void fault(uint64_t service, uint64_t a0, uint64_t a1, unsigned cause, unsigned access, uint64_t address)
{
	start(service, a0, a1);
	rig_until_fault(card);
	assert_int_equal(card->fault.word[0] >> 16, cause | access << 8);
	assert_int_equal(card->fault.word[2] | (uint64_t)card->fault.word[3] << 32, CODE + ECALL);
	assert_true((card->fault.word[4] | (uint64_t)card->fault.word[5] << 32) == address);
	sm_array_kill(card->array, 0);
	rig_until(card, 0, 1);
}

/* Numbers that are no service, and the abort with its code. */
static void numbers(void **state)
{
	static const uint64_t none[] = {6, 15, 20, 31, 36, 99, 1ull << 32, ~0ull};

	for (unsigned i = 0; i < sizeof(none) / sizeof(*none); i++)
		fault(none[i], 1, 2, TUTTI_CAUSE_SERVICE, TUTTI_ACCESS_NONE, none[i]);
	fault(TUTTI_SERVICE_ABORT, 77, 0, TUTTI_CAUSE_ABORT, TUTTI_ACCESS_NONE, 77);
	card->virtual_time = 0x123456789abcull;
	assert_int_equal(answer(TUTTI_SERVICE_TIME, 0, 0), 0x123456789abcull);
	assert_int_equal(answer(TUTTI_SERVICE_YIELD, 5, 0), 0);
	assert_int_equal(answer(TUTTI_SERVICE_BARRIER, 5, 0), 0);
	assert_int_equal(answer(TUTTI_SERVICE_WAIT_ALL, 5, 0), 0); /* nothing was asked for */
	assert_int_equal(answer(TUTTI_SERVICE_CGA_BARRIER, 5, 0), 0);
}

/* The barrier of a CGA, in one call or in two, returns 0 in a CGA of one CTA, too. */
static void barriers_of_cgas(void **state)
{
	static const uint64_t numbers[] = {TUTTI_SERVICE_CGA_BARRIER, TUTTI_SERVICE_CGA_ARRIVE};
	const struct tutti_task_state alone = state_of(1);

	for (uint32_t i = 0; i < 2; i++) {
		data[0] = 0xdead;
		data[61440 / 8 + 1] = numbers[i];
		data[61440 / 8 + 2] = 5;
		sm_array_state(card->array, 0, 0, &alone, NULL, NULL, 0);
		assert_int_equal(sm_array_launch(card->array, 0, TUTTI_LAUNCH_CGA | TUTTI_LAUNCH_END_OF_CGA,
						 (uint32_t[]){(7 + i) | i << 16, ~0u, 1 | 1u << 24, 1}, 4),
				 0);
		rig_until(card, 0, i + 1);
		assert_int_equal(data[0], 0);
	}
}

/* A switch is counted for each wave that gives way, waits or asks, and none for one that goes on. */
static void switches(void **state)
{
	static const struct {
		uint64_t service;
		bool ends;
		unsigned switches;
	} rows[] = {
	    {TUTTI_SERVICE_YIELD, true, 1},	 {TUTTI_SERVICE_BARRIER, true, 0},	   {TUTTI_SERVICE_CGA_BARRIER, true, 0},
	    {TUTTI_SERVICE_TIME, true, 0},	 {TUTTI_SERVICE_WAIT_ALL, true, 0}, {TUTTI_SERVICE_MBARRIER_WAIT, false, 1},
	    {TUTTI_SERVICE_TASK, false, 1},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint64_t before = card->counter[TUTTI_COUNTER_WAVE_SWITCHES];

		start(rows[i].service, 0, 0);
		for (unsigned k = 0; k < 20; k++)
			rig_step(card);
		assert_int_equal(card->done[0], rows[i].ends);
		if (!rows[i].ends)
			sm_array_kill(card->array, 0);
		rig_until(card, 0, 1);
		assert_int_equal(card->counter[TUTTI_COUNTER_WAVE_SWITCHES] - before, rows[i].switches);
	}
}

/* Text of up to 4096 bytes that can be read goes into a ring that is sound, else the call says why not. */
static void prints(void **state)
{
	struct tutti_print_ring *ring = (void *)((uint8_t *)data + 4096);
	const uint64_t text = DATA + 100, end = DATA + 65536;
	static const uint32_t bad[] = {0, 1000, 4096 + 1, 3};

	memset((uint8_t *)data + 100, 'x', 3000);
	assert_int_equal(answer(TUTTI_SERVICE_PRINT, text, 6), -TUTTI_ENOENT); /* there is no ring */
	card->print_va = RING + 32;
	assert_int_equal(answer(TUTTI_SERVICE_PRINT, text, 6), -TUTTI_ENOENT);
	card->print_va = end;
	assert_int_equal(answer(TUTTI_SERVICE_PRINT, text, 6), -TUTTI_EINVAL);
	card->print_va = end - 64;
	assert_int_equal(answer(TUTTI_SERVICE_PRINT, text, 6), -TUTTI_EINVAL);
	card->print_va = RING;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ring->bytes = bad[i];
		assert_int_equal(answer(TUTTI_SERVICE_PRINT, text, 6), -TUTTI_EINVAL);
	}
	ring->bytes = 4;
	assert_int_equal(answer(TUTTI_SERVICE_PRINT, text, 5), -TUTTI_EINVAL); /* more than the ring holds */
	assert_int_equal(answer(TUTTI_SERVICE_PRINT, text, 4), 0);
	assert_int_equal(ring->head, 4);
	ring->bytes = 8192;
	ring->head = ring->tail = ring->ready = 0;
	assert_int_equal(answer(TUTTI_SERVICE_PRINT, text, 4097), -TUTTI_EINVAL);
	assert_int_equal(answer(TUTTI_SERVICE_PRINT, text, 4096), 0);
	assert_int_equal(answer(TUTTI_SERVICE_PRINT, end - 4096, 4096), 0);
	assert_int_equal(answer(TUTTI_SERVICE_PRINT, end - 1, 1), -TUTTI_ENOSPC);
	assert_int_equal(ring->lost, 1);
	ring->tail = 8192;
	assert_int_equal(answer(TUTTI_SERVICE_PRINT, end - 9, 10), -TUTTI_EINVAL); /* the last byte is not there */
	assert_int_equal(answer(TUTTI_SERVICE_PRINT, BLIND, 1), -TUTTI_EINVAL);
	assert_int_equal(answer(TUTTI_SERVICE_PRINT, TUTTI_WAVE_SHARED + 2000 - 5, 5), 0);
	assert_int_equal(answer(TUTTI_SERVICE_PRINT, TUTTI_WAVE_SHARED + 2000 - 5, 6), -TUTTI_EINVAL);
	assert_int_equal(ring->head, 8192 + 5);
	assert_int_equal(ring->ready, ring->head);
	/* through the window of CGAs: a CTA alone has rank 0 */
	assert_int_equal(answer(TUTTI_SERVICE_PRINT, TUTTI_WAVE_DSMEM + 2000 - 5, 5), 0);
	assert_int_equal(answer(TUTTI_SERVICE_PRINT, TUTTI_WAVE_DSMEM + 2000 - 5, 6), -TUTTI_EINVAL);
	assert_int_equal(answer(TUTTI_SERVICE_PRINT, TUTTI_WAVE_DSMEM + (1ull << 24), 1), -TUTTI_EINVAL);
	assert_int_equal(card->faults, 0);
}

/* A request is 64 bytes at any place that the wave may read; a tensor that it points to is read, too, if it says so. */
static void requests(void **state)
{
	struct tutti_tensor_request *request = (void *)((uint8_t *)data + 65536 - 64);
	const uint64_t at = DATA + 65536 - 64, end = DATA + 65536;
	struct tutti_tensor_call call;

	fault(TUTTI_SERVICE_TENSOR, end, 0, TUTTI_CAUSE_UNMAPPED, TUTTI_ACCESS_READ, end);
	fault(TUTTI_SERVICE_TENSOR, at + 4, 0, TUTTI_CAUSE_UNMAPPED, TUTTI_ACCESS_READ, end);
	fault(TUTTI_SERVICE_TENSOR, BLIND, 0, TUTTI_CAUSE_PROTECTION, TUTTI_ACCESS_READ, BLIND);
	for (unsigned flags = 0; flags < 4; flags++) {
		bool wanted = flags == 3;

		request->flags =
		    (uint16_t)((flags & 1 ? TUTTI_REQUEST_INLINE : 0) | (flags & 2 ? TUTTI_REQUEST_TENSOR : 0));
		request->descriptor = end - sizeof(call.descriptor) + 1;
		if (wanted) {
			fault(TUTTI_SERVICE_TENSOR, at, 0, TUTTI_CAUSE_UNMAPPED, TUTTI_ACCESS_READ, end);
			request->descriptor--;
		}
		start(TUTTI_SERVICE_TENSOR, at, 0);
		for (unsigned i = 0; i < 20; i++)
			rig_step(card);
		assert_int_equal(data[0], 0);
		assert_true(sm_array_request(card->array, &call));
		assert_memory_equal(&call.request, request, sizeof(*request));
		if (wanted)
			assert_memory_equal(&call.descriptor, (uint8_t *)data + 65536 - sizeof(call.descriptor),
					    sizeof(call.descriptor));
		assert_int_equal(call.rank, 0);
		assert_int_equal(call.present, 1);
		sm_array_call_done(card->array, call.cta);
		rig_until(card, 0, 1);
		sm_array_call_done(card->array, call.cta); /* of a CTA that is gone */
		sm_array_call_done(card->array, ~0u);
		sm_array_call_failed(card->array, ~0u);
		assert_true(sm_array_call_dropped(card->array, call.cta));
	}
	assert_false(sm_array_busy(card->array));
}

/* What a service reads may lie in pages that are mapped apart from each other. */
static void apart(void **state)
{
	const uint64_t first = 0x50000000, second = first + 4096, at = second - 20;
	uint8_t *low = rig_map(card, 1, first, 4096, RW), *high = rig_map(card, 1, second, 4096, RW);
	struct tutti_print_ring *ring = (void *)((uint8_t *)data + 4096);
	struct tutti_tensor_call call;
	uint8_t want[64];

	for (unsigned i = 0; i < 64; i++)
		*(i < 20 ? low + 4096 - 20 + i : high + i - 20) = want[i] = (uint8_t)(3 * i);
	start(TUTTI_SERVICE_TENSOR, at, 0);
	for (unsigned i = 0; i < 20; i++)
		rig_step(card);
	assert_true(sm_array_request(card->array, &call));
	assert_memory_equal(&call.request, want, sizeof(want));
	sm_array_call_done(card->array, call.cta);
	rig_until(card, 0, 1);
	card->print_va = RING;
	ring->bytes = 1024;
	assert_int_equal(answer(TUTTI_SERVICE_PRINT, at, 64), 0);
	assert_memory_equal(ring + 1, want, sizeof(want));
	fault(TUTTI_SERVICE_TENSOR, second + 4096 - 20, 0, TUTTI_CAUSE_UNMAPPED, TUTTI_ACCESS_READ, second + 4096);
}

static void no_tmau(void **state)
{
	card = calloc(1, sizeof(*card));
	card->config.mode = TUTTI_CARD_DETERMINISTIC;
	card->limits = (struct tutti_discovery){.sms = 4,
						.task_slots = 32,
						.peus = 4,
						.peu_waves = 8,
						.scalar_blocks = 32,
						.vector_blocks = 32,
						.shared_blocks = 64,
						.shared_block_bytes = 2048,
						.barriers = 16,
						.cta_slots = 32};
	rig_gpcs(&card->limits);
	assert_int_equal(sm_array_create(card, &card->array), 0);
	fill_card();
	assert_int_equal(answer(TUTTI_SERVICE_TENSOR, DATA, 0), -TUTTI_ENOTSUP);
	assert_int_equal(answer(TUTTI_SERVICE_TENSOR, 0, 0), -TUTTI_ENOTSUP);
	assert_int_equal(answer(TUTTI_SERVICE_WAIT_ALL, 0, 0), 0);
	teardown(NULL);
}

/* An mbarrier is a word of the CTA's shared memory, up to its last one. Who waits for a phase that is over goes on. */
static void mbarriers(void **state)
{
	static const uint64_t bad[] = {1, 4, 7, 1996, 2000, 2008, 1ull << 32, ~7ull};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		fault(TUTTI_SERVICE_MBARRIER_WAIT, bad[i], 0, TUTTI_CAUSE_SERVICE, TUTTI_ACCESS_READ, bad[i]);
	for (unsigned i = 0; i < 2;
	     i++) /* memory is 0: phase 1 is over, also by its number, of which the low bit counts */
		assert_int_equal(answer(TUTTI_SERVICE_MBARRIER_WAIT, 1992, 1 + 2 * i), 0);
	shared_bytes = 2007; /* the word behind the last whole one */
	fault(TUTTI_SERVICE_MBARRIER_WAIT, 2000, 1, TUTTI_CAUSE_SERVICE, TUTTI_ACCESS_READ, 2000);
	assert_int_equal(answer(TUTTI_SERVICE_MBARRIER_WAIT, 1992, 1), 0);
	start(TUTTI_SERVICE_MBARRIER_WAIT, 1992, 2);
	for (unsigned i = 0; i < 20; i++)
		rig_step(card);
	assert_int_equal(card->done[0], 0);
	sm_array_kill(card->array, 0);
	rig_until(card, 0, 1);
}

/* A request of a CGA names the rank that asks, and which ranks have not exited. */
static void ranks(void **state)
{
	struct tutti_task_state state_3 = state_of(3);
	struct tutti_tensor_call call;

	data[61440 / 8 + 1] = TUTTI_SERVICE_TENSOR;
	data[61440 / 8 + 2] = DATA + 1024;
	state_3.entry += STAY;
	sm_array_state(card->array, 0, 0, &state_3, NULL, NULL, 0);
	assert_int_equal(sm_array_launch(card->array, 0, TUTTI_LAUNCH_CGA | TUTTI_LAUNCH_END_OF_CGA,
					 (uint32_t[]){5 | 2u << 16, ~0u, 1 | 1u << 24, 0xd}, 4),
			 0);
	for (unsigned i = 0; i < 20; i++)
		rig_step(card);
	for (unsigned i = 0; i < 3; i++) {
		static const unsigned sm[] = {0, 2, 3};

		assert_true(sm_array_request(card->array, &call));
		assert_int_equal(call.sm, sm[i]);
		assert_int_equal(call.rank, i);
		assert_int_equal(call.present, 7 & ~0u << i);
		sm_array_call_done(card->array, call.cta);
		data[61440 / 8 + 4] = i + 1;
		for (unsigned k = 0; k < 20; k++)
			rig_step(card);
		assert_int_equal(card->done[0], i + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"SYS-07: numbers of services", numbers, setup, teardown, NULL},
	    {"CGA-25: answers of the barrier of a CGA", barriers_of_cgas, setup, teardown, NULL},
	    {"SYS-13: which services switch waves", switches, setup, teardown, NULL},
	    {"SYS-07: texts and rings of every size", prints, setup, teardown, NULL},
	    {"TMA-01: where requests and tensors may lie", requests, setup, teardown, NULL},
	    {"SYS-52: what lies in several pages", apart, setup, teardown, NULL},
	    {"TMA-01: a card without TMAU", no_tmau, NULL, NULL, NULL},
	    {"TMA-25: words of mbarriers", mbarriers, setup, teardown, NULL},
	    {"TMA-25, CGA-24: ranks of requests", ranks, setup, teardown, NULL},
	};

	return cmocka_run_group_tests_name("SM: services", tests, NULL, NULL);
}
