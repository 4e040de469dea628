/* SPDX-License-Identifier: MIT */
/**
 * DOC: Hardware domains and what is free in them (spec CGA-04, CGA-11, CGA-14)
 *
 * The discovery data describe a tree: card, µGPUs, GPCs, CPCs. Domains of one kind are in one table, and those inside
 * a larger domain are neighbours there. Each GPC has rows of free slots, like a lake (water_fill.h) of one mask word:
 * row[s] is the set of its SMs with more than s free slots, where bit b is its b-th SM in the SM priority order. The
 * index of the row that takes the last CTA of a CGA is the speed of that CGA (spec CGA-11): a placement removes the
 * rows above it and some SMs of this one. The rows show the free slots of one CTA shape at a time; a search for
 * domains (a session) changes them and restores what it does not launch.
 *
 * While only CGAs of one shape are resident, the rows are ahead of the card-wide lake of that shape: launches and
 * completions update the rows alone, and domain_settle() brings the lake up to date before anybody else reads it.
 */
#ifndef GPC_SLOTS_H
#define GPC_SLOTS_H

#include "core/counters.h"
#include "place/cta_shape.h"

struct live_cga;

#define DOMAIN_EVEN 0x55555555u

#define DOMAIN_ROWS (FW_LARGE ? 320u : 352u) /* of all GPCs together; with many GPCs each has fewer rows */
#define DOMAIN_CPCS 192u
#define DOMAIN_KIND_CARD (TUTTI_CGA_GPU + 1) /* stands for the whole grid; it contains one domain, the GPU */

/** struct domain_row - a set of SMs of a GPC, and its size. */
struct domain_row {
	uint32_t mask;
	uint32_t count;
};

/** struct gpc - one GPC: its rows of free slots and its gpc_local_cga_ids. */
struct gpc {
	struct domain_row *top; /* highest row that is not empty; @row - 1 if all are empty */
	struct domain_row *row; /* row[-1] is a sentinel with a larger count than anybody asks for */
	struct live_cga *ids;    /* its live CGAs, by gpc_local_cga_id */
	uint32_t all;           /* mask of all its SMs */
	uint32_t even;          /* DOMAIN_EVEN if SMs 2i and 2i + 1 are a TPC; else all bits set */
	uint16_t credits;       /* CGAs that can still run at once (spec CGA-17) */
	uint16_t credits_all;
	uint16_t first;         /* number of its first SM on the card */
	uint16_t cpc;           /* index of its first CPC in the table of CPCs */
	uint8_t cpcs;
	uint8_t ugpu;
	uint8_t word, shift;    /* where its SMs begin in masks by position; shift 32 if they are scattered */
	uint8_t id_next;        /* first of the free list of gpc_local_cga_ids */
	uint8_t number;         /* of this GPC in the discovery data */
	uint8_t index;          /* of this GPC in the table of GPCs */
};

/** struct domain_table - all domains of the card, and what the rows show. */
struct domain_table {
	uint32_t gpcs, cpcs, ugpus;
	struct gpc *end;        /* one past the last GPC in use */
	uint32_t levels;        /* number of rows that each GPC has */
	uint32_t cpc[DOMAIN_CPCS]; /* mask of the SMs of each CPC, in its GPC */
	uint8_t cpc_gpc[DOMAIN_CPCS];
	uint8_t ugpu[TUTTI_MAX_GPCS + 1]; /* first GPC of each µGPU */
	bool scattered;         /* the SMs of some GPC are not consecutive in that order */
	/* what the rows show: the free slots for this shape; NULL if nothing that can be used */
	struct shape *shape;
	uint32_t issued;        /* counters.ctas_issued after the last placement that the rows know of */
	uint32_t changes;       /* shapes.changes when the rows were filled */
	uint32_t asked;         /* the question that query_cache.h has answers to; 0: none since the rows were filled */
	bool dirty;             /* the rows have to be filled again */
	bool lake_is_behind;    /* while gpc_rows_lead(): CTAs were resident when that began, and the lake shows them */
	bool whole;             /* every SM of the card is in some GPC of the table */
	bool clipped;           /* some SM has more free slots than there are rows */
	bool put_off;           /* the last search was left to the next visit, because its own had too few steps left */
	uint8_t index[TUTTI_MAX_GPCS]; /* from the number of a GPC in the discovery data to its index in @gpc */
	struct gpc gpc[TUTTI_MAX_GPCS];
};
extern struct domain_table domains;

/** struct domain_range - consecutive domains of one kind. */
struct domain_range {
	uint16_t first, n;
};

/* &first[number] with one multiplication, where gcc would use several shifts and additions. */
static inline struct gpc *domain_gpc(struct gpc *first, unsigned number)
{
	uint32_t size = sizeof(*first);

	__asm__("" : "+r"(size));
	return (struct gpc *)((char *)first + number * size);
}

/** domain_init() - read the domains of the card from the discovery data. */
void domain_init(void);
/** domain_swapped() - the SMs at two positions of the SM priority order have changed places; the card is empty. */
void domain_swapped(unsigned one, unsigned other);
/** domain_sync_slow() - see domain_sync(). */
bool domain_sync_slow(struct shape *shape);
/** domain_sync_masked() - fill the rows with what is free for @shape on SMs @mask; the next user refills them. */
bool domain_sync_masked(struct shape *shape, const uint32_t *mask);
/** domain_forget() - what the rows show has become useless. */
void domain_forget(void);
/** domain_settle() - update the lake of the shape with CGAs that only the rows know of. */
void domain_settle(void);
/** domain_any_free() - whether the rows have a free slot. */
bool domain_any_free(void);
/** domain_idle() - let the rows show an idle card: @capacity free slots on each enabled SM of @mask (NULL: any). */
void domain_idle(uint32_t capacity, const uint32_t *mask);
/** domain_inside() - the domains of @kind inside domain @number (0 for DOMAIN_KIND_CARD) of kind @outer. */
struct domain_range domain_inside(unsigned kind, unsigned outer, unsigned number);
/** domain_scatter() - SMs @mask of a GPC by position, as pairs (word, mask) in domain_part. Return: number of pairs */
unsigned domain_scatter(const struct gpc *gpc, uint32_t mask);
extern uint32_t domain_part[32][2];
/** domain_add() - add SMs @sms of a GPC to @mask, which is by position. */
void domain_add(const struct gpc *gpc, uint32_t sms, uint32_t *mask);
/** domain_sm() - the number on the card of the SM at @bit of a GPC. */
unsigned domain_sm(const struct gpc *gpc, unsigned bit);
/** domain_first() - the position of the first SM of @mask; in the high half that of the other SM of its TPC. */
uint32_t domain_first(const struct gpc *gpc, uint32_t mask);
/** domain_pairs() - the SMs of @mask for which the other SM of their TPC is in @mask too. */
uint32_t domain_pairs(const struct gpc *gpc, uint32_t mask);
/** domain_paired() - @mask consists of whole TPCs; false as well if that cannot be told quickly. */
static inline bool domain_paired(const struct gpc *gpc, uint32_t mask)
{
	return !((mask ^ mask >> 1) & gpc->even);
}
/** domain_raise() - give each SM of @mask @repeat more free slots, as after CTAs have ended. */
void domain_raise(struct gpc *gpc, uint32_t repeat, uint32_t mask);
/** domain_before() - add to @share how many of the first @n SMs (by position) of @masks are in each GPC of @range. */
void domain_before(struct domain_range range, const uint32_t *masks, uint32_t n, uint16_t *share);

/**
 * domain_sync() - make the rows show what is free for @shape now. Return: false if it takes another visit to know
 *
 * While gpc_rows_lead() the rows are exact: nothing but CGAs of this shape has been placed, because whoever places
 * anything else calls domain_settle() first.
 */
static inline bool domain_sync(struct shape *shape)
{
	if (unlikely(!gpc_rows_lead()) || unlikely(domains.shape != shape))
		return domain_sync_slow(shape);
	return true;
}

#endif
