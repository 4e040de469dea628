/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=card_plugin,--wrap=boot_check_card,--wrap=boot_card,--wrap=channel_request,--wrap=channel_ask */
/* link: -Wl,--wrap=mmap,--wrap=munmap,--wrap=mprotect,--wrap=calloc */
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock */
/*
 * The emulator transport around a card that the test plays: steps that fail, settings, memory, threads that sleep
 * (SYS-06, SYS-40, SYS-42, REL-02).
 */
#include <fcntl.h>

#include "lock_check.h"
#include "open_files.h"
#include "rt_rig.h"
#include "transport/bare/bare.h"
#include "transport/bare/boot.h"
#include "transport/card_plugin.h"
#include "transport/emulator.h"

#define GIB    (1ull << 30)
#define WINDOW (2u << 20)

static const struct transport *const emulator = &transport_emulator;
static struct tutti_card_config config;
static const char *failing; /* the function that is to fail */
static unsigned nth;	    /* the how many-th call of it */
static unsigned live, contexts, destroyed_contexts, kicked, injected;
static size_t mapped, memory;
static uint8_t *bar_start, *bar_end, *system_start;
static struct tutti_discovery known;

static bool fails(const char *what)
{
	return failing && !strcmp(what, failing) && !--nth;
}

void *__real_mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset);
int __real_munmap(void *at, size_t bytes);
int __wrap_munmap(void *at, size_t bytes);
int __real_mprotect(void *at, size_t bytes, int access);
int __wrap_mprotect(void *at, size_t bytes, int access);
void *__real_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);

void *__wrap_mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset)
{
	uint8_t *p = fails("mmap") ? MAP_FAILED : __real_mmap(at, bytes, access, flags, file, offset);

	if (p == MAP_FAILED)
		return p;
	mapped += bytes;
	if (bytes >= 2 * GIB && bytes < 8 * GIB) {
		bar_start = p;
		bar_end = p + bytes;
	} else if (bytes > 8 * GIB) {
		system_start = p;
	}
	return p;
}

int __wrap_munmap(void *at, size_t bytes)
{
	mapped -= bytes;
	return __real_munmap(at, bytes);
}

int __wrap_mprotect(void *at, size_t bytes, int access)
{
	return fails("mprotect") ? -1 : __real_mprotect(at, bytes, access);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
	return fails("calloc") ? NULL : __real_calloc(n, bytes);
}

/* A line that begins with "x" is wrong, and the lines behind it are not read; "y" is wrong only where the file ends. */
static int config_read(struct tutti_card_config *config, FILE *file)
{
	bool wrong = false;
	char line[512];

	config->memory_bytes = memory;
	while (fgets(line, sizeof(line), file)) {
		if (*line == 'x')
			return -EINVAL;
		wrong |= *line == 'y';
	}
	return wrong ? -EINVAL : 0;
}

static size_t bar_bytes(const struct tutti_card_config *config)
{
	return WINDOW + (config->memory_bytes ? config->memory_bytes : GIB);
}

static int create(const struct tutti_card_config *given, struct tutti_card **card)
{
	config = *given;
	if (fails("create"))
		return -EPROTO;
	*card = (void *)&config;
	live++;
	return 0;
}

static void destroy(struct tutti_card *card)
{
	live--;
}

static void *bar_of(struct tutti_card *card)
{
	return config.bar;
}

static void kick_card(struct tutti_card *card)
{
	kicked++;
}

static bool run_card(struct tutti_card *card, bool (*done)(void *), void *context)
{
	return done(context);
}

static int inject(struct tutti_card *card, const char *text)
{
	injected++;
	return !strcmp(text, "bad") ? -EINVAL : 0;
}

static size_t profile(struct tutti_card *card, struct tutti_card_function *functions, size_t max)
{
	for (size_t i = 0; i < max; i++)
		functions[i] = (struct tutti_card_function){.name = "f", .calls = i + 1, .instructions = i + 10};
	return 3;
}

static const char *core(struct tutti_card *card)
{
	return "played";
}

static struct translator_report *reported_to;

static void kernels(struct translator_report *report)
{
	reported_to = report;
}

static int translate(const uint8_t *code, uint64_t bytes)
{
	return code[0] == 7 && bytes == 3 ? 4 : -EPROTO;
}

static const struct tutti_card_plugin plugin = {.config_read = config_read,
						.bar_bytes = bar_bytes,
						.create = create,
						.destroy = destroy,
						.bar = bar_of,
						.kick = kick_card,
						.run = run_card,
						.inject_string = inject,
						.profile = profile,
						.core = core,
						.kernels = kernels,
						.translate = translate};

const struct tutti_card_plugin *__wrap_card_plugin(void);
int __wrap_boot_check_card(struct tutti_device *device, size_t bytes);
int __wrap_boot_card(struct tutti_device *device, const struct tutti_device_options *options);
int __wrap_channel_request(struct tutti_device *device, struct tutti_message *message);
int __wrap_channel_ask(struct tutti_device *device, unsigned type, uint64_t a, uint64_t b, uint64_t c, void *reply);

const struct tutti_card_plugin *__wrap_card_plugin(void)
{
	return fails("plugin") ? NULL : &plugin;
}

int __wrap_boot_check_card(struct tutti_device *device, size_t bytes)
{
	if (fails("check"))
		return -EPROTO;
	assert_int_equal(bytes, bar_bytes(&config));
	device->known = known;
	device->control = (void *)device->bar;
	return 0;
}

int __wrap_boot_card(struct tutti_device *device, const struct tutti_device_options *options)
{
	return fails("boot") ? -EPROTO : 0;
}

int __wrap_channel_request(struct tutti_device *device, struct tutti_message *message)
{
	if (fails("context"))
		return -EPROTO;
	contexts += message->type == TUTTI_MSG_CONTEXT_CREATE;
	assert_int_equal(message->context.asid, 1); /* the only number that each card has */
	return 0;
}

int __wrap_channel_ask(struct tutti_device *device, unsigned type, uint64_t a, uint64_t b, uint64_t c, void *reply)
{
	destroyed_contexts += type == TUTTI_MSG_CONTEXT_DESTROY;
	return 0;
}

static int setup(void **state)
{
	device = aligned_alloc(64, (sizeof(*device) + 63) & ~63ull);
	memset(device, 0, sizeof(*device));
	device->transport = emulator;
	failing = NULL;
	live = contexts = destroyed_contexts = kicked = injected = 0;
	mapped = memory = 0;
	known = (struct tutti_discovery){
	    .aperture = WINDOW, .aperture_bytes = GIB, .memory_bytes = GIB, .reserved_bytes = 1u << 20};
	return 0;
}

static int teardown(void **state)
{
	free(device);
	return 0;
}

static int open_with(struct tutti_device_options options)
{
	return emulator->open(device, &options);
}

static void open_good(void)
{
	assert_int_equal(open_with((struct tutti_device_options){0}), 0);
	assert_int_equal(live, 1);
}

static void close_all(void)
{
	emulator->close(device);
	assert_null(device->private);
	assert_int_equal(live, 0);
	assert_int_equal(mapped, 0);
}

/* Whichever step fails, the error is returned, and neither address space nor a card is leaked. */
static void steps_that_fail(void **state)
{
	static const struct {
		const char *what;
		unsigned nth;
		int error;
	} rows[] = {{"plugin", 1, -ENODEV}, {"calloc", 1, -ENOMEM}, {"mmap", 1, -ENOMEM}, {"mmap", 2, -ENOMEM},
		    {"create", 1, -EPROTO}, {"check", 1, -EPROTO},  {"boot", 1, -EPROTO}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		failing = rows[i].what;
		nth = rows[i].nth;
		assert_int_equal(open_with((struct tutti_device_options){0}), rows[i].error);
		assert_null(device->private);
		assert_int_equal(live, 0);
		assert_int_equal(mapped, 0);
	}
	failing = NULL;
	open_good();
	close_all();
}

/* A context is created on the card, and destroyed again if the fault to be injected is unknown. */
static void starts(void **state)
{
	unsetenv("TUTTI_INJECT");
	open_good();
	failing = "context";
	nth = 1;
	assert_int_equal(emulator->start(device, NULL), -EPROTO);
	emulator->stop(device); /* nothing has been started */
	assert_int_equal(destroyed_contexts, 0);
	setenv("TUTTI_INJECT", "bad", 1);
	assert_int_equal(emulator->start(device, NULL), -EINVAL);
	assert_int_equal(contexts, 1);
	assert_int_equal(destroyed_contexts, 1);
	setenv("TUTTI_INJECT", "good", 1);
	assert_int_equal(emulator->start(device, NULL), 0);
	assert_int_equal(injected, 2);
	emulator->stop(device);
	assert_int_equal(destroyed_contexts, 2);
	setenv("TUTTI_INJECT", "", 1);
	assert_int_equal(emulator->start(device, NULL), 0);
	unsetenv("TUTTI_INJECT");
	assert_int_equal(injected, 2);
	emulator->stop(device);
	close_all();
}

static void set(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

/* Options describe the card, environment variables what the options leave open. Both are checked. */
static void settings(void **state)
{
	set("TUTTI_SEED", "7");
	set("TUTTI_WORKERS", "5");
	set("TUTTI_COUNT", "0");
	set("TUTTI_DETERMINISTIC", "0");
	assert_int_equal(open_with((struct tutti_device_options){.seed = 9, .workers = 2, .count = true}), 0);
	assert_true(config.seed == 9 && config.workers == 2 && config.count);
	assert_false(device->deterministic);
	close_all();
	assert_int_equal(open_with((struct tutti_device_options){.deterministic = true}), 0);
	assert_true(config.seed == 7 && config.workers == 5 && !config.count);
	assert_true(config.mode == TUTTI_CARD_DETERMINISTIC && device->deterministic);
	close_all();
	for (unsigned i = 0; i < 4; i++) {
		static const char *const names[] = {"TUTTI_SEED", "TUTTI_WORKERS", "TUTTI_COUNT",
						    "TUTTI_DETERMINISTIC"};
		struct tutti_device_options all = {.seed = 9, .workers = 2, .count = true, .deterministic = true};

		set(names[i], "many");
		assert_int_equal(open_with(all), -EINVAL);
		assert_null(device->private);
		set(names[i], NULL);
	}
	open_good(); /* nothing is set: the card decides */
	assert_true(!config.seed && !config.workers && !config.count && config.mode != TUTTI_CARD_DETERMINISTIC);
	close_all();
	set("TUTTI_TOPOLOGY", "");
	open_good();
	close_all();
	set("TUTTI_TOPOLOGY", "/nowhere/at/all");
	assert_int_equal(open_with((struct tutti_device_options){0}), -ENOENT);
	memory = 3 * GIB;
	assert_int_equal(open_with((struct tutti_device_options){.topology = "/dev/null"}), 0);
	assert_int_equal(config.memory_bytes, memory);
	set("TUTTI_TOPOLOGY", NULL);
	close_all();
}

/* An environment variable that turns something on or off is 0 or 1. TUTTI_WORKERS is 1024 at most. */
static void limits_of_settings(void **state)
{
	static const struct {
		const char *name, *most, *beyond;
	} rows[] = {{"TUTTI_COUNT", "1", "2"}, {"TUTTI_DETERMINISTIC", "1", "2"}, {"TUTTI_WORKERS", "1024", "1025"}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		set(rows[i].name, rows[i].beyond);
		assert_int_equal(open_with((struct tutti_device_options){0}), -EINVAL);
		set(rows[i].name, rows[i].most);
		open_good();
		assert_int_equal(config.count, i == 0);
		assert_int_equal(device->deterministic, i == 1);
		assert_int_equal(config.workers, i == 2 ? 1024 : 0);
		close_all();
		set(rows[i].name, NULL);
	}
}

static char heard[512];

static void hear(const char *line)
{
	snprintf(heard, sizeof(heard), "%s", line);
}

/* A description of a card that is wrong is quoted, with the number of the line, and the file is closed. */
static void wrong_topologies(void **state)
{
	static const struct {
		const char *text, *said;
	} rows[] = {{"x first\nb\n", "line 1: \"x first\""},
		    {"a\r\n\nx\r\nb\n", "line 3: \"x\""},
		    {"a\nx", "up to line 2: \"x\""},
		    {"y\nlast\n", "up to line 2: \"last\""},
		    {"", NULL}};
	char path[] = "/tmp/tutti-topology-XXXXXX";
	unsigned files = open_files();
	int file = mkstemp(path);

	close(file);
	tutti_message_handler(hear);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		FILE *out = fopen(path, "w");

		fputs(rows[i].text, out);
		fclose(out);
		*heard = 0;
		assert_int_equal(open_with((struct tutti_device_options){.topology = path}),
				 rows[i].said ? -EINVAL : 0);
		if (rows[i].said)
			assert_non_null(strstr(heard, rows[i].said));
		else
			close_all();
		assert_int_equal(!*heard, !rows[i].said);
		assert_int_equal(open_files(), files);
	}
	assert_int_equal(unlink(path), 0);
	assert_int_equal(open_with((struct tutti_device_options){.topology = path}), -ENOENT);
	assert_non_null(strstr(heard, path));
	assert_non_null(strstr(heard, strerror(ENOENT)));
	tutti_message_handler(NULL);
}

/* The card's window has an address range of its own, in which card memory begins at a multiple of a gigabyte. */
static void place_of_the_window(void **state)
{
	static const size_t sizes[] = {0, 64u << 20, GIB - 4096, GIB, GIB + 4096, 5 * GIB};

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		uint8_t *window;

		memory = sizes[i];
		assert_int_equal(open_with((struct tutti_device_options){.topology = "/dev/null"}), 0);
		window = config.bar;
		assert_ptr_equal(device->bar, window);
		assert_int_equal((uintptr_t)(window + WINDOW) % GIB, 0);
		assert_true(window >= bar_start && window + bar_bytes(&config) <= bar_end);
		close_all();
	}
}

/* The pool of card memory is what the host can access of it, without the reserved part. */
static void pools(void **state)
{
	size_t bytes;
	void *base;

	open_good();
	for (unsigned i = 0; i < 3; i++) {
		device->known.aperture_bytes = i == 1 ? GIB / 2 : GIB;
		device->known.memory_bytes = i == 2 ? GIB / 4 : GIB;
		assert_int_equal(emulator->reserve(device, TUTTI_MEMORY_CARD, &base, &bytes), 0);
		assert_ptr_equal(base, device->bar + WINDOW + (1u << 20));
		assert_int_equal(bytes, (i == 1 ? GIB / 2 : i == 2 ? GIB / 4 : GIB) - (1u << 20));
	}
	failing = "mmap";
	nth = 1;
	assert_int_equal(emulator->reserve(device, TUTTI_MEMORY_SYSTEM, &base, &bytes), -ENOMEM);
	close_all();
	failing = NULL;
	open_good();
	assert_int_equal(emulator->reserve(device, TUTTI_MEMORY_SYSTEM, &base, &bytes), 0);
	assert_ptr_equal(base, ((uintptr_t)system_start + (2u << 20) - 1) / (2u << 20) * (2u << 20));
	assert_true(bytes > GIB && bytes % (2u << 20) == 0 && bytes < mapped);
	close_all();
}

static void *seen_by_card(const void *address)
{
	return config.host_memory(config.context, TUTTI_BUS_HOST | (uintptr_t)address, 4096);
}

/* Memory that the library has reserved becomes accessible when it is mapped. If that fails, the card cannot see it. */
static void own_memory(void **state)
{
	uint8_t *base;
	size_t bytes;

	open_good();
	assert_int_equal(emulator->reserve(device, TUTTI_MEMORY_SYSTEM, (void **)&base, &bytes), 0);
	failing = "mprotect";
	nth = 1;
	assert_int_equal(emulator->map(device, base, 4096, TUTTI_MEMORY_SYSTEM, MAP_WRITE), -ENOMEM);
	assert_null(seen_by_card(base));
	assert_int_equal(emulator->map(device, base, 4096, TUTTI_MEMORY_SYSTEM, MAP_WRITE), 0);
	*base = 1;
	assert_ptr_equal(seen_by_card(base), base);
	assert_null(seen_by_card(base + 4096));
	assert_int_equal(emulator->unmap(device, base, 4096), 0);
	assert_null(seen_by_card(base));
	assert_int_equal(emulator->map(device, base + bytes - 4096, 4096, TUTTI_MEMORY_SYSTEM, MAP_WRITE), 0);
	base[bytes - 1] = 1;
	assert_int_equal(emulator->map(device, device->bar + WINDOW, 4096, TUTTI_MEMORY_CARD, MAP_WRITE), 0);
	assert_null(seen_by_card(device->bar + WINDOW)); /* the window belongs to the card */
	close_all();
}

/* The card may store only to memory that the program itself could store to. */
static void memory_of_the_program(void **state)
{
	uint8_t *pages = __real_mmap(NULL, 6 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static const struct {
		unsigned first, pages;
		int error;
	} rows[] = {{0, 2, 0},	     {1, 2, -EFAULT}, {2, 1, -EFAULT}, {3, 1, -EFAULT},
		    {3, 2, -EFAULT}, {5, 1, -EFAULT}, {4, 1, 0}};
	unsigned files = open_files();

	assert_int_equal(__real_mprotect(pages + 2 * 4096, 4096, PROT_READ), 0);
	assert_int_equal(__real_mprotect(pages + 3 * 4096, 4096, PROT_WRITE), 0);
	assert_int_equal(__real_munmap(pages + 5 * 4096, 4096), 0);
	open_good();
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint8_t *first = pages + 4096 * rows[i].first;
		int error = emulator->map(device, first, 4096 * rows[i].pages, TUTTI_MEMORY_SYSTEM, MAP_WRITE);

		if (error != rows[i].error)
			fail_msg("row %u: %d", i, error);
		assert_ptr_equal(seen_by_card(first), error ? NULL : first);
		if (!error)
			assert_int_equal(emulator->unmap(device, first, 4096 * rows[i].pages), 0);
	}
	assert_int_equal(open_files(), files);
	close_all();
	__real_munmap(pages, 5 * 4096);
}

static void *sleep_for_ever(void *seen)
{
	emulator->sleep(device, *(uint64_t *)seen, UINT64_MAX / 2);
	return NULL;
}

/* An interrupt wakes all sleeping threads. A thread that has missed one does not go to sleep. */
static void sleepers(void **state)
{
	pthread_t thread[2];
	uint64_t seen;

	open_good();
	seen = emulator->interrupts(device);
	emulator->sleep(device, seen, 1); /* a deadline in the past */
	emulator->sleep(device, seen - 1, UINT64_MAX / 2);
	for (unsigned i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, sleep_for_ever, &seen);
	usleep(20000);
	config.interrupt(config.context, 0);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(emulator->interrupts(device), seen + 1);
	emulator->wake(device);
	assert_int_equal(emulator->interrupts(device), seen + 2);
	close_all();
}

static unsigned told;

static void tell(void *context, const char *name, uint64_t calls, uint64_t instructions)
{
	assert_string_equal(name, "f");
	told++;
	assert_true(calls == told && instructions == told + 9);
}

static bool yes(void *context)
{
	return context != NULL;
}

/* All other calls are passed on to the card. */
static void handed_on(void **state)
{
	static const struct transport other;
	static struct translator_report report;

	open_good();
	emulator->kick(device);
	assert_int_equal(kicked, 1);
	assert_true(emulator->run(device, yes, device));
	assert_false(emulator->run(device, yes, NULL));
	assert_true(emulator->present());
	assert_int_equal(emulator->profile(device, tell, NULL), 0);
	assert_int_equal(told, 3);
	failing = "calloc";
	nth = 1;
	assert_int_equal(emulator->profile(device, tell, NULL), -ENOMEM);
	assert_int_equal(told, 3);
	assert_ptr_equal(emulator_card(device), &config);
	assert_string_equal(emulator_core(device), "played");
	assert_true(emulator_kernels(device, &report));
	assert_ptr_equal(reported_to, &report);
	assert_int_equal(emulator_translate((const uint8_t[]){7, 8, 9}, 3), 4);
	device->transport = &other;
	assert_null(emulator_card(device));
	assert_null(emulator_core(device));
	assert_false(emulator_kernels(device, NULL));
	device->transport = emulator;
	failing = "plugin";
	nth = 1;
	assert_int_equal(emulator_translate(NULL, 0), -ENODEV);
	close_all();
}

#define E(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {E(steps_that_fail),
						  E(starts),
						  E(settings),
						  E(limits_of_settings),
						  E(wrong_topologies),
						  E(place_of_the_window),
						  E(pools),
						  E(own_memory),
						  E(memory_of_the_program),
						  E(sleepers),
						  E(handed_on)};

	return cmocka_run_group_tests_name("SYS-06, SYS-40, SYS-42, REL-02 the emulator transport", tests, NULL, NULL);
}
