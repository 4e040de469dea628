// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A dma-buf that is not made of whole pages, as other drivers' may be: one page, and then a part of another. ioctl() on
 * /dev/odd_buffer makes one and returns its file; the call's number is the size of the part, its argument where in its
 * page it begins.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

struct odd_buffer {
	struct page *page[2];
	unsigned int bytes, offset;
};

static struct sg_table *odd_buffer_map(struct dma_buf_attachment *attachment, enum dma_data_direction direction)
{
	struct odd_buffer *odd = attachment->dmabuf->priv;
	struct sg_table *table = kzalloc(sizeof(*table), GFP_KERNEL);
	int error;

	if (!table)
		return ERR_PTR(-ENOMEM);
	error = sg_alloc_table(table, 2, GFP_KERNEL);
	if (error)
		goto free;
	sg_set_page(table->sgl, odd->page[0], PAGE_SIZE, 0);
	sg_set_page(sg_next(table->sgl), odd->page[1], odd->bytes, odd->offset);
	error = dma_map_sgtable(attachment->dev, table, direction, 0);
	if (!error)
		return table;
	sg_free_table(table);
free:
	kfree(table);
	return ERR_PTR(error);
}

static void odd_buffer_unmap(struct dma_buf_attachment *attachment, struct sg_table *table,
			     enum dma_data_direction direction)
{
	dma_unmap_sgtable(attachment->dev, table, direction, 0);
	sg_free_table(table);
	kfree(table);
}

static void odd_buffer_free(struct odd_buffer *odd)
{
	int i;

	for (i = 0; i < 2; i++)
		if (odd->page[i])
			__free_page(odd->page[i]);
	kfree(odd);
}

static void odd_buffer_release(struct dma_buf *buffer)
{
	odd_buffer_free(buffer->priv);
}

static const struct dma_buf_ops odd_buffer_ops = {
	.map_dma_buf = odd_buffer_map,
	.unmap_dma_buf = odd_buffer_unmap,
	.release = odd_buffer_release,
};

static struct dma_buf *odd_buffer_create(unsigned int bytes, unsigned int offset)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct odd_buffer *odd = kzalloc(sizeof(*odd), GFP_KERNEL);
	struct dma_buf *buffer;
	int i;

	if (!odd)
		return ERR_PTR(-ENOMEM);
	odd->bytes = bytes;
	odd->offset = offset;
	for (i = 0; i < 2; i++)
		odd->page[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
	info.ops = &odd_buffer_ops;
	info.size = 2 * PAGE_SIZE;
	info.flags = O_RDWR;
	info.priv = odd;
	buffer = odd->page[0] && odd->page[1] ? dma_buf_export(&info) : ERR_PTR(-ENOMEM);
	if (IS_ERR(buffer))
		odd_buffer_free(odd);
	return buffer;
}

static long odd_buffer_ioctl(struct file *file, unsigned int bytes, unsigned long offset)
{
	struct dma_buf *buffer;
	int fd;

	if (!bytes || bytes > PAGE_SIZE || offset > PAGE_SIZE - bytes)
		return -EINVAL;
	buffer = odd_buffer_create(bytes, offset);
	if (IS_ERR(buffer))
		return PTR_ERR(buffer);
	fd = dma_buf_fd(buffer, O_CLOEXEC);
	if (fd < 0)
		dma_buf_put(buffer);
	return fd;
}

static const struct file_operations odd_buffer_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = odd_buffer_ioctl,
};

static struct miscdevice odd_buffer_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "odd_buffer",
	.fops = &odd_buffer_fops,
};
module_misc_device(odd_buffer_device);
MODULE_DESCRIPTION("Tutti: dma-bufs that are not made of whole pages, for tests");
MODULE_INFO(import_ns, "DMA_BUF"); /* MODULE_IMPORT_NS() wants quotes on newer kernels only */
MODULE_LICENSE("Dual MIT/GPL");
