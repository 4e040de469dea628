// SPDX-License-Identifier: MIT
/*
 * Files from before a reset or a removal: every call fails with the right errno and does nothing, and mappings are
 * plain memory.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "table.h"

#define CALLS 32

/** struct stale - a file with valid arguments for each call, from before the event. */
struct stale {
	bool (*happen)(void);
	int wanted;
	bool ready, failed;
	struct rig rig[CALLS];
	uint64_t args[CALLS][ARGS_MAX / 8];
};

static struct stale *stale;

/* Prepared once for all calls, and only if one of them is tested. */
static bool prepare(void)
{
	if (stale->ready)
		return !stale->failed;
	stale->ready = stale->failed = true;
	for (unsigned i = 0; calls[i].name; i++) {
		stale->rig[i].fd = -1;
		CHECK(rig_queue(&stale->rig[i]) && calls[i].fill(&stale->rig[i], stale->args[i]));
		CHECK(*stale->rig[i].doorbell); /* from now on there is a page that can be revoked */
	}
	CHECK(stale->happen());
	stale->failed = false;
	return true;
}

static bool one_call(struct rig *rig, const void *data)
{
	const struct call *it = data;
	size_t i = (size_t)(it - calls);

	SKIP_UNLESS(!getuid(), "only root makes it happen");
	CHECK(prepare());
	EXPECT(stale->wanted, call(stale->rig[i].fd, it->request, stale->args[i]));
	CHECK(rig_queue(rig) && rig_works(rig));
	return true;
}

static bool new_mapping(struct rig *rig, const void *data)
{
	SKIP_UNLESS(!getuid(), "only root makes it happen");
	CHECK(prepare());
	CHECK(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, stale->rig[0].fd,
		   (off_t)stale->rig[0].doorbell_offset) == MAP_FAILED);
	EXPECT(stale->wanted, errno);
	return true;
}

/* All of them had queues: none of their doorbells reaches a queue any more. */
static bool old_doorbells(struct rig *rig, const void *data)
{
	SKIP_UNLESS(!getuid(), "only root makes it happen");
	CHECK(prepare() && rig_queue(rig) && rig_works(rig));
	for (unsigned i = 0; calls[i].name; i++)
		EXPECT(0, (long)*stale->rig[i].doorbell);
	for (unsigned i = 0; calls[i].name; i++)
		*stale->rig[i].doorbell = 0x5000 + i;
	CHECK(rig_works(rig));
	for (unsigned i = 0; calls[i].name; i++)
		CHECK(*stale->rig[i].doorbell == 0x5000 + i);
	return true;
}

static bool old_status(struct rig *rig, const void *data)
{
	SKIP_UNLESS(!getuid(), "only root makes it happen");
	CHECK(prepare());
	for (unsigned i = 0; calls[i].name; i++)
		EXPECT(0, *stale->rig[i].asleep);
	return true;
}

static bool old_buffers(struct rig *rig, const void *data)
{
	SKIP_UNLESS(!getuid(), "only root makes it happen");
	CHECK(prepare());
	for (unsigned i = 0; calls[i].name; i++)
		memset(stale->rig[i].memory, (int)i, RIG_BYTES);
	for (unsigned i = 0; calls[i].name; i++)
		CHECK(stale->rig[i].memory[i] == i && stale->rig[i].memory[RIG_BYTES - 1] == i);
	return true;
}

static bool close_all(struct rig *rig, const void *data)
{
	SKIP_UNLESS(!getuid(), "only root makes it happen");
	CHECK(prepare() && rig_queue(rig));
	for (unsigned i = 0; calls[i].name; i++) {
		rig_close(&stale->rig[i]);
		CHECK(rig_works(rig));
	}
	return true;
}

static enum outcome named(const char *ids, const char *what, const char *when, subtest_fn *run, const void *data)
{
	char name[100];

	snprintf(name, sizeof(name), "%s: %s, %s", ids, what, when);
	return subtest(name, run, data);
}

void stale_calls(const char *when, bool (*happen)(void), int wanted)
{
	stale = calloc(1, sizeof(*stale));
	if (!stale)
		return;
	stale->happen = happen;
	stale->wanted = wanted;
	for (const struct call *it = calls; it->name; it++)
		table_note(it, when, named("SYS-28", it->name, when, one_call, it));
	named("SYS-28", "new mapping of an old file", when, new_mapping, NULL);
	named("SYS-24 SYS-28", "stores to old doorbells", when, old_doorbells, NULL);
	named("SYS-24 SYS-28", "loads from old status pages", when, old_status, NULL);
	named("SYS-22 SYS-28", "stores to old buffers", when, old_buffers, NULL);
	named("SYS-28", "old files are closed", when, close_all, NULL);
	free(stale);
}
