// SPDX-License-Identifier: MIT
#include "backend/cost.h"

#include <stdlib.h>
#include <string.h>

#define HALVES (128u << 10) /* of local memory */
#define SHOWN  8u

static uint16_t owner[HALVES];
static uint64_t *starts;
static struct cpu_function *functions, *kept;
static const struct tutti_image_symbol *symbols;
static uint32_t n;

void cost_begin(struct cpu *cpu, const struct tutti_image *image)
{
	uint32_t i, at;

	symbols = (const void *)((const uint8_t *)image + image->symbols_offset);
	n = image->symbols;
	starts = calloc(n, sizeof(*starts));
	functions = calloc(n, sizeof(*functions));
	memset(owner, 0, sizeof(owner));
	for (i = 0; i < n; i++) {
		starts[i] = symbols[i].address;
		for (at = symbols[i].address / 2; at < (symbols[i].address + symbols[i].bytes) / 2 && at < HALVES; at++)
			owner[at] = (uint16_t)(i + 1);
	}
	cpu_count(cpu, 0, HALVES, owner, starts, functions);
}

void cost_end(struct cpu *cpu, bool keep)
{
	cpu_count(cpu, 0, 0, NULL, NULL, NULL);
	free(starts);
	if (keep) {
		free(kept);
		kept = functions;
	} else {
		free(functions);
	}
}

void cost_print(FILE *file, uint64_t instructions)
{
	uint32_t i, k, most;

	fprintf(file, "#   %lu, of which\n", instructions);
	for (k = 0; k < SHOWN; k++) {
		for (most = i = 0; i < n; i++)
			if (kept[i].instructions > kept[most].instructions)
				most = i;
		if (!kept[most].instructions)
			break;
		fprintf(file, "#   %8lu in %lu calls of %s()\n", kept[most].instructions, kept[most].calls,
			symbols[most].name);
		kept[most].instructions = 0;
	}
	free(kept);
	kept = NULL;
}
