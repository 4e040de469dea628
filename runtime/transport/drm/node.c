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

#include "base/say.h"
#include "transport/drm/drm.h"

#define NODES 64
static bool is_tutti(int fd)
{
	char name[16] = "";
	struct drm_version version = {.name = name, .name_len = sizeof(name) - 1};

	return !ioctl(fd, DRM_IOCTL_VERSION, &version) && !strcmp(name, "tutti");
}

/* Where a link in the directory of the node in sysfs leads to: the last part of that path. NULL if there is no such link. */
static const char *link_of(const struct stat *node, const char *link, char *target, size_t bytes)
{
	char path[64], *name;
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/%s", major(node->st_rdev), minor(node->st_rdev), link);
	n = readlink(path, target, bytes - 1);
	if (n < 0)
		return NULL;
	target[n] = 0;
	name = strrchr(target, '/');
	return name ? name + 1 : target;
}

/* Only nodes of tutti.ko are worth a message: what cannot be opened may be the node of any other driver. */
static void say_why(const char *path, int error)
{
	const char *driver;
	char target[256];
	struct stat node;

	driver = stat(path, &node) ? NULL : link_of(&node, "device/driver", target, sizeof(target));
	if (driver && !strcmp(driver, "tutti"))
		say("the card %s cannot be opened: %s", path, strerror(error));
}

static int open_path(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		say_why(path, errno);
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

/* The link `device` leads to the directory of the PCI device. */
int drm_pci_address(struct tutti_device *device, char *address, size_t bytes)
{
	struct drm_card *card = drm_card_of(device);
	const char *name;
	char target[256];
	struct stat node;

	if (fstat(card->fd, &node))
		return -errno;
	name = link_of(&node, "device", target, sizeof(target));
	if (!name)
		return -ENOTSUP;
	if (strlen(name) >= bytes)
		return -ENOSPC;
	memcpy(address, name, strlen(name) + 1);
	return 0;
}
