/* SPDX-License-Identifier: MIT */
/** DOC: CGAs from launch to flush (spec CGA-23, CGA-26) */
#ifndef TUTTI_EMULATOR_LAUNCH_CGA_H
#define TUTTI_EMULATOR_LAUNCH_CGA_H

#include "emulator/sm/array.h"

int cga_create(struct sm_array *array);
void cga_destroy(struct sm_array *array);
/** cga_empty() - forget all CGAs, as after power-on. */
void cga_empty(struct sm_array *array);
/** cga_order() - follow a change of the SM priority order. */
void cga_order(struct sm_array *array);
/** cga_open() - begin or continue the launch of CGA @id of @gpc by @slot. Return: NULL if it cannot be. */
struct cga *cga_open(struct sm_array *array, unsigned gpc, unsigned id, unsigned slot);
/** cga_add() - make the launched @cta a part of @cga. Return: false if it cannot be part of it. */
bool cga_add(struct sm_array *array, struct cga *cga, struct cta *cta);
/** cga_close() - write the tables of @cga, whose launch is complete. Return: false if CTAs are missing. */
bool cga_close(struct sm_array *array, struct cga *cga);
/** cga_complete() - count the completion of @cta, which has ended, in its CGA. */
void cga_complete(struct sm_array *array, struct cta *cta);
/** cga_report_faults(), cga_report_done() - put events for them. Return: false if the event ring is full. */
bool cga_report_faults(struct sm_array *array, bool *any);
bool cga_report_done(struct sm_array *array, bool *any);
/** cga_kill() - drop staged CTAs and waiting waves of the CGAs of @slot. Engines must be paused. */
void cga_kill(struct sm_array *array, unsigned slot);
/** sm_array_flush() - FLUSH of CGA @id on the SMs at positions @mask of @gpc. Return: -EINVAL if it still runs. */
int sm_array_flush(struct sm_array *array, unsigned gpc, unsigned id, uint32_t mask);
/** sm_array_flush_lmem() - execute the command FLUSH for a linear memory slot. */
int sm_array_flush_lmem(struct sm_array *array, unsigned slot);

#endif
