/* SPDX-License-Identifier: MIT */
/*
 * A trace as one page for a browser, which needs nothing but itself (spec SYS-46): page.html, which is part of the
 * program, with the trace in place of the line TRACE.
 */
#define _GNU_SOURCE /* memmem() */
#include <errno.h>
#include <string.h>

#include "trace_draw.h"

__asm__(".pushsection .rodata\n"
	"trace_page:\n"
	".incbin \"" TRACE_PAGE "\"\n"
	"trace_page_end:\n"
	".popsection\n");
extern const char trace_page[] __attribute__((visibility("hidden")));
extern const char trace_page_end[] __attribute__((visibility("hidden")));

#define MARK "\nTRACE\n"

static double us_or_end(const struct trace_model *model, uint64_t time)
{
	return trace_us(model, time == TRACE_NEVER ? model->last : time);
}

/* Names need no escapes. */
static void put_task(const struct trace_model *model, const struct trace_task *task, FILE *file)
{
	bool whole = task->ended == task->ctas;

	fprintf(file, "{name:\"%s\",queue:%u,packet:\"%llu\",ctas:%u,begun:%.3f,ended:%.3f},\n", trace_task_name(model, task),
		task->queue, (unsigned long long)task->packet, task->ctas, trace_us(model, task->begun),
		us_or_end(model, whole ? task->ended_last : TRACE_NEVER));
}

static void put_cta(const struct trace_model *model, const struct trace_cta *cta, FILE *file)
{
	fprintf(file, "[%u,%u,%u,%u,%.3f,%.3f,%.3f,%u],\n", cta->task, cta->number, cta->sm, cta->lane,
		trace_us(model, cta->taken), us_or_end(model, cta->run), us_or_end(model, cta->done), cta->group);
}

static void put_trace(const struct trace_model *model, FILE *file)
{
	fprintf(file, "{sms:%u,lost:%llu,end:%.3f,gpcs:[", model->card.sms, (unsigned long long)model->head.lost,
		trace_us(model, model->last));
	for (unsigned g = 0; g < model->card.gpcs; g++)
		fprintf(file, "%s%u", g ? "," : "", model->card.gpc[g].first_sm);
	fprintf(file, "],tasks:[\n");
	for (uint32_t t = 0; t < model->task_count; t++)
		put_task(model, &model->tasks[t], file);
	fprintf(file, "],ctas:[\n");
	for (uint32_t i = 0; i < model->cta_count; i++)
		put_cta(model, &model->ctas[i], file);
	fprintf(file, "]}");
}

int trace_write_html(const struct trace_model *model, FILE *file)
{
	size_t bytes = (size_t)(trace_page_end - trace_page);
	const char *mark = memmem(trace_page, bytes, MARK, strlen(MARK));

	if (!mark)
		return -EINVAL;
	fwrite(trace_page, 1, (size_t)(mark + 1 - trace_page), file);
	put_trace(model, file);
	mark += strlen(MARK) - 1;
	fwrite(mark, 1, (size_t)(trace_page_end - mark), file);
	return ferror(file) ? -EIO : 0;
}
