/* SPDX-License-Identifier: MIT */
/**
 * DOC: What a search for domains has placed so far (spec CGA-15, CGA-16)
 *
 * LAUNCH records are written where they will be sent, but are not published yet. What fails, or was only a trial,
 * is taken back by reading them; what remains at the end of the search is committed.
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

/** struct trial - the session at work. */
struct trial {
	struct cga *cga;
	struct task *task;
	uint32_t n, most;          /* outermost CGAs wanted, and for how many there is room in the ring */
	uint32_t left;             /* of @most */
	struct trial_mark first; /* before it */
	uint32_t *last;            /* record */
	uint16_t sequence;         /* of the outermost CGA being placed */
	/* identity of the parts being placed */
	struct gpc *gpc;
	unsigned id;
	uint32_t lmem;
};
extern struct trial trial;

static inline struct trial_mark trial_mark(void)
{
	return (struct trial_mark){ command_ring.next, command_ring.bias };
}

/** trial_identify() - the parts that follow are of a new CGA with an identity in @gpc. */
void trial_identify(struct gpc *gpc);
/**
 * trial_part() - one innermost CGA in @domain, whose answer was @speed.
 * @outermost: that is all of it
 * Return: false = another domain of the round has taken the last credit
 */
bool trial_part(unsigned domain, int speed, bool outermost);
/** trial_end() - an outermost CGA is complete. */
void trial_end(void);
/** trial_undo() - take back what was placed since @mark: free lists are as before then. */
void trial_undo(struct trial_mark mark);
/** trial_commit() - what is launched is launched: lakes learn of it. @ctas: all of it; they are counted later */
void trial_commit(uint32_t ctas);

#endif
