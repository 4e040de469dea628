/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/**
 * DOC: Probe module: does the card behind ivshmem answer?
 *
 * A driver of its own, as small as the contract allows, so that a failure tells
 * card and harness from tutti.ko. It runs its checks when it is bound; their
 * results are the attribute "ktap" of the PCI device.
 */
#ifndef PROBE_H
#define PROBE_H

#include <linux/completion.h>
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/pci.h>

/* Not contract.h: wave.h has a field named current, which is a macro in the kernel. */
#include "tutti/control.h"
#include "tutti/discovery.h"
#include "tutti/message.h"
#include "tutti/mmu.h"

#define PROBE_VECTORS 32
#define PROBE_PATIENCE_MS 60000 /* the guest's clock runs on while a busy host keeps the card waiting */

struct probe {
	struct pci_dev *pdev;
	struct tutti_discovery known;
	u8 __iomem *registers; /* ivshmem BAR 0 */
	u8 __iomem *bar;
	int vectors;
	atomic_t count[PROBE_VECTORS];
	struct probe_line { /* what the handler of each vector is given */
		struct probe *probe;
		int vector;
	} line[PROBE_VECTORS];
	struct completion interrupt; /* vector 0 */
	u32 tail, head;		     /* of the message rings */
	int checks;
	size_t used;
	char text[PAGE_SIZE];
};

/* main */
void probe_check(struct probe *probe, bool good, const char *format, ...) __printf(3, 4);
void probe_kick(struct probe *probe);

static inline u8 __iomem *probe_region(struct probe *probe, const struct tutti_region *region)
{
	return probe->bar + region->offset;
}

#define probe_status(probe, field) \
	readl(probe_region(probe, &(probe)->known.status) + offsetof(struct tutti_status, field))
#define probe_control(probe, field) \
	(probe_region(probe, &(probe)->known.control) + offsetof(struct tutti_control, field))

/* channel */
int probe_request(struct probe *probe, struct tutti_message *message);
void probe_check_channel(struct probe *probe);

/* dma */
void probe_check_dma(struct probe *probe);

#endif
