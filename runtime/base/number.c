// SPDX-License-Identifier: MIT
#include "base/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"

bool number_read(const char *text, uint64_t most, uint64_t *number)
{
	bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *digits = hexadecimal ? text + 2 : text;
	uint64_t value;
	char *end;

	/* strtoull() takes spaces, signs and a second 0x, too */
	if (!*digits || digits[strspn(digits, hexadecimal ? "0123456789abcdefABCDEF" : "0123456789")])
		return false;
	errno = 0;
	value = strtoull(digits, &end, hexadecimal ? 16 : 10);
	if (errno || value > most)
		return false;
	*number = value;
	return true;
}

bool number_read_real(const char *text, double least, double most, double *number)
{
	double value;
	char *end;

	/* strtod() takes spaces, "inf" and hexadecimal digits, too */
	if (!*text || text[strspn(text, "0123456789.+-eE")])
		return false;
	value = strtod(text, &end);
	if (*end || !(value >= least && value <= most))
		return false;
	*number = value;
	return true;
}

int number_from_environment(const char *name, uint64_t least, uint64_t most, uint64_t *number)
{
	const char *text = getenv(name);
	uint64_t value;

	if (!text || !*text)
		return 0;
	if (!number_read(text, most, &value) || value < least) {
		say("%s=%s is not a number from %llu to %llu", name, text, (unsigned long long)least,
		    (unsigned long long)most);
		return -EINVAL;
	}
	*number = value;
	return 0;
}
