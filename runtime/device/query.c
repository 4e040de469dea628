// SPDX-License-Identifier: MIT
/* Properties of a card, and settings that apply to the whole card. */
#include "device/device.h"

const struct tutti_discovery *tutti_device_discovery(const struct tutti_device *device)
{
	return device_live(device) ? &device->known : NULL;
}

const char *tutti_device_transport(const struct tutti_device *device)
{
	return device_live(device) ? device->transport->name : NULL;
}

int tutti_device_pci_address(struct tutti_device *device, char *address, size_t bytes)
{
	CALL_SCOPE(call);

	if (!device_call(&call, device))
		return -EINVAL;
	if (!address)
		return -EINVAL;
	return device->transport->pci_address ? device->transport->pci_address(device, address, bytes)
					      : -ENOTSUP;
}

uint32_t tutti_device_firmware_version(const struct tutti_device *device)
{
	return device_live(device) ? device->status->firmware_version : 0;
}

int tutti_profile_each(struct tutti_device *device, tutti_profile_fn each, void *context)
{
	CALL_SCOPE(call);

	if (!device_call(&call, device))
		return -EINVAL;
	if (!each)
		return -EINVAL;
	return device->transport->profile ? device->transport->profile(device, each, context) : -ENOTSUP;
}

int tutti_device_policy(struct tutti_device *device, unsigned policy, uint32_t value)
{
	CALL_SCOPE(call);

	if (!device_call(&call, device))
		return -EINVAL;
	return device->transport->policy_set(device, policy, value);
}

int tutti_device_enable_sms(struct tutti_device *device, unsigned first, unsigned count, bool enable)
{
	CALL_SCOPE(call);

	if (!device_call(&call, device))
		return -EINVAL;
	if (first > device->known.sms || count > device->known.sms - first)
		return -EINVAL;
	return device->transport->sm_enable(device, first, count, enable);
}
