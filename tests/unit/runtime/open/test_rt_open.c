/* SPDX-License-Identifier: MIT */
/* link: -Wl,--allow-multiple-definition,--wrap=pthread_create,--wrap=pthread_join */
/*
 * Opening and closing a card of which each step may fail: what has been done is undone in the opposite order, and what
 * kernels print until their queues have gone is printed (SYS-40, SYS-42, REL-02).
 */
#include "device/print.h"
#include "rt_rig.h"

/* The steps so far, a letter each: open, reserve, start, end of a queue, stop ("p"), close. */
static char steps[32];
static char failing; /* the step that is to fail */
static unsigned nth; /* the how many-th time it is made */
static unsigned wakes;
static bool drm_present, xrt_present;
static const struct tutti_print_ring *prints;

/* Two transports are defined twice here on purpose, so AddressSanitizer is not to complain of it. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_odr_violation=0";
}

static int take_step(char name)
{
	size_t n = strlen(steps);

	assert_true(n + 1 < sizeof(steps));
	steps[n] = name;
	return name == failing && !--nth ? -EPROTO : 0;
}

static int open_one(struct tutti_device *device, const struct tutti_device_options *options)
{
	struct tutti_discovery *known = &device->known;
	int error = take_step('o');

	if (error)
		return error;
	reset_fake();
	*known = (struct tutti_discovery){.magic = TUTTI_DISCOVERY_MAGIC,
					  .max_queues = 8,
					  .max_rsbs = 8,
					  .ring_packets_min = 64,
					  .ring_packets_max = 4096,
					  .features = TUTTI_FEATURE_PCIE_ATOMICS | TUTTI_FEATURE_TRACE};
	known->doorbells.offset = 0x8000;
	known->trace.offset = 0x3000;
	known->trace.bytes = 0x1000;
	memcpy(bar, known, sizeof(*known));
	device->bar = bar;
	device->control = (void *)(bar + 0x1000);
	device->status = (void *)(bar + 0x2000);
	device->status->state = TUTTI_STATE_RUNNING;
	return 0;
}

static int reserve_one(struct tutti_device *device, enum tutti_memory pool, void **base, size_t *bytes)
{
	int error = take_step('r');

	return error ? error : reserve(device, pool, base, bytes);
}

static int start_one(struct tutti_device *device, const struct tutti_print_ring *ring)
{
	assert_true((uintptr_t)ring - (uintptr_t)fake.pool <
		    POOL); /* in host memory, because the host polls the rings */
	assert_int_equal(ring->bytes, PRINT_BYTES);
	prints = ring;
	return take_step('s');
}

static int map_one(struct tutti_device *device, void *address, size_t bytes, enum tutti_memory pool, unsigned access)
{
	return failing == 'm' && !--nth ? -EPROTO : map(device, address, bytes, pool, access);
}

static void stop_one(struct tutti_device *device)
{
	take_step('p');
}

static void close_one(struct tutti_device *device)
{
	take_step('c');
	close_card(device);
}

static void print(const char *text)
{
	struct tutti_print_ring *ring = (struct tutti_print_ring *)(uintptr_t)prints;

	memcpy((char *)(ring + 1) + ring->head, text, strlen(text));
	ring->head += strlen(text);
	ring->ready = ring->head;
}

/* The last kernel of a queue prints something after the last wait of the program. */
static int destroy_printing(struct tutti_device *device, unsigned queue)
{
	take_step('q');
	print("end ");
	return card_queue_destroy(device, queue);
}

static void count_wake(struct tutti_device *device)
{
	wakes++;
}

static bool drm_is_present(void)
{
	return drm_present;
}

static bool xrt_is_present(void)
{
	return xrt_present;
}

#define FAKE                                                                                                           \
	.open = open_one, .start = start_one, .close = close_one, .kick = kick, .run = run, .interrupts = interrupts,  \
	.sleep = sleep_card, .wake = count_wake, .pending = pending, .poll = poll_card, .reserve = reserve_one,        \
	.map = map_one, .unmap = unmap, .queue_create = card_queue_create, .queue_destroy = destroy_printing,          \
	.queue_reset = card_queue_reset, .rsb_create = card_rsb_create, .rsb_destroy = card_rsb_destroy,               \
	.rsb_invalidate = card_rsb_invalidate, .traces = true, .policy_set = policy_set

const struct transport transport_drm = {.name = "drm", .present = drm_is_present, FAKE};
const struct transport transport_xrt = {.name = "xrt", .present = xrt_is_present, .stop = stop_one, FAKE};

static int open_named(const char *name)
{
	memset(steps, 0, sizeof(steps));
	device = (void *)steps;
	return tutti_device_open(&(struct tutti_device_options){.name = name}, &device);
}

static void close_it(const char *done)
{
	assert_int_equal(tutti_device_close(device), 0);
	assert_string_equal(steps, done);
	assert_int_equal(tutti_device_close(device), -EINVAL);
}

static void steps_that_fail(void **state)
{
	static const struct {
		char step;
		unsigned nth;
		const char *done;
	} rows[] = {{'o', 1, "o"}, {'r', 1, "orc"}, {'r', 2, "orrc"}, {'m', 1, "orrc"}, {'s', 1, "orrsc"}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		failing = rows[i].step;
		nth = rows[i].nth;
		assert_int_equal(open_named("xrt"), failing == 'm' ? -ENOMEM : -EPROTO);
		assert_string_equal(steps, rows[i].done);
		assert_null(device);
	}
	failing = 0;
	setenv("TUTTI_TRACE", "/nowhere/at/all", 1); /* opening the file of the trace is the last step */
	assert_true(open_named("xrt") < 0);
	assert_string_equal(steps, "orrspc");
	assert_null(device);
	unsetenv("TUTTI_TRACE");
	assert_int_equal(((struct tutti_control *)(bar + 0x1000))->trace_enable, 0);
	assert_int_equal(open_named("xrt"), 0);
	close_it("orrspc");
	assert_int_equal(open_named("drm"), 0); /* the close() of this transport also stops the card */
	close_it("orrsc");
	assert_int_equal(tutti_device_open(NULL, NULL), -EINVAL);
	assert_int_equal(tutti_device_close(NULL), 0);
}

/* What follows a colon is passed to the transport. A name with anything else behind it is an unknown name. */
static void names(void **state)
{
	static const struct {
		const char *name, *variable, *found;
	} rows[] = {{"xrt", NULL, "xrt"},   {"xrt:1", "drm", "xrt"}, {"", "xrt", "xrt"},    {NULL, "xrt:0", "xrt"},
		    {NULL, "drm", "drm"},   {"xr", NULL, NULL},	     {"xrt1", "xrt", NULL}, {"xrtx:", NULL, NULL},
		    {NULL, "teapot", NULL}, {NULL, "drmx", NULL},    {":", "xrt", NULL}};

	drm_present = xrt_present = false;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (rows[i].variable)
			setenv("TUTTI_DEVICE", rows[i].variable, 1);
		assert_int_equal(open_named(rows[i].name), rows[i].found ? 0 : -ENODEV);
		unsetenv("TUTTI_DEVICE");
		assert_int_equal(!device, !rows[i].found);
		if (device) {
			assert_string_equal(tutti_device_transport(device), rows[i].found);
			assert_int_equal(tutti_device_close(device), 0);
		}
	}
}

/* The first kind of card that exists is opened, unless the application or the user names one. */
static void first_that_is_present(void **state)
{
	for (unsigned drm = 0; drm < 2; drm++) {
		drm_present = drm;
		xrt_present = true;
		setenv("TUTTI_DEVICE", "", 1);
		assert_int_equal(open_named(drm ? NULL : ""), 0);
		unsetenv("TUTTI_DEVICE");
		assert_string_equal(tutti_device_transport(device), drm ? "drm" : "xrt");
		assert_int_equal(tutti_device_close(device), 0);
	}
}

static char printed[64], printed_after[32];

static void on_print(void *context, const char *text, size_t bytes)
{
	strncat(printed, text, bytes);
	strcpy(printed_after, steps);
}

/* Closing a card destroys its queues first, and prints what their kernels have printed last. */
static void prints_of_the_end(void **state)
{
	struct tutti_queue *queue[2];

	assert_int_equal(open_named("xrt"), 0);
	assert_int_equal(tutti_device_print_handler(device, on_print, NULL), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(tutti_queue_create(device, NULL, &queue[i]), 0);
	printed[0] = 0;
	print("begin ");
	close_it("orrsqqpc");
	assert_string_equal(printed, "begin end end ");
	assert_string_equal(printed_after, "orrsqq");
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(tutti_queue_destroy(queue[i]), -EINVAL);
}

static unsigned heard;

static void hear(const char *line)
{
	heard += strstr(line, "no card found") != NULL;
}

/* Without options the first card is opened. That there is none but the emulated one is said, and said once. */
static void without_options(void **state)
{
	tutti_message_handler(hear);
	heard = 0;
	drm_present = xrt_present = true;
	memset(steps, 0, sizeof(steps));
	assert_int_equal(tutti_device_open(NULL, &device), 0);
	assert_string_equal(tutti_device_transport(device), "drm");
	assert_int_equal(tutti_device_close(device), 0);
	drm_present = xrt_present = false;
	setenv("TUTTI_SEED", "teapot", 1); /* which the emulated card refuses */
	setenv("TUTTI_DEVICE", "emulator", 1);
	assert_int_equal(open_named(NULL), -EINVAL);
	unsetenv("TUTTI_DEVICE");
	assert_int_equal(heard, 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(open_named(NULL), -EINVAL);
		assert_int_equal(heard, 1);
	}
	unsetenv("TUTTI_SEED");
	tutti_message_handler(NULL);
}

static int threads; /* that were started and not waited for */

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context);
int __real_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context)
{
	threads++;
	return __real_pthread_create(thread, attributes, run, context);
}

int __wrap_pthread_join(pthread_t thread, void **result)
{
	threads--;
	return __real_pthread_join(thread, result);
}

static void ignore_error(struct tutti_device *of, int error, void *context)
{
}

static void ignore_print(void *context, const char *text, size_t bytes)
{
}

/* So many that the memory of the first ones is used again, with everything that a device has. */
#define DEVICES (HANDLES_KEPT + 8)

/* A device that was closed, or could not be opened, leaves nothing behind: no thread, and no memory of any unit. */
static void nothing_is_left(void **state)
{
	assert_int_equal(threads, 0);
	for (unsigned i = 0; i < DEVICES; i++) {
		uint32_t from = 1, to = 0;
		struct tutti_queue *queue;

		assert_int_equal(open_named("xrt"), 0);
		assert_int_equal(tutti_device_error_handler(device, ignore_error, NULL), 0);
		assert_int_equal(tutti_device_print_handler(device, ignore_print, NULL), 0);
		assert_int_equal(tutti_queue_create(device, NULL, &queue), 0);
		assert_int_equal(tutti_device_copy(device, &to, &from, sizeof(to), NULL, 0, NULL), 0);
		assert_int_equal(threads, 1);
		assert_int_equal(tutti_device_close(device), 0);
		assert_int_equal(threads, 0);
	}
	setenv("TUTTI_TRACE", "/nowhere/at/all", 1);
	tutti_message_handler(hear);
	for (unsigned i = 0; i < DEVICES; i++)
		assert_true(open_named("xrt") < 0);
	tutti_message_handler(NULL);
	unsetenv("TUTTI_TRACE");
	for (unsigned i = 0; i < DEVICES; i++) { /* of which nothing is known any more */
		assert_int_equal(open_named("drm"), 0);
		assert_int_equal(tutti_device_close(device), 0);
	}
}

static int close_error;

static void on_print_close(void *context, const char *text, size_t bytes)
{
	close_error = tutti_device_close(device);
}

/* A device cannot be closed from within one of its own calls. Once it is closed, nobody wakes its threads any more. */
static void closed_from_within(void **state)
{
	tutti_signal_t signal;

	assert_int_equal(open_named("xrt"), 0);
	assert_int_equal(tutti_device_print_handler(device, on_print_close, NULL), 0);
	print("x");
	assert_int_equal(tutti_device_flush_print(device), 0);
	assert_int_equal(close_error, -EBUSY);
	assert_int_equal(tutti_signal_create(device, 0, &signal), 0);
	wakes = 0;
	tutti_signal_wake(signal);
	assert_int_equal(wakes, 1);
	close_it("orrspc");
	wakes = 0;
	tutti_signal_wake(signal);
	assert_int_equal(wakes, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(steps_that_fail),	     cmocka_unit_test(names),
	    cmocka_unit_test(first_that_is_present), cmocka_unit_test(without_options),
	    cmocka_unit_test(prints_of_the_end),     cmocka_unit_test(closed_from_within),
	    cmocka_unit_test(nothing_is_left)};

	unsetenv("TUTTI_DEVICE");
	unsetenv("TUTTI_TRACE");
	return cmocka_run_group_tests_name("SYS-40, SYS-42, REL-02 opening and closing", tests, NULL, NULL);
}
