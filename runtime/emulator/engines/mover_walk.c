// SPDX-License-Identifier: MIT
/*
 * Turns the dimensions of a mover descriptor into runs. What is contiguous on both sides is one run, however many
 * dimensions it spans.
 */
#include <string.h>

#include "emulator/engines/mover_parts.h"

static void add_dimension(struct walk *walk, uint64_t before, uint64_t count, uint64_t after, uint64_t stride,
			  uint64_t start)
{
	unsigned n = walk->dimensions;

	if (!before && !after && count == 1)
		return;
	/* Rows without fill that follow each other directly are one longer row. */
	if (!n && walk->run.row == walk->run.count && stride == walk->run.count) {
		uint64_t row = walk->run.row;

		walk->run.before = before * row;
		walk->run.count = count * row;
		walk->run.row = (before + count + after) * row;
		walk->at += start * row;
		return;
	}
	walk->outer[n].before = before;
	walk->outer[n].count = count;
	walk->outer[n].total = before + count + after;
	walk->outer[n].stride = stride;
	walk->outer[n].index = start;
	walk->dimensions++;
}

/* Let the walk of a box of @walk->total bytes go over the part of @bytes that begins @skipped behind its start. */
static bool part(struct walk *walk, uint64_t skipped, uint32_t bytes)
{
	bool good = skipped <= walk->total && bytes <= walk->total - skipped;

	walk->total = good ? bytes : 0;
	return good;
}

bool walk_start(struct walk *walk, const struct tutti_mover *d, const struct tutti_mover_shape *shape)
{
	bool clipped = d->flags & TUTTI_MOVER_CLIPPED, good = true;
	uint64_t skipped = 0;

	memset(walk, 0, sizeof(*walk));
	walk->global = d->global;
	walk->total = 1;
	if (d->flags & TUTTI_MOVER_LINEAR) {
		walk->run.row = walk->total = d->bytes;
		if (!(d->flags & TUTTI_MOVER_OUTSIDE))
			walk->run.count = d->bytes;
		return true;
	}
	walk->run.count = walk->run.row = shape->unit;
	for (unsigned k = 0; k < TUTTI_MOVE_DIMENSIONS; k++) {
		uint64_t before = clipped ? d->before[k] : 0, after = clipped ? d->after[k] : 0;
		uint64_t count = clipped ? d->count[k] : shape->count[k], start = d->flags & TUTTI_MOVER_PART ? d->start[k] : 0;

		good = good && (!start || start < before + count + after);
		add_dimension(walk, before, count, after, shape->stride[k], start);
		skipped += start * walk->total;
		if (__builtin_mul_overflow(walk->total, before + count + after, &walk->total))
			walk->total = 0; /* an error of the firmware; nothing is moved */
	}
	walk->total *= shape->unit;
	if (d->flags & TUTTI_MOVER_PART)
		good = part(walk, skipped * shape->unit, d->bytes) && good;
	return good;
}

void walk_piece(const struct walk *walk, struct piece *piece)
{
	uint64_t end = walk->run.before + walk->run.count;

	piece->filled = walk->at < walk->run.before || walk->at >= end;
	piece->fresh = walk->at == walk->run.before || !walk->done;
	piece->va = walk->global + (walk->at - walk->run.before);
	piece->bytes = (walk->at < walk->run.before ? walk->run.before : walk->at < end ? end : walk->run.row) - walk->at;
	for (unsigned k = 0; k < walk->dimensions; k++) {
		uint64_t step = walk->outer[k].index - walk->outer[k].before;

		piece->va += step * walk->outer[k].stride;
		if (step >= walk->outer[k].count) { /* before the first element or after the last one */
			piece->filled = true;
			piece->bytes = walk->run.row - walk->at;
		}
	}
	if (piece->bytes > walk->total - walk->done)
		piece->bytes = walk->total - walk->done;
}

/* Carry from dimension @k - 1 into dimension @k and those after it. */
static void carry(struct walk *walk, unsigned k)
{
	for (; k < walk->dimensions; k++) {
		if (++walk->outer[k].index < walk->outer[k].total)
			return;
		walk->outer[k].index = 0;
	}
}

void walk_advance(struct walk *walk, uint64_t bytes)
{
	walk->done += bytes;
	walk->at += bytes;
	if (walk->at < walk->run.row)
		return;
	walk->at = 0;
	carry(walk, 0);
}

uint64_t walk_rows(const struct walk *walk)
{
	uint64_t end = walk->outer[0].before + walk->outer[0].count, rows, left = walk->total - walk->done;

	if (walk->at || walk->run.row != walk->run.count || !walk->dimensions ||
	    walk->outer[0].index < walk->outer[0].before || walk->outer[0].index >= end)
		return 0;
	rows = end - walk->outer[0].index;
	return rows * walk->run.row <= left ? rows : left / walk->run.row;
}

void walk_skip(struct walk *walk, uint64_t rows)
{
	walk->done += rows * walk->run.row;
	walk->outer[0].index += rows;
	if (walk->outer[0].index < walk->outer[0].total)
		return;
	walk->outer[0].index = 0;
	carry(walk, 1);
}
