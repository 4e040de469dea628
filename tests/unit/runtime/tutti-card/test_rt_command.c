/* SPDX-License-Identifier: MIT */
/* The command line of tutti-card (SYS-11), without the card. */
#undef _GNU_SOURCE /* the source below defines it in its own way */
#define main card_main
#include "tutti-card/main.c"
#undef main

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define MIB (1ull << 20)

int xrt_device_run(const struct process_options *options)
{
	return options->workers == 7 ? -EIO : 0;
}

int process_init(struct process *process, const struct process_options *options)
{
	return options->topology ? -ENOENT : 0;
}

int process_run(struct process *process, const struct process_options *options)
{
	return options->size == 3 * MIB ? -EIO : 0;
}

void process_fini(struct process *process)
{
}

void process_say(const char *format, ...)
{
}

static void sizes_as_text(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} rows[] = {{"1", 1},
		    {"4096", 4096},
		    {"0x1000", 4096},
		    {"1K", 1024},
		    {"3k", 3072},
		    {"128M", 128 * MIB},
		    {"2g", 2048 * MIB},
		    {"4294967295G", 4294967295ull << 30},
		    {"4294967296K", 0},
		    {"4294967296", 4294967296ull},
		    {"", 0},
		    {"K", 0},
		    {"-1", 0},
		    {" 1", 0},
		    {"1T", 0},
		    {"1KB", 0},
		    {"1 K", 0},
		    {"0", 0}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (parse_size(rows[i].text) != rows[i].bytes)
			fail_msg("\"%s\" is %llu", rows[i].text, (unsigned long long)parse_size(rows[i].text));
}

static void counts_as_text(void **state)
{
	static const char *const bad[] = {"", "0", "65", "-1", "+1", " 1", "1x", "0x4", "99999999999999999999"};
	unsigned count = 5;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(parse_count(bad[i], 64, &count));
	assert_int_equal(count, 5);
	assert_true(parse_count("64", 64, &count) && count == 64);
	assert_true(parse_count("1", 64, &count) && count == 1);
	assert_true(parse_count("010", 64, &count) && count == 10);
}

/* Exit status for a command line, which never gets as far as to run a card. */
static void command_lines(void **state)
{
	static const struct {
		const char *word[6];
		int status;
	} rows[] = {
	    {{"--help"}, 0},
	    {{"--xrt"}, 0},
	    {{"--xrt", "--workers", "7"}, 1},
	    {{"--xrt", "more"}, 2},
	    {{NULL}, 2},
	    {{"--socket", "/tmp/x", "more"}, 2},
	    {{"--bogus"}, 2},
	    {{"--socket"}, 2},
	    {{"--xrt", "--size", "5X"}, 2},
	    {{"--xrt", "--size", "5M", "--machine", "pc"}, 0},
	    {{"--xrt", "--machine", "q35"}, 0},
	    {{"--xrt", "--machine", "vax"}, 2},
	    {{"--xrt", "--vectors", "1024"}, PEER_VECTORS_MAX >= 1024 ? 0 : 2},
	    {{"--xrt", "--vectors", "0"}, 2},
	    {{"--xrt", "--workers", "64"}, 0},
	    {{"--xrt", "--workers", "65"}, 2},
	    {{"--xrt", "--control", "/tmp/c", "--memory", "/tmp/m"}, 0},
	    {{"--socket", "/tmp/tutti-none/s", "--topology", "/tmp/tutti-none/t"}, 1},
	    {{"--socket", "/tmp/s", "--size", "3M"}, 1},
	    {{"--socket", "/tmp/s", "--size", "4M"}, 0},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *arguments[8] = {"tutti-card"};
		int n = 1, status;

		for (; n < 7 && rows[i].word[n - 1]; n++)
			arguments[n] = (char *)(uintptr_t)rows[i].word[n - 1];
		optind = 0;
		status = card_main(n, arguments);
		if (status != rows[i].status)
			fail_msg("row %u: %d", i, status);
	}
}

static void options_taken(void **state)
{
	struct process_options options = {0};
	char number[16];

	optarg = "/a";
	assert_true(take_option(&options, OPTION_SOCKET) && take_option(&options, OPTION_MEMORY));
	optarg = "/b";
	assert_true(take_option(&options, OPTION_TOPOLOGY) && take_option(&options, OPTION_CONTROL));
	assert_string_equal(options.socket, "/a");
	assert_string_equal(options.memory, "/a");
	assert_string_equal(options.topology, "/b");
	assert_string_equal(options.control, "/b");
	optarg = "q35";
	assert_true(take_option(&options, OPTION_MACHINE) && options.q35);
	optarg = "pc";
	assert_true(take_option(&options, OPTION_MACHINE) && !options.q35);
	optarg = number;
	snprintf(number, sizeof(number), "%u", PEER_VECTORS_MAX);
	assert_true(take_option(&options, OPTION_VECTORS));
	assert_int_equal(options.vectors, PEER_VECTORS_MAX);
	snprintf(number, sizeof(number), "%u", PEER_VECTORS_MAX + 1);
	assert_false(take_option(&options, OPTION_VECTORS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"SYS-11: sizes on the command line", sizes_as_text, NULL, NULL, NULL},
	    {"SYS-11: numbers on the command line", counts_as_text, NULL, NULL, NULL},
	    {"SYS-11: command lines", command_lines, NULL, NULL, NULL},
	    {"SYS-11: options", options_taken, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests_name("SYS-11 the command line of tutti-card", tests, NULL, NULL);
}
