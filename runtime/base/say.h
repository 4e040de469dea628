/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_BASE_SAY_H
#define TUTTI_BASE_SAY_H

/**
 * say() - give the text, which is one line, to the handler of tutti_message_handler(), or print it on stderr behind
 * "tutti: " in a single write.
 */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

#endif
