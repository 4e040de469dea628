/* SPDX-License-Identifier: MIT */
/** DOC: Text log in the control window */
#ifndef LOG_H
#define LOG_H

#include "core/base.h"

void log_init(void);
/** log_text() - append text. log_hex() - append a number in hex. log_line() - text, number, new line. */
void log_text(const char *text);
void log_hex(uint32_t value);
void log_line(const char *text, uint32_t value);

#endif
