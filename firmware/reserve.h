/* SPDX-License-Identifier: MIT */
/**
 * DOC: What a session reserves: LAUNCH records that are not published yet (spec CGA-15, CGA-16)
 *
 * Launch records are written where they will be sent: what fails, or was a trial, is taken back
 * by reading them; what remains at the end of the session is committed.
 */
#ifndef RESERVE_H
#define RESERVE_H

#include "answer.h"
#include "command.h"
#include "gpm.h"

struct cga;
struct task;

/** struct reserve_mark - a place in the command ring. */
struct reserve_mark {
	uint32_t *next;
	uint32_t bias;
};

/** struct reserve - the session at work. */
struct reserve {
	struct cga *cga;
	struct task *task;
	uint32_t n, most;          /* outermost CGAs wanted, and for how many there is room in the ring */
	uint32_t left;             /* of @most */
	struct reserve_mark first; /* before it */
	uint32_t *last;            /* record */
	uint16_t sequence;         /* of the outermost CGA being placed */
	/* identity of the parts being placed */
	struct gpc *gpc;
	unsigned id;
	uint32_t lmem;
};
extern struct reserve reserve;

static inline struct reserve_mark reserve_mark(void)
{
	return (struct reserve_mark){ command_ring.next, command_ring.bias };
}

/** reserve_identify() - the parts that follow are of a new CGA with an identity in @gpc. */
void reserve_identify(struct gpc *gpc);
/**
 * reserve_part() - one innermost CGA in @domain, whose answer was @speed.
 * @outermost: that is all of it
 * Return: false = another domain of the round has taken the last credit
 */
bool reserve_part(unsigned domain, int speed, bool outermost);
/** reserve_end() - an outermost CGA is complete. */
void reserve_end(void);
/** reserve_undo() - take back what was placed since @mark: free lists are as before then. */
void reserve_undo(struct reserve_mark mark);
/** reserve_commit() - what is launched is launched: lakes learn of it. @ctas: all of it; they are counted later */
void reserve_commit(uint32_t ctas);

#endif
