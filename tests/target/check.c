// SPDX-License-Identifier: MIT
#include "check.h"

#include "core/log.h"

static unsigned failed, vector, rolls;
static uint32_t seed;

void check_at(bool ok, const char *file, unsigned line, const char *text)
{
	const char *name = file;

	if (ok || failed++)
		return;
	for (; *file; file++)
		if (*file == '/')
			name = file + 1;
	log_text("# ");
	log_text(name);
	log_text(": ");
	log_text(text);
	log_line(" line", line);
}

void check_word(uint32_t word)
{
	vector = (vector << 5 | vector >> 27) ^ word * 0x9e3779b1u;
	rolls++;
}

void check_vector(const void *words, unsigned n)
{
	const uint32_t *w = words;

	while (n--)
		check_word(*w++);
}

void target_seed(uint32_t value)
{
	seed = value * 2654435761u + 12345;
}

uint32_t target_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed;
}

uint32_t target_roll(uint32_t n)
{
	return target_random() % n;
}

static void decimal(unsigned n)
{
	char text[2] = { 0 };

	if (n > 9)
		decimal(n / 10);
	text[0] = (char)('0' + n % 10);
	log_text(text);
}

static void run(const struct target_test *test, unsigned number)
{
	failed = vector = rolls = 0;
	target_seed(number);
	test->run();
	if (rolls)
		log_line("# vector", vector);
	log_text(failed ? "not ok " : "ok ");
	decimal(number);
	log_text(" - ");
	log_text(test->name);
	log_text("\n");
}

static void fails(void)
{
	CHECK(popcount32(0xff) == 8);
	CHECK(popcount32(0xff) == 9);
}

void target_run(enum target_request request)
{
	static const struct target_test failing[] = { { "a failing check", fails }, { 0 } }, none[] = { { 0 } };
	const struct target_test *set[] = { target_basic, target_lake, target_decode, target_tensor,
					    request == TARGET_FAIL ? failing : none };
	unsigned i, n = 0;

	for (i = 0; i < sizeof(set) / sizeof(set[0]); i++)
		for (const struct target_test *t = set[i]; t->name; t++)
			run(t, ++n);
	log_text("1..");
	decimal(n);
	log_text("\n");
}
