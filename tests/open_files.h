/* SPDX-License-Identifier: MIT */
/* Whether a test's program leaves files open. */
#ifndef TUTTI_TEST_OPEN_FILES_H
#define TUTTI_TEST_OPEN_FILES_H

#include <fcntl.h>

/* Files of this process that are open, of the first 256. */
static inline unsigned open_files(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

#endif
