/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_FDINFO_H
#define TUTTI_KERNEL_FDINFO_H

struct drm_file;
struct drm_printer;
struct file;
struct seq_file;

void tutti_fdinfo_show(struct drm_printer *p, struct drm_file *df);
void tutti_fdinfo_show_all(struct seq_file *m, struct file *filp);

#endif
