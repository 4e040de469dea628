/* SPDX-License-Identifier: MIT */
/** DOC: Lists of waves and CTAs; included by sm.h, behind what they are lists of */
#ifndef TUTTI_EMULATOR_SM_LISTS_H
#define TUTTI_EMULATOR_SM_LISTS_H

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

static inline void cta_list_init(struct cta_list *list)
{
	list->head = NULL;
	list->tail = &list->head;
	list->count = 0;
}

static inline void cta_list_put(struct cta_list *list, struct cta *cta)
{
	cta->next = NULL;
	*list->tail = cta;
	list->tail = &cta->next;
	list->count++;
}

static inline struct cta *cta_list_take(struct cta_list *list)
{
	struct cta *cta = list->head;

	if (cta) {
		list->head = cta->next;
		if (!list->head)
			list->tail = &list->head;
		list->count--;
	}
	return cta;
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

/** cta_list_splice() - move all of @from to the end of @to. */
static inline void cta_list_splice(struct cta_list *to, struct cta_list *from)
{
	if (!from->head)
		return;
	*to->tail = from->head;
	to->tail = from->tail;
	to->count += from->count;
	cta_list_init(from);
}

#endif
