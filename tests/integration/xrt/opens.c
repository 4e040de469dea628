// SPDX-License-Identifier: MIT
/* Opens the device that TUTTI_DEVICE names COUNT times, and says whether descriptors or memory have been lost. */
#include <stdio.h>
#include <stdlib.h>

#include "descriptors.h"
#include "tutti.h"

#define WARM 100u /* XRT keeps something of its first devices */

static long resident_kib(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	long all, resident;

	if (fscanf(file, "%ld %ld", &all, &resident) != 2)
		resident = 0;
	fclose(file);
	return resident * 4;
}

int main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 1000, files = 0;
	long kib = 0;

	for (unsigned i = 0; i < count + WARM; i++) {
		struct tutti_device *device;

		if (i == WARM) {
			files = count_descriptors();
			kib = resident_kib();
		}
		if (!tutti_device_open(NULL, &device))
			tutti_device_close(device);
	}
	printf("%u opens: %d descriptors and %ld KiB more\n", count, (int)(count_descriptors() - files), resident_kib() - kib);
	return count_descriptors() != files || resident_kib() - kib > 4096;
}
