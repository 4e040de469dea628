// SPDX-License-Identifier: MIT
/* link: -Wl,--wrap=calloc -Wl,--wrap=malloc -Wl,--wrap=aligned_alloc -Wl,--wrap=realloc -Wl,--wrap=mmap -Wl,--wrap=munmap -Wl,--wrap=pthread_create -Wl,--wrap=pthread_rwlock_wrlock */
/*
 * SYS-10: a host without memory or threads. Whichever request fails, the card is not created or does not boot, and leaves
 * nothing behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <zlib.h>

#include "emulator/card/card.h"

static unsigned left = ~0u; /* so many requests of this thread succeed before one fails */
static unsigned failed;
static int64_t mapped; /* bytes */
static _Thread_local bool ours;

static bool fails(void)
{
	bool now = ours && !left--;

	failed += now;
	return now;
}

void *__real_calloc(size_t n, size_t bytes);
void *__real_malloc(size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__real_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset);
int __real_munmap(void *address, size_t bytes);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *data);

void *__wrap_calloc(size_t n, size_t bytes)
{
	return fails() ? NULL : __real_calloc(n, bytes);
}

void *__wrap_malloc(size_t bytes)
{
	return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
	return fails() ? NULL : __real_aligned_alloc(alignment, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
	return fails() ? NULL : __real_realloc(old, bytes);
}

void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
{
	if (fails())
		return MAP_FAILED;
	__atomic_fetch_add(&mapped, (int64_t)bytes, __ATOMIC_RELAXED);
	return __real_mmap(address, bytes, protection, flags, file, offset);
}

int __wrap_munmap(void *address, size_t bytes)
{
	__atomic_fetch_sub(&mapped, (int64_t)bytes, __ATOMIC_RELAXED);
	return __real_munmap(address, bytes);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *data)
{
	return fails() ? EAGAIN : __real_pthread_create(thread, attributes, start, data);
}

int __real_pthread_rwlock_wrlock(pthread_rwlock_t *lock);

/* It fails if this thread still holds the lock. */
int __wrap_pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	int error = __real_pthread_rwlock_wrlock(lock);

	assert_int_equal(error, 0);
	return error;
}

/* ---- creation ---- */

static struct tutti_card_config config_of(enum tutti_card_mode mode)
{
	return (struct tutti_card_config){.mode = mode, .topology = {2, 3}, .gpcs = 2, .memory_bytes = 16u << 20, .workers = 2};
}

/* @spare: requests that a card can do without: for translations of kernels, for workers besides the first. */
static void every_part(enum tutti_card_mode mode, unsigned spare)
{
	const struct tutti_card_config config = config_of(mode);
	unsigned n = 0, without = 0;
	int error;

	do {
		struct tutti_card *card = NULL;

		left = n++;
		failed = 0;
		ours = true;
		error = tutti_card_create(&config, &card);
		ours = false;
		if (error)
			assert_true(failed && (error == -ENOMEM || error == -EAGAIN));
		else
			without += failed;
		assert_int_equal(!error, card != NULL);
		tutti_card_destroy(card);
		assert_int_equal(mapped, 0);
	} while (failed);
	assert_int_equal(without, spare);
	assert_true(n > 40);
}

static void creation(void **state)
{
	every_part(TUTTI_CARD_DETERMINISTIC, 1);
	every_part(TUTTI_CARD_FAST, 3);
}

/* ---- boot ---- */

/* Firmware that only idles, with one symbol. */
struct image {
	struct tutti_image head;
	uint32_t code[2];
	struct tutti_image_symbol symbol;
};

static void make_image(struct image *image)
{
	*image = (struct image){
		.head = {.magic = TUTTI_IMAGE_MAGIC, .header_bytes = sizeof(image->head), .file_bytes = sizeof(*image),
			 .firmware_version = TUTTI_VERSION(0, 7), .contract_min = TUTTI_VERSION(1, 0),
			 .contract_max = TUTTI_CONTRACT_VERSION, .segments = 1, .entry = 0x100,
			 .symbols_offset = offsetof(struct image, symbol), .symbols = 1,
			 .segment = {{0x100, 8, offsetof(struct image, code), 8}}},
		.code = {0x00000073, 0xffdff06f}, /* 1: ecall; j 1b */
		.symbol = {0x100, 8, "idle"},
	};
	image->head.crc = (uint32_t)crc32_z(0, (uint8_t *)image + 8, sizeof(*image) - 8);
}

static void booting(void **state)
{
	const struct tutti_card_config config = config_of(TUTTI_CARD_DETERMINISTIC);
	struct tutti_card_function function[2];
	struct tutti_card *card;
	struct image image;
	unsigned n = 0;

	make_image(&image);
	do {
		const struct tutti_discovery *discovery;
		struct tutti_control *control;
		struct tutti_status *status;

		assert_int_equal(tutti_card_create(&config, &card), 0);
		discovery = tutti_card_bar(card);
		control = (void *)((uint8_t *)tutti_card_bar(card) + discovery->control.offset);
		status = (void *)((uint8_t *)tutti_card_bar(card) + discovery->status.offset);
		memcpy((uint8_t *)tutti_card_bar(card) + discovery->aperture, &image, sizeof(image));
		control->image_bytes = sizeof(image);
		control->boot_sequence = 7;
		left = n++;
		failed = 0;
		ours = true;
		for (unsigned i = 0; i < 100 && !tutti_card_run(card, NULL, NULL); i++)
			;
		ours = false;
		assert_int_equal(status->boot_sequence, 7);
		if (status->state != TUTTI_STATE_FAILED && status->state != TUTTI_STATE_CRASHED) {
			/* without memory for the profile the firmware runs, and there is no profile */
			assert_int_equal(status->state, TUTTI_STATE_LOADING);
			assert_int_equal(tutti_card_profile(card, function, 2), !failed);
			assert_true(tutti_card_instructions(card) > 0);
		} else {
			assert_true(failed);
			assert_int_equal(tutti_card_instructions(card), 0);
		}
		tutti_card_destroy(card);
		assert_int_equal(mapped, 0);
	} while (failed);
	assert_true(n > 7);
}

/* ---- memory of the host ---- */

static void registering(void **state)
{
	static uint8_t pages[130][4096] __attribute__((aligned(4096)));
	const struct tutti_card_config config = config_of(TUTTI_CARD_DETERMINISTIC);
	struct tutti_card *card;
	unsigned refused = 0;

	assert_int_equal(tutti_card_create(&config, &card), 0);
	for (unsigned i = 0; i < 130; i++) {
		left = failed = 0;
		ours = true;
		if (tutti_card_host_add(card, pages[i], 4096)) {
			assert_int_equal(tutti_card_host_add(card, pages[i], 4096), 0);
			assert_int_equal(failed, 1);
			refused++;
		}
		ours = false;
	}
	assert_in_range(refused, 2, 4);
	tutti_card_destroy(card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"SYS-10: no memory or threads for a card", creation, NULL, NULL, NULL},
		{"SYS-10: no memory to boot", booting, NULL, NULL, NULL},
		{"SYS-10: no memory for a range of the host", registering, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests_name("card: no memory", tests, NULL, NULL);
}
