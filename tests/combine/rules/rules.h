/* SPDX-License-Identifier: MIT */
/* The rules from inside: what the files that judge commands ask of each other. What others may ask is in combine.h. */
#ifndef COMBINE_RULES_H
#define COMBINE_RULES_H

#include "combine.h"

/** job_of_this_life() - its queue has not been created anew since. */
bool job_of_this_life(const struct job *job);
/** rules_lose_rest() - the kernels of @failed's packet that have no slot and are @life, children included, issue no more. */
void rules_lose_rest(struct job *failed, enum life life);
/** program_advance() - go on to the oldest packet that is not over. */
void program_advance(struct program *program);
/** program_packets_open() - packets ahead of number @before that are not over; cancelled ones do not count. */
unsigned program_packets_open(const struct program *program, uint64_t before);

#endif
