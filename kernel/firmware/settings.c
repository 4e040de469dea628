// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What the administrator has set for the card as a whole: policies, and SMs that are off. The firmware forgets it in
 * every boot, and is told again.
 */
#include "firmware/message.h"
#include "firmware/settings.h"

/* An index of tutti_device.settings: the policy, or SM_OFF, and which of its values: an SM, a weight, a class, ... */
#define SM_OFF TUTTI_POLICIES
#define WHICH_BITS 24

static unsigned long tutti_settings_index(u32 policy, u32 which)
{
	return (unsigned long)policy << WHICH_BITS | which;
}

/**
 * tutti_settings_possible() - is there such a policy, with such a place and value?
 * @policy: enum tutti_policy
 * @which: place of a policy that is a table. The firmware takes it in the upper bits of the value.
 * @value: or the firmware may know better
 */
bool tutti_settings_possible(u32 policy, u32 which, u64 value)
{
	u32 shift = tutti_policy_shift(policy);

	return policy < TUTTI_POLICIES && !(value >> shift) && !((u64)which << shift >> 32);
}

static int tutti_settings_policy_locked(struct tutti_device *tdev, u32 policy, u32 which, u32 value)
{
	unsigned long index = tutti_settings_index(policy, which);
	int error = xa_reserve(&tdev->settings, index, GFP_KERNEL);

	if (!error)
		error = tutti_message_policy(tdev, policy, value);
	if (!error)
		xa_store(&tdev->settings, index, xa_mk_value(value), GFP_KERNEL); /* the place is there */
	return error;
}

/* The SM at a position of the order; where nothing is kept, the SM of that number. */
static u32 tutti_settings_sm_at(struct tutti_device *tdev, u32 position)
{
	void *entry = xa_load(&tdev->settings, tutti_settings_index(TUTTI_POLICY_SM_ORDER, position));

	return entry ? xa_to_value(entry) & U16_MAX : position;
}

/*
 * The SM that was there takes the position that becomes free. Both are kept: told position by position, the firmware
 * then gets to the same order, whatever steps have led there.
 */
static int tutti_settings_sm_order_locked(struct tutti_device *tdev, u32 position, u32 sm)
{
	u32 from = 0, was = tutti_settings_sm_at(tdev, position);
	unsigned long index;
	int error;

	while (from < tdev->known.sms && tutti_settings_sm_at(tdev, from) != sm)
		from++;
	index = tutti_settings_index(TUTTI_POLICY_SM_ORDER, from);
	error = xa_reserve(&tdev->settings, index, GFP_KERNEL);
	if (!error)
		error = tutti_settings_policy_locked(tdev, TUTTI_POLICY_SM_ORDER, position, position << 16 | sm);
	if (!error)
		xa_store(&tdev->settings, index, xa_mk_value(from << 16 | was), GFP_KERNEL);
	return error;
}

/** tutti_settings_policy() - set a policy, or a place of one that is a table, for good. 0 or what the firmware says. */
int tutti_settings_policy(struct tutti_device *tdev, u32 policy, u32 which, u64 value)
{
	u64 whole = (u64)which << tutti_policy_shift(policy) | value;
	int error;

	if (!tutti_settings_possible(policy, which, value))
		return -EINVAL;
	mutex_lock(&tdev->settings_lock);
	error = policy == TUTTI_POLICY_SM_ORDER ? tutti_settings_sm_order_locked(tdev, which, value) :
						  tutti_settings_policy_locked(tdev, policy, which, whole);
	mutex_unlock(&tdev->settings_lock);
	return error;
}

static int tutti_settings_reserve_sms(struct tutti_device *tdev, u32 first, u32 sms)
{
	int error = 0;
	u32 i;

	for (i = first; !error && i < first + sms; i++)
		error = xa_reserve(&tdev->settings, tutti_settings_index(SM_OFF, i), GFP_KERNEL);
	return error;
}

static void tutti_settings_store_sms(struct tutti_device *tdev, u32 first, u32 sms, bool enable)
{
	u32 i;

	for (i = first; i < first + sms; i++)
		if (enable)
			xa_erase(&tdev->settings, tutti_settings_index(SM_OFF, i));
		else
			xa_store(&tdev->settings, tutti_settings_index(SM_OFF, i), xa_mk_value(1), GFP_KERNEL);
}

/** tutti_settings_sm_enable() - switch SMs on or off, for good. 0 or what the firmware says. */
int tutti_settings_sm_enable(struct tutti_device *tdev, u32 first, u32 sms, bool enable)
{
	int error;

	if (first >= tdev->known.sms || sms > tdev->known.sms - first)
		return -EINVAL;
	mutex_lock(&tdev->settings_lock);
	error = tutti_settings_reserve_sms(tdev, first, sms);
	if (!error)
		error = tutti_message_sm_enable(tdev, first, sms, enable);
	if (!error)
		tutti_settings_store_sms(tdev, first, sms, enable);
	mutex_unlock(&tdev->settings_lock);
	return error;
}

static int tutti_settings_tell(struct tutti_device *tdev, unsigned long index, u32 value)
{
	u32 policy = index >> WHICH_BITS;

	return policy == SM_OFF ? tutti_message_sm_enable(tdev, index & (BIT(WHICH_BITS) - 1), 1, 0) :
				  tutti_message_policy(tdev, policy, value);
}

/**
 * tutti_settings_restore() - tell a firmware that has just been booted.
 * @tdev: device, whose channel is open
 *
 * Return: 0, or that it does not answer. What it refuses, because it is another version, is said in the log.
 */
int tutti_settings_restore(struct tutti_device *tdev)
{
	unsigned long index;
	int error = 0;
	void *entry;

	mutex_lock(&tdev->settings_lock);
	xa_for_each(&tdev->settings, index, entry) {
		error = tutti_settings_tell(tdev, index, xa_to_value(entry));
		if (error == -EIO || error == -ETIMEDOUT || error == -ENODEV)
			break;
		if (error)
			drm_warn(&tdev->drm, "setting %#lx is refused by the new firmware (%d)\n", index, error);
		error = 0;
	}
	mutex_unlock(&tdev->settings_lock);
	return error;
}

void tutti_settings_fini(struct tutti_device *tdev)
{
	xa_destroy(&tdev->settings);
}
