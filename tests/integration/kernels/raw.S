/* SPDX-License-Identifier: MIT */
/*
 * Kernels for tests that drive the card without libtutti (raw.h), assembled to a
 * flat, position-independent image: kernel i has its descriptor at 256 * i and
 * its code right behind it. Order: enum raw_kernel. a0 = address of the arguments.
 */
#define SERVICE_BARRIER 1
#define SERVICE_PRINT 2
#define SERVICE_YIELD 4
#define SERVICE_TASK 16
#define SERVICE_QUEUE_NOTIFY 17

	.option norvc
	.option norelax
	.macro kernel group=0, barriers=0
	.balign 256
	.word \group        /* group_bytes */
	.word 0             /* private_bytes */
	.word 64            /* kernarg_bytes */
	.word 16            /* kernarg_align */
	.dword 64           /* entry_offset */
	.word 0x4c4b5454    /* magic */
	.half \barriers     /* flags: TUTTI_KERNEL_BARRIER = 1 */
	.half \barriers     /* barriers */
	.half 1, 1          /* scalar, vector blocks */
	.half 0, 0, 0       /* workgroup */
	.half 0             /* workgroup_max */
	.half 0, 0, 0       /* cga */
	.byte 0, 1          /* cga_kind, version */
	.word 0
	.dword 0
	.endm

	.text
/* RAW_EMPTY */
	kernel
	ret

/* RAW_STORE: *arg0 = arg1 */
	kernel
	ld	t0, 0(a0)
	ld	t1, 8(a0)
	sd	t1, 0(t0)
	ret

/* RAW_ADD: *arg0 += arg1, atomically, once for each wave */
	kernel
	ld	t0, 0(a0)
	ld	t1, 8(a0)
	amoadd.d zero, t1, (t0)
	ret

/* RAW_STEP: *arg0 = *arg0 * arg1 + arg2 */
	kernel
	ld	t0, 0(a0)
	ld	t1, 8(a0)
	ld	t2, 16(a0)
	ld	t3, 0(t0)
	mul	t3, t3, t1
	add	t3, t3, t2
	sd	t3, 0(t0)
	ret

/* RAW_GATE: *arg0 += 1, then wait until *arg1 != 0, then *arg2 += 1 */
	kernel
	ld	t0, 0(a0)
	ld	t1, 8(a0)
	ld	t2, 16(a0)
	li	t3, 1
	amoadd.d zero, t3, (t0)
1:	ld	t4, 0(t1)
	bnez	t4, 2f
	li	a7, SERVICE_YIELD
	ecall
	j	1b
2:	amoadd.d zero, t3, (t2)
	ret

/* RAW_TRAP */
	kernel
	.word 0

/* RAW_SPIN */
	kernel
1:	j	1b

/* RAW_LOAD: *arg1 = *arg0 */
	kernel
	ld	t0, 0(a0)
	ld	t1, 8(a0)
	ld	t2, 0(t0)
	sd	t2, 0(t1)
	ret

/* RAW_COUNT: arg0[cta_linear] += 1 (64 bits, atomically), once for each wave */
	kernel
	ld	t0, 0(a0)
	lwu	t1, 84(tp)
	slli	t1, t1, 3
	add	t0, t0, t1
	li	t2, 1
	amoadd.d zero, t2, (t0)
	ret

/* RAW_EXCHANGE: wait until *arg0 == arg1 (another CTA's doing), then *arg0 = arg1 + 1, arg2 times by 2 */
	kernel
	ld	t0, 0(a0)
	ld	t1, 8(a0)
	ld	t2, 16(a0)
1:	ld	t3, 0(t0)
	beq	t3, t1, 2f
	li	a7, SERVICE_YIELD
	ecall
	j	1b
2:	addi	t1, t1, 1
	sd	t1, 0(t0)
	addi	t1, t1, 1
	addi	t2, t2, -1
	bnez	t2, 1b
	ret

/* RAW_SPAWN: create task arg0, *arg1 = what the card says; then, if arg2, wait until *arg2 == 0 */
	kernel
	ld	t0, 0(a0)
	ld	t1, 8(a0)
	ld	t2, 16(a0)
	mv	a0, t0
	fence	rw, rw
	li	a7, SERVICE_TASK
	ecall
	sd	a0, 0(t1)
	beqz	t2, 2f
1:	ld	t3, 0(t2)
	beqz	t3, 2f
	li	a7, SERVICE_YIELD
	ecall
	j	1b
2:	ret

/* RAW_APPEND: one more item for the task arg0, whose work queue is arg1 (64 items of 8 bytes); its closed word = arg2 */
	kernel
	ld	t0, 0(a0)
	ld	t1, 8(a0)
	ld	t2, 16(a0)
	ld	t3, 0(t1)	/* its number */
	ld	t4, 128(t1)
	andi	t5, t3, 63
	slli	t5, t5, 3
	add	t4, t4, t5
	addi	t3, t3, 1
	sd	t3, 0(t1)
	fence	rw, rw
	sd	t3, 0(t4)
	sw	t2, 144(t1)
	fence	rw, rw
	mv	a0, t0
	li	a7, SERVICE_QUEUE_NOTIFY
	ecall
	ret
	.balign 256
