// SPDX-License-Identifier: MIT
/*
 * REL-02: boots the test image on an emulated card, reads its log and prints it as
 * TAP; runs the same C on the host and compares; then lets the image fail on purpose.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/card/card.h"
#include "check.h"
#include "core/command_ring.h"
#include "top/main.h"
#include "top/host/drive.h"

static struct tutti_card *card;
static uint8_t *bar;
static const struct tutti_discovery *discovery;
static struct tutti_control *control;
static struct tutti_status *status;
static const struct tutti_crash *crash;
static unsigned number, failures;

bool target_engines(void)
{
	hal_host.engines.command_head = hal_host.engines.command_tail;
	return true;
}

static void ok(bool good, const char *name)
{
	failures += !good;
	printf("%sok %u - %s\n", good ? "" : "not ", ++number, name);
}

static char *log_read(const struct tutti_log *ring)
{
	char *text = calloc(1, ring->bytes + 1);

	if (ring->head >= ring->bytes) {
		printf("Bail out! log of %llu bytes overran\n", (unsigned long long)ring->head);
		exit(1);
	}
	memcpy(text, ring->text, ring->head);
	return text;
}

/* what follows the boot messages */
static const char *body(const char *log)
{
	const char *at = strstr(log, "SMs");

	at = at ? strchr(at, '\n') : NULL;
	return at ? at + 1 : log;
}

static void boot(const char *path, enum target_request request)
{
	FILE *image = fopen(path, "rb");
	unsigned patience = 100000;

	tutti_card_reset(card);
	if (!image) {
		perror(path);
		exit(1);
	}
	control->image_offset = 0;
	control->image_bytes = fread(bar + discovery->aperture, 1, 8 << 20, image);
	fclose(image);
	*(uint32_t *)(bar + discovery->aperture + TARGET_REQUEST) = request;
	__atomic_store_n(&control->boot_sequence, control->boot_sequence + 1, __ATOMIC_RELEASE);
	tutti_card_kick(card);
	while (patience-- && status->heartbeat != ~0ull && status->state != TUTTI_STATE_CRASHED &&
	       status->state != TUTTI_STATE_FAILED)
		tutti_card_run(card, NULL, NULL);
}

static char *card_log(void)
{
	return log_read((const void *)(bar + discovery->log.offset));
}

/* Prints the image's results as comments and counts them; they become the results of this program. */
static void adopt(const char *log)
{
	unsigned before = number;
	const char *at;

	for (at = log; at && *at; at = strchr(at, '\n') + 1) {
		int length = (int)(strchrnul(at, '\n') - at);
		bool good = !strncmp(at, "ok ", 3);

		if (good || !strncmp(at, "not ok ", 7)) {
			char line[256];

			snprintf(line, sizeof(line), "%.*s", length, at);
			ok(good, strstr(line, " - ") ? strstr(line, " - ") + 3 : line);
		} else if (*at == '#') {
			printf("%.*s\n", length, at);
		}
		if (!at[length])
			break;
	}
	ok(number - before >= 10 && strstr(log, "\n1..") != NULL, "REL-02: the image ran to its end");
}

static void tests(const char *path)
{
	uint64_t marks[64][2];
	char *target, *host;

	boot(path, TARGET_TESTS);
	target = card_log();
	adopt(body(target));
	hal_host_boot(discovery->sms);
	target_run(TARGET_TESTS);
	host = log_read((const void *)(hal_host.window + ((struct tutti_discovery *)hal_host.window)->log.offset));
	ok(!strcmp(body(target), body(host)), "REL-02: RV32 and this machine compute the same");
	if (strcmp(body(target), body(host)))
		fprintf(stderr, "---- RV32:\n%s---- here:\n%s", body(target), body(host));
	printf("# %llu instructions\n", (unsigned long long)tutti_card_instructions(card));
	free(target);
	free(host);
	while (tutti_card_marks(card, marks, 64))
		;
	/* the same once more: counted to the instruction */
	uint64_t before = tutti_card_instructions(card);

	boot(path, TARGET_TESTS);
	printf("# %llu instructions\n", (unsigned long long)tutti_card_instructions(card));
	ok(before && tutti_card_instructions(card) == before, "REL-02 SYS-12: the same instructions again");
}

/* Instructions between two marks of the image's last run, less those of a call that does nothing. */
static uint64_t counted(uint64_t (*marks)[2], size_t n, uint32_t id)
{
	uint64_t begun = 0;

	for (size_t i = 0; i < n; i++) {
		if (marks[i][0] == id)
			begun = marks[i][1];
		if (marks[i][0] == (id | 0x80) && begun)
			return marks[i][1] - begun;
	}
	return 0;
}

#define RETURN 2u /* instructions of functions that do nothing */

static void limits(void)
{
	static const struct { unsigned mark; uint64_t most; const char *name; } limit[] = {
		{ TARGET_MARK_INTERIOR + 1, 25, "interior tile of rank 1" },
		{ TARGET_MARK_INTERIOR + 2, 30, "interior tile of rank 2" },
		{ TARGET_MARK_INTERIOR + 3, 35, "interior tile of rank 3" },
		{ TARGET_MARK_INTERIOR + 4, 58, "interior tile of rank 4" },
		{ TARGET_MARK_INTERIOR + 5, 66 * 8, "interior tile of rank 5, eight slices" },
		{ TARGET_MARK_EDGE + 1, 180, "edge tile of rank 1" },
		{ TARGET_MARK_EDGE + 2, 180, "edge tile of rank 2" },
		{ TARGET_MARK_EDGE + 3, 180, "edge tile of rank 3" },
		{ TARGET_MARK_EDGE + 4, 180, "edge tile of rank 4" },
		{ TARGET_MARK_EDGE + 5, 180 * 8, "edge tile of rank 5, eight slices" },
		{ TARGET_MARK_COLUMN + 3, 200, "im2col column of rank 3" },
		{ TARGET_MARK_COLUMN + 4, 250, "im2col column of rank 4" },
		{ TARGET_MARK_COLUMN + 5, 300, "im2col column of rank 5" },
		{ TARGET_MARK_SETUP, 1500, "setup of a descriptor" },
	};
	uint64_t marks[64][2], none, none_plain;
	size_t n = tutti_card_marks(card, marks, 64);

	none = counted(marks, n, TARGET_MARK_NOTHING) - RETURN;
	none_plain = counted(marks, n, TARGET_MARK_NOTHING + 1) - RETURN;
	for (unsigned i = 0; i < sizeof(limit) / sizeof(limit[0]); i++) {
		uint64_t spent = counted(marks, n, limit[i].mark);
		char name[128];

		if (spent)
			spent -= limit[i].mark < TARGET_MARK_SETUP &&
					 (limit[i].mark >= TARGET_MARK_COLUMN || limit[i].mark % 8 < 5) ? none_plain : none;
		snprintf(name, sizeof(name), "PERF-07: %s: %u of %u instructions", limit[i].name, (unsigned)spent,
			 (unsigned)limit[i].most);
		ok(spent && spent <= limit[i].most, name);
	}
}

static void fails(const char *path)
{
	char *log;

	boot(path, TARGET_FAIL);
	log = card_log();
	ok(strstr(log, "\nnot ok ") && strstr(log, " - a failing check\n") && strstr(log, "popcount32(0xff) == 9 line"),
	   "REL-02: a check that fails on the target fails the test");
	free(log);
}

static void crashes(const char *path)
{
	char *log;

	boot(path, TARGET_ILLEGAL);
	ok(status->state == TUTTI_STATE_CRASHED && crash->cause == TUTTI_CRASH_TRAP && crash->cause_code == 2,
	   "REL-02 SYS-05: illegal instruction: crash record with its cause");
	ok(crash->pc && crash->pc == crash->pc / 2 * 2 && crash->pc < 256 << 10 && crash->x[19] == 0x5a5a1234 &&
		   crash->ra == crash->x[1] && crash->ra && crash->sp == crash->x[2] && crash->x[0] == 0, "REL-02 SYS-05: crash record with pc and registers");
	ok(crash->queue == 7 && crash->packet == 0x123456789ull, "REL-02 SYS-05: crash record with queue and packet");
	log = card_log();
	ok(strstr(log, "trap: mcause 0x2\n") != NULL, "REL-02 SYS-05: the log says so too");
	free(log);
	boot(path, TARGET_AGAIN);
	ok(status->state == TUTTI_STATE_CRASHED && crash->cause == TUTTI_CRASH_PANIC && !crash->cause_code && !crash->x[2],
	   "REL-02 SYS-05: the record of the first crash stays as it is");
	boot(path, TARGET_UNMAPPED);
	ok(status->state == TUTTI_STATE_CRASHED && crash->cause == TUTTI_CRASH_TRAP && crash->cause_code == 7 &&
		   crash->tval == 0x30000000, "REL-02 SYS-05: store to nowhere: crash record with the address");
	/* nothing is overwritten: it traps at the first word below address 0 */
	boot(path, TARGET_DEEP);
	ok(status->state == TUTTI_STATE_CRASHED && crash->cause == TUTTI_CRASH_TRAP && crash->cause_code == 7 &&
		   crash->tval >= 0xffffff00 && crash->sp >= 0xffffff00 && crash->pc < 512 << 10,
	   "REL-11 SYS-05: the stack overflows: crash record");
	boot(path, TARGET_LARGE);
	ok(status->state == TUTTI_STATE_CRASHED && crash->cause == TUTTI_CRASH_TRAP && crash->cause_code == 7 &&
		   crash->tval >= 0xffff0000 && crash->pc < 512 << 10,
	   "REL-11 SYS-05: a frame larger than the stack: crash record");
	boot(path, TARGET_BREAK);
	ok(status->state == TUTTI_STATE_CRASHED && crash->cause == TUTTI_CRASH_TRAP && crash->cause_code == 3,
	   "REL-02 SYS-05: ebreak: crash record");
	boot(path, TARGET_PANIC);
	ok(status->state == TUTTI_STATE_CRASHED && crash->cause == TUTTI_CRASH_PANIC &&
		   strstr(crash->text, "TARGET_TESTS"), "REL-02 SYS-05: failed check of the firmware: crash record says which");
	tutti_card_reset(card);
	ok(status->state == TUTTI_STATE_OFF, "REL-02 SYS-05: reset ends what a crash has left");
}

int main(int argc, char **argv)
{
	struct tutti_card_config config = { .mode = TUTTI_CARD_DETERMINISTIC, .memory_bytes = 64 << 20,
					    .local_bytes = 512 << 10 };
	const char *out = getenv("TUTTI_OUT");
	char path[4096];

	snprintf(path, sizeof(path), "%s/tests/target/target.bin", out ? out : "build");
	if (argc > 1)
		snprintf(path, sizeof(path), "%s", argv[1]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (tutti_card_create(&config, &card)) {
		printf("Bail out! no card\n");
		return 1;
	}
	bar = tutti_card_bar(card);
	discovery = (const void *)bar;
	control = (void *)(bar + discovery->control.offset);
	status = (void *)(bar + discovery->status.offset);
	crash = (const void *)(bar + discovery->crash.offset);
	tests(path);
	limits();
	fails(path);
	crashes(path);
	printf("1..%u\n", number);
	tutti_card_destroy(card);
	return failures != 0;
}
