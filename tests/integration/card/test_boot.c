// SPDX-License-Identifier: MIT
/* Discovery data, boot, heartbeat, log and crash record, by the contract alone: SYS-03, SYS-05, SYS-15. */
#include <stdlib.h>
#include <zlib.h>

#include "channel_rig.h"

/* ---- discovery ---- */

static void inside(struct tutti_region region, uint64_t need)
{
	assert_int_equal(region.offset % 64, 0);
	assert_true(region.bytes >= need);
	assert_true((uint64_t)region.offset + region.bytes <= raw->discovery->window_bytes);
}

static void discovery(void **state)
{
	const struct tutti_discovery *d = raw->discovery;
	const struct tutti_region *regions = &d->control;
	unsigned i, k, n = 11, sms = 0;

	assert_true(d->magic == TUTTI_DISCOVERY_MAGIC);
	assert_int_equal(d->bytes, sizeof(*d));
	assert_true(d->contract_min <= TUTTI_CONTRACT_VERSION && TUTTI_CONTRACT_VERSION <= d->contract_max);
	assert_true(memchr(d->name, 0, sizeof(d->name)) && d->name[0]);
	assert_true(d->features & TUTTI_FEATURE_EMULATED);
	inside(d->control, sizeof(struct tutti_control));
	inside(d->status, sizeof(struct tutti_status));
	inside(d->host_ring, 16 * 64);
	inside(d->card_ring, 16 * 64);
	inside(d->log, 4096);
	inside(d->crash, sizeof(struct tutti_crash));
	inside(d->counters, TUTTI_COUNTERS * 8);
	inside(d->sm_table, d->sms * sizeof(struct tutti_sm_place));
	inside(d->sm_states, d->sms * sizeof(struct tutti_sm_state));
	inside(d->doorbells, d->max_queues * TUTTI_PAGE_SIZE);
	assert_int_equal(d->doorbells.offset % TUTTI_PAGE_SIZE, 0);
	for (i = 0; i < n; i++)
		for (k = 0; k < i; k++)
			assert_true(regions[i].offset + regions[i].bytes <= regions[k].offset ||
				    regions[k].offset + regions[k].bytes <= regions[i].offset);
	assert_true(d->aperture >= d->window_bytes);
	assert_true(d->aperture_bytes <= d->memory_bytes);
	assert_true(d->reserved_bytes < d->memory_bytes);
	assert_int_equal(d->local_bytes, 256 * 1024);
	assert_int_equal(d->gpcs, 2);
	assert_int_equal(d->sms, 6);
	for (i = 0; i < d->gpcs; i++) {
		assert_int_equal(d->gpc[i].first_sm, sms);
		sms += d->gpc[i].sms;
	}
	assert_int_equal(sms, d->sms);
	for (i = 0; i < d->sms; i++) {
		const struct tutti_sm_place *p = (const void *)(raw->bar + d->sm_table.offset);

		assert_int_equal(p[i].gpc, i >= 4);
		assert_int_equal(p[i].tpc * 2 + p[i].sm, i >= 4 ? i - 4 : i);
	}
}

static void discovery_is_constant(void **state)
{
	struct tutti_discovery before = *raw->discovery;

	assert_int_equal(raw_boot(raw, NULL), TUTTI_STATE_RUNNING);
	raw_settle(raw);
	assert_memory_equal(&before, raw->discovery, sizeof(before));
}

/* ---- boot ---- */

static uint8_t *image;
static size_t image_bytes;

/* What the card expects as the checksum of the image (firmware.h). */
static uint32_t checksum(void)
{
	return (uint32_t)crc32_z(0, image + 8, image_bytes - 8);
}

static void read_image(void)
{
	const char *path = getenv("TUTTI_FIRMWARE");

	free(image);
	image = raw_read_file(path ? path : rig_out("firmware/tutti-fw.bin"), &image_bytes);
}

static void sign(void)
{
	((struct tutti_image *)image)->crc = checksum();
}

static void boots(void **state)
{
	read_image();
	assert_int_equal(((struct tutti_image *)image)->crc, checksum());
	assert_int_equal(raw->status->state, TUTTI_STATE_OFF);
	assert_int_equal(raw_boot(raw, NULL), TUTTI_STATE_RUNNING);
	assert_int_equal(raw->status->firmware_version, ((struct tutti_image *)image)->firmware_version);
	assert_true(raw->status->contract_min <= TUTTI_CONTRACT_VERSION);
	assert_true(raw->status->contract_max >= TUTTI_CONTRACT_VERSION);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_PING, 1, 0, 0), 0);
	/* once more: a new boot keeps nothing of the one before */
	assert_int_equal(raw_boot(raw, NULL), TUTTI_STATE_RUNNING);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_PING, 1, 0, 0), 0);
}

static bool all_zero(const void *start, size_t bytes)
{
	const uint8_t *p = start;

	while (bytes && !*p)
		p++, bytes--;
	return !bytes;
}

/* What the contract says that the firmware clears; the emulated card has garbage there at power-on. */
static void boot_clears(void **state)
{
	const struct tutti_discovery *d = raw->discovery;
	uint64_t *counters = (void *)(raw->bar + d->counters.offset);
	struct tutti_log *log = (void *)(raw->bar + d->log.offset);

	for (unsigned boot = 0; boot < 2; boot++) {
		assert_false(all_zero(raw->bar + d->crash.offset, sizeof(struct tutti_crash)));
		assert_false(all_zero(counters, TUTTI_COUNTER_CORE_INSTRUCTIONS * sizeof(*counters)));
		assert_int_equal(raw_boot(raw, NULL), TUTTI_STATE_RUNNING);
		assert_true(all_zero(raw->bar + d->crash.offset, sizeof(struct tutti_crash)));
		for (unsigned i = 0; i < TUTTI_COUNTERS; i++)
			assert_in_range(counters[i], 0, 1u << 24);
		assert_in_range(log->head, 20, 1000);
		assert_true(log->bytes && !(log->bytes & (log->bytes - 1)) && log->bytes <= d->log.bytes - sizeof(*log));
		assert_true(all_zero(log->text + log->head, log->bytes - log->head));
		memset(raw->bar + d->crash.offset, 0xa5, sizeof(struct tutti_crash));
		memset(counters, 0xa5, TUTTI_COUNTERS * sizeof(*counters));
		memset(log, 0xa5, d->log.bytes);
	}
}

/* The byte at @address of local memory in the image. */
static uint8_t *loaded(uint32_t address)
{
	const struct tutti_image_segment *segment = ((struct tutti_image *)image)->segment;

	while (address - segment->address >= segment->file_bytes)
		segment++;
	return image + segment->file_offset + (address - segment->address);
}

static void changed_images(void **state)
{
	const struct tutti_crash *crash = (const void *)(raw->bar + raw->discovery->crash.offset);
	static const uint8_t ebreak[] = { 0x73, 0, 0x10, 0 };

	unsetenv("TUTTI_INTERPRET");
	assert_string_equal(tutti_card_core(raw->card), "none");
	read_image();
	assert_int_equal(raw_boot_image(raw, image, image_bytes), TUTTI_STATE_RUNNING);
	assert_string_equal(tutti_card_core(raw->card), "translated");
	*loaded(0) ^= 1; /* of the stack's area, so that it does no harm */
	sign();
	assert_int_equal(raw_boot_image(raw, image, image_bytes), TUTTI_STATE_RUNNING);
	assert_string_equal(tutti_card_core(raw->card), "interpreted");
	assert_int_equal(raw_ask(raw, TUTTI_MSG_PING, 1, 0, 0), 0);
	*loaded(0) ^= 1;
	memcpy(loaded(((struct tutti_image *)image)->entry), ebreak, sizeof(ebreak));
	sign();
	assert_int_equal(raw_boot_image(raw, image, image_bytes), TUTTI_STATE_CRASHED);
	assert_int_equal(crash->cause_code, 3);
	assert_int_equal(crash->pc, ((struct tutti_image *)image)->entry);
	/* and back */
	assert_int_equal(raw_boot(raw, NULL), TUTTI_STATE_RUNNING);
	assert_string_equal(tutti_card_core(raw->card), "translated");
}

static void refused(unsigned error)
{
	assert_int_equal(raw_boot_image(raw, image, image_bytes), TUTTI_STATE_FAILED);
	assert_int_equal(raw->status->boot_error, error);
}

static void bad_images(void **state)
{
	struct tutti_image *header;
	unsigned i, segment;

	read_image();
	header = (void *)image;
	header->magic ^= 1;
	refused(TUTTI_IMAGE_BAD_MAGIC);
	read_image();
	header = (void *)image;
	header->header_bytes += 4;
	sign();
	refused(TUTTI_IMAGE_BAD_SIZE);
	read_image();
	header = (void *)image;
	header->file_bytes += 64;
	sign();
	refused(TUTTI_IMAGE_BAD_SIZE);
	for (i = 0; i < 20; i++) {
		read_image();
		image[8 + (i * 7919) % (image_bytes - 8)] ^= (uint8_t)(1u << i % 8);
		header = (void *)image;
		if (header->header_bytes == sizeof(*header) && header->file_bytes == image_bytes)
			refused(TUTTI_IMAGE_BAD_CRC);
	}
	for (i = 0; i < 4; i++) {
		static const uint32_t versions[4][2] = { { TUTTI_VERSION(0, 1), TUTTI_VERSION(0, 9) },
							 { TUTTI_VERSION(2, 0), TUTTI_VERSION(3, 0) },
							 { TUTTI_VERSION(9, 0), TUTTI_VERSION(1, 0) },
							 { TUTTI_VERSION(0xffff, 0), TUTTI_VERSION(0xffff, 9) } };

		read_image();
		header = (void *)image;
		header->contract_min = versions[i][0];
		header->contract_max = versions[i][1];
		sign();
		refused(TUTTI_IMAGE_BAD_VERSION);
	}
	read_image();
	segment = ((struct tutti_image *)image)->segments - 1;
	for (i = 0; i < 9; i++) {
		struct tutti_image_segment *s;

		read_image();
		header = (void *)image;
		s = &header->segment[segment];
		switch (i) {
		case 0: header->segments = 0; break;
		case 1: header->segments = TUTTI_IMAGE_SEGMENTS + 1; break;
		case 2: s->address = 256 * 1024; break;
		case 3: s->address = ~3u; break;
		case 4: s->memory_bytes = ~0u; break;
		case 5: s->file_offset = (uint32_t)image_bytes; s->file_bytes = 4; break;
		case 6: s->file_offset = ~3u; s->file_bytes = 8; break;
		case 7: s->file_bytes = s->memory_bytes + 4; break;
		case 8: s->address += 1; break;
		}
		sign();
		refused(TUTTI_IMAGE_BAD_SEGMENT);
	}
	read_image();
	header = (void *)image;
	header->entry = 0x40000000;
	sign();
	refused(TUTTI_IMAGE_BAD_SEGMENT);
	/* place */
	read_image();
	raw->control->image_offset = raw->discovery->memory_bytes - 64;
	raw->control->image_bytes = image_bytes;
	raw->control->boot_sequence++;
	tutti_card_kick(raw->card);
	raw_settle(raw);
	assert_int_equal(raw->status->state, TUTTI_STATE_FAILED);
	assert_int_equal(raw->status->boot_error, TUTTI_IMAGE_BAD_PLACE);
	/* the card still works */
	assert_int_equal(raw_boot(raw, NULL), TUTTI_STATE_RUNNING);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_PING, 1, 0, 0), 0);
}

static void truncated_images(void **state)
{
	size_t bytes;

	read_image();
	for (bytes = 0; bytes < image_bytes; bytes = bytes * 2 + 13)
		assert_int_equal(raw_boot_image(raw, image, bytes), TUTTI_STATE_FAILED);
	assert_int_equal(raw_boot(raw, NULL), TUTTI_STATE_RUNNING);
}

static void heartbeat(void **state)
{
	uint64_t beat = tutti_load_acquire(&raw->status->heartbeat), time = raw->status->heartbeat_time;

	raw_run(raw, 60);
	assert_true(tutti_load_acquire(&raw->status->heartbeat) > beat);
	assert_true(raw->status->heartbeat_time > time);
}

static void log_ring(void **state)
{
	const struct tutti_log *log = (const void *)(raw->bar + raw->discovery->log.offset);

	assert_true(log->head > 0);
	assert_true(log->bytes && !(log->bytes & (log->bytes - 1)));
	assert_true(sizeof(*log) + log->bytes <= raw->discovery->log.bytes);
}

static void crash_record(void **state)
{
	const struct tutti_crash *crash = (const void *)(raw->bar + raw->discovery->crash.offset);

	assert_int_equal(crash->cause, TUTTI_CRASH_NONE);
	assert_int_equal(tutti_card_inject(raw->card, TUTTI_INJECT_FIRMWARE_CRASH, 1), 0);
	tutti_card_kick(raw->card);
	raw_run(raw, 60);
	assert_int_equal(raw->status->state, TUTTI_STATE_CRASHED);
	assert_int_equal(crash->cause, TUTTI_CRASH_TRAP);
	assert_true(crash->pc < raw->discovery->local_bytes);
	assert_true(crash->text[0] && memchr(crash->text, 0, sizeof(crash->text)));
	assert_int_equal(raw_boot(raw, NULL), TUTTI_STATE_RUNNING);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_PING, 1, 0, 0), 0);
}

/* The trap handler traps as well, because the crash record lies nowhere: the core halts, and the card writes a record. */
static void crash_in_crash(void **state)
{
	const struct tutti_crash *crash = (const void *)(raw->bar + raw->discovery->crash.offset);
	struct tutti_discovery *d = (struct tutti_discovery *)raw->bar;
	uint32_t record = d->crash.offset;

	d->crash.offset = 0x0ffff000;
	assert_int_equal(tutti_card_inject(raw->card, TUTTI_INJECT_FIRMWARE_CRASH, 1), 0);
	raw_run(raw, 60);
	d->crash.offset = record;
	assert_int_equal(raw->status->state, TUTTI_STATE_CRASHED);
	assert_int_equal(crash->cause, TUTTI_CRASH_PANIC);
	assert_non_null(strstr(crash->text, "halted without a record"));
	assert_int_equal(raw_boot(raw, NULL), TUTTI_STATE_RUNNING);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TOFF("SYS-03: discovery data is sound", discovery),
		TOFF("SYS-03: discovery data is constant", discovery_is_constant),
		TOFF("SYS-05: boot, twice", boots),
		TOFF("SYS-05: the firmware clears crash record, log and its counters", boot_clears),
		TOFF("SYS-51: a changed image is interpreted", changed_images),
		TOFF("SYS-05: bad firmware images are refused with the reason", bad_images),
		TOFF("SYS-05: truncated firmware images are refused", truncated_images),
		T("SYS-05: heartbeat", heartbeat),
		T("SYS-05: log ring", log_ring),
		T("SYS-05, SYS-15: a crash leaves its record; boot again works", crash_record),
		T("SYS-05, SYS-15: a crash within the report of a crash", crash_in_crash),
	};

	return cmocka_run_group_tests_name("boot", tests, NULL, NULL);
}
