// SPDX-License-Identifier: GPL-2.0 OR MIT
/* For people who look at the card: status, queues, counters, firmware log (spec SYS-29). */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/vmalloc.h>
#include <drm/drm_debugfs.h>

#include "tutti_queue.h"

static struct tutti_device *node_device(struct seq_file *m)
{
	struct drm_info_node *node = m->private;

	return to_tutti(node->minor->dev);
}

static int show_status(struct seq_file *m, void *unused)
{
	struct tutti_device *tdev = node_device(m);
	int index;

	if (!drm_dev_enter(&tdev->drm, &index))
		return -ENODEV;
	seq_printf(m, "device %d generation %lld resets %u\n", atomic_read(&tdev->state),
		   (s64)atomic64_read(&tdev->generation), tdev->resets);
	seq_printf(m, "firmware state %u boot %u asleep %u heartbeat %u\n", tutti_status(tdev, state),
		   tutti_status(tdev, boot_sequence), tutti_status(tdev, asleep), tutti_status(tdev, heartbeat));
	seq_printf(m, "host ring %u of %u, card ring %u of %u\n", tutti_status(tdev, host_ring_head),
		   readl(tutti_control_at(tdev, host_ring_tail)), readl(tutti_control_at(tdev, card_ring_head)),
		   tutti_status(tdev, card_ring_tail));
	drm_dev_exit(index);
	return 0;
}

static int show_queues(struct seq_file *m, void *unused)
{
	struct tutti_device *tdev = node_device(m);
	struct tutti_queue *queue;

	spin_lock(&tdev->objects_lock);
	list_for_each_entry(queue, &tdev->objects[TUTTI_QUEUE], base.link)
		seq_printf(m, "queue %u asid %u vector %u progress %llu stopped %u errors %llu%s\n", queue->base.id,
			   tutti_queue_context(queue)->base.id, queue->vector, tutti_queue_progress(queue), queue->stopped,
			   queue->errors, queue->file ? "" : " (closed)");
	spin_unlock(&tdev->objects_lock);
	return 0;
}

static int show_counters(struct seq_file *m, void *unused)
{
#define TEXT(name, text) text,
	static const char *const texts[] = { TUTTI_COUNTER_LIST(TEXT) };
#undef TEXT
	struct tutti_device *tdev = node_device(m);
	int index, i;

	if (!drm_dev_enter(&tdev->drm, &index))
		return -ENODEV;
	for (i = 0; i < TUTTI_COUNTERS; i++)
		seq_printf(m, "%20llu %s\n", readq(tdev->window + tdev->known.counters.offset + i * sizeof(u64)),
			   texts[i]);
	drm_dev_exit(index);
	return 0;
}

static int show_memory(struct seq_file *m, void *unused)
{
	struct tutti_device *tdev = node_device(m);
	struct drm_printer p = drm_seq_file_printer(m);

	mutex_lock(&tdev->memory_lock);
	drm_mm_print(&tdev->memory, &p);
	mutex_unlock(&tdev->memory_lock);
	return 0;
}

/* The firmware may write meanwhile: what it overwrites is lost, as in any such log. */
static int show_log(struct seq_file *m, void *unused)
{
	struct tutti_device *tdev = node_device(m);
	u64 base = tdev->known.log.offset, head, at;
	u32 bytes;
	int index;

	if (!drm_dev_enter(&tdev->drm, &index))
		return -ENODEV;
	head = readq(tdev->window + base + offsetof(struct tutti_log, head));
	bytes = readl(tdev->window + base + offsetof(struct tutti_log, bytes));
	if (is_power_of_2(bytes) && bytes <= tdev->known.log.bytes - sizeof(struct tutti_log))
		for (at = head > bytes ? head - bytes : 0; at != head; at++)
			seq_putc(m, readb(tdev->window + base + sizeof(struct tutti_log) + (at & (bytes - 1))));
	drm_dev_exit(index);
	return 0;
}

static const struct drm_info_list files[] = {
	{ "tutti_status", show_status },
	{ "tutti_queues", show_queues },
	{ "tutti_counters", show_counters },
	{ "tutti_memory", show_memory },
	{ "tutti_log", show_log },
};

void tutti_debugfs_init(struct drm_minor *minor)
{
	if (minor)
		drm_debugfs_create_files(files, ARRAY_SIZE(files), minor->debugfs_root,
					 minor);
}
