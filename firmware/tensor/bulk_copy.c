// SPDX-License-Identifier: MIT
#include "tensor/bulk_copy.h"

#include "tensor/tensor_requests.h"

#define PIECE 0x40000000u /* most bytes that one mover descriptor copies */

bool bulk_start(int room)
{
	struct job *job = &tmau.job;
	const struct tutti_tensor_request *r = &job->call->request;

	job->kind = JOB_BLOCK;
	job->global = r->op == TUTTI_COPY_SHARED ? 0 : r->descriptor;
	job->word |= (uint32_t)(TUTTI_MOVER_LINEAR | TUTTI_MOVER_NO_SHAPE) << 8;
	return bulk_run(room);
}

bool bulk_run(int room)
{
	struct job *job = &tmau.job;

	for (; job->left && room > 0; room--) {
		uint32_t bytes = job->left < PIECE ? (uint32_t)job->left : PIECE;
		struct tutti_mover *m = mover_begin();

		*(uint32_t *)m = job->word;
		m->global = job->global;
		m->other = job->other;
		m->shared = job->shared;
		m->bytes = bytes;
		m->source = (uint32_t)job->call->request.other;
		m->type = job->call->request.type;
		mover_end();
		job->global += bytes;
		job->other += bytes;
		job->left -= bytes;
	}
	return !job->left;
}
