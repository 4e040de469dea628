// SPDX-License-Identifier: MIT
/* Points of delay in the driver (kernel/base/delay.h). */
#include <unistd.h>

#include "driver.h"

bool have_delays(void)
{
	return !access("/sys/kernel/debug/tutti_delay", F_OK);
}

static void delay_path(char path[96], const char *point, const char *what)
{
	snprintf(path, 96, "/sys/kernel/debug/tutti_delay/%s%s", point, what);
}

static unsigned reached(const char *point)
{
	unsigned times = 0;
	char path[96];
	FILE *file;

	delay_path(path, point, "_reached");
	file = fopen(path, "re");
	if (file && fscanf(file, "%u", &times) != 1)
		times = 0;
	if (file)
		fclose(file);
	return times;
}

unsigned delay(const char *point, unsigned ms)
{
	char path[96];
	FILE *file;

	delay_path(path, point, "");
	file = fopen(path, "we");
	if (file) {
		fprintf(file, "%u\n", ms);
		fclose(file);
	}
	return reached(point);
}

bool soon_reached(const char *point, unsigned before)
{
	for (unsigned i = 0; i < 2000 && reached(point) == before; i++)
		usleep(10000);
	return reached(point) != before;
}

bool delayed_thread(pthread_t *thread, const char *point, unsigned ms, void *(*run)(void *data), void *data)
{
	unsigned before = delay(point, ms);
	bool there = !pthread_create(thread, NULL, run, data) && soon_reached(point, before);

	delay(point, 0);
	return there;
}

void *close_rig(void *rig)
{
	rig_close(rig);
	return NULL;
}
