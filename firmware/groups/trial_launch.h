/* SPDX-License-Identifier: MIT */
/**
 * DOC: What a search for domains has placed so far (spec CGA-15, CGA-16)
 *
 * LAUNCH records are written into the command ring but not published yet. The record of a part that turns out not to
 * fit, or that was only a trial, is read again to take the part back; what remains when the search ends is committed.
 */
#ifndef TRIAL_LAUNCH_H
#define TRIAL_LAUNCH_H

#include "core/command_ring.h"
#include "groups/cga_ids.h"
#include "groups/query_cache.h"

struct cga;
struct task;

/** struct trial_mark - a place in the command ring. */
struct trial_mark {
	uint32_t *next;
	uint32_t bias;
};

/** struct trial - the session (search) that is under way. */
struct trial {
	struct cga *cga;
	struct task *task;
	uint32_t n, most;          /* outermost CGAs wanted, and how many of them the command ring has room for */
	uint32_t left;             /* those of @most that are not placed yet */
	bool late;                 /* the visit had no time for those that are left; see search_short() */
	struct trial_mark first; /* where the first record is */
	uint32_t *last;            /* the record that was written last */
	uint16_t sequence;         /* of the outermost CGA being placed */
	uint32_t freed;            /* counts what may give CGAs room besides the end of CTAs: flushes, SMs no longer held */
	/* the identity of the parts that are being placed */
	struct gpc *gpc;
	unsigned id;
	uint32_t lmem;
};
extern struct trial trial;

/** trial_mark() - where the next record will be. */
static inline struct trial_mark trial_mark(void)
{
	return (struct trial_mark){ command_ring.next, command_ring.bias };
}

/** trial_identify() - the parts that follow belong to a new CGA; allocate its identity in @gpc. */
void trial_identify(struct gpc *gpc);
/**
 * trial_parts() - place innermost CGAs of any kind.
 * @within: innermost domains in which they may be; NULL: all
 * @left: how many
 * @speed: gets the speed of the last one
 * Return: how many are left
 */
uint32_t trial_parts(const uint32_t *within, uint32_t left, int *speed);
/** trial_end() - an outermost CGA is complete. */
void trial_end(void);
/** trial_undo() - take back what was placed since @mark; this restores the free lists too. */
void trial_undo(struct trial_mark mark);
/** trial_commit() - the search is over: update the lakes. @ctas: all CTAs placed, which the caller counts later */
void trial_commit(uint32_t ctas);

#endif
