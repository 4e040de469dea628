/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdarg.h>

#include "svg.h"

static void put_text(FILE *file, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", file);
			break;
		case '<':
			fputs("&lt;", file);
			break;
		case '>':
			fputs("&gt;", file);
			break;
		default:
			fputc(*text, file);
		}
	}
}

void svg_begin(FILE *file, double width, double height, const char *title)
{
	fprintf(file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
		"font-family=\"DejaVu Sans, Verdana, sans-serif\">\n<title>", width, height, width, height);
	put_text(file, title);
	fprintf(file, "</title>\n");
	svg_rect(file, 0, 0, width, height, SVG_PAPER, NULL, NULL);
}

void svg_end(FILE *file)
{
	fprintf(file, "</svg>\n");
}

static void put_tip(FILE *file, const char *element, const char *tip)
{
	if (!tip) {
		fprintf(file, "/>\n");
		return;
	}
	fprintf(file, "><title>");
	put_text(file, tip);
	fprintf(file, "</title></%s>\n", element);
}

void svg_rect(FILE *file, double x, double y, double w, double h, const char *fill, const char *stroke, const char *tip)
{
	fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"", x, y, w, h, fill);
	if (stroke)
		fprintf(file, " stroke=\"%s\" stroke-width=\"0.5\"", stroke);
	put_tip(file, "rect", tip);
}

void svg_line(FILE *file, double x1, double y1, double x2, double y2, const char *colour, double width)
{
	fprintf(file, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\" stroke-width=\"%.1f\"/>\n", x1, y1,
		x2, y2, colour, width);
}

void svg_text(FILE *file, double x, double y, double size, enum svg_anchor anchor, const char *colour, const char *format,
	      ...)
{
	static const char *const anchors[] = { "start", "middle", "end" };
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fprintf(file, "<text x=\"%.2f\" y=\"%.2f\" font-size=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">", x, y, size,
		anchors[anchor], colour);
	put_text(file, text);
	fprintf(file, "</text>\n");
}

void svg_text_up(FILE *file, double x, double y, double size, const char *text)
{
	fprintf(file, "<text x=\"%.2f\" y=\"%.2f\" font-size=\"%.1f\" text-anchor=\"middle\" fill=\"" SVG_INK
		"\" transform=\"rotate(-90 %.2f %.2f)\">", x, y, size, x, y);
	put_text(file, text);
	fprintf(file, "</text>\n");
}

void svg_triangle(FILE *file, double x, double y, const char *fill, const char *tip)
{
	fprintf(file, "<path d=\"M%.2f %.2f l-4 -7 h8 z\" fill=\"%s\"", x, y, fill);
	put_tip(file, "path", tip);
}

static unsigned channel(double x)
{
	return (unsigned)lround(255 * (x < 0 ? 0 : x > 1 ? 1 : x));
}

/* Hues at multiples of the golden angle, which keeps each far from the ones before. */
const char *svg_colour(unsigned number, double saturation, double lightness)
{
	static char text[4][8];
	static unsigned next;
	double hue = fmod(205 + number * 137.508, 360) / 30, a = saturation * fmin(lightness, 1 - lightness), rgb[3];
	static const double shift[3] = { 0, 8, 4 };
	char *to = text[next++ % 4];

	for (unsigned i = 0; i < 3; i++) {
		double k = fmod(shift[i] + hue, 12);

		rgb[i] = lightness - a * fmax(-1, fmin(fmin(k - 3, 9 - k), 1));
	}
	snprintf(to, sizeof(text[0]), "#%02x%02x%02x", channel(rgb[0]) & 0xff, channel(rgb[1]) & 0xff, channel(rgb[2]) & 0xff);
	return to;
}

double svg_step(double length, unsigned about)
{
	double raw = length / about, power = pow(10, floor(log10(raw))), lead = raw / power;

	return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}
