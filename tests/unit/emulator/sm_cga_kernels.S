# SPDX-License-Identifier: MIT
# Kernels of test_sm_cga.c. kernarg: [0] out, [1] parameter. sm_cga_kernels.h is made from this file by
#   riscv64-unknown-elf-gcc -march=rv64imafd_zicsr -mabi=lp64d -c; objcopy -O binary -j .text; nm
	.text
	.macro own reg	# address of this CTA's line of 64 bytes in out
	ld \reg, 0(a0)
	lwu t6, 84(tp)
	slli t6, t6, 6
	add \reg, \reg, t6
	.endm
	.macro dsmem reg, rank
	li \reg, 0x803000000000
	slli t6, \rank, 24
	add \reg, \reg, t6
	.endm
	.macro service n
	li a7, \n
	ecall
	.endm
k_ids:		# out[cta] = rank | ctas << 32, id | gpc << 32, x | y << 20 | z << 40, cga likewise, lmem, work_first, work_items, sm
	own s0
	ld t0, 100(tp)
	sd t0, 0(s0)
	lwu t0, 96(tp)
	lwu t1, 108(tp)
	slli t1, t1, 32
	or t0, t0, t1
	sd t0, 8(s0)
	lwu t0, 36(tp)
	lwu t1, 40(tp)
	slli t1, t1, 20
	or t0, t0, t1
	lwu t1, 44(tp)
	slli t1, t1, 40
	or t0, t0, t1
	sd t0, 16(s0)
	lwu t0, 128(tp)
	lwu t1, 132(tp)
	slli t1, t1, 20
	or t0, t0, t1
	lwu t1, 136(tp)
	slli t1, t1, 40
	or t0, t0, t1
	sd t0, 24(s0)
	lwu t0, 140(tp)
	sd t0, 32(s0)
	ld t0, 144(tp)
	sd t0, 40(s0)
	lwu t0, 152(tp)
	sd t0, 48(s0)
	lwu t0, 88(tp)
	sd t0, 56(s0)
	ret
k_ring:		# 50 rounds: write to the next rank, barrier, check what the one before wrote, barrier; out[cta] = errors
	own s0
	lwu s1, 100(tp)		# rank
	lwu s2, 104(tp)		# ctas
	lwu s3, 28(tp)		# wave
	slli s3, s3, 3
	ld s4, 8(tp)		# shared
	add s4, s4, s3
	addi t0, s1, 1
	bne t0, s2, 1f
	li t0, 0
1:	dsmem s5, t0
	add s5, s5, s3
	addi s7, s1, -1
	bgez s7, 1f
	addi s7, s2, -1
1:	li s6, 50
	li s8, 0
2:	slli t0, s1, 8
	add t0, t0, s6
	sd t0, 0(s5)
	service 32
	ld t0, 0(s4)
	slli t1, s7, 8
	add t1, t1, s6
	beq t0, t1, 3f
	addi s8, s8, 1
3:	service 32
	addi s6, s6, -1
	bnez s6, 2b
	amoadd.d zero, s8, (s0)
	ret
k_amo:		# all waves: 100 times add 1 (amo) and 1 (LR/SC) to two words of rank 0, barrier, out[cta] = both
	own s0
	li t0, 0
	dsmem s1, t0
	addi s2, s1, 8
	li s3, 100
	li s4, 1
1:	amoadd.d zero, s4, (s1)
2:	lr.d t0, (s2)
	addi t0, t0, 1
	sc.d t1, t0, (s2)
	bnez t1, 2b
	addi s3, s3, -1
	bnez s3, 1b
	service 32
	ld t0, 0(s1)
	sd t0, 0(s0)
	ld t0, 0(s2)
	sd t0, 8(s0)
	service 32
	ret
k_clear:	# shared memory of the CTA: two words 0, then barrier
	ld t0, 8(tp)
	sd zero, 0(t0)
	sd zero, 8(t0)
	service 32
	ret
k_sizes:	# accesses of every size to the neighbour (rank ^ 1); out[cta] = sum of what comes back
	own s0
	lwu s1, 100(tp)
	xori s1, s1, 1
	dsmem s2, s1
	li t0, 0x8182838485868788
	sb t0, 0(s2)
	sh t0, 2(s2)
	sw t0, 4(s2)
	sd t0, 8(s2)
	sw t0, 17(s2)
	fmv.d.x f0, t0
	fsd f0, 24(s2)
	service 32
	lb t1, 0(s2)
	lbu t2, 0(s2)
	add t1, t1, t2
	lh t2, 2(s2)
	add t1, t1, t2
	lhu t2, 2(s2)
	add t1, t1, t2
	lw t2, 4(s2)
	add t1, t1, t2
	lwu t2, 4(s2)
	add t1, t1, t2
	ld t2, 8(s2)
	add t1, t1, t2
	lw t2, 17(s2)
	add t1, t1, t2
	fld f1, 24(s2)
	fmv.x.d t2, f1
	add t1, t1, t2
	service 32
	sd t1, 0(s0)
	ret
k_load:		# rank 0 loads from the parameter, stores 1 behind it, goes on: out[0] = 1 + what it loaded
	lwu t0, 100(tp)
	bnez t0, 1f
	ld s0, 0(a0)
	ld s1, 8(a0)
k_load_at:
	ld t0, 0(s1)
	addi t0, t0, 1
	sd t0, 0(s0)
	service 32
	ret
1:	service 32
	ret
k_store:	# the same with a store
	lwu t0, 100(tp)
	bnez t0, 1f
	ld s0, 0(a0)
	ld s1, 8(a0)
	li t0, 5
k_store_at:
	sd t0, 0(s1)
	sd t0, 0(s0)
1:	service 32
	ret
k_exited:	# all but rank 0 exit at once; rank 0 waits for out[1] to be set, touches rank 1, sets out[0]
	lwu t0, 100(tp)
	bnez t0, 2f
	ld s0, 0(a0)
	li t0, 1
	dsmem s1, t0
1:	service 4
	ld t0, 8(s0)
	beqz t0, 1b
	li t0, 7
	sd t0, 0(s1)
	amoadd.d t0, t0, (s1)
	ld t1, 0(s1)
	add t0, t0, t1
	addi t0, t0, 1
	sd t0, 0(s0)
2:	ret
k_leavers:	# odd ranks exit, even ones meet 10 times; out[cta] = 1
	own s0
	lwu t0, 100(tp)
	andi t0, t0, 1
	bnez t0, 2f
	li s1, 10
1:	service 32
	addi s1, s1, -1
	bnez s1, 1b
	li t0, 1
	sd t0, 0(s0)
2:	ret
k_split:	# arrive; then spin until all have set a word (which they do behind arrive); wait; out[cta] = 1
	own s0
	ld s1, 0(a0)
	addi s1, s1, 2032
	lwu s2, 104(tp)
	lwu t0, 32(tp)
	mul s2, s2, t0
	service 34
	li t0, 1
	amoadd.d zero, t0, (s1)
1:	service 4
	ld t0, 0(s1)
	bltu t0, s2, 1b
	service 35
	li t0, 1
	sd t0, 0(s0)
	ret
k_quit:		# rank 1 arrives and exits; ranks above it come late and count; out[0] = what rank 0 sees of them then
	lwu t0, 100(tp)
	ld s0, 0(a0)
	addi s1, s0, 2032
	beqz t0, 2f
	li t1, 1
	beq t0, t1, 3f
	li s2, 200
1:	service 4
	addi s2, s2, -1
	bnez s2, 1b
	li t1, 1
	amoadd.d zero, t1, (s1)
	service 32
	ret
2:	service 32
	ld t0, 0(s1)
	sd t0, 0(s0)
	ret
3:	service 34
	ret
k_twice:	# misuse: arrives twice
	service 34
k_twice_at:
	service 34
	ret
k_unarrived:	# misuse: waits without having arrived
	service 35
	ret
k_stay:		# waits for out[7] by yields
	ld s0, 0(a0)
1:	service 4
	ld t0, 56(s0)
	beqz t0, 1b
	ret
k_spin:		# waits for the barrier if rank 0, else spins without end
	lwu t0, 100(tp)
	beqz t0, 1f
2:	j 2b
1:	service 32
	ret
k_lmem:		# rank 0 writes the parameter into the linear memory, all read it behind the barrier: out[cta]
	own s0
	li s1, 0x804000000000
	lwu t0, 100(tp)
	bnez t0, 1f
	ld t0, 8(a0)
	ld t1, 0(s1)		# must be 0 before
	add t0, t0, t1
	sd t0, 0(s1)
1:	service 32
	ld t0, 0(s1)
	sd t0, 0(s0)
	service 32
	ret
k_ask:		# out[cta] = reply to a request with three arguments
	own s0
	ld a0, 8(a0)
	addi a1, a0, 1
	addi a2, a0, 2
	service 16
	sd a0, 0(s0)
	ret
k_waves:	# out[cta][wave] = items | first_item << 8 | (cta + 1) << 16
	own s0
	lwu t0, 28(tp)
	slli t0, t0, 3
	add s0, s0, t0
	lwu t0, 20(tp)
	lwu t1, 24(tp)
	slli t1, t1, 8
	or t0, t0, t1
	lwu t1, 84(tp)
	addi t1, t1, 1
	slli t1, t1, 16
	or t0, t0, t1
	sd t0, 0(s0)
	ret
k_bench:	# parameter times load of rank 1
	lwu t0, 100(tp)
	bnez t0, 1f
	ld s0, 8(a0)
	li t0, 1
	dsmem s1, t0
2:	ld t0, 0(s1)
	addi s0, s0, -1
	bnez s0, 2b
1:	service 32
	ret
k_apart:	# wave 0 arrives, yields until wave 1 has set a flag behind its wait, and waits; out[0] = 1
	ld s0, 0(a0)
	lwu t0, 28(tp)
	service 34
	bnez t0, 2f
1:	service 4
	ld t1, 2032(s0)
	beqz t1, 1b
	service 35
	li t0, 1
	sd t0, 0(s0)
	ret
2:	service 35
	li t0, 1
	sd t0, 2032(s0)
	ret
k_both:		# between arriving and waiting, wave 0 meets wave 1 at the workgroup's barrier; out[0] = 1 + whether it got on too soon
	ld s0, 0(a0)
	lwu t0, 28(tp)
	service 34
	bnez t0, 1f
	service 1
	li t0, 1
	sd t0, 2032(s0)
	service 35
	ret
1:	service 35
	li s1, 100
2:	service 4
	addi s1, s1, -1
	bnez s1, 2b
	ld t1, 2032(s0)
	addi t1, t1, 1
	sd t1, 0(s0)
	service 1
	ret
k_gone:		# wave 0 arrives and exits, wave 1 comes late and sets a flag; out[0] = what wave 2 sees of it behind the barrier
	ld s0, 0(a0)
	lwu t0, 28(tp)
	beqz t0, 3f
	addi t0, t0, -1
	beqz t0, 1f
	service 32
	ld t1, 2032(s0)
	sd t1, 0(s0)
	ret
1:	li s1, 100
2:	service 4
	addi s1, s1, -1
	bnez s1, 2b
	li t1, 1
	sd t1, 2032(s0)
	service 32
	ret
3:	service 34
	ret
