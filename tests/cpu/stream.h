/* SPDX-License-Identifier: MIT */
/*
 * Random instruction streams that end in an ecall. x2, x8 and x9 point into data and are never written (x9 is aligned);
 * branches go forward over the next instruction, so that every stream ends.
 */
#ifndef TESTS_CPU_STREAM_H
#define TESTS_CPU_STREAM_H

#include <stdbool.h>
#include <string.h>

#include "encode.h"

#define STREAM_MOST 4096u

/**
 * struct stream - a generator and what it made.
 * @xlen: 32: integer only; @floats: with floating point; @atomics: with atomics
 * @boxed: single-precision operands stay NaN-boxed
 * @no_minmax: no FMIN and FMAX, no AMOMIN.W and its like; @no_csr: no access to fcsr
 */
struct stream {
	uint64_t seed;
	unsigned xlen;
	bool floats, atomics, boxed, no_minmax, no_csr;
	uint16_t half[STREAM_MOST];
	unsigned n;
};

static inline uint64_t stream_random(struct stream *s)
{
	s->seed ^= s->seed << 13;
	s->seed ^= s->seed >> 7;
	s->seed ^= s->seed << 17;
	return s->seed * 0x2545f4914f6cdd1dull;
}

static inline unsigned stream_below(struct stream *s, unsigned n)
{
	return (unsigned)(stream_random(s) >> 33) % n;
}

static inline void stream_put(struct stream *s, uint32_t insn)
{
	s->half[s->n++] = (uint16_t)insn;
	if ((insn & 3) == 3)
		s->half[s->n++] = (uint16_t)(insn >> 16);
}

static inline unsigned stream_rd(struct stream *s)
{
	unsigned rd = stream_below(s, 32);

	return rd == 2 || rd == 8 || rd == 9 ? 10 : rd;
}

static inline unsigned stream_rs(struct stream *s)
{
	return stream_below(s, 32);
}

static inline unsigned stream_near(struct stream *s) /* x10 to x15, as compressed instructions name them */
{
	return 2 + stream_below(s, 6);
}

static inline uint32_t stream_alu(struct stream *s)
{
	static const uint8_t f7[] = { 0, 0, 1, 1, 0x20 };
	unsigned high = f7[stream_below(s, 5)], f3 = stream_below(s, 8), imm = stream_below(s, 4096);
	bool word = s->xlen == 64 && stream_below(s, 3) == 0, wide = s->xlen == 64;

	if (high == 0x20)
		f3 = f3 & 1 ? 5 : 0;
	if (stream_below(s, 2)) {
		if (word) {
			if (high == 1)
				f3 = f3 < 4 ? 0 : f3;
			else
				f3 = (const uint8_t[]){ 0, 1, 5, 0, 1, 5, 0, 5 }[f3];
			if (high == 0x20 && f3 == 1)
				f3 = 0;
		}
		return E_R(word ? 0x3b : 0x33, stream_rd(s), f3, stream_rs(s), stream_rs(s), high);
	}
	if (stream_below(s, 8) == 0)
		return E_U(stream_below(s, 2) ? 0x37 : 0x17, stream_rd(s), (uint32_t)stream_random(s));
	if (word)
		f3 = (const uint8_t[]){ 0, 1, 5, 0, 1, 5, 0, 5 }[f3];
	if (f3 == 1 || f3 == 5)
		imm = (imm & (wide && !word ? 63 : 31)) | (f3 == 5 && imm & 0x800 ? 0x400u : 0);
	return E_I(word ? 0x1b : 0x13, stream_rd(s), f3, stream_rs(s), imm);
}

static inline uint32_t stream_short(struct stream *s)
{
	unsigned rd = stream_rd(s), imm = stream_below(s, 64), near = stream_near(s);
	unsigned split = (imm >> 5 & 1) << 12 | (imm & 31) << 2;
	bool wide = s->xlen == 64;

	switch (stream_below(s, 10)) {
	case 0: /* c.addi, c.li */
		return (stream_below(s, 2) ? 0x0001u : 0x4001u) | rd << 7 | split;
	case 1: /* c.lui */
		return rd == 2 || !imm ? 0x0001u : 0x6001u | rd << 7 | split;
	case 2: /* c.slli */
		return 0x0002u | rd << 7 | (wide ? split : split & 0xfff);
	case 3: /* c.srli, c.srai, c.andi */
		return 0x8001u | near << 7 | stream_below(s, 2) << 10 | (wide ? split : split & 0xfff);
	case 4:
		return 0x8801u | near << 7 | split;
	case 5: /* c.sub, c.xor, c.or, c.and, c.subw, c.addw */
		imm = stream_below(s, wide ? 6 : 4);
		return 0x8c01u | near << 7 | (imm >> 2) << 12 | (imm & 3) << 5 | stream_below(s, 8) << 2;
	case 6: /* c.mv, c.add */
		return 0x8002u | rd << 7 | stream_below(s, 2) << 12 | (1 + stream_below(s, 31)) << 2;
	case 7: /* c.addi4spn */
		return 0x0000u | (1 + stream_below(s, 255)) << 5 | near << 2;
	case 8: /* c.lw, c.sw by x8 or x9 */
		return (stream_below(s, 2) ? 0x4000u : 0xc000u) | stream_below(s, 2) << 7 | near << 2 |
		       stream_below(s, 8) << 10 | stream_below(s, 4) << 5;
	}
	if (wide && stream_below(s, 2)) /* c.ld, c.sd; c.ldsp */
		return (stream_below(s, 2) ? 0x6000u : 0xe000u) | stream_below(s, 2) << 7 | near << 2 |
		       stream_below(s, 8) << 10 | stream_below(s, 4) << 5;
	/* c.lwsp, c.swsp */
	return stream_below(s, 2) ? 0x4002u | (rd ? rd : 5) << 7 | split : 0xc002u | stream_rs(s) << 2 | stream_below(s, 64) << 7;
}

static inline uint32_t stream_memory(struct stream *s)
{
	unsigned base = stream_below(s, 3) ? 8 + stream_below(s, 2) : 2, imm = stream_below(s, 2048) - 1024u;
	unsigned width = stream_below(s, s->xlen == 64 ? 7 : 5);

	if (s->floats && stream_below(s, 3) == 0) {
		width = s->boxed ? 3 : 2 + stream_below(s, 2);
		return stream_below(s, 2) ? E_I(0x07, stream_rs(s), width, base, imm & 0xfff)
					  : E_S(0x27, width, base, stream_rs(s), imm);
	}
	if (stream_below(s, 2)) {
		if (s->xlen == 32 && width == 3)
			width = 5;
		return E_I(0x03, stream_rd(s), width, base, imm & 0xfff);
	}
	return E_S(0x23, width % (s->xlen == 64 ? 4 : 3), base, stream_rs(s), imm);
}

static inline uint32_t stream_atomic(struct stream *s)
{
	static const uint8_t f5[] = { 0, 1, 4, 8, 12, 16, 20, 24, 28, 2, 3 };
	unsigned op = f5[stream_below(s, 11)], width = 2 + stream_below(s, 2);

	/* LR and SC of one size: whether an SC of another may succeed is not laid down */
	if ((s->no_minmax && op >= 16) || op == 2 || op == 3)
		width = 3;
	return E_AMO(stream_rd(s), 9, op == 2 ? 0 : stream_rs(s), op, width);
}

static inline unsigned stream_rm(struct stream *s)
{
	return (const uint8_t[]){ 0, 1, 2, 3, 4, 7, 7, 0 }[stream_below(s, 8)];
}

static inline uint32_t stream_float(struct stream *s)
{
	unsigned d = stream_below(s, 2), rm = stream_rm(s), a = stream_rs(s), b = stream_rs(s), rd = stream_rs(s);

	switch (stream_below(s, 12)) {
	case 0:
	case 1:
		return E_FP(rd, rm, a, b, stream_below(s, 4) * 4 + d);
	case 2:
	case 3:
		return E_FMA(0x43 + 4 * stream_below(s, 4), rd, rm, a, b, stream_rs(s), d);
	case 4:
		return E_FP(rd, rm, a, 0, 0x2c + d);
	case 5:
		return E_FP(rd, stream_below(s, 3), a, b, 0x10 + d);
	case 6:
		return E_FP(rd, stream_below(s, 2), a, b, (s->no_minmax ? 0x10 : 0x14) + d);
	case 7:
		return E_FP(stream_rd(s), stream_below(s, 3), a, b, 0x50 + d);
	case 8:
		return E_FP(stream_rd(s), rm, a, stream_below(s, 4), 0x60 + d);
	case 9:
		return E_FP(rd, rm, a, stream_below(s, 4), 0x68 + d);
	case 10:
		return d ? E_FP(rd, rm, a, 1, 0x20) : E_FP(rd, rm, a, 0, 0x21);
	}
	switch (stream_below(s, 4)) {
	case 0:
		return E_FP(stream_rd(s), 1, a, 0, 0x70 + d);
	case 1:
		return E_FP(stream_rd(s), 0, a, 0, 0x70 + d);
	case 2:
		return E_FP(rd, 0, a, 0, s->boxed ? 0x79 : 0x78 + d);
	}
	if (s->no_csr)
		return E_NOP;
	/* fflags or fcsr from a register would make illegal rounding modes: read, clear flags, or set a good mode */
	return stream_below(s, 2) ? E_CSRRW(stream_rd(s), 0x001, stream_rs(s)) : E_I(0x73, stream_rd(s), 5, stream_below(s, 5), 0x002);
}

static inline uint32_t stream_insn(struct stream *s)
{
	unsigned kind = stream_below(s, 16);

	if (s->floats && kind < 8)
		return stream_float(s);
	if (s->atomics && kind == 8)
		return stream_atomic(s);
	if (kind < (s->floats ? 11u : 5u))
		return stream_memory(s);
	return stream_below(s, 2) ? stream_short(s) : stream_alu(s);
}

/* A branch over what comes next */
static inline void stream_branch(struct stream *s)
{
	static const uint8_t kinds[] = { 0, 1, 4, 5, 6, 7 };
	uint32_t next = stream_insn(s);
	unsigned over = (next & 3) == 3 ? 4 : 2, near;

	switch (stream_below(s, 4)) {
	case 0: /* c.beqz, c.bnez */
		near = stream_near(s);
		stream_put(s, (stream_below(s, 2) ? 0xc001u : 0xe001u) | near << 7 | ((over + 2) >> 1 & 3) << 3);
		break;
	case 1:
		stream_put(s, E_J(stream_rd(s), over + 4));
		break;
	default:
		stream_put(s, E_B(kinds[stream_below(s, 6)], stream_rs(s), stream_rs(s), over + 4));
	}
	stream_put(s, next);
}

static inline void stream_make(struct stream *s, unsigned insns)
{
	s->n = 0;
	while (insns--) {
		if (stream_below(s, 10) == 0)
			stream_branch(s);
		else
			stream_put(s, stream_insn(s));
	}
}

/* Values that matter */
static inline uint64_t stream_value(struct stream *s)
{
	static const uint64_t edges[] = { 0, 1, ~0ull, 0x80000000ull, 0x7fffffffull, 0xffffffffull, 0x8000000000000000ull,
					  0x7fffffffffffffffull, 0xffffffff80000000ull, 2, 31, 63 };
	unsigned kind = stream_below(s, 3);

	if (kind == 0)
		return edges[stream_below(s, sizeof(edges) / sizeof(*edges))];
	return stream_random(s) >> (kind == 1 ? stream_below(s, 64) : 0);
}

static inline uint64_t stream_double(struct stream *s)
{
	static const uint64_t edges[] = {
		0, 1ull << 63, 0x3ff0000000000000ull, 0xbff0000000000000ull, 0x7ff0000000000000ull, 0xfff0000000000000ull,
		0x7ff8000000000000ull, 0x7ff0000000000001ull, 0xfff4000000000000ull, 1, 0x000fffffffffffffull,
		0x0010000000000000ull, 0x0010000000000001ull, 0x7fefffffffffffffull, 0x8010000000000000ull,
		0x3ca0000000000000ull, 0x43e0000000000000ull, 0xc3e0000000000000ull, 0x41dfffffffc00000ull,
		0xc1e0000000000000ull, 0x41efffffffe00000ull, 0x3fe0000000000000ull, 0x3ff8000000000000ull,
		0x36a0000000000000ull, 0x3810000000000000ull, 0x380fffffffffffffull, 0x47efffffe0000000ull, 0x47efffffefffffffull,
	};
	uint64_t r = stream_random(s), near = 1023 - 8 + stream_below(s, 16);

	switch (stream_below(s, 5)) {
	case 0:
		return edges[stream_below(s, sizeof(edges) / sizeof(*edges))];
	case 1: /* few bits, so that halves and exact results happen */
		return (r & 1ull << 63) | near << 52 | (r & 0xfull) << 48 | (r >> 5 & 1);
	case 2:
		return (r & 0x800fffffffffffffull) | near << 52;
	case 3: /* near underflow and overflow */
		return (r & 0x800fffffffffffffull) | (uint64_t)(r & 16 ? stream_below(s, 60) : 2046 - stream_below(s, 60)) << 52;
	}
	return r;
}

static inline uint64_t stream_single(struct stream *s)
{
	static const uint32_t edges[] = { 0, 0x80000000u, 0x3f800000u, 0xbf800000u, 0x7f800000u, 0xff800000u,
					  0x7fc00000u, 0x7f800001u, 0xffa00000u, 1, 0x007fffffu, 0x00800000u,
					  0x00800001u, 0x7f7fffffu, 0x80800000u, 0x33800000u, 0x5f000000u,
					  0xdf000000u, 0x4f000000u, 0xcf000000u, 0x4f800000u, 0x3f000000u, 0x3fc00000u };
	uint32_t r = (uint32_t)stream_random(s), near = 127 - 8 + stream_below(s, 16);

	switch (stream_below(s, 5)) {
	case 0:
		r = edges[stream_below(s, sizeof(edges) / sizeof(*edges))];
		break;
	case 1:
		r = (r & 0x80000000u) | near << 23 | (r & 0xfu) << 19 | (r >> 5 & 1);
		break;
	case 2:
		r = (r & 0x807fffffu) | near << 23;
		break;
	case 3:
		r = (r & 0x807fffffu) | (r & 16 ? stream_below(s, 30) : 254 - stream_below(s, 30)) << 23;
		break;
	}
	return 0xffffffff00000000ull | r;
}

static inline uint64_t stream_float_value(struct stream *s)
{
	return stream_below(s, 2) ? stream_double(s) : stream_single(s);
}

#endif
