/* SPDX-License-Identifier: MIT */
/* A processor on a piece of memory, for tests. */
#ifndef TESTS_CPU_RIG_H
#define TESTS_CPU_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"

#define RIG_BASE  0x10000ull
#ifndef RIG_BYTES
#define RIG_BYTES (1ull << 20)
#endif
#define RIG_TOP   (RIG_BASE + RIG_BYTES)

struct rig {
	struct cpu *cpu;
	struct cpu_regs regs;
	uint8_t *memory;
	uint8_t rights;
	unsigned asked; /* calls of rig_span() */
	unsigned xlen;
};

static inline int rig_span(void *user, uint64_t va, enum cpu_access access, struct cpu_span *span)
{
	struct rig *rig = user;

	rig->asked++;
	if (va < RIG_BASE || va >= RIG_TOP)
		return 1;
	*span = (struct cpu_span){ RIG_BASE, RIG_BYTES, rig->memory, rig->rights, false };
	return 0;
}

static const struct cpu_bus rig_bus = { rig_span, NULL, NULL };

static inline void rig_init(struct rig *rig, unsigned xlen)
{
	const struct cpu_config config = { .xlen = xlen, .bus = &rig_bus, .user = rig };

	memset(rig, 0, sizeof(*rig));
	rig->xlen = xlen;
	rig->memory = calloc(1, RIG_BYTES);
	rig->rights = CPU_MAY_LOAD | CPU_MAY_STORE | CPU_MAY_FETCH;
	if (!rig->memory || cpu_create(&config, &rig->cpu))
		abort();
	rig->regs.pc = RIG_BASE;
	rig->regs.x[2] = RIG_TOP;
}

static inline void rig_fini(struct rig *rig)
{
	cpu_destroy(rig->cpu);
	free(rig->memory);
}

static inline void rig_code(struct rig *rig, uint64_t at, const uint32_t *code, size_t words)
{
	memcpy(rig->memory + (at - RIG_BASE), code, words * 4);
}

static inline void rig_image(struct rig *rig, const char *path)
{
	FILE *file = fopen(path, "rb");

	if (!file || !fread(rig->memory, 1, RIG_BYTES, file)) {
		perror(path);
		exit(2);
	}
	fclose(file);
}

#endif
