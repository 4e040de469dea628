/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_DEBUGFS_H
#define TUTTI_KERNEL_DEBUGFS_H

struct drm_minor;

void tutti_debugfs_init(struct drm_minor *minor);

#endif
