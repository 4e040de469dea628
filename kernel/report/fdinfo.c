// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What /proc/PID/fdinfo says of an open card (spec SYS-29; the kernel's drm-usage-stats). */
#include <linux/pci.h>
#include <linux/seq_file.h>

#include "memory/account.h"
#include "memory/bo.h"
#include "objects/handle.h"
#include "report/fdinfo.h"

static const char *const places[] = {
	[DRM_TUTTI_PLACE_SYSTEM] = "system",
	[DRM_TUTTI_PLACE_CARD] = "card",
	[DRM_TUTTI_PLACE_USER] = "user",
};

static const char *const kinds[] = {
	[TUTTI_CONTEXT] = "contexts",
	[TUTTI_QUEUE] = "queues",
	[TUTTI_RSB] = "rsbs",
};

/** struct usage - of one kind of memory, in bytes. */
struct usage {
	u64 total, shared, resident;
};

static void tutti_fdinfo_add_usage(struct usage *usage, struct tutti_bo *bo)
{
	u64 size = bo->shmem.base.size;

	usage->total += size;
	/* the DRM core has locks for these that cannot be taken here: statistics */
	if (data_race(bo->shmem.base.handle_count > 1 || bo->shmem.base.dma_buf))
		usage->shared += size;
	/* and for the pages */
	if (bo->placement == DRM_TUTTI_PLACE_CARD || data_race(bo->shmem.pages) || READ_ONCE(bo->sgt))
		usage->resident += size;
}

static void tutti_fdinfo_show_card(struct drm_printer *p, struct tutti_file *file)
{
	struct tutti_device *tdev = file->tdev;
	u64 of_file, of_user;

	mutex_lock(&tdev->memory_lock);
	of_file = file->account->card_bytes;
	of_user = file->account->user->card_bytes;
	mutex_unlock(&tdev->memory_lock);
	drm_printf(p, "tutti-card-of-file:\t%llu of %llu KiB\n", of_file >> 10, tutti_account_file_limit(tdev) >> 10);
	drm_printf(p, "tutti-card-of-user:\t%llu of %llu KiB\n", of_user >> 10, tutti_account_user_limit(tdev) >> 10);
}

/** tutti_fdinfo_show() - the driver's keys. */
void tutti_fdinfo_show(struct drm_printer *p, struct drm_file *df)
{
	struct tutti_file *file = df->driver_priv;
	struct usage usage[ARRAY_SIZE(places)] = {};
	struct drm_gem_object *obj;
	int id, i;

	spin_lock(&df->table_lock);
	idr_for_each_entry(&df->object_idr, obj, id)
		tutti_fdinfo_add_usage(&usage[to_tutti_bo(obj)->placement], to_tutti_bo(obj));
	spin_unlock(&df->table_lock);
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		drm_printf(p, "drm-total-%s:\t%llu KiB\n", places[i], usage[i].total >> 10);
		drm_printf(p, "drm-shared-%s:\t%llu KiB\n", places[i], usage[i].shared >> 10);
		drm_printf(p, "drm-resident-%s:\t%llu KiB\n", places[i], usage[i].resident >> 10);
	}
	tutti_fdinfo_show_card(p, file);
	for (i = 0; i < TUTTI_KINDS; i++)
		drm_printf(p, "tutti-%s:\t%u of %u\n", kinds[i], atomic_read(&file->handle_count[i]),
			   tutti_handle_limit(i));
	drm_printf(p, "tutti-errors:\t%lld\n", (s64)atomic64_read(&file->events));
}

/** tutti_fdinfo_show_all() - for kernels whose DRM core does not print the common keys. */
void tutti_fdinfo_show_all(struct seq_file *m, struct file *filp)
{
	struct drm_file *df = filp->private_data;
	struct tutti_file *file = df->driver_priv;
	struct drm_printer p = drm_seq_file_printer(m);
	int index;

	if (!drm_dev_enter(df->minor->dev, &index))
		return;
	drm_printf(&p, "drm-driver:\t%s\n", df->minor->dev->driver->name);
	drm_printf(&p, "drm-client-id:\t%d\n", file->id);
	drm_printf(&p, "drm-pdev:\t%s\n", pci_name(file->tdev->pdev));
	tutti_fdinfo_show(&p, df);
	drm_dev_exit(index);
}
