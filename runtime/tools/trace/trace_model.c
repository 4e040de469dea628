/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace_model.h"

#define NONE UINT32_MAX
#define SLOTS 256u

/* ---- the file ---- */

static int read_records(struct trace_model *model, FILE *file)
{
	size_t room = 0, n;

	do {
		if (model->count == room) {
			struct tutti_trace *more = realloc(model->records, (room + 65536) * sizeof(*more));

			if (!more)
				return -ENOMEM;
			model->records = more;
			room += 65536;
		}
		n = fread(model->records + model->count, sizeof(*model->records), room - model->count, file);
		model->count += n;
	} while (n);
	return ferror(file) ? -EIO : 0;
}

static int read_file(struct trace_model *model, FILE *file)
{
	const struct tutti_trace_file *head = &model->head;

	size_t bytes = fread(&model->head, 1, sizeof(model->head), file);

	if (bytes >= sizeof(head->magic) && head->magic != TUTTI_TRACE_MAGIC)
		return -EINVAL;
	if (bytes < sizeof(*head))
		return -ENODATA;
	if (head->version != TUTTI_TRACE_VERSION || head->discovery_bytes != sizeof(model->card))
		return -EINVAL;
	if (fread(&model->card, sizeof(model->card), 1, file) != 1)
		return -ENODATA;
	if (!model->card.sms || model->card.sms > TUTTI_MAX_SMS || model->card.gpcs > TUTTI_MAX_GPCS ||
	    !model->card.timer_hz || (head->places && head->places != model->card.sms))
		return -EINVAL;
	if (head->places) {
		model->places = calloc(head->places, sizeof(*model->places));
		if (!model->places)
			return -ENOMEM;
		if (fread(model->places, sizeof(*model->places), head->places, file) != head->places)
			return -ENODATA;
	}
	return read_records(model, file);
}

/* ---- names of kernels ---- */

static bool usual(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '.' || c == '$';
}

static void note_kernel(struct trace_model *model, const struct tutti_trace *r)
{
	struct tutti_trace_kernel part;
	struct trace_kernel *kernel;
	size_t length;

	memcpy(&part, r, sizeof(part));
	if (!part.part)
		model->kernels[model->kernel_count++] = (struct trace_kernel){ .entry = part.entry };
	if (!model->kernel_count)
		return;
	kernel = &model->kernels[model->kernel_count - 1];
	length = strlen(kernel->name);
	for (size_t i = 0; i < sizeof(part.text) && part.text[i] && length < TRACE_NAME_BYTES - 1; i++)
		kernel->name[length++] = usual(part.text[i]) ? part.text[i] : '?';
	kernel->same = 0;
	while (strcmp(model->kernels[kernel->same].name, kernel->name))
		kernel->same++;
}

uint32_t trace_kernel_at(const struct trace_model *model, uint64_t entry)
{
	uint32_t i = model->kernel_count;

	while (i && model->kernels[i - 1].entry != entry)
		i--;
	return i ? i - 1 : TRACE_NAMELESS;
}

/* What is not from the card is in tables of its own now. */
static void drop_names(struct trace_model *model)
{
	size_t kept = 0;

	for (size_t i = 0; i < model->count; i++)
		if (model->records[i].kind != TUTTI_TRACE_KERNEL)
			model->records[kept++] = model->records[i];
	model->count = kept;
}

/* ---- from records to tasks, placements and CTAs ---- */

/* What is known at the current record. */
struct replay {
	struct trace_model *model;
	uint32_t task[SLOTS];             /* of each slot, NONE = not known */
	uint32_t resident[TUTTI_MAX_SMS]; /* CTAs on each SM: first of a list */
	uint8_t free[TUTTI_MAX_SMS];      /* before the next placement */
	bool free_known, open;            /* the last placement may still grow */
};

static void note_state(struct replay *replay, const struct tutti_trace *r)
{
	struct trace_model *model = replay->model;
	uint32_t *task = &replay->task[r->slot % SLOTS];
	const struct trace_task *old = *task == NONE ? NULL : &model->tasks[*task];

	/* the same state again: to SMs that were added, or to continue after an eviction */
	if (old && old->queue == r->queue && old->packet == r->packet && old->ctas == r->cta &&
	    !(old->ended == old->ctas && old->taken == old->ctas))
		return;
	*task = model->task_count++;
	model->tasks[*task] = (struct trace_task){
		.packet = r->packet, .queue = r->queue, .waves = r->sm, .ctas = r->cta, .kernel = TRACE_NAMELESS,
		.begun = r->time, .ended_last = TRACE_NEVER, .group = r->value & 0xffffff, .kind = r->value >> 24,
	};
}

static void note_entry(struct replay *replay, const struct tutti_trace *r)
{
	uint32_t task = replay->task[r->slot % SLOTS], kernel = trace_kernel_at(replay->model, r->packet);

	if (task != NONE && kernel != TRACE_NAMELESS)
		replay->model->tasks[task].kernel = replay->model->kernels[kernel].same;
}

static void note_free(struct replay *replay, const struct tutti_trace *r)
{
	struct tutti_trace_free free;
	unsigned i;

	memcpy(&free, r, sizeof(free));
	for (i = 0; i < free.sms && i < TUTTI_TRACE_SMS && free.first + i < replay->model->card.sms; i++)
		replay->free[free.first + i] = free.free[i];
	replay->free_known = true;
}

static int note_place(struct replay *replay, const struct tutti_trace *r)
{
	struct trace_model *model = replay->model;
	uint32_t task = replay->task[r->slot % SLOTS];
	struct trace_placement *p = &model->placements[model->placement_count];
	bool free_known = replay->free_known;

	replay->free_known = false;
	if (task == NONE)
		return 0;
	if (replay->open && p[-1].task == task)
		return 0;
	*p = (struct trace_placement){ .time = r->time, .task = task, .first = model->cta_count };
	model->placement_count++;
	replay->open = true;
	if (!free_known)
		return 0;
	p->free = malloc(model->card.sms);
	if (!p->free)
		return -ENOMEM;
	memcpy(p->free, replay->free, model->card.sms);
	return 0;
}

/* The lowest lane of an SM that is free. */
static uint16_t free_lane(const struct replay *replay, unsigned sm)
{
	const struct trace_cta *ctas = replay->model->ctas;
	uint16_t lane = 0;
	uint32_t i = replay->resident[sm];

	while (i != NONE) {
		if (ctas[i].lane != lane) {
			i = ctas[i].next;
			continue;
		}
		lane++;
		i = replay->resident[sm];
	}
	return lane;
}

static void note_cta(struct replay *replay, const struct tutti_trace *r)
{
	struct trace_model *model = replay->model;
	uint32_t task = replay->task[r->slot % SLOTS];

	if (task == NONE || r->sm >= model->card.sms)
		return;
	model->ctas[model->cta_count] = (struct trace_cta){
		.task = task, .number = r->cta, .group = r->value, .sm = r->sm, .lane = free_lane(replay, r->sm),
		.taken = r->time, .run = TRACE_NEVER, .done = TRACE_NEVER, .next = replay->resident[r->sm],
	};
	replay->resident[r->sm] = model->cta_count++;
	model->tasks[task].taken++;
	if (replay->open && model->placements[model->placement_count - 1].task == task)
		model->placements[model->placement_count - 1].ctas++;
}

/* The link to a record's CTA; NULL: it started before the trace did. */
static uint32_t *find_resident(struct replay *replay, const struct tutti_trace *r)
{
	struct trace_cta *ctas = replay->model->ctas;
	uint32_t *at, task = replay->task[r->slot % SLOTS];

	if (r->sm >= replay->model->card.sms)
		return NULL;
	for (at = &replay->resident[r->sm]; *at != NONE; at = &ctas[*at].next)
		if (ctas[*at].task == task && ctas[*at].number == r->cta)
			return at;
	return NULL;
}

static void note_run(struct replay *replay, const struct tutti_trace *r)
{
	uint32_t *at = find_resident(replay, r);

	if (at && replay->model->ctas[*at].run == TRACE_NEVER)
		replay->model->ctas[*at].run = r->time;
}

static void note_done(struct replay *replay, const struct tutti_trace *r)
{
	uint32_t *at = find_resident(replay, r);
	struct trace_cta *cta;

	replay->open = false;
	if (!at)
		return;
	cta = &replay->model->ctas[*at];
	cta->done = r->time;
	replay->model->tasks[cta->task].ended++;
	replay->model->tasks[cta->task].ended_last = r->time;
	*at = cta->next;
}

static int replay_record(struct replay *replay, const struct tutti_trace *r)
{
	switch (r->kind) {
	case TUTTI_TRACE_STATE:
		note_state(replay, r);
		break;
	case TUTTI_TRACE_ENTRY:
		note_entry(replay, r);
		break;
	case TUTTI_TRACE_KERNEL:
		note_kernel(replay->model, r);
		break;
	case TUTTI_TRACE_FREE:
		note_free(replay, r);
		break;
	case TUTTI_TRACE_PLACE:
		return note_place(replay, r);
	case TUTTI_TRACE_CTA:
		note_cta(replay, r);
		break;
	case TUTTI_TRACE_RUN:
		note_run(replay, r);
		break;
	case TUTTI_TRACE_CTA_DONE:
		note_done(replay, r);
		break;
	}
	return 0;
}

static int allocate(struct trace_model *model)
{
	size_t count[TUTTI_TRACE_KINDS] = { 0 }, names = 0;

	for (size_t i = 0; i < model->count; i++) {
		names += model->records[i].kind == TUTTI_TRACE_KERNEL;
		if (model->records[i].kind < TUTTI_TRACE_KINDS)
			count[model->records[i].kind]++;
	}
	model->tasks = calloc(count[TUTTI_TRACE_STATE] + 1, sizeof(*model->tasks));
	model->ctas = calloc(count[TUTTI_TRACE_CTA] + 1, sizeof(*model->ctas));
	model->placements = calloc(count[TUTTI_TRACE_PLACE] + 1, sizeof(*model->placements));
	model->kernels = calloc(names + 1, sizeof(*model->kernels));
	return model->tasks && model->ctas && model->placements && model->kernels ? 0 : -ENOMEM;
}

static void find_times(struct trace_model *model)
{
	bool found = false;

	if (model->count)
		model->first = model->last = model->records[0].time;
	for (size_t i = 0; i < model->count; i++) {
		const struct tutti_trace *r = &model->records[i];

		if (r->kind == TUTTI_TRACE_STATE && !found) {
			found = true;
			model->first = r->time;
		}
		if (r->time > model->last)
			model->last = r->time;
	}
}

/* One for each pair of kernel and queue, in the order in which they come first. */
static int give_colours(struct trace_model *model)
{
	const struct trace_task **first = calloc(model->task_count + 1, sizeof(*first));

	if (!first)
		return -ENOMEM;
	for (uint32_t t = 0; t < model->task_count; t++) {
		struct trace_task *task = &model->tasks[t];
		uint32_t i = 0;

		while (i < model->colour_count && (first[i]->kernel != task->kernel || first[i]->queue != task->queue))
			i++;
		if (i == model->colour_count)
			first[model->colour_count++] = task;
		task->colour = i;
	}
	free(first);
	return 0;
}

static int build(struct trace_model *model)
{
	struct replay *replay = calloc(1, sizeof(*replay));
	int error = replay ? allocate(model) : -ENOMEM;

	if (!error) {
		replay->model = model;
		memset(replay->task, 0xff, sizeof(replay->task));
		memset(replay->resident, 0xff, sizeof(replay->resident));
	}
	for (size_t i = 0; i < model->count && !error; i++)
		error = replay_record(replay, &model->records[i]);
	free(replay);
	if (!error)
		error = give_colours(model);
	drop_names(model);
	find_times(model);
	return error;
}

int trace_load(struct trace_model *model, const char *path)
{
	FILE *file = fopen(path, "re");
	int error;

	memset(model, 0, sizeof(*model));
	if (!file)
		return -errno;
	error = read_file(model, file);
	fclose(file);
	if (!error)
		error = build(model);
	if (error)
		trace_unload(model);
	return error;
}

void trace_unload(struct trace_model *model)
{
	for (uint32_t i = 0; i < model->placement_count; i++)
		free(model->placements[i].free);
	free(model->placements);
	free(model->kernels);
	free(model->ctas);
	free(model->tasks);
	free(model->records);
	free(model->places);
	memset(model, 0, sizeof(*model));
}

double trace_us(const struct trace_model *model, uint64_t time)
{
	return (double)(int64_t)(time - model->first) * 1e6 / (double)model->card.timer_hz;
}

void trace_from_start(struct trace_model *model)
{
	for (size_t i = 0; i < model->count; i++)
		if (model->records[i].time < model->first)
			model->first = model->records[i].time;
}

const char *trace_task_name(const struct trace_model *model, const struct trace_task *task)
{
	static char text[64];

	if (task->kernel != TRACE_NAMELESS)
		return model->kernels[task->kernel].name;
	snprintf(text, sizeof(text), "queue %u packet %llu", task->queue, (unsigned long long)task->packet);
	return text;
}

unsigned trace_gpc(const struct trace_model *model, unsigned sm)
{
	unsigned g = 0;

	while (g + 1 < model->card.gpcs && sm >= model->card.gpc[g + 1].first_sm)
		g++;
	return g;
}
