/* SPDX-License-Identifier: MIT */
#include "live/clients.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One /proc/PID/fdinfo/FD: is it this card, and what does it hold? A client with several descriptors has one id. */
static int read_fdinfo(const char *path, const char *address, struct client *client, unsigned *id)
{
	char line[256], pdev[64] = "", driver[32] = "";
	FILE *file = fopen(path, "r");

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		unsigned long long number;
		char place[32];

		if (sscanf(line, "drm-total-%31[^:]: %llu", place, &number) == 2)
			*(strcmp(place, "card") ? &client->system_memory : &client->card_memory) = number;
		else if (sscanf(line, "tutti-queues: %llu", &number) == 1)
			client->queues = (unsigned)number;
		else if (sscanf(line, "drm-pdev: %63s", pdev) != 1 && sscanf(line, "drm-driver: %31s", driver) != 1)
			sscanf(line, "drm-client-id: %u", id);
	}
	fclose(file);
	return !strcmp(driver, "tutti") && !strcmp(pdev, address);
}

static void read_name(struct client *client)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)client->process);
	file = fopen(path, "r");
	if (!file || !fgets(client->name, sizeof(client->name), file))
		strcpy(client->name, "?");
	client->name[strcspn(client->name, "\n")] = 0;
	if (file)
		fclose(file);
}

unsigned clients_find(const char *address, struct client *client, unsigned most)
{
	unsigned count = 0, last_id = 0;
	glob_t files;

	if (glob("/proc/[0-9]*/fdinfo/*", GLOB_NOSORT, NULL, &files))
		return 0;
	for (size_t i = 0; i < files.gl_pathc && count < most; i++) {
		struct client found = { .process = (pid_t)strtol(files.gl_pathv[i] + strlen("/proc/"), NULL, 10) };
		unsigned id = 0;

		if (!read_fdinfo(files.gl_pathv[i], address, &found, &id))
			continue;
		if (count && client[count - 1].process == found.process && last_id == id)
			continue;
		read_name(&found);
		last_id = id;
		client[count++] = found;
	}
	globfree(&files);
	return count;
}
