/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_BASE_SAY_H
#define TUTTI_BASE_SAY_H

/** say() - one line on stderr, "tutti: " and the text, in one write. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

#endif
