/* SPDX-License-Identifier: MIT */
/* CGAs beside kernels of other shapes: what their ends free is found, and a fault is that of its own kernel. */
#include "fw_life.h"

/* Every event that is under way arrives. */
static void all_arrive(void)
{
	while (pooled)
		deliver(0);
}

/* Whether some SM has room for a CTA of kernel 1, in whichever order its blocks of shared memory were used. */
static bool some_room(void)
{
	for (unsigned sm = 0; sm < card_sms; sm++)
		if (card_sm[sm].shared_blocks - card_sm[sm].shared_used >= 32 && card_sm[sm].ctas < 32)
			return true;
	return false;
}

/*
 * CGAs fill the card, and plain CTAs that are larger wait. Whenever the CTAs that have ended leave enough room on an SM, one of
 * them starts there: no free slot is overlooked, although it is known from one look to the next what is free (RES-01).
 */
static void room_is_found(void **unused)
{
	static const uint16_t sms[] = { 8, 8 };
	unsigned plain, slot;

	(void)unused;
	for (unsigned round = 0; round < 60; round++) {
		seed(700 + round);
		begin(sms, 2);
		descriptor[0].group_bytes = 2048 * 32;
		descriptor[1].group_bytes = 2048 * 24;
		cga_kernel(0, 1 + round % 2, 4, 1, 1);
		submit(0, 0, 32, 1, 1);
		all_arrive();
		assert_int_equal(place_state.residents, 32);
		plain = submit(1, 1, 10, 1, 1);
		all_arrive();
		assert_true(place_state.residents == 32 && !signalled[plain]);
		for (slot = 0; !card_slot[slot].busy || model[slot].level[0].kind; slot++)
			assert_true(slot + 1 < CARD_SLOTS);
		while (card_slot[slot].launched < 10) {
			end_cga(roll(2), roll(IDS));
			all_arrive();
			assert_true(card_slot[slot].launched == 10 || !some_room());
		}
		run_down();
		check_idle();
		assert_int_equal(signalled[plain], 1);
	}
}

/* Each identity leads to the task whose CTAs run with it. Return: how many are in use */
static unsigned known_by_id(void)
{
	unsigned n = 0;

	for (unsigned gpc = 0; gpc < discovery()->gpcs; gpc++)
		for (unsigned id = 0; id < IDS; id++) {
			const struct identity *it = &identity[gpc][id];

			assert_int_equal(cga_ids_task(gpc, id), it->used && it->running ? (int)it->slot : -1);
			n += it->used && it->running;
		}
	return n;
}

/*
 * A CGA is known by the id that it has got, in whichever way it has found its place: one of many at once, one that takes over
 * from another one, in CPCs, with a memory slot, in multicast mode. So a fault is that of its own kernel (CGA-27).
 */
static void ids_of_tasks(void **unused)
{
	static const uint16_t sms[] = { 8, 8 };

	(void)unused;
	for (unsigned way = 0; way < 5; way++) {
		seed(way);
		begin(sms, 2);
		descriptor[0].group_bytes = descriptor[1].group_bytes = 2048 * 32;
		cga_kernel(0, TUTTI_CGA_GPC, 4, 1, 1);
		cga_kernel(1, way == 1 ? TUTTI_CGA_CPC : TUTTI_CGA_GPC, 4, 1, 1);
		if (way == 2)
			descriptor[1].flags |= TUTTI_KERNEL_LMEM;
		if (way == 3)
			assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_CGA_MODE, TUTTI_CGA_MULTICAST, 0), 0);
		header_bits = way == 4 ? 0 : TUTTI_HEADER_BARRIER;
		submit(0, 0, 8, 1, 1); /* so that others have another slot than the first */
		all_arrive();
		for (unsigned n = 0; n < 6; n++) {
			submit(1, 1, n == 4 ? 16 : 4, 1, 1);
			all_arrive();
			assert_true(known_by_id() >= 3);
		}
		for (unsigned n = 0; n < 40 && known_by_id(); n++) {
			end_whole();
			all_arrive();
		}
		run_down();
		assert_int_equal(known_by_id(), 0);
		check_idle();
		header_bits = 0;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("RES-01 CGA-26", room_is_found),
		RIG_TEST("CGA-27 CGA-31", ids_of_tasks),
	};

	return cmocka_run_group_tests_name("firmware: CGAs beside others", tests, NULL, NULL);
}
