/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock */
/* The devices that a process has open: who is woken, what a child process has of them, what is said of a dead one
 * (SYS-40, SYS-41, SYS-56). */
#include "lock_check.h"
#include "rt_rig.h"

#include <stdio.h>
#include <sys/wait.h>

#define DEVICES 3u

static struct tutti_device *all[DEVICES];
static unsigned woken[DEVICES];
static bool inside; /* a thread goes over the list */

static void count_wake(struct tutti_device *of)
{
	for (unsigned i = 0; i < DEVICES; i++)
		woken[i] += all[i] == of;
}

static int open_devices(void **state)
{
	int error = open_fake(state);

	transport.wake = count_wake;
	for (unsigned i = 0; i < DEVICES; i++) {
		all[i] = i ? aligned_alloc(64, (sizeof(*all[i]) + 63) & ~63ull) : device;
		if (i) {
			memset(all[i], 0, sizeof(*all[i]));
			all[i]->transport = &transport;
			handle_begin(&all[i]->handle, NULL);
		}
		device_list_add(all[i]);
	}
	memset(woken, 0, sizeof(woken));
	return error;
}

static int close_devices(void **state)
{
	for (unsigned i = 1; i < DEVICES; i++)
		free(all[i]);
	return close_fake(state);
}

/* Those of @mask are woken, each once. */
static void assert_woken(unsigned mask)
{
	device_wake_all();
	for (unsigned i = 0; i < DEVICES; i++) {
		assert_int_equal(woken[i], mask >> i & 1);
		woken[i] = 0;
	}
}

/* All that are open, in whichever order they are closed. */
static void all_are_woken(void **state)
{
	for (unsigned last = 0; last < DEVICES; last++) {
		unsigned mask = 7;

		assert_woken(mask);
		for (unsigned k = 1; k <= DEVICES; k++) {
			unsigned i = (last + k) % DEVICES;

			device_list_remove(all[i]);
			mask &= ~(1u << i);
			assert_woken(mask);
		}
		for (unsigned i = 0; i < DEVICES; i++)
			device_list_add(all[i]);
	}
	for (unsigned i = 0; i < DEVICES; i++)
		device_list_remove(all[i]);
}

static struct handle owned; /* belongs to a device that the parent process has opened */

/* A child process has none of the devices of its parent, but may open one of its own. Return: what is wrong */
static int in_the_child(void)
{
	for (unsigned i = 0; i < DEVICES; i++)
		if (handle_live(&all[i]->handle))
			return 1;
	if (tutti_memory_free(device, NULL) != -EINVAL)
		return 2;
	device_wake_all();
	if (woken[0] + woken[1] + woken[2])
		return 3;
	handle_begin(&all[1]->handle, NULL);
	device_list_add(all[1]);
	device_wake_all();
	device_list_remove(all[1]);
	device_wake_all();
	if (handle_live(&owned))
		return 5; /* the new device does not own it, although it uses the memory of the old device */
	return woken[1] == 1 && !(woken[0] + woken[2]) && handle_live(&all[1]->handle) ? 0 : 4;
}

static int status_of_child(int (*function)(void))
{
	pid_t child = fork();
	int status = -1;

	if (!child) {
		alarm(60);
		_exit(function());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void children(void **state)
{
	memset(&owned, 0, sizeof(owned));
	handle_begin(&owned, &all[1]->handle);
	assert_int_equal(status_of_child(in_the_child), 0);
	assert_true(handle_live(&owned));
	for (unsigned i = 0; i < DEVICES; i++)
		assert_true(handle_live(&all[i]->handle));
	assert_woken(7);
	for (unsigned i = 0; i < DEVICES; i++)
		device_list_remove(all[i]);
}

static int first_is_gone(void)
{
	return handle_live(&all[0]->handle);
}

/* Nor has it one that another thread of the parent is closing. */
static void children_while_one_is_closed(void **state)
{
	assert_true(handle_close(&all[0]->handle));
	assert_int_equal(status_of_child(first_is_gone), 0);
	for (unsigned i = 0; i < DEVICES; i++)
		device_list_remove(all[i]);
}

static void wake_slowly(struct tutti_device *of)
{
	tutti_store_release(&inside, true);
	usleep(3000);
	tutti_store_release(&inside, false);
}

static bool enough;

static void *wake_often(void *context)
{
	while (!tutti_load_acquire(&enough))
		device_wake_all();
	return NULL;
}

static int nobody_is_inside(void)
{
	return inside;
}

/* No process is made while another thread goes over the list, whose lock would stay locked in the child. */
static void children_of_busy_parents(void **state)
{
	pthread_t thread;

	device_list_remove(all[1]);
	device_list_remove(all[2]);
	transport.wake = wake_slowly;
	enough = false;
	pthread_create(&thread, NULL, wake_often, NULL);
	for (unsigned i = 0; i < 3; i++) {
		while (!tutti_load_acquire(&inside))
			sched_yield();
		assert_int_equal(status_of_child(nobody_is_inside), 0);
	}
	tutti_store_release(&enough, true);
	pthread_join(thread, NULL);
	device_list_remove(all[0]);
	transport.wake = count_wake;
}

static char said[600];
static unsigned lines;

static void on_message(const char *line)
{
	snprintf(said, sizeof(said), "%s", line);
	lines++;
}

/* Of a card that has died is said why, once: what its firmware has left, or in which state it is. */
static void said_once(void **state)
{
	struct tutti_crash *crash = (void *)(bar + 0x5000);

	device->known.crash.offset = 0x5000;
	tutti_message_handler(on_message);
	lines = 0;
	device_fail(device, "no answer");
	assert_int_equal(lines, 1);
	assert_string_equal(said, "no answer (state running)");
	device_fail(device, "no answer");
	assert_int_equal(lines, 1);
	assert_true(device->dead);
	device->said_dead = false;
	device->status->state = TUTTI_STATE_CRASHED;
	*crash = (struct tutti_crash){
	    .cause = 3, .cause_code = 7, .pc = 0x1234, .tval = 0x88, .queue = UINT32_MAX, .packet = 1ull << 40};
	memset(crash->text, 'x', sizeof(crash->text)); /* it need not end with a zero */
	memcpy(crash->text, "stack", 5);
	device_fail(device, "dead");
	assert_int_equal(lines, 2);
	assert_int_equal(strncmp(said, "dead: cause 3 (7), pc 0x1234, tval 0x88, queue -1, packet 1099511627776: stackx", 78), 0);
	assert_int_equal(strspn(strstr(said, "stack") + 5, "x"), sizeof(crash->text) - 5);
	assert_int_equal(strlen(strstr(said, "stack")), sizeof(crash->text));
	tutti_message_handler(NULL);
	for (unsigned i = 0; i < DEVICES; i++)
		device_list_remove(all[i]);
}

#define LIST(f) cmocka_unit_test_setup_teardown(f, open_devices, close_devices)

int main(void)
{
	static const struct CMUnitTest tests[] = {LIST(all_are_woken), LIST(children),
						  LIST(children_while_one_is_closed), LIST(children_of_busy_parents),
						  LIST(said_once)};

	return cmocka_run_group_tests_name("SYS-40, SYS-41 the devices of a process", tests, NULL, NULL);
}
