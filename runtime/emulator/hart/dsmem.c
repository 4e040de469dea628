// SPDX-License-Identifier: MIT
/*
 * Access to the shared memory of other CTAs, by the tables of spec CGA-24, and to the CGA's linear memory. Both windows
 * look different from every wave, and CTAs come and go, so that the processor remembers nothing of them: each access
 * is a call of dsmem_load() or dsmem_store(), of dsmem_pointer() if it is an atomic.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/base/wake.h"
#include "emulator/hart/dsmem.h"

#define WINDOW (TUTTI_WAVE_LMEM - TUTTI_WAVE_DSMEM)
#define RANK_SHIFT 24
#define OFFSET_MASK ((1u << RANK_SHIFT) - 1)

static uint32_t key_of(unsigned id, unsigned rank)
{
	return 1u << 31 | id << 8 | rank;
}

static struct cga_route *route_of(struct sm_array *array, struct sm_cga *tables, unsigned slot)
{
	return (struct cga_route *)(tables->cga_cta2sm_dir + slot * array->route_bytes);
}

/* ---- tables: written by the driving thread ---------------------------- */

static unsigned slot_take(struct sm_cga *tables)
{
	unsigned slot = 0;

	while (tables->busy[slot / 64] >> (slot % 64) & 1)
		slot++;
	tables->busy[slot / 64] |= 1ull << (slot % 64);
	return slot; /* there are as many as ids */
}

static void announce_cta(struct sm_array *array, struct cga *cga, const struct cta *cta)
{
	struct sm_cga *tables = &array->sm_cga[cta->sm];
	struct cga_entry *entry = tables->entry;
	unsigned slot = cga->sm_slot[cga->rank_sm[cta->at.rank]];

	for (unsigned i = 0; i < SM_WAVES / 64; i++)
		for (uint64_t bits = cta->wave_slots[i]; bits; bits &= bits - 1)
			tables->bl_table[i * 64 + (unsigned)__builtin_ctzll(bits)] = (uint16_t)slot;
	while (tutti_load_relaxed(&entry->key))
		entry++; /* there are as many as CTA slots */
	entry->base = cta->shared_first * array->limits->shared_block_bytes;
	entry->bytes = cta_shared_bytes(cta);
	tutti_store_release(&entry->key, key_of(cga->id, cta->at.rank));
}

void dsmem_announce(struct sm_array *array, struct cga *cga)
{
	unsigned first_sm = array->limits->gpc[cga->gpc].first_sm;

	for (uint32_t bits = cga->ran; bits; bits &= bits - 1) {
		unsigned sm = (unsigned)__builtin_ctz(bits);
		struct sm_cga *tables = &array->sm_cga[first_sm + sm];
		struct cga_route *route;

		cga->sm_slot[sm] = (uint16_t)slot_take(tables);
		route = route_of(array, tables, cga->sm_slot[sm]);
		route->id = cga->id;
		route->ranks = (uint16_t)cga->size;
		for (unsigned r = 0; r < cga->size; r++)
			route->sm[r] = array->gpc[cga->gpc].place[cga->rank_sm[r]];
	}
	for (const struct cta *cta = cga->first; cta; cta = cta->group)
		announce_cta(array, cga, cta);
}

void dsmem_invalidate(struct sm_array *array, const struct cta *cta)
{
	struct cga_entry *entry = array->sm_cga[cta->sm].entry;
	uint32_t key = key_of(cta->cga->id, cta->at.rank);

	for (unsigned i = 0; i < array->limits->cta_slots; i++)
		if (tutti_load_relaxed(&entry[i].key) == key)
			tutti_store_release(&entry[i].key, 0);
}

void dsmem_release(struct sm_array *array, const struct cta *cta)
{
	struct sm_cga *tables = &array->sm_cga[cta->sm];

	for (unsigned i = 0; i < SM_WAVES / 64; i++)
		for (uint64_t bits = cta->wave_slots[i]; bits; bits &= bits - 1)
			tables->bl_table[i * 64 + (unsigned)__builtin_ctzll(bits)] = CGA_NO_SLOT;
}

void dsmem_forget(struct sm_array *array, struct cga *cga, uint32_t sms)
{
	for (; sms; sms &= sms - 1) {
		unsigned sm = (unsigned)__builtin_ctz(sms), slot = cga->sm_slot[sm];

		if (slot != CGA_NO_SLOT)
			array->sm_cga[array->limits->gpc[cga->gpc].first_sm + sm].busy[slot / 64] &=
				~(1ull << (slot % 64));
	}
}

/* ---- access: the engine that runs the CGA ----------------------------- */

static struct cga_entry *find_entry(struct sm_array *array, unsigned sm, uint32_t key)
{
	struct cga_entry *entry = array->sm_cga[sm].entry;

	for (unsigned i = 0; i < array->limits->cta_slots; i++)
		if (tutti_load_acquire(&entry[i].key) == key)
			return &entry[i];
	return NULL;
}

bool dsmem_segment(struct sm_array *array, const struct cga *cga, unsigned rank, uint64_t *at)
{
	unsigned sm;
	const struct cga_entry *entry;

	if (rank >= cga->size || cga->rank_sm[rank] == CGA_NO_SM)
		return false;
	sm = array->limits->gpc[cga->gpc].first_sm + cga->rank_sm[rank];
	entry = find_entry(array, sm, key_of(cga->id, rank));
	if (entry)
		*at = sm * array->shared_stride + entry->base;
	return entry;
}

/* One is enough: the firmware stops the task. */
static void tell_fault(struct sm_array *array, struct cga *cga, const struct cga_fault *fault)
{
	if (cga->faulted)
		return;
	cga->faulted = true;
	cga->fault = *fault;
	pthread_mutex_lock(&array->lock);
	cga->fault_next = array->faulted_cgas;
	tutti_store_release(&array->faulted_cgas, cga);
	pthread_mutex_unlock(&array->lock);
	card_wake(array->card);
}

static void *refuse(struct hart *hart, unsigned sm, unsigned rank, uint32_t offset, unsigned bytes, uint8_t cause)
{
	struct cga_fault fault = {.sm = sm, .rank = rank, .offset = offset, .cause = cause};

	tell_fault(hart->array, hart->current->cta->cga, &fault);
	hart->sink = 0;
	return &hart->sink;
}

static void *segment_pointer(struct hart *hart, const struct cta *cta, uint32_t offset, unsigned bytes)
{
	if (offset + bytes > cta_shared_bytes(cta))
		return NULL;
	return cta_shared(hart->array, cta) + offset;
}

static unsigned wave_slot(struct sm_array *array, struct wave *wave)
{
	if (wave->slot == WAVE_NO_SLOT)
		wave->slot = (uint16_t)sm_wave_slot(&array->sm[wave->cta->sm], wave->cta, wave->number);
	return wave->slot;
}

/* Source: from wave to route. Target: from (id, rank) to segment. */
static void *remote(struct hart *hart, unsigned rank, uint32_t offset, unsigned bytes, uint8_t *cause)
{
	struct sm_array *array = hart->array;
	const struct cta *cta = hart->current->cta;
	struct sm_cga *tables = &array->sm_cga[cta->sm];
	unsigned slot = tables->bl_table[wave_slot(array, hart->current)], sm, gpc;
	const struct cga_route *route;
	const struct cga_entry *entry;

	*cause = TUTTI_CAUSE_CGA_OFFSET;
	if (offset >= array->shared_stride)
		return NULL;
	if (slot == CGA_NO_SLOT) { /* a CTA alone has rank 0 and nobody else to reach */
		if (!rank)
			return segment_pointer(hart, cta, offset, bytes);
		*cause = TUTTI_CAUSE_CGA_RANK;
		return NULL;
	}
	route = route_of(array, tables, slot);
	*cause = TUTTI_CAUSE_CGA_RANK;
	if (rank >= route->ranks || route->sm[rank] == CGA_NO_SM)
		return NULL;
	gpc = array->gpc_of[cta->sm];
	sm = array->limits->gpc[gpc].first_sm + array->gpc[gpc].number[route->sm[rank]];
	entry = find_entry(array, sm, key_of(route->id, rank));
	if (unlikely(!entry))
		return refuse(hart, sm, rank, offset, bytes, TUTTI_CAUSE_CGA_EXITED);
	if (unlikely(offset + bytes > entry->bytes))
		return refuse(hart, sm, rank, offset, bytes, TUTTI_CAUSE_CGA_SEGMENT);
	return hart->shared + sm * array->shared_stride + entry->base + offset;
}

static void *linear(struct hart *hart, uint64_t offset, unsigned bytes, uint8_t *cause)
{
	struct sm_array *array = hart->array;
	uint32_t slot = hart->current->cta->lmem, size = array->limits->lmem_slot_bytes;

	*cause = TUTTI_CAUSE_UNMAPPED;
	if (slot >= array->limits->lmem_slots || offset + bytes > size)
		return NULL;
	tutti_store_relaxed(&array->lmem_used[slot], 1);
	return array->lmem + (uint64_t)slot * size + offset;
}

void *dsmem_pointer(struct hart *hart, uint64_t va, unsigned bytes, uint8_t *cause)
{
	uint64_t at = va - TUTTI_WAVE_DSMEM;

	if (unlikely(at >= WINDOW))
		return linear(hart, at - WINDOW, bytes, cause);
	if (unlikely(at >> RANK_SHIFT >= CGA_RANKS)) {
		*cause = TUTTI_CAUSE_CGA_RANK;
		return NULL;
	}
	return remote(hart, (unsigned)(at >> RANK_SHIFT), at & OFFSET_MASK, bytes, cause);
}

/* ---- the bus ---------------------------------------------------------- */

/* Sizes are written out so that an aligned access is one access: others look on. */
static uint64_t get(const void *from, unsigned bytes)
{
	uint64_t value = 0;

	switch (bytes) {
	case 1:
		memcpy(&value, from, 1);
		break;
	case 2:
		memcpy(&value, from, 2);
		break;
	case 4:
		memcpy(&value, from, 4);
		break;
	case 8:
		memcpy(&value, from, 8);
		break;
	}
	return value;
}

static void put(void *to, uint64_t value, unsigned bytes)
{
	switch (bytes) {
	case 1:
		memcpy(to, &value, 1);
		break;
	case 2:
		memcpy(to, &value, 2);
		break;
	case 4:
		memcpy(to, &value, 4);
		break;
	case 8:
		memcpy(to, &value, 8);
		break;
	}
}

int dsmem_load(void *hart, uint64_t va, unsigned bytes, uint64_t *value)
{
	uint8_t cause;
	const void *p = dsmem_pointer(hart, va, bytes, &cause);

	if (unlikely(!p))
		return cause;
	*value = get(p, bytes);
	return 0;
}

int dsmem_store(void *hart, uint64_t va, unsigned bytes, uint64_t value)
{
	uint8_t cause;
	void *p = dsmem_pointer(hart, va, bytes, &cause);

	if (unlikely(!p))
		return cause;
	put(p, value, bytes);
	return 0;
}

/* ---- life ------------------------------------------------------------- */

void dsmem_empty(struct sm_array *array)
{
	for (uint32_t i = 0; i < array->sms; i++) {
		struct sm_cga *tables = &array->sm_cga[i];

		memset(tables->bl_table, 0xff, sizeof(tables->bl_table));
		memset(tables->busy, 0, sizeof(tables->busy));
		memset(tables->entry, 0, sizeof(*tables->entry) * array->limits->cta_slots);
	}
}

int dsmem_create(struct sm_array *array)
{
	const struct tutti_discovery *limits = array->limits;

	array->route_bytes = (sizeof(struct cga_route) + limits->cga_ctas + 7) & ~7u;
	array->sm_cga = calloc(array->sms, sizeof(*array->sm_cga));
	for (uint32_t i = 0; array->sm_cga && i < array->sms; i++) {
		struct sm_cga *tables = &array->sm_cga[i];

		tables->entry = calloc(limits->cta_slots, sizeof(*tables->entry));
		tables->cga_cta2sm_dir = calloc(limits->cga_ids + 1, array->route_bytes);
		if (!tables->entry || !tables->cga_cta2sm_dir)
			return -ENOMEM;
	}
	return array->sm_cga ? 0 : -ENOMEM;
}

void dsmem_destroy(struct sm_array *array)
{
	for (uint32_t i = 0; array->sm_cga && i < array->sms; i++) {
		free(array->sm_cga[i].entry);
		free(array->sm_cga[i].cga_cta2sm_dir);
	}
	free(array->sm_cga);
}
