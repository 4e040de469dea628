// SPDX-License-Identifier: MIT
/* The program that everybody writes first: memory of the program's own, which the card copies. */
#include "example.h"

#define COUNT 250000u

struct arguments {
	const uint32_t *from;
	uint32_t *to;
	uint64_t count;
};

int main(int argc, char **argv)
{
	struct example example;
	struct arguments *arguments;
	struct kernel kernel;
	hsa_queue_t *queue;
	hsa_signal_t done;
	uint32_t *from = malloc(COUNT * sizeof(*from)), *to = malloc(COUNT * sizeof(*to)), wrong = 0;

	(void)argc;
	example_begin(&example, argv[0]);
	kernel = example_kernel(&example, "vector_copy");
	queue = example_queue(&example, NULL, NULL);
	done = example_signal(1);
	CHECK(hsa_memory_register(from, COUNT * sizeof(*from)));
	CHECK(hsa_memory_register(to, COUNT * sizeof(*to)));
	for (uint32_t i = 0; i < COUNT; i++) {
		from[i] = i * 2654435761u;
		to[i] = ~from[i];
	}
	arguments = example_arguments(&example, kernel.kernarg);
	*arguments = (struct arguments){from, to, COUNT};
	launch(queue, &kernel, COUNT, 256, arguments, done);
	example_wait(done);
	for (uint32_t i = 0; i < COUNT; i++)
		wrong += to[i] != from[i];
	printf("vector_copy: %u words, %u wrong\n", COUNT, wrong);

	CHECK(hsa_memory_deregister(from, COUNT * sizeof(*from)));
	CHECK(hsa_memory_deregister(to, COUNT * sizeof(*to)));
	CHECK(hsa_memory_free(arguments));
	CHECK(hsa_signal_destroy(done));
	CHECK(hsa_queue_destroy(queue));
	CHECK(hsa_executable_destroy(example.executable));
	CHECK(hsa_shut_down());
	free(from);
	free(to);
	return wrong != 0;
}
