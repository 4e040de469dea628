/* SPDX-License-Identifier: MIT */
/**
 * DOC: Which domains get a task's CGAs (spec CGA-11, CGA-12, CGA-14 .. CGA-18)
 *
 * A CGA of one level consists of CGAs of the level below, so to place one means to place its parts in domains inside
 * its own domain. Every domain that has changed is asked at which speed a part would fit (query_cache.h); each domain
 * of the highest speed gets one part, and then the domains are asked again. nested_search.h does the same with parts
 * that have parts themselves. One search is called a session.
 */
#ifndef CGA_SEARCH_H
#define CGA_SEARCH_H

#include "groups/trial_launch.h"

#define SEARCH_NO_IDENTITY 0xffu
#define SEARCH_WORDS 1024u /* words of commands that a visit has the time to place CGAs for */
#define SEARCH_CGA_WORDS 12u /* a CGA takes as long as so many words, even if it has fewer */
#define SEARCH_MARGIN (COMMAND_RECORD + COMMAND_OWED) /* words: end of the ring, and what is owed to others */
_Static_assert(SEARCH_MARGIN < COMMAND_WORDS, "there is room for a CGA");

#define CGA_UNEVEN 0xffu
#define CGA_NESTING (3 * TUTTI_CGA_LEVELS / 4) /* words */

/** struct cga - the CGAs of one task's grid. */
struct cga {
	struct query_ask ask;   /* what the innermost CGAs need */
	union {
		struct {
			uint8_t kind[TUTTI_CGA_LEVELS];
			uint16_t parts[TUTTI_CGA_LEVELS]; /* CGAs of the level below in one of this level; [0]: CTAs */
		};
		uint32_t nesting[CGA_NESTING]; /* all of them, for comparison */
	};
	uint8_t levels;         /* levels of nesting */
	uint8_t identity;       /* index of the level that has ids, DSMEM and a barrier */
	uint8_t lmem;           /* each identity CGA owns a linear memory slot */
	uint8_t usual;          /* the innermost CGAs lie in GPCs and have ids, but no memory slots */
	uint8_t quick;          /* @usual, with one level, and all SMs may be used */
	uint8_t step;           /* 1 if there is one level: innermost CGAs are outermost CGAs */
	uint16_t ctas;          /* in one outermost CGA */
	uint16_t identities;    /* identity CGAs in one outermost CGA */
	uint8_t log;            /* log2(@ctas); CGA_UNEVEN if @ctas is not a power of two */
	const uint32_t *mask;   /* SMs that may be used; NULL: all */
	uint32_t passed;        /* sessions that found no room while others were placed */
	uint32_t head, life;    /* words of a record (without its length) and of an identity: search_bind() */
	uint32_t words;         /* most words of commands that one outermost CGA can need */
	uint16_t most;          /* outermost CGAs that a visit has time for */
	uint16_t used_most;     /* words in the command ring beside which there is room for them */
	/* what cga_again() compares */
	uint32_t one[2];        /* words of the only level; 0 if the description was made in another way */
	uint32_t limits;        /* cga_limits() for which it was found to fit an idle card ... */
	uint32_t changes;       /* ... while shapes.changes was this */
};

struct task;

/** search_init() - forget all cached answers. */
void search_init(void);
/** search_bind() - the CGAs belong to @task: prepare the words that are the same in all its records. */
void search_bind(struct cga *cga, const struct task *task);
/**
 * search_run() - place about @n CTAs of @task, at least one outermost CGA if it fits. Call domain_sync() before.
 * Return: CTAs placed; if at least one whole CGA was not, search_end() tells why
 */
uint32_t search_run(struct task *task, struct cga *cga, uint32_t n);
/** search_parts() - trial_parts() for the CGAs of the session, quicker in the usual case. */
uint32_t search_parts(const struct cga *cga, const uint32_t *within, uint32_t left, int *speed);
/** search_quick() - search_run() for usual CGAs of one level while gpc_rows_lead(). */
uint32_t search_quick(struct task *task, struct cga *cga, uint32_t n);
/** enum search_end - why a session ended: done, no domain has room (FULL), or the command ring or the visit (ROOM). */
enum search_end { SEARCH_DONE, SEARCH_FULL, SEARCH_ROOM };
enum search_end search_end(void);
/** search_full() - end a session before it begins, because there is no room. Return: 0, the CTAs placed */
uint32_t search_full(void);

#endif
