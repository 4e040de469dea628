// SPDX-License-Identifier: MIT
/*
 * The card is pulled out of its slot when the driver expects that least. The driver's time limits are set so high
 * meanwhile that no wait ends by them: what ends does so because the card has gone.
 */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"

#define NEED_SLOT "needs --plug, and a slot whose power can be switched"

static bool endless_patience(bool endless)
{
	return parameter_write("boot_timeout_ms", endless ? "100000000" : "10000") &&
	       parameter_write("request_timeout_ms", endless ? "100000000" : "5000") &&
	       parameter_write("heartbeat_timeout_ms", endless ? "100000000" : "5000");
}

static bool pull(void)
{
	return card_pull() && card_soon(false);
}

/* Pulled while somebody waits at that point; the file that was opened before says ENODEV from then on. */
static bool pulled_at(struct rig *rig, const char *point, unsigned before)
{
	bool there = soon_reached(point, before), gone = there && pull();

	delay(point, 0);
	endless_patience(false);
	CHECK(there && gone);
	EXPECT(-1, device_open());
	EXPECT(ENODEV, rig_wait(rig, 0, 0, SECOND));
	rig_close(rig);
	CHECK(card_plug());
	return fresh_works();
}

/* ---- a reset by the driver ---- */

static bool ask_for(uint32_t rung)
{
	struct drm_tutti_reset reset = {.rung = rung};
	int fd = device_open(), error = call(fd, DRM_IOCTL_TUTTI_RESET, &reset);

	close(fd);
	EXPECT(0, error);
	return true;
}

static bool pulled_in_reset(struct rig *rig, const char *point)
{
	unsigned before;

	SKIP_UNLESS(plug_command, NEED_SLOT);
	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	CHECK(rig_queue(rig) && rig_works(rig) && endless_patience(true));
	before = delay(point, 1500);
	CHECK(ask_for(DRM_TUTTI_RESET_FIRMWARE));
	return pulled_at(rig, point, before);
}

static bool pulled_in_boot(struct rig *rig)
{
	return pulled_in_reset(rig, "boot");
}

static bool pulled_after_boot(struct rig *rig)
{
	return pulled_in_reset(rig, "restarted");
}

static bool ask_firmware(void)
{
	return ask_for(DRM_TUTTI_RESET_FIRMWARE);
}

static bool ask_function(void)
{
	return ask_for(DRM_TUTTI_RESET_FUNCTION);
}

static void *write_reset(void *data)
{
	card_write("card_reset", "function");
	return data;
}

/* Whoever asks through sysfs waits there for the end of the reset, as removal of the device waits for him. */
static bool ask_by_hand(void)
{
	pthread_t thread;

	return !pthread_create(&thread, NULL, write_reset, NULL) && !pthread_detach(thread);
}

/** struct heard - what the kernel has said since the beginning. */
struct heard {
	int events, log;
};

static bool listen_to_kernel(struct heard *heard)
{
	*heard = (struct heard){.events = uevents_open(), .log = log_open()};
	CHECK(heard->events >= 0 && heard->log >= 0);
	return true;
}

/* No card was wedged, and no error of a DRM device was reported. */
static bool nothing_bad(struct heard *heard)
{
	bool wedged = hears_wedged(heard->events), said = log_says(heard->log, "*ERROR*"); /* as DRM marks them */

	close(heard->events);
	close(heard->log);
	CHECK(!wedged && !said);
	return true;
}

/*
 * Let something happen while the thread of a reset waits at @point for @ms milliseconds.
 * Return: how often it has waited there, or 0 if something went wrong
 */
static unsigned happens_in_reset(const char *point, unsigned ms, bool (*ask)(void), bool (*happen)(void))
{
	unsigned before = delay(point, ms), times;
	bool happened = ask() && soon_reached(point, before) && happen();

	times = delay(point, 0) - before;
	return happened ? times : 0;
}

/* A card that is being removed needs no reset, so the kernel reports no failure to reset it. */
static bool removed_in_reset(struct rig *rig, const char *point, unsigned ms, bool (*ask)(void))
{
	struct heard heard;
	unsigned times;
	bool good;

	CHECK(listen_to_kernel(&heard) && rig_queue(rig));
	times = happens_in_reset(point, ms, ask, driver_unbind);
	good = nothing_bad(&heard);
	CHECK(driver_bind());
	CHECK(times && times < 50);
	return good && fresh_works();
}

/* The reset needs the device's lock, which the removal holds. */
static bool removed_in_function_reset(struct rig *rig)
{
	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	return removed_in_reset(rig, "function_reset", 500, ask_function);
}

static bool removed_in_reset_by_hand(struct rig *rig)
{
	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	return removed_in_reset(rig, "function_reset", 500, ask_by_hand);
}

static bool removed_in_boot(struct rig *rig)
{
	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	return removed_in_reset(rig, "boot", 1500, ask_firmware);
}

static bool removed_after_boot(struct rig *rig)
{
	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	return removed_in_reset(rig, "restarted", 1500, ask_firmware);
}

/* ---- others who have the device's lock ---- */

static bool reset_by_bus(void)
{
	return card_write("reset", "1");
}

/* It may refuse: then the reset comes first. */
static bool sleep_or_not(void)
{
	system_sleep();
	return true;
}

/* The reset of the function lacks the lock for as long as @happen waits for its end. */
static bool locked_in_function_reset(struct rig *rig, bool (*happen)(void))
{
	long resets = card_number("resets");
	struct heard heard;
	unsigned times;

	CHECK(listen_to_kernel(&heard) && rig_queue(rig));
	times = happens_in_reset("function_reset", 500, ask_function, happen);
	CHECK(times && times < 50);
	CHECK(fresh_works());
	EXPECT(resets + 1, card_number("resets")); /* a single reset, which the holder of the lock has finished */
	return nothing_bad(&heard);
}

static bool reset_in_function_reset(struct rig *rig)
{
	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	SKIP_UNLESS(card_has("reset"), "the bus cannot reset the card");
	return locked_in_function_reset(rig, reset_by_bus);
}

static bool sleep_in_function_reset(struct rig *rig)
{
	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	SKIP_UNLESS(can_sleep(), NEED_SLEEP);
	return locked_in_function_reset(rig, sleep_or_not);
}

/* ---- calls ---- */

static void *destroy_queue(void *data)
{
	struct rig *rig = data;

	return (void *)(intptr_t)queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_DESTROY);
}

/* A call is about to ask the firmware, and goes on to do so while the card goes. */
static bool pulled_in_call(struct rig *rig)
{
	struct rig mine = {.fd = -1};
	unsigned before;
	pthread_t thread;
	void *error;
	bool good;

	SKIP_UNLESS(plug_command, NEED_SLOT);
	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	CHECK(rig_queue(rig) && rig_queue(&mine) && endless_patience(true));
	before = delay("queue_destroy", 1500);
	CHECK(!pthread_create(&thread, NULL, destroy_queue, &mine));
	good = pulled_at(rig, "queue_destroy", before);
	pthread_join(thread, &error);
	rig_close(&mine);
	CHECK(good && ((intptr_t)error == ENODEV || (intptr_t)error == EIO || !error));
	return true;
}

/* ---- errors of the bus ---- */

/** struct bus_error - what aer_inject of the kernel is told. */
struct bus_error {
	uint8_t bus, device, function;
	uint32_t uncorrectable, correctable, header[4], domain;
};

#define DATA_LINK_ERROR 0x10u /* fatal */

static bool inject_bus_error(void)
{
	char path[96], target[256] = "", *port;
	struct bus_error error = {.uncorrectable = DATA_LINK_ERROR};
	unsigned domain, bus, device, function;
	int fd = open("/dev/aer_inject", O_WRONLY | O_CLOEXEC);
	bool done;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", pci_address);
	CHECK(fd >= 0 && readlink(path, target, sizeof(target) - 1) > 0);
	*strrchr(target, '/') = 0; /* the card */
	port = strrchr(target, '/') + 1;
	CHECK(sscanf(port, "%x:%x:%x.%x", &domain, &bus, &device, &function) == 4);
	error.domain = domain;
	error.bus = (uint8_t)bus;
	error.device = (uint8_t)device;
	error.function = (uint8_t)function;
	done = write(fd, &error, sizeof(error)) == sizeof(error);
	close(fd);
	return done;
}

static void *use_fresh(void *data)
{
	struct rig fresh = {.fd = -1};

	rig_context(&fresh);
	rig_close(&fresh);
	return data;
}

/* The bus never comes back from its error, and somebody who has opened the card since waits for it. */
static bool pulled_in_bus_error(struct rig *rig)
{
	unsigned before;
	pthread_t thread;
	bool good;

	SKIP_UNLESS(plug_command, NEED_SLOT);
	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	SKIP_UNLESS(!access("/dev/aer_inject", W_OK), "needs aer_inject");
	CHECK(rig_queue(rig));
	before = delay("bus_frozen", 2500);
	CHECK(inject_bus_error() && soon_reached("bus_frozen", before));
	CHECK(!pthread_create(&thread, NULL, use_fresh, NULL));
	usleep(300000);
	good = pulled_at(rig, "bus_frozen", before);
	pthread_join(thread, NULL);
	return good;
}

/*
 * The bus has an error for six seconds, five more than the driver waits: the card is given up, which tells whoever has
 * opened it since. When the bus is back, a reset by hand brings it back.
 */
static bool bus_error_lasts(struct rig *rig)
{
	unsigned before;
	bool wedged;

	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	SKIP_UNLESS(!access("/dev/aer_inject", W_OK), "needs aer_inject");
	CHECK(rig_queue(rig) && parameter_write("bus_timeout_ms", "1000"));
	before = delay("bus_frozen", 6000);
	CHECK(inject_bus_error() && soon_reached("bus_frozen", before));
	delay("bus_frozen", 0);
	rig_close(rig);
	rig_context(rig);
	wedged = card_state("wedged");
	CHECK(parameter_write("bus_timeout_ms", "120000"));
	sleep(8);
	CHECK(wedged && card_write("card_reset", "function"));
	return fresh_works();
}

/* ---- the link ---- */

static bool soon_state(const char *state)
{
	for (unsigned i = 0; i < 3000 && !card_state(state); i++)
		usleep(10000);
	return card_state(state);
}

/** struct waiting - for a signal in card memory. */
struct waiting {
	int fd, error;
	uint32_t bo;
};

static void *wait_for_card(void *data)
{
	struct waiting *waiting = data;

	waiting->error = card_signal_wait(waiting->fd, waiting->bo, PATIENCE);
	return NULL;
}

/*
 * Nothing reaches the card, and nobody says so. The watchdog sees it; whoever has repaired the link resets by hand. What
 * the card reads as meanwhile does not end a wait.
 */
static bool link_lost(struct rig *rig)
{
	struct waiting waiting;
	pthread_t thread;
	bool wedged, back;

	SKIP_UNLESS(plug_command, NEED_SLOT);
	CHECK(rig_queue(rig) && rig_works(rig) && card_signal(rig->fd, &waiting.bo));
	waiting.fd = rig->fd;
	CHECK(!pthread_create(&thread, NULL, wait_for_card, &waiting));
	usleep(300000);
	CHECK(card_link(false));
	wedged = soon_state("wedged");
	pthread_join(thread, NULL);
	EXPECT(EIO, rig_wait(rig, 5, 0, PATIENCE));
	rig_close(rig);
	back = card_link(true) && card_write("card_reset", "function");
	CHECK(wedged && back && card_state("running"));
	EXPECT(EIO, waiting.error);
	return fresh_works();
}

const struct driver_test pull_tests[] = {
	{"REL-06 SYS-28: pulled while the firmware is loaded again", pulled_in_boot},
	{"REL-06 SYS-28: pulled when the firmware has just been loaded again", pulled_after_boot},
	{"REL-06 SYS-28: pulled while a call asks the firmware", pulled_in_call},
	{"REL-06 SYS-28: pulled in the middle of an error of the bus", pulled_in_bus_error},
	{"REL-06 SYS-28: an error of the bus that lasts", bus_error_lasts},
	{"REL-06 SYS-28: removed while the function is being reset", removed_in_function_reset},
	{"REL-06 SYS-28: removed while somebody waits for a reset of the function", removed_in_reset_by_hand},
	{"SYS-28: the bus resets the function while the driver is about to", reset_in_function_reset},
	{"SYS-28 SYS-29: the system falls asleep while the function is being reset", sleep_in_function_reset},
	{"REL-06 SYS-28: removed while the firmware is loaded again", removed_in_boot},
	{"REL-06 SYS-28: removed when the firmware has just been loaded again", removed_after_boot},
	{"REL-06 SYS-28: the link is lost, and comes back", link_lost},
	{0},
};
