// SPDX-License-Identifier: MIT
/*
 * The emulated card, inside this process. A host bus address is simply the pointer. Both
 * pools are mapped 1:1, and the BAR is placed so that card memory begins at a 1 GiB
 * boundary, so that page tables can use large leaves.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/number.h"
#include "base/say.h"
#include "transport/bare/bare.h"
#include "transport/bare/boot.h"
#include "transport/card_plugin.h"
#include "transport/emulator.h"

#define SYSTEM_RESERVE	   (64ull << 30)
#define WORKERS_MAX	   1024u
#define CARD_ALIGN	   (1ull << 30)
#define CARD_BYTES_DEFAULT (1ull << 30) /* what memory_bytes = 0 means in card.h */

/**
 * struct emulator - the transport's own state.
 * @plugin: the emulated card's functions
 * @lock, @cond: for threads that sleep; @interrupts and @sleepers are also read without the lock
 */
struct emulator {
	struct bare bare;
	const struct tutti_card_plugin *plugin;
	struct tutti_card *card;
	void *bar_mapping;
	size_t bar_mapping_bytes;
	void *system;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	uint64_t interrupts;
	uint32_t sleepers;
};

static void *host_memory(void *context, uint64_t bus, uint64_t bytes)
{
	struct emulator *emulator = context;

	return context_host_memory(&emulator->bare.context, bus, bytes);
}

/* Any thread of the card may call this. It takes no lock if no thread sleeps. */
static void interrupt(void *context, unsigned vector)
{
	struct emulator *emulator = context;

	(void)vector;
	__atomic_fetch_add(&emulator->interrupts, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&emulator->sleepers, __ATOMIC_SEQ_CST))
		return;
	pthread_mutex_lock(&emulator->lock);
	pthread_cond_broadcast(&emulator->cond);
	pthread_mutex_unlock(&emulator->lock);
}

static void emulator_wake(struct tutti_device *device)
{
	interrupt(device->private, 0);
}

static uint64_t emulator_interrupts(struct tutti_device *device)
{
	struct emulator *emulator = device->private;

	return __atomic_load_n(&emulator->interrupts, __ATOMIC_SEQ_CST);
}

static void emulator_sleep(struct tutti_device *device, uint64_t seen, uint64_t deadline)
{
	struct emulator *emulator = device->private;
	struct timespec until = {.tv_sec = deadline / 1000000000u, .tv_nsec = deadline % 1000000000u};

	pthread_mutex_lock(&emulator->lock);
	__atomic_fetch_add(&emulator->sleepers, 1, __ATOMIC_SEQ_CST);
	while (emulator_interrupts(device) == seen)
		if (pthread_cond_timedwait(&emulator->cond, &emulator->lock, &until))
			break;
	__atomic_fetch_sub(&emulator->sleepers, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&emulator->lock);
}

static void emulator_kick(struct tutti_device *device)
{
	struct emulator *emulator = device->private;

	emulator->plugin->kick(emulator->card);
}

static bool emulator_run(struct tutti_device *device, bool (*done)(void *), void *context)
{
	struct emulator *emulator = device->private;

	return emulator->plugin->run(emulator->card, done, context);
}

/* The reader stops behind the line that is wrong, or at the end if lines do not go together. */
static void say_wrong_line(const char *path, FILE *file)
{
	long end = ftell(file);
	unsigned number = 0;
	char line[256] = "";

	rewind(file);
	while (ftell(file) < end && fgets(line, sizeof(line), file))
		number++;
	line[strcspn(line, "\r\n")] = 0;
	say("topology %s, %s %u: \"%s\" is not understood, or too large", path, fgetc(file) == EOF ? "up to line" : "line",
	    number, line);
}

static int read_topology(const struct tutti_card_plugin *plugin, const char *path, struct tutti_card_config *config)
{
	FILE *file = fopen(path, "re");
	int error = file ? plugin->config_read(config, file) : -errno;

	if (file && error == -EINVAL)
		say_wrong_line(path, file);
	else if (error)
		say("topology %s: %s", path, strerror(-error));
	if (file)
		fclose(file);
	return error;
}

static int read_flag(const char *name, bool *flag)
{
	uint64_t number = *flag;
	int error = number_from_environment(name, 0, 1, &number);

	*flag = number;
	return error;
}

/* What the options leave open, and the variables must be right even where the options decide. */
static int read_environment(struct tutti_device_options *options)
{
	uint64_t seed = 0, workers = 0;
	bool deterministic = false, count = false;
	int error = number_from_environment("TUTTI_SEED", 0, UINT64_MAX, &seed);

	if (!error)
		error = number_from_environment("TUTTI_WORKERS", 0, WORKERS_MAX, &workers);
	if (!error)
		error = read_flag("TUTTI_DETERMINISTIC", &deterministic);
	if (!error)
		error = read_flag("TUTTI_COUNT", &count);
	if (!options->seed)
		options->seed = seed;
	if (!options->workers)
		options->workers = (unsigned)workers;
	options->deterministic |= deterministic;
	options->count |= count;
	return error;
}

static int read_config(const struct tutti_card_plugin *plugin, const struct tutti_device_options *given,
		       struct tutti_card_config *config)
{
	struct tutti_device_options options = *given;
	const char *topology = options.topology ? options.topology : getenv("TUTTI_TOPOLOGY");
	int error = read_environment(&options);

	if (!error && topology && *topology)
		error = read_topology(plugin, topology, config);
	if (error)
		return error;
	if (options.deterministic)
		config->mode = TUTTI_CARD_DETERMINISTIC;
	config->seed = options.seed;
	config->workers = options.workers;
	config->count = options.count;
	return 0;
}

/* Reserves address space for the BAR, such that card memory begins at a multiple of CARD_ALIGN. */
static int bar_reserve(struct emulator *emulator, struct tutti_card_config *config)
{
	size_t bytes = emulator->plugin->bar_bytes(config);
	size_t memory = config->memory_bytes ? config->memory_bytes : CARD_BYTES_DEFAULT;
	size_t aperture = bytes > memory ? bytes - memory : 0;
	uintptr_t start;

	emulator->bar_mapping_bytes = bytes + 2 * CARD_ALIGN;
	emulator->bar_mapping = mmap(NULL, emulator->bar_mapping_bytes, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (emulator->bar_mapping == MAP_FAILED) {
		emulator->bar_mapping = NULL;
		return -ENOMEM;
	}
	start = (uintptr_t)emulator->bar_mapping + aperture;
	start = ((start + CARD_ALIGN - 1) & ~(CARD_ALIGN - 1)) - aperture;
	config->bar = (void *)start;
	return 0;
}

static void emulator_free(struct tutti_device *device)
{
	struct emulator *emulator = device->private;

	if (!emulator)
		return;
	if (emulator->card)
		emulator->plugin->destroy(emulator->card);
	if (emulator->bar_mapping)
		munmap(emulator->bar_mapping, emulator->bar_mapping_bytes);
	if (emulator->system)
		munmap(emulator->system, SYSTEM_RESERVE);
	context_fini(&emulator->bare.context);
	pthread_cond_destroy(&emulator->cond);
	pthread_mutex_destroy(&emulator->lock);
	free(emulator);
	device->private = NULL;
}

static int emulator_create(struct tutti_device *device, const struct tutti_card_plugin *plugin,
			   struct tutti_card_config *config)
{
	struct emulator *emulator = calloc(1, sizeof(*emulator));
	pthread_condattr_t attribute;
	int error;

	if (!emulator)
		return -ENOMEM;
	emulator->plugin = plugin;
	device->private = emulator;
	pthread_mutex_init(&emulator->lock, NULL);
	pthread_condattr_init(&attribute);
	pthread_condattr_setclock(&attribute, CLOCK_MONOTONIC);
	pthread_cond_init(&emulator->cond, &attribute);
	pthread_condattr_destroy(&attribute);
	error = context_init(&emulator->bare.context, 1);
	if (error)
		return error;
	error = bar_reserve(emulator, config);
	if (error)
		return error;
	config->host_memory = host_memory;
	config->interrupt = interrupt;
	config->context = emulator;
	error = plugin->create(config, &emulator->card);
	if (error)
		return error;
	device->bar = plugin->bar(emulator->card);
	device->deterministic = config->mode == TUTTI_CARD_DETERMINISTIC;
	return 0;
}

static int inject_from_environment(const struct emulator *emulator)
{
	const char *text = getenv("TUTTI_INJECT");
	int error;

	if (!text || !*text)
		return 0;
	error = emulator->plugin->inject_string(emulator->card, text);
	if (error)
		say("TUTTI_INJECT=%s: not understood", text);
	return error;
}

static int emulator_open(struct tutti_device *device, const struct tutti_device_options *options)
{
	const struct tutti_card_plugin *plugin = card_plugin();
	struct tutti_card_config config = {0};
	int error;

	if (!plugin)
		return -ENODEV;
	error = read_config(plugin, options, &config);
	if (error)
		return error;
	error = emulator_create(device, plugin, &config);
	if (!error)
		error = boot_check_card(device, plugin->bar_bytes(&config));
	if (error)
		goto free;
	channel_init(device);
	error = boot_card(device, options);
	if (!error)
		return 0;
	channel_fini(device);
free:
	emulator_free(device);
	return error;
}

static int emulator_start(struct tutti_device *device, const struct tutti_print_ring *print_ring)
{
	struct emulator *emulator = device->private;
	int error = context_create(device, &emulator->bare.context, print_ring);

	if (error)
		return error;
	error = inject_from_environment(emulator);
	if (error)
		context_destroy(device, &emulator->bare.context);
	return error;
}

static void emulator_stop(struct tutti_device *device)
{
	context_destroy(device, &bare_of(device)->context);
}

static void emulator_close(struct tutti_device *device)
{
	channel_fini(device);
	emulator_free(device);
}

static int emulator_reserve(struct tutti_device *device, enum tutti_memory pool, void **base, size_t *bytes)
{
	struct emulator *emulator = device->private;
	const struct tutti_discovery *known = &device->known;

	if (pool == TUTTI_MEMORY_CARD) {
		*base = device->bar + known->aperture + known->reserved_bytes;
		*bytes = (known->aperture_bytes < known->memory_bytes ? known->aperture_bytes
								      : known->memory_bytes) -
			 known->reserved_bytes;
		return 0;
	}
	emulator->system =
	    mmap(NULL, SYSTEM_RESERVE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (emulator->system == MAP_FAILED) {
		emulator->system = NULL;
		return -ENOMEM;
	}
	*base = (void *)(((uintptr_t)emulator->system + (2u << 20) - 1) & ~(uintptr_t)((2u << 20) - 1));
	*bytes = SYSTEM_RESERVE - (2u << 20);
	return 0;
}

/*
 * The emulated card stores into the program's memory as the program itself does, so what that may not write would end
 * it with a signal. A driver refuses such pages when it pins them.
 */
static bool is_writable(uintptr_t start, uintptr_t end)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long from, to;
	char line[512], rights[5];

	if (!maps)
		return true;
	while (start < end && fgets(line, sizeof(line), maps)) /* in the order of addresses */
		if (sscanf(line, "%lx-%lx %4s", &from, &to, rights) == 3 && from <= start && start < to) {
			if (rights[0] != 'r' || rights[1] != 'w')
				break;
			start = to;
		}
	fclose(maps);
	return start >= end;
}

static int emulator_map(struct tutti_device *device, void *address, size_t bytes, enum tutti_memory pool,
			unsigned access)
{
	struct emulator *emulator = device->private;
	uint64_t bus = TUTTI_BUS_HOST | (uintptr_t)address;

	bool reserved = (uintptr_t)address - (uintptr_t)emulator->system < SYSTEM_RESERVE;

	if (pool == TUTTI_MEMORY_CARD)
		bus = (uint64_t)((uint8_t *)address - (device->bar + device->known.aperture));
	else if (reserved && mprotect(address, bytes, PROT_READ | PROT_WRITE))
		return -ENOMEM;
	else if (!reserved && !is_writable((uintptr_t)address, (uintptr_t)address + bytes))
		return -EFAULT;
	return context_map(&emulator->bare.context, address, bus, bytes, access);
}

static int emulator_unmap(struct tutti_device *device, void *address, size_t bytes)
{
	struct emulator *emulator = device->private;

	return context_unmap(device, &emulator->bare.context, address, bytes);
}

static int emulator_profile(struct tutti_device *device, tutti_profile_fn each, void *context)
{
	struct emulator *emulator = device->private;
	size_t count = emulator->plugin->profile(emulator->card, NULL, 0);
	struct tutti_card_function *functions = calloc(count, sizeof(*functions));

	if (!functions)
		return -ENOMEM;
	emulator->plugin->profile(emulator->card, functions, count);
	for (size_t i = 0; i < count; i++)
		each(context, functions[i].name, functions[i].calls, functions[i].instructions);
	free(functions);
	return 0;
}

struct tutti_card *emulator_card(struct tutti_device *device)
{
	return device->transport == &transport_emulator ? ((struct emulator *)device->private)->card : NULL;
}

const char *emulator_core(struct tutti_device *device)
{
	const struct emulator *emulator = device->private;

	return device->transport == &transport_emulator ? emulator->plugin->core(emulator->card) : NULL;
}

bool emulator_kernels(struct tutti_device *device, struct translator_report *report)
{
	const struct emulator *emulator = device->private;

	if (device->transport != &transport_emulator)
		return false;
	emulator->plugin->kernels(report);
	return true;
}

int emulator_translate(const uint8_t *code, uint64_t bytes)
{
	const struct tutti_card_plugin *plugin = card_plugin();

	return plugin ? plugin->translate(code, bytes) : -ENODEV;
}

static bool always(void)
{
	return true;
}

const struct transport transport_emulator = {
    .name = "emulator",
    .discards = true,
    .present = always,
    .open = emulator_open,
    .start = emulator_start,
    .stop = emulator_stop,
    .close = emulator_close,
    .kick = emulator_kick,
    .run = emulator_run,
    .interrupts = emulator_interrupts,
    .sleep = emulator_sleep,
    .wake = emulator_wake,
    .reserve = emulator_reserve,
    .map = emulator_map,
    .unmap = emulator_unmap,
    .profile = emulator_profile,
    BARE_REQUESTS,
};
