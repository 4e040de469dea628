// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Attributes of the PCI device: what it is, how it is, its counters; `reset` (spec SYS-29). */
#include <linux/device.h>
#include <linux/sysfs.h>

#include "card/power.h"
#include "driver/sysfs.h"
#include "objects/context.h"
#include "recovery/recovery.h"

static struct tutti_device *tutti_sysfs_to_device(struct device *dev)
{
	return dev_get_drvdata(dev);
}

static ssize_t card_name_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", tutti_sysfs_to_device(dev)->known.name);
}
static DEVICE_ATTR_RO(card_name);

static ssize_t firmware_version_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	u32 version = READ_ONCE(tutti_sysfs_to_device(dev)->firmware_version);

	return sysfs_emit(buf, "%u.%u\n", TUTTI_VERSION_MAJOR(version), TUTTI_VERSION_MINOR(version));
}
static DEVICE_ATTR_RO(firmware_version);

static ssize_t card_state_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	static const char *const names[] = {
		[TUTTI_DEVICE_RUNNING] = "running",
		[TUTTI_DEVICE_RESETTING] = "resetting",
		[TUTTI_DEVICE_WEDGED] = "wedged",
	};

	return sysfs_emit(buf, "%s\n", names[atomic_read(&tutti_sysfs_to_device(dev)->state)]);
}
static DEVICE_ATTR_RO(card_state);

static ssize_t resets_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(tutti_sysfs_to_device(dev)->resets));
}
static DEVICE_ATTR_RO(resets);

static int tutti_sysfs_kill_context(struct tutti_device *tdev, u32 asid)
{
	struct tutti_object *object = tutti_object_find(tdev, TUTTI_CONTEXT, asid);

	if (!object)
		return -ENOENT;
	tutti_context_condemn(to_context(object), "killed by hand");
	flush_work(&tdev->context_work);
	tutti_object_put(object);
	return 0;
}

static int tutti_sysfs_reset_by_hand(struct tutti_device *tdev, const char *text)
{
	u32 asid;

	if (sysfs_streq(text, "1") || sysfs_streq(text, "firmware"))
		return tutti_recovery_by_hand(tdev, TUTTI_RUNG_FIRMWARE);
	if (sysfs_streq(text, "function"))
		return tutti_recovery_by_hand(tdev, TUTTI_RUNG_FUNCTION);
	if (sysfs_streq(text, "wedge"))
		return tutti_recovery_by_hand(tdev, TUTTI_RUNG_WEDGED);
	if (sscanf(text, "context %u", &asid) == 1)
		return tutti_sysfs_kill_context(tdev, asid);
	return -EINVAL;
}

static int tutti_sysfs_reset_awake(struct tutti_device *tdev, const char *text)
{
	int error = tutti_power_get(tdev);

	if (error)
		return error;
	error = tutti_power_wait(tdev);
	if (!error)
		error = tutti_sysfs_reset_by_hand(tdev, text);
	tutti_power_put(tdev);
	return error;
}

/* The rungs of the recovery ladder. Works on a wedged card too: that is what it is for. */
static ssize_t card_reset_store(struct device *dev, struct device_attribute *attr, const char *buf, size_t count)
{
	struct tutti_device *tdev = tutti_sysfs_to_device(dev);
	int error, index;

	if (!drm_dev_enter(&tdev->drm, &index))
		return -ENODEV;
	error = tutti_sysfs_reset_awake(tdev, buf);
	drm_dev_exit(index);
	return error ? error : count;
}
static DEVICE_ATTR_WO(card_reset);

static struct attribute *attributes[] = {
	&dev_attr_card_name.attr,
	&dev_attr_firmware_version.attr,
	&dev_attr_card_state.attr,
	&dev_attr_resets.attr,
	NULL
};

static const struct attribute_group group = { .attrs = attributes };

/*
 * Apart from the others, which the driver core takes away before it calls the driver to remove the device. It waits for
 * writers, and these for a reset that needs the lock that the driver core has, unless the device is known to be leaving.
 */
static struct attribute *reset_attributes[] = { &dev_attr_card_reset.attr, NULL };
static const struct attribute_group reset_group = { .attrs = reset_attributes };

int tutti_sysfs_init(struct tutti_device *tdev)
{
	return sysfs_create_group(&tdev->drm.dev->kobj, &reset_group);
}

/** tutti_sysfs_fini() - after tutti_life_unplug(), which tells writers that the device is leaving. */
void tutti_sysfs_fini(struct tutti_device *tdev)
{
	sysfs_remove_group(&tdev->drm.dev->kobj, &reset_group);
}

/* One file per counter, `tutti_counters/KERNELS` and so on. */
struct counter_attribute {
	struct device_attribute attr;
	u32 counter;
};

static ssize_t tutti_sysfs_counter_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct tutti_device *tdev = tutti_sysfs_to_device(dev);
	u32 counter = container_of(attr, struct counter_attribute, attr)->counter;
	u64 value = 0; /* a card that is off has counted nothing */
	int index;

	if (!drm_dev_enter(&tdev->drm, &index))
		return -ENODEV;
	if (tutti_power_get_if_on(tdev)) {
		value = readq(tdev->window + tdev->known.counters.offset + counter * sizeof(u64));
		tutti_power_put_unused(tdev);
	}
	drm_dev_exit(index);
	return sysfs_emit(buf, "%llu\n", value);
}

#define COUNTER_ATTRIBUTE(name, text) \
	{ { .attr = { #name, 0444 }, .show = tutti_sysfs_counter_show }, TUTTI_COUNTER_##name },
static struct counter_attribute counters[] = { TUTTI_COUNTER_LIST(COUNTER_ATTRIBUTE) };

#define COUNTER_POINTER(name, text) &counters[TUTTI_COUNTER_##name].attr.attr,
static struct attribute *counter_attributes[] = { TUTTI_COUNTER_LIST(COUNTER_POINTER) NULL };

static const struct attribute_group counter_group = { .name = "tutti_counters", .attrs = counter_attributes };

const struct attribute_group *tutti_sysfs_groups[] = { &group, &counter_group, NULL };
