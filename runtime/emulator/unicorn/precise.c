// SPDX-License-Identifier: MIT
/*
 * Exact pc of a faulting access. Translated code does not keep the pc of every
 * instruction; what unicorn tells in its memory hooks is the pc of some earlier
 * block. The translator can compute it from the return address of the access's
 * slow path, which reaches us by taking the place of the slow-path functions
 * (libunicorn finds them through dynamic symbols). They are not on the fast path.
 * The first argument, seen on the way, is the register file of the core.
 */
#include <dlfcn.h>

#include "emulator/unicorn/dsmem.h"
#include "emulator/unicorn/precise.h"

static __thread struct {
	void *env;
	uintptr_t ra;
	void *cpu;
	uint32_t fills;
} last;

static void (*leave_core)(void *cpu);
static void (*flush)(void *cpu);
static void (*set_page)(void *cpu, uint64_t va, uint64_t pa, int prot, int mode, uint64_t bytes);
static bool (*restore)(void *cpu, uintptr_t ra, bool will_exit);

#define VISIBLE __attribute__((visibility("default")))

#define LOAD(name, bytes)                                                                      \
	uint64_t name(void *env, uint64_t va, uint32_t oi, uintptr_t ra);                    \
	static uint64_t (*next_##name)(void *, uint64_t, uint32_t, uintptr_t);               \
	VISIBLE uint64_t name(void *env, uint64_t va, uint32_t oi, uintptr_t ra)             \
	{                                                                                    \
		if (unlikely(va >= TUTTI_WAVE_DSMEM))                                        \
			return dsmem_load(va, bytes, ra);                                    \
		last.env = env;                                                              \
		last.ra = ra;                                                                \
		return next_##name(env, va, oi, ra);                                         \
	}

#define STORE(name, type)                                                                    \
	void name(void *env, uint64_t va, type value, uint32_t oi, uintptr_t ra);            \
	static void (*next_##name)(void *, uint64_t, type, uint32_t, uintptr_t);             \
	VISIBLE void name(void *env, uint64_t va, type value, uint32_t oi, uintptr_t ra)     \
	{                                                                                    \
		if (unlikely(va >= TUTTI_WAVE_DSMEM)) {                                      \
			dsmem_store(va, value, sizeof(value), ra);                           \
			return;                                                              \
		}                                                                            \
		last.env = env;                                                              \
		last.ra = ra;                                                                \
		next_##name(env, va, value, oi, ra);                                         \
	}

LOAD(helper_ret_ldub_mmu_riscv64, 1)
LOAD(helper_le_lduw_mmu_riscv64, 2)
LOAD(helper_le_ldul_mmu_riscv64, 4)
LOAD(helper_le_ldq_mmu_riscv64, 8)
STORE(helper_ret_stb_mmu_riscv64, uint8_t)
STORE(helper_le_stw_mmu_riscv64, uint16_t)
STORE(helper_le_stl_mmu_riscv64, uint32_t)
STORE(helper_le_stq_mmu_riscv64, uint64_t)

bool riscv_cpu_tlb_fill_riscv64(void *cpu, uint64_t va, int size, int access, int mode, bool probe, uintptr_t ra);
static bool (*next_fill)(void *, uint64_t, int, int, int, bool, uintptr_t);
VISIBLE bool riscv_cpu_tlb_fill_riscv64(void *cpu, uint64_t va, int size, int access, int mode, bool probe,
					uintptr_t ra)
{
	last.cpu = cpu;
	last.fills++;
	return next_fill(cpu, va, size, access, mode, probe, ra);
}

/*
 * Unicorn lets a stop take effect after any load or store, in the middle of a
 * translated block, and then starts the block again from its beginning: what came
 * before the access is done twice. Without this check a stop takes effect between
 * blocks. (Faults leave at once, see hart.c.)
 */
void check_exit_request_riscv64(void *context);
VISIBLE void check_exit_request_riscv64(void *context)
{
}

#define FIND(name) (*(void **)&next_##name = dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void find_next(void)
{
	FIND(helper_ret_ldub_mmu_riscv64);
	FIND(helper_le_lduw_mmu_riscv64);
	FIND(helper_le_ldul_mmu_riscv64);
	FIND(helper_le_ldq_mmu_riscv64);
	FIND(helper_ret_stb_mmu_riscv64);
	FIND(helper_le_stw_mmu_riscv64);
	FIND(helper_le_stl_mmu_riscv64);
	FIND(helper_le_stq_mmu_riscv64);
	*(void **)&next_fill = dlsym(RTLD_NEXT, "riscv_cpu_tlb_fill_riscv64");
	*(void **)&leave_core = dlsym(RTLD_NEXT, "cpu_loop_exit_riscv64");
	*(void **)&flush = dlsym(RTLD_NEXT, "tlb_flush_riscv64");
	*(void **)&set_page = dlsym(RTLD_NEXT, "tlb_set_page_riscv64");
	*(void **)&restore = dlsym(RTLD_NEXT, "cpu_restore_state_riscv64");
}

uint64_t *precise_learn(void **cpu)
{
	uint64_t *env = last.env;

	*cpu = last.cpu;
	last.env = last.cpu = NULL;
	last.ra = 0;
	return *cpu && restore ? env : NULL;
}

uint32_t precise_fills(void)
{
	return last.fills;
}

/* With strides of a power of two a TLB never gets full, so it is filled with anything first. */
void precise_grow(void *cpu, uint32_t entries)
{
	for (uint64_t i = 0; cpu && flush && set_page && i < entries; i++)
		set_page(cpu, TUTTI_WAVE_DSMEM + (i << 12), TUTTI_WAVE_DSMEM + (i << 12), 1, 0, 4096);
	if (cpu && flush)
		flush(cpu);
	last.fills = 0;
}

void precise_leave(void *cpu)
{
	if (cpu && leave_core)
		leave_core(cpu);
}

bool precise_sync_at(void *cpu, uintptr_t ra)
{
	return cpu && ra && restore(cpu, ra, true);
}

bool precise_sync(void *cpu)
{
	return precise_sync_at(cpu, last.ra);
}
