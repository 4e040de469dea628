// SPDX-License-Identifier: MIT
/*
 * Recordings (spec PKT-22; CUDA: graphs). The packets that a replay sends are built in
 * advance; a replay copies them into the ring and rings the doorbell once. They are built
 * again only when launches change shape, or when another recording has taken an entry of
 * the reference state buffer (RSB), which shows in its epoch.
 */
#include "record/record.h"

#include <stdlib.h>
#include <string.h>

#include "record/condense.h"

/**
 * struct tutti_recording - see tutti.h. Only one thread may use it at a time.
 * @number: identifies it as an owner of RSB entries; never used twice
 * @from: for each reference, the launch that it is sent as
 * @image: the packets that a replay sends, unless @stale
 * @resident: the RSB held all references when its epoch was @epoch
 */
struct tutti_recording {
	struct queue *queue;
	struct tutti_rsb_object *rsb;
	struct tutti_recording *next;
	uint64_t number;
	uint64_t epoch;
	union tutti_packet *image;
	unsigned images;
	bool stale;
	bool resident;
	bool open; /* between begin and end */
	enum tutti_replay_form form;
	struct tutti_dispatch_packet *launch;
	struct place *place;
	unsigned launches, room;
	unsigned from[TUTTI_REFERENCES];
	uint32_t weight[TUTTI_REFERENCES];
	struct condense condense;
};

static void unlink_from_queue(struct tutti_recording *recording)
{
	struct queue *queue = recording->queue;
	struct tutti_recording **p = &queue->recordings;

	pthread_mutex_lock(&queue->device->lock);
	while (*p && *p != recording)
		p = &(*p)->next;
	if (*p)
		*p = recording->next;
	pthread_mutex_unlock(&queue->device->lock);
}

void tutti_recording_destroy(struct tutti_recording *recording)
{
	if (!recording)
		return;
	if (recording->queue && !recording->open)
		unlink_from_queue(recording);
	if (recording->queue && recording->rsb)
		rsb_forget(recording->rsb, recording->number, 0);
	free(recording->image);
	free(recording->place);
	free(recording->launch);
	free(recording);
}

/* The queue is being destroyed: from now on its recordings can only be destroyed, too. */
static void orphan(struct queue *queue)
{
	if (queue->recording) {
		tutti_recording_destroy(queue->recording);
		queue->recording = NULL;
	}
	while (queue->recordings) {
		struct tutti_recording *recording = queue->recordings;

		queue->recordings = recording->next;
		if (recording->rsb)
			rsb_forget(recording->rsb, recording->number, 0);
		recording->queue = NULL;
		recording->rsb = NULL;
		recording->stale = true; /* so that replays do not take the fast path, which uses the queue */
	}
}

int tutti_record_begin(struct tutti_queue *public)
{
	static uint64_t numbers;
	struct queue *queue = queue_of(public);
	struct tutti_recording *recording;

	if (!queue->rsb)
		return -ENOTSUP;
	if (queue->recording)
		return -EBUSY;
	recording = calloc(1, sizeof(*recording));
	if (!recording)
		return -ENOMEM;
	recording->number = __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
	recording->queue = queue;
	recording->rsb = queue->rsb;
	recording->open = true;
	recording->condense.table = public->flags & TUTTI_QUEUE_TABLE_DIFFS;
	recording->condense.overlap = public->flags & TUTTI_QUEUE_OVERLAP;
	recording->condense.shared_block_bytes = queue->device->known.shared_block_bytes;
	queue->recording = recording;
	queue->forget_recordings = orphan;
	return 0;
}

int record_launch(struct tutti_recording *recording, const struct tutti_dispatch_packet *packet)
{
	if (recording->launches == recording->room) {
		unsigned room = recording->room ? 2 * recording->room : 32;
		void *grown = realloc(recording->launch, room * sizeof(*recording->launch));

		if (!grown)
			return -ENOMEM;
		recording->launch = grown;
		recording->room = room;
	}
	recording->launch[recording->launches++] = *packet;
	return 0;
}

/* Builds one packet per launch: dispatch packets, or reference packets, which share the claimed RSB entries. */
static unsigned build_whole(struct tutti_recording *recording, bool reference)
{
	const struct condense *condense = &recording->condense;

	for (unsigned i = 0; i < recording->launches; i++) {
		union tutti_packet *packet = &recording->image[i];
		unsigned r = recording->place[i].reference;

		packet->dispatch = recording->launch[i];
		packet->dispatch.ref_num =
		    reference && r != NO_REFERENCE ? (uint16_t)(TUTTI_REF_STORE | condense->entry[r]) : 0;
	}
	return recording->launches;
}

static void build(struct tutti_recording *recording)
{
	if (recording->form == TUTTI_REPLAY_CONDENSED)
		recording->images = condense_pack(&recording->condense, recording->launch,
						  recording->launches, recording->place, recording->image);
	else
		recording->images = build_whole(recording, recording->form == TUTTI_REPLAY_REFERENCE);
	recording->stale = false;
}

static int choose(struct tutti_recording *recording)
{
	return condense_choose(&recording->condense, recording->launch, recording->launches, recording->place,
			       recording->from, recording->weight);
}

int tutti_record_end(struct tutti_queue *public, struct tutti_recording **out)
{
	struct queue *queue = queue_of(public);
	struct tutti_recording *recording = queue->recording;
	size_t n;

	if (!recording || !out)
		return -EINVAL;
	queue->recording = NULL;
	n = recording->launches ? recording->launches : 1;
	recording->place = calloc(n, sizeof(*recording->place));
	recording->image = aligned_alloc(64, n * sizeof(*recording->image));
	if (!recording->place || !recording->image || choose(recording)) {
		tutti_recording_destroy(recording);
		return -ENOMEM;
	}
	recording->open = false;
	build(recording);
	pthread_mutex_lock(&queue->device->lock);
	recording->next = queue->recordings;
	queue->recordings = recording;
	pthread_mutex_unlock(&queue->device->lock);
	*out = recording;
	return 0;
}

unsigned tutti_recording_kernels(const struct tutti_recording *recording)
{
	return recording->launches;
}

int tutti_recording_form(struct tutti_recording *recording, enum tutti_replay_form form)
{
	if ((unsigned)form > TUTTI_REPLAY_PLAIN)
		return -EINVAL;
	if (form == recording->form)
		return 0;
	recording->form = form;
	recording->resident = false;
	recording->stale = true;
	return 0;
}

unsigned tutti_recording_packets(struct tutti_recording *recording)
{
	if (recording->stale && recording->queue)
		build(recording);
	return recording->images;
}

/* Launch @index has changed: patch its packet, or let the next replay build all packets again. */
static int changed(struct tutti_recording *recording, unsigned index)
{
	union tutti_packet *packet = &recording->image[index];
	uint16_t ref_num;

	if (recording->stale)
		return 0;
	if (recording->form == TUTTI_REPLAY_CONDENSED) {
		recording->stale = !condense_patch(&recording->condense, &recording->launch[index],
						   &recording->place[index], recording->image);
		return 0;
	}
	ref_num = packet->dispatch.ref_num;
	packet->dispatch = recording->launch[index];
	packet->dispatch.ref_num = ref_num;
	return 0;
}

int tutti_recording_set_kernarg(struct tutti_recording *recording, unsigned index, void *kernarg)
{
	if (index >= recording->launches)
		return -EINVAL;
	recording->launch[index].kernarg = (uintptr_t)kernarg;
	return changed(recording, index);
}

int tutti_recording_set_grid(struct tutti_recording *recording, unsigned index, const uint32_t grid[3])
{
	struct tutti_dispatch_packet *launch;

	if (index >= recording->launches || !grid[0])
		return -EINVAL;
	launch = &recording->launch[index];
	launch->grid_x = grid[0];
	launch->grid_y = grid[1] ? grid[1] : 1;
	launch->grid_z = grid[2] ? grid[2] : 1;
	launch->setup = launch->grid_z > 1 || launch->workgroup_z > 1	? 3
			: launch->grid_y > 1 || launch->workgroup_y > 1 ? 2
									: 1;
	return changed(recording, index);
}

int tutti_recording_set_signal(struct tutti_recording *recording, unsigned index, tutti_signal_t signal)
{
	if (index >= recording->launches || ((uintptr_t)signal & 63))
		return -EINVAL;
	recording->launch[index].signal = (uintptr_t)signal;
	return changed(recording, index);
}

/* ---- replay ---- */

typedef uint64_t __attribute__((may_alias)) first_words;

static inline void put_body(union tutti_packet *slot, const union tutti_packet *image)
{
	memcpy(&slot->word[4], &image->word[4], 48);
	memcpy(&slot->word[2], &image->word[2], 8);
}

/* The first 64 bits are stored last, in one store, which publishes the packet, as its first 32 bits are among them. */
static inline void put_head(union tutti_packet *slot, const union tutti_packet *image)
{
	tutti_store_release((first_words *)slot, *(const first_words *)image);
}

/* A fence flushes the write-combining buffers, so all packets share one; ringing the doorbell flushes their heads. */
static void put_write_combined(struct tutti_queue *queue, uint64_t index, const union tutti_packet *image, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		put_body(tutti_queue_slot(queue, index + i), &image[i]);
	tutti_queue_order(queue);
	for (unsigned i = 0; i < n; i++)
		put_head(tutti_queue_slot(queue, index + i), &image[i]);
}

static inline void put_packets(struct tutti_queue *queue, uint64_t index, const union tutti_packet *image, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		union tutti_packet *slot = tutti_queue_slot(queue, index + i);

		put_body(slot, &image[i]);
		put_head(slot, &image[i]);
	}
}

static inline int send_part(struct tutti_queue *queue, const union tutti_packet *image, unsigned n)
{
	uint64_t index;
	int error = tutti_queue_reserve(queue, n, &index);

	if (__builtin_expect(error, 0))
		return error;
	if (__builtin_expect(queue->flags & TUTTI_QUEUE_WRITE_COMBINED, 0))
		put_write_combined(queue, index, image, n);
	else
		put_packets(queue, index, image, n);
	tutti_queue_ring(queue, index + n - 1);
	return 0;
}

static int send(struct tutti_queue *queue, const union tutti_packet *image, unsigned n)
{
	unsigned part = (unsigned)(queue->mask + 1) / 2;

	if (n <= part)
		return n ? send_part(queue, image, n) : 0;
	for (; n; n -= part, image += part) {
		int error;

		if (part > n)
			part = n;
		error = send_part(queue, image, part);
		if (error)
			return error;
	}
	return 0;
}

/* The references are not in the RSB, or not any more: choose them again from the current launches. */
static int claim(struct tutti_recording *recording)
{
	int error = choose(recording);

	if (error)
		return error;
	recording->epoch = rsb_claim(recording->rsb, recording->number, recording->condense.references,
				     recording->weight, recording->condense.entry);
	return 0;
}

static int replay_first(struct tutti_recording *recording)
{
	unsigned n;
	int error = claim(recording);

	if (error)
		return error;
	n = condense_first(&recording->condense, recording->launch, recording->launches, recording->place,
			   recording->from, recording->image);
	error = send(&recording->queue->public, recording->image, n);
	build(recording);
	recording->resident = !error;
	return error;
}

static bool references_held(struct tutti_recording *recording)
{
	return rsb_holds(recording->rsb, recording->number, recording->condense.references,
			 recording->condense.entry, &recording->epoch);
}

static int replay_slowly(struct tutti_recording *recording)
{
	int error = 0;

	if (!recording->queue)
		return -EINVAL;
	if (recording->form == TUTTI_REPLAY_CONDENSED &&
	    (!recording->resident || !references_held(recording)))
		return replay_first(recording);
	if (recording->form == TUTTI_REPLAY_REFERENCE &&
	    (!recording->resident || !references_held(recording))) {
		error = claim(recording);
		recording->resident = !error;
		recording->stale = true;
	}
	if (error)
		return error;
	if (recording->stale)
		build(recording);
	return send(&recording->queue->public, recording->image, recording->images);
}

int tutti_replay(struct tutti_recording *recording)
{
	const struct tutti_rsb_object *rsb = recording->rsb;
	bool ready = !recording->stale &&
		     (recording->form == TUTTI_REPLAY_PLAIN ||
		      (recording->resident && recording->epoch == tutti_load_acquire(&rsb->epoch)));

	if (__builtin_expect(!ready, 0))
		return replay_slowly(recording);
	return send(&recording->queue->public, recording->image, recording->images);
}
