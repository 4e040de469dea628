/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=code_kernel_name */
/* The text of a fault names its cause, access, memory, place and packet (SYS-58). A fake card reports the faults. */
#include "rt_rig.h"

#include <stdio.h>

#include "code/code_name.h"

static struct tutti_queue *queue;
static char text[512];

__attribute__((format(printf, 2, 3))) static void says(uint64_t address, const char *format, ...)
{
	const struct tutti_fault fault = {.code = TUTTI_ERROR_MEMORY_FAULT, .cause = TUTTI_CAUSE_PROTECTION,
					  .access = TUTTI_ACCESS_WRITE, .address = address, .sm = 0xffff};
	char words[128];
	va_list list;

	va_start(list, format);
	vsnprintf(words, sizeof(words), format, list);
	va_end(list);
	assert_true(tutti_fault_text(queue, &fault, text, sizeof(text)) > 0);
	if (!strstr(text, words))
		fail_msg("\"%s\" without \"%s\"", text, words);
}

/* Each byte of an allocation is named by its number, and an address after the end by its distance from there. */
static void allocations(void **state)
{
	static const size_t sizes[] = {64, 128, 4096, 3 * 4096, 1 << 20};

	queue = a_queue(0, false);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		const size_t size = sizes[i], at[] = {0, 1, 63, size / 2, size - 1};
		void *memory;
		uintptr_t start;

		assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, size, &memory), 0);
		start = (uintptr_t)memory;
		for (unsigned k = 0; k < sizeof(at) / sizeof(*at); k++)
			says(start + at[k], ", byte %zu of the %zu bytes allocated at %#zx;", at[k], size, start);
		for (unsigned k = 0; k < 2; k++)
			says(start + size + k, ", %u bytes behind the %zu bytes allocated at %#zx;", k, size, start);
		assert_int_equal(tutti_memory_free(device, memory), 0);
		says(start, ", in no allocation;");
	}
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

/* Private and shared memory belong to no allocation, and neither does address 0. */
static void elsewhere(void **state)
{
	queue = a_queue(0, false);
	says(0, ", in no allocation;");
	says(TUTTI_WAVE_SHARED - 1, ", in no allocation;");
	says(TUTTI_WAVE_SHARED, ", shared memory;");
	says(TUTTI_WAVE_PRIVATE - 1, ", shared memory;");
	says(TUTTI_WAVE_PRIVATE, ", private memory;");
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

/* The text has its parts in the right order and leaves out what is not known. */
static void sentences(void **state)
{
	static const struct {
		struct tutti_fault fault;
		const char *text;
	} rows[] = {
	    {{.code = TUTTI_ERROR_PACKET, .sm = 0xffff}, "invalid packet; packet 0"},
	    {{.code = TUTTI_ERROR_PACKET, .sm = 0xffff, .packet = 9, .kernel = 1}, "invalid packet; packet 9, kernel 1 of it"},
	    {{.code = TUTTI_ERROR_TIMEOUT, .cause = TUTTI_CAUSE_WATCHDOG, .pc = 0x1234, .sm = 3, .wave = 5, .packet = 40},
	     "kernel hung: no workgroup completed within the queue's limit: no progress within the time limit; pc 0x1234, "
	     "SM 3, wave 5; packet 40"},
	    {{.code = TUTTI_ERROR_SM, .sm = 0}, "an SM does not answer, SM 0, wave 0; packet 0"},
	    {{.code = TUTTI_ERROR_KERNEL_TRAP, .cause = TUTTI_CAUSE_ABORT, .access = TUTTI_ACCESS_READ, .address = 77, .sm = 0xffff},
	     "kernel trap: the kernel has called tutti_abort() with code 77; packet 0"},
	    {{.code = TUTTI_ERROR_MEMORY_FAULT, .access = TUTTI_ACCESS_READ, .address = 0x10, .sm = 0xffff},
	     "memory fault: read of 0x10, in no allocation; packet 0"},
	    {{.code = TUTTI_ERROR_MEMORY_FAULT, .access = TUTTI_ACCESS_ATOMIC, .cause = 16, .address = 0x10, .sm = 0xffff},
	     "memory fault: atomic operation on 0x10, in no allocation; packet 0"},
	    {{.code = TUTTI_ERROR_MEMORY_FAULT, .access = TUTTI_ACCESS_ATOMIC + 1, .address = 0x10, .sm = 0xffff},
	     "memory fault; packet 0"},
	    {{.code = TUTTI_ERROR_TENSOR, .cause = TUTTI_CAUSE_TENSOR + TUTTI_TENSOR_ERROR_NONE, .sm = 0xffff}, NULL},
	    {{.code = TUTTI_ERROR_TENSOR, .cause = TUTTI_CAUSE_TENSOR + TUTTI_TENSOR_ERRORS - 1, .sm = 0xffff}, NULL},
	};

	queue = a_queue(0, false);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct tutti_fault *fault = &rows[i].fault;
		char of_tensor[256];

		snprintf(of_tensor, sizeof(of_tensor), "rejected tensor request: %s; packet 0",
			 tutti_tensor_strerror((enum tutti_tensor_error)(fault->cause - TUTTI_CAUSE_TENSOR)));
		assert_true(tutti_fault_text(queue, fault, text, sizeof(text)) > 0);
		assert_string_equal(text, rows[i].text ? rows[i].text : of_tensor);
	}
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

/* Each cause has its own wording. The access is given only for causes that have one, such as unmapped memory. */
static void every_cause(void **state)
{
	static const char start[] = "memory fault: ";
	char words[TUTTI_CAUSE_CGA_SEGMENT + 1][64];

	queue = a_queue(0, false);
	for (unsigned cause = 1; cause <= TUTTI_CAUSE_CGA_SEGMENT; cause++) {
		bool accesses = cause < TUTTI_CAUSE_ILLEGAL || cause > TUTTI_CAUSE_WATCHDOG;
		const char *end = accesses ? ", jump to 0x5, in no allocation; packet 0" : "; packet 0";
		const struct tutti_fault fault = {.code = TUTTI_ERROR_MEMORY_FAULT, .cause = (uint16_t)cause,
						  .access = TUTTI_ACCESS_EXECUTE, .address = 5, .sm = 0xffff};
		size_t length = (size_t)tutti_fault_text(queue, &fault, text, sizeof(text)), of_cause;

		assert_true(length < sizeof(text) && length > strlen(start) + strlen(end));
		of_cause = length - strlen(start) - strlen(end);
		assert_memory_equal(text, start, strlen(start));
		assert_string_equal(text + length - strlen(end), end);
		snprintf(words[cause], sizeof(words[cause]), "%.*s", (int)of_cause, text + strlen(start));
		assert_null(strstr(words[cause], "jump"));
		for (unsigned other = 1; other < cause; other++)
			assert_string_not_equal(words[cause], words[other]);
	}
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

/* A buffer that is too small gets the beginning of the text, and the full length is returned in any case. */
static void cut(void **state)
{
	const struct tutti_fault fault = {.code = TUTTI_ERROR_MEMORY_FAULT, .cause = TUTTI_CAUSE_UNMAPPED,
					  .access = TUTTI_ACCESS_WRITE, .pc = 0x99, .sm = 2, .kernel = 4};
	char whole[256];
	int length;

	queue = a_queue(0, false);
	length = tutti_fault_text(queue, &fault, whole, sizeof(whole));
	assert_int_equal(length, strlen(whole));
	for (size_t size = 0; size <= (size_t)length + 2; size++) {
		size_t held = size > (size_t)length ? (size_t)length : size - 1;

		memset(text, '~', sizeof(text));
		assert_int_equal(tutti_fault_text(queue, &fault, text, size), length);
		if (size) {
			assert_memory_equal(text, whole, held);
			assert_int_equal(text[held], 0);
		}
		for (size_t i = size ? held + 1 : 0; i < sizeof(text); i++)
			assert_int_equal(text[i], '~');
	}
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

/* Kernels of loaded code. */
#define KERNEL(n) (0x10000ull + 64 * (n))

bool __wrap_code_kernel_name(struct tutti_device *device, uint64_t object, char name[CODE_NAME_BYTES]);
bool __wrap_code_kernel_name(struct tutti_device *device, uint64_t object, char name[CODE_NAME_BYTES])
{
	if (object < KERNEL(0) || object >= KERNEL(16))
		return false;
	snprintf(name, CODE_NAME_BYTES, "k%u", (unsigned)(object - KERNEL(0)) / 64);
	return true;
}

/* Three kernels as differences. That of the last one lies where a dispatch packet has its kernel. */
static union tutti_packet condensed(void)
{
	struct diff diffs[3] = {{.vector = TUTTI_DIFF_KERNEL_OBJECT}, {.vector = TUTTI_DIFF_KERNEL_OBJECT}};
	union tutti_packet packet = {.word = {TUTTI_PACKET_CONDENSED}};

	diffs[2].vector = TUTTI_DIFF_KERNEL_OBJECT | TUTTI_DIFF_WORKGROUP_X | TUTTI_DIFF_WORKGROUP_Y | TUTTI_DIFF_GRID_X;
	diffs[2].value[2] = diffs[2].value[3] = 8;
	diffs[2].value[5] = 64;
	for (unsigned i = 0; i < 3; i++)
		diffs[i].value[10] = KERNEL(i);
	assert_true(diff_encode(&packet.condensed, false, diffs, 3) > 0);
	assert_true(packet.dispatch.kernel_object == KERNEL(2));
	return packet;
}

/* A packet in the ring names its kernel, before the card takes it and afterwards. A condensed one does not say which. */
static void kernels(void **state)
{
	struct tutti_fault fault = {.code = TUTTI_ERROR_KERNEL_TRAP, .sm = 0xffff};
	struct tutti_launch launch = a_launch(5, 0, NULL);
	union tutti_packet packet = condensed();

	queue = a_queue(TUTTI_QUEUE_EXTENDED, false);
	assert_int_equal(tutti_dispatch(queue, &launch), 0);
	assert_int_equal(tutti_queue_submit(queue, &packet), 0);
	for (unsigned taken = 0; taken < 2; taken++) {
		fault.packet = fault.kernel = 0;
		tutti_fault_text(queue, &fault, text, sizeof(text));
		assert_string_equal(text, "kernel trap in kernel k5; packet 0");
		for (fault.packet = 1; fault.kernel < 3; fault.kernel++) {
			tutti_fault_text(queue, &fault, text, sizeof(text));
			assert_null(strstr(text, "in kernel"));
		}
		take_packets(queue);
	}
	assert_int_equal(tutti_queue_destroy(queue), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {T(allocations), T(elsewhere), T(sentences), T(every_cause), T(cut), T(kernels)};

	return cmocka_run_group_tests_name("SYS-58 the text of a fault", tests, NULL, NULL);
}
