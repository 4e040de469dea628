// SPDX-License-Identifier: MIT
/* The card that tests tell the firmware of, see hal_host.h. */
#include "core/hal.h"

#include <string.h>

struct hal_host hal_host;

static struct tutti_region region(uint32_t *at, uint32_t bytes)
{
	struct tutti_region r = { *at, bytes };

	*at += (bytes + 4095) & ~4095u;
	return r;
}

#define GPC_SMS 18u
#define CPC_SMS 6u

unsigned hal_host_gpcs, hal_host_slots;
bool hal_host_acknowledge;
void (*hal_host_capacity)(struct tutti_discovery *discovery);
uint16_t hal_host_gpc[TUTTI_MAX_GPCS];

static void place_gpcs(struct tutti_discovery *d, unsigned sms)
{
	struct tutti_sm_place *place = (void *)((uint8_t *)d + d->sm_table.offset);
	unsigned g, i, at = 0;

	d->gpcs = hal_host_gpcs ? hal_host_gpcs : (sms + GPC_SMS - 1) / GPC_SMS;
	for (g = 0; g < d->gpcs; g++) {
		unsigned n = hal_host_gpcs ? hal_host_gpc[g] : sms - at < GPC_SMS ? sms - at : GPC_SMS;

		d->gpc[g] = (struct tutti_gpc){ (uint16_t)at, (uint16_t)n, (uint16_t)((n + CPC_SMS - 1) / CPC_SMS),
						(uint16_t)(g >= (d->gpcs + 1) / 2) };
		for (i = 0; i < n; i++, at++)
			place[at] = (struct tutti_sm_place){ (uint8_t)g, (uint8_t)(i / CPC_SMS), (uint8_t)(i / 2), i % 2 };
	}
}

void hal_host_discovery(struct tutti_discovery *d, unsigned sms)
{
	uint32_t at = 4096;

	memset(d, 0, sizeof(*d));
	d->magic = TUTTI_DISCOVERY_MAGIC;
	d->bytes = sizeof(*d);
	d->contract_min = d->contract_max = TUTTI_CONTRACT_VERSION;
	d->control = region(&at, sizeof(struct tutti_control));
	d->status = region(&at, sizeof(struct tutti_status));
	d->host_ring = region(&at, 64 * sizeof(struct tutti_message));
	d->card_ring = region(&at, 64 * sizeof(struct tutti_message));
	d->log = region(&at, 8192);
	d->crash = region(&at, sizeof(struct tutti_crash));
	d->counters = region(&at, TUTTI_COUNTERS * 8);
	d->sm_table = region(&at, TUTTI_MAX_SMS * sizeof(struct tutti_sm_place));
	d->rsb_window = region(&at, TUTTI_MAX_RSBS * 4096);
	d->window_bytes = at;
	d->memory_bytes = d->aperture_bytes = HAL_HOST_CARD;
	d->reserved_bytes = HAL_HOST_CARD / 2;
	d->max_contexts = TUTTI_MAX_CONTEXTS;
	d->max_queues = TUTTI_MAX_QUEUES;
	d->max_rsbs = TUTTI_MAX_RSBS;
	d->task_slots = hal_host_slots ? hal_host_slots : 32;
	d->ring_packets_min = 2;
	d->ring_packets_max = 65536;
	d->msix_vectors = 32;
	d->local_bytes = 256 << 10;
	d->timer_hz = 1000000000;
	d->sms = sms;
	place_gpcs(d, sms);
	d->features = TUTTI_FEATURE_CGA | (hal_host_acknowledge ? 0 : TUTTI_FEATURE_ORDERED_STATES);
	d->cga_ids = 256;
	d->cga_ctas = 1024;
	d->lmem_slots = 64;
	d->peus = 4;
	d->peu_waves = 8;
	d->scalar_blocks = d->vector_blocks = 32;
	d->shared_blocks = 64;
	d->shared_block_bytes = 2048;
	d->barriers = 16;
	d->cta_slots = 32;
	d->private_bytes = 256 << 10;
	d->workgroup_items = 1024;
	if (hal_host_capacity)
		hal_host_capacity(d);
}
