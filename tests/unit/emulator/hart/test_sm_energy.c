// SPDX-License-Identifier: MIT
/* RES-13, RES-14: instruction classes and energy of SMs. */
#include "sm_rig.h"

static const uint32_t class_energy[TUTTI_CLASSES] = { 1, 2, 3, 4, 5, 6, 7, 8 };
static const uint32_t resource_energy[TUTTI_RESOURCES] = { 100, 200, 300, 400, 500, 600 };

static struct tutti_card *energy_rig(enum tutti_card_mode mode, unsigned workers, unsigned sms, uint32_t variation)
{
	struct tutti_card *card = rig_create(mode, workers, sms);

	sm_array_destroy(card->array);
	card->config.energy = 1;
	card->config.energy_variation = variation;
	memcpy(card->config.energy_class, class_energy, sizeof(class_energy));
	memcpy(card->config.energy_resource, resource_energy, sizeof(resource_energy));
	assert_int_equal(sm_array_create(card, &card->array), 0);
	return card;
}

static void arguments(uint64_t *data)
{
	data[61440 / 8] = DATA + 4096;
}

/* K_AMO, by hand: what one wave executes. */
static const uint64_t amo[TUTTI_CLASSES] = {
	[TUTTI_CLASS_LOAD] = 1,
	[TUTTI_CLASS_STORE] = 3000,  /* amoadd, lr, sc */
	[TUTTI_CLASS_MOVE] = 2 + 1,  /* li, li; li of the exit */
	[TUTTI_CLASS_JUMP] = 2000 + 1,
	[TUTTI_CLASS_OTHER] = 1 + 2000 + 1, /* addi; two per round; ecall */
};

static void classes_of_a_kernel(void **unused)
{
	struct tutti_card *card = energy_rig(TUTTI_CARD_DETERMINISTIC, 0, 2, 0);
	struct tutti_sm_state *table = calloc(2, sizeof(*table));
	struct tutti_task_state state;
	uint64_t energy = 0;

	arguments(rig_context(card, 1));
	state = rig_state(1, K_AMO, 1, 2);
	state.scalar_blocks = 3;
	state.vector_blocks = 2;
	state.shared_blocks = 5;
	state.barriers = 1;
	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 1, 1), 0);
	rig_until(card, 0, 1);
	sm_array_table(card->array, table);
	for (unsigned c = 0; c < TUTTI_CLASSES; c++) {
		assert_int_equal(table[0].instructions[c], 2 * amo[c]);
		energy += 2 * amo[c] * class_energy[c];
		assert_int_equal(table[1].instructions[c], 0);
	}
	energy += 2 * (100 + 3 * 200 + 2 * 300) + 5 * 400 + 500 + 600;
	assert_int_equal(table[0].energy, energy);
	assert_int_equal(table[0].ctas, 1);
	assert_int_equal(table[0].waves, 2);
	assert_int_equal(table[1].energy, 0);
	free(table);
	rig_destroy(card);
}

/* Workers and the driving thread together: nothing is lost, each SM gets its own. */
static void classes_under_workers(void **unused)
{
	struct tutti_card *card = energy_rig(TUTTI_CARD_FAST, 2, 16, 0);
	struct tutti_sm_state *table = calloc(16, sizeof(*table));
	struct tutti_task_state state;

	arguments(rig_context(card, 1));
	state = rig_state(1, K_AMO, 64, 1);
	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 4, 16), 0);
	rig_until(card, 0, 64);
	sm_array_table(card->array, table);
	for (unsigned i = 0; i < 16; i++) {
		assert_int_equal(table[i].ctas, 4);
		assert_int_equal(table[i].instructions[TUTTI_CLASS_LOAD], 4);
		assert_true(table[i].instructions[TUTTI_CLASS_STORE] >= 4 * 3000); /* sc may fail */
	}
	free(table);
	rig_destroy(card);
}

/* SMs differ by the seed, within the range given; the same seed makes the same card. */
static void sms_differ(void **unused)
{
	struct tutti_card *card[2] = { energy_rig(TUTTI_CARD_DETERMINISTIC, 0, 64, 50),
				       energy_rig(TUTTI_CARD_DETERMINISTIC, 0, 64, 50) };
	struct tutti_sm_state *table = calloc(64, sizeof(*table));
	uint64_t seen[2][64];
	unsigned differ = 0;

	for (unsigned k = 0; k < 2; k++) {
		struct tutti_task_state state = rig_state(1, K_EMPTY, 6400, 1);

		rig_context(card[k], 1);
		sm_array_state(card[k]->array, 0, 0, &state, NULL, NULL, 0);
		for (unsigned i = 0; i < 100; i++) {
			assert_int_equal(rig_launch(card[k], 0, 1, 64), 0);
			rig_until(card[k], 0, 64 * (i + 1));
		}
		sm_array_table(card[k]->array, table);
		for (unsigned i = 0; i < 64; i++) {
			uint64_t even = 100 * (100 + 200 + 300 + 600 + 7 + 1 + 8);

			seen[k][i] = table[i].energy;
			assert_in_range(seen[k][i], even * 949 / 1000, even * 1051 / 1000);
			differ += seen[k][i] != seen[k][0];
		}
		rig_destroy(card[k]);
	}
	assert_true(differ > 100);
	assert_memory_equal(seen[0], seen[1], sizeof(seen[0]));
	free(table);
}

/* After code has been changed, the new instructions are counted in their own classes. */
static void classes_of_changed_code(void **unused)
{
	/* the kernel is four times one of these, and ret: addi t0, t0, 1; ld t0, 0(a0); sd t0, 0(a0) */
	static const uint32_t four[] = { 0x00128293, 0x00053283, 0x00553023 };
	static const enum tutti_class class[] = { TUTTI_CLASS_OTHER, TUTTI_CLASS_LOAD, TUTTI_CLASS_STORE };
	struct tutti_card *card = energy_rig(TUTTI_CARD_DETERMINISTIC, 0, 1, 0);
	struct tutti_task_state state = rig_state(1, 0x800, 1, 1);
	struct tutti_sm_state table;
	uint32_t *code;

	rig_context(card, 1);
	code = (uint32_t *)(card->map[0].host + 0x800);
	code[4] = 0x00008067;
	for (unsigned i = 0; i < 3; i++) {
		memcpy(code, (uint32_t[]){ four[i], four[i], four[i], four[i] }, 16);
		sm_array_invalidate(card->array, 1, CODE, 4096);
		rig_launch_one(card, &state, 0);
		rig_until(card, 0, i + 1);
		sm_array_table(card->array, &table);
		for (unsigned k = 0; k < 3; k++) /* the ecall at the end of each wave is OTHER, too */
			assert_int_equal(table.instructions[class[k]], (k <= i ? 4 : 0) + (k ? 0 : i + 1));
	}
	rig_destroy(card);
}

/* A card that does not count instructions has no cost for it and reports nothing. */
static void off_by_default(void **unused)
{
	struct tutti_card *card = rig_create(TUTTI_CARD_DETERMINISTIC, 0, 1);
	struct tutti_sm_state table = { 0 };
	struct tutti_task_state state;

	arguments(rig_context(card, 1));
	state = rig_state(1, K_AMO, 1, 1);
	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 1, 1), 0);
	rig_until(card, 0, 1);
	sm_array_table(card->array, &table);
	assert_int_equal(table.energy, 0);
	assert_int_equal(table.instructions[TUTTI_CLASS_STORE], 0);
	assert_int_equal(table.ctas, 1);
	rig_destroy(card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_of_a_kernel),
		cmocka_unit_test(classes_under_workers),
		{ "RES-13: classes of code that is changed", classes_of_changed_code, NULL, NULL, NULL },
		cmocka_unit_test(sms_differ),
		cmocka_unit_test(off_by_default),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
