/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=clock_gettime,--wrap=own_folder */
/* Booting a card: what discovery may say, what images are taken, what answers are believed (SYS-05, SYS-42). */
#include <zlib.h>

#include "transport/bare_rig.h"
#include "tutti/firmware.h"

/* ---- discovery ---- */

/* Each line changes one or two values of good data; what it has to give. */
#define GIVES(want, change)                                                                                            \
	do {                                                                                                           \
		discovery();                                                                                           \
		change;                                                                                                \
		if (boot_check_card(device, BAR_BYTES) != (want))                                                      \
			fail_msg("%s: not %d", #change, want);                                                         \
	} while (0)

static void what_is_a_card(void **state)
{
	GIVES(0, (void)0);
	assert_ptr_equal(device->control, card + d->control.offset);
	assert_ptr_equal(device->status, card + d->status.offset);
	GIVES(-ENODEV, d->magic = UINT64_MAX);
	GIVES(-ENODEV, d->magic ^= 1);
	GIVES(0, d->contract_min = 0);
	GIVES(-EPROTO, d->contract_min++);
	GIVES(0, d->contract_max = UINT32_MAX);
	GIVES(-EPROTO, (d->contract_min = 0, d->contract_max--));
	GIVES(0, d->bytes++);
	GIVES(-EPROTO, d->bytes--);
	GIVES(0, memset(d->name, 'x', sizeof(d->name)));
	assert_int_equal(strlen(device->known.name), sizeof(d->name) - 1);
}

static void its_regions(void **state)
{
	static const struct {
		size_t at;
		uint32_t least;
	} rows[] = {
	    {offsetof(struct tutti_discovery, control), sizeof(struct tutti_control)},
	    {offsetof(struct tutti_discovery, status), sizeof(struct tutti_status)},
	    {offsetof(struct tutti_discovery, host_ring), sizeof(struct tutti_message)},
	    {offsetof(struct tutti_discovery, card_ring), sizeof(struct tutti_message)},
	    {offsetof(struct tutti_discovery, log), sizeof(struct tutti_log)},
	    {offsetof(struct tutti_discovery, crash), sizeof(struct tutti_crash)},
	    {offsetof(struct tutti_discovery, counters), TUTTI_COUNTERS * sizeof(uint64_t)},
	    {offsetof(struct tutti_discovery, doorbells), 8 * TUTTI_PAGE_SIZE},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct tutti_region *r = (void *)((uint8_t *)d + rows[i].at);

		GIVES(0, r->bytes = rows[i].least);
		GIVES(-EPROTO, r->bytes = rows[i].least - 1);
		GIVES(0, (r->bytes = 32768, r->offset = (uint32_t)WINDOW - 32768));
		GIVES(-EPROTO, (r->bytes = 32769, r->offset = (uint32_t)WINDOW - 32768));
		GIVES(-EPROTO, (r->bytes = 32768, r->offset = (uint32_t)WINDOW - 32768 + 64));
		GIVES(-EPROTO, r->offset = (uint32_t)WINDOW);
		GIVES(-EPROTO, r->offset = (uint32_t)WINDOW + 64);
		for (unsigned bit = 0; bit < 6; bit++)
			GIVES(-EPROTO, r->offset += 1u << bit);
		GIVES(0, r->offset += 64);
	}
}

static void its_memory(void **state)
{
	GIVES(-EPROTO, d->window_bytes = WINDOW + 1);
	GIVES(0, d->reserved_bytes = CARD);
	GIVES(-EPROTO, (d->memory_bytes *= 2, d->reserved_bytes = CARD + TUTTI_PAGE_SIZE));
	GIVES(-EPROTO, (d->memory_bytes = CARD / 2, d->reserved_bytes = CARD / 2 + TUTTI_PAGE_SIZE));
	GIVES(0, (d->memory_bytes = CARD / 2, d->reserved_bytes = CARD / 2));
	GIVES(-EPROTO, d->aperture_bytes = CARD + 1);
	GIVES(0, (d->aperture = BAR_BYTES, d->aperture_bytes = d->reserved_bytes = 0));
	GIVES(-EPROTO, (d->aperture = BAR_BYTES + 1, d->aperture_bytes = d->reserved_bytes = 0));
	for (unsigned bit = 0; bit < 12; bit++)
		GIVES(-EPROTO, d->reserved_bytes |= 1u << bit);
}

static void its_limits(void **state)
{
	GIVES(-EPROTO, d->max_queues = 0);
	GIVES(0, (d->max_queues = TUTTI_MAX_QUEUES, d->doorbells.bytes = TUTTI_MAX_QUEUES * TUTTI_PAGE_SIZE));
	GIVES(-EPROTO,
	      (d->max_queues = TUTTI_MAX_QUEUES + 1, d->doorbells.bytes = (TUTTI_MAX_QUEUES + 1) * TUTTI_PAGE_SIZE));
	GIVES(-EPROTO, d->max_contexts = 1);
	GIVES(0, d->max_contexts = 3);
	GIVES(0, d->max_rsbs = TUTTI_MAX_RSBS);
	GIVES(-EPROTO, d->max_rsbs = TUTTI_MAX_RSBS + 1);
	GIVES(-EPROTO, d->sms = 0);
	GIVES(0, d->sms = TUTTI_MAX_SMS);
	GIVES(-EPROTO, d->sms = TUTTI_MAX_SMS + 1);
	GIVES(-EPROTO, d->shared_block_bytes = 0);
	GIVES(-EPROTO, d->ring_packets_min = 0);
	GIVES(-EPROTO, d->ring_packets_min = 48);
	GIVES(-EPROTO, d->ring_packets_min = 128);
	GIVES(-EPROTO, d->ring_packets_max = 96);
	GIVES(0, (d->ring_packets_min = 1, d->ring_packets_max = 1));
}

/* ---- images ---- */

static char path[64];
static struct {
	struct tutti_image head;
	uint8_t code[256];
} image;

/* A good image of @bytes, which is larger than the file that this program keeps: the rest is 0. */
static void write_image(size_t bytes)
{
	FILE *file = fopen(path, "w");
	uint8_t *all = calloc(1, bytes + 8);

	image.head.file_bytes = (uint32_t)bytes;
	memcpy(all, &image, sizeof(image));
	image.head.crc = (uint32_t)crc32(0, all + 8, (uInt)(bytes - 8));
	memcpy(all, &image, sizeof(image.head));
	assert_int_equal(fwrite(all, 1, bytes, file), bytes);
	fclose(file);
	free(all);
}

static void make_image(void)
{
	memset(&image, 0x33, sizeof(image));
	image.head = (struct tutti_image){
	    .magic = TUTTI_IMAGE_MAGIC,
	    .header_bytes = sizeof(image.head),
	    .contract_min = TUTTI_CONTRACT_VERSION,
	    .contract_max = TUTTI_CONTRACT_VERSION,
	    .segments = 1,
	    .segment = {{.memory_bytes = 256, .file_offset = sizeof(image.head), .file_bytes = 256}}};
	snprintf(path, sizeof(path), "/tmp/tutti-boot-%d", (int)getpid());
	write_image(sizeof(image));
}

static int boot(void)
{
	return boot_card(device, &(struct tutti_device_options){.firmware = path});
}

/* What the firmware says of itself when it is started. */
static struct tutti_status answer;

static void starts(void)
{
	status->contract_min = answer.contract_min;
	status->contract_max = answer.contract_max;
	status->boot_error = answer.boot_error;
	status->boot_sequence = control->boot_sequence + answer.boot_sequence;
	tutti_store_release(&status->state, answer.state);
}

static void good_answer(void)
{
	answer = (struct tutti_status){.state = TUTTI_STATE_RUNNING,
				       .contract_min = TUTTI_CONTRACT_VERSION,
				       .contract_max = TUTTI_CONTRACT_VERSION};
	on_kick = starts;
}

static void images(void **state)
{
	const uint64_t at = 8192; /* five RSBs of a kilobyte are before it */
	const size_t room = RESERVED - TUTTI_FIRMWARE_BYTES - at;

	make_image();
	good_answer();
	assert_int_equal(boot(), 0);
	assert_int_equal(rang, 1);
	assert_int_equal(control->image_offset, at);
	assert_int_equal(control->image_bytes, sizeof(image));
	assert_memory_equal(card + WINDOW + at, &image, sizeof(image));
	assert_int_equal(card[WINDOW + at - 1] | card[WINDOW + at + sizeof(image)], 0);
	device->known.max_rsbs = 4; /* they fill the page */
	assert_int_equal(boot(), 0);
	assert_int_equal(control->image_offset, 4096);
	device->known.max_rsbs = 5;
	/* as large as the room for it, and larger */
	write_image(room);
	assert_int_equal(boot(), 0);
	assert_int_equal(control->image_bytes, room);
	write_image(room + 1);
	assert_int_equal(boot(), -EINVAL);
	assert_int_equal(control->image_bytes, room);
	make_image();
	image.head.contract_min++;
	image.head.contract_max++;
	write_image(sizeof(image));
	assert_int_equal(boot(), -EPROTO);
	make_image();
	image.head.magic++;
	write_image(sizeof(image));
	assert_int_equal(boot(), -EINVAL);
	make_image();
	image.head.segment[0].address = 65536; /* behind local memory */
	write_image(sizeof(image));
	assert_int_equal(boot(), -EINVAL);
	assert_int_equal(boot_card(device, &(struct tutti_device_options){.firmware = "/tmp"}),
			 -EIO); /* cannot be read */
	unlink(path);
	assert_int_equal(boot(), -ENOENT);
	assert_int_equal(control->boot_sequence, 3);
}

static void by_environment(void **state)
{
	const char *before = getenv("TUTTI_FIRMWARE");
	char kept[256];

	snprintf(kept, sizeof(kept), "%s", before ? before : "");
	make_image();
	good_answer();
	setenv("TUTTI_FIRMWARE", path, 1);
	assert_int_equal(boot_card(device, &(struct tutti_device_options){0}), 0);
	assert_int_equal(boot_card(device, &(struct tutti_device_options){.firmware = ""}), 0);
	assert_int_equal(boot_card(device, &(struct tutti_device_options){.firmware = "/tmp/tutti-none"}), -ENOENT);
	setenv("TUTTI_FIRMWARE", "/tmp/tutti-none", 1);
	assert_int_equal(boot_card(device, &(struct tutti_device_options){0}), -ENOENT);
	assert_int_equal(boot(), 0);
	setenv("TUTTI_FIRMWARE", kept, 1);
	if (!before)
		unsetenv("TUTTI_FIRMWARE");
	unlink(path);
}

/* Where the library lies; "" if that is not known. */
static char library[64];

bool __wrap_own_folder(char folder[PATH_MAX]);

bool __wrap_own_folder(char folder[PATH_MAX])
{
	strcpy(folder, library);
	return *library;
}

/* Beside the library in a build tree, and below the prefix where it is installed; the first one found counts. */
static void beside_the_library(void **state)
{
	static const char *const folders[] = {"lib/firmware",	    "firmware",	      "../firmware",
					      "lib/firmware/tutti", "firmware/tutti", "lib/firmware/tutti"};
	char top[] = "/tmp/tutti-prefix-XXXXXX", command[256];

	unsetenv("TUTTI_FIRMWARE");
	assert_non_null(mkdtemp(top));
	snprintf(library, sizeof(library), "%s/a/lib", top);
	make_image();
	good_answer();
	for (unsigned i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		if (access("/lib/firmware/tutti/" TUTTI_IMAGE_NAME, F_OK) &&
		    access("/usr/local/lib/firmware/tutti/" TUTTI_IMAGE_NAME, F_OK))
			assert_int_equal(boot_card(device, &(struct tutti_device_options){0}), -ENOENT);
		snprintf(command, sizeof(command), "mkdir -p %s/a/lib %s/a/%s && cp %s %s/a/%s/" TUTTI_IMAGE_NAME, top,
			 top, folders[i], path, top, folders[i]);
		assert_int_equal(system(command), 0);
		assert_int_equal(boot_card(device, &(struct tutti_device_options){0}), 0);
		device->known.sms = TUTTI_SMALL_CARD_SMS + 1; /* takes another image */
		if (access("/lib/firmware/tutti/" TUTTI_IMAGE_NAME_LARGE, F_OK) &&
		    access("/usr/local/lib/firmware/tutti/" TUTTI_IMAGE_NAME_LARGE, F_OK))
			assert_int_equal(boot_card(device, &(struct tutti_device_options){0}), -ENOENT);
		device->known.sms = TUTTI_SMALL_CARD_SMS;
		snprintf(command, sizeof(command), "rm -r %s/*", top);
		assert_int_equal(system(command), 0);
	}
	assert_int_equal(rmdir(top), 0);
	unlink(path);
}

/* ---- answers ---- */

static void boot_answers(void **state)
{
	make_image();
	good_answer();
	assert_int_equal(boot(), 0);
	answer.state = TUTTI_STATE_FAILED;
	answer.boot_error = TUTTI_IMAGE_BAD_CRC;
	assert_int_equal(boot(), -EIO);
	answer.boot_error = TUTTI_IMAGE_BAD_VERSION;
	assert_int_equal(boot(), -EPROTO);
	good_answer();
	answer.contract_min = answer.contract_max = TUTTI_CONTRACT_VERSION + 1;
	assert_int_equal(boot(), -EPROTO);
	good_answer();
	control->boot_sequence = UINT32_MAX; /* 0 means that nobody has asked for a boot */
	assert_int_equal(boot(), 0);
	assert_int_equal(control->boot_sequence, 1);
	assert_int_equal(device->boot_sequence, 1);
	answer.state = TUTTI_STATE_CRASHED;
	assert_int_equal(boot(), -EIO);
	unlink(path);
}

static void starts_late(void)
{
	if (now >= ready_at)
		starts();
}

/* A card that loads for longer than five seconds does not answer at all; the one before is not what was asked for. */
static void late_answers(void **state)
{
	static const uint32_t states[] = {TUTTI_STATE_OFF, TUTTI_STATE_LOADING, TUTTI_STATE_RUNNING,
					  TUTTI_STATE_RUNNING};
	uint64_t begun;

	make_image();
	for (unsigned i = 0; i < 4; i++) {
		good_answer();
		answer.state = states[i];
		answer.boot_sequence = i < 2 ? 0 : i == 2 ? 1 : -1u; /* of another boot */
		begun = now;
		assert_int_equal(boot(), -ETIMEDOUT);
		assert_in_range(now - begun, 5 * SECOND, 5 * SECOND + SECOND / 10);
	}
	good_answer();
	on_kick = NULL;
	on_sleep = starts_late;
	ready_at = now + 4 * SECOND;
	assert_int_equal(boot(), 0);
	unlink(path);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    CARD_TEST("SYS-05: what is a card", what_is_a_card),
	    CARD_TEST("SYS-05: regions of a card", its_regions),
	    CARD_TEST("SYS-05: memory of a card", its_memory),
	    CARD_TEST("SYS-05: limits of a card", its_limits),
	    CARD_TEST("SYS-05: images that are loaded", images),
	    CARD_TEST("SYS-05: which image is loaded", by_environment),
	    CARD_TEST("SYS-05, SYS-59: where images are looked for", beside_the_library),
	    CARD_TEST("SYS-05: what the firmware answers to boot", boot_answers),
	    CARD_TEST("SYS-05: late answers to boot", late_answers),
	};

	return cmocka_run_group_tests_name("SYS-05 booting without a driver", tests, NULL, NULL);
}
