// SPDX-License-Identifier: MIT
/*
 * Control and status registers. A hart has those of floating point and the counters, a soft core those of
 * machine mode. Both cycle and instret count instructions, so that they are the same in each run.
 */
#include "machine.h"

#define CSR_FFLAGS   0x001u
#define CSR_FRM	     0x002u
#define CSR_FCSR     0x003u
#define MSTATUS_MIE  0x0008u
#define MSTATUS_MPIE 0x0080u
#define MSTATUS_MPP  0x1800u /* always machine mode */
#define MISA_RV32IMC 0x40001104u

static bool counter(const struct cpu *cpu, unsigned name, uint64_t *value)
{
	*value = cpu->instructions;
	switch (name) {
	case 0xb00: /* mcycle, minstret */
	case 0xb02:
		*value = (uint32_t)*value;
		return cpu->xlen == 32;
	case 0xb80:
	case 0xb82:
		*value >>= 32;
		return cpu->xlen == 32;
	case 0xc00: /* cycle, instret */
	case 0xc02:
		if (cpu->xlen == 32)
			*value = (uint32_t)*value;
		return true;
	case 0xc80:
	case 0xc82:
		*value >>= 32;
		return cpu->xlen == 32;
	}
	return false;
}

/* Those of machine mode that can be written, and the bits of them that can. */
static uint32_t *machine_csr(struct cpu *cpu, unsigned name, uint32_t *writable)
{
	struct cpu_machine *machine = &cpu->machine;

	*writable = ~0u;
	switch (name) {
	case 0x300:
		*writable = MSTATUS_MIE | MSTATUS_MPIE;
		return &machine->mstatus;
	case 0x304:
		return &machine->mie;
	case 0x305:
		*writable = ~3u; /* all traps go to one address */
		return &machine->mtvec;
	case 0x340:
		return &machine->mscratch;
	case 0x341:
		*writable = ~1u;
		return &machine->mepc;
	case 0x342:
		return &machine->mcause;
	case 0x343:
		return &machine->mtval;
	case 0x344:
		*writable = 0; /* nothing is pending: there are no interrupts */
		return &machine->mip;
	}
	return NULL;
}

static bool read_machine(struct cpu *cpu, unsigned name, uint64_t *value)
{
	uint32_t writable;
	const uint32_t *csr = machine_csr(cpu, name, &writable);

	*value = 0;
	if (csr)
		*value = *csr | (name == 0x300 ? MSTATUS_MPP : 0);
	else if (name == 0x301)
		*value = MISA_RV32IMC;
	else if (name == 0xf14)
		*value = cpu->machine.mhartid;
	else
		return name >= 0xf11 && name <= 0xf13; /* vendor, architecture and implementation: not said */
	return true;
}

static bool csr_read(struct cpu *cpu, unsigned name, uint64_t *value)
{
	if (cpu->xlen == 32)
		return counter(cpu, name, value) || read_machine(cpu, name, value);
	switch (name) {
	case CSR_FFLAGS:
		*value = cpu->regs->fflags;
		return true;
	case CSR_FRM:
		*value = cpu->regs->frm;
		return true;
	case CSR_FCSR:
		*value = (uint64_t)cpu->regs->frm << 5 | cpu->regs->fflags;
		return true;
	}
	return counter(cpu, name, value);
}

static bool write_float(struct cpu *cpu, unsigned name, uint64_t value)
{
	struct cpu_regs *regs = cpu->regs;

	if (name == CSR_FRM)
		value = (value & 7) << 5 | regs->fflags;
	else if (name == CSR_FFLAGS)
		value = (uint64_t)regs->frm << 5 | (value & 31);
	else if (name != CSR_FCSR)
		return false;
	regs->frm = value >> 5 & 7;
	regs->fflags = value & 31;
	cpu_float_mode(cpu);
	return true;
}

static bool csr_write(struct cpu *cpu, unsigned name, uint64_t value)
{
	uint32_t writable, *csr;

	if (name >> 10 == 3)
		return false; /* read-only */
	if (cpu->xlen == 64)
		return write_float(cpu, name, value);
	csr = machine_csr(cpu, name, &writable);
	if (csr)
		*csr = (*csr & ~writable) | ((uint32_t)value & writable);
	/* misa stays as it is, and so do the counters */
	return csr || name == 0x301 || (name & ~0x82u) == 0xb00;
}

bool cpu_csr(struct cpu *cpu, const struct cpu_op *op, unsigned name, uint64_t operand)
{
	unsigned csr = (unsigned)op->imm;
	/* setting or clearing the bits of x0 (or of 0) does not write */
	bool writes = name == CPU_CSRRW || name == CPU_CSRRWI || op->rs1;
	uint64_t old, value = operand;

	if (!csr_read(cpu, csr, &old))
		return false;
	if (name == CPU_CSRRS || name == CPU_CSRRSI)
		value = old | operand;
	else if (name == CPU_CSRRC || name == CPU_CSRRCI)
		value = old & ~operand;
	if (writes && !csr_write(cpu, csr, value))
		return false;
	cpu->regs->x[op->rd] = old;
	return true;
}

void cpu_trap(struct cpu *cpu, struct cpu_regs *regs, uint32_t cause, uint32_t value)
{
	struct cpu_machine *machine = &cpu->machine;

	machine->mcause = cause;
	machine->mepc = (uint32_t)regs->pc;
	machine->mtval = value;
	machine->mstatus = machine->mstatus & MSTATUS_MIE ? MSTATUS_MPIE : 0;
	regs->pc = machine->mtvec;
}

void cpu_mret(struct cpu *cpu)
{
	struct cpu_machine *machine = &cpu->machine;

	machine->mstatus = MSTATUS_MPIE | (machine->mstatus & MSTATUS_MPIE ? MSTATUS_MIE : 0);
	cpu->regs->pc = machine->mepc;
}
