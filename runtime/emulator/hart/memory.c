// SPDX-License-Identifier: MIT
/*
 * What a wave sees of memory: the bus of its hart's processor. Addresses of the context go through its page tables,
 * with the rights by kind of access that they give. Above them lie the windows (wave.h of the contract): the ROM and
 * the wave information blocks, which are alike for all waves of the hart; shared memory and the stack, of which a
 * wave reaches nothing but its own; memory of other CTAs and linear memory, which the wave asks for access by access
 * (dsmem.c).
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "emulator/hart/dsmem.h"
#include "emulator/hart/energy.h"

#define PAGE	    4096ull
#define BLOCK_SHIFT 21 /* no span of the MMU reaches out of such a block */

/* li a7, 0; ecall; j . */
static const uint32_t rom[PAGE / 4] __attribute__((aligned(4096))) = { 0x00000893, 0x00000073, 0x0000006f };

/* ---- windows ---------------------------------------------------------- */

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

/* Where in all shared memory that of @cta begins. */
static uint64_t shared_at(const struct sm_array *array, const struct cta *cta)
{
	return cta->sm * array->shared_stride + (uint64_t)cta->shared_first * array->limits->shared_block_bytes;
}

uint8_t *cta_shared(const struct sm_array *array, const struct cta *cta)
{
	return cta->hart->shared + shared_at(array, cta);
}

uint32_t cta_shared_bytes(const struct cta *cta)
{
	return (cta->task->state.shared_bytes + 15) & ~15u;
}

static int span_shared(struct hart *hart, uint64_t va, struct cpu_span *span)
{
	const struct cta *cta = hart->current->cta;
	uint64_t first = TUTTI_WAVE_SHARED + shared_at(hart->array, cta), bytes = cta_shared_bytes(cta);

	if (va - first >= bytes)
		return TUTTI_CAUSE_UNMAPPED;
	hart->lent_shared.first = first;
	hart->lent_shared.bytes = bytes;
	*span = (struct cpu_span){ first, bytes, cta_shared(hart->array, cta), CPU_MAY_LOAD | CPU_MAY_STORE, false };
	return 0;
}

static int span_stack(struct hart *hart, uint64_t va, struct cpu_span *span)
{
	struct stack *stack = hart->current->stack;

	if (va - stack->va >= stack->bytes)
		return TUTTI_CAUSE_STACK;
	hart->lent_stack = stack;
	*span = (struct cpu_span){ stack->va, stack->bytes, stack->host, CPU_MAY_LOAD | CPU_MAY_STORE, false };
	return 0;
}

static bool same_shared(const struct hart *hart, const struct cta *cta)
{
	return hart->lent_shared.first == TUTTI_WAVE_SHARED + shared_at(hart->array, cta) &&
	       hart->lent_shared.bytes == cta_shared_bytes(cta);
}

void hart_memory_switch(struct hart *hart, const struct wave *wave)
{
	if (hart->lent_stack && hart->lent_stack != wave->stack) {
		cpu_forget_spans(hart->cpu, hart->lent_stack->va, hart->lent_stack->bytes);
		hart->lent_stack = NULL;
	}
	if (hart->lent_shared.bytes && !same_shared(hart, wave->cta)) {
		cpu_forget_spans(hart->cpu, hart->lent_shared.first, hart->lent_shared.bytes);
		hart->lent_shared.bytes = 0;
	}
}

/* An atomic needs memory to act on; its size is not known, but its address is a multiple of it. */
static int span_dsmem(struct hart *hart, uint64_t va, enum cpu_access access, struct cpu_span *span)
{
	unsigned bytes = va & 7 ? 4 : 8;
	uint8_t cause;

	if (access == CPU_FETCH)
		return TUTTI_CAUSE_UNMAPPED;
	*span = (struct cpu_span){ va, bytes, NULL, CPU_MAY_LOAD | CPU_MAY_STORE, true };
	if (access != CPU_ATOMIC)
		return 0;
	span->host = dsmem_pointer(hart, va, bytes, &cause);
	return span->host ? 0 : cause;
}

static int span_window(struct hart *hart, uint64_t va, enum cpu_access access, struct cpu_span *span)
{
	if (va >= TUTTI_WAVE_DSMEM)
		return span_dsmem(hart, va, access, span);
	if (va >= TUTTI_WAVE_PRIVATE)
		return span_stack(hart, va, span);
	if (va >= TUTTI_WAVE_SHARED)
		return span_shared(hart, va, span);
	if (va - TUTTI_WAVE_INFO < infos_bytes(hart))
		*span = (struct cpu_span){ TUTTI_WAVE_INFO, infos_bytes(hart), (uint8_t *)hart->infos, CPU_MAY_LOAD, false };
	else if (va - TUTTI_WAVE_ROM < sizeof(rom))
		*span = (struct cpu_span){ TUTTI_WAVE_ROM, sizeof(rom), (uint8_t *)rom, CPU_MAY_LOAD | CPU_MAY_FETCH, false };
	else
		return TUTTI_CAUSE_UNMAPPED;
	return 0;
}

/* ---- the context's pages ---------------------------------------------- */

static unsigned access_of(enum cpu_access access)
{
	static const uint8_t names[] = { TUTTI_ACCESS_READ, TUTTI_ACCESS_WRITE, TUTTI_ACCESS_EXECUTE, TUTTI_ACCESS_ATOMIC };

	return names[access];
}

static uint8_t rights_of(uint64_t permissions)
{
	return (uint8_t)((permissions & TUTTI_PTE_R ? CPU_MAY_LOAD : 0) | (permissions & TUTTI_PTE_W ? CPU_MAY_STORE : 0) |
			 (permissions & TUTTI_PTE_X ? CPU_MAY_FETCH : 0));
}

/*
 * A place for each 2 MiB block of addresses, some of which share one: finding what is there and replacing it both
 * take the same time however many pages have been touched.
 */
static struct region *place_of(struct hart *hart, uint64_t va)
{
	uint64_t block = va >> BLOCK_SHIFT;

	return &hart->region[(block ^ block >> 8) % HART_REGIONS];
}

static int span_pages(struct hart *hart, uint64_t va, enum cpu_access access, struct cpu_span *span)
{
	struct region *region = place_of(hart, va);
	struct mmu_fault fault;
	struct mmu_span pages;

	if (va - region->first >= region->bytes) {
		if (!mmu_span(hart->array->card, hart->asid, va, access_of(access), &pages, &fault))
			return fault.cause;
		*region = (struct region){ pages.first, pages.bytes, pages.host, rights_of(pages.permissions) };
	}
	*span = (struct cpu_span){ region->first, region->bytes, region->host, region->rights, false };
	if (access == CPU_FETCH)
		hart_code_fetched(hart, region);
	return 0;
}

void hart_invalidate(struct hart *hart, uint64_t va, uint64_t bytes)
{
	if (!bytes && !hart_needed(hart)) {
		hart_destroy(hart);
		return;
	}
	memset(hart->region, 0, sizeof(hart->region));
	/* Code of pages that may not be executed any more has to go, too. */
	cpu_invalidate(hart->cpu, va, bytes, true);
	energy_hart_forget(hart);
}

/* ---- the bus ---------------------------------------------------------- */

static int bus_span(void *user, uint64_t va, enum cpu_access access, struct cpu_span *span)
{
	if (likely(va < TUTTI_VA_END))
		return span_pages(user, va, access, span);
	return span_window(user, va, access, span);
}

bool hart_code(struct hart *hart, uint64_t va, struct cpu_span *span)
{
	*span = (struct cpu_span){ 0 };
	return !bus_span(hart, va, CPU_FETCH, span) && span->host && (span->rights & CPU_MAY_FETCH);
}

/* One piece of a copy. Return: its bytes, 0 = refused */
static uint64_t copy_piece(struct hart *hart, uint8_t *to, uint64_t va, uint64_t bytes, struct mmu_fault *fault)
{
	struct cpu_span span = { 0 };
	int reason = bus_span(hart, va, CPU_LOAD, &span);
	uint64_t value = 0, n;

	if (!reason && !(span.rights & CPU_MAY_LOAD))
		reason = TUTTI_CAUSE_PROTECTION;
	if (!reason && !span.host)
		reason = dsmem_load(hart, va, 1, &value);
	if (reason) {
		*fault = (struct mmu_fault){ (uint8_t)reason, va };
		return 0;
	}
	if (!span.host) {
		*to = (uint8_t)value;
		return 1;
	}
	n = span.first + span.bytes - va;
	if (n > bytes)
		n = bytes;
	memcpy(to, span.host + (va - span.first), n);
	return n;
}

bool hart_copy_in(struct hart *hart, void *to, uint64_t va, uint64_t bytes, struct mmu_fault *fault)
{
	uint8_t *out = to;
	uint64_t n = 1;

	for (; bytes && n; out += n, va += n, bytes -= n)
		n = copy_piece(hart, out, va, bytes, fault);
	return n;
}

/* ---- life ------------------------------------------------------------- */

static const struct cpu_bus bus = { .span = bus_span, .load = dsmem_load, .store = dsmem_store };

int hart_memory_init(struct hart *hart)
{
	uint32_t waves = hart->array->sms * hart->array->sm_waves;
	int error;

	hart->infos_max = (waves + 127) & ~127u;
	hart->infos = reserve(infos_bytes(hart));
	if (shared_bytes(hart))
		hart->shared = reserve(shared_bytes(hart));
	if (!hart->infos || (!hart->shared && shared_bytes(hart)))
		return -ENOMEM;
	error = cpu_create(&(struct cpu_config){ .xlen = 64, .bus = &bus, .user = hart }, &hart->cpu);
	if (!error)
		cpu_stub(hart->cpu, TUTTI_WAVE_ROM, TUTTI_SERVICE_EXIT);
	return error;
}

void hart_memory_fini(struct hart *hart)
{
	if (hart->infos)
		munmap(hart->infos, infos_bytes(hart));
	if (hart->shared)
		munmap(hart->shared, shared_bytes(hart));
	stack_pool_empty(&hart->stacks);
	cpu_destroy(hart->cpu);
}
