// SPDX-License-Identifier: MIT
/*
 * The discovery data of random cards (SYS-14): every field is compared with the value that discovery.h demands. Also, which
 * configurations are refused, and the places of SMs in GPCs, CPCs and TPCs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emulator/base/state.h"
#include "emulator/base/window.h"
#include "roll.h"
#include "tutti/reference.h"

#define KIB 1024u
#define MIB (1024u * KIB)
#define CPC 6u /* SMs of a CPC, unless the topology says otherwise */

/* ---- random cards ---- */

/* Settings of a card, each with good values, the smallest one among them, and with bad values. */
static const struct setting {
	size_t offset;
	uint32_t good[4], bad[3];
	unsigned goods, bads;
} settings[] = {
#define SETTING(name, good, bad) { offsetof(struct tutti_card_config, name), good, bad, \
	sizeof((uint32_t[])good) / 4, sizeof((uint32_t[])bad) / 4 }
#define V(...) { __VA_ARGS__ }
	SETTING(peus, V(1, 2, 4), V(9, 16)),
	SETTING(peu_waves, V(1, 8, 32), V(65, 129)),
	SETTING(scalar_blocks, V(1, 33, 256), V(257, ~0u)),
	SETTING(vector_blocks, V(1, 32, 256), V(257, ~0u)),
	SETTING(shared_blocks, V(1, 64, 256), V(257, ~0u)),
	SETTING(shared_block_bytes, V(128, 2048, 1u << 16), V(64, 192, 1u << 21)),
	SETTING(barriers, V(1, 17, 256), V(257, ~0u)),
	SETTING(cta_slots, V(1, 31, 255), V(256, ~0u)),
	SETTING(local_bytes, V(65536, 3 * 65536, 512 * KIB), V(65536 + 4096, 576 * KIB, 100)),
#undef V
#undef SETTING
};

static void set(struct tutti_card_config *config, const struct setting *setting, uint32_t value)
{
	memcpy((char *)config + setting->offset, &value, sizeof(value));
}

/* Divide the SMs of GPC @g into few or many CPCs. */
static void divide(struct tutti_card_config *config, unsigned g)
{
	unsigned left = config->topology[g], most = roll(2) ? 255 : 1 + roll(12);

	for (unsigned c = 0; left && c < TUTTI_CARD_CPCS; c++) {
		unsigned size = 1 + roll(left < most ? left : most);

		if (c == TUTTI_CARD_CPCS - 1)
			size = left < 255 ? left : 255;
		config->cpc[g][c] = (uint8_t)size;
		left -= size;
	}
	config->topology[g] = (uint16_t)(config->topology[g] - left);
}

static struct tutti_card_config random_card(void)
{
	struct tutti_card_config config = {.acknowledge = roll(2), .energy = roll(2), .split_signals = roll(2)};

	config.gpcs = roll(4) ? 1 + roll(roll(2) ? 4 : TUTTI_MAX_GPCS) : 0;
	for (unsigned g = 0; g < config.gpcs; g++) {
		config.topology[g] = (uint16_t)(1 + roll(config.gpcs < 5 ? 200 : TUTTI_MAX_SMS / TUTTI_MAX_GPCS));
		if (!roll(3))
			divide(&config, g);
	}
	for (unsigned left = config.gpcs ? config.gpcs : 8, on = roll(2); on && left; left -= config.ugpu[config.ugpus++])
		config.ugpu[config.ugpus] = (uint8_t)(1 + roll(left));
	config.memory_bytes = roll(3) ? (uint64_t)(8 * MIB) + (roll(2) ? roll(9000) : (uint64_t)roll(1u << 20) << 20) : 0;
	if (config.memory_bytes > 1ull << 40)
		config.memory_bytes = 1ull << 40;
	for (unsigned i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		if (roll(2))
			set(&config, &settings[i], settings[i].good[roll(settings[i].goods)]);
	return config;
}

/* ---- expected discovery data ---- */

static uint32_t or(uint32_t value, uint32_t usual)
{
	return value ? value : usual;
}

static void expect_gpcs(const struct tutti_card_config *config, struct tutti_discovery *d)
{
	unsigned parts = 0, in_part = 0;

	d->gpcs = or(config->gpcs, 8);
	for (unsigned g = 0; g < d->gpcs; g++) {
		struct tutti_gpc *gpc = &d->gpc[g];

		gpc->first_sm = (uint16_t)d->sms;
		gpc->sms = config->gpcs ? config->topology[g] : 18;
		d->sms += gpc->sms;
		while (config->cpc[g][0] && gpc->cpcs < TUTTI_CARD_CPCS && config->cpc[g][gpc->cpcs])
			gpc->cpcs++;
		if (!config->cpc[g][0])
			gpc->cpcs = (uint16_t)((gpc->sms + CPC - 1) / CPC);
		if (config->ugpus && in_part == config->ugpu[parts]) {
			parts++;
			in_part = 0;
		}
		in_part++;
		gpc->ugpu = (uint16_t)(config->ugpus ? parts : 2 * g >= d->gpcs + d->gpcs % 2 && d->gpcs > 1);
	}
}

static void expect_region(struct tutti_discovery *d, struct tutti_region *region, size_t bytes)
{
	*region = (struct tutti_region){(uint32_t)d->window_bytes, (uint32_t)bytes};
	while (d->window_bytes < region->offset + bytes)
		d->window_bytes += TUTTI_PAGE_SIZE;
}

/* Each region begins on a new page. The discovery data are on the first page of the window. */
static void expect_regions(struct tutti_discovery *d)
{
	d->window_bytes = TUTTI_PAGE_SIZE;
	expect_region(d, &d->control, sizeof(struct tutti_control));
	expect_region(d, &d->status, sizeof(struct tutti_status));
	expect_region(d, &d->host_ring, 64 * sizeof(struct tutti_message));
	expect_region(d, &d->card_ring, 128 * sizeof(struct tutti_message));
	expect_region(d, &d->log, sizeof(struct tutti_log) + 32 * KIB);
	expect_region(d, &d->crash, sizeof(struct tutti_crash));
	expect_region(d, &d->counters, 8 * TUTTI_COUNTERS);
	expect_region(d, &d->sm_table, d->sms * sizeof(struct tutti_sm_place));
	expect_region(d, &d->trace, 8192 * sizeof(struct tutti_trace));
	expect_region(d, &d->rsb_window, TUTTI_MAX_RSBS * TUTTI_PAGE_SIZE);
	expect_region(d, &d->sm_states, d->sms * sizeof(struct tutti_sm_state));
	expect_region(d, &d->doorbells, TUTTI_MAX_QUEUES * TUTTI_PAGE_SIZE);
}

static void expect_compute(const struct tutti_card_config *config, struct tutti_discovery *d)
{
	d->peus = or(config->peus, 4);
	d->peu_waves = or(config->peu_waves, 8);
	d->scalar_blocks = or(config->scalar_blocks, 32);
	d->vector_blocks = or(config->vector_blocks, 32);
	d->shared_blocks = or(config->shared_blocks, 64);
	d->shared_block_bytes = or(config->shared_block_bytes, 2048);
	d->barriers = or(config->barriers, 16);
	d->cta_slots = or(config->cta_slots, 32);
	d->private_bytes = 256 * KIB;
	d->workgroup_items = d->peus * d->peu_waves > 32 ? 1024 : 32 * d->peus * d->peu_waves;
}

static struct tutti_discovery expect(const struct tutti_card_config *config)
{
	struct tutti_discovery d = {
		.magic = TUTTI_DISCOVERY_MAGIC, .bytes = sizeof(d), .contract_min = TUTTI_VERSION(1, 0),
		.contract_max = TUTTI_CONTRACT_VERSION, .serial = 1, .name = "Tutti emulated card",
		.features = TUTTI_FEATURE_EMULATED | TUTTI_FEATURE_CARD_RINGS | TUTTI_FEATURE_TRACE | TUTTI_FEATURE_CGA |
			    TUTTI_FEATURE_TMAU,
		.aperture = 4 * MIB, .reserved_bytes = 4 * MIB,
		.max_contexts = 256, .max_queues = TUTTI_MAX_QUEUES, .max_rsbs = TUTTI_MAX_RSBS, .task_slots = 32,
		.ring_packets_min = 2, .ring_packets_max = 65536, .msix_vectors = 32,
		.soft_cores = 1, .soft_core_hz = 250000000, .movers = 1, .timer_hz = 1000000000,
		.cga_ids = 32, .cga_ctas = 16, .lmem_slots = 64, .lmem_slot_bytes = 64 * KIB, .tmau_requests = 16,
	};

	d.features |= config->split_signals ? 0 : TUTTI_FEATURE_PCIE_ATOMICS;
	d.features |= config->acknowledge ? 0 : TUTTI_FEATURE_ORDERED_STATES;
	d.features |= config->energy ? TUTTI_FEATURE_ENERGY : 0;
	d.local_bytes = or(config->local_bytes, 256 * KIB);
	d.memory_bytes = config->memory_bytes ? (config->memory_bytes + 4095) / 4096 * 4096 : 1024 * MIB;
	d.aperture_bytes = d.memory_bytes;
	expect_gpcs(config, &d);
	expect_compute(config, &d);
	expect_regions(&d);
	return d;
}

/* ---- tests ---- */

static int setup(void **state)
{
	seed = 0x123456789abcdefull;
	return 0;
}

static bool possible(const struct tutti_card_config *config)
{
	return or(config->peus, 4) * or(config->peu_waves, 8) <= 128 && expect(config).sms <= TUTTI_MAX_SMS;
}

static void described(void **state)
{
	unsigned good = 0;

	for (unsigned round = 0; round < 3000; round++) {
		struct tutti_card_config config = random_card();
		struct tutti_discovery got, want;

		memset(&got, 0x5a, sizeof(got));
		if (!possible(&config)) {
			assert_int_equal(window_layout(&config, &got), -22);
			continue;
		}
		want = expect(&config);
		assert_int_equal(window_layout(&config, &got), 0);
		assert_memory_equal(&got, &want, sizeof(want));
		good++;
	}
	assert_in_range(good, 2000, 3000);
}

/* Make @config invalid in one of several ways. Return: false if it has nothing that could be changed in this way */
static bool spoil(struct tutti_card_config *config, unsigned way)
{
	unsigned g = config->gpcs ? roll(config->gpcs) : 0;
	const struct setting *setting;

	switch (way) {
	case 0:
		config->topology[g] = 0;
		return config->gpcs;
	case 1: /* CPCs that have more or fewer SMs than their GPC */
		config->topology[g] = (uint16_t)(config->topology[g] + 1 - 2 * roll(2));
		return config->gpcs && config->cpc[g][0];
	case 2:
		config->ugpu[0]++;
		return config->ugpus;
	case 3: /* the GPCs of the last uGPU do not belong to any */
		return config->ugpus-- > 1;
	case 4:
		config->memory_bytes = 8 * MIB - 4096 - roll(2);
		return true;
	case 5:
		config->memory_bytes = (1ull << 40) + 1 + roll(4096);
		return true;
	case 6:
		config->gpcs = TUTTI_MAX_GPCS + 1;
		return true;
	default:
		setting = &settings[(way - 7) % (sizeof(settings) / sizeof(*settings))];
		set(config, setting, setting->bad[roll(setting->bads)]);
		return true;
	}
}

static void impossible(void **state)
{
	unsigned spoiled = 0;

	for (unsigned round = 0; round < 4000; round++) {
		struct tutti_card_config config = random_card();
		struct tutti_discovery got;

		if (!possible(&config) || !spoil(&config, round % 24))
			continue;
		if (window_layout(&config, &got) != -22)
			fail_msg("not refused: way %u of round %u", round % 24, round);
		spoiled++;
	}
	assert_in_range(spoiled, 2000, 4000);
}

/* SMs are numbered in the order of their places. Each TPC has two SMs, but the last one of a CPC may have only one. */
static void places(void **state)
{
	static struct tutti_sm_place got[TUTTI_MAX_SMS + 1];
	static struct tutti_card card;

	for (unsigned round = 0; round < 300; round++) {
		unsigned sm = 0;

		card.config = random_card();
		if (!possible(&card.config))
			continue;
		assert_int_equal(window_layout(&card.config, &card.discovery), 0);
		memset(got, 0x5a, sizeof(got));
		card_sm_places(&card, got);
		for (unsigned g = 0; g < card.discovery.gpcs; g++) {
			unsigned left = card.discovery.gpc[g].sms, tpc = 0;

			for (unsigned c = 0; left; c++) {
				unsigned size = card.config.cpc[g][0] ? card.config.cpc[g][c] : left < CPC ? left : CPC;

				for (unsigned i = 0; i < size; i++, sm++) {
					const struct tutti_sm_place want = {(uint8_t)g, (uint8_t)c, (uint8_t)(tpc + i / 2), i % 2};

					assert_memory_equal(&got[sm], &want, sizeof(want));
				}
				tpc += size / 2 + size % 2;
				left -= size;
			}
		}
		assert_int_equal(sm, card.discovery.sms);
		assert_int_equal(got[sm].gpc, 0x5a);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    {"SYS-14: all fields of the discovery data", described, setup, NULL, NULL},
	    {"SYS-14: configurations that are refused", impossible, setup, NULL, NULL},
	    {"CGA-04, SYS-14: places of SMs", places, setup, NULL, NULL},
	};

	return cmocka_run_group_tests_name("card: discovery data", tests, NULL, NULL);
}
