// SPDX-License-Identifier: MIT
/*
 * generate [SEED [32 | 64 | walks]]: writes a random program as assembly: functions of random instructions with calls,
 * loops, jump tables, ecalls, CSRs, accesses that may fault, and jumps to unusual addresses. See stream.h for the
 * registers. Or, with "walks", loops of RV64 that walk through memory, one every WALK bytes, each with an ecall behind it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "stream.h"
#include "walks.h"

#define FUNCTIONS 80

static struct stream s = { .seed = 1, .xlen = 32 };

static void flush(void)
{
	for (unsigned i = 0; i < s.n; i++)
		printf("\t.half 0x%04x\n", s.half[i]);
	s.n = 0;
}

/* Instructions that load and store an address, and how many bytes it has */
static const char *load = "lw", *store = "sw", *word = ".word";
static unsigned bytes = 4;

static void body(unsigned insns)
{
	stream_make(&s, insns);
	flush();
}

/* ---- loops that walk through memory, as the translator does them in chunks ---- */

static unsigned pick(const unsigned *from, unsigned n)
{
	return from[stream_below(&s, n)];
}

/* Offsets from x2 of a pointer, of its copy and of the rounds of an inner loop. Stores through x6 may hit them, too. */
#define POINTER 0x380
#define COPY	0x388
#define INNER	0x390

/*
 * Where the pointer x6 begins: in data, at the ends of its pieces, in the page, at the device, in the code.
 * Return: true if there may be a fault in each round.
 */
static bool walk_begin(int stride)
{
	static const int away[] = { 64, 0x3c0, 0x404 - 24, 0x7ff, 0x404 - 160 };
	unsigned where = stream_below(&s, 14);
	bool passes = stream_below(&s, 2);

	if (where < 9)
		printf("\taddi x6, x2, %d\n", away[where % 5]);
	else if (where > 11) /* out of data into the page, which may have no right to be written */
		printf("\tli x6, 0x3ffc0\n");
	else if (where < 11)
		printf("\taddi x6, x%u, %d\n", 8 + where % 2, (int)stream_below(&s, 64) - 32);
	else
		printf("\tla x6, _start\n");
	printf("\tli x7, %d\n", stride);
	/* an index of 32 bits that soon passes zero, or the largest number with a sign, or neither */
	printf("\tli x28, %d\n", passes ? pick((const unsigned[]){ 0x7ffffff8, -12u, -12u, -12u, -300u }, 5) : 3);
	if (stream_below(&s, 2))
		printf("\tslli x29, x28, 32\n\tsrli x29, x29, 30\n\tsub x29, x6, x29\n");
	else
		printf("\tmv x29, x6\n");
	printf("\tsd x6, %u(x2)\n\tsd x%u, %u(x2)\n", POINTER, stream_below(&s, 2) ? 2 : 6, COPY);
	printf("\tli x16, %u\n\tsw x16, %u(x2)\n", pick((const unsigned[]){ 1, 1, 1, 2, 3 }, 5), INNER);
	return where > 8 || passes;
}

static void walk_access(unsigned base, int offset)
{
	static const char *const loads[] = { "lw", "ld", "lbu", "lh", "lwu" }, *const stores[] = { "sw", "sd", "sb", "sh" };
	unsigned r = 10 + stream_below(&s, 6);

	switch (stream_below(&s, 6)) {
	case 0:
		printf("\t%s x%u, %d(x%u)\n", loads[stream_below(&s, 5)], r, offset, base);
		break;
	case 1:
		printf("\t%s x%u, %d(x%u)\n", stores[stream_below(&s, 4)], r, offset, base);
		break;
	case 2:
	case 3:
		printf("\tfl%c f%u, %d(x%u)\n", stream_below(&s, 2) ? 'w' : 'd', r, offset, base);
		break;
	default:
		printf("\tfs%c f%u, %d(x%u)\n", stream_below(&s, 2) ? 'w' : 'd', r, offset, base);
	}
}

static void walk_real(void)
{
	static const char *const two[] = { "fadd", "fsub", "fmul", "fdiv", "fmin", "fsgnjx" };
	char format = stream_below(&s, 2) ? 's' : 'd';
	unsigned a = 10 + stream_below(&s, 6), b = 10 + stream_below(&s, 6), c = 10 + stream_below(&s, 6);

	switch (stream_below(&s, 6)) {
	case 0:
		printf("\tfmadd.%c f%u, f%u, f%u, f%u\n", format, a, b, c, a);
		break;
	case 1:
		printf("\tfcvt.%c.w f%u, x%u\n", format, a, stream_below(&s, 2) ? 5 : b);
		break;
	case 2:
		printf("\tfle.%c x%u, f%u, f%u\n", format, a, b, c);
		break;
	default:
		printf("\t%s.%c f%u, f%u, f%u\n", two[stream_below(&s, 6)], format, a, b, c);
	}
}

/* Values that the program reads from memory in each round, most of which stay the same. */
static void walk_pointer(unsigned f, unsigned k, unsigned i)
{
	switch (stream_below(&s, 8)) {
	case 0: /* the pointer moves */
		printf("\tld x30, %u(x2)\n\taddi x30, x30, %u\n\tsd x30, %u(x2)\n", POINTER, 8 * stream_below(&s, 2), POINTER);
		break;
	case 1: /* now and then */
		printf("\tandi x30, x28, 31\n\tbnez x30, p%u_%u_%u\n\tsd x6, %u(x2)\np%u_%u_%u:\n", f, k, i, COPY, f, k, i);
		break;
	case 2: /* a pointer to a pointer */
		printf("\tld x30, %u(x2)\n\tld x30, 0(x30)\n", POINTER);
		walk_access(30, 0);
		break;
	case 3:
	case 4: /* a loop that goes round once, or more often */
		printf("\tlw x16, %u(x2)\n\tandi x16, x16, 3\ni%u_%u_%u:\n", INNER, f, k, i);
		walk_access(6, (int)stream_below(&s, 64) - 32);
		printf("\taddi x16, x16, -1\n\tbgtz x16, i%u_%u_%u\n", f, k, i);
		break;
	default:
		printf("\tld x30, %u(x2)\n", stream_below(&s, 2) ? POINTER : COPY);
		if (stream_below(&s, 2))
			printf("\tslli x16, x28, 3\n\tadd x30, x30, x16\n");
		walk_access(30, 0);
	}
}

static void walk_step(unsigned f, unsigned k, unsigned i)
{
	unsigned r = 10 + stream_below(&s, 6);

	switch (stream_below(&s, 10)) {
	case 0:
	case 1:
		walk_access(6, (int)stream_below(&s, 64) - 32);
		break;
	case 2: /* by the index */
		printf("\tslli x30, x28, 32\n\tsrli x30, x30, %u\n\tadd x30, x30, x29\n", stream_below(&s, 4) ? 30 : 29);
		walk_access(30, 0);
		break;
	case 3: /* an address from data: the page, the device or what is before them */
		printf("\tslli x30, x%u, 55\n\tsrli x30, x30, 53\n\tadd x30, x30, x8\n", r);
		walk_access(30, 0);
		break;
	case 4:
		printf("\taddw x%u, x%u, x28\n\tadd x%u, x%u, x5\n", r, r, 10 + stream_below(&s, 6), r);
		/* comes into the range of 32 bits, and leaves it */
		printf("\tslli x30, x28, 28\n\t%s x%u, x30, x5\n", stream_below(&s, 2) ? "addw" : "subw", 10 + stream_below(&s, 6));
		break;
	case 5: /* a branch that always goes the same way */
		printf("\tbeq x7, x%u, w%u_%u_%u\n\tmul x%u, x28, x7\nw%u_%u_%u:\n", stream_below(&s, 2) ? 7 : 0, f, k, i, r, f, k,
		       i);
		break;
	case 6: /* a way out */
		printf("\tbeq x%u, x28, e%u_%u\n", r, f, k);
		break;
	case 7:
		walk_pointer(f, k, i);
		break;
	default:
		walk_real();
	}
}

/* Loops that add up numbers in f16 to f19; few of them store anything. */
static void walk_sum(unsigned f, unsigned k, unsigned i)
{
	char format = "ssdddddd"[stream_below(&s, 8)];
	unsigned a = 10 + stream_below(&s, 6), b = 10 + stream_below(&s, 6), sum = 16 + stream_below(&s, 4);

	switch (stream_below(&s, 8)) {
	case 0:
	case 1:
		printf("\tfl%c f%u, %u(x6)\n", format == 's' ? 'w' : 'd', a, 8 * stream_below(&s, 3));
		printf("\tf%s.%c f%u, f%u, f%u\n", stream_below(&s, 4) ? "add" : "sub", format, sum, sum, a);
		break;
	case 2:
		printf("\tfmadd.%c f%u, f%u, f%u, f%u\n", format, sum, a, b, sum);
		break;
	case 3:
		printf("\tfdiv.%c f%u, f%u, f%u\n\tfadd.%c f%u, f%u, f%u\n", format, a, a, b, format, sum, sum, a);
		break;
	case 4:
		if (stream_below(&s, 2)) { /* what a NaN looks like */
			printf("\tfadd.d f%u, f%u, f%u\n\tfmv.x.d x14, f%u\n\tadd x15, x15, x14\n", a, a, b, a);
			break;
		}
		if (stream_below(&s, 2)) {
			printf("\tfsd f%u, %u(x6)\n", sum, 8 * stream_below(&s, 3));
			break;
		}
		/* what goes before and behind may leave the loop within a round */
		printf("\tfle.%c x14, f%u, f%u\n\tadd x15, x15, x14\n", format, a, b);
		break;
	case 5:
		printf("\tld x30, %u(x2)\n\tfld f%u, 0(x30)\n", POINTER, a);
		break;
	case 6:
		printf("\tlw x16, %u(x2)\n\tandi x16, x16, 3\ni%u_%u_%u:\n\tfld f%u, 8(x6)\n\tfadd.d f%u, f%u, f%u\n", INNER, f, k, i, a, sum, sum, a);
		printf("\taddi x16, x16, -1\n\tbgtz x16, i%u_%u_%u\n", f, k, i);
		break;
	default:
		printf("\tfld f%u, 0(x6)\n\tfmul.%c f%u, f%u, f%u\n\tfadd.%c f%u, f%u, f%u\n", a, format, a, a, b, format, sum, sum, a);
	}
}

/* x5 counts to x31, which @end knows. */
static void walk_count(unsigned end, unsigned rounds)
{
	static const char *const begin[] = { "li x5, %u", "li x5, %u*3-1", "li x31, %u*2", "addi x5, x9, -%u", "addi x5, x6, %u*4" };

	fputc('\t', stdout);
	printf(begin[end], rounds);
	printf(end == 2 ? "\n\tli x5, 0\n" : "\n");
}

static void walk_end(unsigned end, unsigned f, unsigned k)
{
	static const char *const ends[] = {
		"add x6, x6, x7\n\taddiw x5, x5, -1\n\tbnez x5",
		"addi x5, x5, -3\n\tadd x6, x6, x7\n\tbgtz x5",
		"addi x5, x5, 2\n\tsub x6, x6, x7\n\tbltu x5, x31",
		"addi x6, x6, 8\n\taddi x5, x5, 1\n\tblt x5, x9",
		"addi x6, x6, 4\n\tbne x6, x5",
	};

	printf("\t%s, w%u_%u\n", ends[end], f, k);
}

/* x6 walks by x7, x28 is an index to x29. */
static void walk(unsigned f, unsigned k)
{
	static const unsigned strides[] = { 4, 8, -8u, 1, 12, 0, 4096, 65536 };
	unsigned rounds = pick((const unsigned[]){ 1, 3, 4, 9, 40, 200 }, 6), end = stream_below(&s, 5);
	bool faults = walk_begin((int)pick(strides, stream_below(&s, 4) ? 6 : 8));

	walk_count(end, faults && rounds > 9 ? 18 : rounds);
	printf("w%u_%u:\n", f, k);
	for (unsigned i = 0; i < 2 + stream_below(&s, 6); i++) {
		if (f % 3)
			walk_step(f, k, i);
		else
			walk_sum(f, k, i);
	}
	printf("\taddiw x28, x28, %u\n", stream_below(&s, 8) ? 1 + stream_below(&s, 2) : 0);
	walk_end(end, f, k);
	printf("e%u_%u:\n", f, k);
}

/* What a stream of plain instructions does not have; @slot is memory of this function that streams do not reach. */
static void special(unsigned f, unsigned k, int slot)
{
	unsigned r = 10 + stream_below(&s, 6);
	bool quiet = f % 5 < 2 || f + 24 > FUNCTIONS; /* calls of such functions often return without a stop */

	switch (stream_below(&s, quiet ? 5 : 12)) {
	case 0:
	case 1:
	case 2: /* a call, direct or through another link register */
		if (f + 1 < FUNCTIONS) {
			unsigned to = f + 1 + stream_below(&s, FUNCTIONS - f - 1);

			if (to > f + 6)
				to = f + 6 < FUNCTIONS ? f + 6 : FUNCTIONS - 1;
			printf("\tjal %s, f%u%s\n", k & 1 ? "x5" : "x1", to, k & 1 ? "_link" : "");
		}
		break;
	case 3: /* a loop */
		printf("\tli x5, %u\n\tsw x5, %d(x2)\nl%u_%u:\n", 2 + stream_below(&s, 3), slot, f, k);
		body(1 + stream_below(&s, 6));
		printf("\tlw x5, %d(x2)\n\taddi x5, x5, -1\n\tsw x5, %d(x2)\n\tbnez x5, l%u_%u\n", slot, slot, f, k);
		break;
	case 4: /* a jump table */
		printf("\tandi x5, x%u, 3\n\tslli x5, x5, %u\n\tla x6, t%u_%u\n", r, bytes == 8 ? 3 : 2, f, k);
		printf("\tadd x6, x6, x5\n\t%s x6, 0(x6)\n\tjr x6\n", load);
		printf("\t.pushsection .rodata\n\t.balign %u\nt%u_%u:", bytes, f, k);
		for (unsigned i = 0; i < 4; i++)
			printf("\t%s c%u_%u_%u\n", word, f, k, i);
		printf("\t.popsection\n");
		for (unsigned i = 0; i < 4; i++) {
			printf("c%u_%u_%u:\n", f, k, i);
			body(2);
		}
		break;
	case 5:
		printf("\tecall\n");
		break;
	case 6:
		if (bytes == 8) /* rounding to nearest, or not */
			printf("\tcsrwi fcsr, %u\n", stream_below(&s, 2) ? 1 : stream_below(&s, 32));
		else
			printf("\tcsrrw x%u, mscratch, x%u\n", r, 10 + stream_below(&s, 6));
		break;
	case 7: /* may fault */
		printf("\tlw x%u, %d(x%u)\n\tsw x5, %d(x%u)\n", r, (int)stream_below(&s, 64), r, (int)stream_below(&s, 64), r);
		break;
	case 8:
		printf("\t.half 0xffff, 0xffff\n");
		break;
	case 9: /* an instruction into whose middle a branch goes */
		printf("\tbeqz x%u, 1f + 2\n1:\t.word 0x00010013 | 0x00010000\n", r);
		break;
	case 10: /* an indirect call that nothing announces */
		printf("\tla x6, g%u_%u\n\tj%s x6\n\tnop\ng%u_%u:\n", f, k, k & 1 ? "alr x5," : "r", f, k);
		break;
	case 11:
		printf("\tfence\n\trdinstret x%u\n", r);
		break;
	}
}

static void function(unsigned f)
{
	int slot = -2044 + 16 * (int)f;

	printf("\t.type f%u_link, @function\nf%u_link:\n\tmv x1, x5\n", f, f);
	printf("\t.type f%u, @function\nf%u:\n\t%s x1, %d(x2)\n", f, f, store, slot + 8);
	s.no_csr = f % 4 != 0; /* few change the rounding mode, which sends all that follows to the interpreter */
	for (unsigned k = 0; k < 3; k++) {
		body(4 + stream_below(&s, 12));
		special(f, k, slot);
	}
	body(3);
	printf("\t%s x1, %d(x2)\n", load, slot + 8);
	if (f % 7 == 3 && f + 1 < FUNCTIONS)
		printf("\tj f%u\n", f + 1); /* a tail call; it saves x1 again */
	else if (f % 7 != 5 || f + 1 == FUNCTIONS)
		printf("\tret\n"); /* or falls into the next one's other entry */
	else
		printf("\tmv x5, x1\n");
}

/*
 * Cases that random loops hardly ever reach: a sum of 32 bits that overflows in the first round of a chunk but not in
 * the last one, and the reverse; an index of 32 bits that passes zero, upwards and downwards, where the memory on only
 * one side of zero is the program's; a pointer that changes in the middle of the rounds, after a step that is counted;
 * NaNs that no longer exist at the end of their round.
 */
static const char *const rare[] = {
	"li x28, -12\n\tli x5, 10\n\taddi x6, x2, 64\n"
	"0:\tslli x30, x28, 28\n\taddw x10, x30, x5\n\tadd x11, x11, x10\n\tlw x12, 0(x6)\n"
	"\taddi x6, x6, 4\n\taddiw x28, x28, 1\n\taddiw x5, x5, -1\n\tbnez x5, 0b",
	"li x28, 1\n\tli x5, 14\n\taddi x6, x2, 64\n"
	"0:\tslli x30, x28, 28\n\taddw x10, x30, x5\n\tadd x11, x11, x10\n\tlw x12, 0(x6)\n"
	"\taddi x6, x6, 4\n\taddiw x28, x28, 1\n\taddiw x5, x5, -1\n\tbnez x5, 0b",
	"li x28, -6\n\tli x5, 12\n\taddi x6, x2, 64\n\tslli x29, x28, 32\n\tsrli x29, x29, 30\n\tsub x29, x6, x29\n"
	"0:\tslli x30, x28, 32\n\tsrli x30, x30, 30\n\tadd x30, x30, x29\n\tlw x10, 0(x30)\n\tadd x11, x11, x10\n"
	"\taddiw x28, x28, 1\n\taddiw x5, x5, -1\n\tbnez x5, 0b",
	"li x28, 6\n\tli x5, 12\n\taddi x29, x2, 64\n"
	"0:\tslli x30, x28, 32\n\tsrli x30, x30, 30\n\tadd x30, x30, x29\n\tlw x10, 0(x30)\n\tadd x11, x11, x10\n"
	"\taddiw x28, x28, -1\n\taddiw x5, x5, -1\n\tbnez x5, 0b",
	"sd x2, 0x380(x2)\n\tsd x2, 0x388(x2)\n\tli x28, 0\n\tli x5, 40\n\taddi x6, x2, 0x388 - 15 * 8\n\taddi x29, x2, 8\n"
	"0:\tld x30, 0x380(x2)\n\taddi x28, x28, 1\n\tld x31, 0x388(x2)\n\tadd x11, x11, x28\n\tlw x10, 0x100(x30)\n"
	"\tlw x12, 0x104(x31)\n\txor x13, x13, x31\n\taddi x31, x31, 1\n\tsd x29, 0(x6)\n"
	"\taddi x6, x6, 8\n\taddiw x5, x5, -1\n\tbnez x5, 0b",
	"li x14, 3\n\tli x5, 60\n\taddi x6, x2, 64\n\tfcvt.d.w f12, x14\n"
	"0:\tfld f10, 0(x6)\n\tfadd.d f11, f10, f12\n\tfmul.d f13, f11, f12\n\tfmv.x.d x14, f13\n\tadd x15, x15, x14\n"
	"\taddi x6, x6, 8\n\taddiw x5, x5, -1\n\tbnez x5, 0b",
};
#define RARE (sizeof(rare) / sizeof(*rare))

static void walks(void)
{
	printf("\t.option norelax\n\t.text\n\t.globl _start\n_start:\n");
	for (unsigned f = 0; f < WALKS; f++) {
		printf("\t.org %u, 1\n", f * WALK); /* 0x0101 is a nop */
		if (f < RARE)
			printf("\t%s\n", rare[f]);
		else
			walk(f, 0);
		printf("\tecall\n\tj .\n");
	}
}

int main(int argc, char **argv)
{
	if (argc > 1)
		s.seed = strtoull(argv[1], NULL, 0) * 0x9e3779b97f4a7c15ull + 1;
	if (argc > 2 && !strcmp(argv[2], "walks")) {
		walks();
		return 0;
	}
	if (argc > 2 && atoi(argv[2]) == 64) {
		s.xlen = 64;
		s.floats = s.atomics = true;
		load = "ld", store = "sd", word = ".dword";
		bytes = 8;
	}
	printf("\t.option norelax\n\t.text\n\t.globl _start\n\t.type _start, @function\n_start:\n");
	printf("1:\tjal x1, f0\n\tjal x1, f1\n\tecall\n\tj 1b\n");
	for (unsigned f = 0; f < FUNCTIONS; f++)
		function(f);
	return 0;
}
