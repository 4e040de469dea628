// SPDX-License-Identifier: MIT
/*
 * The firmware's variables lie in sections of their own (build.mk), so that each scenario starts as after
 * loading the image. It is built to count basic blocks: what a visit costs does not depend on the machine.
 */
#include "combine.h"
#include "top/host/drive.h"

#include <stdlib.h>

#define VISIT_HANGS 50000000u
/* What no visit takes on a card of up to 144 SMs today. The aim is VISIT_MOST; whoever comes nearer lowers this. */
#define VISIT_LIMIT 30000u
#define VISIT_MOST  5000u /* basic blocks, four instructions each: 20 000 on a card of 144 SMs */

extern char __start_fw_bss[], __stop_fw_bss[], __start_fw_data[], __stop_fw_data[];
void __sanitizer_cov_trace_pc(void);

struct visits visits;

static uint64_t visit_blocks;

void __sanitizer_cov_trace_pc(void)
{
	if (++visit_blocks == VISIT_HANGS)
		rule("visit (REL-11)", "a visit does not end");
}

/* By words that no compiler turns into memcpy(): the sections hold red zones under AddressSanitizer. */
__attribute__((no_sanitize("address"), optimize("no-tree-loop-distribute-patterns"))) static void
copy(char *to, const char *from, size_t bytes)
{
	size_t i;

	for (i = 0; i + 8 <= bytes; i += 8)
		*(uint64_t *)(to + i) = *(const uint64_t *)(from + i);
}

void firmware_load(void)
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

void firmware_visit(const struct tutti_event *event)
{
	const struct tutti_engines *e = &hal_host.engines;

	visit_blocks = 0;
	hal_host_event(event);
	visits.n++;
	if (w.sms <= 144) {
		visits.over += visit_blocks > VISIT_MOST;
		if (visit_blocks > visits.worst) {
			visits.worst = visit_blocks;
			visits.seed = w.scenario.seed;
			visits.type = event->word[0] & 0xff;
		}
		RULE(visit_blocks <= VISIT_LIMIT, "visit (REL-11)", "%lu basic blocks in a visit for an event of type %u",
		     visit_blocks, event->word[0] & 0xff);
	}
	if (e->command_tail - e->command_head > visits.ring)
		visits.ring = e->command_tail - e->command_head;
	RULE(!hal_host.halted, "crash", "the firmware has given up");
	RULE(e->command_tail - e->command_head <= e->command_words, "ring (REL-11)",
	     "%u words are in the command ring of %u after an event of type %u",
	     e->command_tail - e->command_head, e->command_words, event->word[0] & 0xff);
}
