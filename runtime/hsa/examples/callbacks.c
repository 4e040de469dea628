// SPDX-License-Identifier: MIT
/*
 * Functions that the runtime calls: each launch is made by the handler of the one before it, and the last one ends with
 * a packet that no card takes, of which the queue's callback is told.
 */
#include "example.h"

#define LAUNCHES 20u

struct chain {
	struct kernel kernel;
	hsa_queue_t *queue;
	struct combine *arguments;
	hsa_signal_t done, stopped;
	hsa_status_t status;
	uint32_t launches;
};

static void on_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
	struct chain *chain = data;

	if (queue != chain->queue)
		return;
	chain->status = status;
	hsa_signal_store_screlease(chain->stopped, 0);
}

static bool next(hsa_signal_value_t value, void *data)
{
	struct chain *chain = data;
	struct kernel none = {0};

	(void)value;
	hsa_signal_store_relaxed(chain->done, 1);
	if (++chain->launches < LAUNCHES)
		launch(chain->queue, &chain->kernel, 1, 1, chain->arguments, chain->done);
	else
		launch(chain->queue, &none, 1, 1, NULL, chain->done);
	return chain->launches < LAUNCHES;
}

int main(int argc, char **argv)
{
	static struct chain chain;
	struct example example;
	uint64_t *value;
	bool right;

	(void)argc;
	example_begin(&example, argv[0]);
	chain.kernel = example_kernel(&example, "combine");
	chain.queue = example_queue(&example, on_error, &chain);
	chain.done = example_signal(1);
	chain.stopped = example_signal(1);
	value = example_arguments(&example, sizeof(*value));
	*value = 1;
	chain.arguments = example_arguments(&example, sizeof(*chain.arguments));
	*chain.arguments = (struct combine){value, value, value, 1, 1}; /* doubles it */
	CHECK(hsa_amd_signal_async_handler(chain.done, HSA_SIGNAL_CONDITION_LT, 1, next, &chain));
	launch(chain.queue, &chain.kernel, 1, 1, chain.arguments, chain.done);
	example_wait(chain.stopped);
	right = *value == 1u << LAUNCHES && chain.status == HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
	printf("callbacks: %u launches, the last one refused, %s\n", chain.launches, right ? "right" : "wrong");
	CHECK(hsa_queue_destroy(chain.queue));
	CHECK(hsa_shut_down());
	return !right;
}
