/* SPDX-License-Identifier: MIT */
/** DOC: Shared memory of other CTAs, and linear memory of CGAs (spec CGA-24) */
#ifndef TUTTI_EMULATOR_HART_DSMEM_H
#define TUTTI_EMULATOR_HART_DSMEM_H

#include "emulator/hart/hart.h"

int dsmem_create(struct sm_array *array);
void dsmem_destroy(struct sm_array *array);
void dsmem_empty(struct sm_array *array);
/** dsmem_announce() - the senders learn which SM has which rank, the receivers their segments. */
void dsmem_announce(struct sm_array *array, struct cga *cga);
/** dsmem_invalidate() - the receiver's entry of @cta goes. dsmem_release() - its waves send no more. */
void dsmem_invalidate(struct sm_array *array, const struct cta *cta);
void dsmem_release(struct sm_array *array, const struct cta *cta);
/** dsmem_forget() - flush: @sms of the GPC give their sm_cga_slot back. */
void dsmem_forget(struct sm_array *array, struct cga *cga, uint32_t sms);
/** dsmem_segment() - the receiver's table: where in all shared memory @rank's begins. Return: false if it has none. */
bool dsmem_segment(struct sm_array *array, const struct cga *cga, unsigned rank, uint64_t *at);
/**
 * dsmem_pointer() - where the running wave of @hart reaches @va of the DSMEM or LMEM window.
 * Return: NULL and @cause for what the source can detect; what the target detects is
 * reported and goes to a sink.
 */
void *dsmem_pointer(struct hart *hart, uint64_t va, unsigned bytes, uint8_t *cause);
/** dsmem_load(), dsmem_store() - for the bus: an access of @bytes by @hart's running wave. Return: 0 or the cause. */
int dsmem_load(void *hart, uint64_t va, unsigned bytes, uint64_t *value);
int dsmem_store(void *hart, uint64_t va, unsigned bytes, uint64_t value);

#endif
