/* SPDX-License-Identifier: MIT */
/* Policies through the library: calibration, states of SMs, choice of SMs, matching of several shapes. */
#include "rig.h"

#include "tutti/policy.h"

/* Energies that are their own weights' ratios. */
static const char energy_card[] = "gpc 6*2\n"
				  "energy 1\n"
				  "energy_move 10\nenergy_load 200\nenergy_store 300\nenergy_matrix32 150\nenergy_matrix64 400\n"
				  "energy_compare 20\nenergy_jump 30\nenergy_other 50\n"
				  "energy_wave 1000\nenergy_scalar 100\nenergy_vector 250\nenergy_shared 400\n"
				  "energy_barrier 80\nenergy_cta 2000\n";

static void near(uint32_t value, double want)
{
	assert_true(value >= want * 0.99 - 1 && value <= want * 1.01 + 1);
}

static void set(struct rig *rig, unsigned policy, uint32_t value)
{
	uint32_t now;

	assert_int_equal(tutti_device_policy(rig->device, policy, value), 0);
	assert_int_equal(tutti_policy_get(rig->device, policy, 0, &now), 0);
	if (policy != TUTTI_POLICY_REMAINING_WEIGHT && policy != TUTTI_POLICY_POWER_WEIGHT)
		assert_int_equal(now, value);
}

static void calibration_finds_the_energies(void **state)
{
	static const double power[TUTTI_CLASSES] = { 10, 200, 300, 150, 400, 20, 30, 50 };
	static const double remaining[TUTTI_RESOURCES] = { 1000, 100, 250, 400, 80, 2000 };
	struct rig *rig = rig_deterministic(energy_card);
	struct tutti_weights weights, copy;
	struct tutti_executable *code;
	uint32_t value;
	FILE *file = tmpfile();

	assert_int_equal(tutti_executable_load_file(rig->device, rig_out("tools/kernels.tco"), &code, NULL), 0);
	assert_int_equal(tutti_calibrate(rig->device, code, 4, &weights), 0);
	for (unsigned i = 0; i < TUTTI_CLASSES; i++)
		near(weights.power[i], power[i] / 400 * 65535);
	for (unsigned i = 0; i < TUTTI_RESOURCES; i++)
		near(weights.remaining[i], remaining[i] / 2000 * 65535);
	assert_int_equal(tutti_weights_write(&weights, file), 0);
	rewind(file);
	assert_int_equal(tutti_weights_read(&copy, file), 0);
	assert_memory_equal(&copy, &weights, sizeof(copy));
	fclose(file);
	assert_int_equal(tutti_weights_apply(rig->device, &copy), 0);
	for (unsigned i = 0; i < TUTTI_CLASSES; i++) {
		assert_int_equal(tutti_policy_get(rig->device, TUTTI_POLICY_POWER_WEIGHT, i, &value), 0);
		assert_int_equal(value, weights.power[i]);
	}
	for (unsigned i = 0; i < TUTTI_RESOURCES; i++) {
		assert_int_equal(tutti_policy_get(rig->device, TUTTI_POLICY_REMAINING_WEIGHT, i, &value), 0);
		assert_int_equal(value, weights.remaining[i]);
	}
	tutti_executable_destroy(code);
	rig_close(rig);
}

/* Return: bytes of host memory that are in use while there is one more queue; @id: the number which that queue gets */
static uint64_t taken(struct rig *rig, uint32_t *id)
{
	struct tutti_queue *queue;
	struct tutti_pool pool;

	assert_int_equal(tutti_queue_create(rig->device, NULL, &queue), 0);
	*id = queue->id;
	assert_int_equal(tutti_memory_pool(rig->device, TUTTI_MEMORY_SYSTEM, &pool), 0);
	assert_int_equal(tutti_queue_destroy(queue), 0);
	return pool.used;
}

/* Calibration gives back its queue, its signal and its memory. */
static void calibration_leaves_nothing(void **state)
{
	struct rig *rig = rig_deterministic(energy_card);
	struct tutti_weights weights;
	struct tutti_executable *code;
	uint32_t before, after;
	uint64_t used;

	assert_int_equal(tutti_executable_load_file(rig->device, rig_out("tools/kernels.tco"), &code, NULL), 0);
	used = taken(rig, &before);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(tutti_calibrate(rig->device, code, 1, &weights), 0);
		assert_int_equal(taken(rig, &after), used);
		assert_int_equal(after, before);
	}
	tutti_executable_destroy(code);
	rig_close(rig);
}

static void files_are_checked(void **state)
{
	static const char *const bad[] = { "power nothing 3\n", "remaining waves\n", "power move 16777216\n", "power move 3 4\n",
					   "other waves 1\n", "\x80\xff\n" };
	struct tutti_weights weights;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		FILE *file = tmpfile();

		fputs(bad[i], file);
		rewind(file);
		assert_int_equal(tutti_weights_read(&weights, file), -EINVAL);
		fclose(file);
	}
}

static void no_counters(void **state)
{
	struct rig *rig = rig_deterministic("gpc 2\n");
	struct tutti_weights weights;

	assert_int_equal(tutti_calibrate(rig->device, rig->code, 1, &weights), -ENOTSUP);
	assert_int_equal(tutti_device_policy(rig->device, TUTTI_POLICY_CHOICE, TUTTI_CHOICE_POWER), -ENOTSUP);
	assert_int_equal(tutti_device_policy(rig->device, TUTTI_POLICIES, 0), -EINVAL);
	rig_close(rig);
}

/* CTAs each SM has run, one by one, since the last call. */
static void ran(struct rig *rig, uint64_t *ctas, unsigned *used)
{
	static struct tutti_sm_state sm[12];

	assert_int_equal(tutti_device_sm_states(rig->device, 0, 12, sm), 0);
	*used = 0;
	for (unsigned i = 0; i < 12; i++) {
		*used += sm[i].ctas > ctas[i];
		ctas[i] = sm[i].ctas;
		assert_int_equal(sm[i].cta_slots, 32); /* all have ended */
	}
}

/* One CTA after another: by free slots it is always the first SM, by energy never one that has just run. */
static void power_spreads_the_heat(void **state)
{
	struct rig *rig = rig_deterministic(energy_card);
	uint64_t ctas[12] = { 0 }, *cell = rig_alloc(rig, 64);
	unsigned used;

	/* energy counts from the moment the window is set */
	set(rig, TUTTI_POLICY_POWER_WINDOW, 1u << 30);
	for (unsigned i = 0; i < 12; i++)
		rig_run(rig, "step", 1, 1, rig_args(rig, cell, 3, 1));
	ran(rig, ctas, &used);
	assert_int_equal(used, 1);
	assert_int_equal(ctas[0], 12);
	set(rig, TUTTI_POLICY_CHOICE, TUTTI_CHOICE_POWER);
	for (unsigned i = 0; i < 11; i++)
		rig_run(rig, "step", 1, 1, rig_args(rig, cell, 3, 1));
	ran(rig, ctas, &used);
	assert_int_equal(used, 11); /* all but the SM that ran the first twelve */
	assert_int_equal(ctas[0], 12);
	set(rig, TUTTI_POLICY_CHOICE, TUTTI_CHOICE_MOST_FREE);
	rig_run(rig, "step", 1, 1, rig_args(rig, cell, 3, 1));
	ran(rig, ctas, &used);
	assert_int_equal(used, 1);
	rig_close(rig);
}

/* Every policy of matching and choice, with grids of several shapes at once: all that was launched runs, once. */
static void grids_under_every_policy(void **state)
{
	static const struct { unsigned policy; uint32_t value, usual; } all[] = {
		{ TUTTI_POLICY_ISSUE, 1, 0 },
		{ TUTTI_POLICY_LEVEL_SEARCH, 2, 0 },
		{ TUTTI_POLICY_CHOICE, TUTTI_CHOICE_REMAINING, 0 },
		{ TUTTI_POLICY_CHOICE, TUTTI_CHOICE_POWER, 0 },
		{ TUTTI_POLICY_CHOICE, TUTTI_CHOICE_COMBINED, 0 },
		{ TUTTI_POLICY_CHOICE, TUTTI_CHOICE_COMBINED | TUTTI_CHOICE_LARGEST, 0 },
		{ TUTTI_POLICY_SEARCH, TUTTI_SEARCH_GROUPED, 0 },
		{ TUTTI_POLICY_SEARCH, TUTTI_SEARCH_SAMPLED, 0 },
		{ TUTTI_POLICY_SEARCH, TUTTI_SEARCH_SHARED, 0 },
		{ TUTTI_POLICY_SPLIT, 1, 0 },
	};
	struct rig *rig = rig_deterministic(energy_card);
	struct tutti_queue *other = rig_queue(rig, 0);

	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++) {
		uint64_t *cell = rig_alloc(rig, 64);
		tutti_signal_t done = rig_signal(rig, 8);

		set(rig, all[i].policy, all[i].value);
		for (unsigned k = 0; k < 4; k++) {
			rig_launch(rig, rig->queue, "count", 32 * 300, 32, rig_args(rig, cell, 1, 0), done);
			rig_launch(rig, other, "count", 96 * 200, 96, rig_args(rig, cell + 1, 1, 0), done);
		}
		rig_wait(rig, done);
		assert_int_equal(cell[0], 4 * 32 * 300);
		assert_int_equal(cell[1], 4 * 96 * 200);
		set(rig, all[i].policy, all[i].usual);
		tutti_signal_destroy(rig->device, done);
	}
	tutti_queue_destroy(other);
	rig_close(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "RES-13, RES-14, SYS-41: calibration finds the energies", calibration_finds_the_energies, NULL, NULL, NULL },
		{ "RES-13: calibration leaves nothing behind", calibration_leaves_nothing, NULL, NULL, NULL },
		{ "RES-14: files of weights are checked", files_are_checked, NULL, NULL, NULL },
		{ "RES-13: a card without counters says so", no_counters, NULL, NULL, NULL },
		{ "RES-14, SYS-41: power spreads the heat", power_spreads_the_heat, NULL, NULL, NULL },
		{ "RES-01, RES-08, RES-12, RES-15: grids under every policy", grids_under_every_policy, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
