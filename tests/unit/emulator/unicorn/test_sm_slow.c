// SPDX-License-Identifier: MIT
/* link: -Wl,--exclude-libs,ALL */
/*
 * CGAs in a program where libunicorn does not see the emulator's functions: the DSMEM
 * window is memory-mapped I/O then. Errors are found as well, without an exact pc.
 */
#include <stdio.h>

#include "sm_cga_rig.h"

static void hidden(void **unused)
{
	cga_state(0, C_RING, 8, 8, 2);
	assert_int_equal(cga_launch_one(0, 0, 3, 1, ALL), 0);
	finish(0, 0, 3, 8);
	for (unsigned e = 0; e < card->array->engines; e++)
		for (struct hart *hart = card->array->engine[e].harts; hart; hart = hart->next)
			assert_null(hart->env); /* or this test would prove nothing */
	for (unsigned c = 0; c < 8; c++)
		assert_int_equal(data[8 * c], 0);
}

static void errors(void **unused)
{
	for (unsigned i = 0; i < 2; i++) {
		cga_state(0, i ? C_STORE : C_LOAD, 2, 2, 1);
		PARAMETER(data) = TUTTI_WAVE_DSMEM + (2 << 24);
		assert_int_equal(cga_launch_one(0, 1, 9, 1, 3), 0);
		rig_until_fault(card);
		assert_int_equal(card->fault.word[0] >> 16 & 0xff, TUTTI_CAUSE_CGA_RANK);
		assert_int_equal(card->fault.word[4], 2 << 24);
		card->faults = 0;
		sm_array_kill(card->array, 0);
		sm_array_report(card->array);
		assert_int_equal(sm_array_flush(card->array, 1, 9, ALL), 0);
	}
	cga_state(1, C_LOAD, 2, 2, 1);
	PARAMETER(data) = TUTTI_WAVE_DSMEM + (1 << 24) + 2000;
	assert_int_equal(cga_launch_one(1, 1, 9, 1, 3), 0);
	finish(1, 1, 9, 2);
	assert_int_equal(card->cga_faults, 1);
	assert_int_equal(card->cga_fault.word[0] >> 24, TUTTI_CAUSE_CGA_SEGMENT);
	assert_int_equal(data[0], 1);
}

static void linear_memory(void **unused)
{
	uint32_t words[4] = {++sequence, 5, 1 | 1u << 24, 0xf};

	cga_state(0, C_LMEM, 4, 4, 1);
	PARAMETER(data) = 77;
	assert_int_equal(sm_array_launch(card->array, 0, TUTTI_LAUNCH_CGA | TUTTI_LAUNCH_END_OF_CGA, words, 4), 0);
	finish(0, 0, 0, 4);
	for (unsigned c = 0; c < 4; c++)
		assert_int_equal(data[8 * c], 77);
}

static const struct CMUnitTest tests[] = {
	CASE("CGA-24: SM-to-SM access without the fast slow paths", hidden),
	CASE("CGA-27: errors without them", errors),
	CASE("CGA-28: linear memory without them", linear_memory),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
