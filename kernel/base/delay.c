// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The delays of base/delay.h. In builds that are not for tests this file is empty. */
#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/ktime.h>

#include "base/delay.h"

#ifdef TUTTI_TEST
static struct {
	const char *name, *reached_name;
	u32 ms;
	atomic_t reached;
} delays[] = {
#define TUTTI_DELAY_ENTRY(point) { .name = #point, .reached_name = #point "_reached" },
	TUTTI_DELAY_LIST(TUTTI_DELAY_ENTRY)
};

static struct dentry *folder;
static u32 raced;

static u32 tutti_delay_reach(enum tutti_delay_point point)
{
	u32 ms = READ_ONCE(delays[point].ms);

	if (ms)
		atomic_inc(&delays[point].reached);
	return ms;
}

/** tutti_delay() - wait here, if a test wants that. May sleep. */
void tutti_delay(enum tutti_delay_point point)
{
	u32 ms = tutti_delay_reach(point);

	if (ms)
		msleep(ms);
}

/** tutti_delay_busy() - the same where nobody may sleep. By the clock: mdelay() may take ten times as long in a guest. */
void tutti_delay_busy(enum tutti_delay_point point)
{
	ktime_t end = ktime_add_ms(ktime_get(), tutti_delay_reach(point));

	while (ktime_before(ktime_get(), end))
		cpu_relax();
}

/* Two writers of the file make a data race. If KCSAN reports it, KCSAN does look at the driver. */
static int tutti_delay_race(void *data, u64 times)
{
	while (times--) {
		raced++;
		barrier();
		cond_resched();
	}
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(tutti_delay_race_fops, NULL, tutti_delay_race, "%llu\n");

void tutti_delay_init(void)
{
	int i;

	folder = debugfs_create_dir("tutti_delay", NULL);
	for (i = 0; i < TUTTI_DELAYS; i++) {
		debugfs_create_u32(delays[i].name, 0600, folder, &delays[i].ms);
		debugfs_create_atomic_t(delays[i].reached_name, 0600, folder, &delays[i].reached);
	}
	debugfs_create_file("race", 0200, folder, NULL, &tutti_delay_race_fops);
}

void tutti_delay_fini(void)
{
	debugfs_remove(folder);
}
#endif
