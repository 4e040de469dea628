// SPDX-License-Identifier: MIT
/*
 * The post unit: what the firmware writes to memory by commands becomes visible in order, but a later FETCH may
 * overtake it. A release fence waits for it, and all of it is visible when the next event arrives.
 */
#include "card/card.h"

#define POSTS 64u

static struct post posts[POSTS];
static unsigned first, waiting;

void posts_begin(void)
{
	first = waiting = 0;
}

unsigned posts_waiting(void)
{
	return waiting;
}

static void scrub(const struct post *post)
{
	union tutti_packet *slot = memory_at(post->address, (uint32_t)post->value * 64);
	uint64_t i;

	for (i = 0; i < post->value; i++) {
		if (post->references)
			slot[i].dispatch.ref_num = 0;
		slot[i].dispatch.header = TUTTI_PACKET_INVALID;
	}
}

static void written(const struct post *post)
{
	struct program *program = &w.program[post->queue];

	RULE(program->alive && program->life == post->life, "destroy (SYS-08)",
	     "something is written for queue %u after its end", post->queue);
	switch (post->kind) {
	case POST_WRITE:
		memcpy(memory_at(post->address, 8), &post->value, 8);
		break;
	case POST_SCRUB:
		scrub(post);
		break;
	case POST_SIGNAL:
		rules_signal_is(post->address, post->cancel ? TUTTI_SIGNAL_CANCELLED : signals[post->address].value - 1);
		break;
	case POST_READ_INDEX:
		rules_read_index(program, post->value);
		break;
	}
}

void posts_write(unsigned n)
{
	struct post post;

	while (n-- && waiting) {
		post = posts[first];
		first = (first + 1) % POSTS;
		waiting--;
		written(&post);
	}
}

/* A FETCH may overtake posts of the same event, but no older ones. */
void posts_before(uint32_t tail)
{
	while (waiting && (int32_t)(posts[first].at - tail) < 0)
		posts_write(1);
}

void card_post(unsigned queue, struct post post)
{
	post.queue = (uint8_t)queue;
	post.life = (uint8_t)w.program[queue].life;
	post.at = hal_host.engines.command_head;
	if (waiting == POSTS)
		posts_write(1);
	posts[(first + waiting++) % POSTS] = post;
	if (!features_has(&w.scenario.allowed, F_POSTS_LATE))
		posts_write(1);
}
