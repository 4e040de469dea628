/* SPDX-License-Identifier: MIT */
/* What the driver does beyond its calls; uses the rig of the conformance suite. */
#ifndef DRIVER_TEST_H
#define DRIVER_TEST_H

#include <pthread.h>

#include "rig.h"
#include "tutti/discovery.h"

/** struct driver_test - a test; like a subtest of the suite. */
struct driver_test {
	const char *name;
	bool (*run)(struct rig *rig);
};
extern const struct driver_test ladder_tests[], memory_driver_tests[], import_tests[], race_tests[], destroy_tests[],
	pull_tests[], silent_tests[], sleep_tests[];

/* main.c; paths below the card's directory in sysfs */
bool card_write(const char *attribute, const char *text);
bool card_has(const char *attribute);
bool card_says(const char *attribute, const char *start);
bool card_state(const char *state);
bool card_soon_says(const char *attribute, const char *start); /* waits for at most a minute */
long card_number(const char *attribute); /* -1 if it cannot be read */
bool parameter_write(const char *name, const char *text);
uint64_t generation(int fd);
uint32_t queue_asid(uint32_t queue_id); /* from debugfs; 0 = not found */
long pinned_kib(void);                  /* VmPin of this process */
bool crash_is_told(struct rig *rig);    /* crashes the firmware; true: a wait for a signal then ends with EIO */
bool fresh_works(void);                 /* a file that is opened now works; waits for a reset */

/** struct window - the card's control window, mapped through its BAR: root can write what broken firmware might write. */
struct window {
	size_t bytes;
	const volatile struct tutti_discovery *known;
	volatile struct tutti_control *control;
	volatile struct tutti_status *status;
};
/* window.c */
bool window_open(struct window *window);
void window_close(struct window *window);
#define NEED_WINDOW "the BAR cannot be mapped"

/* memory.c; card_signal() makes a signal of value 1 in card memory, card_signal_wait() waits until it is smaller */
bool card_signal(int fd, uint32_t *bo);
int card_signal_wait(int fd, uint32_t bo, uint64_t ns);

/* race.c; of a fence that follows the queue, or negative */
int sync_file_of(struct rig *rig, uint64_t packet);

/* heard.c; what the kernel says after the call that opens */
int uevents_open(void);
bool hears_wedged(int uevents); /* udev was told that a card is wedged */
int log_open(void);
bool log_says(int log, const char *text);

/* delay.c; points where threads of the driver can be made to wait */
#define NEED_DELAYS "the driver was built without TUTTI_TEST=1"
bool have_delays(void);
unsigned delay(const char *point, unsigned ms); /* from now on; how often somebody has waited there so far */
bool soon_reached(const char *point, unsigned before);
/* A thread that waits at @point for @ms, as nobody after it does; false: it has not come there. Join it in any case. */
bool delayed_thread(pthread_t *thread, const char *point, unsigned ms, void *(*run)(void *data), void *data);
void *close_rig(void *rig); /* rig_close(), for such a thread */

#endif
