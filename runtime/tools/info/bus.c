/* SPDX-License-Identifier: MIT */
/* What the card looks like on the bus, by libpci (spec SYS-45). */
#include <pci/pci.h>
#include <stdio.h>
#include <string.h>

#include "info/info.h"

/** struct link - of a PCI Express device; 0 = not known. */
struct link {
	unsigned speed, width, most_speed, most_width;
	unsigned errors; /* PCI_EXP_DEVSTA bits */
};

static const char *speed_name(unsigned speed)
{
	static const char *const names[] = { "?", "2.5", "5", "8", "16", "32", "64" };

	return speed < sizeof(names) / sizeof(*names) ? names[speed] : "?";
}

/* Bits of the device status register: 0 correctable, 1 non-fatal, 2 fatal, 3 unsupported request. */
static const char *error_names(unsigned errors)
{
	static char text[64];

	snprintf(text, sizeof(text), "%s%s%s%s", errors & 1 ? " correctable" : "", errors & 2 ? " non-fatal" : "",
		 errors & 4 ? " fatal" : "", errors & 8 ? " unsupported-request" : "");
	return errors & 15 ? text + 1 : "none";
}

static struct link read_link(struct pci_dev *dev)
{
	struct pci_cap *cap = pci_find_cap(dev, PCI_CAP_ID_EXP, PCI_CAP_NORMAL);
	struct link link = { 0 };
	uint32_t most;
	uint16_t now;

	if (!cap)
		return link;
	most = pci_read_long(dev, (int)cap->addr + PCI_EXP_LNKCAP);
	now = pci_read_word(dev, (int)cap->addr + PCI_EXP_LNKSTA);
	link.most_speed = most & PCI_EXP_LNKCAP_SPEED;
	link.most_width = (most & PCI_EXP_LNKCAP_WIDTH) >> 4;
	link.speed = now & PCI_EXP_LNKSTA_SPEED;
	link.width = (now & PCI_EXP_LNKSTA_WIDTH) >> 4;
	link.errors = pci_read_word(dev, (int)cap->addr + PCI_EXP_DEVSTA) & 15;
	return link;
}

static bool degraded(const struct link *link)
{
	return link->speed < link->most_speed || link->width < link->most_width;
}

static void text_link(const struct link *link)
{
	if (!link->most_width) {
		puts("               link: unknown (no PCI Express, or not root)");
		return;
	}
	printf("               link: %s GT/s x%u of %s GT/s x%u%s, errors: %s\n", speed_name(link->speed), link->width,
	       speed_name(link->most_speed), link->most_width, degraded(link) ? ": DEGRADED" : "",
	       error_names(link->errors));
}

static void text_device(struct pci_access *access, struct pci_dev *dev, const char *address)
{
	struct link link = read_link(dev);
	char name[256] = "";

	printf("bus            %s [%04x:%04x] %s\n", address, dev->vendor_id, dev->device_id,
	       pci_lookup_name(access, name, sizeof(name), PCI_LOOKUP_VENDOR | PCI_LOOKUP_DEVICE, dev->vendor_id,
			       dev->device_id));
	text_link(&link);
	for (unsigned i = 0; i < 6; i++)
		if (dev->size[i])
			printf("               BAR%u: %llu %s at %#llx\n", i,
			       (unsigned long long)(dev->size[i] < 1024 ? dev->size[i] : dev->size[i] >> 10),
			       dev->size[i] < 1024 ? "bytes" : "KiB",
			       (unsigned long long)(dev->base_addr[i] & PCI_ADDR_MEM_MASK));
}

static json_t *json_bars(const struct pci_dev *dev)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < 6; i++)
		if (dev->size[i])
			json_array_append_new(list, json_pack("{s:i,s:I,s:I}", "bar", (int)i, "bytes", (json_int_t)dev->size[i],
							      "at", (json_int_t)(dev->base_addr[i] & PCI_ADDR_MEM_MASK)));
	return list;
}

static json_t *json_device(struct pci_dev *dev, const char *address)
{
	struct link link = read_link(dev);
	json_t *pci = json_pack("{s:s,s:i,s:i}", "address", address, "vendor", dev->vendor_id, "device", dev->device_id);

	if (link.most_width)
		json_object_set_new(pci, "link",
				    json_pack("{s:s,s:i,s:s,s:i,s:b,s:i}", "speed", speed_name(link.speed), "width",
					      (int)link.width, "most_speed", speed_name(link.most_speed), "most_width",
					      (int)link.most_width, "degraded", degraded(&link), "errors",
					      (int)link.errors));
	json_object_set_new(pci, "bars", json_bars(dev));
	return pci;
}

/* The card as libpci sees it, as text or into @json. */
static void show(struct tutti_device *device, json_t **json)
{
	struct pci_access *access;
	unsigned domain, bus, slot, function;
	struct pci_dev *dev;
	char address[32];

	if (tutti_device_pci_address(device, address, sizeof(address)) ||
	    sscanf(address, "%x:%x:%x.%u", &domain, &bus, &slot, &function) != 4)
		return;
	access = pci_alloc();
	pci_init(access);
	dev = pci_get_dev(access, (int)domain, (int)bus, (int)slot, (int)function);
	if (dev) {
		pci_fill_info(dev, PCI_FILL_IDENT | PCI_FILL_BASES | PCI_FILL_SIZES | PCI_FILL_CAPS);
		if (json)
			*json = json_device(dev, address);
		else
			text_device(access, dev, address);
		pci_free_dev(dev);
	}
	pci_cleanup(access);
}

void bus_print(struct tutti_device *device)
{
	show(device, NULL);
}

json_t *bus_json(struct tutti_device *device)
{
	json_t *json = NULL;

	show(device, &json);
	return json;
}
