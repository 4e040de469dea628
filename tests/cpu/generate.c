// SPDX-License-Identifier: MIT
/*
 * generate [SEED [32 | 64]]: writes a random program as assembly: functions of random instructions with calls, loops, jump tables, ecalls,
 * CSRs, accesses that may fault, and jumps to unusual addresses. See stream.h for the registers.
 */
#include <stdio.h>
#include <stdlib.h>

#include "stream.h"

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

int main(int argc, char **argv)
{
	if (argc > 1)
		s.seed = strtoull(argv[1], NULL, 0) * 0x9e3779b97f4a7c15ull + 1;
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
