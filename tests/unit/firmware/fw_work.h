/* SPDX-License-Identifier: MIT */
/* A queue task, its work queue and a kernel that puts items into it, for tests of the firmware. */
#ifndef TUTTI_TEST_FW_WORK_H
#define TUTTI_TEST_FW_WORK_H

#include "fw_direct.h"

#include "core/task_record.h"

#define WORK 4u /* struct tmd[WORK] is used as the work queue, and the one behind it as an affinity mask */
#define WORK_AT (TMD_AT + WORK * sizeof(tmd[0]))
#define MASK_AT (WORK_AT + sizeof(tmd[0]))

static uint32_t work_us; /* coalescing timeout of the next queue task */

static inline struct tutti_work_queue *work(void)
{
	return (struct tutti_work_queue *)(void *)&tmd[WORK];
}

/* A queue task in queue 0, and a kernel of queue 1 that puts items. Return: the slot of the kernel */
static inline unsigned start_work(unsigned sms, unsigned slots, uint32_t flags, uint32_t least, uint32_t most)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);

	start(sms, slots);
	rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED);
	rig_queue(1, ASID, TUTTI_QUEUE_EXTENDED);
	*work() = (struct tutti_work_queue){ .base = TMD_AT, .items = 64, .item_bytes = 16 };
	tmd[0] = (struct tutti_tmd){
		.magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION, .type = TUTTI_TASK_QUEUE, .flags = flags,
		.queue = WORK_AT, .coalesce_min = least, .coalesce_max = most,
		.affinity = flags & TUTTI_TMD_AFFINITY ? MASK_AT : 0, .quota = flags & TUTTI_TMD_QUOTA ? 1 : 0,
		.throttle_sms = flags & TUTTI_TMD_THROTTLE ? 1 : 0, .coalesce_us = work_us,
	};
	((uint32_t *)(void *)&tmd[WORK + 1])[0] = 4;
	submit(1, &p);
	p.tmd = TMD_AT;
	p.grid_x = 32;
	submit(0, &p);
	return (unsigned)slot_of(1, 0);
}

static inline const struct task *consumer(void)
{
	for (unsigned slot = 0; slot < SLOTS; slot++)
		if (tasks[slot].state != TASK_FREE && tasks[slot].rare & TASK_WORK)
			return &tasks[slot];
	fail();
	return NULL;
}

static inline void put(unsigned producer, unsigned items)
{
	unsigned before = replies;

	work()->write_index += items;
	ask_for(TUTTI_SERVICE_QUEUE_NOTIFY, producer, TMD_AT);
	take();
	assert_int_equal(replies, before + 1);
	assert_int_equal(reply_value, 0);
}

#endif
