// SPDX-License-Identifier: MIT
/* An unused card is switched off. When it wakes, the driver sets again what the card has forgotten, and watches it again. */
#include <unistd.h>

#include "driver.h"

static bool falls_asleep(void)
{
	return card_write("power/control", "auto") && card_soon_says("power/runtime_status", "suspended");
}

/* Call @then while the card, which nobody has open, is switched off. Afterwards it stays on even if it is unused. */
static bool after_sleep(bool (*then)(void))
{
	bool good = falls_asleep() && then();

	CHECK(card_write("power/control", "on") && good);
	return fresh_works();
}

static int cap(int fd, uint64_t *value, unsigned long request)
{
	struct drm_tutti_policy args = {.policy = TUTTI_POLICY_CTA_CAP, .value = *value};
	int error = call(fd, request, &args);

	*value = args.value;
	return error;
}

static bool cap_is(uint64_t wanted, uint64_t next)
{
	int fd = device_open();
	uint64_t seen = 0;

	EXPECT(0, cap(fd, &seen, DRM_IOCTL_TUTTI_POLICY_GET));
	EXPECT(0, cap(fd, &next, DRM_IOCTL_TUTTI_POLICY_SET));
	close(fd);
	EXPECT((long)wanted, (long)seen);
	return true;
}

static bool cap_was_kept(void)
{
	return cap_is(3, ~0u);
}

static bool keeps_policies(struct rig *rig)
{
	int fd = device_open();
	uint64_t value = 3;

	EXPECT(0, cap(fd, &value, DRM_IOCTL_TUTTI_POLICY_SET));
	close(fd);
	return after_sleep(cap_was_kept);
}

/* Nothing is asked of the firmware after its crash, so only the watchdog can notice it. */
static bool crash_is_noticed(void)
{
	struct rig rig = {.fd = -1};

	return crash_is_told(&rig);
}

static bool is_watched(struct rig *rig)
{
	SKIP_UNLESS(inject_command, "needs --inject");
	return after_sleep(crash_is_noticed);
}

static bool yes(void)
{
	return true;
}

/* Reading counters in sysfs does not count as use of the card. */
static bool is_looked_at(struct rig *rig)
{
	CHECK(fresh_works());
	for (unsigned i = 0; i < 5; i++)
		CHECK(card_number("tutti_counters/KERNELS") >= 0);
	return after_sleep(yes);
}

/* A card that is off sends no messages: the driver ignores its interrupts, whatever the card's ring index reads as. */
static bool hears_nothing(void)
{
	long resets = card_number("resets");
	struct window window;

	CHECK(window_open(&window));
	window.status->card_ring_tail += 0x100000;
	window_close(&window);
	CHECK(inject("interrupt 0"));
	usleep(300000);
	CHECK(card_says("power/runtime_status", "suspended"));
	CHECK(fresh_works());
	EXPECT(resets, card_number("resets"));
	return true;
}

static bool is_not_heard(struct rig *rig)
{
	SKIP_UNLESS(inject_command, "needs --inject");
	return after_sleep(hears_nothing);
}

/* A card that has been given up is also switched off when unused, and a reset by hand wakes it. */
static bool comes_back(void)
{
	return card_state("wedged") && card_write("card_reset", "1") && card_state("running");
}

static bool wedged(struct rig *rig)
{
	CHECK(card_write("card_reset", "wedge"));
	return after_sleep(comes_back);
}

const struct driver_test sleep_tests[] = {
	{"SYS-29 SYS-41: policies outlive the sleep of an unused card", keeps_policies},
	{"SYS-28 SYS-29: a card that has slept is watched again", is_watched},
	{"SYS-29: a card that is only looked at falls asleep", is_looked_at},
	{"SYS-08 SYS-29: the driver does not listen to a card that sleeps", is_not_heard},
	{"SYS-28 SYS-29: a card that has been given up falls asleep, and comes back", wedged},
	{0},
};
