// SPDX-License-Identifier: MIT
#include "features.h"

#include <string.h>
#include <strings.h>

static const struct {
	const char *name, *what;
	unsigned group;
} info[] = {
#define FEATURE_INFO(name, group, what) {#name, what, group},
    FEATURES(FEATURE_INFO)
#undef FEATURE_INFO
};

/* Pairs that cannot meet although their groups allow it. */
static const uint8_t never[][2] = {
    {F_SHAPES_ONE, F_SPLIT}, /* needs kernels of two sizes: see complete() in scenario/make.c */
    {F_CARD_LARGE, F_ORDER}, /* a message for each SM: takes too long */
    {F_SHAPES_ONE, F_WHOLE_SM}, /* it is another shape than that of the others */
    {F_SHAPES_ONE, F_WHOLE_DOMAIN}, /* the same */
    {F_WHOLE_SM, F_WHOLE_DOMAIN}, /* a scenario has one crowd, around one large kernel */
};

static uint32_t met[F_COUNT][F_COUNT];
static struct features now[F_COUNT]; /* pairs of this scenario */
static unsigned held[F_COUNT];
static struct features live;

const char *feature_name(unsigned f)
{
	return info[f].name;
}

unsigned feature_find(const char *name)
{
	unsigned f = 0;

	while (f < F_COUNT && strcasecmp(info[f].name, name))
		f++;
	return f;
}

bool feature_pair_possible(unsigned a, unsigned b)
{
	unsigned i;

	if (a == b || (info[a].group && info[a].group == info[b].group))
		return false;
	for (i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		if ((never[i][0] == a && never[i][1] == b) || (never[i][0] == b && never[i][1] == a))
			return false;
	return true;
}

void features_begin(void)
{
	memset(now, 0, sizeof(now));
	memset(held, 0, sizeof(held));
	live = (struct features){{0}};
}

void feature_moment(unsigned f)
{
	unsigned i;

	for (i = 0; i < FEATURE_WORDS; i++)
		now[f].word[i] |= live.word[i];
}

void feature_on(unsigned f)
{
	feature_moment(f);
	if (!held[f]++)
		features_add(&live, f);
}

void feature_off(unsigned f)
{
	if (held[f] && !--held[f])
		features_remove(&live, f);
}

void features_on(const struct features *set)
{
	unsigned f;

	for (f = 0; f < F_COUNT; f++)
		if (features_has(set, f))
			feature_on(f);
}

void features_off(const struct features *set)
{
	unsigned f;

	for (f = 0; f < F_COUNT; f++)
		if (features_has(set, f))
			feature_off(f);
}

void features_end(void)
{
	unsigned a, b;

	for (a = 0; a < F_COUNT; a++)
		for (b = 0; b < F_COUNT; b++)
			if (a != b && features_has(&now[a], b)) {
				met[a][b]++;
				met[b][a] += !features_has(&now[b], a);
			}
}

static void print_count(FILE *file, uint32_t n)
{
	if (n < 1000)
		fprintf(file, "%4u", n);
	else if (n < 1000000)
		fprintf(file, "%3uk", n / 1000);
	else
		fprintf(file, "%3uM", n / 1000000);
}

void features_table(FILE *file)
{
	unsigned a, b;

	fprintf(file,
		"# pairs met, in scenarios; columns are the numbers of the rows, . cannot meet\n# %-14s", "");
	for (b = 0; b < F_TABLE_END; b++)
		fprintf(file, "%4u", b);
	fputc('\n', file);
	for (a = 0; a < F_TABLE_END; a++) {
		fprintf(file, "# %2u %-11.11s", a, info[a].name);
		for (b = 0; b < a; b++)
			if (feature_pair_possible(a, b))
				print_count(file, met[a][b]);
			else
				fprintf(file, "   .");
		fputc('\n', file);
	}
}

unsigned features_holes(FILE *file)
{
	unsigned a, b, n = 0;

	for (a = 0; a < F_TABLE_END; a++)
		for (b = 0; b < a; b++)
			if (feature_pair_possible(a, b) && !met[a][b]) {
				n++;
				if (file)
					fprintf(file, "# never met: %s x %s\n", info[a].name, info[b].name);
			}
	return n;
}

static unsigned pairs_below(unsigned end)
{
	unsigned a, b, n = 0;

	for (a = 0; a < end; a++)
		for (b = 0; b < a; b++)
			n += feature_pair_possible(a, b);
	return n;
}

unsigned features_pairs(void)
{
	return pairs_below(F_TABLE_END);
}

void features_pair(unsigned n, unsigned *a, unsigned *b)
{
	n %= pairs_below(F_DRAWN_LAST);
	for (*a = 0; *a < F_DRAWN_LAST; ++*a)
		for (*b = 0; *b < *a; ++*b)
			if (feature_pair_possible(*a, *b) && !n--)
				return;
}
