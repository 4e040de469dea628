/* SPDX-License-Identifier: MIT */
/* Kernels of the tensor tests. */
#include <string.h>

#include "tutti/tmau.h"
#include "tensor.h"

TUTTI_KERNEL(tensor_job, struct args_tensor)
{
	const struct tensor_job *job = &args->job[tutti_cta_linear()];
	uint64_t *shared = tutti_shared(uint64_t, 0), *barrier = NULL;
	uint32_t words = job->shared_bytes / 8;

	if (!tutti_first_wave())
		return;
	for (uint32_t i = 0; i < words; i++)
		shared[i] = job->in[i];
	if (job->request.barrier != TUTTI_BARRIER_NONE && job->expect) {
		barrier = tutti_shared(uint64_t, job->request.barrier);
		tutti_mbarrier_init(barrier, 1);
	}
	for (uint64_t i = 0; i < (job->repeat ? job->repeat : 1); i++) {
		if (barrier)
			tutti_mbarrier_arrive_expect(barrier, job->expect);
		tutti_copy_request(&job->request);
		if (barrier)
			tutti_mbarrier_wait(barrier, (uint32_t)i);
	}
	if (!barrier)
		tutti_wait_all();
	for (uint32_t i = 0; i < words; i++)
		job->out[i] = shared[i];
}
