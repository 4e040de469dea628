// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The page of plain memory that a mapping shows when what it showed has been revoked: a program never gets SIGBUS. */
#include "memory/dummy.h"

/**
 * tutti_dummy_fault() - put the dummy page in the place of a fault.
 * @vmf: the fault
 * @dummy: where the owner keeps the page; it is allocated by the first fault, zeroed, and freed by the owner
 *
 * The page belongs to one mapped thing alone, so nothing leaks through it. Return: as a fault handler does.
 */
vm_fault_t tutti_dummy_fault(struct vm_fault *vmf, struct page **dummy)
{
	struct vm_area_struct *vma = vmf->vma;
	struct page *page = READ_ONCE(*dummy), *earlier;

	if (!page) {
		page = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!page)
			return VM_FAULT_OOM;
		earlier = cmpxchg(dummy, NULL, page);
		if (earlier) {
			__free_page(page);
			page = earlier;
		}
	}
	return vmf_insert_pfn_prot(vma, vmf->address, page_to_pfn(page), vm_get_page_prot(vma->vm_flags));
}
