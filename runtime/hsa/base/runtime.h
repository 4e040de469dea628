/* SPDX-License-Identifier: MIT */
/**
 * DOC: The runtime's state between hsa_init() and hsa_shut_down(), and what every function begins with
 */
#ifndef TUTTI_HSA_RUNTIME_H
#define TUTTI_HSA_RUNTIME_H

#include <hsa/hsa.h>

#include "tutti.h"

/** runtime_device() - the card; NULL outside hsa_init() and hsa_shut_down(). */
struct tutti_device *runtime_device(void);

/** runtime_card() - what the card is. Valid while runtime_device() is not NULL. */
const struct tutti_discovery *runtime_card(void);

/** runtime_callback_begin() - a function of the application is called that shutting down waits for. */
void runtime_callback_begin(void);
void runtime_callback_end(void);

/** REQUIRE() - leave the function with HSA_STATUS_ERROR_@status unless @condition holds. */
#define REQUIRE(condition, status) REQUIRE_STATUS(condition, HSA_STATUS_ERROR_##status)

/** REQUIRE_STATUS() - the same for the statuses that extensions add, whose names begin in other ways. */
#define REQUIRE_STATUS(condition, status)                     \
	do {                                                  \
		if (!(condition))                             \
			return (hsa_status_t)(status);        \
	} while (0)

/** REQUIRE_INIT() - first line of every function that the specification lets fail without hsa_init(). */
#define REQUIRE_INIT() REQUIRE(runtime_device(), NOT_INITIALIZED)

/** VALUE() - store an attribute of a type in the application's memory and report success. */
#define VALUE(type, ...)                                      \
	do {                                                  \
		*(type *)value = (type)(__VA_ARGS__);         \
		return HSA_STATUS_SUCCESS;                    \
	} while (0)

/** value_text() - store an attribute that is an array of @bytes characters, with NULs behind the text. */
hsa_status_t value_text(void *value, size_t bytes, const char *text);

#endif
