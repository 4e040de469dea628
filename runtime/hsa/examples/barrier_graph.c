// SPDX-License-Identifier: MIT
/*
 * A diamond of kernels on four queues, again and again: left and right need top, bottom needs both, and the next top
 * needs bottom. Each queue begins with a barrier packet that waits for signals of the others; the host writes everything
 * at once and the last kernel first, so that nothing but the barriers brings them into order. A barrier-OR tells when
 * the first of the two sides is done.
 */
#include "example.h"

#define ROUNDS 40u

enum node { TOP, LEFT, RIGHT, BOTTOM, NODES };

/**
 * struct graph - a signal, arguments and a result for each node of each round.
 * @either: for each round: one of the sides is done
 */
struct graph {
	struct kernel combine;
	hsa_queue_t *queue[NODES];
	hsa_signal_t done[ROUNDS][NODES], either[ROUNDS];
	struct combine *arguments;
	uint64_t *value;
};

static uint64_t *value_of(const struct graph *graph, unsigned round, enum node node)
{
	return &graph->value[round * NODES + node];
}

static void node(const struct graph *graph, unsigned round, enum node node, hsa_signal_t after, hsa_signal_t after_too)
{
	const hsa_barrier_and_packet_t barrier = {.dep_signal = {after, after_too}};

	submit(graph->queue[node], &barrier, HEADER(HSA_PACKET_TYPE_BARRIER_AND));
	launch(graph->queue[node], &graph->combine, 1, 1, &graph->arguments[round * NODES + node],
	       graph->done[round][node]);
}

static void describe(const struct graph *graph, unsigned round)
{
	const uint64_t *before = round ? value_of(graph, round - 1, BOTTOM) : &graph->value[ROUNDS * NODES];
	const uint64_t *top = value_of(graph, round, TOP), *left = value_of(graph, round, LEFT);
	const uint64_t *right = value_of(graph, round, RIGHT);
	const struct combine all[NODES] = {
		[TOP] = {value_of(graph, round, TOP), before, before, 2, 1},
		[LEFT] = {value_of(graph, round, LEFT), top, top, 3, 2},
		[RIGHT] = {value_of(graph, round, RIGHT), top, top, 1, 6},
		[BOTTOM] = {value_of(graph, round, BOTTOM), left, right, 11, 13},
	};

	memcpy(&graph->arguments[round * NODES], all, sizeof(all));
}

static void submit_round(const struct graph *graph, unsigned round)
{
	const hsa_signal_t none = {0}, *done = graph->done[round];
	const hsa_barrier_or_packet_t either = {.dep_signal = {done[LEFT], none, done[RIGHT]},
						.completion_signal = graph->either[round]};

	node(graph, round, BOTTOM, done[LEFT], done[RIGHT]);
	submit(graph->queue[BOTTOM], &either, HEADER(HSA_PACKET_TYPE_BARRIER_OR));
	node(graph, round, RIGHT, done[TOP], none);
	node(graph, round, LEFT, done[TOP], none);
	node(graph, round, TOP, round ? graph->done[round - 1][BOTTOM] : none, none);
}

static uint64_t expected(void)
{
	uint64_t x = 1;

	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t top = 3 * x;

		x = 11 * (5 * top) + 13 * (7 * top);
	}
	return x;
}

int main(int argc, char **argv)
{
	static struct graph graph;
	struct example example;
	uint64_t got;

	(void)argc;
	example_begin(&example, argv[0]);
	graph.combine = example_kernel(&example, "combine");
	graph.arguments = example_arguments(&example, ROUNDS * NODES * sizeof(*graph.arguments));
	graph.value = example_arguments(&example, (ROUNDS * NODES + 1) * sizeof(*graph.value));
	memset(graph.value, 0, ROUNDS * NODES * sizeof(*graph.value));
	graph.value[ROUNDS * NODES] = 1;
	for (unsigned n = 0; n < NODES; n++)
		graph.queue[n] = example_queue(&example, NULL, NULL);
	for (unsigned round = 0; round < ROUNDS; round++) {
		graph.either[round] = example_signal(1);
		for (unsigned n = 0; n < NODES; n++)
			graph.done[round][n] = example_signal(1);
		describe(&graph, round);
	}
	for (unsigned round = 0; round < ROUNDS; round++)
		submit_round(&graph, round);
	for (unsigned round = 0; round < ROUNDS; round++)
		example_wait(graph.either[round]);
	example_wait(graph.done[ROUNDS - 1][BOTTOM]);
	got = *value_of(&graph, ROUNDS - 1, BOTTOM);
	printf("barrier_graph: %u rounds on %u queues, %s\n", ROUNDS, NODES, got == expected() ? "right" : "wrong");
	CHECK(hsa_shut_down()); /* takes queues, signals and memory with it */
	return got != expected();
}
