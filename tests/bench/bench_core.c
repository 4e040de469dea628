/* SPDX-License-Identifier: MIT */
#include "bench_core.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/card/card.h"
#include "emulator/cpu/cpu.h"
#include "image/image.h"

#define LOCAL_BYTES (256u << 10)
#define RETURN (BENCH_SCRATCH + BENCH_SCRATCH_BYTES - 4096) /* the return address of the function that is called */
#define STACK_TOP RETURN
#define MOST 10000000 /* instructions of one call */

struct bench_core {
	struct cpu *cpu;
	struct cpu_regs regs;
	uint8_t *image, *local, *scratch;
};

static int find_span(void *user, uint64_t va, enum cpu_access access, struct cpu_span *span)
{
	struct bench_core *core = user;

	(void)access;
	if (va - BENCH_SCRATCH >= BENCH_SCRATCH_BYTES)
		return 1;
	*span = (struct cpu_span){ BENCH_SCRATCH, BENCH_SCRATCH_BYTES, core->scratch,
				   CPU_MAY_LOAD | CPU_MAY_STORE | CPU_MAY_FETCH, false };
	return 0;
}

static const struct cpu_bus bus = { .span = find_span };

static void load(struct bench_core *core)
{
	const struct tutti_image *image = (void *)core->image;

	for (uint32_t s = 0; s < image->segments; s++)
		memcpy(core->local + image->segment[s].address, core->image + image->segment[s].file_offset,
		       image->segment[s].file_bytes);
}

/* Ends with the firmware's first two instructions: gp. */
static int start(struct bench_core *core)
{
	const struct tutti_image *image = (void *)core->image;
	const struct cpu_config config = {
		.xlen = 32, .bus = &bus, .user = core, .flat = core->local, .flat_bytes = LOCAL_BYTES
	};

	if (cpu_create(&config, &core->cpu) || cpu_breakpoint(core->cpu, RETURN, true))
		return -EIO;
	core->regs.pc = image->entry;
	return cpu_run(core->cpu, &core->regs, 2) == CPU_STOP_SLICE ? 0 : -EIO;
}

/* The card has kept the image in its memory. */
static uint8_t *image_of(struct tutti_card *card, size_t *bytes)
{
	const uint8_t *bar = tutti_card_bar(card);
	const struct tutti_discovery *discovery = (const void *)bar;
	const struct tutti_control *control = (const void *)(bar + discovery->control.offset);
	uint8_t *image = malloc(control->image_bytes);

	*bytes = control->image_bytes;
	if (image)
		memcpy(image, bar + discovery->aperture + control->image_offset, *bytes);
	return image;
}

struct bench_core *bench_core_create(struct tutti_card *card)
{
	struct bench_core *core = calloc(1, sizeof(*core));
	size_t bytes;

	if (!core)
		return NULL;
	core->local = aligned_alloc(4096, LOCAL_BYTES);
	core->scratch = aligned_alloc(4096, BENCH_SCRATCH_BYTES);
	core->image = image_of(card, &bytes);
	if (!core->local || !core->scratch || !core->image ||
	    image_check(core->image, bytes, LOCAL_BYTES, TUTTI_CONTRACT_VERSION, TUTTI_CONTRACT_VERSION) != TUTTI_IMAGE_OK) {
		bench_core_destroy(core);
		return NULL;
	}
	memset(core->local, 0, LOCAL_BYTES);
	memset(core->scratch, 0, BENCH_SCRATCH_BYTES);
	load(core);
	if (start(core)) {
		bench_core_destroy(core);
		return NULL;
	}
	return core;
}

void bench_core_destroy(struct bench_core *core)
{
	if (!core)
		return;
	cpu_destroy(core->cpu);
	free(core->image);
	free(core->local);
	free(core->scratch);
	free(core);
}

void *bench_core_scratch(struct bench_core *core)
{
	return core->scratch;
}

static const struct tutti_image_symbol *find(const struct bench_core *core, const char *function)
{
	const struct tutti_image *image = (const void *)core->image;
	const struct tutti_image_symbol *symbol = (const void *)(core->image + image->symbols_offset);

	for (uint32_t i = 0; i < image->symbols; i++)
		if (!strncmp(symbol[i].name, function, sizeof(symbol[i].name)))
			return &symbol[i];
	return NULL;
}

int64_t bench_core_call(struct bench_core *core, const char *function, const uint32_t arg[5], uint32_t *result)
{
	const struct tutti_image_symbol *symbol = find(core, function);
	uint64_t before = cpu_instructions(core->cpu);
	enum cpu_stop stop;

	if (!symbol)
		return -ENOENT;
	core->regs.x[1] = RETURN;
	core->regs.x[2] = STACK_TOP;
	for (int i = 0; i < 5; i++)
		core->regs.x[10 + i] = arg[i];
	core->regs.pc = symbol->address;
	stop = cpu_run(core->cpu, &core->regs, MOST);
	if (stop == CPU_STOP_SLICE)
		return -ETIME;
	if (stop != CPU_STOP_BREAKPOINT)
		return -EIO;
	if (result)
		*result = (uint32_t)core->regs.x[10];
	return (int64_t)(cpu_instructions(core->cpu) - before);
}
