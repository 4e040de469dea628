/* SPDX-License-Identifier: MIT */
/*
 * Loops done in chunks (translate/chunk.h). A chunk has rounds 0 to "last". All that can be known before is looked at before
 * the first of them; what must hold of values that move is looked at in the first and the last round, since what moves by the
 * same distance each time, and not too far, is between the two in all others.
 */
#ifndef CPU_GENERATED_CHUNK_H
#define CPU_GENERATED_CHUNK_H

#define CHUNK_MOST 4096u /* instructions; other threads wait that long for a run to end */
#define CHUNK_LEAST 3u	 /* rounds for which all this looking is worth its time */
#define WAIT	    8u	 /* how often the loop goes round without all this looking after that was in vain */
#define UNCOUNTED 63u	 /* rounds but one, where it is not known how many there will be */

/* Memory near the addresses of accesses relative to one register: where it pointed when the function ran last */
#define PLACE(name, base) struct cpu_near near_##name = c->near[base]

/* @margin: instructions that have to be left for the usual code; @steps: of a round. */
#define CHUNK(name, margin, steps)                                                          \
	__label__ not;                                                                      \
	const uint64_t limit = LIMIT;                                                       \
	ux last, round = 0;                                                                 \
	if (wait_##name) {                                                                  \
		wait_##name--;                                                              \
		goto N_##name;                                                              \
	}                                                                                   \
	if (cpu_unlikely(n + (margin) > limit))                                             \
		goto N_##name;                                                              \
	last = (limit - n - (margin)) / (steps)
#define ROUNDS(taken, name, steps)                                                          \
	do {                                                                                \
		const ux most = (taken);                                                    \
		if (last > CHUNK_MOST / (steps))                                            \
			last = CHUNK_MOST / (steps);                                        \
		if (cpu_unlikely(last < CHUNK_LEAST))                                       \
			goto N_##name;                                                      \
		if (--last > most)                                                          \
			last = most;                                                        \
		if (last < CHUNK_LEAST - 1)                                                 \
			goto N_##name;                                                      \
	} while (0)
/*
 * What the host has computed is right unless it has raised a flag other than "inexact", or made a NaN. A flag that
 * something else has left costs time, and nothing else.
 */
#if defined(__x86_64__)
#define SETTLE(v) __asm__ volatile("" : "+x"(v)) /* it is computed before the flags are read */
static inline __attribute__((always_inline)) uint32_t host_flags(void)
{
	uint32_t control;

	__asm__ volatile("stmxcsr %0" : "=m"(control));
	return control & CPU_HOST_FLAGS;
}
#elif defined(__aarch64__)
#define SETTLE(v) __asm__ volatile("" : "+w"(v))
static inline __attribute__((always_inline)) uint64_t host_flags(void)
{
	uint64_t status;

	__asm__ volatile("mrs %0, fpsr" : "=r"(status));
	return status & CPU_HOST_FLAGS;
}
#else
#define SETTLE(v)    (void)0
#define host_flags() 0 /* c->host_flags is false */
#endif

#if defined(__FMA__) || defined(__aarch64__)
#define LATER_IF(fused, name) do { if (!c->host_flags) goto N_##name; } while (0)
#else
#define LATER_IF(fused, name) do { if (!c->host_flags || (fused)) goto N_##name; } while (0)
#endif

#define MUST(condition) do { if (cpu_unlikely(!(condition))) goto not; } while (0)

/* How often a branch is taken that is taken while a value is not equal to, or below, one that is @distance away. */
static inline __attribute__((always_inline)) ux rounds_to(ux distance, sx by)
{
	const ux way = by < 0 ? -distance : distance, each = by < 0 ? -(ux)by : (ux)by;

	return way % each ? ~(ux)0 : way / each;
}

static inline __attribute__((always_inline)) ux rounds_below(bool below, ux distance, sx by)
{
	return below ? (distance - 1) / (ux)by + 1 : 0;
}

/* A distance so small that no chunk is long enough to go once round all numbers */
#define CALM(w)		  ((w) + (1ull << 49) < 1ull << 50)
#define IS_WORD(v)	  (WORD(v) == (v))
#define WORDS(v, w)	  (CALM(w) && IS_WORD(v) && IS_WORD((v) + (w) * last))
/* Shifted right by @bits, it moves by what its distance becomes, since no lower bits matter and it does not pass zero. */
#define STEADY(v, w, bits) \
	(CALM(w) && !((w) & ((1ull << (bits)) - 1)) && ((sx)(w) < 0 ? (v) + (w) * last <= (v) : (v) + (w) * last >= (v)))

static inline __attribute__((always_inline)) bool is_near(const struct cpu_near *near, ux first, ux last, bool store)
{
	const uint64_t most = store ? near->store : near->load;

	return first - near->first < most && last - near->first < most;
}

/* It is not inline to spare time of the compiler. */
static __attribute__((noinline, unused)) bool reach_far(struct cpu *c, struct cpu_near *near, unsigned base, ux va, ux end, bool store)
{
	*near = c->near[base];
	if (cpu_likely(is_near(near, va, end, store)))
		return true;
	return c->help->remembered(c, va, near) && is_near(near, va, end, store);
}

/* All accesses of the chunk that begin at @va are to one piece of remembered memory, which is in @near then. */
static inline __attribute__((always_inline)) bool reach(struct cpu *c, struct cpu_near *near, unsigned base, ux va, ux distance,
							 ux last, bool store)
{
	const ux end = va + distance * last;

	return CALM(distance) && (cpu_likely(is_near(near, va, end, store)) || reach_far(c, near, base, va, end, store));
}

/* Accesses to addresses that vary */
#define LOAD_KNOWN(to, type, convert, address, base, miss)                                  \
	do {                                                                                \
		const ux va = (address);                                                    \
		if (cpu_unlikely(!KNOWN(va, base, load)))                                   \
			goto miss;                                                          \
		to = convert(*(const volatile cpu_##type *)HOST(va, base));                 \
	} while (0)
#define STORE_KNOWN(data, type, address, base, miss)                                        \
	do {                                                                                \
		const ux va = (address);                                                    \
		if (cpu_unlikely(!KNOWN(va, base, store)))                                  \
			goto miss;                                                          \
		*(volatile cpu_##type *)HOST(va, base) = (cpu_##type)(data);                \
	} while (0)

#endif
