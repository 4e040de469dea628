# SPDX-License-Identifier: MIT
# Reset, idle and traps. `ecall` is the idle instruction of the card's soft core; on
# a core that traps instead, the handler does the waiting (softcore.h).

	.equ	REG_HALT, 0x10001008	# TUTTI_CORE_REGISTERS + TUTTI_REG_HALT

	.section .text.start, "ax"
	.globl	_start
	.type	_start, @function
_start:
	.option push
	.option norelax
	la	gp, __global_pointer$
	.option pop
	la	sp, stack_top
	la	t0, trap
	csrw	mtvec, t0
	li	t0, 1 << 11	# MEIE: what wakes wfi in the handler; mstatus.MIE stays 0, so that no interrupt is taken
	csrw	mie, t0
	la	t0, bss_start
	la	t1, bss_end
1:	bgeu	t0, t1, 2f
	sw	zero, 0(t0)
	addi	t0, t0, 4
	j	1b
2:	j	main
	.size	_start, . - _start

	.text
	.balign	4
	.globl	trap
	.type	trap, @function
trap:
	csrw	mscratch, t0
	csrr	t0, mcause
	addi	t0, t0, -11
	bnez	t0, 3f
	wfi
	csrr	t0, mepc
	addi	t0, t0, 4
	csrw	mepc, t0
	csrr	t0, mscratch
	mret
3:	la	t0, trap_again	# a trap from here on must not come here again and spoil what is kept of the first
	csrw	mtvec, t0
	la	t0, trap_registers
	sw	x0, 0(t0)
	sw	x1, 4(t0)
	sw	x2, 8(t0)
	sw	x3, 12(t0)
	sw	x4, 16(t0)
	sw	x6, 24(t0)
	sw	x7, 28(t0)
	sw	x8, 32(t0)
	sw	x9, 36(t0)
	sw	x10, 40(t0)
	sw	x11, 44(t0)
	sw	x12, 48(t0)
	sw	x13, 52(t0)
	sw	x14, 56(t0)
	sw	x15, 60(t0)
	sw	x16, 64(t0)
	sw	x17, 68(t0)
	sw	x18, 72(t0)
	sw	x19, 76(t0)
	sw	x20, 80(t0)
	sw	x21, 84(t0)
	sw	x22, 88(t0)
	sw	x23, 92(t0)
	sw	x24, 96(t0)
	sw	x25, 100(t0)
	sw	x26, 104(t0)
	sw	x27, 108(t0)
	sw	x28, 112(t0)
	sw	x29, 116(t0)
	sw	x30, 120(t0)
	sw	x31, 124(t0)
	csrr	t1, mscratch
	sw	t1, 20(t0)
	mv	a0, t0
	csrr	a1, mcause
	csrr	a2, mepc
	csrr	a3, mtval
	la	sp, trap_stack_top	# the stack may be what is broken
	j	crash_trap
	.size	trap, . - trap

# The trap handler has trapped, so that nothing can be relied on but this register. The card does the rest.
	.balign	4
	.type	trap_again, @function
trap_again:
	li	t0, REG_HALT
	sw	t0, 0(t0)
	j	trap_again
	.size	trap_again, . - trap_again

	.bss
	.balign	16
trap_registers:
	.space	128
	.space	512
trap_stack_top:
