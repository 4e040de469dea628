/* SPDX-License-Identifier: MIT */
/* tutti info: what the card is. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/translated/translated.h"
#include "info/info.h"
#include "options.h"
#include "tool.h"
#include "transport/emulator.h"

#define LOG_BYTES 65536

static void print_features(uint64_t set)
{
	const char *comma = "", *name;

	for (unsigned f = 0; (name = info_feature(f, set)); f++)
		if (*name) {
			printf("%s%s", comma, name);
			comma = ", ";
		}
}

static void print_version(uint32_t version)
{
	printf("%u.%u", TUTTI_VERSION_MAJOR(version), TUTTI_VERSION_MINOR(version));
}

static void text_topology(const struct tutti_discovery *card)
{
	for (unsigned g = 0; g < card->gpcs && g < TUTTI_MAX_GPCS; g++)
		printf("  GPC %-3u       SMs %u .. %u, %u CPCs, uGPU %u\n", g, card->gpc[g].first_sm,
		       card->gpc[g].first_sm + card->gpc[g].sms - 1u, card->gpc[g].cpcs, card->gpc[g].ugpu);
}

/* How an emulated card executes what it runs. */
static void text_execution(struct tutti_device *device)
{
	struct translator_report kernels;

	if (!emulator_kernels(device, &kernels))
		return;
	printf("firmware       %s\nkernels        %s\n", emulator_core(device), kernels.how);
	if (kernels.folder[0])
		printf("translations   %u, %llu KiB, in %s\n", kernels.files, (unsigned long long)(kernels.bytes + 1023) >> 10,
		       kernels.folder);
	else
		printf("translations   not kept: there is no cache folder that belongs to this user alone\n");
}

static void text(struct tutti_device *device, bool topology)
{
	const struct tutti_discovery *card = tutti_device_discovery(device);

	printf("card           %.32s, serial %u, through transport %s\n", card->name, card->serial,
	       tutti_device_transport(device));
	printf("versions       library ");
	print_version(tutti_version());
	printf(", firmware ");
	print_version(tutti_device_firmware_version(device));
	printf(", card contract ");
	print_version(card->contract_min);
	printf(" to ");
	print_version(card->contract_max);
	printf("\nfeatures       ");
	print_features(card->features);
	printf("\nmemory         %llu MiB, %llu MiB of it visible through the aperture\n",
	       (unsigned long long)card->memory_bytes >> 20, (unsigned long long)card->aperture_bytes >> 20);
	printf("compute        %u GPCs, %u SMs; an SM: %u PEUs x %u waves, %u CTAs, %u barriers, %u KiB shared memory\n",
	       card->gpcs, card->sms, card->peus, card->peu_waves, card->cta_slots, card->barriers,
	       card->shared_blocks * card->shared_block_bytes >> 10);
	printf("limits         workgroups up to %u work-items, %u KiB private memory a wave\n", card->workgroup_items,
	       card->private_bytes >> 10);
	printf("queues         %u of %u to %u packets, %u RSBs, %u contexts, %u task slots\n", card->max_queues,
	       card->ring_packets_min, card->ring_packets_max, card->max_rsbs, card->max_contexts, card->task_slots);
	printf("engines        %u soft core%s at %.0f MHz, %u KiB local memory, %u movers, timer %.0f MHz\n",
	       card->soft_cores, card->soft_cores == 1 ? "" : "s", card->soft_core_hz / 1e6, card->local_bytes >> 10,
	       card->movers, (double)card->timer_hz / 1e6);
	text_execution(device);
	bus_print(device);
	if (topology)
		text_topology(card);
}

/* One line for each SM; SMs that have never run anything are left out. */
static void text_sms(const struct info *info)
{
	unsigned busy = 0;

	printf("%6s %10s %10s %10s %12s %14s\n", "SM", "free CTAs", "CTAs", "waves", "energy nJ", "instructions");
	for (unsigned i = 0; i < info->card->sms; i++) {
		const struct tutti_sm_state *sm = &info->sm[i];

		if (!sm->ctas)
			continue;
		busy++;
		printf("%6u %10u %10llu %10llu %12.1f %14llu\n", i, sm->cta_slots, (unsigned long long)sm->ctas,
		       (unsigned long long)sm->waves, (double)sm->energy / 1000,
		       (unsigned long long)info_instructions(sm));
	}
	printf("%u of %u SMs have run nothing since the card was started\n", info->card->sms - busy, info->card->sms);
}

static void show_text(const struct info *info, bool topology)
{
	text(info->device, topology);
	for (unsigned c = 0; info->counters && c < TUTTI_COUNTERS; c++)
		printf("%-28s %llu\n", tutti_counter_name(c), (unsigned long long)info->counters[c]);
	if (info->sm)
		text_sms(info);
	if (info->log)
		fputs(info->log, stdout);
}

/* Reads what was asked for. Return: an exit status, after a message. */
static int read_more(struct info *info, bool sms)
{
	int error = 0;

	if (sms) {
		info->sm = calloc(info->card->sms, sizeof(*info->sm));
		error = info->sm ? tutti_device_sm_states(info->device, 0, info->card->sms, info->sm) : -ENOMEM;
	}
	if (!error && info->counters)
		error = tutti_device_counters(info->device, info->counters);
	if (!error && info->log)
		tutti_device_log(info->device, info->log, LOG_BYTES);
	if (error)
		fprintf(stderr, "tutti info: %s\n", tutti_strerror(error));
	return error ? EXIT_FAILS : EXIT_WORKS;
}

/* Most of what is shown was read when the device was opened, so it would look well even if the link has been lost since. */
static int ask(struct tutti_device *device)
{
	uint32_t value;
	int error = tutti_policy_get(device, TUTTI_POLICY_ISSUE, 0, &value);

	if (error)
		fprintf(stderr, "tutti info: the card does not answer: %s\n", tutti_strerror(error));
	return error ? EXIT_FAILS : EXIT_WORKS;
}

struct wanted {
	bool json, counters, log, topology, sms;
};

static const struct argp_option options[] = {
	{ "json", 'j', NULL, 0, "one JSON object", 0 },
	{ "counters", 'c', NULL, 0, "also all counters", 0 },
	{ "log", 'l', NULL, 0, "also the end of the firmware's log", 0 },
	{ "topology", 't', NULL, 0, "also the SMs of each GPC", 0 },
	{ "sms", 's', NULL, 0, "also what each SM has free and has run", 0 },
	{ 0 },
};

static int take(int key, char *value, void *to)
{
	struct wanted *wanted = to;

	wanted->json |= key == 'j';
	wanted->counters |= key == 'c';
	wanted->log |= key == 'l';
	wanted->topology |= key == 't';
	wanted->sms |= key == 's';
	return key == ARGP_KEY_ARG ? -EINVAL : 0;
}

int command_info(int argc, char **argv)
{
	static const struct tool_command command = { .name = "info", .about = "Shows what the card is.", .options = options,
						     .take = take };
	static uint64_t counters[TUTTI_COUNTERS];
	static char log[LOG_BYTES];
	struct wanted wanted = { 0 };
	struct info info = { 0 };
	int status;

	tool_options(&command, argc, argv, &wanted);
	info.device = tool_open(NULL);
	if (!info.device)
		return EXIT_FAILS;
	info.card = tutti_device_discovery(info.device);
	info.counters = wanted.counters ? counters : NULL;
	info.log = wanted.log ? log : NULL;
	status = read_more(&info, wanted.sms);
	if (!status && wanted.json)
		status = info_print_json(&info);
	else if (!status)
		show_text(&info, wanted.topology);
	if (!status)
		status = ask(info.device);
	free(info.sm);
	tutti_device_close(info.device);
	return status;
}
