/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_BASE_SAY_H
#define TUTTI_BASE_SAY_H

/** say() - print "tutti: " and the text as one line on stderr, in a single write. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

#endif
