// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Device core dump: what the card says of itself before a reset (include/tutti/dump.h). `tutti dump` reads it. */
#include <linux/devcoredump.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>

#include "card/card.h"
#include "objects/queue.h"
#include "report/dump.h"
#include "tutti/dump.h"

/** struct dump - the file that is being written. */
struct dump {
	struct tutti_device *tdev;
	struct tutti_dump_header *header;
	u8 *data;
	size_t used, room;
};

/* Room for a section, zeroed, or NULL. */
static void *tutti_dump_reserve(struct dump *dump, u32 kind, size_t bytes)
{
	struct tutti_dump_section *s;
	void *at = dump->data + dump->used;

	if (!bytes || bytes > dump->room - dump->used || dump->header->sections == TUTTI_DUMP_SECTIONS)
		return NULL;
	s = &dump->header->section[dump->header->sections++];
	s->kind = kind;
	s->offset = dump->used;
	s->bytes = bytes;
	dump->used += ALIGN(bytes, 8);
	return at;
}

static void tutti_dump_region(struct dump *dump, u32 kind, u32 offset, size_t bytes)
{
	void *to = tutti_dump_reserve(dump, kind, bytes);

	if (to)
		memcpy_fromio(to, dump->tdev->window + offset, bytes);
}

static void tutti_dump_queues(struct dump *dump)
{
	struct tutti_device *tdev = dump->tdev;
	struct tutti_dump_queue *to = tutti_dump_reserve(dump, TUTTI_DUMP_QUEUES, tdev->known.max_queues * sizeof(*to));
	struct tutti_queue *queue;
	u32 i = 0;

	if (!to)
		return;
	spin_lock(&tdev->objects_lock);
	list_for_each_entry(queue, &tdev->objects[TUTTI_QUEUE], base.link)
		to[i++] = (struct tutti_dump_queue){
			.queue = queue->base.id,
			.context = queue->base.parent[0]->id,
			.ring = queue->ring,
			.ring_bytes = queue->ring_bytes,
			.progress = tutti_queue_progress(queue),
			.errors = queue->errors,
			.stopped = queue->stopped,
			.present = 1,
			.fault = queue->fault,
		};
	spin_unlock(&tdev->objects_lock);
}

static void tutti_dump_fill(struct dump *dump)
{
	const struct tutti_discovery *known = &dump->tdev->known;
	void *to = tutti_dump_reserve(dump, TUTTI_DUMP_DISCOVERY, sizeof(*known));

	if (to)
		memcpy(to, known, sizeof(*known));
	tutti_dump_region(dump, TUTTI_DUMP_STATUS, known->status.offset, sizeof(struct tutti_status));
	tutti_dump_region(dump, TUTTI_DUMP_CONTROL, known->control.offset, sizeof(struct tutti_control));
	tutti_dump_region(dump, TUTTI_DUMP_CRASH, known->crash.offset, sizeof(struct tutti_crash));
	tutti_dump_region(dump, TUTTI_DUMP_COUNTERS, known->counters.offset, TUTTI_COUNTERS * sizeof(u64));
	tutti_dump_queues(dump);
	tutti_dump_region(dump, TUTTI_DUMP_HOST_RING, known->host_ring.offset, known->host_ring.bytes);
	tutti_dump_region(dump, TUTTI_DUMP_CARD_RING, known->card_ring.offset, known->card_ring.bytes);
	tutti_dump_region(dump, TUTTI_DUMP_LOG, known->log.offset, known->log.bytes);
}

static size_t tutti_dump_room(const struct tutti_discovery *known)
{
	return sizeof(struct tutti_dump_header) + sizeof(*known) + known->max_queues * sizeof(struct tutti_dump_queue) +
	       known->host_ring.bytes + known->card_ring.bytes + known->log.bytes +
	       TUTTI_COUNTERS * sizeof(u64) + SZ_4K;
}

/** tutti_dump() - write a core dump. A card that is merely off has nothing to say. */
void tutti_dump(struct tutti_device *tdev)
{
	struct dump dump = {
		.tdev = tdev, .room = tutti_dump_room(&tdev->known), .used = sizeof(struct tutti_dump_header),
	};

	if (tutti_status(tdev, state) == TUTTI_STATE_OFF || tutti_status(tdev, state) > TUTTI_STATE_FAILED)
		return;
	dump.data = vzalloc(dump.room);
	if (!dump.data)
		return;
	dump.header = (void *)dump.data;
	*dump.header = (struct tutti_dump_header){
		.magic = TUTTI_DUMP_MAGIC,
		.version = TUTTI_DUMP_VERSION,
		.time = ktime_get_real_ns(),
		.generation = atomic64_read(&tdev->generation),
		.firmware_version = tdev->firmware_version,
		.contract = TUTTI_CONTRACT_VERSION,
	};
	tutti_dump_fill(&dump);
	dump.header->bytes = dump.used;
	dev_coredumpv(tdev->drm.dev, dump.data, dump.used, GFP_KERNEL);
}
