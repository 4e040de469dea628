// SPDX-License-Identifier: MIT
/* Functions and their instructions. */
#include <stdlib.h>
#include <string.h>

#include "program.h"

static int by_start(const void *a, const void *b)
{
	const struct function *fa = a, *fb = b;

	return fa->start < fb->start ? -1 : fa->start > fb->start;
}

void program_add(struct program *program, uint64_t start, const char *name)
{
	struct function *grown, *function;

	if (start - program->first >= program->bytes || start & 1)
		return;
	grown = realloc(program->function, (size_t)(program->functions + 1) * sizeof(*grown));
	if (!grown) {
		program->lacking = true;
		return;
	}
	program->function = grown;
	function = &grown[program->functions++];
	memset(function, 0, sizeof(*function));
	function->start = start;
	snprintf(function->name, sizeof(function->name), "%s", name);
}

/* By address, each address once, each function up to the next one. */
static void order_functions(struct program *program)
{
	int n = 0;

	qsort(program->function, (size_t)program->functions, sizeof(*program->function), by_start);
	for (int i = 0; i < program->functions; i++)
		if (!n || program->function[i].start != program->function[n - 1].start)
			program->function[n++] = program->function[i];
	program->functions = n;
	for (int i = 0; i < n; i++)
		program->function[i].end =
		    i + 1 < n ? program->function[i + 1].start : program->first + program->bytes;
}

static bool decode_function(const struct program *program, struct function *function)
{
	uint64_t pc = function->start, left;

	function->step = calloc((function->end - function->start) / 2 + 1, sizeof(*function->step));
	if (!function->step)
		return false;
	while (pc < function->end) {
		struct step *step = &function->step[function->steps++];
		uint32_t raw = 0;

		left = program->first + program->bytes - pc;
		memcpy(&raw, program->code + (pc - program->first), left < 4 ? left : 4);
		cpu_decode(raw, program->xlen, &step->insn);
		if (step->insn.bytes > left) /* the interpreter finds the rest of it, which may be in the next page */
			step->insn = (struct cpu_insn){.op = CPU_ILLEGAL, .bytes = step->insn.bytes};
		step->pc = pc;
		pc += step->insn.bytes;
	}
	return true;
}

bool program_order(struct program *program)
{
	if (program->lacking)
		return false;
	order_functions(program);
	for (int i = 0; i < program->functions; i++)
		program->lacking |= !decode_function(program, &program->function[i]);
	return !program->lacking;
}

int program_find(const struct program *program, uint64_t pc)
{
	int low = 0, high = program->functions;

	while (low < high) {
		int middle = (low + high) / 2;

		if (program->function[middle].start <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low && pc < program->function[low - 1].end ? low - 1 : NOWHERE;
}

int function_step(const struct function *function, uint64_t pc)
{
	int low = 0, high = function->steps;

	while (low < high) {
		int middle = (low + high) / 2;

		if (function->step[middle].pc < pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low < function->steps && function->step[low].pc == pc ? low : NOWHERE;
}

void program_fini(struct program *program)
{
	for (int i = 0; i < program->functions; i++) {
		for (int s = 0; s < program->function[i].steps; s++)
			free(program->function[i].step[s].chunk);
		free(program->function[i].step);
	}
	free(program->function);
	free(program->pointer);
	free(program->hit);
	free(program->code);
}
