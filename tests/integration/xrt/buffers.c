// SPDX-License-Identifier: MIT
/*
 * What the transport asks of XRT before it looks at the card, of the real library, in its no-op mode: a device, an
 * xclbin, the kernel, buffer objects of both kinds, and their end. In that mode no register answers, so the transport
 * itself gets no further than to the first of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "descriptors.h"
#include "transport/xrt/library.h"
#include "tutti/xrt_card.h"

#define BYTES  (1u << 20)
#define ROUNDS 100u

#define MUST(condition)                                                                       \
	do {                                                                                  \
		if (!(condition)) {                                                           \
			printf("line %d: " #condition "\n", __LINE__);                        \
			exit(1);                                                              \
		}                                                                             \
	} while (0)

static const struct xrt_library *xrt;

static void use_buffer(void *device, void *kernel, uint64_t flags, int argument)
{
	int group = xrt->xrtKernelArgGroupId(kernel, argument);
	uint8_t *map;
	void *buffer;

	MUST(group >= 0);
	buffer = xrt->xrtBOAlloc(device, BYTES, flags, (uint32_t)group);
	MUST(buffer);
	map = xrt->xrtBOMap(buffer);
	MUST(map);
	memset(map, 0x5a, BYTES);
	MUST(map[BYTES - 1] == 0x5a);
	MUST(xrt->xrtBOAddress(buffer) != UINT64_MAX);
	MUST(!xrt->xrtBOFree(buffer));
}

static void use_card(const char *xclbin)
{
	void *device = xrt->xrtDeviceOpen(0), *kernel;
	uint32_t value;
	xrt_uuid uuid;

	MUST(device);
	MUST(!xrt->xrtDeviceLoadXclbinFile(device, xclbin));
	MUST(!xrt->xrtDeviceGetXclbinUUID(device, uuid));
	MUST(!xrt->xrtPLKernelOpenExclusive(device, uuid, "other"));
	kernel = xrt->xrtPLKernelOpenExclusive(device, uuid, TUTTI_XRT_KERNEL);
	MUST(kernel);
	MUST(xrt->xrtKernelReadRegister(kernel, TUTTI_XRT_MAGIC, &value));
	use_buffer(device, kernel, XRT_P2P, TUTTI_XRT_ARG_BAR);
	use_buffer(device, kernel, XRT_HOST_ONLY, TUTTI_XRT_ARG_HOST);
	MUST(!xrt->xrtKernelClose(kernel));
	MUST(!xrt->xrtDeviceClose(device));
}

int main(int argc, char **argv)
{
	unsigned before;

	MUST(argc == 2 && !xrt_library_open(&xrt));
	MUST(!xrt->xrtDeviceOpenByBDF("ffff:ff:1f.7"));
	use_card(argv[1]);
	before = count_descriptors();
	for (unsigned i = 0; i < ROUNDS; i++)
		use_card(argv[1]);
	MUST(count_descriptors() == before);
	return 0;
}
