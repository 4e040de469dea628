// SPDX-License-Identifier: MIT
/*
 * Atomic instructions that trapped: with the A extension switched off unicorn lets
 * the 32-bit ones trap. Used only where atomic.c cannot do its work. LR remembers
 * the value it saw, SC is a compare-and-swap of it.
 */
#include "emulator/unicorn/atomic.h"

#define MIN_MAX(name, type, utype)                                                              \
	utype name(utype *p, utype operand, unsigned op)                                 \
	{                                                                                       \
		utype old = __atomic_load_n(p, __ATOMIC_RELAXED), new;                          \
												\
		do {                                                                            \
			bool less = op < AMO_MINU ? (type)operand < (type)old : operand < old;  \
												\
			new = less == (op == AMO_MIN || op == AMO_MINU) ? operand : old;        \
		} while (!__atomic_compare_exchange_n(p, &old, new, true, __ATOMIC_SEQ_CST,     \
						      __ATOMIC_RELAXED));                       \
		return old;                                                                     \
	}

MIN_MAX(amo_min_max32, int32_t, uint32_t)
MIN_MAX(amo_min_max64, int64_t, uint64_t)

#define DO_AMO(p, v, op, min_max)                                                  \
	((op) == AMO_ADD    ? __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST)           \
	 : (op) == AMO_SWAP ? __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)          \
	 : (op) == AMO_XOR  ? __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST)           \
	 : (op) == AMO_OR   ? __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST)            \
	 : (op) == AMO_AND  ? __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST)           \
			    : min_max(p, v, op))

static uint64_t load_reserved(struct wave *wave, void *p, uint64_t va, unsigned bytes)
{
	wave->reserved_va = va;
	wave->reserved_bytes = (uint8_t)bytes;
	wave->reserved_value = bytes == 4 ? __atomic_load_n((uint32_t *)p, __ATOMIC_SEQ_CST)
					  : __atomic_load_n((uint64_t *)p, __ATOMIC_SEQ_CST);
	return bytes == 4 ? (uint64_t)(int32_t)wave->reserved_value : wave->reserved_value;
}

static uint64_t store_conditional(struct wave *wave, void *p, uint64_t va, unsigned bytes, uint64_t value)
{
	bool ok = wave->reserved_bytes == bytes && wave->reserved_va == va;

	wave->reserved_bytes = 0;
	if (ok && bytes == 4) {
		uint32_t old = (uint32_t)wave->reserved_value;

		ok = __atomic_compare_exchange_n((uint32_t *)p, &old, (uint32_t)value, false, __ATOMIC_SEQ_CST,
						 __ATOMIC_SEQ_CST);
	} else if (ok) {
		ok = __atomic_compare_exchange_n((uint64_t *)p, &wave->reserved_value, value, false,
						 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	}
	return !ok;
}

static bool is_amo(uint32_t insn)
{
	unsigned op = insn >> 27, width = insn >> 12 & 7;

	if ((insn & 0x7f) != 0x2f || (width != 2 && width != 3))
		return false;
	if (op == AMO_LR)
		return !(insn >> 20 & 31);
	return op <= AMO_XOR || !(op & 3);
}

bool amo_emulate(struct hart *hart, uint32_t insn, uint64_t pc)
{
	unsigned op = insn >> 27, rd = insn >> 7 & 31, bytes = 1u << (insn >> 12 & 7);
	unsigned access = op == AMO_LR ? TUTTI_ACCESS_READ : TUTTI_ACCESS_ATOMIC;
	uint64_t va, value, result;
	uint8_t cause = TUTTI_CAUSE_ALIGNMENT;
	void *p;

	if (!is_amo(insn))
		return false;
	va = hart_x(hart, insn >> 15 & 31);
	value = hart_x(hart, insn >> 20 & 31);
	p = va & (bytes - 1) ? NULL : hart_pointer(hart, va, bytes, access, &cause);
	if (unlikely(!p)) {
		hart->fault.valid = true;
		hart->fault.cause = cause;
		hart->fault.access = TUTTI_ACCESS_ATOMIC;
		hart->fault.pc = pc;
		hart->fault.address = va;
		return true;
	}
	if (op == AMO_LR)
		result = load_reserved(hart->current, p, va, bytes);
	else if (op == AMO_SC)
		result = store_conditional(hart->current, p, va, bytes, value);
	else if (bytes == 4)
		result = (uint64_t)(int32_t)DO_AMO((uint32_t *)p, (uint32_t)value, op, amo_min_max32);
	else
		result = DO_AMO((uint64_t *)p, value, op, amo_min_max64);
	if (rd)
		hart_x_set(hart, rd, result);
	return true;
}
