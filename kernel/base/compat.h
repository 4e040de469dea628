/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The only file that knows that kernels differ; the conditions come from Kbuild's probes. */
#ifndef TUTTI_COMPAT_H
#define TUTTI_COMPAT_H

#include <linux/eventfd.h>
#include <linux/mm.h>
#include <linux/pm_runtime.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_prime.h>
#ifdef TUTTI_HAVE_ACCEL
#include <drm/drm_accel.h>
#define TUTTI_DRIVER_NODE DRIVER_COMPUTE_ACCEL
#define tutti_drm_open accel_open
/* The DRM core calls debugfs_init() for the other minors only. */
#define tutti_accel_minor(drm) ((drm)->accel)
#else
#define TUTTI_DRIVER_NODE DRIVER_RENDER
#define tutti_drm_open drm_open
static inline struct drm_minor *tutti_accel_minor(struct drm_device *drm)
{
	return NULL;
}
#endif

#ifdef TUTTI_HAVE_UNSIGNED_OFFSET
#define TUTTI_FOP_FLAGS .fop_flags = FOP_UNSIGNED_OFFSET,
#else
#define TUTTI_FOP_FLAGS
#endif

/* Gone from later kernels; where it is, it must be set. */
#ifdef TUTTI_HAVE_DRIVER_DATE
#define TUTTI_DRIVER_DATE .date = "20261121",
#else
#define TUTTI_DRIVER_DATE
#endif

/* The DRM core prints the head, or we do (report/fdinfo.c). */
#ifdef TUTTI_HAVE_SHOW_FDINFO
#define tutti_fop_show_fdinfo drm_show_fdinfo
#define TUTTI_DRIVER_FDINFO .show_fdinfo = tutti_fdinfo_show,
#else
#define tutti_fop_show_fdinfo tutti_fdinfo_show_all
#define TUTTI_DRIVER_FDINFO
#endif

/* Later kernels do it anyway. */
#ifdef TUTTI_HAVE_PRIME_MMAP
#define TUTTI_PRIME_MMAP .gem_prime_mmap = drm_gem_prime_mmap,
#else
#define TUTTI_PRIME_MMAP
#endif

static inline void tutti_vm_flags(struct vm_area_struct *vma, unsigned long set, unsigned long clear)
{
#ifdef TUTTI_HAVE_VM_FLAGS_SET
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

/* A device that has been used lately counts, too. */
static inline int tutti_pm_get_if_active(struct device *dev)
{
#ifdef TUTTI_HAVE_GET_IF_ACTIVE1
	return pm_runtime_get_if_active(dev);
#else
	return pm_runtime_get_if_active(dev, true);
#endif
}

static inline void tutti_eventfd_signal(struct eventfd_ctx *eventfd)
{
#ifdef TUTTI_HAVE_EVENTFD_SIGNAL1
	eventfd_signal(eventfd);
#else
	eventfd_signal(eventfd, 1);
#endif
}

#endif
