// SPDX-License-Identifier: MIT
/*
 * Makes guest stores fast: unicorn leaves every page of its software TLB marked
 * "not dirty", so that each store takes a slow path of about 80 ns looking for
 * translated code in the page. It fills its TLB through the dynamic symbol
 * tlb_set_page_*; these wrappers take its place and mark the page dirty at once. The
 * price: stores into code are no longer noticed; whoever changes code says so
 * by uc_ctl_flush_tlb() or uc_ctl_remove_cache().
 */
#include <dlfcn.h>
#include <stdint.h>

#include "emulator/unicorn/store_speed.h"

void tlb_set_dirty_riscv64(void *cpu, uint64_t va);
void tlb_set_page_riscv64(void *cpu, uint64_t va, uint64_t pa, int prot, int mode, uint64_t bytes);

static void (*next)(void *, uint64_t, uint64_t, int, int, uint64_t);

void store_speed_init(void)
{
	*(void **)&next = dlsym(RTLD_NEXT, "tlb_set_page_riscv64");
}

__attribute__((visibility("default"))) void tlb_set_page_riscv64(void *cpu, uint64_t va, uint64_t pa, int prot,
								 int mode, uint64_t bytes)
{
	next(cpu, va, pa, prot, mode, bytes);
	tlb_set_dirty_riscv64(cpu, va);
}
