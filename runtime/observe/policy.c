// SPDX-License-Identifier: MIT
/* Reading back policies and the states of SMs; weights of the energy policies, and their files. */
#include "tutti/policy.h"

#include <stdlib.h>
#include <string.h>

#include "device/device.h"

int tutti_policy_get(struct tutti_device *device, enum tutti_policy policy, uint32_t which, uint32_t *value)
{
	CALL_SCOPE(call);

	if (!device_call(&call, device) || !value)
		return -EINVAL;
	return device->transport->policy_get(device, policy, which, value);
}

int tutti_device_sm_states(struct tutti_device *device, unsigned first, unsigned count, struct tutti_sm_state *states)
{
	CALL_SCOPE(call);
	const struct tutti_region *region;
	int error;

	if (!device_call(&call, device) || (!states && count))
		return -EINVAL;
	region = &device->known.sm_states;
	if (first > device->known.sms || count > device->known.sms - first)
		return -EINVAL;
	if (region->bytes < (uint64_t)device->known.sms * sizeof(*states))
		return -ENOTSUP;
	error = device->transport->sm_states(device);
	if (!error && count)
		memcpy(states, device->bar + region->offset + first * sizeof(*states), count * sizeof(*states));
	return error;
}

static const char *const class_names[TUTTI_CLASSES] = {
	"move", "load", "store", "matrix32", "matrix64", "compare", "jump", "other",
};

static const char *const resource_names[TUTTI_RESOURCES] = {
	"waves", "scalar", "vector", "shared", "barriers", "ctas",
};

const char *tutti_class_name(unsigned tutti_class)
{
	return tutti_class < TUTTI_CLASSES ? class_names[tutti_class] : NULL;
}

const char *tutti_resource_name(unsigned resource)
{
	return resource < TUTTI_RESOURCES ? resource_names[resource] : NULL;
}

/* ---- weights ---- */

int tutti_weights_apply(struct tutti_device *device, const struct tutti_weights *weights)
{
	int error = weights ? 0 : -EINVAL;

	for (uint32_t i = 0; i < TUTTI_RESOURCES && !error; i++)
		error = tutti_device_policy(device, TUTTI_POLICY_REMAINING_WEIGHT,
					    i << 24 | (weights->remaining[i] & 0xffffff));
	for (uint32_t i = 0; i < TUTTI_CLASSES && !error; i++)
		error = tutti_device_policy(device, TUTTI_POLICY_POWER_WEIGHT, i << 24 | (weights->power[i] & 0xffffff));
	return error;
}

int tutti_weights_write(const struct tutti_weights *weights, FILE *file)
{
	if (!weights || !file)
		return -EINVAL;
	fprintf(file, "# weights of remaining resources (RES-13) and of instructions (RES-14)\n");
	for (unsigned i = 0; i < TUTTI_RESOURCES; i++)
		fprintf(file, "remaining %s %u\n", resource_names[i], weights->remaining[i]);
	for (unsigned i = 0; i < TUTTI_CLASSES; i++)
		fprintf(file, "power %s %u\n", class_names[i], weights->power[i]);
	return ferror(file) ? -EIO : 0;
}

static uint32_t *find(uint32_t *weights, const char *const *names, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return &weights[i];
	return NULL;
}

/* Weights that the file does not mention are 0. */
int tutti_weights_read(struct tutti_weights *weights, FILE *file)
{
	char line[256], kind[32], name[32], rest;
	uint32_t *weight;
	unsigned long value;

	if (!weights || !file)
		return -EINVAL;
	memset(weights, 0, sizeof(*weights));
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "#\r\n")] = 0;
		if (!line[strspn(line, " \t")])
			continue;
		if (sscanf(line, "%31s %31s %lu %c", kind, name, &value, &rest) != 3 || value > 0xffffff)
			return -EINVAL;
		weight = NULL;
		if (!strcmp(kind, "remaining"))
			weight = find(weights->remaining, resource_names, TUTTI_RESOURCES, name);
		else if (!strcmp(kind, "power"))
			weight = find(weights->power, class_names, TUTTI_CLASSES, name);
		if (!weight)
			return -EINVAL;
		*weight = (uint32_t)value;
	}
	return ferror(file) ? -EIO : 0;
}
