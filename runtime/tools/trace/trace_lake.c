/* SPDX-License-Identifier: MIT */
/*
 * The lake: each SM is as deep as it had free slots before a placement. CTAs fill it from the deepest level up, so that
 * the surface becomes level (spec CGA-06).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "svg.h"
#include "trace_draw.h"

#define LEFT 70.0
#define TOP 84.0
#define BOTTOM 96.0
#define GAP 8.0 /* between GPCs */
#define GROUND "#b9a58c"
#define AIR "#f1f5f8"

struct lake {
	const struct trace_model *model;
	const struct trace_placement *placement;
	FILE *file;
	unsigned depth;             /* most free slots */
	double cell, row, right;    /* size of a slot; width of the column with the CTAs of each level */
	unsigned gaps;              /* GPCs before the SM being drawn */
	unsigned placed[TUTTI_MAX_SMS];
	unsigned level[UINT8_MAX + 1]; /* CTAs that came to each level */
};

static double sm_x(const struct lake *lake, unsigned sm)
{
	return LEFT + sm * lake->cell + trace_gpc(lake->model, sm) * GAP;
}

/* Level k lies between depths k - 1 and k. */
static double level_y(const struct lake *lake, unsigned level)
{
	return TOP + (level - 1) * lake->row;
}

static const char *cta_colour(const struct trace_cta *cta, unsigned number, unsigned count)
{
	if (cta->group)
		return svg_colour(cta->group - 1, 0.62, 0.58);
	/* the order of CTAs: the later, the lighter the water */
	return svg_colour(0, 0.6, 0.42 + 0.3 * number / (count ? count : 1));
}

static void draw_cta(struct lake *lake, const struct trace_cta *cta, unsigned number)
{
	unsigned free = lake->placement->free[cta->sm], level = free - lake->placed[cta->sm];
	char tip[96];

	/* more CTAs than there were free slots: the firmware cannot do that, but a damaged file can say so */
	if (lake->placed[cta->sm] >= free)
		return;
	lake->placed[cta->sm]++;
	lake->level[level]++;
	snprintf(tip, sizeof(tip), "CTA %u on SM %u, level %u", cta->number, cta->sm, level);
	if (cta->group)
		snprintf(tip + strlen(tip), sizeof(tip) - strlen(tip), ", CGA %u", cta->group - 1);
	svg_rect(lake->file, sm_x(lake, cta->sm), level_y(lake, level), lake->cell, lake->row,
		 cta_colour(cta, number, lake->placement->ctas), SVG_PAPER, tip);
	if (lake->cell >= 18)
		svg_text(lake->file, sm_x(lake, cta->sm) + lake->cell / 2, level_y(lake, level) + lake->row * 0.68,
			 lake->cell < 22 ? 7.5 : 8.5, SVG_MIDDLE, SVG_PAPER, "%u", cta->number);
}

static void draw_basin(struct lake *lake)
{
	double bottom = level_y(lake, lake->depth + 1) + 6;

	for (unsigned g = 0; g < lake->model->card.gpcs; g++) {
		const struct tutti_gpc *gpc = &lake->model->card.gpc[g];

		svg_rect(lake->file, sm_x(lake, gpc->first_sm), TOP, gpc->sms * lake->cell, bottom - TOP, GROUND, NULL, NULL);
	}
	for (unsigned sm = 0; sm < lake->model->card.sms; sm++) {
		unsigned free = lake->placement->free[sm];
		double y = level_y(lake, free + 1);

		if (free)
			svg_rect(lake->file, sm_x(lake, sm), TOP, lake->cell, y - TOP, AIR, NULL, NULL);
		for (unsigned k = 1; k < free; k++)
			svg_line(lake->file, sm_x(lake, sm), level_y(lake, k + 1), sm_x(lake, sm) + lake->cell,
				 level_y(lake, k + 1), SVG_FAINT, 0.5);
		if (sm % (lake->cell >= 14 ? 1 : 4) == 0)
			svg_text(lake->file, sm_x(lake, sm) + lake->cell / 2, bottom + 13, lake->cell >= 18 ? 10 : 8,
				 SVG_MIDDLE, SVG_INK, "%u", sm);
	}
}

static void draw_gpcs(struct lake *lake)
{
	double y = level_y(lake, lake->depth + 1) + 38;

	for (unsigned g = 0; g < lake->model->card.gpcs; g++) {
		const struct tutti_gpc *gpc = &lake->model->card.gpc[g];
		double x1 = sm_x(lake, gpc->first_sm), x2 = x1 + gpc->sms * lake->cell;

		svg_line(lake->file, x1, y - 14, x2, y - 14, SVG_INK, 1);
		svg_text(lake->file, (x1 + x2) / 2, y, 11, SVG_MIDDLE, SVG_INK, "GPC %u", g);
	}
}

static void draw_axes(struct lake *lake, double width)
{
	unsigned every = lake->depth > 16 ? 4 : lake->depth > 8 ? 2 : 1;
	double middle = (TOP + level_y(lake, lake->depth + 1)) / 2;

	for (unsigned k = 1; k <= lake->depth; k++) {
		double y = level_y(lake, k) + lake->row * 0.7;

		if (k % every == 0 || k == 1)
			svg_text(lake->file, LEFT - 8, y, 10, SVG_END, SVG_INK, "%u", k);
		if (lake->level[k])
			svg_text(lake->file, width - lake->right + 6, y, 10, SVG_START, SVG_INK, "%u", lake->level[k]);
	}
	svg_text_up(lake->file, 22, middle, 12, "free slots");
	svg_text(lake->file, LEFT - 8, TOP + 3, 10, SVG_END, SVG_INK, "full");
	svg_text(lake->file, width - lake->right + 6, TOP - 4, 10, SVG_START, SVG_INK, "CTAs per level");
	svg_line(lake->file, LEFT, TOP, width - lake->right, TOP, SVG_INK, 1);
}

/* A swatch and what it means. Return: where the next one goes. */
static double legend_item(FILE *file, double x, double y, const char *colour, const char *text)
{
	svg_rect(file, x, y - 9, 11, 11, colour, SVG_INK, NULL);
	svg_text(file, x + 16, y, 11, SVG_START, SVG_INK, "%s", text);
	return x + 34 + 6.6 * (double)strlen(text);
}

static void draw_legend(struct lake *lake, double height)
{
	const struct trace_cta *ctas = lake->model->ctas + lake->placement->first;
	double x = LEFT, y = height - 18;
	char text[64];
	uint32_t groups = 0;

	for (uint32_t i = 0; i < lake->placement->ctas; i++)
		if (ctas[i].group > groups)
			groups = ctas[i].group;
	if (!groups) {
		x = legend_item(lake->file, x, y, svg_colour(0, 0.6, 0.42), "CTAs, dark first");
	} else if (groups <= 8) {
		for (uint32_t g = 0; g < groups; g++) {
			snprintf(text, sizeof(text), "CGA %u", g);
			x = legend_item(lake->file, x, y, svg_colour(g, 0.62, 0.58), text);
		}
	} else {
		x = legend_item(lake->file, x, y, svg_colour(0, 0.62, 0.58), "CTAs, a colour for each CGA");
	}
	x = legend_item(lake->file, x, y, AIR, "free slots left");
	legend_item(lake->file, x, y, GROUND, "taken by others");
}

static void measure(struct lake *lake)
{
	const struct trace_model *model = lake->model;
	double room = 1040 - GAP * model->card.gpcs;

	for (unsigned sm = 0; sm < model->card.sms; sm++)
		if (lake->placement->free[sm] > lake->depth)
			lake->depth = lake->placement->free[sm];
	lake->cell = room / model->card.sms;
	lake->cell = lake->cell > 26 ? 26 : lake->cell < 5 ? 5 : lake->cell;
	lake->row = lake->depth > 16 ? 11 : lake->depth > 10 ? 15 : 19;
	lake->right = 100;
}

int trace_draw_lake(const struct trace_model *model, const struct trace_placement *placement, FILE *file)
{
	struct lake lake = { .model = model, .placement = placement, .file = file };
	const struct trace_task *task = &model->tasks[placement->task];
	double width, height;
	char title[160];

	if (!placement->free)
		return -ENODATA;
	measure(&lake);
	width = sm_x(&lake, model->card.sms - 1) + lake.cell + lake.right;
	height = level_y(&lake, lake.depth + 1) + BOTTOM;
	snprintf(title, sizeof(title), "%u CTAs poured over %u SMs", placement->ctas, model->card.sms);
	svg_begin(file, width, height, title);
	svg_text(file, LEFT, 28, 17, SVG_START, SVG_INK, "%s", title);
	svg_text(file, LEFT, 48, 11.5, SVG_START, SVG_INK, "queue %u, packet %llu, grid of %u CTAs%s, %.1f µs after the start",
		 task->queue, (unsigned long long)task->packet, task->ctas, task->group ? " in CGAs" : "",
		 trace_us(model, placement->time));
	draw_basin(&lake);
	for (uint32_t i = 0; i < placement->ctas; i++)
		draw_cta(&lake, &model->ctas[placement->first + i], i);
	draw_gpcs(&lake);
	draw_axes(&lake, width);
	draw_legend(&lake, height);
	svg_end(file);
	return ferror(file) ? -EIO : 0;
}
