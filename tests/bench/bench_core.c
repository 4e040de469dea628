/* SPDX-License-Identifier: MIT */
#include "bench_core.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unicorn/unicorn.h>

#include "emulator/card/card.h"
#include "image/image.h"

#define LOCAL_BYTES (256u << 10)
#define RETURN (BENCH_SCRATCH + BENCH_SCRATCH_BYTES - 4096) /* the return address of the function that is called */
#define STACK_TOP RETURN
#define MOST 10000000 /* instructions of one call */

struct bench_core {
	uc_engine *uc;
	uint8_t *image, *local, *scratch;
	uint64_t instructions;
};

static void on_instruction(uc_engine *uc, uint64_t address, uint32_t bytes, void *data)
{
	struct bench_core *core = data;

	(void)bytes;
	core->instructions += address < LOCAL_BYTES;
	if (address == RETURN || core->instructions > MOST)
		uc_emu_stop(uc);
}

static void load(struct bench_core *core)
{
	const struct tutti_image *image = (void *)core->image;

	for (uint32_t s = 0; s < image->segments; s++)
		memcpy(core->local + image->segment[s].address, core->image + image->segment[s].file_offset,
		       image->segment[s].file_bytes);
}

/* The firmware's first two instructions: gp. */
static int enter(struct bench_core *core)
{
	const struct tutti_image *image = (void *)core->image;

	return uc_emu_start(core->uc, image->entry, ~0ull, 0, 2) ? -EIO : 0;
}

static int start(struct bench_core *core)
{
	uc_hook hook;

	if (uc_open(UC_ARCH_RISCV, UC_MODE_RISCV32, &core->uc) ||
	    uc_mem_map_ptr(core->uc, 0, LOCAL_BYTES, UC_PROT_ALL, core->local) ||
	    uc_mem_map_ptr(core->uc, BENCH_SCRATCH, BENCH_SCRATCH_BYTES, UC_PROT_ALL, core->scratch) ||
	    uc_hook_add(core->uc, &hook, UC_HOOK_CODE, (void *)on_instruction, core, (uint64_t)1, (uint64_t)0))
		return -EIO;
	return enter(core);
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
	*(uint32_t *)(core->scratch + (RETURN - BENCH_SCRATCH)) = 0x0000006f; /* j . */
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
	if (core->uc)
		uc_close(core->uc);
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
	uint32_t ra = RETURN, sp = STACK_TOP, a0 = 0;

	if (!symbol)
		return -ENOENT;
	uc_reg_write(core->uc, UC_RISCV_REG_RA, &ra);
	uc_reg_write(core->uc, UC_RISCV_REG_SP, &sp);
	for (int i = 0; i < 5; i++)
		uc_reg_write(core->uc, UC_RISCV_REG_A0 + i, &arg[i]);
	core->instructions = 0;
	if (uc_emu_start(core->uc, symbol->address, ~0ull, 0, 0))
		return -EIO;
	uc_reg_read(core->uc, UC_RISCV_REG_A0, &a0);
	if (result)
		*result = a0;
	return core->instructions <= MOST ? (int64_t)core->instructions : -ETIME;
}
