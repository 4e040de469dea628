// SPDX-License-Identifier: MIT
/* The card of a scenario, its policies, its contexts and queues. */
#include "scenario/scenario.h"

/* Any kernel of a scenario still fits an empty SM. */
static void capacity(struct tutti_discovery *d)
{
	d->peu_waves = (uint16_t)(4 + roll(5));
	d->scalar_blocks = (uint16_t)(24 + roll(9));
	d->vector_blocks = (uint16_t)(24 + roll(9));
	d->shared_blocks = (uint16_t)(64 + roll(65));
	d->barriers = (uint16_t)(8 + roll(9));
	d->cta_slots = (uint16_t)(4 + roll(29));
	d->cga_ids = (uint16_t)(8 << roll(6));
	d->lmem_slots = (uint16_t)(1 + roll(64));
}

void setup_boot(void)
{
	unsigned i, all = 0, g;

	if (ALLOWED(CARD_TINY)) {
		hal_host_gpcs = 1;
		hal_host_gpc[0] = (uint16_t)(1 + roll(8));
	} else if (ALLOWED(CARD_RAGGED)) {
		hal_host_gpcs = 2 + roll(4);
		for (i = 0; i < hal_host_gpcs; i++)
			hal_host_gpc[i] = (uint16_t)(2 + roll(11));
	} else if (ALLOWED(CARD_GPCS)) {
		hal_host_gpcs = 11 + roll(54);
		for (i = 0; i < hal_host_gpcs; i++)
			hal_host_gpc[i] = (uint16_t)(1 + roll(4));
	} else if (ALLOWED(CARD_144)) {
		hal_host_gpcs = 8;
		for (i = 0; i < 8; i++)
			hal_host_gpc[i] = 18;
	} else {
		hal_host_gpcs = roll(4) ? 16 : 64;
		for (i = 0; i < hal_host_gpcs; i++)
			hal_host_gpc[i] = hal_host_gpcs == 64 ? 16 : (uint16_t)(17 + roll(3));
	}
	for (i = 0; i < hal_host_gpcs; i++)
		all += hal_host_gpc[i];
	w.sms = all;
	w.gpcs = hal_host_gpcs;
	w.slots = hal_host_slots = ALLOWED(FEW_SLOTS) ? 2 + roll(5) : SLOTS;
	hal_host_acknowledge = ALLOWED(ACKNOWLEDGE);
	hal_host_capacity = ALLOWED(CAPACITY) ? capacity : NULL;
	firmware_boot(all);
	hal_host_gpcs = hal_host_slots = 0;
	hal_host_acknowledge = false;
	hal_host_capacity = NULL;
	((struct tutti_discovery *)hal_host.window)->features |= TUTTI_FEATURE_ENERGY;
	card_begin(all);
	for (g = F_CARD_TINY; g <= F_CARD_LARGE; g++)
		if (features_has(&w.scenario.allowed, g))
			feature_on(g);
	if (ALLOWED(CARD_GPCS))
		feature_on(F_CARD_GPCS);
}

static void policy(unsigned which, uint32_t value)
{
	int status = driver_ask(TUTTI_MSG_POLICY, which, value, 0);

	RULE(!status, "channel (SYS-08)", "policy %u = %x: status %d", which, value, status);
}

static void extreme_weights(void)
{
	static const uint32_t weights[] = {0, 1, 0xfffffe, 0xffffff},
			      both[] = {1, 0xffff0000, 0xffff, 0xffffffff, 0x10000, 0xffff0001},
			      windows[] = {0, 8, 1024, 1u << 20, 1u << 31};
	unsigned i;

	for (i = 0; i < TUTTI_RESOURCES; i++)
		policy(TUTTI_POLICY_REMAINING_WEIGHT, i << 24 | weights[roll(4)]);
	for (i = 0; i < TUTTI_CLASSES; i++)
		policy(TUTTI_POLICY_POWER_WEIGHT, i << 24 | weights[roll(4)]);
	policy(TUTTI_POLICY_COMBINE, both[roll(6)]);
	policy(TUTTI_POLICY_POWER_WINDOW, windows[roll(5)]);
}

/* Packets of a queue pass the number soon. */
static uint64_t some_start(void)
{
	static const uint64_t ends[] = {1ull << 31, 1ull << 32, 3ull << 32, 1ull << 63};

	return ends[roll(4)] - 1 - roll(12);
}

void setup_policies(void)
{
	static const uint8_t live[] = {F_BALANCE,    F_ROUND_ROBIN, F_CHOICE,	 F_SEARCH, F_ROTATE,
				       F_WINDOWS,    F_LOTS,	    F_OLDEST,	 F_CAP,	   F_SHAPES_ONE,
				       F_SHAPES_TWO, F_SHAPES_MANY, F_FEW_SLOTS, F_ORDER,  F_ORDER_ONE, F_ACKNOWLEDGE,
				       F_SHARED_REFS, F_CAPACITY, F_WEIGHTS, F_START, F_HIGHEST, F_PROFILE};
	static const uint8_t choices[] = {TUTTI_CHOICE_REMAINING, TUTTI_CHOICE_POWER, TUTTI_CHOICE_COMBINED,
					  TUTTI_CHOICE_REMAINING | TUTTI_CHOICE_LARGEST,
					  TUTTI_CHOICE_COMBINED | TUTTI_CHOICE_LARGEST};
	uint16_t order[144];
	unsigned i, k;

	policy(TUTTI_POLICY_ISSUE, ALLOWED(ROUND_ROBIN));
	if (ALLOWED(CHOICE)) {
		policy(TUTTI_POLICY_REMAINING_WEIGHT, roll(6) << 24 | roll(1000));
		policy(TUTTI_POLICY_POWER_WEIGHT, roll(7) << 24 | roll(1000));
		policy(TUTTI_POLICY_COMBINE, 1u << 16 | 2);
		policy(TUTTI_POLICY_CHOICE, choices[roll(5)]);
	}
	if (ALLOWED(WEIGHTS))
		extreme_weights();
	if (ALLOWED(SEARCH)) {
		policy(TUTTI_POLICY_SEARCH, roll(4));
		policy(TUTTI_POLICY_LEVEL_SEARCH, roll(3));
	}
	if (ALLOWED(ROTATE))
		policy(TUTTI_POLICY_SPLIT, 1);
	w.windows = ALLOWED(WINDOWS);
	if (!w.windows)
		policy(TUTTI_POLICY_WINDOW, 255u << 24);
	else
		for (i = 0; i < 4; i++)
			policy(TUTTI_POLICY_WINDOW, i << 24 | (1000 + roll(20000)));
	w.lots = ALLOWED(LOTS);
	policy(TUTTI_POLICY_SEED, w.lots ? 1 + roll(10000) : 0);
	w.cap = ALLOWED(CAP) ? 1 + roll(4) : 0;
	policy(TUTTI_POLICY_CTA_CAP, w.cap);
	if (ALLOWED(INDEPENDENT))
		policy(TUTTI_POLICY_SPLIT_ROUNDS, 1 + roll(6));
	if (ALLOWED(CGA_GPC) || ALLOWED(CGA_CPC) || ALLOWED(CGA_GPU))
		policy(TUTTI_POLICY_CGA_PATIENCE, roll(2) ? 0 : 1 + roll(20));
	for (i = 0; ALLOWED(ORDER_ONE) && i < 4; i++)
		policy(TUTTI_POLICY_SM_ORDER, roll(w.sms) << 16 | roll(w.sms));
	for (i = 0; ALLOWED(ORDER) && i < w.sms && w.sms <= 144; i++) {
		order[i] = (uint16_t)i;
		k = roll(i + 1);
		order[i] = order[k];
		order[k] = (uint16_t)i;
	}
	for (i = 0; ALLOWED(ORDER) && i < w.sms && w.sms <= 144; i++)
		policy(TUTTI_POLICY_SM_ORDER, i << 16 | order[i]);
	for (i = 0; i < sizeof(live); i++)
		if (features_has(&w.scenario.allowed, live[i]))
			feature_on(live[i]);
}

void setup_queues(void)
{
	unsigned i, late = roll(QUEUES);

	for (i = 0; i < QUEUES; i++) {
		struct program *program = &w.program[i];
		struct tutti_message m = {.type = TUTTI_MSG_CONTEXT_CREATE,
					  .context = {.asid = ASID + i / 2, .root = 4096}};

		program->id = i;
		program->asid = ASID + i / 2;
		program->buffer = ALLOWED(SHARED_REFS) && i + 1 < QUEUES ? i & ~1u : i;
		program->priority = roll(2) ? 5 : 1 + roll(10);
		program->progress_word = roll(2);
		program->slots = ALLOWED(POSTS_LATE) ? 2u << roll(6) : RING; /* they come round soon */
		program->flags = i == QUEUES - 1 ? 0 : TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB;
		if (program->flags && ALLOWED(OVERLAP) && roll(2))
			program->flags |= TUTTI_QUEUE_OVERLAP;
		if (program->flags && !roll(4))
			program->flags |= TUTTI_QUEUE_TABLE_DIFFS;
		if (program->flags && ALLOWED(PROFILE) && roll(2))
			program->flags |= TUTTI_QUEUE_PROFILE;
		if (ALLOWED(HIGHEST) && roll(2))
			program->highest = 1 + roll(program->priority);
		if (ALLOWED(START))
			program->first = some_start();
		if (i % 2 == 0)
			RULE(!driver_call(&m), "channel (SYS-08)", "context: status %d", m.status);
		if (program->flags) {
			m = (struct tutti_message){.type = TUTTI_MSG_RSB_CREATE,
						   .rsb = {.rsb = (uint16_t)i,
							   .asid = (uint16_t)program->asid,
							   .placement = roll(2),
							   .offset = 4096 + i * 1024u}};
			RULE(!driver_call(&m), "channel (SYS-08)", "reference buffer: status %d", m.status);
		}
		if (!ALLOWED(CREATE) || i != late) /* that one comes later */
			driver_create(program, true);
	}
}
