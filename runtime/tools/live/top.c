/* SPDX-License-Identifier: MIT */
/* tutti top: what the card does, again and again. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "live/clients.h"
#include "options.h"
#include "tool.h"
#include "tutti/policy.h"

#define CLIENTS 64
#define SMS_A_LINE 64

/* What is shown as a rate: the counter and its key in JSON. */
static const struct {
	enum tutti_counter counter;
	const char *key, *text;
} rates[] = {
	{ TUTTI_COUNTER_KERNELS, "kernels", "kernels" },
	{ TUTTI_COUNTER_CTAS_COMPLETED, "workgroups", "workgroups" },
	{ TUTTI_COUNTER_WAVES, "waves", "waves" },
	{ TUTTI_COUNTER_PACKETS, "packets", "packets" },
	{ TUTTI_COUNTER_TMAU_REQUESTS, "tensor_requests", "tensor requests" },
	{ TUTTI_COUNTER_BUS_READ_BYTES, "bus_read_bytes", "bytes read by the card" },
	{ TUTTI_COUNTER_BUS_WRITE_BYTES, "bus_write_bytes", "bytes written by the card" },
	{ TUTTI_COUNTER_MOVER_BYTES, "mover_bytes", "bytes moved on the card" },
	{ TUTTI_COUNTER_QUEUE_ERRORS, "queue_errors", "queues stopped by an error" },
};
#define RATES (sizeof(rates) / sizeof(*rates))

struct top {
	struct tutti_device *device;
	const struct tutti_discovery *card;
	char address[32];
	uint64_t counter[TUTTI_COUNTERS];
	double taken, seconds; /* when, and how long after the sample before */
	double rate[RATES];
	struct tutti_sm_state *sm; /* NULL: not to be had */
	struct client client[CLIENTS];
	unsigned clients;
};

static int sample(struct top *top)
{
	uint64_t before[TUTTI_COUNTERS];
	double now = tool_seconds();
	int error;

	memcpy(before, top->counter, sizeof(before));
	error = tutti_device_counters(top->device, top->counter);
	if (error)
		return error;
	top->seconds = now - top->taken;
	top->taken = now;
	for (size_t i = 0; i < RATES; i++)
		top->rate[i] = (double)(top->counter[rates[i].counter] - before[rates[i].counter]) / top->seconds;
	if (top->sm && tutti_device_sm_states(top->device, 0, top->card->sms, top->sm)) {
		free(top->sm);
		top->sm = NULL;
	}
	top->clients = *top->address ? clients_find(top->address, top->client, CLIENTS) : 0;
	return 0;
}

static unsigned busy_slots(const struct top *top, unsigned sm)
{
	return top->card->cta_slots > top->sm[sm].cta_slots ? top->card->cta_slots - top->sm[sm].cta_slots : 0;
}

static json_t *json_clients(const struct top *top)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < top->clients; i++) {
		const struct client *c = &top->client[i];

		json_array_append_new(list, json_pack("{s:i,s:s,s:i,s:I,s:I}", "pid", (int)c->process, "name", c->name,
						      "queues", (int)c->queues, "card_kib", (json_int_t)c->card_memory,
						      "system_kib", (json_int_t)c->system_memory));
	}
	return list;
}

static int show_json(const struct top *top)
{
	json_t *second = json_object(), *total = json_object(), *sms = json_array(), *all;
	int error;

	for (size_t i = 0; i < RATES; i++) {
		json_object_set_new(second, rates[i].key, json_real(top->rate[i]));
		json_object_set_new(total, rates[i].key, json_integer((json_int_t)top->counter[rates[i].counter]));
	}
	for (unsigned i = 0; top->sm && i < top->card->sms; i++)
		json_array_append_new(sms, json_integer(busy_slots(top, i)));
	all = json_pack("{s:s,s:s,s:s*,s:f,s:o,s:o,s:i,s:o,s:o}", "card", top->card->name, "transport",
			tutti_device_transport(top->device), "address", *top->address ? top->address : NULL, "seconds",
			top->seconds, "per_second", second, "total", total, "workgroup_slots",
			(int)top->card->cta_slots, "busy_slots", sms, "processes", json_clients(top));
	error = !all || json_dumpf(all, stdout, JSON_COMPACT) || putchar('\n') == EOF || fflush(stdout);
	json_decref(all);
	return error ? -1 : 0;
}

/* One character an SM: how many eighths of its slots for workgroups are taken. */
static void text_sms(const struct top *top)
{
	static const char eighth[] = ".12345678";

	printf("\nSMs: eighths of their slots for workgroups in use (. = idle)\n");
	for (unsigned i = 0; i < top->card->sms; i++) {
		unsigned slots = top->card->cta_slots ? top->card->cta_slots : 1;

		if (i % SMS_A_LINE == 0)
			printf("%s%6u  ", i ? "\n" : "", i);
		putchar(eighth[(busy_slots(top, i) * 8 + slots - 1) / slots]);
	}
	putchar('\n');
}

static void text_clients(const struct top *top)
{
	printf("\n%8s %-16s %7s %15s %17s\n", "process", "program", "queues", "card memory KiB", "system memory KiB");
	for (unsigned i = 0; i < top->clients; i++)
		printf("%8d %-16s %7u %15llu %17llu\n", (int)top->client[i].process, top->client[i].name,
		       top->client[i].queues, (unsigned long long)top->client[i].card_memory,
		       (unsigned long long)top->client[i].system_memory);
}

static int show_text(const struct top *top)
{
	printf("%.32s%s%s, %u SMs, through %s\n\n", top->card->name, *top->address ? " at " : "", top->address, top->card->sms,
	       tutti_device_transport(top->device));
	for (size_t i = 0; i < RATES; i++)
		printf("%14.0f %s a second, %llu in all\n", top->rate[i], rates[i].text,
		       (unsigned long long)top->counter[rates[i].counter]);
	if (top->sm)
		text_sms(top);
	if (top->clients)
		text_clients(top);
	return fflush(stdout) || ferror(stdout) ? -1 : 0;
}

static void wait_for(double seconds)
{
	struct timespec time = { .tv_sec = (time_t)seconds };

	time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
	nanosleep(&time, NULL);
}

static int watch(struct top *top, double interval, bool once, bool json)
{
	const bool screen = !once && !json && isatty(STDOUT_FILENO);
	int error = sample(top);

	while (!error) {
		wait_for(interval);
		error = sample(top);
		if (error)
			break;
		if (screen)
			fputs("\033[H\033[2J", stdout);
		if (json ? show_json(top) : show_text(top))
			return EXIT_FAILS;
		if (once)
			return EXIT_WORKS;
	}
	fprintf(stderr, "tutti top: %s\n", tutti_strerror(error));
	return EXIT_FAILS;
}

struct wanted {
	bool once, json;
	double interval;
};

static const struct argp_option options[] = {
	{ "once", 'o', NULL, 0, "show it once, and end", 0 },
	{ "json", 'j', NULL, 0, "one JSON object a sample", 0 },
	{ "interval", 'i', "SECONDS", 0, "time from sample to sample, 0.01 to 3600 (1)", 0 },
	{ 0 },
};

static int take(int key, char *value, void *to)
{
	struct wanted *wanted = to;

	wanted->once |= key == 'o';
	wanted->json |= key == 'j';
	if (key == 'i' && !number_read_real(value, 0.01, 3600, &wanted->interval))
		return -EINVAL;
	return key == ARGP_KEY_ARG ? -EINVAL : 0;
}

int command_top(int argc, char **argv)
{
	static const struct tool_command command = { .name = "top", .options = options, .take = take, .about =
		"Shows what the card does: kernels a second, how full each SM is, which processes use the card. The emulated card "
		"belongs to the program that opened it, so that top shows an idle one; `tutti trace' looks into programs." };
	struct wanted wanted = { .interval = 1 };
	struct top top = { 0 };
	int status;

	tool_options(&command, argc, argv, &wanted);
	top.device = tool_open(NULL);
	if (!top.device)
		return EXIT_FAILS;
	top.card = tutti_device_discovery(top.device);
	top.sm = calloc(top.card->sms, sizeof(*top.sm));
	if (tutti_device_pci_address(top.device, top.address, sizeof(top.address)))
		*top.address = 0;
	status = watch(&top, wanted.interval, wanted.once, wanted.json);
	free(top.sm);
	tutti_device_close(top.device);
	return status;
}
