/* SPDX-License-Identifier: MIT */
/** DOC: Writing SVG files: shapes by coordinates in pixels, text escaped */
#ifndef TUTTI_TOOL_SVG_H
#define TUTTI_TOOL_SVG_H

#include <stdio.h>

#define SVG_INK "#22303c"   /* text, frames */
#define SVG_FAINT "#d5dbe1" /* grids */
#define SVG_PAPER "#ffffff"

/** enum svg_anchor - which end of a text stands at its x. */
enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

/**
 * svg_begin() - a picture of this size with a title (also read by screen readers). svg_end() - complete it; @file stays
 * open.
 */
void svg_begin(FILE *file, double width, double height, const char *title);
void svg_end(FILE *file);
/** svg_rect() - @stroke may be NULL; @tip: shown under the mouse pointer, NULL: none. */
void svg_rect(FILE *file, double x, double y, double w, double h, const char *fill, const char *stroke, const char *tip);
void svg_line(FILE *file, double x1, double y1, double x2, double y2, const char *colour, double width);
/** svg_text() - one line of @size pixels, its baseline at @y. */
void svg_text(FILE *file, double x, double y, double size, enum svg_anchor anchor, const char *colour, const char *format,
	      ...) __attribute__((format(printf, 7, 8)));
/** svg_text_up() - the same from bottom to top, centred at (x, y). */
void svg_text_up(FILE *file, double x, double y, double size, const char *text);
/** svg_triangle() - small mark that points down at (x, y). */
void svg_triangle(FILE *file, double x, double y, const char *fill, const char *tip);
/** svg_colour() - the @number-th of any number of well apart colours; a static buffer, good for four calls. */
const char *svg_colour(unsigned number, double saturation, double lightness);
/** svg_step() - distance of about @about ticks on an axis of length @length: 1, 2 or 5 times a power of ten. */
double svg_step(double length, unsigned about);

#endif
