// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <stdlib.h>
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

bool card_reset(const char *how)
{
	return write_device("card_reset", how);
}

/* ---- the slot ---- */

bool card_soon(bool there)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", pci_address);
	for (unsigned i = 0; i < 6000 && !access(path, F_OK) != there; i++)
		usleep(10000);
	return !access(path, F_OK) == there;
}

static int port_open(void)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/../config", pci_address);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* Where the registers of PCI Express are in its configuration space; 0: it has none. */
static unsigned express_registers(int port)
{
	uint8_t next = 0, id = 0;

	if (pread(port, &next, 1, PCI_CAPABILITY_LIST) != 1)
		return 0;
	while (next && pread(port, &id, 1, next) == 1 && id != PCI_CAP_ID_EXP)
		if (pread(port, &next, 1, next + PCI_CAP_LIST_NEXT) != 1)
			return 0;
	return next;
}

/* The slot without power, for an instant. The kernel learns that it is empty by the interrupt that is allowed then. */
static bool power_cycle(int port, unsigned slot)
{
	uint32_t can = 0;
	uint16_t on, off;

	if (pread(port, &can, sizeof(can), slot + PCI_EXP_SLTCAP) != sizeof(can) || !(can & PCI_EXP_SLTCAP_PCP) ||
	    pread(port, &on, sizeof(on), slot + PCI_EXP_SLTCTL) != sizeof(on))
		return false;
	off = (uint16_t)((on & ~PCI_EXP_SLTCTL_HPIE) | PCI_EXP_SLTCTL_PCC | PCI_EXP_SLTCTL_PWR_IND_OFF);
	return pwrite(port, &off, sizeof(off), slot + PCI_EXP_SLTCTL) == sizeof(off) &&
	       pwrite(port, &on, sizeof(on), slot + PCI_EXP_SLTCTL) == sizeof(on);
}

/*
 * A card that is pulled out reads and writes no memory any more. The process of an emulated one has to be told, since QEMU
 * keeps the connection to it: otherwise it would write to pages that the driver has given back.
 */
static bool goes_silent(void)
{
	return !inject_command || inject("removed");
}

bool card_pull(void)
{
	int port = port_open();
	unsigned slot = port < 0 ? 0 : express_registers(port);
	bool done = slot && goes_silent() && power_cycle(port, slot);

	if (port >= 0)
		close(port);
	return done;
}

/* The kernel makes the new device while this looks for it, and either may be the one who finds the driver. */
bool card_plug(void)
{
	int fd = -1;

	if (system(plug_command) || !card_soon(true))
		return false;
	for (unsigned i = 0; i < 6000 && fd < 0; i++) {
		write_device("driver_override", "tutti");
		write_file("/sys/bus/pci/drivers_probe", pci_address);
		fd = device_open();
		if (fd < 0)
			usleep(10000);
	}
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool card_link(bool up)
{
	int port = port_open();
	uint16_t command = 0;
	bool done = port >= 0 && pread(port, &command, sizeof(command), PCI_COMMAND) == sizeof(command);

	command = (uint16_t)(up ? command | PCI_COMMAND_MEMORY : command & ~PCI_COMMAND_MEMORY);
	done = done && pwrite(port, &command, sizeof(command), PCI_COMMAND) == sizeof(command);
	if (port >= 0)
		close(port);
	return done;
}

/* ---- sleep ---- */

bool can_sleep(void)
{
	return !getuid() && !access("/sys/power/pm_test", W_OK);
}

bool system_sleep(void)
{
	bool good;

	write_file("/sys/module/suspend/parameters/pm_test_delay", "0");
	good = write_file("/sys/power/pm_test", "devices") && write_file("/sys/power/state", "freeze");
	write_file("/sys/power/pm_test", "none");
	return good;
}
