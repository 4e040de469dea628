// SPDX-License-Identifier: MIT
/* What the kernel reports beside the results of calls: events for udev, and its log. */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "driver.h"

int uevents_open(void)
{
	struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = 1};
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* An event is a list of texts, each with its end; the first says what happened to which node. */
bool hears_wedged(int uevents)
{
	char event[4096];
	ssize_t bytes;

	while ((bytes = recv(uevents, event, sizeof(event) - 1, 0)) > 0) {
		event[bytes] = 0;
		if (!strstr(event, "change@"))
			continue;
		for (char *at = event; at < event + bytes; at += strlen(at) + 1)
			if (!strcmp(at, "WEDGED=rebind,bus-reset"))
				return true;
	}
	return false;
}

int log_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

/* A read gives one record; EPIPE: some have been overwritten. */
bool log_says(int log, const char *text)
{
	char record[4096];
	bool says = false;
	ssize_t bytes;

	while ((bytes = read(log, record, sizeof(record) - 1)) > 0 || (bytes < 0 && errno == EPIPE)) {
		record[bytes > 0 ? bytes : 0] = 0;
		says |= strstr(record, text) != NULL;
	}
	return says;
}
