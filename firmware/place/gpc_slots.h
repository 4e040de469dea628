/* SPDX-License-Identifier: MIT */
/**
 * DOC: Hardware domains and what is free in them (spec CGA-04, CGA-11, CGA-14)
 *
 * The discovery data describe a tree: card, µGPUs, GPCs, CPCs. Domains of one kind stand in one table, and those
 * inside a larger domain are neighbours there. Each GPC has a lake of one word: row[s] is the set of its SMs with
 * more than s free slots, bit b being its b-th SM in the SM priority order. The place of a row is the speed of a
 * CGA whose last CTA it takes: placing moves the end of the rows and cuts one of them. The rows show one CTA shape
 * at a time; a session changes them and takes back what it does not launch.
 *
 * While CGAs of one shape are all that is resident, the rows are ahead of the card-wide lake of that shape, and
 * domain_settle() brings the lake up to date for anybody else.
 */
#ifndef GPC_SLOTS_H
#define GPC_SLOTS_H

#include "core/counters.h"
#include "place/cta_shape.h"

struct live_cga;

#define DOMAIN_EVEN 0x55555555u

#define DOMAIN_ROWS (FW_LARGE ? 320u : 352u) /* of all GPCs; of many GPCs fewer levels are seen at once */
#define DOMAIN_CPCS 192u
#define DOMAIN_KIND_CARD (TUTTI_CGA_GPU + 1) /* a grid: has one GPU domain in it */

/** struct domain_row - SMs of a GPC, and how many they are. */
struct domain_row {
	uint32_t mask;
	uint32_t count;
};

/** struct gpc - one GPC: its part of the query model and of the identities. */
struct gpc {
	struct domain_row *top; /* highest row that is not empty; below @row: none is */
	struct domain_row *row; /* row[-1] has more SMs than are ever asked for */
	struct live_cga *ids;    /* its CGAs */
	uint32_t all;           /* its SMs */
	uint32_t even;          /* DOMAIN_EVEN: the SMs of each TPC are neighbours, first one even; else all */
	uint16_t credits;       /* CGAs that can still run at once (spec CGA-17) */
	uint16_t credits_all;
	uint16_t first;         /* number of its first SM */
	uint16_t cpc;           /* its first CPC */
	uint8_t cpcs;
	uint8_t ugpu;
	uint8_t word, shift;    /* where its SMs begin in masks by position; shift 32 = they are scattered */
	uint8_t id_next;        /* free list of gpc_local_cga_ids */
	uint8_t number;         /* of the card's GPCs */
	uint8_t index;          /* in this table */
};

/** struct domain_table - the card. */
struct domain_table {
	uint32_t gpcs, cpcs, ugpus;
	struct gpc *end;        /* behind the last one */
	uint32_t levels;        /* rows each GPC has */
	uint32_t cpc[DOMAIN_CPCS]; /* SMs of each CPC */
	uint8_t cpc_gpc[DOMAIN_CPCS];
	uint8_t ugpu[TUTTI_MAX_GPCS + 1]; /* first GPC of each */
	bool moved;             /* the SM priority order has changed */
	/* what the rows show */
	struct shape *shape;
	uint32_t issued;        /* counters.ctas_issued when only we had placed something; see domain_sync() */
	uint32_t changes;       /* shapes.changes then */
	uint32_t asked;         /* what was asked of them (query_cache.h); 0 = nothing, they were made anew */
	bool dirty;
	bool lake_is_behind;    /* while gpc_rows_lead(): the lake shows CTAs that were there when that began */
	bool whole;             /* every SM is in some GPC */
	bool clipped;           /* some SM has more free slots than there are rows */
	uint8_t index[TUTTI_MAX_GPCS]; /* of the card's GPCs in @gpc */
	struct gpc gpc[TUTTI_MAX_GPCS];
};
extern struct domain_table domains;

/** struct domain_range - consecutive domains of one kind. */
struct domain_range {
	uint16_t first, n;
};

/* One multiplication, where gcc would make three shifts and sums of it. */
static inline struct gpc *domain_gpc(struct gpc *first, unsigned number)
{
	uint32_t size = sizeof(*first);

	__asm__("" : "+r"(size));
	return (struct gpc *)((char *)first + number * size);
}

void domain_init(void);
void domain_sync_slow(struct shape *shape);
/** domain_sync_masked() - the same, of SMs @mask only; not kept. */
void domain_sync_masked(struct shape *shape, const uint32_t *mask);
/** domain_scattered() - SMs of some GPC do not stand together in the SM priority order. */
bool domain_scattered(void);
/** domain_forget() - the rows show nothing any more that is of use. */
void domain_forget(void);
/** domain_settle() - the lake of the shape learns of CGAs that only the rows know of. */
void domain_settle(void);
/** domain_idle() - the rows show an idle card on which an enabled SM of @mask (NULL: any) takes @capacity CTAs. */
void domain_idle(uint32_t capacity, const uint32_t *mask);
/** domain_inside() - domains of @kind inside domain @number of @outer (DOMAIN_KIND_CARD: 0). */
struct domain_range domain_inside(unsigned kind, unsigned outer, unsigned number);
/** domain_scatter() - SMs @mask of a GPC by position: pairs (word, mask) in domain_part. Return: pairs. */
unsigned domain_scatter(const struct gpc *gpc, uint32_t mask);
extern uint32_t domain_part[32][2];
/** domain_sm() - number on the card of the SM at @bit of a GPC. */
unsigned domain_sm(const struct gpc *gpc, unsigned bit);
/** domain_pairs() - SMs of @mask whose TPC has both in it. */
uint32_t domain_pairs(const struct gpc *gpc, uint32_t mask);
/** domain_paired() - all SMs of @mask have their TPC's other one in it, and it is easily seen. */
static inline bool domain_paired(const struct gpc *gpc, uint32_t mask)
{
	return !((mask ^ mask >> 1) & gpc->even);
}
/** domain_raise() - @repeat CTAs ended on each SM of @mask. */
void domain_raise(struct gpc *gpc, uint32_t repeat, uint32_t mask);
/** domain_before() - of the SMs in row @level of @range, how many of the @n first by position each GPC has. */
void domain_before(struct domain_range range, const uint32_t *masks, uint32_t n, uint16_t *share);

/**
 * domain_sync() - the rows show what is free for @shape now.
 *
 * While gpc_rows_lead() nobody but us has placed anything, and whoever wants to settles first.
 */
static inline void domain_sync(struct shape *shape)
{
	if (unlikely(!gpc_rows_lead()) || unlikely(domains.shape != shape))
		domain_sync_slow(shape);
}

#endif
