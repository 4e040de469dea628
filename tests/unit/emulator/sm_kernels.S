# SPDX-License-Identifier: MIT
# Kernels of test_sm_array.c. kernarg: [0] out. sm_kernels.h is made from this file by
#   riscv64-unknown-elf-gcc -march=rv64imafd_zicsr -mabi=lp64d -c; objcopy -O binary; nm
	.text
k_empty:
	ret
k_index:	# out[cta_linear] = x | y << 20 | z << 40
	ld t0, 0(a0)
	lwu t1, 84(tp)
	slli t1, t1, 3
	add t0, t0, t1
	lwu t1, 36(tp)
	lwu t2, 40(tp)
	slli t2, t2, 20
	or t1, t1, t2
	lwu t2, 44(tp)
	slli t2, t2, 40
	or t1, t1, t2
	sd t1, 0(t0)
	ret
k_items:	# out[0] += items
	ld t0, 0(a0)
	lwu t1, 20(tp)
	amoadd.d zero, t1, (t0)
	ret
k_amo:		# out[0] += 1 and out[1] += 1 (LR/SC), 1000 times
	ld t0, 0(a0)
	addi t3, t0, 8
	li t1, 1000
	li t2, 1
1:	amoadd.d zero, t2, (t0)
2:	lr.d t4, (t3)
	addi t4, t4, 1
	sc.d t5, t4, (t3)
	bnez t5, 2b
	addi t1, t1, -1
	bnez t1, 1b
	ret
k_barrier:	# 100 rounds of counting in shared memory; out[0] = errors
	ld s0, 0(a0)
	ld s1, 8(tp)
	lw s2, 32(tp)
	lw t0, 28(tp)
	bnez t0, 1f
	sw zero, 0(s1)
1:	li a7, 1
	ecall
	li s3, 100
	li s4, 0
	addi sp, sp, -16
2:	add s4, s4, s2
	sd s4, 8(sp)
	li t0, 1
	amoadd.w zero, t0, (s1)
	li a7, 1
	ecall
	lw t1, 0(s1)
	ld t2, 8(sp)
	bne t1, s4, 4f
	beq t2, s4, 3f
4:	li t2, 1
	amoadd.d zero, t2, (s0)
3:	li a7, 1
	ecall
	addi s3, s3, -1
	bnez s3, 2b
	addi sp, sp, 16
	ret
k_early:	# odd waves end before the barrier
	lw t0, 28(tp)
	andi t0, t0, 1
	bnez t0, 1f
	li a7, 1
	ecall
1:	ret
k_load:		# walks up until the second load of the loop faults
	ld s0, 0(a0)
1:	ld t1, 0(s0)
	addi s0, s0, 8
k_load_at:
	ld t2, 0(s0)
	addi s0, s0, 8
	j 1b
k_store:	# the same for stores
	ld s0, 0(a0)
1:	sd zero, 0(s0)
	addi s0, s0, 8
	addi t0, t0, 3
k_store_at:
	sd zero, 0(s0)
	addi s0, s0, 8
	j 1b
k_spin:
	addi t0, t0, 1
	j k_spin
k_stack:	# overruns private memory
	addi sp, sp, -256
k_stack_at:
	sd zero, 0(sp)
	j k_stack
k_wait:		# until out[0] != 0, yielding
	ld s0, 0(a0)
1:	li a7, 4
	ecall
	ld t0, 0(s0)
	beqz t0, 1b
	ret
k_set:		# out[0] = 1
	ld s0, 0(a0)
	li t0, 1
	sd t0, 0(s0)
	ret
k_peek:		# out[cta] = shared[0]; shared[0] = -1
	ld s0, 0(a0)
	ld s1, 8(tp)
	lwu t1, 84(tp)
	slli t1, t1, 3
	add s0, s0, t1
	ld t0, 0(s1)
	sd t0, 0(s0)
	li t0, -1
	sd t0, 0(s1)
	ret
k_illegal:
	nop
k_illegal_at:
	.word 0xffffffff
k_break:
	nop
k_break_at:
	.word 0x00100073
k_abort:
	li a0, 77
	li a7, 3
k_abort_at:
	ecall
k_misaligned:
	ld t0, 0(a0)
	addi t0, t0, 2
k_misaligned_at:
	amoadd.w zero, t0, (t0)
	ret
k_info:		# writes its own read-only information block
	nop
k_info_at:
	sd zero, 0(tp)
	ret
k_csr:		# privileged
k_csr_at:
	csrr t0, mstatus
	ret
k_float:	# out[0] = 1.5 + 2.25; fcsr must be 0
	ld s0, 0(a0)
	li t0, 3
	fcvt.d.l fa0, t0
	li t0, 2
	fcvt.d.l fa1, t0
	fdiv.d fa0, fa0, fa1
	fadd.d fa0, fa0, fa1
	fsd fa0, 0(s0)
	frcsr t0
	sd t0, 8(s0)
	ret
k_print:	# prints 6 bytes at kernarg + 8, result in out[0]
	ld s0, 0(a0)
	addi a0, a0, 8
	li a1, 6
	li a7, 2
	ecall
	sd a0, 0(s0)
	ret
k_private:	# leaves a mark in private memory, yields 20 times, looks again: out[0] += errors
	ld s0, 0(a0)
	lwu s1, 84(tp)
	lwu s3, 28(tp)
	slli s3, s3, 32
	add s1, s1, s3
	li s2, 20
	sd s1, -8(sp)
	sd s1, -2000(sp)
1:	li a7, 4
	ecall
	addi s2, s2, -1
	bnez s2, 1b
	ld t0, -8(sp)
	bne t0, s1, 2f
	ld t0, -2000(sp)
	beq t0, s1, 3f
2:	li t2, 1
	amoadd.d zero, t2, (s0)
3:	ret
k_first:	# out[0] |= what is in registers that are empty at first, out[1] |= 1 << wave; then fills all of them
	.irp i, 5,6,7,8,9,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	or x3, x3, x\i
	.endr
	.irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	fmv.x.d x5, f\i
	or x3, x3, x5
	.endr
	frcsr x5
	xori x5, x5, 1
	or x3, x3, x5
	ld x8, 0(a0)
	sc.d x5, zero, (x8)
	xori x5, x5, 1
	or x3, x3, x5
	amoor.d zero, x3, (x8)
	addi x9, x8, 8
	lwu x5, 28(tp)
	li x6, 1
	sll x6, x6, x5
	amoor.d zero, x6, (x9)
	li x5, 0x70
	fscsr x5
	lr.d x5, (x8)
	.irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	fmv.d.x f\i, x6
	.endr
	.irp i, 2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	li x\i, -1
	.endr
	ret
