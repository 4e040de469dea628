// SPDX-License-Identifier: MIT
#include "device/device.h"

/* The card writes the ring's header, which is not trusted: its size is checked against the region. */
size_t tutti_device_log(struct tutti_device *device, char *text, size_t bytes)
{
	const struct tutti_log *log = (const void *)(device->bar + device->known.log.offset);
	uint32_t size = log->bytes, room = device->known.log.bytes - (uint32_t)sizeof(*log);
	uint64_t head = tutti_load_acquire(&log->head), n = head;

	if (!text || !bytes)
		return 0;
	if (!size || size > room || (size & (size - 1)))
		n = 0;
	if (n > size)
		n = size;
	if (n > bytes - 1)
		n = bytes - 1;
	for (uint64_t i = 0; i < n; i++)
		text[i] = log->text[(head - n + i) & (size - 1)];
	text[n] = 0;
	return n;
}
