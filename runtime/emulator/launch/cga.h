/* SPDX-License-Identifier: MIT */
/** DOC: CGAs from launch to flush (spec CGA-23, CGA-26) */
#ifndef TUTTI_EMULATOR_LAUNCH_CGA_H
#define TUTTI_EMULATOR_LAUNCH_CGA_H

#include "emulator/sm/array.h"

int cga_create(struct sm_array *array);
void cga_destroy(struct sm_array *array);
/** cga_empty() - as after power-on. */
void cga_empty(struct sm_array *array);
/** cga_order() - the SM priority order has changed. */
void cga_order(struct sm_array *array);
/** cga_open() - the CGA with @id of @gpc, new or being launched by @slot; NULL if that cannot be. */
struct cga *cga_open(struct sm_array *array, unsigned gpc, unsigned id, unsigned slot);
/** cga_add() - @cta is launched as part of @cga. Return: false if it cannot be part of it. */
bool cga_add(struct sm_array *array, struct cga *cga, struct cta *cta);
/** cga_close() - END_OF_CGA: tables are written. Return: false if CTAs are missing. */
bool cga_close(struct sm_array *array, struct cga *cga);
/** cga_complete() - @cta has ended. */
void cga_complete(struct sm_array *array, struct cta *cta);
/** cga_report_faults(), cga_report_done() - to events. Return: false if the event ring is full. */
bool cga_report_faults(struct sm_array *array, bool *any);
bool cga_report_done(struct sm_array *array, bool *any);
/** cga_kill() - engines are paused: CGAs of @slot lose what they have staged and waiting. */
void cga_kill(struct sm_array *array, unsigned slot);
/** sm_array_flush() - command FLUSH: SMs at positions @mask of @gpc forget CGA @id. -EINVAL: it still runs. */
int sm_array_flush(struct sm_array *array, unsigned gpc, unsigned id, uint32_t mask);
/** sm_array_flush_lmem() - command FLUSH of a linear memory slot. */
int sm_array_flush_lmem(struct sm_array *array, unsigned slot);

#endif
