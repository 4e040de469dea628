// SPDX-License-Identifier: MIT
/*
 * Line commands. Each is answered by lines "name value" (or, for the log, "| text")
 * and then "ok" or "error REASON". QEMU may connect a serial line of the guest
 * here, so that tests in the guest break their own card.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "process.h"

static const struct tutti_discovery *discovery(struct process *process, struct tutti_discovery *copy)
{
	/* A removed card reads all ones in the window. */
	memcpy(copy, process->config.bar, sizeof(*copy));
	return copy->magic == TUTTI_DISCOVERY_MAGIC ? copy : NULL;
}

static void *region(struct process *process, const struct tutti_region *where)
{
	return (uint8_t *)process->config.bar + where->offset;
}

static int command_inject(struct process *process, FILE *out, const char *kind, const char *argument)
{
	char text[CONTROL_LINE];

	if (!kind)
		return -EINVAL;
	snprintf(text, sizeof(text), "%s%s%s", kind, argument ? ":" : "", argument ? argument : "");
	return tutti_card_inject_string(process->card, text);
}

static int command_reset(struct process *process, FILE *out, const char *a, const char *b)
{
	tutti_card_reset(process->card);
	return 0;
}

static int command_replug(struct process *process, FILE *out, const char *a, const char *b)
{
	int error = process_replug(process);

	if (error)
		process->quit = true; /* nothing is left to serve */
	return error;
}

static int command_status(struct process *process, FILE *out, const char *a, const char *b)
{
	static const char *const states[] = {"off", "loading", "running", "crashed", "failed"};
	const struct tutti_status *status;
	struct tutti_discovery copy;

	fprintf(out, "guest %d\n", process->peer.guest >= 0 ? process->peer.id : 0);
	fprintf(out, "kicks %lu\ninterrupts %lu\n", process->kicks,
		__atomic_load_n(&process->interrupts, __ATOMIC_RELAXED));
	fprintf(out, "dma_bytes %lu\n", __atomic_load_n(&process->memory.bytes, __ATOMIC_ACQUIRE));
	if (!discovery(process, &copy)) {
		fputs("state removed\n", out);
		return 0;
	}
	status = region(process, &copy.status);
	fprintf(out, "state %s\n", status->state < 5 ? states[status->state] : "?");
	fprintf(out, "boot_sequence %u\nboot_error %u\n", status->boot_sequence, status->boot_error);
	fprintf(out, "firmware %u.%u\n", TUTTI_VERSION_MAJOR(status->firmware_version),
		TUTTI_VERSION_MINOR(status->firmware_version));
	fprintf(out, "asleep %u\nheartbeat %lu\n", status->asleep, status->heartbeat);
	return 0;
}

static int command_counters(struct process *process, FILE *out, const char *a, const char *b)
{
#define NAME(name, text) #name,
	static const char *const names[] = {TUTTI_COUNTER_LIST(NAME)};
#undef NAME
	struct tutti_discovery copy;
	const uint64_t *counters;
	const char *c;
	size_t i;

	if (!discovery(process, &copy))
		return -ENODEV;
	counters = region(process, &copy.counters);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (c = names[i]; *c; c++)
			fputc(tolower((unsigned char)*c), out);
		fprintf(out, " %lu\n", __atomic_load_n(&counters[i], __ATOMIC_RELAXED));
	}
	return 0;
}

static int command_log(struct process *process, FILE *out, const char *a, const char *b)
{
	const struct tutti_log *log;
	struct tutti_discovery copy;
	uint64_t head, i, bytes;
	bool start = true;
	char c;

	if (!discovery(process, &copy))
		return -ENODEV;
	log = region(process, &copy.log);
	bytes = copy.log.bytes - sizeof(*log);
	head = __atomic_load_n(&log->head, __ATOMIC_ACQUIRE);
	for (i = head > bytes ? head - bytes : 0; i < head; i++) {
		c = log->text[i & (bytes - 1)];
		if (start)
			fputs("| ", out);
		start = c == '\n';
		if (c == '\n' || isprint((unsigned char)c))
			fputc(c, out);
	}
	if (!start)
		fputc('\n', out);
	return 0;
}

static int command_interrupt(struct process *process, FILE *out, const char *vector, const char *b)
{
	char *end;
	unsigned long n = vector ? strtoul(vector, &end, 0) : 0;

	if (!vector || *end || n >= process->peer.vectors)
		return -EINVAL;
	peer_interrupt(&process->peer, (unsigned)n);
	return 0;
}

static int command_quit(struct process *process, FILE *out, const char *a, const char *b)
{
	process->quit = true;
	return 0;
}

static int command_help(struct process *process, FILE *out, const char *a, const char *b);

static const struct {
	const char *name;
	int (*run)(struct process *process, FILE *out, const char *first, const char *second);
	const char *help;
} commands[] = {
    {"inject", command_inject, "KIND [ARG]: make a fault happen; argument 0 ends what lasts"},
    {"reset", command_reset, ": function-level reset"},
    {"replug", command_replug, ": take the card out and put a new one in"},
    {"status", command_status, ": what the card says of itself"},
    {"counters", command_counters, ": all counters"},
    {"log", command_log, ": log of the firmware"},
    {"interrupt", command_interrupt, "VECTOR: raise an interrupt for no reason"},
    {"help", command_help, ": this"},
    {"quit", command_quit, ": end the process"},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int command_help(struct process *process, FILE *out, const char *a, const char *b)
{
	size_t i;

	for (i = 0; i < COMMANDS; i++)
		fprintf(out, "| %s %s\n", commands[i].name, commands[i].help);
	return 0;
}

static void execute(struct process *process, FILE *out, char *line)
{
	char *save = NULL, *name = strtok_r(line, " \t\r", &save);
	char *first = strtok_r(NULL, " \t\r", &save), *second = first ? strtok_r(NULL, " \t\r", &save) : NULL;
	int error = -ENOSYS;
	size_t i;

	/* A terminal that echoes would send our answers back. */
	if (!name || !strcmp(name, "ok") || !strcmp(name, "error") || *name == '|')
		return;
	for (i = 0; i < COMMANDS; i++)
		if (!strcmp(name, commands[i].name))
			error = commands[i].run(process, out, first, second);
	if (error)
		fprintf(out, "error %s\n", error == -ENOSYS ? "no such command" : strerror(-error));
	else
		fputs("ok\n", out);
}

static void hang_up(struct control_client *client)
{
	close(client->socket);
	client->socket = -1;
}

/* A client that does not read its answers is dropped, because the card must not wait for it. */
static void answer(struct process *process, struct control_client *client)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out) {
		hang_up(client);
		return;
	}
	if (client->too_long)
		fputs("error line too long\n", out);
	else
		execute(process, out, client->line);
	fclose(out);
	if (bytes && send(client->socket, text, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)bytes)
		hang_up(client);
	free(text);
}

static void take_byte(struct process *process, struct control_client *client, char c)
{
	if (c != '\n') {
		client->too_long |= client->used == CONTROL_LINE - 1;
		if (!client->too_long)
			client->line[client->used++] = c;
		return;
	}
	client->line[client->used] = 0;
	answer(process, client);
	client->used = 0;
	client->too_long = false;
}

void control_read(struct process *process, struct control_client *client)
{
	char bytes[CONTROL_LINE];
	ssize_t n = recv(client->socket, bytes, sizeof(bytes), MSG_DONTWAIT), i;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		hang_up(client);
		return;
	}
	for (i = 0; i < n && client->socket >= 0; i++)
		take_byte(process, client, bytes[i]);
}

void control_accept(struct process *process)
{
	int socket = accept4(process->control, NULL, NULL, SOCK_CLOEXEC), i;

	if (socket < 0)
		return;
	for (i = 0; i < CONTROL_CLIENTS; i++)
		if (process->client[i].socket < 0) {
			process->client[i] = (struct control_client){.socket = socket};
			return;
		}
	close(socket);
}
