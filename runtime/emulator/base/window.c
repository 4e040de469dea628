// SPDX-License-Identifier: MIT
/* The layout of the BAR and the discovery data follow from the configuration of the card. */
#include <errno.h>
#include <string.h>

#include "emulator/base/garbage.h"
#include "emulator/base/state.h"
#include "emulator/base/window.h"
#include "tutti/reference.h"

#define DEFAULT_GPCS 8u
#define DEFAULT_GPC_SMS 18u
#define APERTURE (4u << 20)
#define SHARED_BYTES (1u << 24) /* addresses that the DSMEM window has for a rank */
#define LINE 128u /* swizzled tensors exchange bytes in whole rows of that size */
#define CPC_SMS 6u /* SMs of a CPC (three TPCs of two) unless the configuration sets them */

static uint32_t pick(uint32_t value, uint32_t fallback)
{
	return value ? value : fallback;
}

static struct tutti_region region(uint32_t *at, uint32_t bytes)
{
	struct tutti_region r = { *at, bytes };

	*at += (bytes + TUTTI_PAGE_SIZE - 1) & ~(TUTTI_PAGE_SIZE - 1);
	return r;
}

/* Doorbells come last, because the soft core sees the window only up to them. */
static void place_regions(struct tutti_discovery *d)
{
	uint32_t at = TUTTI_PAGE_SIZE;

	d->control = region(&at, sizeof(struct tutti_control));
	d->status = region(&at, sizeof(struct tutti_status));
	d->host_ring = region(&at, 64 * sizeof(struct tutti_message));
	d->card_ring = region(&at, 128 * sizeof(struct tutti_message));
	d->log = region(&at, sizeof(struct tutti_log) + (32u << 10));
	d->crash = region(&at, sizeof(struct tutti_crash));
	d->counters = region(&at, TUTTI_COUNTERS * sizeof(uint64_t));
	d->sm_table = region(&at, d->sms * sizeof(struct tutti_sm_place));
	d->trace = region(&at, 8192 * sizeof(struct tutti_trace));
	d->rsb_window = region(&at, TUTTI_MAX_RSBS * TUTTI_PAGE_SIZE);
	d->sm_states = region(&at, d->sms * sizeof(struct tutti_sm_state));
	d->doorbells = region(&at, TUTTI_MAX_QUEUES * TUTTI_PAGE_SIZE);
	d->window_bytes = at;
}

/* Return: SMs of CPC @c of GPC @g, in which @left SMs follow the CPCs before it; 0 if there is no such CPC. */
static uint32_t cpc_sms(const struct tutti_card_config *config, unsigned g, unsigned c, uint32_t left)
{
	if (config->gpcs && config->cpc[g][0])
		return c < TUTTI_CARD_CPCS ? config->cpc[g][c] : 0;
	return left < CPC_SMS ? left : CPC_SMS;
}

static int place_cpcs(const struct tutti_card_config *config, struct tutti_gpc *gpc, unsigned g)
{
	uint32_t left = gpc->sms, size;

	for (gpc->cpcs = 0; (size = cpc_sms(config, g, gpc->cpcs, left)); gpc->cpcs++) {
		if (size > left)
			return -EINVAL;
		left -= size;
	}
	return left ? -EINVAL : 0;
}

static int place_ugpus(const struct tutti_card_config *config, struct tutti_discovery *d)
{
	unsigned g = 0;

	for (; !config->ugpus && g < d->gpcs; g++)
		d->gpc[g].ugpu = d->gpcs > 1 ? (uint16_t)(g / ((d->gpcs + 1) / 2)) : 0;
	for (unsigned u = 0; u < config->ugpus; u++)
		for (unsigned i = 0; i < config->ugpu[u]; i++) {
			if (g == d->gpcs)
				return -EINVAL;
			d->gpc[g++].ugpu = (uint16_t)u;
		}
	return g == d->gpcs ? 0 : -EINVAL;
}

static int place_gpcs(const struct tutti_card_config *config, struct tutti_discovery *d)
{
	unsigned i, n = config->gpcs ? config->gpcs : DEFAULT_GPCS;

	if (n > TUTTI_MAX_GPCS)
		return -EINVAL;
	for (i = 0; i < n; i++) {
		uint32_t sms = config->gpcs ? config->topology[i] : DEFAULT_GPC_SMS;

		if (!sms || sms > TUTTI_MAX_SMS - d->sms)
			return -EINVAL;
		d->gpc[i].first_sm = (uint16_t)d->sms;
		d->gpc[i].sms = (uint16_t)sms;
		if (place_cpcs(config, &d->gpc[i], i))
			return -EINVAL;
		d->sms += sms;
	}
	d->gpcs = n;
	return place_ugpus(config, d);
}

static void fill_limits(struct tutti_discovery *d)
{
	d->max_contexts = TUTTI_MAX_CONTEXTS;
	d->max_queues = TUTTI_MAX_QUEUES;
	d->max_rsbs = TUTTI_MAX_RSBS;
	d->task_slots = 32;
	d->ring_packets_min = 2;
	d->ring_packets_max = 1u << 16;
	d->msix_vectors = CARD_MSIX_VECTORS;
	d->soft_cores = 1;
	d->soft_core_hz = CARD_CORE_HZ;
	d->movers = 1;
	d->timer_hz = CARD_TIMER_HZ;
	d->cga_ids = 32;
	d->cga_ctas = 16;
	d->lmem_slots = 64;
	d->lmem_slot_bytes = 64u << 10;
	d->tmau_requests = 16;
}

/* The windows must have addresses for all blocks that an SM can be given. */
static bool shared_fits(const struct tutti_discovery *d)
{
	_Static_assert((uint64_t)TUTTI_MAX_SMS * SHARED_BYTES <= TUTTI_WAVE_PRIVATE - TUTTI_WAVE_SHARED,
		       "the window of shared memory has room for all SMs");
	return (uint64_t)window_shared_most(d) * d->shared_block_bytes <= SHARED_BYTES;
}

static int fill_compute(const struct tutti_card_config *config, struct tutti_discovery *d)
{
	d->peus = pick(config->peus, 4);
	d->peu_waves = pick(config->peu_waves, 8);
	d->scalar_blocks = pick(config->scalar_blocks, 32);
	d->vector_blocks = pick(config->vector_blocks, 32);
	d->shared_blocks = pick(config->shared_blocks, 64);
	d->shared_block_bytes = pick(config->shared_block_bytes, 2048);
	d->barriers = pick(config->barriers, 16);
	d->cta_slots = pick(config->cta_slots, 32);
	d->private_bytes = 256u << 10;
	if (d->peus > 8 || d->peu_waves > 64 || d->peus * d->peu_waves > 128 || d->scalar_blocks > 256 || d->vector_blocks > 256 ||
	    d->shared_blocks > WINDOW_SHARED_BLOCKS || d->barriers > 256 || d->cta_slots > 255 ||
	    d->shared_block_bytes > (1u << 20) || (d->shared_block_bytes & (d->shared_block_bytes - 1)) ||
	    d->shared_block_bytes < LINE || !shared_fits(d))
		return -EINVAL;
	d->workgroup_items = d->peus * d->peu_waves * TUTTI_WAVE_ITEMS;
	if (d->workgroup_items > 1024)
		d->workgroup_items = 1024;
	return 0;
}

int window_layout(const struct tutti_card_config *config, struct tutti_discovery *d)
{
	int error;

	memset(d, 0, sizeof(*d));
	d->magic = TUTTI_DISCOVERY_MAGIC;
	d->bytes = sizeof(*d);
	d->contract_min = TUTTI_VERSION(TUTTI_VERSION_MAJOR(TUTTI_CONTRACT_VERSION), 0);
	d->contract_max = TUTTI_CONTRACT_VERSION;
	d->serial = 1;
	d->features = TUTTI_FEATURE_EMULATED | TUTTI_FEATURE_CARD_RINGS | TUTTI_FEATURE_TRACE | TUTTI_FEATURE_CGA |
		      TUTTI_FEATURE_TMAU;
	if (!config->split_signals)
		d->features |= TUTTI_FEATURE_PCIE_ATOMICS;
	if (!config->acknowledge)
		d->features |= TUTTI_FEATURE_ORDERED_STATES;
	if (config->energy)
		d->features |= TUTTI_FEATURE_ENERGY;
	strcpy(d->name, "Tutti emulated card");
	d->local_bytes = config->local_bytes ? config->local_bytes : CARD_LOCAL_BYTES;
	if (d->local_bytes > CARD_LOCAL_MAX || d->local_bytes % 65536)
		return -EINVAL;
	error = place_gpcs(config, d);
	if (!error)
		error = fill_compute(config, d);
	if (error)
		return error;
	fill_limits(d);
	place_regions(d);
	d->aperture = APERTURE;
	d->memory_bytes = config->memory_bytes ? config->memory_bytes : 1ull << 30;
	d->memory_bytes = (d->memory_bytes + TUTTI_PAGE_SIZE - 1) & ~(uint64_t)(TUTTI_PAGE_SIZE - 1);
	d->aperture_bytes = d->memory_bytes;
	d->reserved_bytes = 4u << 20;
	if (d->memory_bytes < 2 * d->reserved_bytes || d->memory_bytes > 1ull << 40 || d->window_bytes > APERTURE)
		return -EINVAL;
	return 0;
}

static void gpc_places(const struct tutti_card *card, unsigned g, struct tutti_sm_place *place)
{
	uint32_t left = card->discovery.gpc[g].sms, size;
	unsigned tpc = 0;

	for (unsigned c = 0; (size = cpc_sms(&card->config, g, c, left)); c++) {
		for (unsigned i = 0; i < size; i++)
			*place++ = (struct tutti_sm_place){(uint8_t)g, (uint8_t)c, (uint8_t)(tpc + i / 2), i % 2};
		tpc += (size + 1) / 2; /* a TPC never spans two CPCs */
		left -= size;
	}
}

void card_sm_places(const struct tutti_card *card, struct tutti_sm_place *table)
{
	for (unsigned g = 0; g < card->discovery.gpcs; g++)
		gpc_places(card, g, table + card->discovery.gpc[g].first_sm);
}

/* Whole pages of garbage would only make the host allocate them, so that RSB pages get as much as is used of them. */
static void fill_pages(struct tutti_card *card)
{
	const struct tutti_discovery *d = &card->discovery;
	uint32_t i;

	for (i = 0; i < d->rsb_window.bytes; i += TUTTI_PAGE_SIZE)
		garbage_fill(card, card->bar + d->rsb_window.offset + i, sizeof(struct tutti_rsb));
	for (i = 0; i < d->max_queues; i++)
		garbage_fill(card, &card->doorbells[i].doorbell, sizeof(card->doorbells[i].doorbell));
}

void window_fill(struct tutti_card *card)
{
	const struct tutti_discovery *d = &card->discovery;

	memset(card->bar, 0, sizeof(*d));
	garbage_fill(card, card->bar + sizeof(*d), d->rsb_window.offset - sizeof(*d));
	garbage_fill(card, card->bar + d->sm_states.offset, d->sm_states.bytes);
	fill_pages(card);
	memset(card->control, 0, sizeof(*card->control));
	memset(card->status, 0, sizeof(*card->status));
	card_sm_places(card, (struct tutti_sm_place *)(card->bar + d->sm_table.offset));
	memcpy(card->bar + 8, (const uint8_t *)d + 8, sizeof(*d) - 8);
	tutti_store_release((uint64_t *)card->bar, d->magic);
}

const struct tutti_discovery *card_discovery(const struct tutti_card *card)
{
	return &card->discovery;
}
