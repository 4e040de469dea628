/* SPDX-License-Identifier: MIT */
/**
 * DOC: Which domains get a task's CGAs (spec CGA-11, CGA-12, CGA-14 .. CGA-18)
 *
 * A CGA of one level consists of CGAs of the level below, so placing one means placing its parts in domains inside
 * its own domain: ask every domain that has changed how well a part would fit (query_cache.h), give one part to
 * each domain of the highest speed, and ask again. A domain whose parts have parts themselves is asked by placing
 * there and taking it back (trial_launch.h), unless it is the only one. One search is called a session.
 */
#ifndef CGA_SEARCH_H
#define CGA_SEARCH_H

#include "groups/trial_launch.h"

#define SEARCH_NO_IDENTITY 0xffu
#define SEARCH_MARGIN (COMMAND_RECORD + COMMAND_OWED) /* words: end of the ring, what is owed to others */
_Static_assert(SEARCH_MARGIN < COMMAND_WORDS, "there is room for a CGA");

/** struct cga - the CGAs of one task's grid. */
struct cga {
	struct query_ask ask;   /* the innermost ones */
	uint8_t levels;         /* of nesting, 0 = the task has no CGAs */
	uint8_t identity;       /* level that has ids, DSMEM and a barrier */
	uint8_t lmem;           /* identities own a linear memory slot */
	uint8_t usual;          /* innermost ones lie in GPCs and have ids, and no such slot */
	uint8_t quick;          /* that is all there is of it, and it may use all SMs */
	uint8_t step;           /* 1 = the innermost ones are the outermost ones */
	uint8_t kind[TUTTI_CGA_LEVELS];
	uint16_t parts[TUTTI_CGA_LEVELS]; /* of the level below in one of this; [0]: CTAs */
	uint32_t ctas;          /* of one outermost CGA */
	uint32_t identities;    /* in one outermost CGA */
	const uint32_t *mask;   /* SMs it may use; NULL: all */
	uint32_t passed;        /* sessions without room, while others went on */
	uint32_t head, life;    /* of a record without its length, of an identity: search_bind() */
	uint32_t words;         /* of commands, most that one outermost CGA can take */
};

struct task;

void search_init(void);
/**
 * search_fits() - how many outermost CGAs the rows have room for in a domain; the rows are spoilt.
 * @kind, @number: a domain as large as they need, or DOMAIN_KIND_CARD, 0
 * @enough: do not count beyond this
 */
unsigned search_fits(const struct cga *cga, unsigned kind, unsigned number, unsigned enough);
/** search_bind() - the CGAs are @task's. */
void search_bind(struct cga *cga, const struct task *task);
/**
 * search_run() - place about @n CTAs of @task, at least one outermost CGA if it fits; the rows are in step.
 * Return: CTAs placed; if a whole CGA was not, search_end() tells why.
 */
uint32_t search_run(struct task *task, struct cga *cga, uint32_t n);
/** search_quick() - the same for usual CGAs of one level while the rows lead. */
uint32_t search_quick(struct task *task, struct cga *cga, uint32_t n);
/** enum search_end - why a session ended: no domain has room, or the command ring has none. */
enum search_end { SEARCH_DONE, SEARCH_FULL, SEARCH_ROOM };
enum search_end search_end(void);
/** search_full() - one that ends before it begins. Return: 0, the CTAs placed */
uint32_t search_full(void);

#endif
