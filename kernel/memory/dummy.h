/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_DUMMY_H
#define TUTTI_KERNEL_DUMMY_H

#include <linux/mm.h>

vm_fault_t tutti_dummy_fault(struct vm_fault *vmf, struct page **dummy);

#endif
