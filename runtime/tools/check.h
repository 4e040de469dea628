/* SPDX-License-Identifier: MIT */
/** DOC: The checks of `tutti validate` */
#ifndef TUTTI_TOOL_CHECK_H
#define TUTTI_TOOL_CHECK_H

#include "tutti.h"

/** struct checker - what a check works with. */
struct checker {
	struct tutti_device *device;
	struct tutti_executable *executable;
	double boot_seconds;
	char text[160]; /* a check's remark, printed behind its line */
};

/** struct check - @run returns 0 = works, negative = does not (@text says why), positive = not on this card. */
struct check {
	const char *name;
	const char *text;
	int (*run)(struct checker *checker);
};

/** checks - all of them, ended by one without a name. */
extern const struct check checks[];

#endif
