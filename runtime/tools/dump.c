/* SPDX-License-Identifier: MIT */
/* tutti dump: a device core dump for people, or as JSON. The file is hostile: nothing in it is believed. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "packet/packet.h"
#include "options.h"
#include "tool.h"
#include "tutti/control.h"
#include "tutti/discovery.h"
#include "tutti/dump.h"
#include "tutti/firmware.h"

#define FILE_BYTES_MAX (64u << 20)
#define NEWEST 8u /* messages of each ring that are shown */

/** struct file - bytes of a file, 8-byte aligned. */
struct file {
	uint8_t *data;
	size_t bytes;
};

struct dump {
	struct file file, image;
	const struct tutti_dump_header *header;
};

static int read_file(const char *path, struct file *file)
{
	FILE *stream = fopen(path, "re");

	if (!stream) {
		fprintf(stderr, "tutti dump: %s cannot be opened\n", path);
		return EXIT_FAILS;
	}
	file->data = malloc(FILE_BYTES_MAX);
	file->bytes = file->data ? fread(file->data, 1, FILE_BYTES_MAX, stream) : 0;
	fclose(stream);
	return EXIT_WORKS;
}

/* A section of at least @least bytes, or NULL. */
static const void *section(const struct dump *dump, uint32_t kind, size_t least, size_t *bytes)
{
	for (uint32_t i = 0; i < dump->header->sections; i++) {
		const struct tutti_dump_section *s = &dump->header->section[i];

		if (s->kind != kind || s->offset & 7 || s->offset > dump->file.bytes ||
		    s->bytes > dump->file.bytes - s->offset || s->bytes < least)
			continue;
		if (bytes)
			*bytes = s->bytes;
		return dump->file.data + s->offset;
	}
	return NULL;
}

static int check_header(struct dump *dump, const char *path)
{
	dump->header = (const void *)dump->file.data;
	if (dump->file.bytes < sizeof(*dump->header) || dump->header->magic != TUTTI_DUMP_MAGIC ||
	    dump->header->sections > TUTTI_DUMP_SECTIONS) {
		fprintf(stderr, "tutti dump: %s is not a core dump of a Tutti card\n", path);
		return EXIT_FAILS;
	}
	if (dump->header->version != TUTTI_DUMP_VERSION) {
		fprintf(stderr, "tutti dump: %s has version %u, this program reads %u\n", path, dump->header->version,
			TUTTI_DUMP_VERSION);
		return EXIT_FAILS;
	}
	return EXIT_WORKS;
}

/* ---- names ---- */

static const char *state_name(uint32_t state)
{
	static const char *const names[] = { "off", "loading", "running", "crashed", "failed" };

	return state < sizeof(names) / sizeof(*names) ? names[state] : "?";
}

static const char *crash_name(uint32_t cause)
{
	static const char *const names[] = { "none", "trap", "panic", "watchdog" };

	return cause < sizeof(names) / sizeof(*names) ? names[cause] : "?";
}

/* "function+0x12" of an address of the firmware, or "". */
static const char *symbol(const struct dump *dump, uint32_t address)
{
	const struct tutti_image *image = (const void *)dump->image.data;
	const struct tutti_image_symbol *s;
	static char text[64];

	text[0] = 0;
	if (dump->image.bytes < sizeof(*image) || image->magic != TUTTI_IMAGE_MAGIC || image->symbols_offset & 3 ||
	    image->symbols_offset > dump->image.bytes ||
	    image->symbols > (dump->image.bytes - image->symbols_offset) / sizeof(*s))
		return text;
	s = (const void *)(dump->image.data + image->symbols_offset);
	for (uint32_t i = 0; i < image->symbols; i++, s++)
		if (address - s->address < s->bytes)
			snprintf(text, sizeof(text), " %.40s+%#x", s->name, address - s->address);
	return text;
}

/* Bytes that people can read, as one string that JSON can read as well. */
static void put_text(const char *text, size_t bytes, bool json)
{
	for (size_t i = 0; i < bytes && text[i]; i++) {
		unsigned char c = (unsigned char)text[i];

		if (json && (c == '"' || c == '\\'))
			printf("\\%c", c);
		else if (json && c == '\n')
			fputs("\\n", stdout);
		else if (isprint(c) || (c == '\n' && !json))
			putchar(c);
	}
}

/* ---- parts ---- */

static void put_header(const struct dump *dump, bool json)
{
	const struct tutti_discovery *card = section(dump, TUTTI_DUMP_DISCOVERY, sizeof(*card), NULL);
	const struct tutti_dump_header *h = dump->header;
	time_t seconds = (time_t)(h->time / 1000000000u);
	char when[32] = "?";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
	printf(json ? "{\"time\":\"%s\",\"firmware\":\"%u.%u\",\"contract\":\"%u.%u\",\"resets\":%llu"
		    : "core dump of %s, firmware %u.%u, contract %u.%u, after %llu resets\n",
	       when, TUTTI_VERSION_MAJOR(h->firmware_version), TUTTI_VERSION_MINOR(h->firmware_version),
	       TUTTI_VERSION_MAJOR(h->contract), TUTTI_VERSION_MINOR(h->contract),
	       (unsigned long long)h->generation);
	if (!card)
		return;
	fputs(json ? ",\"card\":\"" : "card      ", stdout);
	put_text(card->name, sizeof(card->name), json);
	printf(json ? "\",\"sms\":%u" : ", %u SMs\n", card->sms);
}

static void put_status(const struct dump *dump, bool json)
{
	const struct tutti_status *s = section(dump, TUTTI_DUMP_STATUS, sizeof(*s), NULL);
	const struct tutti_control *c = section(dump, TUTTI_DUMP_CONTROL, sizeof(*c), NULL);

	if (!s || !c)
		return;
	printf(json ? ",\"status\":{\"state\":\"%s\",\"boot\":%u,\"asked\":%u,\"boot_error\":%u,\"asleep\":%u,"
		      "\"heartbeat\":%llu}"
		    : "state     %s, boot %u (asked for %u), boot error %u, asleep %u, heartbeat %llu\n",
	       state_name(s->state), s->boot_sequence, c->boot_sequence, s->boot_error, s->asleep,
	       (unsigned long long)s->heartbeat);
}

static void put_registers(const struct tutti_crash *crash, bool json)
{
	if (json)
		fputs(",\"x\":[", stdout);
	for (unsigned i = 0; i < 32; i++)
		if (json)
			printf("%s%u", i ? "," : "", crash->x[i]);
		else
			printf("%s%sx%-2u %08x", i % 8 ? "" : "          ", i % 8 ? "  " : "", i, crash->x[i]), i % 8 == 7 ? putchar('\n') : 0;
	if (json)
		putchar(']');
}

static void put_crash(const struct dump *dump, bool json)
{
	const struct tutti_crash *crash = section(dump, TUTTI_DUMP_CRASH, sizeof(*crash), NULL);

	if (!crash)
		return;
	if (crash->cause == TUTTI_CRASH_NONE) {
		fputs(json ? ",\"crash\":null" : "crash     none recorded\n", stdout);
		return;
	}
	printf(json ? ",\"crash\":{\"cause\":\"%s\",\"code\":%u,\"pc\":%u,\"ra\":%u,\"sp\":%u,\"tval\":%u,"
		      "\"queue\":%d,\"packet\":%llu,\"text\":\""
		    : "crash     the firmware crashed: %s, code %u, pc %#x, ra %#x, sp %#x, tval %#x, queue %d, packet %llu\n          ",
	       crash_name(crash->cause), crash->cause_code, crash->pc, crash->ra, crash->sp, crash->tval,
	       (int)crash->queue, (unsigned long long)crash->packet);
	put_text(crash->text, sizeof(crash->text), json);
	if (json)
		printf("\",\"at\":\"%s\"", symbol(dump, crash->pc));
	else
		printf("\n          pc%s\n          ra", symbol(dump, crash->pc)), printf("%s\n", symbol(dump, crash->ra));
	put_registers(crash, json);
	if (json)
		putchar('}');
}

static void put_queue(const struct tutti_dump_queue *q, const char *comma, bool json)
{
	if (json)
		printf("%s{\"queue\":%u,\"context\":%u,\"ring\":%llu,\"progress\":%llu,\"errors\":%llu,\"stopped\":%u,"
		       "\"error_packet\":%llu,\"error_address\":%llu}", comma, q->queue, q->context,
		       (unsigned long long)q->ring, (unsigned long long)q->progress, (unsigned long long)q->errors,
		       q->stopped, (unsigned long long)q->fault.packet, (unsigned long long)q->fault.address);
	else
		printf("queue     %u of context %u: ring %#llx, %llu packets retired, %llu errors%s%s\n", q->queue, q->context,
		       (unsigned long long)q->ring, (unsigned long long)q->progress, (unsigned long long)q->errors,
		       q->stopped ? ", stopped: " : "", q->stopped ? tutti_strerror((int)q->stopped) : "");
}

static void put_queues(const struct dump *dump, bool json)
{
	size_t bytes = 0;
	const struct tutti_dump_queue *q = section(dump, TUTTI_DUMP_QUEUES, 0, &bytes);
	const char *comma = "";

	if (!q)
		return;
	if (json)
		fputs(",\"queues\":[", stdout);
	for (size_t i = 0; i < bytes / sizeof(*q); i++)
		if (q[i].present) {
			put_queue(&q[i], comma, json);
			comma = ",";
		}
	if (json)
		putchar(']');
}

/* The newest messages of a ring, oldest first. @tail: written, @head: read */
static void put_ring(const struct dump *dump, uint32_t kind, const char *name, uint32_t tail, uint32_t head, bool json)
{
	size_t bytes = 0;
	const struct tutti_message *ring = section(dump, kind, sizeof(*ring), &bytes);
	uint32_t slots = (uint32_t)(bytes / sizeof(*ring)), n = tail < NEWEST ? tail : NEWEST;
	char text[256];

	if (!ring)
		return;
	n = n < slots ? n : slots;
	printf(json ? ",\"%s\":{\"written\":%u,\"read\":%u,\"newest\":[" : "ring      %s: %u messages written, %u read\n",
	       name, tail, head);
	for (uint32_t i = tail - n; i != tail; i++) {
		const struct tutti_message *m = &ring[i % slots];

		tutti_message_print(text, sizeof(text), m);
		printf(json ? "%s\"" : "%s          ", json && i != tail - n ? "," : "");
		put_text(text, sizeof(text), json);
		printf(json ? " id %u status %d\"" : ", id %u, status %d\n", m->id, m->status);
	}
	if (json)
		fputs("]}", stdout);
}

static void put_rings(const struct dump *dump, bool json)
{
	const struct tutti_status *s = section(dump, TUTTI_DUMP_STATUS, sizeof(*s), NULL);
	const struct tutti_control *c = section(dump, TUTTI_DUMP_CONTROL, sizeof(*c), NULL);

	if (!s || !c)
		return;
	put_ring(dump, TUTTI_DUMP_HOST_RING, "host", c->host_ring_tail, s->host_ring_head, json);
	put_ring(dump, TUTTI_DUMP_CARD_RING, "card", s->card_ring_tail, c->card_ring_head, json);
}

static void put_counters(const struct dump *dump, bool json)
{
	size_t bytes = 0;
	const uint64_t *counter = section(dump, TUTTI_DUMP_COUNTERS, 0, &bytes);
	const char *comma = "";

	if (!counter)
		return;
	if (json)
		fputs(",\"counters\":{", stdout);
	for (unsigned i = 0; i < TUTTI_COUNTERS && i < bytes / sizeof(*counter); i++) {
		if (!counter[i])
			continue;
		printf(json ? "%s\"%s\":%llu" : "%scounter   %s %llu\n", comma, tutti_counter_name((enum tutti_counter)i),
		       (unsigned long long)counter[i]);
		comma = json ? "," : "";
	}
	if (json)
		putchar('}');
}

static void put_log(const struct dump *dump, bool json)
{
	size_t bytes = 0;
	const struct tutti_log *log = section(dump, TUTTI_DUMP_LOG, sizeof(*log), &bytes);
	uint64_t from;

	if (!log || !log->bytes || log->bytes & (log->bytes - 1) || log->bytes > bytes - sizeof(*log))
		return;
	from = log->head > log->bytes ? log->head - log->bytes : 0;
	fputs(json ? ",\"log\":\"" : "log\n", stdout);
	for (uint64_t i = from; i != log->head; i++) {
		char c = log->text[i & (log->bytes - 1)];

		put_text(&c, 1, json);
	}
	fputs(json ? "\"" : "\n", stdout);
}

static void put_dump(const struct dump *dump, bool json)
{
	put_header(dump, json);
	put_status(dump, json);
	put_crash(dump, json);
	put_queues(dump, json);
	put_rings(dump, json);
	put_counters(dump, json);
	put_log(dump, json);
	if (json)
		puts("}");
}

struct wanted {
	const char *file, *firmware;
	bool json;
};

static const struct argp_option options[] = {
	{ "json", 'j', NULL, 0, "one JSON object", 0 },
	{ "firmware", 'f', "IMAGE", 0, "the tutti-fw.bin that ran, for names in place of addresses", 0 },
	{ 0 },
};

static int take(int key, char *value, void *to)
{
	struct wanted *wanted = to;

	wanted->json |= key == 'j';
	if (key == 'f')
		wanted->firmware = value;
	if (key == ARGP_KEY_ARG && wanted->file)
		return -EINVAL;
	if (key == ARGP_KEY_ARG)
		wanted->file = value;
	return 0;
}

int command_dump(int argc, char **argv)
{
	static const struct tool_command command = { .name = "dump", .arguments = "FILE", .options = options, .take = take, .about =
		"Reads what the driver left in /sys/class/devcoredump/devcd*/data when it reset a card." };
	struct wanted wanted = { 0 };
	struct dump dump = { 0 };
	int result = EXIT_WORKS;

	tool_options(&command, argc, argv, &wanted);
	if (!wanted.file)
		return tool_usage_error("dump", "one file is wanted");
	if (wanted.firmware)
		result = read_file(wanted.firmware, &dump.image);
	if (!result)
		result = read_file(wanted.file, &dump.file);
	if (!result)
		result = check_header(&dump, wanted.file);
	if (!result)
		put_dump(&dump, wanted.json);
	free(dump.file.data);
	free(dump.image.data);
	return result;
}
