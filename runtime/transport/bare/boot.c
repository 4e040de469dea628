// SPDX-License-Identifier: MIT
/* Loads the firmware image, boots the card and checks versions (spec SYS-05). */
#include "transport/bare/boot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/folder.h"
#include "base/say.h"
#include "device/wait.h"
#include "image/image.h"
#include "tutti/reference.h"

#define BOOT_TIMEOUT_NS 5000000000ull

static bool region_ok(const struct tutti_region *region, uint64_t window, uint32_t least)
{
	return !(region->offset & 63) && region->offset <= window &&
	       region->bytes <= window - region->offset && region->bytes >= least;
}

static bool regions_ok(const struct tutti_discovery *d)
{
	return region_ok(&d->control, d->window_bytes, sizeof(struct tutti_control)) &&
	       region_ok(&d->status, d->window_bytes, sizeof(struct tutti_status)) &&
	       region_ok(&d->host_ring, d->window_bytes, sizeof(struct tutti_message)) &&
	       region_ok(&d->card_ring, d->window_bytes, sizeof(struct tutti_message)) &&
	       region_ok(&d->log, d->window_bytes, sizeof(struct tutti_log)) &&
	       region_ok(&d->crash, d->window_bytes, sizeof(struct tutti_crash)) &&
	       region_ok(&d->counters, d->window_bytes, TUTTI_COUNTERS * sizeof(uint64_t)) &&
	       region_ok(&d->doorbells, d->window_bytes, d->max_queues * TUTTI_PAGE_SIZE);
}

static bool memory_ok(const struct tutti_discovery *d, size_t bar_bytes)
{
	return d->window_bytes <= d->aperture && d->aperture <= bar_bytes &&
	       d->aperture_bytes <= bar_bytes - d->aperture && d->reserved_bytes <= d->aperture_bytes &&
	       d->reserved_bytes <= d->memory_bytes && !(d->reserved_bytes & (TUTTI_PAGE_SIZE - 1));
}

static bool limits_ok(const struct tutti_discovery *d)
{
	uint32_t min = d->ring_packets_min, max = d->ring_packets_max;

	return d->max_queues && d->max_queues <= TUTTI_MAX_QUEUES && d->max_contexts >= 2 &&
	       d->max_rsbs <= TUTTI_MAX_RSBS && d->sms && d->sms <= TUTTI_MAX_SMS && d->shared_block_bytes &&
	       min && !(min & (min - 1)) && max >= min && !(max & (max - 1));
}

int boot_check_card(struct tutti_device *device, size_t bar_bytes)
{
	struct tutti_discovery *known = &device->known;

	memcpy(known, device->bar, sizeof(*known));
	if (known->magic != TUTTI_DISCOVERY_MAGIC) {
		say(known->magic == UINT64_MAX ? "no card: discovery reads all ones"
					       : "no card: wrong magic");
		return -ENODEV;
	}
	if (!contract_holds("the card", known->contract_min, known->contract_max))
		return -EPROTO;
	if (known->bytes < sizeof(*known) || !regions_ok(known) || !memory_ok(known, bar_bytes) ||
	    !limits_ok(known)) {
		say("the card's discovery data is not consistent");
		return -EPROTO;
	}
	known->name[sizeof(known->name) - 1] = 0;
	device->control = (void *)(device->bar + known->control.offset);
	device->status = (void *)(device->bar + known->status.offset);
	return 0;
}

/*
 * Looks from the library's own folder first: in a build tree, then below the prefix under which library or program are
 * installed (lib, lib/ARCHITECTURE or bin); then where the kernel looks.
 */
static FILE *open_default_image(const char *name, char *path, size_t bytes)
{
	static const char *const beside[] = {"/firmware/",	 "/../firmware/",	"/../../firmware/",
					     "/firmware/tutti/", "/../firmware/tutti/", "/../lib/firmware/tutti/"};
	static const char *const installed[] = {"/usr/local/lib/firmware/tutti/", "/lib/firmware/tutti/"};
	char library[PATH_MAX];
	FILE *file;

	if (own_folder(library)) {
		for (unsigned i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
			snprintf(path, bytes, "%s%s%s", library, beside[i], name);
			file = fopen(path, "re");
			if (file)
				return file;
		}
	}
	for (unsigned i = 0; i < sizeof(installed) / sizeof(installed[0]); i++) {
		snprintf(path, bytes, "%s%s", installed[i], name);
		file = fopen(path, "re");
		if (file)
			return file;
	}
	return NULL;
}

static FILE *open_image(const char *name, uint32_t sms, char *path, size_t bytes)
{
	FILE *file;

	if (!name || !*name)
		name = getenv("TUTTI_FIRMWARE");
	if (name && *name) {
		snprintf(path, bytes, "%s", name);
		file = fopen(path, "re");
	} else {
		snprintf(path, bytes, "%s", tutti_image_name(sms));
		file = open_default_image(tutti_image_name(sms), path, bytes);
	}
	if (!file)
		say("firmware %s: not found (TUTTI_FIRMWARE names another)", path);
	return file;
}

/* In reserved memory the image lies between the RSBs and what is the firmware's own. */
static int load_image(struct tutti_device *device, FILE *file, const char *path)
{
	const struct tutti_discovery *known = &device->known;
	uint64_t offset = ((uint64_t)known->max_rsbs * sizeof(struct tutti_rsb) + 4095) & ~4095ull;
	uint64_t room = tutti_image_room(known, offset);
	uint8_t *image = device->bar + known->aperture + offset;
	size_t bytes = fread(image, 1, room, file);
	unsigned bad;

	if (ferror(file)) {
		say("firmware %s: cannot be read", path);
		return -EIO;
	}
	bad = image_check(image, bytes, known->local_bytes, TUTTI_CONTRACT_VERSION, TUTTI_CONTRACT_VERSION);
	if (bad) {
		say("firmware %s: %s", path, image_error(bad));
		if (bad == TUTTI_IMAGE_BAD_VERSION)
			contract_holds(path, ((struct tutti_image *)image)->contract_min,
				       ((struct tutti_image *)image)->contract_max);
		return bad == TUTTI_IMAGE_BAD_VERSION ? -EPROTO : -EINVAL;
	}
	device->control->image_offset = offset;
	device->control->image_bytes = ((struct tutti_image *)image)->file_bytes;
	return 0;
}

static bool boot_satisfied(const struct wait *wait)
{
	const struct tutti_status *status = wait->device->status;
	uint32_t state = tutti_load_acquire(&status->state);

	return tutti_load_relaxed(&status->boot_sequence) == wait->device->boot_sequence &&
	       state != TUTTI_STATE_LOADING && state != TUTTI_STATE_OFF;
}

/* This cannot use wait_for(), which would take a card that does not run yet for a dead one. */
static int wait_for_boot(struct tutti_device *device)
{
	struct wait wait = {.device = device, .satisfied = boot_satisfied};
	uint64_t deadline = time_ns() + BOOT_TIMEOUT_NS;

	while (!boot_satisfied(&wait)) {
		uint64_t seen = device->transport->interrupts(device), now = time_ns();

		if (now > deadline)
			return -ETIMEDOUT;
		if ((!device->run || device->run(device, NULL, NULL)) && !boot_satisfied(&wait))
			device->transport->sleep(device, seen, now + 100000);
	}
	return 0;
}

static int boot_result(struct tutti_device *device, int error, const char *path)
{
	const struct tutti_status *status = device->status;

	if (error) {
		say("firmware %s: no answer to boot (state %s)", path, device_state_name(status->state));
		return error;
	}
	if (status->state == TUTTI_STATE_FAILED) {
		say("firmware %s: the card refuses it: %s", path, image_error(status->boot_error));
		return status->boot_error == TUTTI_IMAGE_BAD_VERSION ? -EPROTO : -EIO;
	}
	if (device_dead(device))
		return -EIO;
	return contract_holds("the firmware", status->contract_min, status->contract_max) ? 0 : -EPROTO;
}

int boot_card(struct tutti_device *device, const struct tutti_device_options *options)
{
	char path[PATH_MAX + 64];
	FILE *file = open_image(options->firmware, device->known.sms, path, sizeof(path));
	int error;

	if (!file)
		return -ENOENT;
	error = load_image(device, file, path);
	fclose(file);
	if (error)
		return error;
	device->boot_sequence = device->control->boot_sequence + 1;
	if (!device->boot_sequence)
		device->boot_sequence = 1;
	tutti_store_release(&device->control->boot_sequence, device->boot_sequence);
	tutti_fence();
	device->transport->kick(device);
	return boot_result(device, wait_for_boot(device), path);
}
