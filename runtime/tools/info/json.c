/* SPDX-License-Identifier: MIT */
/* tutti info --json, by jansson, which escapes what a card or a firmware says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/translated/translated.h"
#include "info/info.h"
#include "tool.h"
#include "transport/emulator.h"

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

const char *info_feature(unsigned number, uint64_t set)
{
	if (number >= sizeof(features) / sizeof(*features))
		return NULL;
	return set & features[number].bit ? features[number].name : "";
}

uint64_t info_instructions(const struct tutti_sm_state *sm)
{
	uint64_t sum = 0;

	for (unsigned c = 0; c < TUTTI_CLASSES; c++)
		sum += sm->instructions[c];
	return sum;
}

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

/* What is not UTF-8, as the name of a card that is not one of ours may be, is shown as question marks. */
static json_t *text(const char *bytes, size_t most)
{
	char *plain = strndup(bytes, most);
	json_t *string = plain ? json_string(plain) : NULL;

	for (char *c = plain; !string && c && *c; c++)
		if (*c & 0x80)
			*c = '?';
	if (!string && plain)
		string = json_string(plain);
	free(plain);
	return string;
}

static json_t *version(uint32_t number)
{
	return json_sprintf("%u.%u", TUTTI_VERSION_MAJOR(number), TUTTI_VERSION_MINOR(number));
}

static json_t *feature_list(uint64_t set)
{
	json_t *list = json_array();
	const char *name;

	for (unsigned f = 0; (name = info_feature(f, set)); f++)
		if (*name)
			json_array_append_new(list, json_string(name));
	return list;
}

static void add_numbers(json_t *all, const struct tutti_discovery *card)
{
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {
		{ "serial", card->serial },
		{ "memory_bytes", card->memory_bytes },
		{ "aperture_bytes", card->aperture_bytes },
		{ "gpcs", card->gpcs },
		{ "sms", card->sms },
		{ "peus", card->peus },
		{ "peu_waves", card->peu_waves },
		{ "cta_slots", card->cta_slots },
		{ "barriers", card->barriers },
		{ "shared_bytes", (uint64_t)card->shared_blocks * card->shared_block_bytes },
		{ "private_bytes", card->private_bytes },
		{ "workgroup_items", card->workgroup_items },
		{ "max_queues", card->max_queues },
		{ "max_rsbs", card->max_rsbs },
		{ "max_contexts", card->max_contexts },
		{ "task_slots", card->task_slots },
		{ "soft_cores", card->soft_cores },
		{ "soft_core_hz", card->soft_core_hz },
		{ "local_bytes", card->local_bytes },
		{ "movers", card->movers },
		{ "timer_hz", card->timer_hz },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		json_object_set_new(all, numbers[i].name, number(numbers[i].value));
}

static json_t *gpc_list(const struct tutti_discovery *card)
{
	json_t *list = json_array();

	for (unsigned g = 0; g < card->gpcs && g < TUTTI_MAX_GPCS; g++)
		json_array_append_new(list, json_pack("{s:i,s:i,s:i,s:i}", "first_sm", (int)card->gpc[g].first_sm, "sms",
						      (int)card->gpc[g].sms, "cpcs", (int)card->gpc[g].cpcs, "ugpu",
						      (int)card->gpc[g].ugpu));
	return list;
}

static json_t *sm_list(const struct info *info)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < info->card->sms; i++) {
		const struct tutti_sm_state *sm = &info->sm[i];

		json_array_append_new(list, json_pack("{s:i,s:I,s:I,s:I,s:I}", "free_ctas", (int)sm->cta_slots, "ctas",
						      (json_int_t)sm->ctas, "waves", (json_int_t)sm->waves, "energy_pj",
						      (json_int_t)sm->energy, "instructions",
						      (json_int_t)info_instructions(sm)));
	}
	return list;
}

static json_t *counter_list(const uint64_t *counters)
{
	json_t *list = json_object();

	for (unsigned c = 0; c < TUTTI_COUNTERS; c++)
		json_object_set_new(list, tutti_counter_name(c), number(counters[c]));
	return list;
}

/* How an emulated card executes what it runs. */
static void add_execution(json_t *all, struct tutti_device *device)
{
	struct translator_report kernels;

	if (!emulator_kernels(device, &kernels))
		return;
	json_object_set_new(all, "firmware_is", json_string(emulator_core(device)));
	json_object_set_new(all, "kernels_are", json_string(kernels.how));
	json_object_set_new(all, "translations", json_pack("{s:s,s:I,s:I}", "folder", kernels.folder, "files",
							   (json_int_t)kernels.files, "bytes", (json_int_t)kernels.bytes));
}

int info_print_json(const struct info *info)
{
	const struct tutti_discovery *card = info->card;
	json_t *all = json_object(), *pci = bus_json(info->device);
	int failed;

	json_object_set_new(all, "name", text(card->name, sizeof(card->name)));
	json_object_set_new(all, "transport", json_string(tutti_device_transport(info->device)));
	json_object_set_new(all, "library", version(tutti_version()));
	json_object_set_new(all, "firmware", version(tutti_device_firmware_version(info->device)));
	json_object_set_new(all, "contract", json_pack("[o,o]", version(card->contract_min), version(card->contract_max)));
	json_object_set_new(all, "features", feature_list(card->features));
	add_numbers(all, card);
	add_execution(all, info->device);
	if (pci)
		json_object_set_new(all, "pci", pci);
	json_object_set_new(all, "gpc", gpc_list(card));
	if (info->counters)
		json_object_set_new(all, "counters", counter_list(info->counters));
	if (info->sm)
		json_object_set_new(all, "sm", sm_list(info));
	if (info->log)
		json_object_set_new(all, "log", text(info->log, strlen(info->log)));
	failed = json_dumpf(all, stdout, JSON_COMPACT) || putchar('\n') == EOF;
	json_decref(all);
	return failed ? EXIT_FAILS : EXIT_WORKS;
}
