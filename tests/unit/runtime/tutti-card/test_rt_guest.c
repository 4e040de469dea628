// SPDX-License-Identifier: MIT
/* link: -Wl,--wrap=mmap,--wrap=munmap */
/* tutti-card: where the memory of a guest lies (SYS-10), and the messages of XRT's emulation. */
#undef _GNU_SOURCE /* the sources below define it in their own way */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "tutti-card/guest_memory.c"
#include "tutti-card/wire.c"

#include "open_files.h"

/* ---- memory ---- */

#define GIB (1ull << 30)

/* How much memory QEMU puts below the hole, for guests of these sizes. */
static const struct {
	bool q35;
	uint64_t bytes, low;
} machines[] = {
	{true, 64u << 20, 64u << 20}, {true, 0xb0000000u - 4096, 0xb0000000u - 4096}, {true, 0xb0000000u, 2 * GIB}, {true, 5 * GIB, 2 * GIB},
	{false, 3 * GIB, 3 * GIB},    {false, 0xe0000000u - 4096, 0xe0000000u - 4096}, {false, 0xe0000000u, 3 * GIB}, {false, 5 * GIB, 3 * GIB},
};

static void places(void **state)
{
	char path[] = "/tmp/tutti-guest-XXXXXX";
	int file = mkstemp(path);
	struct guest_memory memory;

	for (unsigned i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		const uint64_t low = machines[i].low, above = machines[i].bytes - low;

		assert_int_equal(ftruncate(file, 0), 0);
		assert_int_equal(guest_memory_init(&memory, path, machines[i].q35), 0);
		assert_null(guest_memory_pointer(&memory, 0, 1)); /* QEMU has not made it yet */
		assert_int_equal(ftruncate(file, (off_t)machines[i].bytes), 0);
		assert_ptr_equal(guest_memory_pointer(&memory, 0, low), memory.base);
		assert_null(guest_memory_pointer(&memory, 0, low + 1));
		assert_ptr_equal(guest_memory_pointer(&memory, low - 1, 1), memory.base + low - 1);
		assert_null(guest_memory_pointer(&memory, low - 1, 2));
		assert_null(guest_memory_pointer(&memory, low, 1));
		assert_null(guest_memory_pointer(&memory, 4 * GIB - 1, 1));
		assert_null(guest_memory_pointer(&memory, 1, ~0ull));
		if (above) {
			assert_ptr_equal(guest_memory_pointer(&memory, 4 * GIB, above), memory.base + low);
			assert_ptr_equal(guest_memory_pointer(&memory, 4 * GIB + above - 1, 1), memory.base + low + above - 1);
		}
		assert_null(guest_memory_pointer(&memory, 4 * GIB, above + 1));
		assert_null(guest_memory_pointer(&memory, 4 * GIB + above, 1));
		assert_null(guest_memory_pointer(&memory, 4 * GIB + above + 1, 1));
		assert_null(guest_memory_pointer(&memory, 4 * GIB + above + 8192, 4096));
		assert_null(guest_memory_pointer(&memory, 4 * GIB + above - 1, ~0ull));
		assert_null(guest_memory_pointer(&memory, ~0ull, 1));
		guest_memory_fini(&memory);
	}
	close(file);
	unlink(path);
}

/* Once a guest's memory is dropped, what the card still stores goes nowhere. The next guest may have less memory. */
static void next_guest(void **state)
{
	char path[] = "/tmp/tutti-guest-XXXXXX";
	int file = mkstemp(path);
	struct guest_memory memory;
	uint8_t *word, byte;

	assert_int_equal(ftruncate(file, 8192), 0);
	assert_int_equal(guest_memory_init(&memory, path, true), 0);
	word = guest_memory_pointer(&memory, 4096, 1);
	*word = 7;
	assert_int_equal(pread(file, &byte, 1, 4096), 1);
	assert_int_equal(byte, 7);
	guest_memory_drop(&memory);
	*word = 8;
	assert_int_equal(pread(file, &byte, 1, 4096), 1);
	assert_int_equal(byte, 7);
	assert_int_equal(ftruncate(file, 4096), 0);
	assert_null(guest_memory_pointer(&memory, 4096, 1));
	assert_ptr_equal(guest_memory_pointer(&memory, 0, 4096), memory.base);
	guest_memory_drop(&memory);
	assert_int_equal(ftruncate(file, 0), 0); /* that of the one after it is not there yet */
	assert_null(guest_memory_pointer(&memory, 0, 1));
	guest_memory_fini(&memory);
	assert_int_equal(guest_memory_init(&memory, NULL, true), 0); /* without bus mastering */
	assert_null(guest_memory_pointer(&memory, 0, 1));
	guest_memory_fini(&memory);
	close(file);
	unlink(path);
}

static bool no_mapping;
static uint64_t mapped; /* bytes that have not been given back */

void *__real_mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset);

void *__wrap_mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset)
{
	if (!no_mapping) {
		mapped += flags & MAP_FIXED ? 0 : bytes;
		return __real_mmap(at, bytes, access, flags, file, offset);
	}
	errno = ENOMEM;
	return MAP_FAILED;
}

int __real_munmap(void *at, size_t bytes);
int __wrap_munmap(void *at, size_t bytes);

int __wrap_munmap(void *at, size_t bytes)
{
	mapped -= bytes;
	return __real_munmap(at, bytes);
}

/* Without room for it there is no memory until there is. No file stays open, and all room is given back, once. */
static void no_room_for_memory(void **state)
{
	char path[] = "/tmp/tutti-guest-XXXXXX";
	int file = mkstemp(path);
	struct guest_memory memory;
	unsigned files = open_files();

	mapped = 0;
	assert_int_equal(ftruncate(file, 8192), 0);
	no_mapping = true;
	assert_int_equal(guest_memory_init(&memory, path, true), -ENOMEM);
	guest_memory_fini(&memory); /* of which there is nothing */
	no_mapping = false;
	assert_int_equal(guest_memory_init(&memory, path, true), 0);
	no_mapping = true;
	assert_null(guest_memory_pointer(&memory, 0, 1));
	no_mapping = false;
	assert_ptr_equal(guest_memory_pointer(&memory, 0, 8192), memory.base);
	assert_int_equal(open_files(), files);
	assert_true(mapped >= 8192);
	guest_memory_fini(&memory);
	guest_memory_fini(&memory);
	assert_true(!mapped);
	close(file);
	unlink(path);
}

static char said[256]; /* the first line of those */

/* How many lines are printed when the card asks twice. */
static unsigned lines_of_two(struct guest_memory *memory, bool found)
{
	FILE *out = tmpfile();
	int keep = dup(2), c;
	unsigned lines = 0;

	fflush(stderr);
	dup2(fileno(out), 2);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(guest_memory_pointer(memory, 0, 1) != NULL, found);
	dup2(keep, 2);
	close(keep);
	rewind(out);
	*said = 0;
	if (fgets(said, sizeof(said), out))
		rewind(out);
	while ((c = fgetc(out)) != EOF)
		lines += c == '\n';
	fclose(out);
	return lines;
}

/* The card asks again and again, so a file that is not there is told of once, until it has been there. */
static void told_once(void **state)
{
	char path[] = "/tmp/tutti-guest-XXXXXX";
	int file = mkstemp(path);
	struct guest_memory memory;

	assert_int_equal(guest_memory_init(&memory, path, true), 0);
	for (unsigned round = 0; round < 2; round++) {
		assert_int_equal(ftruncate(file, 0), 0);
		assert_int_equal(lines_of_two(&memory, false), 1);
		assert_non_null(strstr(said, strerror(ENODATA)));
		assert_int_equal(lines_of_two(&memory, false), 0);
		assert_int_equal(ftruncate(file, 4096), 0);
		assert_int_equal(lines_of_two(&memory, true), 0);
		guest_memory_drop(&memory);
	}
	assert_int_equal(ftruncate(file, (off_t)RESERVE + 4096), 0);
	assert_int_equal(lines_of_two(&memory, false), 1);
	assert_non_null(strstr(said, strerror(EFBIG)));
	assert_int_equal(ftruncate(file, (off_t)RESERVE), 0);
	assert_int_equal(lines_of_two(&memory, true), 0);
	guest_memory_fini(&memory);
	close(file);
	unlink(path);
}

/* ---- messages ---- */

static const uint64_t numbers[] = {0, 1, 127, 128, 300, 16383, 16384, 0xffffffffu, 1ull << 62, 1ull << 63, ~0ull};

static void round_trip(void **state)
{
	uint8_t data[256];
	struct wire_reply reply = {data, sizeof(data), 0};
	struct wire_bytes message = {data, 0}, text;
	size_t end[sizeof(numbers) / sizeof(*numbers)], end_of_text, end_behind;

	for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		wire_put_number(&reply, i + 1, numbers[i]);
		end[i] = reply.used;
	}
	memcpy(wire_put_string(&reply, 200, 5), "hello", 5);
	end_of_text = reply.used;
	wire_put_number(&reply, 202, 7);
	end_behind = reply.used;
	assert_non_null(wire_put_string(&reply, 201, 0));
	wire_put_number(&reply, 1, 99); /* of two fields with one number the first one is used */
	message.bytes = reply.used;
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		assert_true(wire_number(message, i + 1) == numbers[i]);
	text = wire_string(message, 200);
	assert_int_equal(text.bytes, 5);
	assert_memory_equal(text.data, "hello", 5);
	assert_int_equal(wire_string(message, 201).bytes, 0);
	assert_int_equal(wire_number(message, 77), 0);
	assert_int_equal(wire_string(message, 77).bytes, 0);
	/* if a message ends early, its complete fields can be read, but nothing behind its end */
	for (size_t bytes = 0; bytes < reply.used; bytes++) {
		uint8_t *copy = malloc(bytes + !bytes);

		memcpy(copy, data, bytes);
		for (unsigned place = 0; place < 2; place++) { /* in a block of its own, then in front of the rest */
			message = (struct wire_bytes){place ? data : copy, bytes};
			for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
				assert_true(wire_number(message, i + 1) == (end[i] <= bytes ? numbers[i] : 0));
			text = wire_string(message, 200);
			assert_int_equal(text.bytes, end_of_text <= bytes ? 5 : 0);
			assert_int_equal(wire_number(message, 202), end_behind <= bytes ? 7 : 0);
		}
		free(copy);
	}
}

static void other_kinds(void **state)
{
	static const uint8_t data[] = {1 << 3 | FIXED64, 1, 2, 3, 4, 5, 6, 7, 8, 2 << 3 | FIXED32, 9, 8, 7, 6, 3 << 3, 42,
				       4 << 3 | 3, 5 << 3, 1};
	/* a number without an end, and one of eleven bytes */
	static const uint8_t endless[] = {1 << 3, 0x80, 0x80}, eleven[] = {1 << 3, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1};
	struct wire_bytes message = {data, sizeof(data)};

	assert_true(wire_number(message, 1) == 0x0807060504030201ull);
	assert_true(wire_number(message, 2) == 0x06070809);
	assert_true(wire_number(message, 3) == 42);
	assert_true(wire_number(message, 5) == 0); /* a field of an unknown kind ends the message */
	assert_int_equal(wire_number((struct wire_bytes){endless, sizeof(endless)}, 1), 0);
	assert_int_equal(wire_number((struct wire_bytes){eleven, sizeof(eleven)}, 1), 0);
	for (size_t bytes = 1; bytes < 9; bytes++)
		assert_int_equal(wire_number((struct wire_bytes){data, bytes}, 1), 0);
	assert_true(wire_number((struct wire_bytes){data, 9}, 1) == 0x0807060504030201ull); /* which is all of it */
}

/* Bytes that do not fit are counted but not written. */
static void no_room(void **state)
{
	for (size_t room = 0; room < 12; room++) {
		uint8_t data[16];
		struct wire_reply reply = {data, room, 0};
		uint8_t *text;

		memset(data, 0xee, sizeof(data));
		wire_put_number(&reply, 1, 300);
		text = wire_put_string(&reply, 2, 4);
		assert_int_equal(reply.used, 9);
		assert_ptr_equal(text, room >= 9 ? data + 5 : NULL);
		for (size_t i = room; i < sizeof(data); i++)
			assert_int_equal(data[i], 0xee);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"SYS-10: a guest's memory, below and above the hole", places, NULL, NULL, NULL},
		{"SYS-10: the memory of the next guest", next_guest, NULL, NULL, NULL},
		{"SYS-10: a guest's memory that cannot be mapped", no_room_for_memory, NULL, NULL, NULL},
		{"SYS-10: memory that is not there is told of once", told_once, NULL, NULL, NULL},
		{"SYS-03: messages of XRT's emulation, whole and cut", round_trip, NULL, NULL, NULL},
		{"SYS-03: fields of other kinds", other_kinds, NULL, NULL, NULL},
		{"SYS-03: a message that has no room", no_room, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests_name("tutti-card", tests, NULL, NULL);
}
