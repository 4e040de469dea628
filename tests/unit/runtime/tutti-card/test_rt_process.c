/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=mmap,--wrap=memfd_create,--wrap=ftruncate */
/* The card that tutti-card makes: how large its BAR is, where that lies, and what topologies it knows (SYS-10, SYS-14). */
#undef _GNU_SOURCE /* the sources below define it in their own way */
#include "tutti-card/control.c"
#include "tutti-card/guest_memory.c"
#include "tutti-card/peer.c"
#include "tutti-card/process.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>

#include "open_files.h"
#include "tutti.h"

#define MIB	(1ull << 20)

/* ---- sizes of the BAR ---- */

static void bars(void **state)
{
	struct process p = {0};
	struct tutti_card_config given = {.memory_bytes = 64 * MIB};
	uint64_t window = tutti_card_bar_bytes(&given) - 64 * MIB, power = 1;

	while (power <= window)
		power *= 2;
	/* card memory is what the window leaves */
	assert_int_equal(choose_size(&p, 0), 0);
	assert_int_equal(p.bar_bytes, 128 * MIB);
	assert_int_equal(p.config.memory_bytes, 128 * MIB - window);
	p = (struct process){0};
	assert_int_equal(choose_size(&p, power), 0);
	assert_int_equal(p.bar_bytes, power);
	assert_int_equal(p.config.memory_bytes, power - window);
	p = (struct process){0};
	assert_int_equal(choose_size(&p, power / 2), -EINVAL);
	assert_int_equal(choose_size(&p, 96 * MIB), -EINVAL);
	/* the topology says how much there is: the BAR holds that */
	p.config = given;
	assert_int_equal(choose_size(&p, 0), 0);
	assert_int_equal(p.bar_bytes, 128 * MIB);
	assert_int_equal(p.config.memory_bytes, 64 * MIB);
	assert_int_equal(choose_size(&p, 64 * MIB), -EINVAL);
	assert_int_equal(choose_size(&p, 65 * MIB), 0); /* rounded up */
	assert_int_equal(p.bar_bytes, 128 * MIB);
	assert_int_equal(choose_size(&p, 128 * MIB), 0);
	assert_int_equal(choose_size(&p, 256 * MIB), 0);
	assert_int_equal(p.bar_bytes, 256 * MIB);
	assert_int_equal(choose_size(&p, (1ull << 63) + 1), -EINVAL); /* no power of two is as large */
	assert_int_equal(choose_size(&p, UINT64_MAX), -EINVAL);
	p.config.memory_bytes = 1; /* not a valid size of card memory */
	assert_int_equal(choose_size(&p, 0), -EINVAL);
	p.config.memory_bytes = 128 * MIB - window;
	assert_int_equal(choose_size(&p, 0), 0);
	assert_int_equal(p.bar_bytes, 128 * MIB);
}

/* A card that is not what was asked for is not made. */
static void topologies(void **state)
{
	char path[] = "/tmp/tutti-topology-XXXXXX";
	struct process_options options = {.topology = path, .vectors = 1, .workers = 1};
	struct process p;
	int file = mkstemp(path);

	assert_int_equal(write(file, "teapot 1\n", 9), 9);
	assert_int_equal(process_init(&p, &options), -EINVAL);
	assert_null(p.card);
	assert_int_equal(pwrite(file, "gpc 3\n#\n\n", 9, 0), 9);
	assert_int_equal(process_topology(&p.config, &options), 0);
	assert_int_equal(p.config.gpcs, 1);
	close(file);
	unlink(path);
	assert_int_equal(process_init(&p, &options), -ENOENT);
	assert_null(p.card);
	options = (struct process_options){.size = 3 * MIB};
	assert_int_equal(process_init(&p, &options), -EINVAL);
	assert_null(p.card);
}

static unsigned mappings, no_mapping_at; /* the how many-th fails; 0: none */
static uint8_t *reserved;		 /* the newest range of addresses without access */
static bool no_file, no_bytes;

void *__real_mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset);
int __real_memfd_create(const char *name, unsigned flags);
int __wrap_memfd_create(const char *name, unsigned flags);
int __real_ftruncate(int file, off_t bytes);
int __wrap_ftruncate(int file, off_t bytes);

void *__wrap_mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset)
{
	void *mapped = MAP_FAILED;

	if (__atomic_add_fetch(&mappings, 1, __ATOMIC_RELAXED) == no_mapping_at)
		errno = ENOMEM;
	else
		mapped = __real_mmap(at, bytes, access, flags, file, offset);
	if (access == PROT_NONE)
		reserved = mapped;
	return mapped;
}

int __wrap_memfd_create(const char *name, unsigned flags)
{
	if (!no_file)
		return __real_memfd_create(name, flags);
	errno = ENFILE;
	return -1;
}

int __wrap_ftruncate(int file, off_t bytes)
{
	if (!no_bytes)
		return __real_ftruncate(file, bytes);
	errno = EFBIG;
	return -1;
}

static int try_bar(struct process *p)
{
	int fd;

	*p = (struct process){.bar_bytes = 2 * MIB};
	mappings = 0;
	fd = create_bar(p);
	no_mapping_at = 0;
	no_file = no_bytes = false;
	return fd;
}

/* A BAR begins at a multiple of its size, in addresses of its own. What fails leaves no file open. */
static void bars_are_made(void **state)
{
	unsigned files = open_files();
	uint8_t *bar, byte = 0;
	struct process p;
	int fd;

	no_file = true;
	assert_int_equal(try_bar(&p), -ENFILE);
	no_bytes = true;
	assert_int_equal(try_bar(&p), -EFBIG);
	for (unsigned i = 1; i <= 2; i++) {
		no_mapping_at = i;
		assert_int_equal(try_bar(&p), -ENOMEM);
	}
	assert_int_equal(open_files(), files);
	fd = try_bar(&p);
	assert_true(fd >= 0);
	bar = p.config.bar;
	assert_int_equal((uintptr_t)bar % p.bar_bytes, 0);
	assert_true(bar >= reserved && bar + p.bar_bytes <= reserved + 2 * p.bar_bytes);
	bar[p.bar_bytes - 1] = 7;
	assert_int_equal(pread(fd, &byte, 1, (off_t)p.bar_bytes - 1), 1); /* QEMU maps the same bytes */
	assert_int_equal(byte, 7);
	close(fd);
}

/* In a process that was started without standard input, the BAR's file descriptor may be 0. */
static void without_input(void **state)
{
	int input = dup(0);
	struct process p;

	close(0);
	assert_int_equal(try_bar(&p), 0);
	dup2(input, 0);
	close(input);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"SYS-10: sizes of the BAR", bars, NULL, NULL, NULL},
	    {"SYS-10: where the BAR lies", bars_are_made, NULL, NULL, NULL},
	    {"SYS-10: a BAR in a process without standard input", without_input, NULL, NULL, NULL},
	    {"SYS-14: topologies", topologies, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests_name("SYS-10, SYS-14 the card of tutti-card", tests, NULL, NULL);
}
