/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_TEST_XRT_DESCRIPTORS_H
#define TUTTI_TEST_XRT_DESCRIPTORS_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

/**
 * count_descriptors() - how many descriptors this process has open, to compare with a later count.
 *
 * Return: the number of entries in /proc/self/fd; the program ends with status 1 if that cannot be read.
 */
static inline unsigned count_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned n = 0;

	if (!folder) {
		perror("/proc/self/fd");
		exit(1);
	}
	while (readdir(folder))
		n++;
	closedir(folder);
	return n;
}

#endif
