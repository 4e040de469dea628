// SPDX-License-Identifier: MIT
/*
 * The firmware built for the host. Its variables lie in sections of their own (build.mk), so that each scenario starts
 * as after loading the image. It is built to count basic blocks: what a visit costs does not depend on the machine.
 */
#include "backend/backend.h"
#include "combine.h"
#include "top/host/drive.h"

#include <stdlib.h>

extern char __start_fw_bss[], __stop_fw_bss[], __start_fw_data[], __stop_fw_data[];
void __sanitizer_cov_trace_pc(void);

const struct backend backend = {"basic blocks", 12000, 5000, 50000000}; /* a block is about four instructions */

static uint64_t blocks, most; /* of this visit, and of those before it for the same event */

void __sanitizer_cov_trace_pc(void)
{
	if (++blocks == backend.hangs)
		rule("visit (REL-11)", "a visit does not end");
}

/* Volatile, so that no compiler makes it memcpy(): the sections hold red zones under AddressSanitizer. */
__attribute__((no_sanitize("address"))) static void copy(char *to, const char *from, size_t bytes)
{
	size_t i;

	for (i = 0; i + 8 <= bytes; i += 8)
		*(volatile uint64_t *)(to + i) = *(const volatile uint64_t *)(from + i);
	for (; i < bytes; i++)
		((volatile char *)to)[i] = from[i];
}

static void load(void)
{
	static char *data, *bss;
	size_t data_bytes = (size_t)(__stop_fw_data - __start_fw_data),
	       bss_bytes = (size_t)(__stop_fw_bss - __start_fw_bss);

	if (!data) {
		data = malloc(data_bytes + 8);
		bss = malloc(bss_bytes + 8);
		copy(data, __start_fw_data, data_bytes);
		copy(bss, __start_fw_bss, bss_bytes);
		return;
	}
	copy(__start_fw_data, data, data_bytes);
	copy(__start_fw_bss, bss, bss_bytes);
}

/* The firmware looks for another event here, so the next queue that goes on does so in a visit of its own. */
static void note_visit(void)
{
	if (blocks > most)
		most = blocks;
	blocks = 0;
}

void backend_boot(unsigned sms)
{
	load();
	hal_host_visit_over = note_visit;
	hal_host_boot(sms);
}

uint64_t backend_event(const struct tutti_event *event)
{
	blocks = most = 0;
	hal_host_event(event);
	note_visit();
	return most;
}

void *backend_memory(uint32_t address)
{
	return hal_pointer(address);
}

bool backend_explain(FILE *file)
{
	return false;
}
