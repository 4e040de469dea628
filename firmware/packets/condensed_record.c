// SPDX-License-Identifier: MIT
#include "packets/condensed_record.h"

#include "core/queue_record.h"
#include "packets/reference.h"

COLD const uint32_t *condensed_entry(const struct queue *queue)
{
	const uint32_t *record = queue->record;

	if (*record & RECORD_GENERAL)
		return record + 1;
	return (const uint32_t *)&queue->rsb->table[*record >> RECORD_ENTRY_SHIFT & TUTTI_DIFF_REF];
}

COLD struct tutti_cga_shape condensed_cga(const struct queue *queue, uint32_t *flags)
{
	const uint32_t *e = condensed_entry(queue);
	union { uint32_t word[2]; struct tutti_cga_shape shape; } cga;

	/* a record is not aligned as a struct tutti_reference is */
	*flags = e[REFERENCE_AT(flags)] >> (16 + TUTTI_REFERENCE_KERNEL_SHIFT) & (TUTTI_KERNEL_LMEM | TUTTI_KERNEL_INDEPENDENT);
	words_copy(cga.word, e + REFERENCE_AT(cga), 2);
	return cga.shape;
}

COLD const uint32_t *condensed_kernel(const struct queue *queue, const uint32_t *record, uint32_t *state,
				 struct launch *launch)
{
	uint32_t what = *record++;
	const uint32_t *e = (const uint32_t *)&queue->rsb->table[what >> RECORD_ENTRY_SHIFT & TUTTI_DIFF_REF];

	if (what & RECORD_GENERAL) {
		e = record;
		record += RECORD_WORDS;
	}
	words_copy(state, e, TUTTI_TASK_WORDS);
	state[STATE_AT(asid)] = queue->asid_queue;
	state[STATE_AT(first)] = 0;
	state[STATE_AT(tmd)] = state[STATE_AT(tmd) + 1] = 0;
	state[STATE_AT(packet)] = (uint32_t)queue->run_packet;
	state[STATE_AT(packet) + 1] = (uint32_t)(queue->run_packet >> 32);
	launch->header = e[REFERENCE_AT(header)];
	launch->groups = e[REFERENCE_AT(groups)];
	if (what & RECORD_GRID) {
		state[STATE_AT(grid_x)] = *record++;
		state[STATE_AT(groups_x)] = *record++;
		launch->groups = *record++;
	}
	if (what & RECORD_KERNARG) {
		state[STATE_AT(kernarg)] = *record++;
		state[STATE_AT(kernarg) + 1] = *record++;
	}
	words_copy(launch->signal, e + REFERENCE_AT(signal), 2);
	if (what & RECORD_SIGNAL) {
		launch->signal[0] = *record++;
		launch->signal[1] = *record++;
	}
	return record;
}
