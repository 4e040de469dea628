// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <linux/delay.h>
#include <linux/firmware.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "probe.h"

#define IMAGE	     "tutti/tutti-fw.bin"
#define DOORBELL     12 /* ivshmem register: peer << 16 | vector; the card is peer 0, its kick vector 0 */
#define POSITION     8	/* ivshmem register: our own peer id */
#define RSB_BYTES    (TUTTI_MAX_RSBS * TUTTI_PAGE_SIZE)

void probe_check(struct probe *probe, bool good, const char *format, ...)
{
	struct va_format text;
	va_list list;

	va_start(list, format);
	text.fmt = format;
	text.va = &list;
	probe->used += scnprintf(probe->text + probe->used, sizeof(probe->text) - probe->used, "%s %d - %pV\n",
				 good ? "ok" : "not ok", ++probe->checks, &text);
	va_end(list);
}

void probe_kick(struct probe *probe)
{
	mb(); /* what was written, before the look at asleep */
	if (probe_status(probe, asleep))
		writel(0, probe->registers + DOORBELL);
}

static irqreturn_t interrupt(int irq, void *data)
{
	struct probe_line *line = data;

	atomic_inc(&line->probe->count[line->vector]);
	if (!line->vector)
		complete(&line->probe->interrupt);
	return IRQ_HANDLED;
}

static int check_window(struct probe *probe)
{
	struct tutti_discovery *known = &probe->known;
	resource_size_t bytes = pci_resource_len(probe->pdev, 2);
	bool inside;

	memcpy_fromio(known, probe->bar, sizeof(*known));
	if (known->magic != TUTTI_DISCOVERY_MAGIC)
		return -ENODEV;
	probe_check(probe, true, "discovery magic");
	probe_check(probe, readl(probe->registers + POSITION) > 0, "the guest is not peer 0");
	probe_check(probe,
		    known->contract_min <= TUTTI_CONTRACT_VERSION && known->contract_max >= TUTTI_CONTRACT_VERSION,
		    "contract version");
	inside = known->window_bytes <= known->aperture && known->aperture + known->aperture_bytes <= bytes;
	probe_check(probe, inside, "window and aperture inside BAR2 (%llu MiB)", (u64)bytes >> 20);
	return inside ? 0 : -EPROTO;
}

static int check_boot(struct probe *probe)
{
	u64 offset = RSB_BYTES, beat;
	u32 sequence = readl(probe_control(probe, boot_sequence)) + 1;
	const struct firmware *image;
	int ms, error = request_firmware(&image, IMAGE, &probe->pdev->dev);

	probe_check(probe, !error, "request_firmware");
	if (error)
		return error;
	memcpy_toio(probe->bar + probe->known.aperture + offset, image->data, image->size);
	writel(0, probe_control(probe, host_ring_tail));
	writel(0, probe_control(probe, card_ring_head));
	writeq(offset, probe_control(probe, image_offset));
	writeq(image->size, probe_control(probe, image_bytes));
	wmb(); /* the image and its address, before the word that starts it */
	writel(sequence ? sequence : 1, probe_control(probe, boot_sequence));
	release_firmware(image);
	/* The state is still that of the previous boot, so it does not say whether the card sleeps. */
	writel(0, probe->registers + DOORBELL);
	for (ms = 0; ms < PROBE_PATIENCE_MS; ms++) {
		if (probe_status(probe, boot_sequence) == sequence && probe_status(probe, state) > TUTTI_STATE_LOADING)
			break;
		usleep_range(1000, 1500);
	}
	error = probe_status(probe, state) == TUTTI_STATE_RUNNING ? 0 : -EIO;
	probe_check(probe, !error, "firmware boots through the control window (%d ms, error %u)", ms,
		    probe_status(probe, boot_error));
	beat = probe_status(probe, heartbeat);
	for (ms = 0; ms < PROBE_PATIENCE_MS && probe_status(probe, heartbeat) == beat; ms += 10)
		msleep(10);
	probe_check(probe, probe_status(probe, heartbeat) != beat, "heartbeat");
	return error;
}

static int start(struct probe *probe)
{
	struct pci_dev *pdev = probe->pdev;
	int error, i;

	error = pcim_enable_device(pdev);
	if (error)
		return error;
	probe->registers = pcim_iomap(pdev, 0, 0);
	probe->bar = pcim_iomap(pdev, 2, 0);
	if (!probe->registers || !probe->bar)
		return -ENOMEM;
	error = check_window(probe);
	if (error)
		return error;
	pci_set_master(pdev);
	error = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(52));
	if (error)
		return error;
	probe->vectors = pci_alloc_irq_vectors(pdev, 1, PROBE_VECTORS, PCI_IRQ_MSIX);
	probe_check(probe, probe->vectors == PROBE_VECTORS, "%d MSI-X vectors", probe->vectors);
	for (i = 0; i < probe->vectors && !error; i++) {
		probe->line[i] = (struct probe_line){ probe, i };
		error = devm_request_irq(&pdev->dev, pci_irq_vector(pdev, i), interrupt, 0, "tutti_probe",
					 &probe->line[i]);
	}
	return error;
}

static int bind(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct probe *probe = devm_kzalloc(&pdev->dev, sizeof(*probe), GFP_KERNEL);
	int error;

	if (!probe)
		return -ENOMEM;
	probe->pdev = pdev;
	init_completion(&probe->interrupt);
	pci_set_drvdata(pdev, probe);
	error = start(probe);
	if (error)
		return error;
	if (!check_boot(probe)) {
		probe_check_channel(probe);
		probe_check_dma(probe);
	}
	return 0;
}

static void unbind(struct pci_dev *pdev)
{
	struct probe *probe = pci_get_drvdata(pdev);
	int i;

	/* To switch the card off, boot without an image: that is refused, and the soft core stays in reset. */
	writeq(0, probe_control(probe, image_bytes));
	wmb(); /* as at boot */
	writel(readl(probe_control(probe, boot_sequence)) + 1, probe_control(probe, boot_sequence));
	writel(0, probe->registers + DOORBELL);
	for (i = 0; i < PROBE_PATIENCE_MS && probe_status(probe, state) != TUTTI_STATE_FAILED; i++)
		usleep_range(1000, 1500);
	for (i = 0; i < probe->vectors; i++)
		devm_free_irq(&pdev->dev, pci_irq_vector(pdev, i), &probe->line[i]);
	pci_free_irq_vectors(pdev);
	pci_clear_master(pdev);
}

static ssize_t ktap_show(struct device *device, struct device_attribute *attribute, char *text)
{
	struct probe *probe = dev_get_drvdata(device);

	return sysfs_emit(text, "%s", probe->text);
}
static DEVICE_ATTR_RO(ktap);

static ssize_t vectors_show(struct device *device, struct device_attribute *attribute, char *text)
{
	struct probe *probe = dev_get_drvdata(device);
	int i, used = 0;

	for (i = 0; i < probe->vectors; i++)
		used += sysfs_emit_at(text, used, "vector %d %d\n", i, atomic_read(&probe->count[i]));
	return used;
}
static DEVICE_ATTR_RO(vectors);

static struct attribute *probe_attrs[] = {&dev_attr_ktap.attr, &dev_attr_vectors.attr, NULL};
ATTRIBUTE_GROUPS(probe);

/* No ids: the driver is bound by driver_override only. */
static const struct pci_device_id ids[] = {{}};

static struct pci_driver probe_driver = {
    .name = "tutti_probe",
    .id_table = ids,
    .probe = bind,
    .remove = unbind,
    .dev_groups = probe_groups,
};
module_pci_driver(probe_driver);
MODULE_DESCRIPTION("Tutti: does the card behind ivshmem answer?");
MODULE_FIRMWARE(IMAGE);
MODULE_LICENSE("Dual MIT/GPL");
