/* SPDX-License-Identifier: MIT */
/**
 * DOC: Sessions: which domains get a task's CGAs (spec CGA-11, CGA-12, CGA-14 .. CGA-18)
 *
 * One machine over a table of levels. To place a CGA of one level is to place its parts,
 * CGAs of the level below, in domains inside its own: ask all that have changed, give one
 * part to each domain of the highest speed, ask again. A domain whose parts have parts
 * is asked by placing there and taking it back. Launch records are written where they will
 * be sent and not published: what fails, or was a trial, is taken back by reading them.
 */
#ifndef SESSION_H
#define SESSION_H

#include "gpm.h"
#include "mimic.h"

#define SESSION_NO_IDENTITY 0xffu

/** struct cga - the CGAs of one task's grid. */
struct cga {
	struct mimic_ask ask;   /* the innermost ones */
	uint8_t levels;         /* of nesting, 0 = the task has no CGAs */
	uint8_t identity;       /* level that has ids, DSMEM and a barrier */
	uint8_t lmem;           /* identities own a linear memory slot */
	uint8_t kind[TUTTI_CGA_LEVELS];
	uint16_t parts[TUTTI_CGA_LEVELS]; /* of the level below in one of this; [0]: CTAs */
	uint32_t ctas;          /* of one outermost CGA */
	uint32_t identities;    /* in one outermost CGA */
	uint32_t passed;        /* sessions without room, while others went on */
	uint32_t words;         /* most words its launch can take */
};

struct task;

void session_init(void);
/**
 * session_fits() - how many outermost CGAs the rows have room for in a domain; the rows are spoilt.
 * @kind, @number: a domain as large as they need, or DOMAIN_KIND_CARD, 0
 * @enough: do not count beyond this
 */
unsigned session_fits(const struct cga *cga, unsigned kind, unsigned number, unsigned enough);
/** enum session_end - why a session ended. */
enum session_end { SESSION_DONE, SESSION_FULL, SESSION_ROOM };
/**
 * session_run() - place up to @n outermost CGAs of @task; the rows are in step.
 * @launched: how many were
 */
enum session_end session_run(struct task *task, const struct cga *cga, uint32_t n, uint32_t *launched);
/** session_stale() - a GPC has other free slots or credits than when it was asked. */
void session_stale(const struct gpc *gpc);

#endif
