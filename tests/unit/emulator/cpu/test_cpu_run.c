// SPDX-License-Identifier: MIT
/* What ends a run and what is exact then: faults, slices, breakpoints, interrupts, machine mode, counts by function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>

#include "cpu_rig.h"
#include "encode.h"

#define RO_BASE  0x400000ull /* pages of its own: read-only, code only, device, memory in bytes */
#define XO_BASE  0x402000ull
#define DEV_BASE 0x404000ull
#define ODD_BASE 0x406010ull
#define ODD_BYTES 0x24ull

struct world {
	struct rig rig;
	uint8_t page[3][4096];
	uint64_t device[4], device_pc, device_count;
	unsigned loads, stores;
	bool stop_on_store, once;
};

static int world_span(void *user, uint64_t va, enum cpu_access access, struct cpu_span *span)
{
	struct world *world = user;

	if (va - RO_BASE < 4096)
		*span = (struct cpu_span){ RO_BASE, 4096, world->page[0], CPU_MAY_LOAD, world->once };
	else if (va - XO_BASE < 4096)
		*span = (struct cpu_span){ XO_BASE, 4096, world->page[1], CPU_MAY_FETCH, false };
	else if (va - DEV_BASE < 4096)
		*span = (struct cpu_span){ DEV_BASE, 4096, NULL, CPU_MAY_LOAD | CPU_MAY_STORE, false };
	else if (va - ODD_BASE < ODD_BYTES)
		*span = (struct cpu_span){ ODD_BASE, ODD_BYTES, world->page[2], CPU_MAY_LOAD | CPU_MAY_STORE, false };
	else
		return va == 0xbad000 ? 7 : rig_span(&world->rig, va, access, span) ? 5 : 0;
	world->rig.asked++;
	return 0;
}

static int device_load(void *user, uint64_t va, unsigned bytes, uint64_t *value)
{
	struct world *world = user;

	world->loads++;
	world->device_pc = world->rig.regs.pc;
	world->device_count = cpu_instructions(world->rig.cpu);
	*value = world->device[(va - DEV_BASE) / 8 % 4];
	return va - DEV_BASE >= 32 ? 9 : 0;
}

static int device_store(void *user, uint64_t va, unsigned bytes, uint64_t value)
{
	struct world *world = user;

	world->stores++;
	world->device[(va - DEV_BASE) / 8 % 4] = value;
	if (world->stop_on_store)
		cpu_interrupt(world->rig.cpu);
	return va - DEV_BASE >= 32 ? 9 : 0;
}

static const struct cpu_bus world_bus = { world_span, device_load, device_store };

static void world_init(struct world *world, unsigned xlen)
{
	struct cpu_config config = { .xlen = xlen, .bus = &world_bus, .user = world };

	memset(world, 0, sizeof(*world));
	rig_init(&world->rig, xlen);
	cpu_destroy(world->rig.cpu);
	assert_int_equal(cpu_create(&config, &world->rig.cpu), 0);
}

static enum cpu_stop run(struct world *world, const uint32_t *code, size_t words, uint64_t n)
{
	rig_code(&world->rig, RIG_BASE, code, words);
	cpu_invalidate(world->rig.cpu, 0, 0, true);
	world->rig.regs.pc = RIG_BASE;
	return cpu_run(world->rig.cpu, &world->rig.regs, n);
}

/* ---- faults ---- */

struct refusal {
	const char *name;
	uint32_t insn; /* address in x6, x5 is 0x55 before */
	uint64_t address;
	enum cpu_fault_kind kind;
	enum cpu_access access;
	int reason;
	uint64_t at; /* the address that the fault tells */
};

static const struct refusal refusals[] = {
	{ "load unmapped", E_LD(5, 6, 8), 0xbacff8, CPU_FAULT_MEMORY, CPU_LOAD, 7, 0xbad000 },
	{ "store unmapped", E_SD(5, 6, -8), 0xbad008, CPU_FAULT_MEMORY, CPU_STORE, 7, 0xbad000 },
	{ "store to what is read-only", E_SD(5, 6, 0), RO_BASE + 8, CPU_FAULT_RIGHTS, CPU_STORE, 0, RO_BASE + 8 },
	{ "load from what is code only", E_LD(5, 6, 0), XO_BASE, CPU_FAULT_RIGHTS, CPU_LOAD, 0, XO_BASE },
	{ "store into code", E_SW(5, 6, 0), XO_BASE + 4, CPU_FAULT_RIGHTS, CPU_STORE, 0, XO_BASE + 4 },
	{ "atomic on what is read-only", E_AMO(5, 6, 7, 0, 3), RO_BASE, CPU_FAULT_RIGHTS, CPU_ATOMIC, 0, RO_BASE },
	{ "atomic on a device", E_AMO(5, 6, 7, 0, 3), DEV_BASE, CPU_FAULT_MEMORY, CPU_ATOMIC, 0, DEV_BASE },
	{ "misaligned atomic", E_AMO(5, 6, 7, 0, 3), RIG_BASE + 0x1004, CPU_FAULT_MISALIGNED, CPU_ATOMIC, 0, RIG_BASE + 0x1004 },
	{ "misaligned lr", E_AMO(5, 6, 0, 2, 2), RIG_BASE + 0x1002, CPU_FAULT_MISALIGNED, CPU_ATOMIC, 0, RIG_BASE + 0x1002 },
	{ "second half unmapped", E_LD(5, 6, 0), RIG_TOP - 3, CPU_FAULT_MEMORY, CPU_LOAD, 5, RIG_TOP },
	{ "store's second half unmapped", E_SD(7, 6, 0), RIG_TOP - 3, CPU_FAULT_MEMORY, CPU_STORE, 5, RIG_TOP },
	{ "device refuses", E_LD(5, 6, 0), DEV_BASE + 64, CPU_FAULT_MEMORY, CPU_LOAD, 9, DEV_BASE + 64 },
	{ "device refuses a store", E_SD(5, 6, 0), DEV_BASE + 64, CPU_FAULT_MEMORY, CPU_STORE, 9, DEV_BASE + 64 },
	{ "a byte behind the end", E_LB(5, 6, 0), ODD_BASE + ODD_BYTES, CPU_FAULT_MEMORY, CPU_LOAD, 5, ODD_BASE + ODD_BYTES },
	{ "across the end", E_LD(5, 6, 0), ODD_BASE + ODD_BYTES - 4, CPU_FAULT_MEMORY, CPU_LOAD, 5, ODD_BASE + ODD_BYTES },
	{ "a byte before the start", E_LB(5, 6, 0), ODD_BASE - 1, CPU_FAULT_MEMORY, CPU_LOAD, 5, ODD_BASE - 1 },
	{ "lr of what is read-only", E_AMO(5, 6, 0, 2, 3), RO_BASE, CPU_FAULT_RIGHTS, CPU_ATOMIC, 0, RO_BASE },
	{ "illegal", 0xffffffffu, 0, CPU_FAULT_ILLEGAL, CPU_FETCH, 0, RIG_BASE + 12 },
	{ "ebreak", E_EBREAK, 0, CPU_FAULT_EBREAK, CPU_FETCH, 0, RIG_BASE + 12 },
	{ "bad dynamic rounding mode", E_FP(5, 7, 6, 7, 0), 0, CPU_FAULT_ILLEGAL, CPU_FETCH, 0, RIG_BASE + 12 },
};

static void precise(void **state)
{
	for (unsigned i = 0; i < sizeof(refusals) / sizeof(*refusals); i++)
		for (unsigned warm = 0; warm < 2; warm++) {
			const struct refusal *refusal = &refusals[i];
			const uint32_t code[] = { E_LI(5, 0x55), E_ADDI(8, 8, 1), E_NOP, refusal->insn, E_ADDI(8, 8, 16), E_ECALL };
			const struct cpu_fault *fault;
			struct world world;
			uint8_t before[8];

			world_init(&world, 64);
			world.rig.regs.x[6] = refusal->address;
			world.rig.regs.x[7] = 0x1122334455667788ull;
			world.rig.regs.frm = 5;
			if (warm) { /* a span that may be loaded from has been remembered for the base register */
				const uint32_t touch[] = { E_LB(9, 6, 0), E_ECALL };

				world.rig.regs.x[6] = (refusal->address & ~15ull) + (refusal->address == ODD_BASE - 1 ? 16 : 0);
				world.rig.regs.pc = RIG_BASE + 0x8000;
				rig_code(&world.rig, RIG_BASE + 0x8000, touch, 2);
				cpu_run(world.rig.cpu, &world.rig.regs, 10);
				world.rig.regs.x[6] = refusal->address;
			}
			memcpy(before, world.rig.memory + RIG_BYTES - 8, 8);
			fault = cpu_fault(world.rig.cpu);
			world.device_count = cpu_instructions(world.rig.cpu);
			rig_code(&world.rig, RIG_BASE, code, 6);
			world.rig.regs.pc = RIG_BASE;
			if (cpu_run(world.rig.cpu, &world.rig.regs, 1000) != CPU_STOP_FAULT || fault->kind != refusal->kind ||
			    fault->access != refusal->access || fault->reason != refusal->reason ||
			    fault->address != refusal->at || fault->pc != RIG_BASE + 12)
				fail_msg("%s: kind %d access %d reason %d address %llx pc %llx", refusal->name, fault->kind,
					 fault->access, fault->reason, (unsigned long long)fault->address,
					 (unsigned long long)fault->pc);
			assert_int_equal(world.rig.regs.pc, RIG_BASE + 12);
			assert_int_equal(world.rig.regs.x[5], 0x55);
			assert_int_equal(world.rig.regs.x[8], 1);
			assert_memory_equal(before, world.rig.memory + RIG_BYTES - 8, 8);
			rig_fini(&world.rig);
		}
}

static void fetch_faults(void **state)
{
	const uint32_t code[] = { E_JALR(1, 6, 0), E_NOP };
	static const struct {
		uint64_t target;
		enum cpu_fault_kind kind;
		int reason;
	} target[] = {
		{ 0xbad000, CPU_FAULT_MEMORY, 7 }, { RO_BASE, CPU_FAULT_RIGHTS, 0 }, { ODD_BASE, CPU_FAULT_RIGHTS, 0 },
		{ DEV_BASE, CPU_FAULT_MEMORY, 0 }, { RIG_TOP, CPU_FAULT_MEMORY, 5 },
	};
	struct world world;

	world_init(&world, 64);
	for (unsigned i = 0; i < 5; i++) {
		uint64_t before = cpu_instructions(world.rig.cpu);

		world.rig.regs.x[6] = target[i].target;
		assert_int_equal(run(&world, code, 2, 100), CPU_STOP_FAULT);
		assert_int_equal(cpu_fault(world.rig.cpu)->kind, target[i].kind);
		assert_int_equal(cpu_fault(world.rig.cpu)->access, CPU_FETCH);
		assert_int_equal(cpu_fault(world.rig.cpu)->reason, target[i].reason);
		assert_int_equal(cpu_fault(world.rig.cpu)->pc, target[i].target);
		assert_int_equal(cpu_fault(world.rig.cpu)->address, target[i].target);
		assert_int_equal(world.rig.regs.pc, target[i].target);
		assert_int_equal(world.rig.regs.x[1], RIG_BASE + 4);
		assert_int_equal(cpu_instructions(world.rig.cpu) - before, 1);
	}
	/* an instruction whose second half cannot be fetched, after falling through to it */
	memcpy(world.rig.memory + RIG_BYTES - 4, (const uint16_t[]){ 0x0505, 0x0013 }, 4); /* c.addi a0, 1 */
	world.rig.regs.pc = RIG_TOP - 4;
	assert_int_equal(cpu_run(world.rig.cpu, &world.rig.regs, 100), CPU_STOP_FAULT);
	assert_int_equal(cpu_fault(world.rig.cpu)->pc, RIG_TOP - 2);
	assert_int_equal(cpu_fault(world.rig.cpu)->address, RIG_TOP);
	assert_int_equal(world.rig.regs.x[10], 1);
	/* code that may only be executed runs */
	memcpy(world.page[1], (const uint32_t[]){ E_ECALL }, 4);
	world.rig.regs.pc = XO_BASE;
	assert_int_equal(cpu_run(world.rig.cpu, &world.rig.regs, 100), CPU_STOP_ECALL);
	rig_fini(&world.rig);
}

/* An instruction that lies on two pages is decoded again when either changes. */
static void straddling(void **state)
{
	const uint64_t at = RIG_BASE + 4096 - 2;
	uint32_t code[] = { E_ADDI(5, 0, 100), E_ECALL };
	struct world world;

	world_init(&world, 64);
	for (unsigned i = 0; i < 2; i++) {
		memcpy(world.rig.memory + (at - RIG_BASE), code, 8);
		if (i)
			cpu_invalidate(world.rig.cpu, RIG_BASE + 4096, 4096, true);
		world.rig.regs.pc = at;
		assert_int_equal(cpu_run(world.rig.cpu, &world.rig.regs, 100), CPU_STOP_ECALL);
		assert_int_equal(world.rig.regs.x[5], i ? 200 : 100);
		assert_int_equal(cpu_instructions(world.rig.cpu), 2 * (i + 1));
		code[0] = E_ADDI(5, 0, 200); /* differs in the second half only */
	}
	rig_fini(&world.rig);
}

/* ---- slices ---- */

/* A loop with calls over two pages, in which every instruction changes x5. */
static void put_loop(struct world *world)
{
	const uint32_t head[] = { E_ADDI(5, 5, 1), E_J(1, 0x1000), E_ADDI(5, 5, 1), E_B(1, 0, 6, -12), E_ADDI(5, 5, 1), E_ECALL };
	const uint32_t callee[] = { E_ADDI(5, 5, 1), E_ADDI(6, 6, -1), E_JALR(0, 1, 0) };

	rig_code(&world->rig, RIG_BASE, head, 6);
	rig_code(&world->rig, RIG_BASE + 0x1004, callee, 3);
	world->rig.regs.pc = RIG_BASE;
	world->rig.regs.x[6] = 20;
}

static void slices(void **state)
{
	struct world whole, sliced;
	uint64_t total;

	world_init(&whole, 64);
	put_loop(&whole);
	assert_int_equal(cpu_run(whole.rig.cpu, &whole.rig.regs, ~0ull), CPU_STOP_ECALL);
	total = cpu_instructions(whole.rig.cpu);
	assert_int_equal(total, 20 * 7 + 2);
	for (uint64_t slice = 1; slice < 30; slice++) {
		uint64_t left = total;

		world_init(&sliced, 64);
		put_loop(&sliced);
		for (; left > slice; left -= slice) {
			assert_int_equal(cpu_run(sliced.rig.cpu, &sliced.rig.regs, slice), CPU_STOP_SLICE);
			assert_int_equal(cpu_instructions(sliced.rig.cpu), total - left + slice);
		}
		assert_int_equal(cpu_run(sliced.rig.cpu, &sliced.rig.regs, left), CPU_STOP_ECALL);
		assert_memory_equal(&sliced.rig.regs, &whole.rig.regs, sizeof(whole.rig.regs));
		assert_int_equal(cpu_instructions(sliced.rig.cpu), total);
		rig_fini(&sliced.rig);
	}
	assert_int_equal(cpu_run(whole.rig.cpu, &whole.rig.regs, 0), CPU_STOP_SLICE);
	rig_fini(&whole.rig);
}

/* ---- breakpoints ---- */

static void breakpoints(void **state)
{
	struct world world;
	unsigned hits = 0;

	world_init(&world, 64);
	put_loop(&world);
	assert_int_equal(cpu_breakpoint(world.rig.cpu, RIG_BASE + 0x1008, true), 0);
	assert_int_equal(cpu_breakpoint(world.rig.cpu, RIG_BASE, true), 0);
	assert_int_equal(cpu_breakpoint(world.rig.cpu, RIG_BASE + 20, true), 0);
	while (cpu_run(world.rig.cpu, &world.rig.regs, ~0ull) == CPU_STOP_BREAKPOINT) {
		uint64_t pc = world.rig.regs.pc;

		hits++;
		if (hits <= 39) { /* the loop's head was where the run began: not hit the first time */
			assert_int_equal(pc, hits & 1 ? RIG_BASE + 0x1008 : RIG_BASE);
			assert_int_equal(world.rig.regs.x[6], 20 - hits / 2);
		} else {
			assert_int_equal(pc, RIG_BASE + 20);
		}
		if (hits == 10)
			assert_int_equal(cpu_run(world.rig.cpu, &world.rig.regs, 1), CPU_STOP_SLICE);
	}
	assert_int_equal(hits, 40);
	assert_int_equal(cpu_instructions(world.rig.cpu), 20 * 7 + 2);
	/* cleared, and set in code that is decoded already */
	put_loop(&world);
	cpu_breakpoint(world.rig.cpu, RIG_BASE + 0x1008, false);
	cpu_breakpoint(world.rig.cpu, RIG_BASE, false);
	assert_int_equal(cpu_run(world.rig.cpu, &world.rig.regs, ~0ull), CPU_STOP_BREAKPOINT);
	assert_int_equal(world.rig.regs.pc, RIG_BASE + 20);
	cpu_breakpoint(world.rig.cpu, RIG_BASE + 20, false);
	assert_int_equal(cpu_run(world.rig.cpu, &world.rig.regs, ~0ull), CPU_STOP_ECALL);
	rig_fini(&world.rig);
}

/* ---- interrupts and invalidation ---- */

static void *interrupt_later(void *data)
{
	struct world *world = data;
	struct timespec wait = { 0, 20000000 };

	nanosleep(&wait, NULL);
	cpu_interrupt(world->rig.cpu);
	return NULL;
}

static void interrupts(void **state)
{
	const uint32_t endless[] = { E_ADDI(5, 5, 1), E_J(0, -4) };
	pthread_t thread;
	struct world world;

	world_init(&world, 64);
	pthread_create(&thread, NULL, interrupt_later, &world);
	assert_int_equal(run(&world, endless, 2, ~0ull), CPU_STOP_INTERRUPT);
	pthread_join(thread, NULL);
	assert_int_equal(cpu_instructions(world.rig.cpu), 2 * world.rig.regs.x[5]);
	/* one that comes between runs ends the next one before it has begun, and only that */
	cpu_interrupt(world.rig.cpu);
	world.rig.regs.x[5] = 0;
	assert_int_equal(run(&world, endless, 2, 100), CPU_STOP_INTERRUPT);
	assert_int_equal(world.rig.regs.x[5], 0);
	assert_int_equal(run(&world, endless, 2, 100), CPU_STOP_SLICE);
	assert_int_equal(world.rig.regs.x[5], 50);
	rig_fini(&world.rig);
}

static void devices(void **state)
{
	const uint32_t code[] = { E_LUI(6, DEV_BASE), E_LI(5, 77), E_SD(5, 6, 8), E_LD(7, 6, 8), E_LW(8, 6, 16), E_ECALL };
	struct world world;

	world_init(&world, 64);
	world.device[2] = 0x80000000u;
	assert_int_equal(run(&world, code, 6, ~0ull), CPU_STOP_ECALL);
	assert_int_equal(world.rig.regs.x[7], 77);
	assert_true(world.rig.regs.x[8] == 0xffffffff80000000ull);
	assert_int_equal(world.loads, 2);
	assert_int_equal(world.stores, 1);
	assert_int_equal(world.device_pc, RIG_BASE + 16);
	assert_int_equal(world.device_count, 4); /* before the access */
	/* a device may stop the processor right behind the access */
	world.stop_on_store = true;
	assert_int_equal(run(&world, code, 6, ~0ull), CPU_STOP_INTERRUPT);
	assert_int_equal(world.rig.regs.pc, RIG_BASE + 12);
	assert_int_equal(cpu_run(world.rig.cpu, &world.rig.regs, ~0ull), CPU_STOP_ECALL);
	rig_fini(&world.rig);
}

static void spans(void **state)
{
	const uint32_t twice[] = { E_LD(5, 6, 0), E_LD(5, 6, 8), E_LD(7, 6, 16), E_ECALL };
	struct world world;
	unsigned asked;

	world_init(&world, 64);
	world.rig.regs.x[6] = RO_BASE;
	run(&world, twice, 4, ~0ull);
	asked = world.rig.asked;
	world.rig.regs.pc = RIG_BASE;
	cpu_run(world.rig.cpu, &world.rig.regs, ~0ull);
	assert_int_equal(world.rig.asked, asked); /* remembered from one run to the next */
	cpu_invalidate(world.rig.cpu, RO_BASE + 4096, 1ull << 40, false);
	world.rig.regs.pc = RIG_BASE;
	cpu_run(world.rig.cpu, &world.rig.regs, ~0ull);
	assert_int_equal(world.rig.asked, asked); /* that was another place */
	cpu_invalidate(world.rig.cpu, RO_BASE + 4095, 1, false);
	world.rig.regs.pc = RIG_BASE;
	cpu_run(world.rig.cpu, &world.rig.regs, ~0ull);
	assert_int_equal(world.rig.asked, asked + 1);
	cpu_forget_spans(world.rig.cpu, DEV_BASE, 8192);
	world.rig.regs.pc = RIG_BASE;
	cpu_run(world.rig.cpu, &world.rig.regs, ~0ull);
	assert_int_equal(world.rig.asked, asked + 1);
	cpu_forget_spans(world.rig.cpu, RO_BASE - 8192, 8192 + 16);
	world.rig.regs.pc = RIG_BASE;
	cpu_run(world.rig.cpu, &world.rig.regs, ~0ull);
	assert_int_equal(world.rig.asked, asked + 2);
	/* the last words of a span that is no whole page are reached, and remembered */
	world.rig.regs.x[6] = ODD_BASE + ODD_BYTES - 24;
	memcpy(world.page[2] + ODD_BYTES - 8, "\1\2\3\4\5\6\7\10", 8);
	world.rig.regs.pc = RIG_BASE;
	assert_int_equal(cpu_run(world.rig.cpu, &world.rig.regs, ~0ull), CPU_STOP_ECALL);
	assert_true(world.rig.regs.x[7] == 0x0807060504030201ull);
	assert_int_equal(world.rig.asked, asked + 3);
	/* one that is good once only */
	world.once = true;
	cpu_forget_spans(world.rig.cpu, 0, 0);
	world.rig.regs.x[6] = RO_BASE;
	world.rig.regs.pc = RIG_BASE;
	cpu_run(world.rig.cpu, &world.rig.regs, ~0ull);
	assert_int_equal(world.rig.asked, asked + 6);
	rig_fini(&world.rig);
}

static void *invalidate_later(void *data)
{
	struct world *world = data;
	struct timespec wait = { 0, 20000000 };
	uint8_t *old = world->rig.memory, *fresh = calloc(1, RIG_BYTES);

	nanosleep(&wait, NULL);
	memcpy(fresh, old, RIG_BYTES);
	fresh[0x1000] = 1;
	__atomic_store_n(&world->rig.memory, fresh, __ATOMIC_SEQ_CST);
	cpu_invalidate(world->rig.cpu, RIG_BASE + 0x1000, 8, false);
	while (cpu_invalidate_pending(world->rig.cpu))
		sched_yield();
	memset(old, 0xff, RIG_BYTES); /* who reads it now is wrong */
	free(old);
	return NULL;
}

/* Another thread changes what lies behind addresses while they are used. */
static void shootdown(void **state)
{
	const uint32_t wait[] = { E_LB(5, 6, 0), E_B(0, 5, 0, -4), E_ECALL };
	struct world world;
	pthread_t thread;

	world_init(&world, 64);
	world.rig.regs.x[6] = RIG_BASE + 0x1000;
	pthread_create(&thread, NULL, invalidate_later, &world);
	assert_int_equal(run(&world, wait, 3, ~0ull), CPU_STOP_ECALL);
	pthread_join(thread, NULL);
	assert_int_equal(world.rig.regs.x[5], 1);
	rig_fini(&world.rig);
}

static void changed_code(void **state)
{
	const uint32_t code[] = { E_SW(7, 6, 16), E_FENCE_I, E_NOP, E_NOP, E_LI(5, 1), E_ECALL };
	struct world world;

	world_init(&world, 64);
	world.rig.regs.x[6] = RIG_BASE;
	world.rig.regs.x[7] = E_LI(5, 2);
	assert_int_equal(run(&world, code, 6, ~0ull), CPU_STOP_ECALL);
	assert_int_equal(world.rig.regs.x[5], 2);
	assert_int_equal(cpu_instructions(world.rig.cpu), 6);
	rig_fini(&world.rig);
}

/* ---- machine mode ---- */

static void machine_mode(void **state)
{
	const uint32_t code[] = {
		E_LUI(6, RIG_BASE), E_ADDI(6, 6, 0x103), E_CSRRW(7, 0x305, 6), /* mtvec; its mode is direct */
		E_CSRRS(8, 0x305, 0), E_LI(9, 0x7f), E_CSRRW(0, 0x304, 9), E_CSRRC(10, 0x304, 9), E_CSRRS(11, 0x304, 0),
		E_I(0x73, 12, 5, 21, 0x340), E_I(0x73, 12, 6, 10, 0x340), E_I(0x73, 13, 7, 16, 0x340), E_CSRRS(14, 0x340, 0),
		E_CSRRS(15, 0xf14, 0), E_CSRRS(16, 0x301, 0), E_CSRRS(17, 0x300, 0), E_CSRRS(18, 0xb02, 0), E_WFI, E_ECALL,
		E_LI(5, 3), E_EBREAK,
	};
	const uint32_t handler[] = { E_CSRRS(20, 0x342, 0), E_CSRRS(21, 0x341, 0), E_CSRRS(22, 0x343, 0),
				     E_ADDI(21, 21, 4), E_CSRRW(0, 0x341, 21), E_MRET };
	struct world world;
	struct cpu_regs *regs = &world.rig.regs;

	world_init(&world, 32);
	rig_code(&world.rig, RIG_BASE + 0x100, handler, 6);
	cpu_machine(world.rig.cpu)->mhartid = 3;
	assert_int_equal(run(&world, code, 20, ~0ull), CPU_STOP_WFI);
	assert_int_equal(regs->pc, RIG_BASE + 68);
	assert_int_equal(regs->x[8], RIG_BASE + 0x100);
	assert_int_equal(regs->x[10], 0x7f);
	assert_int_equal(regs->x[11], 0);
	assert_int_equal(regs->x[12], 21);
	assert_int_equal(regs->x[13], 31);
	assert_int_equal(regs->x[14], 15);
	assert_int_equal(regs->x[15], 3);
	assert_int_equal(regs->x[16], 0x40001104);
	assert_int_equal(regs->x[17], 0x1800);
	assert_int_equal(regs->x[18], 15);
	assert_int_equal(cpu_run(world.rig.cpu, regs, ~0ull), CPU_STOP_ECALL);
	assert_int_equal(regs->pc, RIG_BASE + 72);
	/* an embedder without an idle instruction vectors it */
	regs->pc -= 4;
	cpu_trap(world.rig.cpu, regs, 11, 0x1234);
	assert_int_equal(cpu_run(world.rig.cpu, regs, ~0ull), CPU_STOP_FAULT);
	assert_int_equal(cpu_fault(world.rig.cpu)->kind, CPU_FAULT_EBREAK);
	assert_int_equal(regs->x[20], 11);
	assert_int_equal(regs->x[21], RIG_BASE + 72);
	assert_int_equal(regs->x[22], 0x1234);
	assert_int_equal(regs->x[5], 3);
	assert_int_equal(cpu_instructions(world.rig.cpu), 18 + 6 + 1);
	rig_fini(&world.rig);
}

/* RV32 addresses wrap at 4 GiB, in every way of making one. */
static void wrapping(void **state)
{
	const uint32_t code[] = { E_LUI(6, 0xfffff000u), E_LW(5, 6, 0x7ff), E_ECALL };
	struct world world;

	world_init(&world, 32);
	assert_int_equal(run(&world, code, 3, ~0ull), CPU_STOP_FAULT);
	assert_int_equal(cpu_fault(world.rig.cpu)->address, 0xfffff7ff);
	{
		const uint32_t high[] = { E_LUI(6, 0x80000000u), E_ADD(6, 6, 6), E_LW(5, 6, -1), E_ECALL };

		assert_int_equal(run(&world, high, 4, ~0ull), CPU_STOP_FAULT);
		assert_true(cpu_fault(world.rig.cpu)->address == 0xffffffffu);
	}
	rig_fini(&world.rig);
}

/* ---- flat memory ---- */

static void flat(void **state)
{
	const uint32_t code[] = { E_LUI(6, 0x2000), E_LW(5, 6, -4), E_LW(7, 6, -2), E_ECALL };
	struct world world;
	struct cpu_config config = { .xlen = 32, .bus = &world_bus, .user = &world };

	world_init(&world, 32);
	cpu_destroy(world.rig.cpu);
	config.flat = world.rig.memory;
	config.flat_bytes = 0x2000;
	assert_int_equal(cpu_create(&config, &world.rig.cpu), 0);
	memcpy(world.rig.memory, code, sizeof(code));
	memcpy(world.rig.memory + 0x1ffc, "\1\2\3\4\5\6\7", 8);
	world.rig.regs.pc = 0;
	assert_int_equal(cpu_run(world.rig.cpu, &world.rig.regs, ~0ull), CPU_STOP_FAULT);
	assert_int_equal(world.rig.regs.x[5], 0x04030201);
	assert_int_equal(cpu_fault(world.rig.cpu)->address, 0x2000); /* its last two bytes */
	assert_int_equal(cpu_fault(world.rig.cpu)->pc, 8);
	assert_int_equal(world.rig.asked, 1); /* for those */
	rig_fini(&world.rig);
}

/* ---- counts ---- */

static void counts(void **state)
{
	uint16_t owner[0x1100] = { 0 };
	const uint64_t starts[] = { RIG_BASE, RIG_BASE + 0x1004 };
	struct cpu_function functions[2] = { { 0 } };
	struct world world;

	for (unsigned i = 0; i < 12; i++)
		owner[i] = 1;
	for (unsigned i = 0; i < 6; i++)
		owner[0x1004 / 2 + i] = 2;
	world_init(&world, 64);
	put_loop(&world);
	cpu_count(world.rig.cpu, RIG_BASE, 0x1100, owner, starts, functions);
	assert_int_equal(cpu_run(world.rig.cpu, &world.rig.regs, ~0ull), CPU_STOP_ECALL);
	assert_int_equal(functions[0].calls, 20);
	assert_int_equal(functions[0].instructions, 20 * 4 + 2);
	assert_int_equal(functions[1].calls, 20);
	assert_int_equal(functions[1].instructions, 60);
	assert_int_equal(cpu_instructions(world.rig.cpu), 142);
	cpu_count(world.rig.cpu, 0, 0, NULL, NULL, NULL);
	put_loop(&world);
	assert_int_equal(cpu_run(world.rig.cpu, &world.rig.regs, ~0ull), CPU_STOP_ECALL);
	assert_int_equal(functions[1].calls, 20);
	rig_fini(&world.rig);
}

/* A loop of ten: a load, a multiplication, a division, a store to the region, and a branch that is taken nine times. */
static void cycles(void **state)
{
	static const struct cpu_cost cost = { .load = 2, .taken = 3, .multiplication = 5, .division = 18,
					      .region = { { RIG_BASE + 0x2000, 0x1000, 60 } } };
	static const uint32_t code[] = {
		0x0005a603, /* lw a2, 0(a1) */
		0x02c60633, /* mul a2, a2, a2 */
		0x02a64633, /* div a2, a2, a0 */
		0x00c6a023, /* sw a2, 0(a3) */
		0xfff50513, /* addi a0, a0, -1 */
		0xfe0516e3, /* bnez a0, the load */
		0x00000073, /* ecall */
	};
	uint16_t owner[14];
	const uint64_t starts[] = { RIG_BASE };
	struct cpu_function function = { 0 };
	struct world world;

	for (unsigned i = 0; i < 14; i++)
		owner[i] = 1;
	world_init(&world, 32);
	world.rig.regs.x[10] = 10;
	world.rig.regs.x[11] = RIG_BASE + 0x1000;
	world.rig.regs.x[13] = RIG_BASE + 0x2000;
	cpu_cost(world.rig.cpu, &cost);
	cpu_count(world.rig.cpu, RIG_BASE, 14, owner, starts, &function);
	assert_int_equal(run(&world, code, 7, 1000), CPU_STOP_ECALL);
	assert_int_equal(function.instructions, 61);
	assert_int_equal(function.multiplications, 10);
	assert_int_equal(function.divisions, 10);
	assert_int_equal(function.cycles, 10 * (2 + 5 + 18 + 60 + 1) + 9 * 3 + 1 + 1);
	rig_fini(&world.rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "SYS-13: cycles beside the counts", cycles, NULL, NULL, NULL },
		{ "SYS-51, SYS-52: faults: kind, pc, address, nothing changed", precise, NULL, NULL, NULL },
		{ "SYS-52: fetches from what is no code are faults", fetch_faults, NULL, NULL, NULL },
		{ "SYS-51: an instruction on two pages", straddling, NULL, NULL, NULL },
		{ "SYS-12: slices of any length are exact", slices, NULL, NULL, NULL },
		{ "SYS-54: breakpoints", breakpoints, NULL, NULL, NULL },
		{ "SYS-51: interrupts by another thread and between runs", interrupts, NULL, NULL, NULL },
		{ "SYS-51: devices see pc and count, and may stop the processor", devices, NULL, NULL, NULL },
		{ "SYS-51: spans are remembered to the byte and forgotten when told", spans, NULL, NULL, NULL },
		{ "SYS-51: a mapping that another thread changes", shootdown, NULL, NULL, NULL },
		{ "SYS-51: fence.i sees changed code", changed_code, NULL, NULL, NULL },
		{ "SYS-10: CSRs and traps of machine mode", machine_mode, NULL, NULL, NULL },
		{ "SYS-10: RV32 addresses wrap", wrapping, NULL, NULL, NULL },
		{ "SYS-10: flat memory to its last byte", flat, NULL, NULL, NULL },
		{ "SYS-13: counts by function", counts, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("cpu, runs", tests, NULL, NULL);
}
