// SPDX-License-Identifier: MIT
/*
 * What belongs to the card as a whole: policies and the SMs that are on; who may set them, and who may see what SMs do.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "tutti/discovery.h"
#include "tutti/sm_state.h"

static int sm_enable(int fd, uint32_t first, uint32_t count, uint32_t enable)
{
	struct drm_tutti_sm_enable args = {.first = first, .count = count, .enable = enable};

	return call(fd, DRM_IOCTL_TUTTI_SM_ENABLE, &args);
}

static int policy_set(int fd, uint32_t policy, uint32_t which, uint64_t value)
{
	struct drm_tutti_policy args = {.policy = policy, .which = which, .value = value};

	return call(fd, DRM_IOCTL_TUTTI_POLICY_SET, &args);
}

static int policy_get(int fd, uint32_t policy, uint32_t which, uint64_t *value)
{
	struct drm_tutti_policy args = {.policy = policy, .which = which};
	int error = call(fd, DRM_IOCTL_TUTTI_POLICY_GET, &args);

	*value = args.value;
	return error;
}

static int query(int fd, uint32_t what, void *to, uint32_t *size)
{
	struct drm_tutti_query args = {.what = what, .size = *size, .pointer = (uintptr_t)to};
	int error = call(fd, DRM_IOCTL_TUTTI_QUERY, &args);

	*size = args.size;
	return error;
}

/* ---- policies ---- */

static const struct {
	uint32_t policy, which;
	uint64_t value, bad; /* @bad: a value that is refused */
} policies[] = {
	{TUTTI_POLICY_ISSUE, 0, 1, 2},
	{TUTTI_POLICY_CTA_CAP, 0, 3, 1ull << 32},
	{TUTTI_POLICY_LEVEL_SEARCH, 0, 2, 3},
	{TUTTI_POLICY_SM_ORDER, 0, 1, 0xffff},
	{TUTTI_POLICY_CHOICE, 0, TUTTI_CHOICE_REMAINING, 99},
	{TUTTI_POLICY_SEARCH, 0, TUTTI_SEARCH_GROUPED, 99},
	{TUTTI_POLICY_SPLIT, 0, 1, 2},
	{TUTTI_POLICY_REMAINING_WEIGHT, 2, 77, 1 << 24},
	{TUTTI_POLICY_POWER_WINDOW, 0, 64, 65},
	{TUTTI_POLICY_COMBINE, 0, 3 << 16 | 4, 0},
};
#define POLICIES (sizeof(policies) / sizeof(policies[0]))

/* A policy that is set through one file is seen through another, and work goes on under each value. */
static bool set_and_ask(struct rig *rig)
{
	struct rig other = {.fd = -1};
	uint64_t before, now;

	SKIP_UNLESS(!getuid(), "only root sets policies");
	CHECK(rig_queue(rig) && rig_open(&other));
	for (unsigned i = 0; i < POLICIES; i++) {
		EXPECT(0, policy_get(rig->fd, policies[i].policy, policies[i].which, &before));
		EXPECT(0, policy_set(rig->fd, policies[i].policy, policies[i].which, policies[i].value));
		EXPECT(0, policy_get(other.fd, policies[i].policy, policies[i].which, &now));
		EXPECT((long)policies[i].value, (long)now);
		CHECK(rig_works(rig));
		EXPECT(EINVAL, policy_set(rig->fd, policies[i].policy, policies[i].which, policies[i].bad));
		EXPECT(0, policy_get(other.fd, policies[i].policy, policies[i].which, &now));
		EXPECT((long)policies[i].value, (long)now);
		EXPECT(0, policy_set(rig->fd, policies[i].policy, policies[i].which, before));
	}
	rig_close(&other);
	return true;
}

static bool unknown(struct rig *rig)
{
	uint64_t value;

	CHECK(rig_open(rig));
	EXPECT(EINVAL, policy_get(rig->fd, TUTTI_POLICIES, 0, &value));
	EXPECT(EINVAL, policy_get(rig->fd, TUTTI_POLICY_REMAINING_WEIGHT, TUTTI_RESOURCES, &value));
	EXPECT(EINVAL, policy_get(rig->fd, TUTTI_POLICY_REMAINING_WEIGHT, 1 << 8, &value));
	EXPECT(EINVAL, policy_get(rig->fd, TUTTI_POLICY_ISSUE, 1, &value));
	SKIP_UNLESS(!getuid(), "only root sets policies");
	EXPECT(EINVAL, policy_set(rig->fd, TUTTI_POLICIES, 0, 0));
	EXPECT(EINVAL, policy_set(rig->fd, TUTTI_POLICY_ISSUE, 1, 0));
	EXPECT(EINVAL, policy_set(rig->fd, TUTTI_POLICY_REMAINING_WEIGHT, TUTTI_RESOURCES, 1));
	EXPECT(EINVAL, policy_set(rig->fd, TUTTI_POLICY_REMAINING_WEIGHT, 1 << 8, 1));
	return true;
}

static bool nobody_asks(void *data)
{
	const struct tutti_discovery *known = data;
	struct rig rig = {.fd = -1};
	uint64_t value;
	uint32_t size = 0;

	CHECK(!setgid(65534) && !setuid(65534) && rig_queue(&rig));
	for (unsigned i = 0; i < POLICIES; i++) {
		EXPECT(EACCES, policy_set(rig.fd, policies[i].policy, policies[i].which, policies[i].value));
		EXPECT(0, policy_get(rig.fd, policies[i].policy, policies[i].which, &value));
		CHECK(value != policies[i].value);
	}
	EXPECT(EACCES, sm_enable(rig.fd, 0, known->sms, 0));
	EXPECT(EACCES, query(rig.fd, DRM_TUTTI_QUERY_SM_STATES, NULL, &size));
	CHECK(rig_works(&rig));
	rig_close(&rig);
	return true;
}

static bool nobody(struct rig *rig)
{
	struct tutti_discovery known;

	SKIP_UNLESS(!getuid(), "needs root, to be somebody else");
	CHECK(rig_open(rig) && discovery(rig->fd, &known));
	allow_everybody();
	return in_child(nobody_asks, &known);
}

/* The SMs that an idle card could use. */
static bool sms_on(struct rig *rig, uint32_t *sms)
{
	struct drm_tutti_occupancy args = {.waves = 1};

	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_OCCUPANCY, &args));
	*sms = args.sms;
	return true;
}

/* Another firmware runs afterwards, which has been told what the one before it knew. */
static bool outlive_reset(struct rig *rig)
{
	struct rig after = {.fd = -1};
	struct tutti_discovery known;
	uint64_t before[POLICIES], now;
	uint32_t sms, sms_after;

	SKIP_UNLESS(!getuid(), "only root resets the card");
	CHECK(rig_open(rig) && discovery(rig->fd, &known));
	SKIP_UNLESS(known.sms > 5, "needs six SMs");
	for (unsigned i = 0; i < POLICIES; i++) {
		EXPECT(0, policy_get(rig->fd, policies[i].policy, policies[i].which, &before[i]));
		EXPECT(0, policy_set(rig->fd, policies[i].policy, policies[i].which, policies[i].value));
	}
	EXPECT(0, sm_enable(rig->fd, 1, 2, 0));
	EXPECT(0, sm_enable(rig->fd, 2, 1, 1));
	EXPECT(0, sm_enable(rig->fd, 4, 1, 0)); /* its neighbours stay on */
	CHECK(sms_on(rig, &sms));
	EXPECT(0, device_reset());
	EXPECT(EIO, policy_get(rig->fd, TUTTI_POLICY_ISSUE, 0, &now));
	CHECK(rig_fresh(&after));
	for (unsigned i = 0; i < POLICIES; i++) {
		EXPECT(0, policy_get(after.fd, policies[i].policy, policies[i].which, &now));
		EXPECT((long)policies[i].value, (long)now);
		EXPECT(0, policy_set(after.fd, policies[i].policy, policies[i].which, before[i]));
	}
	CHECK(sms_on(&after, &sms_after));
	EXPECT(sms, sms_after);
	EXPECT(0, sm_enable(after.fd, 1, 1, 1));
	EXPECT(0, sm_enable(after.fd, 4, 1, 1));
	CHECK(sms_on(&after, &sms_after));
	EXPECT(sms + 2, sms_after);
	CHECK(rig_works(&after));
	rig_close(&after);
	return true;
}

#define ORDERED 4u

static bool order_is(int fd, const uint32_t *wanted)
{
	uint64_t sm;

	for (uint32_t position = 0; position < ORDERED; position++) {
		EXPECT(0, policy_get(fd, TUTTI_POLICY_SM_ORDER, position, &sm));
		EXPECT((long)wanted[position], (long)sm);
	}
	return true;
}

/* An SM that is put into a place of the order trades places with the one that was there. */
static bool order_outlives_reset(struct rig *rig)
{
	static const uint32_t moved[ORDERED] = {3, 0, 1, 2}, straight[ORDERED] = {0, 1, 2, 3};
	struct rig after = {.fd = -1};
	struct tutti_discovery known;

	SKIP_UNLESS(!getuid(), "only root resets the card");
	CHECK(rig_open(rig) && discovery(rig->fd, &known));
	SKIP_UNLESS(known.sms >= ORDERED, "needs four SMs");
	CHECK(order_is(rig->fd, straight));
	for (uint32_t sm = 1; sm < ORDERED; sm++)
		EXPECT(0, policy_set(rig->fd, TUTTI_POLICY_SM_ORDER, 0, sm));
	CHECK(order_is(rig->fd, moved));
	EXPECT(0, device_reset());
	CHECK(rig_fresh(&after) && order_is(after.fd, moved));
	for (uint32_t i = 0; i < ORDERED; i++)
		EXPECT(0, policy_set(after.fd, TUTTI_POLICY_SM_ORDER, i, i));
	CHECK(order_is(after.fd, straight) && rig_works(&after));
	rig_close(&after);
	return true;
}

/* ---- SMs ---- */

/* CTAs that each SM has run since the last call. */
static bool sms_run(struct rig *rig, unsigned sms, uint64_t *ran)
{
	uint32_t size = sms * sizeof(struct tutti_sm_state);
	struct tutti_sm_state *states = malloc(size);
	static uint64_t before[TUTTI_MAX_SMS];

	CHECK(states);
	EXPECT(0, query(rig->fd, DRM_TUTTI_QUERY_SM_STATES, states, &size));
	EXPECT((long)(sms * sizeof(*states)), size);
	for (unsigned i = 0; i < sms; i++) {
		ran[i] = states[i].ctas - before[i];
		before[i] = states[i].ctas;
	}
	free(states);
	return true;
}

/* Workgroups run on the SMs that are on, as the states of the SMs show. */
static bool enable(struct rig *rig)
{
	static const uint32_t nothing[] = {0x00008067 /* ret */};
	static uint64_t ran[TUTTI_MAX_SMS];
	struct tutti_discovery known;
	uint64_t all = 0;

	SKIP_UNLESS(!getuid(), "only root switches SMs");
	CHECK(rig_queue(rig) && discovery(rig->fd, &known));
	SKIP_UNLESS(known.sms > 1, "needs two SMs");
	rig_code(rig, nothing, sizeof(nothing));
	CHECK(sms_run(rig, known.sms, ran));
	EXPECT(0, sm_enable(rig->fd, 1, known.sms - 1, 0));
	for (unsigned on = 0; on < 2; on++) {
		rig_signal(rig, 1, 1);
		rig_dispatch(rig, 64, 0, 1);
		rig_ring(rig);
		EXPECT(0, rig_wait(rig, 1, 0, PATIENCE));
		CHECK(sms_run(rig, known.sms, ran));
		if (!on)
			EXPECT(64, (long)ran[0]);
		EXPECT(0, sm_enable(rig->fd, 1, known.sms - 1, 1));
	}
	for (unsigned i = 0; i < known.sms; i++)
		all += ran[i];
	EXPECT(64, (long)all);
	CHECK(ran[0] < 64);
	EXPECT(EINVAL, sm_enable(rig->fd, known.sms, 1, 1));
	EXPECT(EINVAL, sm_enable(rig->fd, 0, known.sms + 1, 1));
	EXPECT(EINVAL, sm_enable(rig->fd, 0, 1, 2));
	return true;
}

/* Part of the table; no byte more than asked for. */
static bool part(struct rig *rig)
{
	struct tutti_sm_state state[2];
	struct tutti_discovery known;
	uint32_t size = sizeof(state[0]);

	SKIP_UNLESS(!getuid(), "takes CAP_PERFMON");
	CHECK(rig_open(rig) && discovery(rig->fd, &known));
	memset(state, 0xa5, sizeof(state));
	EXPECT(0, query(rig->fd, DRM_TUTTI_QUERY_SM_STATES, state, &size));
	EXPECT((long)(known.sms * sizeof(state[0])), size);
	CHECK(state[0].cta_slots && state[0].cta_slots < 1000);
	for (unsigned i = 0; i < sizeof(state[1]); i++)
		CHECK(((uint8_t *)&state[1])[i] == 0xa5);
	size = sizeof(state[0]);
	EXPECT(EFAULT, query(rig->fd, DRM_TUTTI_QUERY_SM_STATES, NULL, &size));
	return true;
}

/* How much of a kernel fits the card: anybody may ask, and impossible questions are refused. */
static bool occupancy(struct rig *rig)
{
	struct drm_tutti_occupancy args = {.waves = 1, .cga = {{2, 1, 1, TUTTI_CGA_GPC}}};
	struct tutti_discovery known;
	uint32_t ctas;

	CHECK(rig_open(rig) && discovery(rig->fd, &known));
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_OCCUPANCY, &args));
	CHECK(args.ctas && args.sms && args.sms <= known.sms && args.cgas);
	CHECK(args.cgas <= (uint64_t)args.ctas * args.sms / 2);
	ctas = args.ctas;
	args.cga[0].kind = TUTTI_CGA_NONE;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_OCCUPANCY, &args));
	EXPECT((long)(ctas * args.sms), (long)args.cgas);
	args.waves = 0xffff;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_OCCUPANCY, &args));
	CHECK(!args.ctas && !args.cgas && args.sms);
	return true;
}

void policy_group(void)
{
	static const struct subtest tests[] = {
		{"SYS-41 RES-15: policies are set and asked for, by whoever", set_and_ask},
		{"SYS-41: policies and values there are not", unknown},
		{"SYS-41 CGA-29: occupancy is asked for, by whoever", occupancy},
		{"SYS-27 SYS-41: nobody sets a policy, switches SMs or sees what they do", nobody},
		{"SYS-28 SYS-41: policies, and SMs that are off, outlive a reset", outlive_reset},
		{"SYS-28 SYS-41: the order of the SMs outlives a reset", order_outlives_reset},
		{"SYS-41 CGA-22: SMs that are off get no work, and their states say so", enable},
		{"SYS-41 RES-13: states of SMs, a part", part},
		{0},
	};

	subtests(tests);
}
