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

#include "queue/lost.h"
#include "record/condense.h"
#include "record/grid.h"

/**
 * struct note - what is known of a launch beside its packet.
 * @cga: workgroups of its CGAs along x, y and z; all 1 if it has none
 * @since: packets before this one do not name its signal
 */
struct note {
	uint16_t cga[3];
	uint64_t since;
};

/**
 * struct tutti_recording - see tutti.h. Only one thread may use it at a time.
 * @number: identifies it as an owner of RSB entries; never used twice
 * @from: for each reference, the launch that it is sent as
 * @note: one for each launch
 * @image: the packets that a replay sends, unless @stale
 * @resident: the RSB held all references when its epoch was @epoch
 * @sending: a replay is under way, which may call handlers while it waits for room
 * @first, @last: the packets of the newest replay; @sent: there has been one
 */
struct tutti_recording {
	struct handle handle;
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
	bool sent, sending;
	uint64_t first, last;
	enum tutti_replay_form form;
	struct tutti_dispatch_packet *launch;
	struct note *note;
	struct place *place;
	unsigned launches, room;
	unsigned from[TUTTI_REFERENCES];
	uint32_t weight[TUTTI_REFERENCES];
	struct condense condense;
};

static struct handle_pool pool = HANDLE_POOL(struct tutti_recording);

/* A recording is used by one thread at a time, so its functions only look whether it exists. */
static bool recording_live(const struct tutti_recording *recording)
{
	return recording && handle_live(&recording->handle);
}

/* May it be changed or replayed? 0, -EINVAL, -EBUSY: this is called by a handler, within a replay of it. */
static int recording_use(const struct tutti_recording *recording)
{
	if (!recording_live(recording))
		return -EINVAL;
	return recording->sending ? -EBUSY : 0;
}

static int launch_use(const struct tutti_recording *recording, unsigned index)
{
	int error = recording_use(recording);

	return !error && index >= recording->launches ? -EINVAL : error;
}

/* Has launch @index been sent with the signal that it has? */
static bool has_named(const struct tutti_recording *recording, unsigned index)
{
	return recording->launch[index].signal && recording->sent &&
	       recording->last >= recording->note[index].since;
}

/* Launch @index is about to lose its signal. If the newest replay has named it, the queue notes that. 0 or -ENOMEM. */
static int owe(const struct tutti_recording *recording, unsigned index)
{
	CALL_SCOPE(call);
	struct queue *queue = recording->queue;

	if (!queue || !has_named(recording, index) || !queue_call(&call, &queue->public))
		return 0;
	return owed_add(queue, recording->launch[index].signal, recording->first, recording->last);
}

/* Its packets may be under way. Without memory for these notes, waits that are in vain do not end. */
static void owe_all(const struct tutti_recording *recording)
{
	uint64_t noted = 0;

	for (unsigned i = 0; i < recording->launches; i++) {
		if (!has_named(recording, i) || recording->launch[i].signal == noted)
			continue;
		owe(recording, i);
		noted = recording->launch[i].signal;
	}
}

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

static void recording_free(struct tutti_recording *recording)
{
	if (recording->queue && !recording->open) {
		owe_all(recording);
		unlink_from_queue(recording);
	}
	if (recording->queue && recording->rsb)
		rsb_forget(recording->rsb, recording->number, 0);
	free(recording->image);
	free(recording->place);
	free(recording->launch);
	free(recording->note);
	handle_free(&pool, &recording->handle);
}

int tutti_recording_destroy(struct tutti_recording *recording)
{
	CALL_SCOPE(call);

	if (!recording)
		return 0;
	if (recording_use(recording) == -EBUSY)
		return -EBUSY;
	call_begin_owner(&call, &recording->handle); /* without a device it has no queue either */
	if (!handle_end(&recording->handle))
		return -EINVAL;
	recording_free(recording);
	return 0;
}

/* The queue is being destroyed: from now on its recordings can only be destroyed, too. */
static void orphan(struct queue *queue)
{
	if (queue->recording) {
		recording_free(queue->recording);
		queue->recording = NULL;
	}
	while (queue->recordings) {
		struct tutti_recording *recording = queue->recordings;

		queue->recordings = recording->next;
		if (recording->rsb)
			rsb_forget(recording->rsb, recording->number, 0);
		recording->queue = NULL;
		recording->stale = true; /* so that replays do not take the fast path, which uses the queue */
	}
}

/*
 * Is the packet in the slot one of an earlier replay? Nothing is noted of these, but a condensed packet is the same in each
 * replay, unless it is the first or launches have changed. The signals of others are read from the slot.
 */
static bool has_sent(const struct tutti_recording *recording, const union tutti_packet *slot)
{
	for (unsigned i = 0; slot && i < recording->images; i++) {
		const union tutti_packet *image = &recording->image[i];

		if ((image->word[0] & TUTTI_HEADER_TYPE) == TUTTI_PACKET_CONDENSED &&
		    !memcmp(&slot->word[1], &image->word[1], sizeof(*slot) - sizeof(slot->word[0])))
			return true;
	}
	return false;
}

static void each_recorded(struct queue *queue, void (*visit)(void *context, uint64_t signal), void *context)
{
	const union tutti_packet *failed = failed_slot(queue);

	for (const struct tutti_recording *r = queue->recordings; r; r = r->next) {
		bool newest = packets_unfinished(queue, r->first, r->last), earlier = !newest && has_sent(r, failed);

		for (unsigned i = 0; (newest || earlier) && i < r->launches; i++)
			if (has_named(r, i) && (newest || r->note[i].since <= queue->error.fault.packet))
				visit(context, r->launch[i].signal);
	}
}

int tutti_record_begin(struct tutti_queue *public)
{
	CALL_SCOPE(call);
	static uint64_t numbers;
	struct queue *queue = queue_of(public);
	struct tutti_recording *recording;

	if (!queue_call(&call, public))
		return -EINVAL;
	if (!queue->rsb)
		return -ENOTSUP;
	if (queue->recording)
		return -EBUSY;
	recording = handle_new(&pool, &queue->device->handle);
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
	queue->each_recorded = each_recorded;
	return 0;
}

static int grow(struct tutti_recording *recording)
{
	unsigned room = recording->room ? 2 * recording->room : 32;
	void *launch, *note;

	launch = realloc(recording->launch, room * sizeof(*recording->launch));
	if (!launch)
		return -ENOMEM;
	recording->launch = launch;
	note = realloc(recording->note, room * sizeof(*recording->note));
	if (!note)
		return -ENOMEM;
	recording->note = note;
	recording->room = room;
	return 0;
}

int record_launch(struct tutti_recording *recording, const struct tutti_dispatch_packet *packet,
		  const struct tutti_kernel_descriptor *descriptor)
{
	struct note note = {.cga = {1, 1, 1}};

	if (recording->launches == recording->room && grow(recording))
		return -ENOMEM;
	if (descriptor && descriptor->cga_kind != TUTTI_CGA_NONE)
		memcpy(note.cga, descriptor->cga, sizeof(note.cga));
	recording->note[recording->launches] = note;
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
		recording->images = condense_pack(&recording->condense, recording->launch, recording->launches,
						  recording->place, recording->image);
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
	CALL_SCOPE(call);
	struct queue *queue = queue_of(public);
	struct tutti_recording *recording;
	size_t n;

	if (!queue_call(&call, public) || !queue->recording || !out)
		return -EINVAL;
	recording = queue->recording;
	queue->recording = NULL;
	n = recording->launches ? recording->launches : 1;
	recording->place = calloc(n, sizeof(*recording->place));
	recording->image = aligned_alloc(64, n * sizeof(*recording->image));
	if (!recording->place || !recording->image || choose(recording)) {
		recording_free(recording);
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
	return recording_live(recording) ? recording->launches : 0;
}

int tutti_recording_form(struct tutti_recording *recording, enum tutti_replay_form form)
{
	int error = recording_use(recording);

	if (error)
		return error;
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
	if (!recording_live(recording))
		return 0;
	if (recording->stale && recording->queue && !recording->sending)
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
	int error = launch_use(recording, index);

	if (error)
		return error;
	recording->launch[index].kernarg = (uintptr_t)kernarg;
	return changed(recording, index);
}

int tutti_recording_set_grid(struct tutti_recording *recording, unsigned index, const uint32_t grid[3])
{
	int error = launch_use(recording, index);
	struct tutti_dispatch_packet launch;

	if (error || !grid || !grid[0])
		return error ? error : -EINVAL;
	launch = recording->launch[index];
	launch.grid_x = grid[0];
	launch.grid_y = grid[1] ? grid[1] : 1;
	launch.grid_z = grid[2] ? grid[2] : 1;
	launch.setup = launch.grid_z > 1 || launch.workgroup_z > 1   ? 3
		       : launch.grid_y > 1 || launch.workgroup_y > 1 ? 2
								     : 1;
	if (!grid_is_whole(&launch, recording->note[index].cga))
		return -EINVAL;
	recording->launch[index] = launch;
	return changed(recording, index);
}

int tutti_recording_set_signal(struct tutti_recording *recording, unsigned index, tutti_signal_t signal)
{
	int error = launch_use(recording, index);

	if (!error && recording->queue && signal && !signal_ok(recording->queue->device, signal))
		error = -EINVAL;
	if (!error)
		error = owe(recording, index);
	if (error)
		return error;
	recording->note[index].since = recording->sent ? recording->last + 1 : 0;
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

/* The replay will decrement its signals, so waits for them are no longer in vain, even if they had been given up. */
static __attribute__((noinline, cold)) void take_signals(struct tutti_recording *recording)
{
	struct tutti_device *device = recording->queue->device;

	for (unsigned i = 0; i < recording->launches; i++)
		signal_take(device, (tutti_signal_t)(uintptr_t)recording->launch[i].signal);
}

static inline int send_part(struct tutti_recording *recording, const union tutti_packet *image, unsigned n)
{
	struct tutti_queue *queue = &recording->queue->public;
	uint64_t index;
	int error = tutti_queue_reserve(queue, n, &index);

	if (__builtin_expect(error, 0))
		return error;
	recording->last = index + n - 1;
	if (image == recording->image)
		recording->first = index;
	recording->sent = true;
	if (__builtin_expect(queue->flags & TUTTI_QUEUE_WRITE_COMBINED, 0))
		put_write_combined(queue, index, image, n);
	else
		put_packets(queue, index, image, n);
	tutti_queue_ring(queue, index + n - 1);
	return 0;
}

/* Packets that are reserved at once, so that a replay need not wait until the ring is empty. */
static inline unsigned part_of(const struct tutti_recording *recording)
{
	return (unsigned)(recording->queue->public.mask + 1) / 2;
}

static int send_parts(struct tutti_recording *recording, unsigned n)
{
	const union tutti_packet *image = recording->image;
	unsigned part = part_of(recording);

	if (n <= part)
		return n ? send_part(recording, image, n) : 0;
	for (; n; n -= part, image += part) {
		int error;

		if (part > n)
			part = n;
		error = send_part(recording, image, part);
		if (error)
			return error;
	}
	return 0;
}

static inline int send(struct tutti_recording *recording, unsigned n)
{
	int error;

	if (__builtin_expect(tutti_load_relaxed(&recording->queue->device->abandons), 0))
		take_signals(recording);
	recording->sending = true;
	error = send_parts(recording, n);
	recording->sending = false;
	return error;
}

/*
 * The references are not in the RSB, or no longer: choose them again from the current launches. Return: -EBUSY if other
 * queues still need the entries, or if this is called by a handler while a replay in the same thread waits for room for
 * its next packets, which need them.
 */
static int claim(struct tutti_recording *recording)
{
	int error = choose(recording);

	recording->resident = false;
	if (error || recording->rsb->depth > 1)
		return error ? error : -EBUSY;
	recording->epoch = rsb_claim(recording->rsb, recording->number, recording->queue,
				     recording->condense.references, recording->weight, recording->condense.entry);
	return recording->epoch ? 0 : -EBUSY;
}

/* Replays this once without references. */
static int replay_plain(struct tutti_recording *recording)
{
	recording->stale = true;
	return send(recording, build_whole(recording, false));
}

static int replay_first(struct tutti_recording *recording)
{
	unsigned n;
	int error;

	n = condense_first(&recording->condense, recording->launch, recording->launches, recording->place,
			   recording->from, recording->image);
	error = send(recording, n);
	build(recording);
	recording->resident = !error;
	return error;
}

static bool references_held(struct tutti_recording *recording)
{
	return rsb_holds(recording->rsb, recording->number, recording->condense.references, recording->condense.entry,
			 &recording->epoch);
}

static int replay_slowly(struct tutti_recording *recording)
{
	int error;

	if (queue_stopped(recording->queue))
		return -EIO;
	if (recording->form != TUTTI_REPLAY_PLAIN && !(recording->resident && references_held(recording))) {
		error = claim(recording);
		if (error)
			return error == -EBUSY ? replay_plain(recording) : error;
		if (recording->form == TUTTI_REPLAY_CONDENSED)
			return replay_first(recording);
		recording->resident = recording->stale = true;
	}
	if (recording->stale)
		build(recording);
	return send(recording, recording->images);
}

/* May another thread, or a handler, take the references away before all packets that use them are in the ring? */
static inline bool contended(const struct tutti_recording *recording)
{
	return recording->form != TUTTI_REPLAY_PLAIN &&
	       (recording->queue->public.multi || tutti_load_relaxed(&recording->rsb->users) > 1 ||
		recording->images > part_of(recording));
}

static int replay_in_order(struct tutti_recording *recording)
{
	CALL_SCOPE(call);
	struct tutti_rsb_object *rsb = recording->rsb;
	int error = recording_use(recording);

	if (error)
		return error;
	if (!recording->queue || !queue_call(&call, &recording->queue->public))
		return -EINVAL;
	pthread_mutex_lock(&rsb->order);
	rsb->depth++;
	error = replay_slowly(recording);
	rsb->depth--;
	pthread_mutex_unlock(&rsb->order);
	return error;
}

int tutti_replay(struct tutti_recording *recording)
{
	const struct tutti_rsb_object *rsb;
	bool ready;

	if (__builtin_expect(!recording_live(recording), 0))
		return -EINVAL;
	rsb = recording->rsb;
	ready = !recording->stale && !recording->sending &&
		(recording->form == TUTTI_REPLAY_PLAIN ||
		 (recording->resident && recording->epoch == tutti_load_acquire(&rsb->epoch)));
	if (__builtin_expect(!ready || contended(recording), 0))
		return replay_in_order(recording);
	if (__builtin_expect(queue_stopped(recording->queue), 0))
		return -EIO;
	return send(recording, recording->images);
}
