/* SPDX-License-Identifier: MIT */
/** DOC: Waves and lists of them */
#ifndef TUTTI_EMULATOR_SM_WAVE_H
#define TUTTI_EMULATOR_SM_WAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator/cpu/cpu.h"
#include "tutti/wave.h"

struct cta;
struct hart;
struct stack;
struct tutti_tensor_call;

#define WAVE_NO_SLOT 0xffffu

/** enum wave_wait - what a blocked wave waits for: room for a tensor request, served requests, an mbarrier's phase. */
enum wave_wait { WAIT_ROOM, WAIT_SERVED, WAIT_MBARRIER };

/** struct wave - a wave that has been started. */
struct wave {
	struct wave *next;
	struct wave *live_next, **live_link;
	struct cta *cta;
	struct hart *hart;
	uint16_t number;
	uint16_t slot; /* wave slot of the SM; WAVE_NO_SLOT until it is first needed */
	bool fresh; /* has not run yet */
	bool spun;
	bool info_special;
	bool cga_arrived;
	enum wave_wait wait;
	uint32_t wait_value;
	const uint64_t *wait_word;
	struct tutti_tensor_call *call; /* its newest tensor request; NULL if it never made one */
	struct stack *stack;
	uint64_t info_va;
	struct tutti_wave_info *info;
	uint64_t info_serial; /* serial of the task from which @info was filled */
	struct cpu_regs regs;
	uint32_t cga_phase; /* phase of the CGA's barrier in which it arrived */
	uint16_t service;   /* the service that it has asked of the firmware */
	uint64_t argument[3];
};

struct wave_list {
	struct wave *head, **tail;
};

static inline void wave_list_init(struct wave_list *list)
{
	list->head = NULL;
	list->tail = &list->head;
}

static inline void wave_list_put(struct wave_list *list, struct wave *wave)
{
	wave->next = NULL;
	*list->tail = wave;
	list->tail = &wave->next;
}

static inline struct wave *wave_list_take(struct wave_list *list)
{
	struct wave *wave = list->head;

	if (wave) {
		list->head = wave->next;
		if (!list->head)
			list->tail = &list->head;
	}
	return wave;
}

/** wave_list_splice() - move all of @from to the end of @to. */
static inline void wave_list_splice(struct wave_list *to, struct wave_list *from)
{
	if (!from->head)
		return;
	*to->tail = from->head;
	to->tail = from->tail;
	wave_list_init(from);
}

/** wave_list_move() - move all of @from to the empty @to. */
static inline void wave_list_move(struct wave_list *to, struct wave_list *from)
{
	wave_list_init(to);
	if (!from->head)
		return;
	to->head = from->head;
	to->tail = from->tail;
	wave_list_init(from);
}

/** struct cga_barrier - where the waves of a CGA meet: how many have arrived in this phase, and those that wait for its end. */
struct cga_barrier {
	uint32_t arrived, phase;
	struct wave_list waiting;
};

#endif
