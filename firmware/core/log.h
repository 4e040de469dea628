/* SPDX-License-Identifier: MIT */
/** DOC: Text log in the control window, which the driver reads */
#ifndef LOG_H
#define LOG_H

#include "core/base.h"

void log_init(void);
/* log_text() appends text, log_hex() a hexadecimal number, log_line() text, a number and a line feed. */
void log_text(const char *text);
void log_hex(uint32_t value);
void log_line(const char *text, uint32_t value);

#endif
