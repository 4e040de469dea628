// SPDX-License-Identifier: MIT
/* What the soft core can access apart from local memory: the areas of softcore.h, and the device registers. */
#include "emulator/base/clock.h"
#include "emulator/base/profile.h"
#include "emulator/core/core.h"

#define REGISTERS_BYTES 0x1000u

struct area {
	uint64_t first, bytes;
	void *host; /* NULL = registers */
	uint8_t rights;
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int core_span(void *user, uint64_t va, enum cpu_access access, struct cpu_span *span)
{
	const struct tutti_card *card = ((struct core *)user)->card;
	const struct area areas[] = {
		{ TUTTI_CORE_ENGINES, TUTTI_PAGE_SIZE, card->page, CPU_MAY_LOAD | CPU_MAY_STORE },
		{ TUTTI_CORE_REGISTERS, REGISTERS_BYTES, NULL, CPU_MAY_LOAD | CPU_MAY_STORE },
		{ TUTTI_CORE_SMS, card_sm_bytes(card), card->sm_states, CPU_MAY_LOAD },
		{ TUTTI_CORE_CONTROL, card->discovery.doorbells.offset, card->bar, CPU_MAY_LOAD | CPU_MAY_STORE },
		{ TUTTI_CORE_CARD, least(card->discovery.memory_bytes, TUTTI_CORE_CARD_BYTES), card->memory,
		  CPU_MAY_LOAD | CPU_MAY_STORE },
	};

	for (unsigned i = 0; i < sizeof(areas) / sizeof(*areas); i++) {
		if (va - areas[i].first >= areas[i].bytes)
			continue;
		span->first = areas[i].first;
		span->bytes = areas[i].bytes;
		span->host = areas[i].host;
		span->rights = areas[i].rights;
		return 0;
	}
	return 1;
}

static int register_load(void *user, uint64_t va, unsigned bytes, uint64_t *value)
{
	struct core *core = user;

	*value = 0;
	switch (va - TUTTI_CORE_REGISTERS) {
	case TUTTI_REG_TIME_LO:
		core->latched = card_time(core->card);
		*value = (uint32_t)core->latched;
		break;
	case TUTTI_REG_TIME_HI:
		*value = core->latched >> 32;
		break;
	}
	return 0;
}

static int register_store(void *user, uint64_t va, unsigned bytes, uint64_t value)
{
	struct core *core = user;

	switch (va - TUTTI_CORE_REGISTERS) {
	case TUTTI_REG_HALT:
		core->halted = true;
		cpu_interrupt(core->cpu);
		break;
	case TUTTI_REG_MARK: /* the store that makes the mark counts too */
		profile_mark(core->card, (uint32_t)value, cpu_instructions(core->cpu) + 1);
		break;
	}
	return 0;
}

const struct cpu_bus core_bus = { core_span, register_load, register_store };
