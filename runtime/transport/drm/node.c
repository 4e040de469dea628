// SPDX-License-Identifier: MIT
/* Finds the device node of the card, and its address on the PCI bus. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <drm.h>

#include "transport/drm/drm.h"

#define NODES 64
static bool is_tutti(int fd)
{
	char name[16] = "";
	struct drm_version version = {.name = name, .name_len = sizeof(name) - 1};

	return !ioctl(fd, DRM_IOCTL_VERSION, &version) && !strcmp(name, "tutti");
}

static int open_path(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd >= 0 && !is_tutti(fd)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int drm_open_node(const char *name)
{
	static const char *const forms[] = {"/dev/accel/accel%u", "/dev/dri/renderD%u"};
	const char *path = name ? strchr(name, ':') : NULL;
	char text[32];

	if (path)
		return open_path(path + 1);
	for (unsigned form = 0; form < 2; form++) {
		for (unsigned i = 0; i < NODES; i++) {
			int fd;

			snprintf(text, sizeof(text), forms[form], i + (form ? 128 : 0));
			fd = open_path(text);
			if (fd >= 0)
				return fd;
		}
	}
	return -1;
}

/* In sysfs, the link `device` of the node leads to the directory of the PCI device. */
int drm_pci_address(struct tutti_device *device, char *address, size_t bytes)
{
	struct drm_card *card = drm_card_of(device);
	char path[64], target[256];
	const char *name;
	struct stat stat;
	ssize_t n;

	if (fstat(card->fd, &stat))
		return -errno;
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device", major(stat.st_rdev), minor(stat.st_rdev));
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return -ENOTSUP;
	target[n] = 0;
	name = strrchr(target, '/');
	name = name ? name + 1 : target;
	if (strlen(name) >= bytes)
		return -ENOSPC;
	memcpy(address, name, strlen(name) + 1);
	return 0;
}
