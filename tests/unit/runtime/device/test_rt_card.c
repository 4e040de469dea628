/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=clock_gettime */
/* What a device tells of its card, whatever the card writes: state, log, time, counters, policies, occupancy (SYS-05,
 * SYS-41). */
#include <stdio.h>
#include <time.h>

#include "rt_rig.h"
#include "tutti/occupancy.h"
#include "tutti/policy.h"
#include "tutti/profile.h"
#include "tutti/trace_api.h"

static uint64_t now; /* 0: the real time */

int __real_clock_gettime(clockid_t which, struct timespec *t);

int __wrap_clock_gettime(clockid_t which, struct timespec *t)
{
	if (!now || which != CLOCK_MONOTONIC)
		return __real_clock_gettime(which, t);
	*t = (struct timespec){.tv_sec = (time_t)(now / 1000000000u), .tv_nsec = (long)(now % 1000000000u)};
	return 0;
}

static int result; /* of all requests below */
static unsigned first_asked, count_asked;

static int counts(struct tutti_device *device)
{
	return result;
}

static int enables(struct tutti_device *device, unsigned first, unsigned count, bool enable)
{
	first_asked = first;
	count_asked = count;
	return result;
}

static int fits(struct tutti_device *device, const struct tutti_msg_occupancy *ask, struct transport_fit *fit);

static int open_told(void **state)
{
	int error = open_fake(state);

	now = 0;
	result = 0;
	device->known.sms = 6;
	device->known.log.offset = 0x3000;
	device->known.log.bytes = sizeof(struct tutti_log) + 64;
	device->known.counters.offset = 0x4000;
	device->known.crash.offset = 0x5000;
	device->known.sm_states.offset = 0x8000;
	device->known.sm_states.bytes = 6 * sizeof(struct tutti_sm_state);
	transport.counters = transport.sm_states = counts;
	transport.sm_enable = enables;
	transport.occupancy = fits;
	return error;
}

/* ---- a card that is gone ---- */

static void gone(void)
{
	*(uint64_t *)bar = UINT64_MAX;
}

static void crashed(void)
{
	device->status->state = TUTTI_STATE_CRASHED;
}

static void booted_anew(void)
{
	device->status->boot_sequence++;
}

/* Once it is dead it stays so, even if it comes back. */
static void dead_cards(void **state)
{
	static void (*const deaths[])(void) = {gone, crashed, booted_anew};

	for (unsigned i = 0; i < 3; i++) {
		assert_false(device_dead(device));
		assert_int_equal(device_poll(device), 0);
		deaths[i]();
		assert_true(device_dead(device));
		assert_true(device->dead && device->said_dead);
		*(uint64_t *)bar = TUTTI_DISCOVERY_MAGIC;
		device->status->state = TUTTI_STATE_RUNNING;
		device->status->boot_sequence = device->boot_sequence;
		assert_int_equal(device_poll(device), -EIO);
		device->dead = false;
	}
	assert_string_equal(device_state_name(TUTTI_STATE_OFF), "off");
	assert_string_equal(device_state_name(TUTTI_STATE_FAILED), "failed to boot");
	assert_string_equal(device_state_name(TUTTI_STATE_FAILED + 1), "unknown");
}

/* ---- ids ---- */

static void ids(void **state)
{
	uint64_t taken[3] = {0};

	for (int i = 0; i < 130; i++)
		assert_int_equal(id_take(device, taken, 130), i);
	assert_int_equal(id_take(device, taken, 130), -ENOSPC);
	id_give(device, taken, 64);
	id_give(device, taken, 63);
	assert_int_equal(id_take(device, taken, 130), 63);
	assert_int_equal(id_take(device, taken, 64), -ENOSPC);
	assert_int_equal(id_take(device, taken, 65), 64);
	id_give(device, taken, 129);
	assert_int_equal(id_take(device, taken, 129), -ENOSPC);
	assert_int_equal(id_take(device, taken, 192), 129);
	assert_int_equal(id_take(device, taken, 0), -ENOSPC);
}

/* ---- the log ---- */

static void log_text(void **state)
{
	struct tutti_log *log = (void *)(bar + 0x3000);
	char text[100];

	log->bytes = 64;
	for (unsigned i = 0; i < 64; i++)
		log->text[i] = (char)('0' + i);
	memset(text, '!', sizeof(text));
	assert_int_equal(tutti_device_log(device, text, sizeof(text)), 0);
	assert_string_equal(text, "");
	log->head = 3;
	assert_int_equal(tutti_device_log(device, text, sizeof(text)), 3);
	assert_string_equal(text, "012");
	assert_int_equal(tutti_device_log(device, text, 3), 2); /* the newest, and the end */
	assert_string_equal(text, "12");
	assert_int_equal(tutti_device_log(device, text, 1), 0);
	assert_string_equal(text, "");
	log->head = 64;
	assert_int_equal(tutti_device_log(device, text, 65), 64);
	assert_int_equal(text[0], '0');
	assert_int_equal(text[63], '0' + 63);
	log->head = 64 + 5; /* the oldest five have been overwritten */
	assert_int_equal(tutti_device_log(device, text, sizeof(text)), 64);
	assert_int_equal(text[0], '0' + 5);
	assert_int_equal(text[63], '0' + 4);
	/* with what cannot be a size, nothing is looked at, wherever the newest text is said to be */
	log->head = 0xf0000000u;
	for (unsigned i = 0; i < 4; i++) {
		log->bytes = (const uint32_t[]){0, 48, 128, UINT32_MAX}[i];
		assert_int_equal(tutti_device_log(device, text, sizeof(text)), 0);
		assert_string_equal(text, "");
	}
	log->bytes = 32;
	assert_int_equal(tutti_device_log(device, text, sizeof(text)), 32);
	log->bytes = 64;
	device->known.log.bytes--; /* the ring no longer fits into the card's region for the log */
	assert_int_equal(tutti_device_log(device, text, sizeof(text)), 0);
	device->known.log.bytes++;
	assert_int_equal(tutti_device_log(device, text, sizeof(text)), 64);
	assert_int_equal(tutti_device_log(device, NULL, 1), 0);
	assert_int_equal(tutti_device_log(device, text, 0), 0);
}

/* ---- time ---- */

static void times(void **state)
{
	now = 1000000000;
	device->known.timer_hz = 250000000; /* four nanoseconds a tick */
	device->status->heartbeat_time = 0; /* the card has just started, and there was no heartbeat yet */
	assert_int_equal(tutti_device_time(device), 0);
	now += 400;
	assert_int_equal(tutti_device_time(device), 100);
	device->status->heartbeat_time = 5000;
	assert_int_equal(tutti_device_time(device), 5000);
	now += 400;
	assert_int_equal(tutti_device_time(device), 5100);
	now += 4000;
	device->status->heartbeat_time = 5800; /* later than the host had thought: time does not go back */
	assert_int_equal(tutti_device_time(device), 5800);
	now += 400;
	assert_int_equal(tutti_device_time(device), 5900);
	device->status->heartbeat_time = 5850;
	assert_int_equal(tutti_device_time(device), 5900);
	now += 100;
	assert_int_equal(tutti_device_time(device), 5900);
	now += 200;
	assert_int_equal(tutti_device_time(device), 5925);
	device->deterministic = true; /* only the card's own time counts */
	device->status->heartbeat_time = 6000;
	assert_int_equal(tutti_device_time(device), 6000);
	now += 4000;
	assert_int_equal(tutti_device_time(device), 6000);
	device->deterministic = false;
	assert_int_equal(tutti_device_time(NULL), 0);
}

/* ---- numbers ---- */

static void counters(void **state)
{
	uint64_t got[TUTTI_COUNTERS], *shared = (void *)(bar + 0x4000);

	for (unsigned i = 0; i < TUTTI_COUNTERS; i++)
		shared[i] = 1000 + i;
	assert_int_equal(tutti_device_counters(device, got), 0);
	assert_memory_equal(got, shared, sizeof(got));
	result = -EIO;
	assert_int_equal(tutti_device_counters(device, got), -EIO);
	assert_int_equal(tutti_device_counters(device, NULL), -EINVAL);
	for (unsigned i = 0; i < TUTTI_COUNTERS; i++) {
		const char *name = tutti_counter_name(i);

		assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(name));
		assert_in_range(strlen(name), 3, 31);
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(name, tutti_counter_name(k));
	}
	assert_null(tutti_counter_name(TUTTI_COUNTERS));
}

static void sms(void **state)
{
	static const struct {
		unsigned first, count;
		int error;
	} rows[] = {{0, 6, 0},	     {5, 1, 0},	      {6, 0, 0},       {0, 0, 0},
		    {0, 7, -EINVAL}, {5, 2, -EINVAL}, {6, 1, -EINVAL}, {7, 0, -EINVAL}};
	struct tutti_sm_state got[7], *shared = (void *)(bar + 0x8000);

	for (unsigned i = 0; i < 6; i++)
		shared[i].ctas = 50 + i;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		first_asked = count_asked = 99;
		memset(got, 0, sizeof(got));
		assert_int_equal(tutti_device_enable_sms(device, rows[i].first, rows[i].count, true), rows[i].error);
		assert_int_equal(first_asked, rows[i].error ? 99 : rows[i].first);
		assert_int_equal(count_asked, rows[i].error ? 99 : rows[i].count);
		assert_int_equal(tutti_device_sm_states(device, rows[i].first, rows[i].count, got), rows[i].error);
		for (unsigned k = 0; k < 7; k++)
			assert_int_equal(got[k].ctas, !rows[i].error && k < rows[i].count ? 50 + rows[i].first + k : 0);
	}
	assert_int_equal(tutti_device_sm_states(device, 0, 1, NULL), -EINVAL);
	assert_int_equal(tutti_device_sm_states(device, 0, 0, NULL), 0);
	memset(got, 0, sizeof(got));
	result = -EIO;
	assert_int_equal(tutti_device_sm_states(device, 0, 1, got), -EIO);
	assert_int_equal(got[0].ctas, 0);
	assert_int_equal(tutti_device_enable_sms(device, 0, 1, true), -EIO);
	result = 0;
	device->known.sm_states.bytes--; /* the card does not have them all */
	assert_int_equal(tutti_device_sm_states(device, 0, 1, got), -ENOTSUP);
}

static void on_function(void *context, const char *name, uint64_t calls, uint64_t instructions)
{
}

/* What this card does not have is no error of the application. */
static void what_it_has_not(void **state)
{
	char text[16];

	assert_int_equal(tutti_device_pci_address(device, text, sizeof(text)), -ENOTSUP);
	assert_int_equal(tutti_device_pci_address(device, NULL, 0), -EINVAL);
	assert_int_equal(tutti_profile_each(device, on_function, NULL), -ENOTSUP);
	assert_int_equal(tutti_profile_each(device, NULL, NULL), -EINVAL);
	assert_string_equal(tutti_device_transport(device), "fake");
	device->status->firmware_version = 77;
	assert_int_equal(tutti_device_firmware_version(device), 77);
	assert_ptr_equal(tutti_device_discovery(device), &device->known);
}

/* Without an open device, functions return NULL, 0 or -EINVAL, and leave the caller's text unchanged. */
static void no_device(void **state)
{
	struct tutti_device closed = {.transport = &transport, .bar = bar, .status = device->status};
	uint64_t got[TUTTI_COUNTERS];
	char text[16] = "?";

	device->status->firmware_version = 77;
	for (struct tutti_device *none = NULL;; none = &closed) {
		assert_null(tutti_device_discovery(none));
		assert_null(tutti_device_transport(none));
		assert_int_equal(tutti_device_firmware_version(none), 0);
		assert_int_equal(tutti_device_pci_address(none, text, sizeof(text)), -EINVAL);
		assert_int_equal(tutti_profile_each(none, on_function, NULL), -EINVAL);
		assert_int_equal(tutti_device_policy(none, TUTTI_POLICY_SM_ORDER, 0), -EINVAL);
		assert_int_equal(tutti_device_enable_sms(none, 0, 0, true), -EINVAL);
		assert_int_equal(tutti_device_counters(none, got), -EINVAL);
		assert_true(tutti_device_time(none) == 0);
		assert_int_equal(tutti_device_log(none, text, sizeof(text)), 0);
		assert_int_equal(tutti_device_flush_print(none), -EINVAL);
		assert_int_equal(tutti_device_print_handler(none, NULL, NULL), -EINVAL);
		if (none)
			break;
	}
	assert_string_equal(text, "?");
}

/* ---- weights ---- */

static void names(void **state)
{
	assert_string_equal(tutti_class_name(TUTTI_CLASS_MOVE), "move");
	assert_string_equal(tutti_class_name(TUTTI_CLASS_OTHER), "other");
	assert_null(tutti_class_name(TUTTI_CLASSES));
	assert_string_equal(tutti_resource_name(TUTTI_RESOURCE_WAVES), "waves");
	assert_string_equal(tutti_resource_name(TUTTI_RESOURCE_CTAS), "ctas");
	assert_null(tutti_resource_name(TUTTI_RESOURCES));
	assert_string_equal(tutti_trace_name(TUTTI_TRACE_DOORBELL), "doorbell");
	assert_string_equal(tutti_trace_name(TUTTI_TRACE_KINDS - 1), "entry");
	for (unsigned i = 0; i < TUTTI_TRACE_KINDS; i++)
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(tutti_trace_name(i), tutti_trace_name(k));
	assert_null(tutti_trace_name(TUTTI_TRACE_KINDS));
}

static int read_weights(const char *text, struct tutti_weights *weights)
{
	FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	int error = tutti_weights_read(weights, file);

	fclose(file);
	return error;
}

static void weight_files(void **state)
{
	static const char *const bad[] = {"remaining waves",	 "remaining waves x", "remaining waves 1 2",
					  "power waves 1",	 "remaining move 1",  "other waves 1",
					  "power move 16777216", "power move -1",     "power move 1\npower",
					  "power move 1 # 2\nx"};
	struct tutti_weights weights, copy;
	FILE *file = tmpfile();

	memset(&weights, 0xff, sizeof(weights));
	assert_int_equal(read_weights("# all\n\n \t\nremaining ctas 5 # CTAs\r\npower other 16777215\n", &weights), 0);
	assert_int_equal(weights.remaining[TUTTI_RESOURCE_CTAS], 5);
	assert_int_equal(weights.power[TUTTI_CLASS_OTHER], 0xffffff);
	assert_int_equal(weights.remaining[0] | weights.power[0], 0);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (read_weights(bad[i], &copy) != -EINVAL)
			fail_msg("\"%s\" was taken", bad[i]);
	for (unsigned i = 0; i < TUTTI_RESOURCES; i++)
		weights.remaining[i] = 100 + i;
	for (unsigned i = 0; i < TUTTI_CLASSES; i++)
		weights.power[i] = 200 + i;
	assert_int_equal(tutti_weights_write(&weights, file), 0);
	rewind(file);
	assert_int_equal(tutti_weights_read(&copy, file), 0);
	assert_memory_equal(&copy, &weights, sizeof(copy));
	assert_int_equal(tutti_weights_read(NULL, file), -EINVAL);
	assert_int_equal(tutti_weights_read(&copy, NULL), -EINVAL);
	assert_int_equal(tutti_weights_write(NULL, file), -EINVAL);
	assert_int_equal(tutti_weights_write(&copy, NULL), -EINVAL);
	fclose(file);
	file = fopen("/dev/full", "w");
	setvbuf(file, NULL, _IONBF, 0);
	assert_int_equal(tutti_weights_write(&weights, file), -EIO);
	fclose(file);
	file = fopen("/tmp", "r"); /* a folder cannot be read */
	assert_int_equal(tutti_weights_read(&copy, file), -EIO);
	fclose(file);
}

static struct {
	unsigned policy;
	uint32_t value;
} set[32];
static unsigned sets, refuse_at;

static int sets_policy(struct tutti_device *device, unsigned policy, uint32_t value)
{
	set[sets % 32].policy = policy;
	set[sets % 32].value = value;
	return ++sets == refuse_at ? -EIO : 0;
}

/* Each weight with its number in the uppermost byte; the first error ends it. */
static void weights_to_the_card(void **state)
{
	struct tutti_weights weights;

	transport.policy_set = sets_policy;
	for (unsigned i = 0; i < TUTTI_RESOURCES; i++)
		weights.remaining[i] = 0x5000000 + i;
	for (unsigned i = 0; i < TUTTI_CLASSES; i++)
		weights.power[i] = 0x6000010 + i;
	sets = refuse_at = 0;
	assert_int_equal(tutti_weights_apply(device, &weights), 0);
	assert_int_equal(sets, TUTTI_RESOURCES + TUTTI_CLASSES);
	for (unsigned i = 0; i < sets; i++) {
		bool power = i >= TUTTI_RESOURCES;
		unsigned n = power ? i - TUTTI_RESOURCES : i;

		assert_int_equal(set[i].policy, power ? TUTTI_POLICY_POWER_WEIGHT : TUTTI_POLICY_REMAINING_WEIGHT);
		assert_int_equal(set[i].value, n << 24 | (power ? 0x10 + n : n));
	}
	for (refuse_at = 1; refuse_at <= TUTTI_RESOURCES + TUTTI_CLASSES; refuse_at++) {
		sets = 0;
		assert_int_equal(tutti_weights_apply(device, &weights), -EIO);
		assert_int_equal(sets, refuse_at);
	}
	assert_int_equal(tutti_weights_apply(device, NULL), -EINVAL);
	transport.policy_set = policy_set;
}

static int tells_policy(struct tutti_device *device, unsigned policy, uint32_t which, uint32_t *value)
{
	*value = 100 * policy + which;
	return result;
}

/* A policy is read by its number, and by what it is asked for where it has several values. */
static void policies(void **state)
{
	uint32_t value = 0;

	transport.policy_get = tells_policy;
	assert_int_equal(tutti_policy_get(device, TUTTI_POLICY_SM_ORDER, 7, &value), 0);
	assert_int_equal(value, 100 * TUTTI_POLICY_SM_ORDER + 7);
	assert_int_equal(tutti_policy_get(device, TUTTI_POLICY_SM_ORDER, 7, NULL), -EINVAL);
	assert_int_equal(tutti_policy_get(NULL, TUTTI_POLICY_SM_ORDER, 7, &value), -EINVAL);
	result = -ENOTSUP;
	assert_int_equal(tutti_policy_get(device, TUTTI_POLICY_SM_ORDER, 7, &value), -ENOTSUP);
}

/* ---- occupancy ---- */

static struct tutti_msg_occupancy asked;
static uint32_t most; /* CTAs of the largest CGA that this card takes */
static unsigned questions;

static int fits(struct tutti_device *device, const struct tutti_msg_occupancy *ask, struct transport_fit *fit)
{
	asked = *ask;
	questions++;
	*fit = (struct transport_fit){.ctas = 4, .cgas = ask->cga[0].kind ? ask->cga[0].x <= most : 100000, .sms = 6};
	return result;
}

static void occupancy(void **state)
{
	struct tutti_kernel_descriptor d = {
	    .magic = TUTTI_KERNEL_MAGIC, .scalar_blocks = 3, .vector_blocks = 5, .barriers = 2};
	struct tutti_kernel k = {.descriptor = &d, .group_bytes = 2049};
	struct tutti_launch launch = {.kernel = &k, .workgroup = {33}};
	uint32_t n = 0;

	assert_int_equal(tutti_occupancy_max_active_ctas(device, &launch, &n), 0);
	assert_int_equal(n, 4);
	assert_int_equal(asked.waves, 2);
	assert_int_equal(asked.scalar_blocks, 3);
	assert_int_equal(asked.vector_blocks, 5);
	assert_int_equal(asked.shared_blocks, 2);
	assert_int_equal(asked.barriers, 2);
	assert_int_equal(asked.lmem, 0);
	launch.dynamic_group_bytes = 64 * 2048 - 2049;
	launch.workgroup[0] = 1024;
	assert_int_equal(tutti_occupancy_max_active_ctas(device, &launch, &n), 0);
	assert_int_equal(asked.waves, 32);
	assert_int_equal(asked.shared_blocks, 64);
	launch.dynamic_group_bytes++;
	assert_int_equal(tutti_occupancy_max_active_ctas(device, &launch, &n), -EINVAL);
	launch.dynamic_group_bytes = 0;
	launch.workgroup[1] = 2;
	assert_int_equal(tutti_occupancy_max_active_ctas(device, &launch, &n), -EINVAL);
	launch.workgroup[1] = 0;
	d.workgroup_max = 1024;
	assert_int_equal(tutti_occupancy_max_active_ctas(device, &launch, &n), 0);
	d.workgroup_max = 1023;
	assert_int_equal(tutti_occupancy_max_active_ctas(device, &launch, &n), -EINVAL);
	d.workgroup_max = 0;
	for (unsigned i = 0; i < 3; i++) { /* what the kernel requires is taken if nothing is said, and nothing else */
		d.workgroup[i] = 64;
		launch.workgroup[0] = 0;
		assert_int_equal(tutti_occupancy_max_active_ctas(device, &launch, &n), 0);
		assert_int_equal(asked.waves, 2);
		launch.workgroup[i] = 32;
		assert_int_equal(tutti_occupancy_max_active_ctas(device, &launch, &n), -EINVAL);
		launch.workgroup[i] = d.workgroup[i] = 0;
	}
	d.magic++;
	assert_int_equal(tutti_occupancy_max_active_ctas(device, &launch, &n), -EINVAL);
	k.descriptor = NULL;
	assert_int_equal(tutti_occupancy_max_active_ctas(device, &launch, &n), -EINVAL);
	launch.kernel = NULL;
	assert_int_equal(tutti_occupancy_max_active_ctas(device, &launch, &n), -EINVAL);
	assert_int_equal(tutti_occupancy_max_active_ctas(device, NULL, &n), -EINVAL);
}

static void occupancy_of_cgas(void **state)
{
	struct tutti_kernel_descriptor d = {
	    .magic = TUTTI_KERNEL_MAGIC, .flags = TUTTI_KERNEL_LMEM, .cga = {2, 3, 4}, .cga_kind = TUTTI_CGA_GPC};
	struct tutti_kernel k = {.descriptor = &d};
	struct tutti_launch launch = {.kernel = &k, .workgroup = {32}};
	struct tutti_task_attributes attributes = {.multicast = true};
	uint32_t n = 0;

	most = 2;
	assert_int_equal(tutti_occupancy_max_active_ctas(device, &launch, &n), 0);
	assert_int_equal(asked.cga[0].kind, TUTTI_CGA_NONE); /* of CTAs alone */
	assert_int_equal(tutti_occupancy_max_active_cgas(device, &launch, NULL, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(asked.mode, TUTTI_OCCUPANCY_MODE_CARD);
	assert_int_equal(asked.lmem, 1);
	assert_memory_equal(&asked.cga[0], (&(struct tutti_cga_shape){2, 3, 4, TUTTI_CGA_GPC}), sizeof(asked.cga[0]));
	assert_int_equal(tutti_occupancy_max_active_cgas(device, &launch, &attributes, &n), 0);
	assert_int_equal(asked.mode, TUTTI_CGA_MULTICAST);
	assert_int_equal(asked.cga[0].z, 4);
	attributes = (struct tutti_task_attributes){.cga = {{1, 1, 1, 1}, {2, 1, 1, 2}, {3, 1, 1, 3}, {5, 6, 7, 4}}};
	assert_int_equal(tutti_occupancy_max_active_cgas(device, &launch, &attributes, &n), 0);
	assert_int_equal(asked.mode, TUTTI_CGA_LOAD_BALANCE);
	assert_memory_equal(asked.cga, attributes.cga, sizeof(asked.cga));
	result = -EIO;
	n = 7;
	assert_int_equal(tutti_occupancy_max_active_cgas(device, &launch, NULL, &n), -EIO);
	assert_int_equal(tutti_occupancy_max_active_ctas(device, &launch, &n), -EIO);
	assert_int_equal(tutti_occupancy_max_cga_size(device, &launch, TUTTI_CGA_GPC, false, &n), -EIO);
	assert_int_equal(n, 7);
	result = 0;
	for (unsigned i = 0; i < 6; i++) { /* no more than a field can say */
		most = (const uint32_t[]){0, 1, 2, 17, 65534, 65535}[i];
		questions = 0;
		assert_int_equal(tutti_occupancy_max_cga_size(device, &launch, TUTTI_CGA_CPC, i & 1, &n), 0);
		assert_int_equal(n, most);
		assert_int_equal(asked.mode, i & 1);
		assert_int_equal(asked.cga[0].kind, TUTTI_CGA_CPC);
		assert_true(asked.cga[0].y == 1 && asked.cga[0].z == 1);
		assert_in_range(questions, 2, 18);
	}
	assert_int_equal(tutti_occupancy_max_cga_size(device, &launch, TUTTI_CGA_GPU, false, &n), 0);
	assert_int_equal(tutti_occupancy_max_cga_size(device, &launch, TUTTI_CGA_CPC - 1, false, &n), -EINVAL);
	assert_int_equal(tutti_occupancy_max_cga_size(device, &launch, TUTTI_CGA_GPU + 1, false, &n), -EINVAL);
	assert_int_equal(tutti_occupancy_max_cga_size(device, &launch, TUTTI_CGA_GPU, false, NULL), -EINVAL);
	assert_int_equal(tutti_occupancy_max_active_cgas(device, &launch, NULL, NULL), -EINVAL);
}

#define TOLD(f) cmocka_unit_test_setup_teardown(f, open_told, close_fake)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TOLD(dead_cards),	   TOLD(ids),
	    TOLD(log_text),	   TOLD(times),
	    TOLD(counters),	   TOLD(sms),
	    TOLD(what_it_has_not), TOLD(no_device),
	    TOLD(names),
	    TOLD(weight_files),	   TOLD(weights_to_the_card),
	    TOLD(policies),	   TOLD(occupancy),
	    TOLD(occupancy_of_cgas),
	};

	return cmocka_run_group_tests_name("SYS-05, SYS-41, RES-13, CGA-29 what a card tells", tests, NULL, NULL);
}
