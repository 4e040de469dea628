// SPDX-License-Identifier: MIT
#include "device/device.h"

/* The card writes the ring's header, which is not trusted: its size is checked against the region. */
size_t tutti_device_log(struct tutti_device *device, char *text, size_t bytes)
{
	CALL_SCOPE(call);
	const struct tutti_log *log;
	uint32_t size, room;
	uint64_t head, n;

	if (!device_call(&call, device) || !text || !bytes)
		return 0;
	log = (const void *)(device->bar + device->known.log.offset);
	size = log->bytes;
	room = device->known.log.bytes - (uint32_t)sizeof(*log);
	n = head = tutti_load_acquire(&log->head);
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
