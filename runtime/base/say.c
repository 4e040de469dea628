// SPDX-License-Identifier: MIT
#include "base/say.h"

#include <stdarg.h>
#include <stdio.h>

void say(const char *format, ...)
{
	char line[512];
	va_list list;
	int n = snprintf(line, sizeof(line), "tutti: ");

	va_start(list, format);
	vsnprintf(line + n, sizeof(line) - (size_t)n, format, list);
	va_end(list);
	fprintf(stderr, "%s\n", line);
}
