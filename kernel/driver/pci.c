// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The card on the bus, and the emulated card behind QEMU's ivshmem-doorbell (spec SYS-21). */
#include <linux/dma-mapping.h>
#include <linux/module.h>

#include "base/compat.h"
#include "base/delay.h"
#include "card/card.h"
#include "card/discovery.h"
#include "card/power.h"
#include "driver/drv.h"
#include "driver/life.h"
#include "driver/sleep.h"
#include "driver/sysfs.h"
#include "firmware/channel.h"
#include "firmware/fw.h"
#include "recovery/recovery.h"
#include "recovery/watchdog.h"
#include "report/debugfs.h"
#include "sync/event.h"

/* Placeholder until there is a card with an id of its own. */
#define TUTTI_PCI_VENDOR 0x1e57
#define TUTTI_PCI_DEVICE 0x0001
#define IVSHMEM_VENDOR 0x1af4
#define IVSHMEM_DEVICE 0x1110

#define CARD_BAR 2
#define REGISTER_BAR 0 /* of ivshmem */
#define CARD_DMA_BITS 47

/* Page 0 alone first: what else is where, it says. */
static int tutti_pci_map_card(struct tutti_device *tdev)
{
	struct device *dev = &tdev->pdev->dev;
	void __iomem *page;
	int error;

	tdev->bar = pci_resource_start(tdev->pdev, CARD_BAR);
	tdev->bar_bytes = pci_resource_len(tdev->pdev, CARD_BAR);
	if (tdev->bar_bytes < sizeof(tdev->known))
		return -ENODEV;
	/* not by pci_request_region(), which newer kernels do not undo when the driver lets go of the device */
	if (!devm_request_mem_region(dev, tdev->bar, tdev->bar_bytes, "tutti"))
		return -EBUSY;
	page = devm_ioremap(dev, tdev->bar, sizeof(tdev->known));
	if (!page)
		return -ENOMEM;
	memcpy_fromio(&tdev->known, page, sizeof(tdev->known));
	devm_iounmap(dev, page);
	error = tutti_discovery_check(tdev);
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

static irqreturn_t tutti_pci_irq_thread(int irq, void *data)
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

static int tutti_pci_request_irqs(struct tutti_device *tdev)
{
	u32 wanted = min3(tdev->known.msix_vectors, TUTTI_MAX_VECTORS, num_online_cpus() * 4 + 1);
	int vectors = pci_alloc_irq_vectors(tdev->pdev, 1, wanted, PCI_IRQ_MSIX), i, error;

	if (vectors < 0)
		return vectors;
	tdev->vectors = vectors;
	for (i = 0; i < vectors; i++) {
		tdev->irq[i].tdev = tdev;
		tdev->irq[i].vector = i;
		error = request_threaded_irq(pci_irq_vector(tdev->pdev, i), NULL, tutti_pci_irq_thread, IRQF_ONESHOT,
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

static void tutti_pci_free_irqs(struct tutti_device *tdev)
{
	u32 i;

	for (i = 0; i < tdev->vectors; i++)
		free_irq(pci_irq_vector(tdev->pdev, i), &tdev->irq[i]);
	pci_free_irq_vectors(tdev->pdev);
}

static int tutti_pci_enable(struct tutti_device *tdev)
{
	struct pci_dev *pdev = tdev->pdev;
	int error = pcim_enable_device(pdev);

	if (!error)
		error = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(CARD_DMA_BITS));
	if (!error) {
		dma_set_max_seg_size(&pdev->dev, UINT_MAX); /* page tables have no segments */
		error = tutti_pci_map_card(tdev);
	}
	if (error)
		return error;
	pci_set_master(pdev);
	return 0;
}

static int tutti_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct tutti_device *tdev;
	int error;

	tdev = devm_drm_dev_alloc(&pdev->dev, &tutti_drm_driver, struct tutti_device, drm);
	if (IS_ERR(tdev))
		return PTR_ERR(tdev);
	tdev->pdev = pdev;
	tdev->ivshmem = pdev->vendor == IVSHMEM_VENDOR && pdev->device == IVSHMEM_DEVICE;
	pci_set_drvdata(pdev, tdev);
	error = tutti_pci_enable(tdev);
	if (error)
		return error;
	error = tutti_life_init(tdev);
	if (error)
		goto fini;
	error = tutti_pci_request_irqs(tdev);
	if (error)
		goto fini;
	error = tutti_life_start(tdev);
	if (error)
		goto free_irqs;
	error = drm_dev_register(&tdev->drm, 0);
	if (error)
		goto free_irqs;
	error = tutti_sysfs_init(tdev);
	if (error)
		goto unplug;
	tutti_card_save(tdev);
	tutti_debugfs_init(tutti_accel_minor(&tdev->drm));
	tutti_watchdog_start(tdev);
	tutti_power_start(tdev);
	drm_info(&tdev->drm, "%s: %u SMs, %llu MiB, firmware %u.%u, %u vectors\n", tdev->known.name, tdev->known.sms,
		 tdev->known.memory_bytes >> 20, TUTTI_VERSION_MAJOR(tdev->firmware_version),
		 TUTTI_VERSION_MINOR(tdev->firmware_version), tdev->vectors);
	return 0;

unplug:
	tutti_power_start(tdev);
	tutti_life_unplug(tdev); /* somebody may have opened it */
	tutti_pci_free_irqs(tdev);
	return error;
free_irqs:
	tutti_pci_free_irqs(tdev);
fini:
	tutti_life_fini(tdev);
	return error;
}

static void tutti_pci_remove(struct pci_dev *pdev)
{
	struct tutti_device *tdev = pci_get_drvdata(pdev);

	tutti_life_unplug(tdev);
	tutti_sysfs_fini(tdev);
	tutti_pci_free_irqs(tdev);
}

/* Processes may still be there, and memory is somebody else's soon: the card stops now. */
static void tutti_pci_shutdown(struct pci_dev *pdev)
{
	struct tutti_device *tdev = pci_get_drvdata(pdev);

	tutti_watchdog_stop(tdev);
	tutti_recovery_stop(tdev);
	tutti_channel_close(tdev);
	tutti_fw_stop(tdev);
	pci_clear_master(pdev);
}

/* ---- reset of the function, errors of the bus ---- */

static void tutti_pci_reset_prepare(struct pci_dev *pdev)
{
	tutti_recovery_reset_prepare(pci_get_drvdata(pdev));
}

static void tutti_pci_reset_done(struct pci_dev *pdev)
{
	tutti_card_save(pci_get_drvdata(pdev));
	tutti_recovery_reset_done(pci_get_drvdata(pdev));
}

/* What the link itself repairs costs nothing. */
static pci_ers_result_t tutti_pci_error_detected(struct pci_dev *pdev, pci_channel_state_t state)
{
	struct tutti_device *tdev = pci_get_drvdata(pdev);

	if (state == pci_channel_io_normal)
		return PCI_ERS_RESULT_CAN_RECOVER;
	tutti_recovery_bus_frozen(tdev);
	if (state == pci_channel_io_frozen)
		return PCI_ERS_RESULT_NEED_RESET;
	tutti_recovery_bus_back(tdev, -ENODEV);
	return PCI_ERS_RESULT_DISCONNECT;
}

static pci_ers_result_t tutti_pci_slot_reset(struct pci_dev *pdev)
{
	struct tutti_device *tdev = pci_get_drvdata(pdev);

	pci_restore_state(pdev);
	tutti_card_save(tdev);
	if (tutti_card_is_there(tdev))
		return PCI_ERS_RESULT_RECOVERED;
	tutti_recovery_bus_back(tdev, -ENODEV);
	return PCI_ERS_RESULT_DISCONNECT;
}

static void tutti_pci_resume(struct pci_dev *pdev)
{
	tutti_recovery_bus_back(pci_get_drvdata(pdev), 0);
}

static const struct pci_error_handlers error_handlers = {
	.error_detected = tutti_pci_error_detected,
	.slot_reset = tutti_pci_slot_reset,
	.resume = tutti_pci_resume,
	.reset_prepare = tutti_pci_reset_prepare,
	.reset_done = tutti_pci_reset_done,
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
	.probe = tutti_pci_probe,
	.remove = tutti_pci_remove,
	.shutdown = tutti_pci_shutdown,
	.dev_groups = tutti_sysfs_groups,
	.err_handler = &error_handlers,
	.driver.pm = pm_ptr(&tutti_sleep_ops),
};

static int __init tutti_pci_init(void)
{
	int error;

	tutti_delay_init();
	error = pci_register_driver(&tutti_pci_driver);
	if (error)
		tutti_delay_fini();
	return error;
}
module_init(tutti_pci_init);

static void __exit tutti_pci_exit(void)
{
	pci_unregister_driver(&tutti_pci_driver);
	tutti_delay_fini();
}
module_exit(tutti_pci_exit);

MODULE_DESCRIPTION("Tutti PCIe FPGA compute accelerator");
MODULE_AUTHOR("The Tutti authors");
MODULE_LICENSE("Dual MIT/GPL");
