/* SPDX-License-Identifier: MIT */
/**
 * DOC: The firmware's variables as its image has them
 *
 * A boot on the card loads the image. A fuzzer does so by firmware_reload() before each input, so that an input that
 * fails does so again on its own.
 */
#ifndef FIRMWARE_RELOAD_H
#define FIRMWARE_RELOAD_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* The sections into which build.mk puts them. */
extern char __start_fw_bss[], __stop_fw_bss[], __start_fw_data[], __stop_fw_data[];

/* Not memcpy(), which ASan would have look at the red zones between variables, too. */
typedef uint64_t firmware_block __attribute__((vector_size(64), aligned(1), may_alias));

__attribute__((no_sanitize("address"))) static inline void firmware_copy(char *to, const char *from, size_t bytes)
{
	size_t i;

	for (i = 0; i + sizeof(firmware_block) <= bytes; i += sizeof(firmware_block))
		*(volatile firmware_block *)(to + i) = *(const firmware_block *)(from + i);
	for (; i < bytes; i++)
		*(volatile char *)(to + i) = from[i];
}

/** firmware_reload() - put all variables of the firmware back to what they were at the first call. */
static inline void firmware_reload(void)
{
	static char *data, *bss;
	size_t data_bytes = (size_t)(__stop_fw_data - __start_fw_data), bss_bytes = (size_t)(__stop_fw_bss - __start_fw_bss);

	if (!data) {
		data = malloc(data_bytes);
		bss = malloc(bss_bytes);
		firmware_copy(data, __start_fw_data, data_bytes);
		firmware_copy(bss, __start_fw_bss, bss_bytes);
		return;
	}
	firmware_copy(__start_fw_data, data, data_bytes);
	firmware_copy(__start_fw_bss, bss, bss_bytes);
}

#endif
