/* SPDX-License-Identifier: MIT */
/* printf of kernels: formatted here, on the card, so that the host needs to know no types. */
#include <stdarg.h>
#include <stdio.h>

#include "tutti/device.h"

#define PRINT_BYTES 1024

int tutti_vprintf(const char *format, va_list arguments)
{
	char text[PRINT_BYTES];
	int bytes = vsnprintf(text, sizeof(text), format, arguments);

	if (bytes <= 0)
		return bytes;
	if ((size_t)bytes >= sizeof(text)) {
		bytes = sizeof(text) - 1;
		text[bytes - 1] = '\n';
	}
	return (int)tutti_service2(TUTTI_SERVICE_PRINT, (uint64_t)(uintptr_t)text, (uint64_t)bytes);
}

int tutti_printf(const char *format, ...)
{
	va_list arguments;
	int result;

	va_start(arguments, format);
	result = tutti_vprintf(format, arguments);
	va_end(arguments);
	return result;
}

void tutti_assert_failed(const char *expression, const char *file, int line)
{
	tutti_printf("%s:%d: assertion failed: %s\n", file, line, expression);
	tutti_abort(TUTTI_ABORT_ASSERT);
}
