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

/* Some policies are tables: the upper bits of a value say which place of the table is set. */
static u32 tutti_settings_which(u32 policy, u32 value)
{
	switch (policy) {
	case TUTTI_POLICY_SM_ORDER:
		return value >> 16;
	case TUTTI_POLICY_WINDOW:
	case TUTTI_POLICY_REMAINING_WEIGHT:
	case TUTTI_POLICY_POWER_WEIGHT:
		return value >> 24;
	case TUTTI_POLICY_CLASS:
		return value >> 8;
	default:
		return 0;
	}
}

static int tutti_settings_policy_locked(struct tutti_device *tdev, u32 policy, u32 value)
{
	unsigned long index = tutti_settings_index(policy, tutti_settings_which(policy, value));
	int error = xa_reserve(&tdev->settings, index, GFP_KERNEL);

	if (!error)
		error = tutti_message_policy(tdev, policy, value);
	if (!error)
		xa_store(&tdev->settings, index, xa_mk_value(value), GFP_KERNEL); /* the place is there */
	return error;
}

/** tutti_settings_policy() - set a policy, for good. 0 or what the firmware says. */
int tutti_settings_policy(struct tutti_device *tdev, u64 policy, u64 value)
{
	int error;

	if (policy >= TUTTI_POLICIES || value > U32_MAX)
		return -EINVAL;
	mutex_lock(&tdev->settings_lock);
	error = tutti_settings_policy_locked(tdev, policy, value);
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
int tutti_settings_sm_enable(struct tutti_device *tdev, u64 first, u64 sms, u64 enable)
{
	int error;

	if (first >= tdev->known.sms || sms > tdev->known.sms - first || enable > 1)
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
