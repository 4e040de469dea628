// SPDX-License-Identifier: MIT
#include "packets/condensed_metadata.h"

#include "core/queue_record.h"
#include "core/state.h"
#include "core/visit.h"
#include "core/wait.h"
#include "tasks/grouped_tasks.h"
#include "tasks/metadata.h"
#include "tasks/pending_tasks.h"

COLD uint64_t condensed_tmd(const struct queue *queue)
{
	const uint32_t *e = condensed_entry(queue);

	return e[REFERENCE_AT(tmd)] | (uint64_t)e[REFERENCE_AT(tmd) + 1] << 32;
}

/* Checks everything about the kernel of the current record that could fail at its launch and can be known now. */
static int check(struct queue *queue, struct pending *p)
{
	const uint32_t *s = p->state;
	struct tutti_cga_shape cga = { 0 };
	struct tmd *tmd = NULL;
	uint32_t kernel_flags = 0;
	int code = *queue->record & RECORD_TMD ? tmd_get(queue, condensed_tmd(queue), &tmd) : 0;

	if (code)
		return code;
	if (*queue->record & RECORD_CGA)
		cga = condensed_cga(queue, &kernel_flags);
	return grouped_pend(p, tmd, cga, kernel_flags,
			shape_capacity(s[STATE_AT(scalar_blocks)], s[STATE_AT(shared_blocks)], s[STATE_AT(workgroup_z)] >> 16));
}

/*
 * The whole packet is checked before anything starts (PKT-18), and so are its metadata and whether its grids can be
 * divided into CGAs. Metadata are checked one after another, because no queue may hold one record while it waits for the
 * next. At its launch each kernel fetches its metadata again and uses that copy. queue->seen counts the kernels that have
 * passed; if the visit is late the others wait for the next one. Meanwhile another queue may replace a reference: then all of
 * them are checked again. The state to check lies on the stack: a packet that had to get a record for it would have to wait
 * for one again after each fetch of metadata.
 */
COLD int condensed_check_special(struct queue *queue, struct block *block)
{
	struct pending task;
	struct launch launch;
	bool any = false;
	unsigned i;
	int code = 0;

	if (queue->seen_generation != queue->rsb->generation)
		queue->seen = 0;
	queue->seen_generation = queue->rsb->generation;
	queue->record = block->record;
	for (i = 0; i < block->kernels && !code; i++) {
		const uint32_t *next = condensed_kernel(queue, queue->record, task.state, &launch);

		any |= *queue->record & RECORD_TMD;
		if (i >= queue->seen && *queue->record & (RECORD_TMD | RECORD_CGA))
			code = check(queue, &task);
		if (code == PACKET_PARKED)
			break;
		queue->record = next;
		packet_error.kernel = i;
		if (i < queue->seen)
			continue;
		queue->seen++;
		if (visit_late() && !code && i + 1 < block->kernels) {
			wait_ready(queue);
			code = PACKET_PARKED;
		}
	}
	if (code == PACKET_PARKED)
		return code;
	queue->seen = 0;
	tmd_drop(queue);
	/* a packet with metadata is never taken for the same again, as they may have changed by then */
	block->complete = !any && !code;
	return code ? code : BLOCK_CHECKED;
}
