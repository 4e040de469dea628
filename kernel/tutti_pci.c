// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The card on the bus, and the emulated card behind QEMU's ivshmem-doorbell (spec SYS-21). */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>

#include "compat.h"
#include "tutti_device.h"
#include "tutti_drv.h"
#include "tutti_view.h"

/* Placeholder until there is a card with an id of its own. */
#define TUTTI_PCI_VENDOR 0x1e57
#define TUTTI_PCI_DEVICE 0x0001
#define IVSHMEM_VENDOR 0x1af4
#define IVSHMEM_DEVICE 0x1110

#define CARD_BAR 2
#define REGISTER_BAR 0 /* of ivshmem */
#define CARD_DMA_BITS 47

static bool region_ok(const struct tutti_region *region, u64 window, u64 least, u32 align)
{
	return !(region->offset & (align - 1)) && region->offset <= window &&
	       region->bytes <= window - region->offset && region->bytes >= least;
}

static bool regions_ok(const struct tutti_discovery *d)
{
	u64 w = d->window_bytes;

	return region_ok(&d->control, w, sizeof(struct tutti_control), 64) &&
	       region_ok(&d->status, w, sizeof(struct tutti_status), PAGE_SIZE) &&
	       region_ok(&d->host_ring, w, sizeof(struct tutti_message), 64) &&
	       region_ok(&d->card_ring, w, sizeof(struct tutti_message), 64) &&
	       region_ok(&d->log, w, sizeof(struct tutti_log), 64) &&
	       region_ok(&d->crash, w, sizeof(struct tutti_crash), 64) &&
	       region_ok(&d->counters, w, TUTTI_COUNTERS * sizeof(u64), PAGE_SIZE) &&
	       region_ok(&d->trace, w, 0, 64) &&
	       region_ok(&d->sm_states, w, 0, 64) &&
	       region_ok(&d->rsb_window, w, 0, PAGE_SIZE) &&
	       region_ok(&d->doorbells, w, (u64)d->max_queues * TUTTI_PAGE_SIZE, PAGE_SIZE);
}

static bool memory_ok(const struct tutti_discovery *d, u64 bar_bytes)
{
	return d->window_bytes <= d->aperture && d->aperture <= bar_bytes && PAGE_ALIGNED(d->aperture) &&
	       d->aperture_bytes <= bar_bytes - d->aperture && d->reserved_bytes <= d->aperture_bytes &&
	       d->reserved_bytes <= d->memory_bytes && PAGE_ALIGNED(d->reserved_bytes) &&
	       (u64)d->max_rsbs * sizeof(struct tutti_rsb) <= d->reserved_bytes;
}

static bool limits_ok(const struct tutti_discovery *d)
{
	return d->max_queues && d->max_queues <= TUTTI_MAX_QUEUES && d->max_contexts >= 2 &&
	       d->max_contexts <= TUTTI_MAX_CONTEXTS && d->max_rsbs <= TUTTI_MAX_RSBS && d->sms &&
	       d->sms <= TUTTI_MAX_SMS && d->msix_vectors && is_power_of_2(d->ring_packets_min) &&
	       is_power_of_2(d->ring_packets_max) && d->ring_packets_max >= d->ring_packets_min;
}

/* In the order discovery.h gives. */
static int check_discovery(struct tutti_device *tdev)
{
	struct tutti_discovery *known = &tdev->known;
	struct drm_device *drm = &tdev->drm;

	if (known->magic != TUTTI_DISCOVERY_MAGIC) {
		drm_err(drm, "no card: discovery reads %s (%#llx)\n",
			known->magic == U64_MAX ? "all ones" : known->magic ? "nonsense" : "zero", known->magic);
		return -ENODEV;
	}
	if (known->bytes < sizeof(*known)) {
		drm_err(drm, "discovery data has %u bytes, %zu are needed\n", known->bytes, sizeof(*known));
		return -ENODEV;
	}
	if (!tutti_fw_range_holds(tdev, "the card", known->contract_min, known->contract_max))
		return -ENODEV;
	if (!regions_ok(known) || !memory_ok(known, tdev->bar_bytes) || !limits_ok(known)) {
		drm_err(drm, "the card's discovery data is not consistent\n");
		return -ENODEV;
	}
	known->name[sizeof(known->name) - 1] = 0;
	return 0;
}

/* Page 0 alone first: what else is where, it says. */
static int map_card(struct tutti_device *tdev)
{
	struct device *dev = &tdev->pdev->dev;
	void __iomem *page;
	int error;

	tdev->bar = pci_resource_start(tdev->pdev, CARD_BAR);
	tdev->bar_bytes = pci_resource_len(tdev->pdev, CARD_BAR);
	if (tdev->bar_bytes < sizeof(tdev->known))
		return -ENODEV;
	page = devm_ioremap(dev, tdev->bar, sizeof(tdev->known));
	if (!page)
		return -ENOMEM;
	memcpy_fromio(&tdev->known, page, sizeof(tdev->known));
	devm_iounmap(dev, page);
	error = check_discovery(tdev);
	if (error)
		return error;
	tdev->window = devm_ioremap(dev, tdev->bar, tdev->known.window_bytes);
	tdev->aperture = devm_ioremap_wc(dev, tdev->bar + tdev->known.aperture, tdev->known.aperture_bytes);
	if (tdev->ivshmem)
		tdev->registers = pcim_iomap(tdev->pdev, REGISTER_BAR, 0);
	if (!tdev->window || !tdev->aperture || (tdev->ivshmem && !tdev->registers))
		return -ENOMEM;
	return 0;
}

static irqreturn_t irq_thread(int irq, void *data)
{
	struct tutti_irq *vector = data;
	struct tutti_device *tdev = vector->tdev;
	int index;

	if (!drm_dev_enter(&tdev->drm, &index))
		return IRQ_HANDLED;
	if (!vector->vector || tdev->vectors == 1)
		tutti_channel_poll(tdev);
	tutti_event_vector(tdev, vector->vector);
	drm_dev_exit(index);
	return IRQ_HANDLED;
}

static int request_irqs(struct tutti_device *tdev)
{
	u32 wanted = min3(tdev->known.msix_vectors, TUTTI_MAX_VECTORS, num_online_cpus() * 4 + 1);
	int vectors = pci_alloc_irq_vectors(tdev->pdev, 1, wanted, PCI_IRQ_MSIX), i, error;

	if (vectors < 0)
		return vectors;
	tdev->vectors = vectors;
	for (i = 0; i < vectors; i++) {
		tdev->irq[i].tdev = tdev;
		tdev->irq[i].vector = i;
		error = request_threaded_irq(pci_irq_vector(tdev->pdev, i), NULL, irq_thread, IRQF_ONESHOT,
					     "tutti", &tdev->irq[i]);
		if (error)
			goto free;
	}
	return 0;
free:
	while (i--)
		free_irq(pci_irq_vector(tdev->pdev, i), &tdev->irq[i]);
	pci_free_irq_vectors(tdev->pdev);
	return error;
}

static void free_irqs(struct tutti_device *tdev)
{
	u32 i;

	for (i = 0; i < tdev->vectors; i++)
		free_irq(pci_irq_vector(tdev->pdev, i), &tdev->irq[i]);
	pci_free_irq_vectors(tdev->pdev);
}

static int enable(struct tutti_device *tdev)
{
	struct pci_dev *pdev = tdev->pdev;
	int error = pcim_enable_device(pdev);

	if (!error)
		error = pci_request_region(pdev, CARD_BAR, "tutti");
	if (!error)
		error = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(CARD_DMA_BITS));
	if (!error) {
		dma_set_max_seg_size(&pdev->dev, UINT_MAX); /* page tables have no segments */
		error = map_card(tdev);
	}
	if (error)
		return error;
	pci_set_master(pdev);
	return 0;
}

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct tutti_device *tdev;
	int error;

	tdev = devm_drm_dev_alloc(&pdev->dev, &tutti_drm_driver, struct tutti_device, drm);
	if (IS_ERR(tdev))
		return PTR_ERR(tdev);
	tdev->pdev = pdev;
	tdev->ivshmem = pdev->vendor == IVSHMEM_VENDOR && pdev->device == IVSHMEM_DEVICE;
	pci_set_drvdata(pdev, tdev);
	error = enable(tdev);
	if (error)
		return error;
	error = tutti_device_init(tdev);
	if (error)
		goto fini;
	error = request_irqs(tdev);
	if (error)
		goto fini;
	error = tutti_device_start(tdev);
	if (error)
		goto free_irqs;
	error = drm_dev_register(&tdev->drm, 0);
	if (error)
		goto free_irqs;
	tutti_debugfs_init(tutti_accel_minor(&tdev->drm));
	tutti_recovery_start(tdev);
	tutti_pm_start(tdev);
	drm_info(&tdev->drm, "%s: %u SMs, %llu MiB, firmware %u.%u, %u vectors\n", tdev->known.name, tdev->known.sms,
		 tdev->known.memory_bytes >> 20, TUTTI_VERSION_MAJOR(tdev->firmware_version),
		 TUTTI_VERSION_MINOR(tdev->firmware_version), tdev->vectors);
	return 0;

free_irqs:
	free_irqs(tdev);
fini:
	tutti_device_fini(tdev);
	return error;
}

static void remove(struct pci_dev *pdev)
{
	struct tutti_device *tdev = pci_get_drvdata(pdev);

	tutti_device_unplug(tdev);
	free_irqs(tdev);
}

/* Processes may still be there, and memory is somebody else's soon: the card stops now. */
static void shutdown(struct pci_dev *pdev)
{
	struct tutti_device *tdev = pci_get_drvdata(pdev);

	tutti_recovery_stop(tdev);
	tutti_channel_pre_reset(tdev);
	tutti_fw_stop(tdev);
	pci_clear_master(pdev);
}

/* ---- reset of the function ---- */

/* Not the one that waits for the device's lock: its holder may wait for us. */
static int try_reset(struct pci_dev *pdev)
{
	int error = -EAGAIN, left;

	for (left = 20; error == -EAGAIN && left; left--) {
		error = pci_try_reset_function(pdev);
		if (error == -EAGAIN)
			msleep(100);
	}
	return error;
}

/*
 * tutti_pci_reset() - function-level reset, by whatever way the bus has.
 *
 * With reset_sem written. Card memory is lost. QEMU's ivshmem has no reset of its own: unless
 * a bridge above it does it, the stop is all there is.
 */
int tutti_pci_reset(struct tutti_device *tdev)
{
	int error;

	atomic64_inc(&tdev->memory_generation);
	tutti_view_revoke_all(tdev);
	tutti_fw_stop(tdev);
	tdev->resetter = current;
	error = try_reset(tdev->pdev);
	tdev->resetter = NULL;
	drm_info(&tdev->drm, "reset of the function: %d\n", error);
	return error == -ENOTTY && tdev->ivshmem ? 0 : error;
}

static void reset_prepare(struct pci_dev *pdev)
{
	tutti_recovery_reset_prepare(pci_get_drvdata(pdev));
}

static void reset_done(struct pci_dev *pdev)
{
	tutti_recovery_reset_done(pci_get_drvdata(pdev));
}

static const struct pci_error_handlers error_handlers = {
	.reset_prepare = reset_prepare,
	.reset_done = reset_done,
};

/* ---- the driver ---- */

/* ivshmem is not ours in general: its id is not here, only driver_override binds it, and the magic decides. */
static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(TUTTI_PCI_VENDOR, TUTTI_PCI_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, ids);

static struct pci_driver tutti_pci_driver = {
	.name = "tutti",
	.id_table = ids,
	.probe = probe,
	.remove = remove,
	.shutdown = shutdown,
	.dev_groups = tutti_sysfs_groups,
	.err_handler = &error_handlers,
	.driver.pm = pm_ptr(&tutti_pm_ops),
};
module_pci_driver(tutti_pci_driver);

MODULE_DESCRIPTION("Tutti PCIe FPGA compute accelerator");
MODULE_AUTHOR("The Tutti authors");
MODULE_LICENSE("Dual MIT/GPL");
