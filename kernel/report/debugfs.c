// SPDX-License-Identifier: GPL-2.0 OR MIT
/* For people who look at the card: status, queues, counters, firmware log (spec SYS-29). */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/vmalloc.h>
#include <drm/drm_debugfs.h>

#include "card/power.h"
#include "firmware/message.h"
#include "objects/context.h"
#include "objects/queue.h"
#include "objects/rsb.h"
#include "report/debugfs.h"

static struct tutti_device *tutti_debugfs_node_device(struct seq_file *m)
{
	struct drm_info_node *node = m->private;

	return to_tutti(node->minor->dev);
}

/*
 * For who only looks: registers of a card that sleeps read as nothing, and it is not woken for that. False: it has been
 * said why. tutti_debugfs_exit() ends it.
 */
static bool tutti_debugfs_enter(struct seq_file *m, int *index)
{
	struct tutti_device *tdev = tutti_debugfs_node_device(m);

	if (!drm_dev_enter(&tdev->drm, index)) {
		seq_puts(m, "the card has gone\n");
		return false;
	}
	if (tutti_power_get_if_on(tdev))
		return true;
	drm_dev_exit(*index);
	seq_puts(m, "the card sleeps\n");
	return false;
}

static void tutti_debugfs_exit(struct seq_file *m, int index)
{
	tutti_power_put_unused(tutti_debugfs_node_device(m));
	drm_dev_exit(index);
}

static int tutti_debugfs_show_status(struct seq_file *m, void *unused)
{
	struct tutti_device *tdev = tutti_debugfs_node_device(m);
	int index;

	seq_printf(m, "device %d generation %lld resets %u\n", atomic_read(&tdev->state),
		   (s64)atomic64_read(&tdev->generation), READ_ONCE(tdev->resets));
	seq_printf(m, "recovered by context %u firmware %u function %u; given up %u\n",
		   READ_ONCE(tdev->rungs[TUTTI_RUNG_CONTEXT]), READ_ONCE(tdev->rungs[TUTTI_RUNG_FIRMWARE]),
		   READ_ONCE(tdev->rungs[TUTTI_RUNG_FUNCTION]), READ_ONCE(tdev->rungs[TUTTI_RUNG_WEDGED]));
	if (!tutti_debugfs_enter(m, &index))
		return 0;
	seq_printf(m, "firmware state %u boot %u asleep %u heartbeat %u\n", tutti_status(tdev, state),
		   tutti_status(tdev, boot_sequence), tutti_status(tdev, asleep), tutti_status(tdev, heartbeat));
	seq_printf(m, "host ring %u of %u, card ring %u of %u\n", tutti_status(tdev, host_ring_head),
		   readl(tutti_control_at(tdev, host_ring_tail)), readl(tutti_control_at(tdev, card_ring_head)),
		   tutti_status(tdev, card_ring_tail));
	tutti_debugfs_exit(m, index);
	return 0;
}

static int tutti_debugfs_show_queues(struct seq_file *m, void *unused)
{
	struct tutti_device *tdev = tutti_debugfs_node_device(m);
	struct tutti_queue *queue;

	spin_lock(&tdev->objects_lock);
	list_for_each_entry(queue, &tdev->objects[TUTTI_QUEUE], base.link)
		seq_printf(m, "queue %u asid %u vector %u progress %llu stopped %u errors %llu%s\n",
			   queue->base.id, queue->base.parent[0]->id, queue->vector,
			   tutti_queue_progress(queue), queue->stopped, queue->errors,
			   queue->file ? "" : " (closed)");
	spin_unlock(&tdev->objects_lock);
	return 0;
}

static int tutti_debugfs_show_contexts(struct seq_file *m, void *unused)
{
	struct tutti_device *tdev = tutti_debugfs_node_device(m);
	struct tutti_object *object;

	spin_lock(&tdev->objects_lock);
	list_for_each_entry(object, &tdev->objects[TUTTI_CONTEXT], link)
		seq_printf(m, "context %u page tables %u\n", object->id,
			   READ_ONCE(to_context(object)->space.mmu.tables));
	spin_unlock(&tdev->objects_lock);
	return 0;
}

static int tutti_debugfs_show_counters(struct seq_file *m, void *unused)
{
#define TEXT(name, text) text,
	static const char *const texts[] = { TUTTI_COUNTER_LIST(TEXT) };
#undef TEXT
	struct tutti_device *tdev = tutti_debugfs_node_device(m);
	int index, i;

	if (!tutti_debugfs_enter(m, &index))
		return 0;
	for (i = 0; i < TUTTI_COUNTERS; i++)
		seq_printf(m, "%20llu %s\n", readq(tdev->window + tdev->known.counters.offset + i * sizeof(u64)),
			   texts[i]);
	tutti_debugfs_exit(m, index);
	return 0;
}

/* A card that is being reset is not waited for. */
static void tutti_debugfs_show_load(struct seq_file *m)
{
	struct tutti_device *tdev = tutti_debugfs_node_device(m);
	struct tutti_message load;
	int index;

	if (!tutti_debugfs_enter(m, &index))
		return;
	if (atomic_read(&tdev->state) == TUTTI_DEVICE_RUNNING && !tutti_message_load(tdev, &load)) {
		seq_printf(m, "task slots %llu of %u\n", load.value, tdev->known.task_slots);
		seq_printf(m, "resident workgroups %llu on %llu of %u SMs, %u fit on one\n", load.arg[0], load.arg[1],
			   tdev->known.sms, tdev->known.cta_slots);
	}
	tutti_debugfs_exit(m, index);
}

/* What of each kind is left; the firmware knows about its own. */
static int tutti_debugfs_show_free(struct seq_file *m, void *unused)
{
	struct tutti_device *tdev = tutti_debugfs_node_device(m);
	const struct tutti_discovery *known = &tdev->known;

	seq_printf(m, "contexts %u of %u\n", known->max_contexts - 1 - tutti_object_count(tdev, TUTTI_CONTEXT),
		   known->max_contexts - 1);
	seq_printf(m, "queues %u of %u\n", known->max_queues - tutti_object_count(tdev, TUTTI_QUEUE),
		   known->max_queues);
	seq_printf(m, "rsbs %u of %u\n", known->max_rsbs - tutti_object_count(tdev, TUTTI_RSB), known->max_rsbs);
	tutti_debugfs_show_load(m);
	return 0;
}

static void tutti_debugfs_show_reference(struct seq_file *m, int i, const struct tutti_reference *r)
{
	if (!(r->flags & TUTTI_REFERENCE_VALID))
		return;
	seq_printf(m, "  %d: kernel %#llx kernarg %#llx signal %#llx grid %ux%ux%u workgroup %ux%ux%u shared %u%s\n", i,
		   r->kernel_object, r->kernarg, r->signal, r->grid_x, r->grid_y, r->grid_z, r->workgroup_x,
		   r->workgroup_y, r->workgroup_z, r->shared_bytes, r->flags & TUTTI_REFERENCE_TMD ? " tmd" : "");
}

static void tutti_debugfs_show_rsb(struct seq_file *m, struct tutti_object *object, struct tutti_rsb *table)
{
	int i;

	mutex_lock(&object->lock);
	if (tutti_object_is_on_card(object) && !tutti_rsb_table(object->tdev, object->id, table)) {
		seq_printf(m, "rsb %u context %u queues %d\n", object->id, object->parent[0]->id,
			   atomic_read(&object->users));
		for (i = 0; i < TUTTI_REFERENCES; i++)
			tutti_debugfs_show_reference(m, i, &table->reference[i]);
	}
	mutex_unlock(&object->lock);
}

static int tutti_debugfs_show_rsbs(struct seq_file *m, void *unused)
{
	struct tutti_device *tdev = tutti_debugfs_node_device(m);
	struct tutti_rsb *table = kzalloc(sizeof(*table), GFP_KERNEL);
	struct tutti_object *object;
	int index;
	u32 id;

	if (!table)
		return -ENOMEM;
	if (!tutti_debugfs_enter(m, &index))
		goto free;
	for (id = 0; id < tdev->known.max_rsbs; id++) {
		object = tutti_object_find(tdev, TUTTI_RSB, id);
		if (!object)
			continue;
		tutti_debugfs_show_rsb(m, object, table);
		tutti_object_put(object);
	}
	tutti_debugfs_exit(m, index);
free:
	kfree(table);
	return 0;
}

static int tutti_debugfs_show_memory(struct seq_file *m, void *unused)
{
	struct tutti_device *tdev = tutti_debugfs_node_device(m);
	struct drm_printer p = drm_seq_file_printer(m);

	mutex_lock(&tdev->memory_lock);
	drm_mm_print(&tdev->memory, &p);
	mutex_unlock(&tdev->memory_lock);
	return 0;
}

/* The firmware may write meanwhile: what it overwrites is lost, as in any such log. */
static void tutti_debugfs_print_log(struct seq_file *m, void __iomem *log, u32 room)
{
	u64 head = readq(log + offsetof(struct tutti_log, head)), at;
	u32 bytes = readl(log + offsetof(struct tutti_log, bytes));

	if (!is_power_of_2(bytes) || bytes > room)
		return;
	for (at = head > bytes ? head - bytes : 0; at != head; at++)
		seq_putc(m, readb(log + sizeof(struct tutti_log) + (at & (bytes - 1))));
}

static int tutti_debugfs_show_log(struct seq_file *m, void *unused)
{
	struct tutti_device *tdev = tutti_debugfs_node_device(m);
	const struct tutti_region *log = &tdev->known.log;
	int index;

	if (!tutti_debugfs_enter(m, &index))
		return 0;
	tutti_debugfs_print_log(m, tdev->window + log->offset, log->bytes - sizeof(struct tutti_log));
	tutti_debugfs_exit(m, index);
	return 0;
}

static const struct drm_info_list files[] = {
	{ "tutti_status", tutti_debugfs_show_status },
	{ "tutti_contexts", tutti_debugfs_show_contexts },
	{ "tutti_queues", tutti_debugfs_show_queues },
	{ "tutti_counters", tutti_debugfs_show_counters },
	{ "tutti_free", tutti_debugfs_show_free },
	{ "tutti_memory", tutti_debugfs_show_memory },
	{ "tutti_rsbs", tutti_debugfs_show_rsbs },
	{ "tutti_log", tutti_debugfs_show_log },
};

void tutti_debugfs_init(struct drm_minor *minor)
{
	if (minor)
		drm_debugfs_create_files(files, ARRAY_SIZE(files), minor->debugfs_root,
					 minor);
}
