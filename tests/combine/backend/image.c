// SPDX-License-Identifier: MIT
/* The firmware images as they are shipped, on the processor of the emulated card, which counts instructions. */
#include "backend/backend.h"
#include "combine.h"
#include "backend/cost.h"
#include "translation.h"

#include <stdlib.h>
#include <string.h>

#define LOCAL_BYTES (256u << 10)

/* Not there if the tree was built with TRANSLATE=no. */
extern const struct cpu_translation tutti_fw_translation __attribute__((weak));
extern const struct cpu_translation tutti_fw_large_translation __attribute__((weak));

const struct backend backend = {"instructions", 40000, 20000, 200000000};

/* A soft core with its image: one for cards of up to TUTTI_SMALL_CARD_SMS SMs, one for larger ones. */
struct core {
	const char *name;
	const struct cpu_translation *translation;
	struct tutti_image *image;
	uint8_t *local;
	struct cpu *cpu;
	struct cpu_regs regs;
	uint32_t no_event; /* address of the function in which it goes on when it has found no event */
	unsigned slot;	   /* of the event ring, where the next event goes */
};

static struct core cores[2] = {{.name = TUTTI_IMAGE_NAME, .translation = &tutti_fw_translation},
			       {.name = TUTTI_IMAGE_NAME_LARGE, .translation = &tutti_fw_large_translation}},
		   *core;
static uint32_t time_high; /* as of the newest read of the low half */
static FILE *explain;

/* ---- what it can access besides local memory ---- */

static int span(void *user, uint64_t va, enum cpu_access access, struct cpu_span *span)
{
	const struct {
		uint64_t first, bytes;
		void *host;
	} areas[] = {
	    {TUTTI_CORE_ENGINES, sizeof(hal_host.engines), &hal_host.engines},
	    {TUTTI_CORE_REGISTERS, 4096, NULL},
	    {TUTTI_CORE_SMS, w.sms * sizeof(hal_host.sms[0]), hal_host.sms},
	    {TUTTI_CORE_CONTROL, sizeof(hal_host.window), hal_host.window},
	    {TUTTI_CORE_CARD, sizeof(hal_host.card), hal_host.card},
	};

	for (unsigned i = 0; i < sizeof(areas) / sizeof(areas[0]); i++) {
		if (va - areas[i].first >= areas[i].bytes)
			continue;
		span->first = areas[i].first;
		span->bytes = areas[i].bytes;
		span->host = areas[i].host;
		span->rights = CPU_MAY_LOAD | CPU_MAY_STORE;
		return 0;
	}
	return 1;
}

static int register_load(void *user, uint64_t va, unsigned bytes, uint64_t *value)
{
	*value = 0;
	if (va == TUTTI_CORE_REGISTERS + TUTTI_REG_TIME_LO) {
		time_high = (uint32_t)(hal_host.time >> 32);
		*value = (uint32_t)hal_host.time;
	} else if (va == TUTTI_CORE_REGISTERS + TUTTI_REG_TIME_HI) {
		*value = time_high;
	}
	return 0;
}

static int register_store(void *user, uint64_t va, unsigned bytes, uint64_t value)
{
	if (va == TUTTI_CORE_REGISTERS + TUTTI_REG_HALT) {
		hal_host.halted = 1;
		cpu_interrupt(core->cpu);
	}
	return 0;
}

static const struct cpu_bus bus = {span, register_load, register_store};

/* ---- loading and running ---- */

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "combine-image: %s\n", what);
	exit(2);
}

static struct tutti_image *read_image(const char *name)
{
	char path[256];
	struct tutti_image *image = malloc(LOCAL_BYTES * 2);
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", COMBINE_IMAGES, name);
	file = fopen(path, "rb");
	must(file && image && fread(image, 1, LOCAL_BYTES * 2, file) > sizeof(*image), path);
	fclose(file);
	return image;
}

static void load(void)
{
	uint32_t i;

	memset(core->local, 0xa5, LOCAL_BYTES); /* memory is undefined at power-on */
	for (i = 0; i < core->image->segments; i++) {
		const struct tutti_image_segment *s = &core->image->segment[i];

		memcpy(core->local + s->address, (const uint8_t *)core->image + s->file_offset, s->file_bytes);
	}
}

/* The function in which the firmware goes on when it has found no event. */
static uint32_t no_event(const struct tutti_image *image)
{
	const struct tutti_image_symbol *symbol = (const void *)((const uint8_t *)image + image->symbols_offset);
	uint32_t i;

	for (i = 0; i < image->symbols && strcmp(symbol[i].name, "goes_on_unasked"); i++)
		;
	must(i < image->symbols, "the image has no function goes_on_unasked()");
	return symbol[i].address;
}

static void make(void)
{
	struct cpu_config config = {.xlen = 32, .bus = &bus, .flat_bytes = LOCAL_BYTES};

	core->image = read_image(core->name);
	core->local = config.flat = aligned_alloc(4096, LOCAL_BYTES);
	must(core->local && !cpu_create(&config, &core->cpu), "no memory");
	load();
	core->no_event = no_event(core->image);
	must(!core->translation || (cpu_translation_fits(core->translation, core->local, LOCAL_BYTES) &&
				    !cpu_translate(core->cpu, core->translation)),
	     "the translation is that of another image");
}

/* Translated code cannot be watched, and is five times as fast, so this is how most visits begin. */
#define UNWATCHED 8000u

/* Run on. @longest: raised to the instructions that this takes */
static enum cpu_stop run_part(uint64_t most, uint64_t *longest)
{
	uint64_t before = cpu_instructions(core->cpu), cost;
	enum cpu_stop stop = cpu_run(core->cpu, &core->regs, most);

	RULE(stop != CPU_STOP_FAULT, "crash", "the soft core traps at %lx, address %lx", cpu_fault(core->cpu)->pc,
	     cpu_fault(core->cpu)->address);
	cost = cpu_instructions(core->cpu) - before;
	if (cost > *longest)
		*longest = cost;
	return stop;
}

/* The same for one visit, and keep the functions of the longest one if they are asked for. */
static enum cpu_stop run_visit(uint64_t *longest)
{
	uint64_t before = *longest;
	enum cpu_stop stop;

	if (explain)
		cost_begin(core->cpu, core->image);
	stop = run_part(backend.hangs, longest);
	if (explain)
		cost_end(core->cpu, *longest > before);
	return stop;
}

/*
 * Run until it idles. A visit ends where the firmware has looked for another event and found none, even if it goes on.
 * Return: instructions of the longest visit, up to UNWATCHED of which may belong to visits before it
 */
static uint64_t run(void)
{
	uint64_t first = 0, longest = 0;
	enum cpu_stop stop = explain ? CPU_STOP_SLICE : run_part(UNWATCHED, &first);

	if (stop != CPU_STOP_SLICE)
		return first;
	must(!cpu_breakpoint(core->cpu, core->no_event, true), "no memory");
	stop = run_visit(&longest);
	longest += first;
	while (stop == CPU_STOP_BREAKPOINT)
		stop = run_visit(&longest);
	RULE(stop != CPU_STOP_SLICE, "visit (REL-11)", "a visit does not end");
	cpu_breakpoint(core->cpu, core->no_event, false);
	return longest;
}

void backend_boot(unsigned sms)
{
	core = &cores[sms > TUTTI_SMALL_CARD_SMS];
	if (!core->cpu)
		make();
	memset(&hal_host, 0, sizeof(hal_host));
	hal_host_discovery((struct tutti_discovery *)hal_host.window, sms);
	load();
	/* A broken rule ends a run at once, and so may have left the breakpoint set. */
	cpu_breakpoint(core->cpu, core->no_event, false);
	cpu_invalidate(core->cpu, 0, 0, false); /* the spans of a card of another size */
	memset(&core->regs, 0, sizeof(core->regs));
	core->regs.pc = core->image->entry;
	core->slot = 0;
	run();
}

uint64_t backend_event(const struct tutti_event *event)
{
	struct tutti_engines *e = &hal_host.engines;
	struct tutti_event *slot = backend_memory(e->event_base + core->slot * (uint32_t)sizeof(*slot));
	uint64_t cost;

	core->slot = (core->slot + 1) % e->event_slots;
	e->time_lo = (uint32_t)hal_host.time;
	e->time_hi = (uint32_t)(hal_host.time >> 32);
	*slot = *event;
	cost = run();
	if (explain)
		cost_print(explain, cost);
	explain = NULL;
	return cost;
}

void *backend_memory(uint32_t address)
{
	uint32_t limit = address < TUTTI_CORE_CARD ? LOCAL_BYTES : (uint32_t)sizeof(hal_host.card);
	uint32_t offset = address < TUTTI_CORE_CARD ? address : address - TUTTI_CORE_CARD;

	RULE(offset < limit, "command", "address %x of the soft core", address);
	return (address < TUTTI_CORE_CARD ? core->local : hal_host.card) + offset;
}

bool backend_explain(FILE *file)
{
	explain = file;
	return true;
}
