/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_MMAP_H
#define TUTTI_KERNEL_MMAP_H

struct file;
struct vm_area_struct;

int tutti_mmap(struct file *filp, struct vm_area_struct *vma);

#endif
