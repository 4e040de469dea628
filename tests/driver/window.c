// SPDX-License-Identifier: MIT
/* Access to the card's control window through its BAR. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver.h"

static volatile uint8_t *map(size_t bytes)
{
	char path[96];
	void *at;
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/resource2", pci_address);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return at == MAP_FAILED ? NULL : at;
}

bool window_open(struct window *window)
{
	volatile uint8_t *at = map(PAGE);

	if (!at)
		return false;
	window->bytes = ((volatile struct tutti_discovery *)at)->window_bytes;
	munmap((void *)at, PAGE);
	at = map(window->bytes);
	if (!at)
		return false;
	window->known = (volatile void *)at;
	window->control = (volatile void *)(at + window->known->control.offset);
	window->status = (volatile void *)(at + window->known->status.offset);
	return true;
}

void window_close(struct window *window)
{
	munmap((void *)window->known, window->bytes);
}
