/* SPDX-License-Identifier: MIT */
/* SMs over time: a row for each SM, with a bar for each CTA from its launch to its completion. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "svg.h"
#include "trace_draw.h"

#define LEFT 84.0
#define RIGHT 28.0
#define TOP 88.0
#define CHART_WIDTH 940.0
#define CHART_HEIGHT 560.0
#define SM_GAP 1.5
#define GPC_GAP 9.0
#define LEGEND_LINE 17.0
#define LEGEND_MOST 16u

struct chart {
	const struct trace_model *model;
	FILE *file;
	double from, to; /* µs */
	double lane;     /* height */
	double y[TUTTI_MAX_SMS + 1];
	unsigned lanes[TUTTI_MAX_SMS];
	uint32_t *colour; /* colour of each task's first CGA */
	uint32_t groups;
};

static double time_x(const struct chart *chart, double us)
{
	double x = LEFT + (us - chart->from) * CHART_WIDTH / (chart->to - chart->from);

	return x < LEFT ? LEFT : x > LEFT + CHART_WIDTH ? LEFT + CHART_WIDTH : x;
}

static double end_of(const struct chart *chart, uint64_t time)
{
	return time == TRACE_NEVER ? chart->to : trace_us(chart->model, time);
}

static bool shown(const struct chart *chart, const struct trace_cta *cta)
{
	return trace_us(chart->model, cta->taken) <= chart->to && end_of(chart, cta->done) >= chart->from;
}

/* ---- measure ---- */

static void place_rows(struct chart *chart)
{
	const struct trace_model *model = chart->model;
	unsigned total = 0, gpc = 0;
	double y = TOP;

	for (uint32_t i = 0; i < model->cta_count; i++) {
		const struct trace_cta *cta = &model->ctas[i];

		if (shown(chart, cta) && cta->lane >= chart->lanes[cta->sm])
			chart->lanes[cta->sm] = cta->lane + 1u;
	}
	for (unsigned sm = 0; sm < model->card.sms; sm++) {
		if (!chart->lanes[sm])
			chart->lanes[sm] = 1;
		total += chart->lanes[sm];
	}
	chart->lane = CHART_HEIGHT / total;
	chart->lane = chart->lane > 11 ? 11 : chart->lane < 2 ? 2 : chart->lane;
	for (unsigned sm = 0; sm < model->card.sms; sm++) {
		if (trace_gpc(model, sm) != gpc) {
			gpc = trace_gpc(model, sm);
			y += GPC_GAP;
		}
		chart->y[sm] = y;
		y += chart->lanes[sm] * chart->lane + SM_GAP;
	}
	chart->y[model->card.sms] = y;
}

/* Each CGA gets its own colour; the colours of a task follow those of the task before. */
static int give_colours(struct chart *chart)
{
	const struct trace_model *model = chart->model;

	chart->colour = calloc(model->task_count + 1, sizeof(*chart->colour));
	if (!chart->colour)
		return -ENOMEM;
	for (uint32_t t = 0; t < model->task_count; t++) {
		const struct trace_task *task = &model->tasks[t];

		chart->colour[t] = chart->groups;
		if (task->group)
			chart->groups += task->ctas / task->group;
	}
	return 0;
}

/* ---- draw ---- */

/* Plain CTAs have a pale colour for each kernel and queue, CGAs a vivid one each. */
static const char *colour_of(const struct chart *chart, const struct trace_cta *cta, bool running)
{
	const struct trace_task *task = &chart->model->tasks[cta->task];

	if (cta->group)
		return svg_colour(1 + chart->colour[cta->task] + cta->group - 1, 0.68, running ? 0.52 : 0.8);
	return svg_colour(task->colour, 0.32, running ? 0.7 : 0.88);
}

static void draw_cta(struct chart *chart, const struct trace_cta *cta)
{
	const struct trace_task *task = &chart->model->tasks[cta->task];
	double taken = trace_us(chart->model, cta->taken), run = end_of(chart, cta->run), done = end_of(chart, cta->done);
	double x = time_x(chart, taken), end = time_x(chart, done), start = time_x(chart, run);
	double y = chart->y[cta->sm] + cta->lane * chart->lane, h = chart->lane > 4 ? chart->lane - 0.8 : chart->lane;
	char tip[256];

	if (!shown(chart, cta))
		return;
	snprintf(tip, sizeof(tip), "SM %u: %.80s, queue %u packet %llu CTA %u, %.1f µs from %.1f on", cta->sm,
		 trace_task_name(chart->model, task), task->queue, (unsigned long long)task->packet, cta->number, done - taken, taken);
	if (cta->group)
		snprintf(tip + strlen(tip), sizeof(tip) - strlen(tip), ", CGA %u", cta->group - 1);
	if (start > x + 0.3)
		svg_rect(chart->file, x, y, start - x, h, colour_of(chart, cta, false), NULL, NULL);
	svg_rect(chart->file, start, y, end - start > 0.7 ? end - start : 0.7, h, colour_of(chart, cta, true), NULL, tip);
}

static void draw_rows(struct chart *chart)
{
	const struct tutti_discovery *card = &chart->model->card;

	for (unsigned sm = 0; sm < card->sms; sm++) {
		double h = chart->lanes[sm] * chart->lane;

		svg_rect(chart->file, LEFT, chart->y[sm], CHART_WIDTH, h, "#f4f6f8", NULL, NULL);
		if (h >= 8 || sm % 4 == 0)
			svg_text(chart->file, LEFT - 6, chart->y[sm] + h / 2 + 3, h >= 9 ? 9 : 7, SVG_END, SVG_INK, "%u", sm);
	}
	for (unsigned g = 0; g < card->gpcs; g++) {
		const struct tutti_gpc *gpc = &card->gpc[g];
		unsigned last = gpc->first_sm + gpc->sms - 1u;
		double y1 = chart->y[gpc->first_sm], y2 = chart->y[last] + chart->lanes[last] * chart->lane;
		char text[16];

		snprintf(text, sizeof(text), "GPC %u", g);
		svg_text_up(chart->file, LEFT - 38, (y1 + y2) / 2, 11, text);
		svg_line(chart->file, LEFT - 30, y1, LEFT - 30, y2, SVG_INK, 1);
	}
}

static void draw_time_axis(struct chart *chart)
{
	double bottom = chart->y[chart->model->card.sms] + 4, step = svg_step(chart->to - chart->from, 10);
	double first = step * (double)(long)(chart->from / step), t;

	/* Adding a step to a time that is very late may leave it as it is. */
	for (unsigned i = 0; (t = first + i * step) <= chart->to; i++) {
		if (t < chart->from)
			continue;
		svg_line(chart->file, time_x(chart, t), TOP - 4, time_x(chart, t), bottom, SVG_FAINT, 0.7);
		svg_text(chart->file, time_x(chart, t), bottom + 14, 10, SVG_MIDDLE, SVG_INK, "%g", t);
	}
	if (chart->model->card.features & TUTTI_FEATURE_EMULATED)
		svg_text(chart->file, LEFT + CHART_WIDTH / 2, bottom + 31, 12, SVG_MIDDLE, SVG_INK,
			 "µs after the first task started (time of this machine, unless the card was deterministic)");
	else
		svg_text(chart->file, LEFT + CHART_WIDTH / 2, bottom + 31, 12, SVG_MIDDLE, SVG_INK,
			 "card time, µs after the first task started (1 µs = %u cycles of the soft core)",
			 chart->model->card.soft_core_hz / 1000000);
	svg_text_up(chart->file, 20, (TOP + bottom) / 2, 12, "SM");
}

/* Completion words, along the upper edge. */
static void draw_signals(struct chart *chart)
{
	for (size_t i = 0; i < chart->model->count; i++) {
		const struct tutti_trace *r = &chart->model->records[i];
		double t = trace_us(chart->model, r->time);
		char tip[80];

		if (r->kind != TUTTI_TRACE_COMPLETE || t < chart->from || t > chart->to)
			continue;
		snprintf(tip, sizeof(tip), "queue %u: completion signal at %.2f µs", r->queue, t);
		svg_triangle(chart->file, time_x(chart, t), TOP - 5, svg_colour(r->queue, 0.5, 0.45), tip);
	}
}

/* What one line of the legend is about: a kernel in a queue. */
struct line {
	const struct trace_task *first;
	uint32_t plain, ctas, grouped, groups;
};

static void count_task(struct line *line, const struct trace_task *task)
{
	if (!line->first)
		line->first = task;
	line->grouped += task->group != 0;
	line->groups += task->group ? task->ctas / task->group : 0;
	line->plain += !task->group;
	line->ctas += task->group ? 0 : task->taken;
}

/* Lines in the order of their colours. Return: a table of @n, which the caller frees; NULL: no memory. */
static struct line *count_lines(const struct trace_model *model, unsigned *n)
{
	struct line *lines;

	*n = model->colour_count;
	lines = calloc(*n + 1, sizeof(*lines));
	for (uint32_t t = 0; lines && t < model->task_count; t++)
		count_task(&lines[model->tasks[t].colour], &model->tasks[t]);
	return lines;
}

static void draw_line(struct chart *chart, const struct line *line, double y)
{
	double x = LEFT + 16;

	if (line->plain) {
		svg_rect(chart->file, x, y - 9, 11, 11, svg_colour(line->first->colour, 0.32, 0.7), SVG_INK,
			 NULL);
		svg_text(chart->file, x + 16, y, 11, SVG_START, SVG_INK, "%u plain grid%s, %u CTAs", line->plain,
			 line->plain == 1 ? "" : "s", line->ctas);
		x += 230;
	}
	if (line->grouped) {
		for (unsigned i = 0; i < 4; i++)
			svg_rect(chart->file, x + 9 * i, y - 9, 9, 11, svg_colour(1 + i, 0.68, 0.52), SVG_INK, NULL);
		svg_text(chart->file, x + 42, y, 11, SVG_START, SVG_INK, "%u grid%s in %u CGAs, each its own colour", line->grouped,
			 line->grouped == 1 ? "" : "s", line->groups);
	}
	svg_text(chart->file, LEFT + 540, y, 11, SVG_START, SVG_INK, "%.60s, queue %u", trace_task_name(chart->model, line->first),
		 line->first->queue);
}

static void draw_legend(struct chart *chart, double y, const struct line *lines, unsigned n)
{
	unsigned drawn = 0;

	for (unsigned i = 0; i < n && drawn < LEGEND_MOST; i++)
		if (lines[i].first) {
			draw_line(chart, &lines[i], y + drawn * LEGEND_LINE);
			drawn++;
		}
	svg_text(chart->file, LEFT, y + drawn * LEGEND_LINE, 11, SVG_START, SVG_INK,
		 "pale: has its slot and waits for its SM; solid: runs; triangles: completion signals");
}

static unsigned drawn_lines(const struct line *lines, unsigned n)
{
	unsigned used = 0;

	for (unsigned i = 0; i < n; i++)
		used += lines[i].first != NULL;
	return used < LEGEND_MOST ? used : LEGEND_MOST;
}

int trace_draw_time(const struct trace_model *model, double from, double to, FILE *file)
{
	struct chart chart = { .model = model, .file = file, .from = from, .to = to > from ? to : from + 1 };
	unsigned n;
	struct line *lines = count_lines(model, &n);
	double bottom;

	if (!lines || give_colours(&chart)) {
		free(lines);
		return -ENOMEM;
	}
	place_rows(&chart);
	bottom = chart.y[model->card.sms];
	svg_begin(file, LEFT + CHART_WIDTH + RIGHT, bottom + 70 + LEGEND_LINE * (drawn_lines(lines, n) + 1), "CTAs on SMs by time");
	svg_text(file, LEFT, 28, 17, SVG_START, SVG_INK, "%u CTAs of %u task%s on %u SMs", model->cta_count, model->task_count,
		 model->task_count == 1 ? "" : "s", model->card.sms);
	svg_text(file, LEFT, 48, 11.5, SVG_START, SVG_INK, "%u placements, %u CGAs%s", model->placement_count,
		 chart.groups, model->head.lost ? "; RECORDS WERE LOST" : "");
	draw_rows(&chart);
	draw_time_axis(&chart);
	for (uint32_t i = 0; i < model->cta_count; i++)
		draw_cta(&chart, &model->ctas[i]);
	draw_signals(&chart);
	draw_legend(&chart, bottom + 58, lines, n);
	svg_end(file);
	free(chart.colour);
	free(lines);
	return ferror(file) ? -EIO : 0;
}
