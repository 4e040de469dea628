// SPDX-License-Identifier: MIT
#include <string.h>
#include <unistd.h>

#include "rig.h"

static bool write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return false;
	fputs(text, file);
	return !fclose(file);
}

static bool write_device(const char *name, const char *text)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", pci_address, name);
	return write_file(path, text);
}

bool driver_unbind(void)
{
	return write_file("/sys/bus/pci/drivers/tutti/unbind", pci_address);
}

bool driver_bind(void)
{
	return write_file("/sys/bus/pci/drivers/tutti/bind", pci_address);
}

bool card_remove(void)
{
	return write_device("remove", "1");
}

/* The new device has lost its driver_override; only a real card is bound by its PCI id. */
bool card_rescan(void)
{
	char path[96];

	if (!write_file("/sys/bus/pci/rescan", "1") || !write_device("driver_override", "tutti"))
		return false;
	write_file("/sys/bus/pci/drivers_probe", pci_address);
	snprintf(path, sizeof(path), "/sys/bus/pci/drivers/tutti/%s", pci_address);
	return !access(path, F_OK);
}
