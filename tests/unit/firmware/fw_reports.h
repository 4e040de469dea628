/* SPDX-License-Identifier: MIT */
/* What the firmware has told the host last: errors of queues (SYS-06). */
#ifndef TUTTI_TEST_FW_REPORTS_H
#define TUTTI_TEST_FW_REPORTS_H

#include "fw_rig.h"

/* The number of messages so far. */
static inline uint32_t messages_sent(void)
{
	const struct tutti_discovery *d = (const void *)hal_host.window;

	return ((const struct tutti_status *)(hal_host.window + d->status.offset))->card_ring_tail;
}

/* The newest message, which has to be an error of a queue. */
static inline const struct tutti_fault *reported(void)
{
	const struct tutti_discovery *d = (const void *)hal_host.window;
	const struct tutti_message *to_host = (const void *)(hal_host.window + d->card_ring.offset);
	const struct tutti_message *m = &to_host[(messages_sent() - 1) % (d->card_ring.bytes / sizeof(*m))];

	assert_int_equal(m->type, TUTTI_MSG_QUEUE_ERROR);
	return &m->fault;
}

/* The newest message says exactly this. */
static inline void expect_report(const struct tutti_fault *want)
{
	const struct tutti_fault *got = reported();

#define EXPECT_FIELD(field) if (got->field != want->field) \
		fail_msg(#field " is %#llx, not %#llx", (unsigned long long)got->field, (unsigned long long)want->field)
	EXPECT_FIELD(code);
	EXPECT_FIELD(engine);
	EXPECT_FIELD(access);
	EXPECT_FIELD(cause);
	EXPECT_FIELD(queue);
	EXPECT_FIELD(packet);
	EXPECT_FIELD(kernel);
	EXPECT_FIELD(context);
	EXPECT_FIELD(sm);
	EXPECT_FIELD(wave);
	EXPECT_FIELD(pc);
	EXPECT_FIELD(address);
	EXPECT_FIELD(field);
#undef EXPECT_FIELD
	assert_memory_equal(got, want, sizeof(*got));
}

#endif
