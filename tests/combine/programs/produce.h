/* SPDX-License-Identifier: MIT */
/* Programs from inside: what the files that write packets ask of each other. What others may ask is in combine.h. */
#ifndef COMBINE_PRODUCE_H
#define COMBINE_PRODUCE_H

#include "backend/backend.h"
#include "combine.h"

#define ALLOWED(f)     features_has(&w.scenario.allowed, F_##f)
#define MAYBE(f, odds) (ALLOWED(f) && !roll(odds))

#define CGA_KERNELS   24u /* kernels from here on declare CGAs ... */
#define WHOLE_KERNELS 28u /* ... and these declare that their waves are independent */

/* ---- kernels.c ---- */

/** kernel_domain_sms() - SMs of the largest domain of @kind. */
unsigned kernel_domain_sms(unsigned kind);
/** kernel_some_kind() - a kind of domain that CGAs of this scenario may have, 0: none. */
unsigned kernel_some_kind(void);
/** kernel_some_parts() - how many CTAs or parts a CGA in a domain of @kind may have. */
unsigned kernel_some_parts(unsigned kind);

/* ---- metadata.c ---- */

/** metadata_fill() - everything a record can say; what excludes something else comes first. Return: its number. */
unsigned metadata_fill(struct job *job, bool child);
/** metadata_whole() - CTAs of a CGA of @job, 1: it has none. */
void metadata_whole(struct job *job);
/** metadata_whole_x() - the same in the first dimension alone. */
uint32_t metadata_whole_x(const struct job *job);
/** metadata_cga() - a level of @parts parts, in one dimension or several. */
struct tutti_cga_shape metadata_cga(unsigned parts, unsigned kind);
/** metadata_cga_features() - note which features the CGAs of @job are. */
void metadata_cga_features(struct job *job);

/* ---- dispatch.c ---- */

struct job *job_new(struct program *program, struct entry *e, unsigned kernel);
/** job_signal() - @signal is the completion signal of @job. */
void job_signal(struct job *job, uint32_t signal);
/** packet_scopes() - header of a packet of @type: barrier bit and fences, noted in @e and in @job if there is one. */
void packet_scopes(struct job *job, struct entry *e, union tutti_packet *p, unsigned type);
/** packet_dispatch() - a plain packet; @many: its grid is large. */
void packet_dispatch(struct program *program, struct entry *e, union tutti_packet *p, bool many);

/**
 * packet_whole() - a CTA of 32 waves, which only an empty SM has room for, or a CGA of as many of them as the largest
 * domain of @kind has SMs.
 * Return: false: there is no kernel for it, or no metadata are left
 */
bool packet_whole(struct program *program, struct entry *e, union tutti_packet *p, unsigned level, unsigned kind);
/** packet_small() - a plain packet of few small CTAs or some more. */
void packet_small(struct program *program, struct entry *e, union tutti_packet *p);

/* ---- driver.c ---- */

/** reference_settled() - the packet that stores it is over. */
bool reference_settled(const struct reference *reference);

/* ---- condensed.c ---- */

/** packet_has_reference() - @program has stored a reference, so that it can write condensed packets. */
bool packet_has_reference(const struct program *program);
void packet_condensed(struct program *program, struct entry *e, union tutti_packet *p);

#endif
