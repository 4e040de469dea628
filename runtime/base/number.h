/* SPDX-License-Identifier: MIT */
/** DOC: Numbers in texts of users: all of the text is one, or it is refused */
#ifndef TUTTI_BASE_NUMBER_H
#define TUTTI_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/** number_read() - the number that all of @text is, from 0 to @most, decimal or 0x; false if it is none. */
bool number_read(const char *text, uint64_t most, uint64_t *number);
/** number_read_real() - the finite number from @least to @most that all of @text is, in decimal; false if it is none. */
bool number_read_real(const char *text, double least, double most, double *number);
/**
 * number_from_environment() - the number from @least to @most that environment variable @name is.
 *
 * @number stays as it is where the variable is not set or empty.
 *
 * Return: 0, or -EINVAL after a line on stderr.
 */
int number_from_environment(const char *name, uint64_t least, uint64_t most, uint64_t *number);

#endif
