// SPDX-License-Identifier: MIT
/*
 * Memory off the fast path. A span that the bus gives is remembered twice: for the base register of the
 * instruction, which the interpreter looks at by itself, and in a table by page, which serves registers that
 * point here and there. Both know addresses and sizes to the byte, so that spans need not be pages.
 */
#include <string.h>

#include "translation.h"

#define PAGE_OF(va) ((va) / CPU_PAGE)

bool cpu_refuse(struct cpu *cpu, enum cpu_fault_kind kind, enum cpu_access access, uint64_t address,
		int reason)
{
	cpu->fault = (struct cpu_fault){
	    .kind = kind,
	    .access = access,
	    .reason = reason,
	    .pc = cpu->regs->pc,
	    .address = address,
	};
	return false;
}

static unsigned tlb_index(uint64_t va)
{
	uint64_t page = PAGE_OF(va);

	return (page ^ page / CPU_TLB) % CPU_TLB;
}

static struct cpu_tlb *tlb_of(struct cpu *cpu, uint64_t va)
{
	return &cpu->tlb[tlb_index(va)];
}

bool cpu_remembered(const struct cpu *cpu, uint64_t va, struct cpu_near *near)
{
	const struct cpu_tlb *tlb = &cpu->tlb[tlb_index(va)];

	*near = tlb->near;
	return tlb->page == PAGE_OF(va) + 1;
}

/* What an access of up to eight bytes may start with; what is left of the span has to be looked at byte by
 * byte. */
static uint64_t starts(uint64_t bytes, bool allowed)
{
	return allowed && bytes > 7 ? bytes - 7 : 0;
}

static void remember(struct cpu *cpu, const struct cpu_span *span, uint64_t va, unsigned base)
{
	struct cpu_tlb *tlb = tlb_of(cpu, va);

	tlb->page = PAGE_OF(va) + 1;
	tlb->near = (struct cpu_near){
	    .first = span->first,
	    .load = starts(span->bytes, span->rights & CPU_MAY_LOAD),
	    .store = starts(span->bytes, span->rights & CPU_MAY_STORE),
	    .delta = (uintptr_t)span->host - (uintptr_t)span->first,
	};
	cpu->tlb_used = true;
	cpu->near[base] = tlb->near;
	cpu->near_used |= 1u << base;
}

/* The span of @va with the rights for @access. Return: false and cpu->fault. */
static bool find(struct cpu *cpu, uint64_t va, enum cpu_access access, struct cpu_span *span)
{
	static const uint8_t needs[] = {CPU_MAY_LOAD, CPU_MAY_STORE, CPU_MAY_FETCH,
					CPU_MAY_LOAD | CPU_MAY_STORE};
	int reason;

	if (cpu->flat && va < cpu->flat_bytes) {
		*span = (struct cpu_span){0, cpu->flat_bytes, cpu->flat, 7, false};
		return true;
	}
	*span = (struct cpu_span){0};
	reason = cpu->bus->span(cpu->user, va, access, span);
	if (reason)
		return cpu_refuse(cpu, CPU_FAULT_MEMORY, access, va, reason);
	if ((span->rights & needs[access]) != needs[access])
		return cpu_refuse(cpu, CPU_FAULT_RIGHTS, access, va, 0);
	return true;
}

/* Host address of a whole access, NULL if it is not that simple. */
static uint8_t *simple(struct cpu *cpu, uint64_t va, unsigned bytes, enum cpu_access access, unsigned base)
{
	struct cpu_tlb *tlb = tlb_of(cpu, va);
	const struct cpu_near *near = &tlb->near;

	uint64_t size = access == CPU_LOAD ? near->load : near->store;

	if (tlb->page != PAGE_OF(va) + 1 || !size || va - near->first > size + 7 - bytes)
		return NULL;
	cpu->near[base] = *near;
	cpu->near_used |= 1u << base;
	return (uint8_t *)(va + near->delta);
}

static uint64_t mask(const struct cpu *cpu, uint64_t va)
{
	return cpu->xlen == 32 ? (uint32_t)va : va;
}

/*
 * @part bytes from @va on that one span holds. A device gets the access whole.
 * Return: how many, 0 = refused.
 */
static unsigned part_of(struct cpu *cpu, uint64_t va, unsigned bytes, enum cpu_access access,
			struct cpu_span *span)
{
	uint64_t room;

	if (!find(cpu, va, access, span))
		return 0;
	room = span->first + span->bytes - va;
	return !span->host || room >= bytes ? bytes : (unsigned)room;
}

static uint64_t read_host(const uint8_t *host, unsigned bytes)
{
	uint64_t value = 0;

	switch (bytes) {
	case 1:
		return *(const volatile uint8_t *)host;
	case 2:
		return *(const volatile cpu_u16 *)host;
	case 4:
		return *(const volatile cpu_u32 *)host;
	case 8:
		return *(const volatile cpu_u64 *)host;
	}
	memcpy(&value, host, bytes);
	return value;
}

static void write_host(uint8_t *host, unsigned bytes, uint64_t value)
{
	switch (bytes) {
	case 1:
		*(volatile uint8_t *)host = (uint8_t)value;
		break;
	case 2:
		*(volatile cpu_u16 *)host = (uint16_t)value;
		break;
	case 4:
		*(volatile cpu_u32 *)host = (uint32_t)value;
		break;
	case 8:
		*(volatile cpu_u64 *)host = value;
		break;
	default:
		memcpy(host, &value, bytes);
	}
}

static bool load_part(struct cpu *cpu, const struct cpu_span *span, uint64_t va, unsigned bytes,
		      uint64_t *value)
{
	int reason;

	if (span->host) {
		*value = read_host(span->host + (va - span->first), bytes);
		return true;
	}
	*value = 0;
	reason = cpu->bus->load(cpu->user, va, bytes, value);
	return !reason || cpu_refuse(cpu, CPU_FAULT_MEMORY, CPU_LOAD, va, reason);
}

static bool store_part(struct cpu *cpu, const struct cpu_span *span, uint64_t va, unsigned bytes,
		       uint64_t value)
{
	int reason;

	if (span->host) {
		write_host(span->host + (va - span->first), bytes, value);
		return true;
	}
	reason = cpu->bus->store(cpu->user, va, bytes, value);
	return !reason || cpu_refuse(cpu, CPU_FAULT_MEMORY, CPU_STORE, va, reason);
}

bool cpu_load(struct cpu *cpu, uint64_t va, unsigned bytes, unsigned base, uint64_t *value)
{
	const uint8_t *host = simple(cpu, va, bytes, CPU_LOAD, base);
	struct cpu_span span;
	uint64_t low, high;
	unsigned part;

	if (cpu_likely(host)) {
		*value = read_host(host, bytes);
		return true;
	}
	part = part_of(cpu, va, bytes, CPU_LOAD, &span);
	if (cpu_unlikely(!part))
		return false;
	if (span.host && !span.once)
		remember(cpu, &span, va, base);
	if (!load_part(cpu, &span, va, part, &low))
		return false;
	*value = low;
	if (part == bytes)
		return true;
	/* the access crosses into another span */
	if (!cpu_load(cpu, mask(cpu, va + part), bytes - part, base, &high))
		return false;
	*value = low | high << (8 * part);
	return true;
}

bool cpu_store(struct cpu *cpu, uint64_t va, unsigned bytes, unsigned base, uint64_t value)
{
	uint8_t *host = simple(cpu, va, bytes, CPU_STORE, base);
	struct cpu_span span;
	unsigned part;

	if (cpu_likely(host)) {
		write_host(host, bytes, value);
		return true;
	}
	part = part_of(cpu, va, bytes, CPU_STORE, &span);
	if (cpu_unlikely(!part))
		return false;
	if (span.host && !span.once)
		remember(cpu, &span, va, base);
	/* all or nothing: the last part is written first, after all of them have been found */
	if (part < bytes && !cpu_store(cpu, mask(cpu, va + part), bytes - part, base, value >> (8 * part)))
		return false;
	return store_part(cpu, &span, va, part, value);
}

/* ---- accesses of translated code that are not to memory remembered for their register ---- */

/* Where to go on behind the access at @pc, if the bus has asked for the end of the run. */
static uint64_t settle(struct cpu *cpu, uint64_t pc, unsigned what)
{
	if (cpu_likely(__atomic_load_n(&cpu->limit, __ATOMIC_RELAXED)))
		return 0;
	cpu->instructions++;
	pc += what >> 16;
	return cpu->xlen == 32 ? (uint32_t)pc : pc;
}

uint64_t cpu_load_far(struct cpu *cpu, uint64_t va, uint64_t pc, uint64_t count, unsigned what)
{
	const uint8_t *host = simple(cpu, va, what & 0xff, CPU_LOAD, what >> 8 & 0xff);

	if (cpu_likely(host)) {
		cpu->loaded = read_host(host, what & 0xff);
		return 0;
	}
	cpu->regs->pc = pc;
	cpu->instructions = count;
	if (!cpu_load(cpu, va, what & 0xff, what >> 8 & 0xff, &cpu->loaded))
		return CPU_OUT_FAULT;
	return settle(cpu, pc, what);
}

uint64_t cpu_store_far(struct cpu *cpu, uint64_t va, uint64_t pc, uint64_t count, unsigned what, uint64_t value)
{
	uint8_t *host = simple(cpu, va, what & 0xff, CPU_STORE, what >> 8 & 0xff);

	if (cpu_likely(host)) {
		write_host(host, what & 0xff, value);
		return 0;
	}
	cpu->regs->pc = pc;
	cpu->instructions = count;
	if (!cpu_store(cpu, va, what & 0xff, what >> 8 & 0xff, value))
		return CPU_OUT_FAULT;
	return settle(cpu, pc, what);
}

/* ---- atomics ---- */

static void *operand(struct cpu *cpu, uint64_t va, unsigned bytes)
{
	uint8_t *host;
	struct cpu_span span;
	struct cpu_tlb *tlb = tlb_of(cpu, va);
	const struct cpu_near *near = &tlb->near;

	if (cpu_unlikely(va & (bytes - 1))) {
		cpu_refuse(cpu, CPU_FAULT_MISALIGNED, CPU_ATOMIC, va, 0);
		return NULL;
	}
	if (cpu_likely(tlb->page == PAGE_OF(va) + 1 && va - near->first < near->load &&
		       va - near->first < near->store && !((va + near->delta) & (bytes - 1))))
		return (void *)(va + near->delta);
	if (!find(cpu, va, CPU_ATOMIC, &span))
		return NULL;
	host = span.host ? span.host + (va - span.first) : NULL;
	/* what is not aligned for the host, or leaves its span, cannot be one access */
	if (!host || span.first + span.bytes - va < bytes || (uintptr_t)host & (bytes - 1)) {
		cpu_refuse(cpu, CPU_FAULT_MEMORY, CPU_ATOMIC, va, 0);
		return NULL;
	}
	if (!span.once)
		remember(cpu, &span, va, 0);
	return host;
}

#define LIMIT(name, type, utype, order)                                                                      \
	static utype name(utype *p, utype value)                                                             \
	{                                                                                                    \
		utype old = __atomic_load_n(p, __ATOMIC_RELAXED);                                            \
                                                                                                             \
		while (!__atomic_compare_exchange_n(p, &old, (type)value order(type) old ? value : old,      \
						    true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))               \
			;                                                                                    \
		return old;                                                                                  \
	}

LIMIT(min32, int32_t, uint32_t, <)
LIMIT(max32, int32_t, uint32_t, >)
LIMIT(minu32, uint32_t, uint32_t, <)
LIMIT(maxu32, uint32_t, uint32_t, >)
LIMIT(min64, int64_t, uint64_t, <)
LIMIT(max64, int64_t, uint64_t, >)
LIMIT(minu64, uint64_t, uint64_t, <)
LIMIT(maxu64, uint64_t, uint64_t, >)

#define ORDER __ATOMIC_SEQ_CST

static uint32_t atomic32(unsigned op, uint32_t *p, uint32_t value)
{
	switch (op) {
	case CPU_AMOSWAP_W:
		return __atomic_exchange_n(p, value, ORDER);
	case CPU_AMOADD_W:
		return __atomic_fetch_add(p, value, ORDER);
	case CPU_AMOXOR_W:
		return __atomic_fetch_xor(p, value, ORDER);
	case CPU_AMOAND_W:
		return __atomic_fetch_and(p, value, ORDER);
	case CPU_AMOOR_W:
		return __atomic_fetch_or(p, value, ORDER);
	case CPU_AMOMIN_W:
		return min32(p, value);
	case CPU_AMOMAX_W:
		return max32(p, value);
	case CPU_AMOMINU_W:
		return minu32(p, value);
	}
	return maxu32(p, value);
}

static uint64_t atomic64(unsigned op, uint64_t *p, uint64_t value)
{
	switch (op) {
	case CPU_AMOSWAP_D:
		return __atomic_exchange_n(p, value, ORDER);
	case CPU_AMOADD_D:
		return __atomic_fetch_add(p, value, ORDER);
	case CPU_AMOXOR_D:
		return __atomic_fetch_xor(p, value, ORDER);
	case CPU_AMOAND_D:
		return __atomic_fetch_and(p, value, ORDER);
	case CPU_AMOOR_D:
		return __atomic_fetch_or(p, value, ORDER);
	case CPU_AMOMIN_D:
		return min64(p, value);
	case CPU_AMOMAX_D:
		return max64(p, value);
	case CPU_AMOMINU_D:
		return minu64(p, value);
	}
	return maxu64(p, value);
}

static uint64_t load_reserved(struct cpu_regs *regs, const void *p, uint64_t va, unsigned bytes)
{
	regs->reserved_va = va;
	regs->reserved_bytes = (uint8_t)bytes;
	regs->reserved_value = bytes == 4 ? __atomic_load_n((const uint32_t *)p, ORDER)
					  : __atomic_load_n((const uint64_t *)p, ORDER);
	return bytes == 4 ? (uint64_t)(int32_t)regs->reserved_value : regs->reserved_value;
}

/* A reservation is the value that was seen: the store is done if that is there still. Return: 0 = done, 1 */
static uint64_t store_conditional(struct cpu_regs *regs, void *p, uint64_t va, unsigned bytes, uint64_t value)
{
	bool good = regs->reserved_bytes == bytes && regs->reserved_va == va;
	uint32_t old32 = (uint32_t)regs->reserved_value;
	uint64_t old64 = regs->reserved_value;

	regs->reserved_bytes = 0;
	if (!good)
		return 1;
	if (bytes == 4)
		return !__atomic_compare_exchange_n((uint32_t *)p, &old32, (uint32_t)value, false, ORDER,
						    ORDER);
	return !__atomic_compare_exchange_n((uint64_t *)p, &old64, value, false, ORDER, ORDER);
}

bool cpu_atomic(struct cpu *cpu, unsigned op, unsigned rd, uint64_t va, uint64_t value)
{
	unsigned bytes = (op - CPU_LR_W) & 1 ? 8 : 4;
	struct cpu_regs *regs = cpu->regs;
	void *p = operand(cpu, va, bytes);

	if (cpu_unlikely(!p))
		return false;
	if (op == CPU_LR_W || op == CPU_LR_D)
		regs->x[rd] = load_reserved(regs, p, va, bytes);
	else if (op == CPU_SC_W || op == CPU_SC_D)
		regs->x[rd] = store_conditional(regs, p, va, bytes, value);
	else if (bytes == 4)
		regs->x[rd] = (uint64_t)(int32_t)atomic32(op, p, (uint32_t)value);
	else
		regs->x[rd] = atomic64(op, p, value);
	return true;
}

/* ---- forgetting ---- */

static void forget_near(struct cpu *cpu)
{
	for (; cpu->near_used; cpu->near_used &= cpu->near_used - 1)
		cpu->near[__builtin_ctz(cpu->near_used)] = (struct cpu_near){0};
}

void cpu_forget_spans(struct cpu *cpu, uint64_t first, uint64_t bytes)
{
	forget_near(cpu);
	if (!cpu->tlb_used)
		return;
	if (!bytes || bytes / CPU_PAGE >= CPU_TLB) {
		memset(cpu->tlb, 0, sizeof(cpu->tlb));
		cpu->tlb_used = false;
		return;
	}
	for (uint64_t page = PAGE_OF(first); page <= PAGE_OF(first + bytes - 1); page++) {
		struct cpu_tlb *tlb = tlb_of(cpu, page * CPU_PAGE);

		if (tlb->page == page + 1)
			tlb->page = 0;
	}
}

void cpu_drop_spans(struct cpu *cpu, uint64_t first, uint64_t end)
{
	forget_near(cpu);
	/* @load and @store leave out the last seven bytes of a span */
	for (unsigned i = 0; cpu->tlb_used && i < CPU_TLB; i++) {
		const struct cpu_near *near = &cpu->tlb[i].near;
		uint64_t bytes = (near->load > near->store ? near->load : near->store) + 7;

		if (near->first < end && first < near->first + bytes)
			cpu->tlb[i].page = 0;
	}
}
