// SPDX-License-Identifier: MIT
/*
 * SYS-51: a random program interpreted and translated, in slices of random lengths: registers, memory, counts, faults
 * and reasons to stop are equal after each.
 */
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"
#include "translation.h"
#include "walks.h"

#ifndef LOCKSTEP_XLEN
#define LOCKSTEP_XLEN 32
#endif
#ifdef LOCKSTEP_WALKS
#define PROGRAM "loops that walk through memory"
#define SUFFIX	"_walks"
#else
#define LOCKSTEP_WALKS 0
#define PROGRAM "a random program"
#if LOCKSTEP_XLEN == 64
#define SUFFIX "64"
#else
#define SUFFIX ""
#endif
#endif
#define FLAT  0x40000u
#define CODE  0x1000u
#define DATA  0x20000u
#define STEPS 60000
#define APART (LOCKSTEP_WALKS ? 0x5000u : 0) /* what lies between two pieces of data, where they are */
#define BYTES (FLAT + 0x1000 + 5 * APART)

extern const struct cpu_translation random_translation;

struct side {
	struct cpu *cpu;
	struct cpu_regs regs;
	uint8_t *memory;
	uint64_t device; /* what has been stored to the device, and how often */
	bool closed;	 /* the page may only be read */
};

/* Low memory of a processor without flat memory: code, and data in pieces whose ends are anywhere. */
static void low_span(struct side *side, uint64_t va, struct cpu_span *span)
{
	static const uint32_t ends[] = { 0, CODE, 0x10000, DATA - 0x307, DATA + 0x10, DATA + 0x404, FLAT };
	unsigned i = 1;

	while (va >= ends[i])
		i++;
	span->first = ends[i - 1];
	span->bytes = ends[i] - ends[i - 1];
	span->host = side->memory + span->first + APART * (i > 2 ? i - 2 : 0);
	span->rights = i <= 2 ? CPU_MAY_LOAD | CPU_MAY_FETCH : CPU_MAY_LOAD | CPU_MAY_STORE;
	span->once = i == 4;
}

/* Above low memory: a page, a device, nothing. */
static int side_span(void *user, uint64_t va, enum cpu_access access, struct cpu_span *span)
{
	struct side *side = user;

	if (va < FLAT) {
		low_span(side, va, span);
		return 0;
	}
	if (va >= FLAT + 0x3000)
		return 3;
	span->first = va < FLAT + 0x1000 ? FLAT : FLAT + 0x1000;
	span->bytes = va < FLAT + 0x1000 ? 0x1000 : 0x2000;
	span->host = va < FLAT + 0x1000 ? side->memory + FLAT + APART * 5 : NULL;
	span->rights = CPU_MAY_LOAD | (side->closed && span->host ? 0 : CPU_MAY_STORE);
	return 0;
}

static int side_load(void *user, uint64_t va, unsigned bytes, uint64_t *value)
{
	struct side *side = user;

	*value = va * 77 + cpu_instructions(side->cpu) + side->regs.pc;
	return 0;
}

static int side_store(void *user, uint64_t va, unsigned bytes, uint64_t value)
{
	struct side *side = user;

	side->device = side->device * 31 + value + va + side->regs.pc;
	if (value & 8)
		cpu_interrupt(side->cpu);
	if (value & 32) {
		side->closed = value & 64;
		cpu_invalidate(side->cpu, FLAT, 0x1000, false);
	}
	return value & 16 ? 4 : 0;
}

static const struct cpu_bus bus = { side_span, side_load, side_store };

static void side_init(struct side *side, FILE *image, bool translated)
{
	struct cpu_config config = { .xlen = LOCKSTEP_XLEN, .bus = &bus, .user = side };

	memset(side, 0, sizeof(*side));
	side->memory = calloc(1, BYTES);
	if (LOCKSTEP_XLEN == 32) {
		config.flat = side->memory;
		config.flat_bytes = FLAT;
	}
	rewind(image);
	if (!side->memory || !fread(side->memory + CODE, 1, FLAT - CODE, image) || cpu_create(&config, &side->cpu))
		abort();
	if (translated && LOCKSTEP_XLEN == 32 && (!cpu_translation_fits(&random_translation, side->memory, FLAT) ||
			   cpu_translate(side->cpu, &random_translation)))
		abort();
	if (translated && LOCKSTEP_XLEN == 64 && cpu_attach(side->cpu, CODE, &random_translation))
		abort();
	side->regs.pc = CODE;
	cpu_machine(side->cpu)->mtvec = CODE;
}

static void side_fini(struct side *side)
{
	cpu_destroy(side->cpu);
	free(side->memory);
}

/* Past what cannot be executed, and home if lost. */
static void go_on(struct side *side, enum cpu_stop stop, uint64_t seed)
{
	const uint8_t *code = side->memory + side->regs.pc;
	uint64_t end = CODE + random_translation.bytes;

	if (stop != CPU_STOP_FAULT)
		return;
	if (side->regs.pc < FLAT - 8 && cpu_fault(side->cpu)->access != CPU_FETCH)
		side->regs.pc += (code[0] & 3) == 3 ? 4 : 2;
	else if (side->regs.pc < end && side->regs.pc >= CODE)
		side->regs.pc += 2;
	else
		side->regs.pc = CODE + seed % random_translation.bytes / 2 * 2;
}

static bool equal(const struct side *a, const struct side *b, enum cpu_stop sa, enum cpu_stop sb)
{
	const struct cpu_fault *fa = cpu_fault(a->cpu), *fb = cpu_fault(b->cpu);

	if (sa != sb || cpu_instructions(a->cpu) != cpu_instructions(b->cpu) || a->regs.pc != b->regs.pc ||
	    memcmp(a->regs.x, b->regs.x, 32 * 8) || memcmp(a->regs.f, b->regs.f, 32 * 8) || a->device != b->device ||
	    a->regs.fflags != b->regs.fflags || a->regs.frm != b->regs.frm)
		return false;
	if (sa == CPU_STOP_FAULT && (fa->kind != fb->kind || fa->access != fb->access || fa->reason != fb->reason ||
				     fa->value != fb->value || fa->pc != fb->pc || fa->address != fb->address))
		return false;
	return memcmp(cpu_machine(a->cpu), cpu_machine(b->cpu), sizeof(struct cpu_machine)) == 0;
}

static void complain(const struct side *a, const struct side *b, enum cpu_stop sa, enum cpu_stop sb)
{
	printf("# stop %d %d count %llu %llu pc %llx %llx\n", sa, sb, (unsigned long long)cpu_instructions(a->cpu),
	       (unsigned long long)cpu_instructions(b->cpu), (unsigned long long)a->regs.pc, (unsigned long long)b->regs.pc);
	for (unsigned i = 0; i < 32; i++)
		if (a->regs.x[i] != b->regs.x[i])
			printf("# x%u interpreted %llx translated %llx\n", i, (unsigned long long)a->regs.x[i],
			       (unsigned long long)b->regs.x[i]);
	for (unsigned i = 0; i < 32; i++)
		if (a->regs.f[i] != b->regs.f[i])
			printf("# f%u interpreted %llx translated %llx\n", i, (unsigned long long)a->regs.f[i],
			       (unsigned long long)b->regs.f[i]);
	printf("# fcsr %x %x, %x %x\n", a->regs.frm, a->regs.fflags, b->regs.frm, b->regs.fflags);
}

static uint64_t slice_of(struct stream *s)
{
	switch (stream_below(s, 4)) {
	case 0:
		return 1 + stream_below(s, 8);
	case 1:
		return 1 + stream_below(s, 200);
	}
	return 1 + stream_below(s, 5000);
}

static uint64_t value_of(struct stream *s)
{
	uint64_t value = stream_value(s);

	return LOCKSTEP_XLEN == 64 ? value : (uint32_t)value;
}

/* New values now and then: they wear out. Sometimes the base registers point to the page and to the device. */
static void refresh(struct stream *s, struct side *a, struct side *b)
{
	for (unsigned n = 1; n < 32; n++)
		a->regs.x[n] = stream_below(s, 4) ? value_of(s) : FLAT - 0x800 + stream_below(s, 0x2000);
	for (unsigned n = 0; n < 32; n++)
		a->regs.f[n] = LOCKSTEP_XLEN == 64 ? stream_float_value(s) : 0;
	a->regs.fflags = b->regs.fflags = stream_below(s, 8) ? CPU_NX : 0;
	a->regs.frm = b->regs.frm = 0;
	a->regs.x[2] = DATA;
	a->regs.x[8] = stream_below(s, 4) ? DATA : FLAT + stream_below(s, 0x1000);
	a->regs.x[9] = stream_below(s, 4) ? DATA : FLAT + 0x2000;
	memcpy(b->regs.x, a->regs.x, sizeof(b->regs.x));
	memcpy(b->regs.f, a->regs.f, sizeof(b->regs.f));
}

/* Fill data with numbers to add up, a few of which are special values. */
static void fill(struct stream *s, struct side *a, struct side *b)
{
	struct cpu_span span;

	low_span(a, DATA + 0x10, &span);
	for (uint64_t at = 0; at + 8 <= span.bytes; at += 8) {
		double number = stream_below(s, 4) ? stream_below(s, 1000) * 0.1 : 0;
		uint64_t value = stream_below(s, 4) ? stream_float_value(s) : 0xfff8000000000123; /* a NaN that is not RISC-V's own */

		memcpy(span.host + at, stream_below(s, 100) ? (void *)&number : &value, sizeof(value));
	}
	memcpy(b->memory + (span.host - a->memory), span.host, span.bytes);
}

/* Another walk, with other values; now and then the page may only be read. */
static void walk(struct stream *s, struct side *a, struct side *b)
{
	refresh(s, a, b);
	a->regs.pc = b->regs.pc = CODE + WALK * stream_below(s, WALKS);
	for (unsigned n = stream_below(s, 2) ? 10 : 20; n < 20; n++) {
		double number = stream_below(s, 9);

		memcpy(&a->regs.f[n], &number, sizeof(number));
		b->regs.f[n] = a->regs.f[n];
	}
	if (stream_below(s, 2))
		fill(s, a, b);
	if (stream_below(s, 8))
		return;
	a->closed = b->closed = stream_below(s, 2);
	cpu_invalidate(a->cpu, FLAT, 0x1000, false);
	cpu_invalidate(b->cpu, FLAT, 0x1000, false);
}

/* What follows a stop. */
static void next(struct stream *s, struct side *a, struct side *b, enum cpu_stop stop)
{
	uint64_t where = stream_random(s);

	if (!LOCKSTEP_WALKS) {
		go_on(a, stop, where);
		go_on(b, stop, where);
	} else if (stop == CPU_STOP_ECALL || (stop == CPU_STOP_FAULT && stream_below(s, 4) == 0)) {
		walk(s, a, b);
	} else {
		go_on(a, stop, where);
		go_on(b, stop, where);
	}
}

/* The host's floating-point flags are the program's own, whatever processors do with them meanwhile (FE_INEXACT excepted). */
#define HOST_FLAGS (FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW)

static bool run(FILE *image, uint64_t seed)
{
	struct stream s = { .seed = seed };
	unsigned stops[8] = { 0 };
	enum cpu_stop sa, sb;
	struct side a, b;
	bool good = true;

	side_init(&a, image, false);
	side_init(&b, image, true);
	feclearexcept(HOST_FLAGS);
	feraiseexcept(FE_DIVBYZERO);
	if (LOCKSTEP_WALKS)
		walk(&s, &a, &b);
	for (unsigned i = 0; good && i < STEPS; i++) {
		uint64_t slice = slice_of(&s);

		if (i % 64 == 0 && !LOCKSTEP_WALKS)
			refresh(&s, &a, &b);
		sa = cpu_run(a.cpu, &a.regs, slice);
		sb = cpu_run(b.cpu, &b.regs, slice);
		good = equal(&a, &b, sa, sb) && (i % 64 || !memcmp(a.memory, b.memory, BYTES));
		if (!good)
			complain(&a, &b, sa, sb);
		stops[sa]++;
		next(&s, &a, &b, sa);
	}
	good = good && !memcmp(a.memory, b.memory, BYTES) && fetestexcept(HOST_FLAGS) == FE_DIVBYZERO;
	/* that the program does what it is for */
	for (enum cpu_stop stop = CPU_STOP_SLICE; stop <= CPU_STOP_FAULT; stop++)
		good = good && (stop == CPU_STOP_WFI || stops[stop] > 10);
	printf("# %llu instructions; %u slices, %u interrupts, %u ecalls, %u faults\n",
	       (unsigned long long)cpu_instructions(a.cpu), stops[CPU_STOP_SLICE], stops[CPU_STOP_INTERRUPT],
	       stops[CPU_STOP_ECALL], stops[CPU_STOP_FAULT]);
	side_fini(&a);
	side_fini(&b);
	return good;
}

int main(int argc, char **argv)
{
	FILE *image = fopen(argc > 1 ? argv[1] : CPU_GUESTS "/random" SUFFIX ".image", "rb");
	unsigned failures = 0;

	if (!image) {
		perror("random" SUFFIX ".image");
		return 2;
	}
	for (unsigned i = 1; i <= 5; i++) {
		bool good = run(image, i * 0x9e3779b97f4a7c15ull);

		failures += !good;
		printf("%sok %u - SYS-51: %s interpreted and translated, run %u\n", good ? "" : "not ", i, PROGRAM, i);
	}
	printf("1..5\n");
	fclose(image);
	return failures != 0;
}
