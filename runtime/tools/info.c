/* SPDX-License-Identifier: MIT */
/* tutti info: what the card is. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"
#include "transport/emulator.h"
#include "tutti/policy.h"

static const struct {
	uint64_t bit;
	const char *name;
} features[] = {
	{ TUTTI_FEATURE_DOORBELL_WAKES, "doorbell-wakes" },
	{ TUTTI_FEATURE_PCIE_ATOMICS, "pcie-atomics" },
	{ TUTTI_FEATURE_CARD_RINGS, "card-rings" },
	{ TUTTI_FEATURE_CGA, "cga" },
	{ TUTTI_FEATURE_TMAU, "tmau" },
	{ TUTTI_FEATURE_QUEUE_TASKS, "queue-tasks" },
	{ TUTTI_FEATURE_ENERGY, "energy" },
	{ TUTTI_FEATURE_EMULATED, "emulated" },
	{ TUTTI_FEATURE_TRACE, "trace" },
	{ TUTTI_FEATURE_ORDERED_STATES, "ordered-states" },
};

static void usage(void)
{
	puts("usage: tutti info [--json] [--counters] [--log] [--topology] [--sms]\n\n"
	     "  --json      one JSON object\n"
	     "  --counters  also all counters\n"
	     "  --log       also the end of the firmware's log\n"
	     "  --topology  also the SMs of each GPC\n"
	     "  --sms       also what each SM has free and has run");
}

static void print_features(uint64_t set, const char *between, const char *quote)
{
	const char *comma = "";

	for (size_t f = 0; f < sizeof(features) / sizeof(*features); f++)
		if (set & features[f].bit) {
			printf("%s%s%s%s", comma, quote, features[f].name, quote);
			comma = between;
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
	print_features(card->features, ", ", "");
	printf("\nmemory         %llu MiB, %llu MiB of it visible through the aperture\n",
	       (unsigned long long)card->memory_bytes >> 20, (unsigned long long)card->aperture_bytes >> 20);
	printf("compute        %u GPCs, %u SMs; an SM: %u PEUs x %u waves, %u CTAs, %u barriers, %u KiB shared memory\n",
	       card->gpcs, card->sms, card->peus, card->peu_waves, card->cta_slots, card->barriers,
	       card->shared_blocks * card->shared_block_bytes >> 10);
	printf("kernels        workgroups up to %u work-items, %u KiB private memory a wave\n", card->workgroup_items,
	       card->private_bytes >> 10);
	printf("queues         %u of %u to %u packets, %u RSBs, %u contexts, %u task slots\n", card->max_queues,
	       card->ring_packets_min, card->ring_packets_max, card->max_rsbs, card->max_contexts, card->task_slots);
	printf("engines        %u soft core%s at %.0f MHz, %u KiB local memory, %u movers, timer %.0f MHz\n",
	       card->soft_cores, card->soft_cores == 1 ? "" : "s", card->soft_core_hz / 1e6, card->local_bytes >> 10,
	       card->movers, (double)card->timer_hz / 1e6);
	if (emulator_core(device))
		printf("firmware       %s\n", emulator_core(device));
	bus_show(device, false);
	if (topology)
		text_topology(card);
}

/* One line for each SM; SMs that have never run anything are left out. */
static void text_sms(struct tutti_device *device)
{
	const struct tutti_discovery *card = tutti_device_discovery(device);
	struct tutti_sm_state *sm = calloc(card->sms, sizeof(*sm));
	int error = sm ? tutti_device_sm_states(device, 0, card->sms, sm) : -ENOMEM;

	if (error)
		printf("SMs            %s\n", tutti_strerror(error));
	else
		printf("%6s %10s %10s %10s %12s %14s\n", "SM", "free CTAs", "CTAs", "waves", "energy nJ", "instructions");
	for (unsigned i = 0; !error && i < card->sms; i++) {
		uint64_t instructions = 0;

		for (unsigned c = 0; c < TUTTI_CLASSES; c++)
			instructions += sm[i].instructions[c];
		if (sm[i].ctas)
			printf("%6u %10u %10llu %10llu %12.1f %14llu\n", i, sm[i].cta_slots, (unsigned long long)sm[i].ctas,
			       (unsigned long long)sm[i].waves, (double)sm[i].energy / 1000, (unsigned long long)instructions);
	}
	free(sm);
}

static void json_number(const char *name, uint64_t value)
{
	printf(",\"%s\":%llu", name, (unsigned long long)value);
}

static void json(struct tutti_device *device, const uint64_t *counters)
{
	const struct tutti_discovery *card = tutti_device_discovery(device);
	uint32_t firmware = tutti_device_firmware_version(device);

	printf("{\"name\":\"%.32s\",\"transport\":\"%s\"", card->name, tutti_device_transport(device));
	printf(",\"library\":\"%u.%u\",\"firmware\":\"%u.%u\"", TUTTI_VERSION_MAJOR(tutti_version()),
	       TUTTI_VERSION_MINOR(tutti_version()), TUTTI_VERSION_MAJOR(firmware), TUTTI_VERSION_MINOR(firmware));
	printf(",\"contract\":[\"%u.%u\",\"%u.%u\"]", TUTTI_VERSION_MAJOR(card->contract_min),
	       TUTTI_VERSION_MINOR(card->contract_min), TUTTI_VERSION_MAJOR(card->contract_max),
	       TUTTI_VERSION_MINOR(card->contract_max));
	printf(",\"features\":[");
	print_features(card->features, ",", "\"");
	printf("]");
	json_number("serial", card->serial);
	json_number("memory_bytes", card->memory_bytes);
	json_number("aperture_bytes", card->aperture_bytes);
	json_number("gpcs", card->gpcs);
	json_number("sms", card->sms);
	json_number("peus", card->peus);
	json_number("peu_waves", card->peu_waves);
	json_number("cta_slots", card->cta_slots);
	json_number("barriers", card->barriers);
	json_number("shared_bytes", (uint64_t)card->shared_blocks * card->shared_block_bytes);
	json_number("private_bytes", card->private_bytes);
	json_number("workgroup_items", card->workgroup_items);
	json_number("max_queues", card->max_queues);
	json_number("max_rsbs", card->max_rsbs);
	json_number("max_contexts", card->max_contexts);
	json_number("task_slots", card->task_slots);
	json_number("soft_cores", card->soft_cores);
	json_number("soft_core_hz", card->soft_core_hz);
	json_number("local_bytes", card->local_bytes);
	json_number("movers", card->movers);
	json_number("timer_hz", card->timer_hz);
	if (emulator_core(device))
		printf(",\"firmware_is\":\"%s\"", emulator_core(device));
	bus_show(device, true);
	printf(",\"gpc\":[");
	for (unsigned g = 0; g < card->gpcs && g < TUTTI_MAX_GPCS; g++)
		printf("%s{\"first_sm\":%u,\"sms\":%u,\"cpcs\":%u,\"ugpu\":%u}", g ? "," : "", card->gpc[g].first_sm,
		       card->gpc[g].sms, card->gpc[g].cpcs, card->gpc[g].ugpu);
	printf("]");
	for (unsigned c = 0; counters && c < TUTTI_COUNTERS; c++)
		printf("%s\"%s\":%llu%s", c ? "," : ",\"counters\":{", tutti_counter_name(c),
		       (unsigned long long)counters[c], c + 1 < TUTTI_COUNTERS ? "" : "}");
	printf("}\n");
}

int command_info(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' }, { "counters", no_argument, NULL, 'c' },
		{ "log", no_argument, NULL, 'l' },  { "topology", no_argument, NULL, 't' },
		{ "sms", no_argument, NULL, 's' },  { "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 }
	};
	bool as_json = false, with_counters = false, with_log = false, topology = false, sms = false;
	uint64_t counters[TUTTI_COUNTERS];
	struct tutti_device *device;
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		as_json |= option == 'j';
		with_counters |= option == 'c';
		with_log |= option == 'l';
		topology |= option == 't';
		sms |= option == 's';
		if (option == 'h') {
			usage();
			return EXIT_WORKS;
		}
		if (option == '?')
			return EXIT_USAGE;
	}
	if (optind < argc)
		return tool_usage_error("info", "unexpected argument \"%s\"", argv[optind]);
	device = tool_open(NULL);
	if (!device)
		return EXIT_FAILS;
	with_counters = with_counters && !tutti_device_counters(device, counters);
	if (as_json)
		json(device, with_counters ? counters : NULL);
	else
		text(device, topology);
	for (unsigned c = 0; with_counters && !as_json && c < TUTTI_COUNTERS; c++)
		printf("%-28s %llu\n", tutti_counter_name(c), (unsigned long long)counters[c]);
	if (sms && !as_json)
		text_sms(device);
	if (with_log && !as_json) {
		static char log[65536];

		tutti_device_log(device, log, sizeof(log));
		fputs(log, stdout);
	}
	tutti_device_close(device);
	return EXIT_WORKS;
}
