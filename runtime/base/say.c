// SPDX-License-Identifier: MIT
#include "base/say.h"

#include <stdarg.h>
#include <stdio.h>

#include "tutti.h"

static void (*message_handler)(const char *line);

void tutti_message_handler(void (*handler)(const char *line))
{
	tutti_store_release(&message_handler, handler);
}

void say(const char *format, ...)
{
	void (*handler)(const char *line) = tutti_load_acquire(&message_handler);
	char line[512];
	va_list list;

	va_start(list, format);
	vsnprintf(line, sizeof(line), format, list);
	va_end(list);
	if (handler)
		handler(line);
	else
		fprintf(stderr, "tutti: %s\n", line);
}
