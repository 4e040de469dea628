// SPDX-License-Identifier: MIT
/*
 * What a wave sees of memory. A context's pages are given to unicorn on first
 * touch, in the largest contiguous pieces of equal permission inside a 64 MiB block;
 * the windows (ROM, wave information, shared and private memory) belong to the hart.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "emulator/memory/mmu.h"
#include "emulator/unicorn/atomic.h"
#include "emulator/unicorn/dsmem.h"
#include "emulator/unicorn/energy.h"
#include "emulator/unicorn/precise.h"

#define PAGE 4096ull
#define BLOCK (64ull << 20)
#define STACK_LEAST 4096u
#define PRIVATE_END (TUTTI_WAVE_PRIVATE + 0x1000000000ull)

/* Assembled from rv64:
 *	0x000: li a7, 0; ecall; j .
 *	0x100: li t0, 0x6000 (FS on, MPP user); csrw mstatus, t0; la t1, 1f; csrw mepc, t1
 *	       ld t2, 0(a0) (see boot()); mret; 1: csrwi fflags, 1; ecall; j .
 */
static const uint32_t rom_exit[] = {0x00000893, 0x00000073, 0x0000006f};
static const uint32_t rom_boot[] = {0x000062b7, 0x30029073, 0x00000317, 0x01430313, 0x34131073,
				    0x00053383, 0x30200073, 0x0010d073, 0x00000073, 0x0000006f};


static uint8_t rom[4096] __attribute__((aligned(4096)));

__attribute__((constructor)) static void fill_rom(void)
{
	memcpy(rom, rom_exit, sizeof(rom_exit));
	memcpy(rom + 0x100, rom_boot, sizeof(rom_boot));
}

static void *reserve(uint64_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, bytes, MADV_NOHUGEPAGE); /* touched here and there: clearing huge pages would be most of the work */
	return p;
}

static uint64_t infos_bytes(const struct hart *hart)
{
	return ((uint64_t)hart->infos_max * 256 + PAGE - 1) & ~(PAGE - 1);
}

static uint64_t shared_bytes(const struct hart *hart)
{
	return hart->array->shared_stride * hart->array->sms;
}

uint8_t *cta_shared(const struct sm_array *array, const struct cta *cta)
{
	return cta->hart->shared + cta->sm * array->shared_stride +
	       (uint64_t)cta->shared_first * array->limits->shared_block_bytes;
}

int hart_memory_init(struct hart *hart)
{
	uint32_t waves = hart->array->sms * hart->array->sm_waves;

	hart->infos_max = (waves + 127) & ~127u;
	hart->infos = reserve(infos_bytes(hart));
	if (!hart->infos ||
	    uc_mem_map_ptr(hart->uc, TUTTI_WAVE_INFO, infos_bytes(hart), UC_PROT_READ, hart->infos) ||
	    uc_mem_map_ptr(hart->uc, TUTTI_WAVE_ROM, sizeof(rom), UC_PROT_READ | UC_PROT_EXEC, rom))
		return -ENOMEM;
	if (!shared_bytes(hart))
		return 0;
	hart->shared = reserve(shared_bytes(hart));
	if (!hart->shared || uc_mem_map_ptr(hart->uc, TUTTI_WAVE_SHARED, shared_bytes(hart),
					    UC_PROT_READ | UC_PROT_WRITE, hart->shared))
		return -ENOMEM;
	return 0;
}

void hart_memory_fini(struct hart *hart)
{
	if (hart->infos)
		munmap(hart->infos, infos_bytes(hart));
	if (hart->shared)
		munmap(hart->shared, shared_bytes(hart));
	for (unsigned c = 0; c < STACK_CLASSES; c++)
		if (hart->stack[c].backing)
			munmap(hart->stack[c].backing, (uint64_t)hart->stack[c].bytes * STACK_SLOTS);
}

void hart_forget(struct hart *hart)
{
	hart_destroy(hart);
}

/* ---- private memory --------------------------------------------------- */

/*
 * Stacks of a class (power-of-two size) lie in slots with an unmapped gap of the
 * same size below each. With more waves in the middle of their work than slots,
 * waves share a slot and its contents are exchanged when they take turns.
 */
unsigned stack_class(uint32_t bytes)
{
	unsigned class = 0;

	while (class < STACK_CLASSES - 2 && ((uint64_t)STACK_LEAST << class) < bytes)
		class++;
	return class;
}

static uint64_t stack_va(unsigned class, unsigned slot)
{
	uint64_t bytes = (uint64_t)STACK_LEAST << class;

	return TUTTI_WAVE_PRIVATE + ((uint64_t)class << 32) + slot * 2 * bytes + bytes;
}

static void stack_take(struct stack_class *class, struct wave *wave)
{
	unsigned slot = 0;

	while (slot < STACK_SLOTS && class->users[slot])
		slot++;
	if (slot == STACK_SLOTS)
		slot = class->shared_next++ % STACK_SLOTS;
	class->users[slot]++;
	wave->stack = (int)slot;
}

uint64_t hart_stack_top(struct hart *hart, struct wave *wave)
{
	return stack_va(wave->stack_class, (unsigned)wave->stack) + ((uint64_t)STACK_LEAST << wave->stack_class);
}

void hart_stack_load(struct hart *hart, struct wave *wave)
{
	struct stack_class *class = &hart->stack[wave->stack_class];
	struct wave *owner;
	uint8_t *bytes;

	if (wave->stack < 0) {
		if (unlikely(!class->bytes)) {
			class->bytes = STACK_LEAST << wave->stack_class;
			class->backing = reserve((uint64_t)class->bytes * STACK_SLOTS);
		}
		stack_take(class, wave);
	}
	owner = class->owner[wave->stack];
	if (likely(owner == wave))
		return;
	class->owner[wave->stack] = wave;
	if (!owner && !wave->stack_saved)
		return;
	bytes = class->backing + (uint64_t)class->bytes * (unsigned)wave->stack;
	if (owner) {
		if (!owner->stack_saved && !(owner->stack_saved = malloc(class->bytes)))
			abort(); /* as for registers: nowhere to keep a wave */
		memcpy(owner->stack_saved, bytes, class->bytes);
	}
	if (wave->stack_saved)
		memcpy(bytes, wave->stack_saved, class->bytes);
}

void hart_stack_release(struct wave *wave)
{
	struct stack_class *class = &wave->hart->stack[wave->stack_class];

	if (wave->stack < 0)
		return;
	if (class->owner[wave->stack] == wave)
		class->owner[wave->stack] = NULL;
	class->users[wave->stack]--;
	wave->stack = -1;
	free(wave->stack_saved);
	wave->stack_saved = NULL;
}

/* Slot that holds @va, or -1. */
static int stack_find(struct hart *hart, uint64_t va, unsigned *class_out)
{
	uint64_t at = va - TUTTI_WAVE_PRIVATE;
	unsigned class = (unsigned)(at >> 32), slot;
	uint64_t bytes = (uint64_t)STACK_LEAST << class, place = at & 0xffffffffu;

	if (va < TUTTI_WAVE_PRIVATE || class >= STACK_CLASSES || !hart->stack[class].backing)
		return -1;
	slot = (unsigned)(place / (2 * bytes));
	if (slot >= STACK_SLOTS || place % (2 * bytes) < bytes || !hart->stack[class].users[slot])
		return -1;
	*class_out = class;
	return (int)slot;
}

static bool touch_window(struct hart *hart, uint64_t va, unsigned access, uint8_t *cause)
{
	struct stack_class *stack;
	unsigned class;
	int slot;

	*cause = va >= TUTTI_WAVE_PRIVATE && va < PRIVATE_END ? TUTTI_CAUSE_STACK : TUTTI_CAUSE_UNMAPPED;
	if (access == TUTTI_ACCESS_EXECUTE || *cause != TUTTI_CAUSE_STACK)
		return false;
	slot = stack_find(hart, va, &class);
	if (slot < 0)
		return false;
	stack = &hart->stack[class];
	if (stack->mapped >> slot & 1)
		return true;
	if (uc_mem_map_ptr(hart->uc, stack_va(class, (unsigned)slot), stack->bytes, UC_PROT_READ | UC_PROT_WRITE,
			   stack->backing + (uint64_t)stack->bytes * (unsigned)slot))
		return false;
	stack->mapped |= 1u << slot;
	return true;
}

/* ---- the context's pages ---------------------------------------------- */

static uint32_t prot_of(uint64_t leaf)
{
	return (leaf & TUTTI_PTE_R ? UC_PROT_READ : 0u) | (leaf & TUTTI_PTE_W ? UC_PROT_WRITE : 0u) |
	       (leaf & TUTTI_PTE_X ? UC_PROT_EXEC : 0u);
}

static bool prot_allows(uint32_t prot, unsigned access)
{
	switch (access) {
	case TUTTI_ACCESS_READ:
		return prot & UC_PROT_READ;
	case TUTTI_ACCESS_WRITE:
		return prot & UC_PROT_WRITE;
	case TUTTI_ACCESS_EXECUTE:
		return prot & UC_PROT_EXEC;
	}
	return (prot & UC_PROT_READ) && (prot & UC_PROT_WRITE);
}

static struct region *find_region(struct hart *hart, uint64_t va)
{
	struct region *region = &hart->region[hart->region_hit];

	if (hart->region_hit < hart->regions && va - region->va < region->bytes)
		return region;
	for (uint32_t i = 0; i < hart->regions; i++) {
		region = &hart->region[i];
		if (va - region->va < region->bytes) {
			hart->region_hit = i;
			return region;
		}
	}
	return NULL;
}

static void unmap_region(struct hart *hart, uint32_t i)
{
	uc_mem_unmap(hart->uc, hart->region[i].va, hart->region[i].bytes);
	jump_cache_clear(&hart->jumps);
	hart->region[i] = hart->region[--hart->regions];
	hart->region_hit = 0;
}

void hart_stale(struct hart *hart)
{
	bool code = hart->drop_code;

	for (uint32_t i = hart->regions; i-- > 0;) {
		const struct region *region = &hart->region[i];

		if (!hart->drop_all &&
		    (region->va >= hart->drop_end || region->va + region->bytes <= hart->drop_first))
			continue;
		code |= (region->prot & UC_PROT_EXEC) != 0;
		unmap_region(hart, i);
	}
	if (code)
		uc_ctl_flush_tlb(hart->uc); /* translated code, in fact */
	jump_cache_clear(&hart->jumps);
	energy_hart_forget(hart);
	hart->refresh = hart->drop_all = hart->drop_code = false;
	hart->drop_first = hart->drop_end = 0;
}

/* Extend [region->va, ...) down to the start of its 64 MiB, 2 MiB or 64 KiB block, if all of that is alike. */
static void extend_down(struct hart *hart, struct region *region, uint64_t low)
{
	static const uint64_t align[] = {BLOCK, 2ull << 20, 64ull << 10};
	struct tutti_card *card = hart->array->card;

	for (unsigned i = 0; i < sizeof(align) / sizeof(*align); i++) {
		uint64_t base = region->va & ~(align[i] - 1), extent = 0, gap;
		struct mmu_fault fault;
		uint8_t *host;

		if (base < low)
			base = low;
		gap = region->va - base;
		if (!gap)
			return;
		if (prot_of(mmu_leaf(card, hart->asid, base)) != region->prot)
			continue;
		host = mmu_translate(card, hart->asid, base,
				     region->prot & UC_PROT_READ ? TUTTI_ACCESS_READ : TUTTI_ACCESS_EXECUTE,
				     &extent, &fault);
		if (!host || extent <= gap || host + gap != region->host)
			continue;
		region->va = base;
		region->host = host;
		region->bytes += gap;
		return;
	}
}

/* Room around @va between regions that are there already. */
static void neighbours(const struct hart *hart, uint64_t va, uint64_t *low, uint64_t *high)
{
	*low = va & ~(BLOCK - 1);
	*high = *low + BLOCK;
	for (uint32_t i = 0; i < hart->regions; i++) {
		const struct region *region = &hart->region[i];

		if (region->va > va && region->va < *high)
			*high = region->va;
		if (region->va < va && region->va + region->bytes > *low)
			*low = region->va + region->bytes;
	}
}

static bool touch_pages(struct hart *hart, uint64_t va, unsigned access, uint8_t *cause)
{
	struct tutti_card *card = hart->array->card;
	struct mmu_fault fault = {TUTTI_CAUSE_UNMAPPED, va};
	struct region region = {.va = va & ~(PAGE - 1)};
	uint64_t extent = 0, low, high;

	region.host = mmu_translate(card, hart->asid, region.va, access, &extent, &fault);
	if (!region.host || extent < PAGE) {
		*cause = region.host ? TUTTI_CAUSE_BUS : fault.cause;
		return false;
	}
	while (hart->regions == HART_REGIONS)
		unmap_region(hart, 0);
	neighbours(hart, region.va, &low, &high);
	region.prot = prot_of(mmu_leaf(card, hart->asid, region.va));
	region.bytes = extent & ~(PAGE - 1);
	if (region.bytes > high - region.va)
		region.bytes = high - region.va;
	extend_down(hart, &region, low);
	if (uc_mem_map_ptr(hart->uc, region.va, region.bytes, region.prot, region.host)) {
		*cause = TUTTI_CAUSE_BUS;
		return false;
	}
	hart->region[hart->regions++] = region;
	return true;
}

bool hart_touch(struct hart *hart, uint64_t va, unsigned access, uint8_t *cause)
{
	*cause = TUTTI_CAUSE_UNMAPPED;
	if (va >= TUTTI_VA_END)
		return touch_window(hart, va, access, cause);
	return touch_pages(hart, va, access, cause);
}

static void *window_pointer(struct hart *hart, uint64_t va, unsigned bytes, unsigned access, uint8_t *cause)
{
	unsigned class;

	*cause = TUTTI_CAUSE_PROTECTION;
	if (va >= TUTTI_WAVE_DSMEM)
		return access == TUTTI_ACCESS_EXECUTE ? NULL : dsmem_pointer(hart, va, bytes, cause);
	if (hart->shared && va - TUTTI_WAVE_SHARED < shared_bytes(hart))
		return access == TUTTI_ACCESS_EXECUTE ? NULL : hart->shared + (va - TUTTI_WAVE_SHARED);
	if (va - TUTTI_WAVE_INFO < infos_bytes(hart))
		return access == TUTTI_ACCESS_READ ? (uint8_t *)hart->infos + (va - TUTTI_WAVE_INFO) : NULL;
	if (va - TUTTI_WAVE_ROM < sizeof(rom))
		return access == TUTTI_ACCESS_WRITE || access == TUTTI_ACCESS_ATOMIC ? NULL
										  : rom + (va - TUTTI_WAVE_ROM);
	if (!touch_window(hart, va, access, cause) || stack_find(hart, va, &class) < 0)
		return NULL;
	return hart->stack[class].backing + (uint64_t)hart->stack[class].bytes *
						    (unsigned)stack_find(hart, va, &class) +
	       (va & (hart->stack[class].bytes - 1));
}

void *hart_pointer(struct hart *hart, uint64_t va, unsigned bytes, unsigned access, uint8_t *cause)
{
	struct region *region;

	if (va >= TUTTI_VA_END)
		return window_pointer(hart, va, bytes, access, cause);
	region = find_region(hart, va);
	if (unlikely(!region)) {
		unsigned as = access == TUTTI_ACCESS_ATOMIC ? TUTTI_ACCESS_WRITE : access;

		if (!hart_touch(hart, va, as, cause))
			return NULL;
		region = find_region(hart, va);
	}
	*cause = TUTTI_CAUSE_PROTECTION;
	if (!region || !prot_allows(region->prot, access) || va + bytes > region->va + region->bytes)
		return NULL;
	return region->host + (va - region->va);
}
