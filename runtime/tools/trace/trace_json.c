/* SPDX-License-Identifier: MIT */
/*
 * Chrome's trace event format, which chrome://tracing and Perfetto show (spec SYS-46): a process for each GPC with a
 * thread for each CTA slot of an SM, and one more process for events that belong to no SM.
 */
#include <errno.h>

#include "trace_draw.h"

#define LANES 64u     /* threads of an SM */
#define CARD_PID 1000u /* process of events that belong to no SM */

/* Events without a duration that belong to no CTA. */
static bool is_moment(unsigned kind)
{
	switch (kind) {
	case TUTTI_TRACE_DOORBELL: case TUTTI_TRACE_FETCH: case TUTTI_TRACE_EXPAND: case TUTTI_TRACE_STATE:
	case TUTTI_TRACE_PLACE: case TUTTI_TRACE_COMPLETE: case TUTTI_TRACE_FAULT:
		return true;
	default:
		return false;
	}
}

static void put_thread(FILE *file, unsigned process, unsigned thread, const char *name, unsigned number, const char *suffix)
{
	fprintf(file, ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":\"", process, thread);
	fprintf(file, name, number);
	fprintf(file, "%s\"}}", suffix);
}

static void put_names(const struct trace_model *model, FILE *file)
{
	static const char *const lane[] = { "", " (more at the same time)" };

	fprintf(file, "{\"traceEvents\":[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%u,\"args\":{\"name\":\"card\"}}", CARD_PID);
	for (unsigned g = 0; g < model->card.gpcs; g++)
		fprintf(file, ",\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%u,\"args\":{\"name\":\"GPC %u\"}}", g, g);
	for (unsigned kind = 0; kind < TUTTI_TRACE_KINDS; kind++)
		if (is_moment(kind))
			put_thread(file, CARD_PID, kind, tutti_trace_name(kind), 0, "");
	for (unsigned sm = 0; sm < model->card.sms; sm++)
		for (unsigned l = 0; l < LANES && l < model->card.cta_slots; l++)
			put_thread(file, trace_gpc(model, sm), sm * LANES + l, "SM %u", sm, lane[l > 0]);
}

static void put_cta(const struct trace_model *model, const struct trace_cta *cta, FILE *file)
{
	const struct trace_task *task = &model->tasks[cta->task];
	double begin = trace_us(model, cta->run == TRACE_NEVER ? cta->taken : cta->run);
	double end = trace_us(model, cta->done == TRACE_NEVER ? model->last : cta->done);

	fprintf(file, ",\n{\"name\":\"%s\",\"cat\":\"run\",\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,"
		"\"args\":{\"queue\":%u,\"packet\":%llu,\"cta\":%u,\"taken\":%.3f", trace_task_name(model, task),
		trace_gpc(model, cta->sm), cta->sm * LANES + cta->lane % LANES, begin, end > begin ? end - begin : 0, task->queue,
		(unsigned long long)task->packet, cta->number, trace_us(model, cta->taken));
	if (cta->group)
		fprintf(file, ",\"cga\":%u", cta->group - 1);
	fprintf(file, "}}");
}

static void put_moment(const struct trace_model *model, const struct tutti_trace *r, FILE *file)
{
	if (!is_moment(r->kind))
		return;
	fprintf(file, ",\n{\"name\":\"%s\",\"cat\":\"card\",\"ph\":\"i\",\"s\":\"t\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,\"args\":{",
		tutti_trace_name(r->kind), CARD_PID, r->kind, trace_us(model, r->time));
	if (r->queue != 0xffff)
		fprintf(file, "\"queue\":%u,", r->queue);
	if (r->kind == TUTTI_TRACE_PLACE || r->kind == TUTTI_TRACE_STATE)
		fprintf(file, "\"packet\":%llu,\"ctas\":%u}}", (unsigned long long)r->packet, r->cta);
	else
		fprintf(file, "\"value\":%u}}", r->value);
}

int trace_write_json(const struct trace_model *model, FILE *file)
{
	put_names(model, file);
	for (uint32_t i = 0; i < model->cta_count; i++)
		put_cta(model, &model->ctas[i], file);
	for (size_t i = 0; i < model->count; i++)
		put_moment(model, &model->records[i], file);
	fprintf(file, "\n],\"displayTimeUnit\":\"ns\",\"otherData\":{\"lost\":%llu}}\n", (unsigned long long)model->head.lost);
	return ferror(file) ? -EIO : 0;
}
