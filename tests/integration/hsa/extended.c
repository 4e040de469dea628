// SPDX-License-Identifier: MIT
/*
 * SYS-43, PKT-08, PKT-12: Tutti's packets, recordings, tasks and tensor descriptors through HSA; and that queues which
 * have not asked for them ignore or refuse them. The one program here that includes headers of Tutti.
 */
#include <unistd.h>

#include "hsa_test.h"
#include <hsa/hsa_ven_tutti.h>

#define STORE(entry) ((uint16_t)(TUTTI_REF_STORE | (entry)))

static hsa_ven_tutti_1_00_pfn_t tutti;
static hsa_executable_t executable;
static struct kernel count;

static int begin(void **state)
{
	int error = found_all(state);

	if (error)
		return error;
	hsa_system_get_major_extension_table(HSA_EXTENSION_TUTTI, 1, sizeof(tutti), &tutti);
	executable = load_code("test");
	count = kernel_of(executable, "count");
	return 0;
}

/* Who gets no table fails here and not by a call of address 0. */
static hsa_queue_t *extended_queue(const hsa_ven_tutti_queue_options_t *options)
{
	hsa_queue_t *queue = NULL;

	assert_non_null(tutti.hsa_ven_tutti_queue_create);
	OK(tutti.hsa_ven_tutti_queue_create(found.card, 32, HSA_QUEUE_TYPE_MULTI, options, NULL, NULL, &queue));
	assert_non_null(queue);
	return queue;
}

static void submit(hsa_queue_t *queue, const void *packet, uint16_t header)
{
	uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);

	put(queue, index, packet, header);
	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static struct word *counter(uint64_t value)
{
	struct word *args = fine_memory(sizeof(*args));

	*args = (struct word){fine_memory(8), value};
	return args;
}

static void the_extension_is_there(void **state)
{
	uint8_t mask[128] = {0};
	const char *name = NULL;
	bool yes = false;

	(void)state;
	OK(hsa_agent_get_info(found.card, HSA_AGENT_INFO_EXTENSIONS, mask));
	assert_true(mask[HSA_EXTENSION_TUTTI / 8] & 1 << HSA_EXTENSION_TUTTI % 8);
	OK(hsa_extension_get_name(HSA_EXTENSION_TUTTI, &name));
	assert_string_equal(name, "HSA_EXTENSION_TUTTI");
	OK(hsa_agent_extension_supported(HSA_EXTENSION_TUTTI, found.card, 1, 0, &yes));
	assert_true(yes);
	for (size_t i = 0; i < sizeof(tutti) / sizeof(void (*)(void)); i++)
		assert_non_null(((void **)&tutti)[i]);
}

static void send_reference(hsa_queue_t *queue, unsigned entry, struct word *args, hsa_signal_t done)
{
	hsa_kernel_dispatch_packet_t packet = dispatch_packet(&count, 1, 1, args, done);

	packet.reserved0 = STORE(entry);
	submit(queue, &packet, HEADER(HSA_PACKET_TYPE_KERNEL_DISPATCH, 1));
}

/* @n kernels, each exactly as the reference. */
static void send_condensed(hsa_queue_t *queue, unsigned entry, unsigned n)
{
	struct tutti_condensed_packet packet = {.type = TUTTI_PACKET_CONDENSED, .num_kernels = (uint8_t)n};

	for (unsigned i = 0; i < n; i++)
		packet.unit[i] = (uint16_t)entry;
	submit(queue, &packet, (uint16_t)(TUTTI_PACKET_CONDENSED | n << 8));
}

static void references_and_condensed_packets(void **state)
{
	hsa_queue_t *queue = extended_queue(NULL), *other;
	const hsa_ven_tutti_queue_options_t shared = {.references_of = queue};
	struct word *args = counter(3);
	hsa_signal_t done = new_signal(1 + 31 + 5);

	(void)state;
	send_reference(queue, 3, args, done);
	send_condensed(queue, 3, 31);
	assert_int_equal(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 5, UINT64_MAX, HSA_WAIT_STATE_BLOCKED), 5);
	assert_int_equal(*args->word, 3 * 32);
	other = extended_queue(&shared);
	send_condensed(other, 3, 5);
	wait_zero(done);
	assert_int_equal(*args->word, 3 * 37);
	OK(hsa_queue_destroy(other));
	OK(hsa_queue_destroy(queue));
}

/* What a program that never writes reserved0 finds there on the next round is 0. */
static void retired_slots_are_scrubbed(void **state)
{
	hsa_queue_t *queue = extended_queue(NULL);
	const hsa_kernel_dispatch_packet_t *slot = queue->base_address;
	struct word *args = counter(1);
	hsa_signal_t done = new_signal(1 + 31 + (int)queue->size);

	(void)state;
	send_reference(queue, 7, args, done);
	send_condensed(queue, 7, 31);
	while (hsa_queue_load_read_index_scacquire(queue) < 2)
		usleep(100);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(slot[i].header & 0xff, HSA_PACKET_TYPE_INVALID);
		assert_int_equal(slot[i].reserved0, 0);
	}
	for (uint32_t i = 0; i < queue->size; i++) {
		hsa_kernel_dispatch_packet_t packet = dispatch_packet(&count, 1, 1, args, done);

		packet.reserved0 = slot[(2 + i) % queue->size].reserved0;
		submit(queue, &packet, HEADER(HSA_PACKET_TYPE_KERNEL_DISPATCH, 0));
	}
	wait_zero(done);
	assert_int_equal(*args->word, 1 + 31 + queue->size);
	OK(hsa_queue_destroy(queue));
}

struct report {
	hsa_signal_t told;
	hsa_status_t status;
};

static void on_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
	struct report *report = data;

	(void)queue;
	report->status = status;
	hsa_signal_store_screlease(report->told, 0);
}

static void stops(hsa_queue_t *queue, struct report *report, const void *packet, uint16_t header)
{
	submit(queue, packet, header);
	wait_zero(report->told);
	assert_int_equal(report->status, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
	OK(hsa_queue_destroy(queue));
}

static void ordinary_queues_ignore_stale_fields(void **state)
{
	struct report report = {.told = new_signal(1)};
	const struct tutti_condensed_packet condensed = {.unit = {3}};
	hsa_kernel_dispatch_packet_t packet;
	struct word *args = counter(1);
	hsa_signal_t done = new_signal(8);
	hsa_queue_t *queue = NULL;

	(void)state;
	OK(hsa_queue_create(found.card, 16, HSA_QUEUE_TYPE_SINGLE, on_error, &report, UINT32_MAX, UINT32_MAX, &queue));
	for (unsigned i = 0; i < 8; i++) {
		packet = dispatch_packet(&count, 1, 1, args, done);
		packet.reserved0 = i & 1 ? STORE(i) : (uint16_t)(0x7ff8 + i);
		packet.reserved2 = i & 2 ? 0x123456789abcdef0 : 8;
		submit(queue, &packet, HEADER(HSA_PACKET_TYPE_KERNEL_DISPATCH, 0));
	}
	wait_zero(done);
	assert_int_equal(*args->word, 8);
	stops(queue, &report, &condensed, TUTTI_PACKET_CONDENSED | 1 << 8);
}

/* On an extended queue the same fields mean something. */
static void extended_queues_check_the_same_fields(void **state)
{
	struct report report = {.told = new_signal(1)};
	struct word *args = counter(1);
	hsa_kernel_dispatch_packet_t packet = dispatch_packet(&count, 1, 1, args, (hsa_signal_t){0});
	hsa_queue_t *queue = NULL;

	(void)state;
	assert_non_null(tutti.hsa_ven_tutti_queue_create);
	for (int i = 0; i < 2; i++) {
		packet.reserved0 = i ? 0 : 0x8008;
		packet.reserved2 = i ? 8 : 0;
		hsa_signal_store_relaxed(report.told, 1);
		OK(tutti.hsa_ven_tutti_queue_create(found.card, 16, HSA_QUEUE_TYPE_SINGLE, NULL, on_error, &report, &queue));
		stops(queue, &report, &packet, HEADER(HSA_PACKET_TYPE_KERNEL_DISPATCH, 0));
	}
	assert_int_equal(*args->word, 0);
}

static void recordings(void **state)
{
	enum { LAUNCHES = 6, REPLAYS = 10 };
	hsa_queue_t *queue = extended_queue(NULL), *plain = NULL;
	hsa_ven_tutti_recording_t recording = {0};
	struct word *first = counter(1), *second = counter(5);
	hsa_signal_t done = new_signal(REPLAYS + 1);
	uint32_t packets = 99;

	(void)state;
	OK(tutti.hsa_ven_tutti_record_begin(queue));
	FAILS(RESOURCE_FREE, tutti.hsa_ven_tutti_record_begin(queue));
	for (int i = 0; i < LAUNCHES; i++) {
		hsa_kernel_dispatch_packet_t packet =
			dispatch_packet(&count, 1, 1, first, i == LAUNCHES - 1 ? done : (hsa_signal_t){0});

		FAILS(INVALID_ARGUMENT, tutti.hsa_ven_tutti_record_dispatch(queue, &packet));
		packet.header = HEADER(HSA_PACKET_TYPE_KERNEL_DISPATCH, 1);
		OK(tutti.hsa_ven_tutti_record_dispatch(queue, &packet));
	}
	OK(tutti.hsa_ven_tutti_record_end(queue, &recording));
	FAILS(INVALID_QUEUE, tutti.hsa_ven_tutti_record_end(queue, &recording));
	for (int i = 0; i < REPLAYS; i++)
		OK(tutti.hsa_ven_tutti_replay(recording));
	OK(tutti.hsa_ven_tutti_recording_packets(recording, &packets));
	assert_int_equal(packets, 1);
	assert_int_equal(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED), 1);
	assert_int_equal(*first->word, LAUNCHES * REPLAYS);
	OK(tutti.hsa_ven_tutti_recording_set_kernarg(recording, 2, second));
	OK(tutti.hsa_ven_tutti_recording_set_grid(recording, 3, (hsa_dim3_t){7, 1, 1}));
	FAILS(INVALID_ARGUMENT, tutti.hsa_ven_tutti_recording_set_kernarg(recording, LAUNCHES, second));
	OK(tutti.hsa_ven_tutti_replay(recording));
	wait_zero(done);
	assert_int_equal(*second->word, 5);
	assert_int_equal(*first->word, LAUNCHES * REPLAYS + LAUNCHES - 2 + 7);
	OK(tutti.hsa_ven_tutti_recording_destroy(recording));
	FAILS(INVALID_ARGUMENT, tutti.hsa_ven_tutti_recording_destroy(recording));
	FAILS(INVALID_ARGUMENT, tutti.hsa_ven_tutti_replay(recording));
	OK(hsa_queue_create(found.card, 16, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX, UINT32_MAX, &plain));
	FAILS(INVALID_QUEUE, tutti.hsa_ven_tutti_record_begin(plain));
	OK(hsa_queue_destroy(plain));
	OK(hsa_queue_destroy(queue));
}

/* Another card for one test, after which there is one as before. */
static int begin_deterministic(void **state)
{
	found_done(state);
	setenv("TUTTI_DETERMINISTIC", "1", 1);
	return begin(state);
}

static int end_deterministic(void **state)
{
	found_done(state);
	unsetenv("TUTTI_DETERMINISTIC");
	return begin(state);
}

static hsa_signal_t gate;
static hsa_status_t refusal;

static bool destroys(hsa_signal_value_t value, void *recording)
{
	(void)value;
	refusal = tutti.hsa_ven_tutti_recording_destroy(*(hsa_ven_tutti_recording_t *)recording);
	hsa_signal_store_screlease(gate, 0);
	return false;
}

/* A replay waits for room, and calls a handler, as a deterministic card's waits do. That cannot destroy the recording. */
static void handlers_within_a_replay(void **state)
{
	hsa_queue_t *queue = extended_queue(NULL);
	hsa_ven_tutti_recording_t recording = {0};
	struct word *args = counter(1);
	unsigned replays = queue->size;
	hsa_signal_t done = new_signal(replays), due = new_signal(0);
	hsa_kernel_dispatch_packet_t packet = dispatch_packet(&count, 1, 1, args, done);
	hsa_barrier_and_packet_t wait = {0};

	(void)state;
	gate = wait.dep_signal[0] = new_signal(1);
	packet.header = HEADER(HSA_PACKET_TYPE_KERNEL_DISPATCH, 1);
	OK(tutti.hsa_ven_tutti_record_begin(queue));
	OK(tutti.hsa_ven_tutti_record_dispatch(queue, &packet));
	OK(tutti.hsa_ven_tutti_record_end(queue, &recording));
	submit(queue, &wait, HEADER(HSA_PACKET_TYPE_BARRIER_AND, 1));
	OK(hsa_amd_signal_async_handler(due, HSA_SIGNAL_CONDITION_EQ, 0, destroys, &recording));
	refusal = HSA_STATUS_SUCCESS;
	for (unsigned i = 0; i < replays; i++)
		OK(tutti.hsa_ven_tutti_replay(recording));
	assert_int_equal(refusal, HSA_STATUS_ERROR_RESOURCE_FREE);
	wait_zero(done);
	assert_int_equal(*args->word, replays);
	OK(tutti.hsa_ven_tutti_recording_destroy(recording));
	OK(hsa_queue_destroy(queue));
}

/* A recording and another queue's references live longer than the queue that they were made on. */
static void queues_may_go_first(void **state)
{
	hsa_queue_t *first = extended_queue(NULL);
	const hsa_ven_tutti_queue_options_t shared = {.references_of = first};
	hsa_queue_t *second = extended_queue(&shared);
	hsa_ven_tutti_recording_t recording = {0};
	struct word *args = counter(1);
	hsa_signal_t done = new_signal(4);
	hsa_kernel_dispatch_packet_t packet = dispatch_packet(&count, 1, 1, args, done);

	(void)state;
	packet.header = HEADER(HSA_PACKET_TYPE_KERNEL_DISPATCH, 1);
	OK(tutti.hsa_ven_tutti_record_begin(first));
	OK(tutti.hsa_ven_tutti_record_dispatch(first, &packet));
	OK(tutti.hsa_ven_tutti_record_end(first, &recording));
	send_reference(first, 2, args, done);
	assert_int_equal(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 3, UINT64_MAX, HSA_WAIT_STATE_BLOCKED), 3);
	OK(hsa_queue_destroy(first));
	FAILS(INVALID_QUEUE, tutti.hsa_ven_tutti_replay(recording));
	OK(tutti.hsa_ven_tutti_recording_destroy(recording));
	send_condensed(second, 2, 3);
	wait_zero(done);
	assert_int_equal(*args->word, 4);
	OK(hsa_queue_destroy(second));
	OK(hsa_queue_destroy(extended_queue(NULL))); /* and then the references are free */
}

/* What a workgroup writes down about its CGA; the same in kernels/cga_args.h. */
struct seen {
	uint32_t runs, sm, gpc, slot, rank, ctas, lmem, linear;
	uint32_t cta[3], cga[3], count[3], cga_linear;
};
struct look {
	struct seen *seen;
	uint64_t *running, *most, wait;
};

static void cgas_and_task_counters(void **state)
{
	const struct tutti_task_attributes attributes = {.cga = {{4, 1, 1, TUTTI_CGA_GPC}}, .priority = 3};
	hsa_executable_t code = load_code("cga");
	struct kernel look = kernel_of(code, "cga_look");
	struct look *args = fine_memory(sizeof(*args));
	struct tutti_task_counters counters = {0};
	hsa_kernel_dispatch_packet_t packet;
	hsa_ven_tutti_task_t task = {0};
	hsa_signal_t done = new_signal(1);
	hsa_queue_t *queue = extended_queue(NULL);

	(void)state;
	*args = (struct look){.seen = fine_memory(8 * sizeof(struct seen))};
	for (unsigned i = 0; i < BAD_HANDLES; i++)
		FAILS(INVALID_AGENT, tutti.hsa_ven_tutti_task_create(BAD(hsa_agent_t, i), &attributes, &task));
	OK(tutti.hsa_ven_tutti_task_create(found.card, &attributes, &task));
	packet = dispatch_packet(&look, 8 * 32, 32, args, done);
	OK(tutti.hsa_ven_tutti_task_address(task, &packet.reserved2));
	submit(queue, &packet, HEADER(HSA_PACKET_TYPE_KERNEL_DISPATCH, 0));
	wait_zero(done);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(args->seen[i].runs, 1);
		assert_int_equal(args->seen[i].ctas, 4);
		assert_int_equal(args->seen[i].rank, i % 4);
	}
	OK(tutti.hsa_ven_tutti_task_counters(task, &counters));
	assert_int_equal(counters.completed, 8);
	OK(tutti.hsa_ven_tutti_task_destroy(task));
	FAILS(INVALID_ARGUMENT, tutti.hsa_ven_tutti_task_destroy(task));
	OK(hsa_queue_destroy(queue));
	OK(hsa_executable_destroy(code));
}

struct move {
	const struct tutti_tensor *from, *to;
	int32_t coordinate[5];
	uint16_t offset, back;
	uint32_t bytes;
};

static struct tutti_tensor *tensor_of(const uint32_t *base)
{
	struct tutti_tensor *tensor = fine_memory(sizeof(*tensor));
	const struct tutti_tiled tiled = {.tensor = {.base = base, .type = TUTTI_U32, .rank = 2, .size = {64, 32}},
					  .box = {16, 8}};

	assert_non_null(tutti.hsa_ven_tutti_tensor_tiled);
	OK(tutti.hsa_ven_tutti_tensor_tiled(tensor, &tiled));
	return tensor;
}

static void tensor_descriptors(void **state)
{
	hsa_executable_t code = load_code("tensor");
	struct kernel move = kernel_of(code, "tensor_move");
	uint32_t *from = fine_memory(64 * 32 * 4), *to = fine_memory(64 * 32 * 4);
	struct move *args = fine_memory(sizeof(*args));
	const struct tutti_tiled none = {.box = {16, 8}};
	hsa_signal_t done = new_signal(1);
	hsa_queue_t *queue = NULL;

	(void)state;
	for (uint32_t i = 0; i < 64 * 32; i++)
		from[i] = i + 1;
	*args = (struct move){tensor_of(from), tensor_of(to), {32, 16}, 0, 0, 16 * 8 * 4};
	FAILS(INVALID_ARGUMENT, tutti.hsa_ven_tutti_tensor_tiled((struct tutti_tensor *)(uintptr_t)args->to, &none));
	OK(hsa_queue_create(found.card, 16, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
	move.group += 8192;
	launch(queue, &move, 1, 1, args, done);
	wait_zero(done);
	for (uint32_t y = 0; y < 32; y++)
		for (uint32_t x = 0; x < 64; x++)
			assert_int_equal(to[y * 64 + x], x / 16 == 2 && y / 8 == 2 ? from[y * 64 + x] : 0);
	OK(hsa_queue_destroy(queue));
	OK(hsa_executable_destroy(code));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_extension_is_there),
		cmocka_unit_test(references_and_condensed_packets),
		cmocka_unit_test(retired_slots_are_scrubbed),
		cmocka_unit_test(ordinary_queues_ignore_stale_fields),
		cmocka_unit_test(extended_queues_check_the_same_fields),
		cmocka_unit_test(recordings),
		cmocka_unit_test_setup_teardown(handlers_within_a_replay, begin_deterministic, end_deterministic),
		cmocka_unit_test(queues_may_go_first),
		cmocka_unit_test(cgas_and_task_counters),
		cmocka_unit_test(tensor_descriptors),
	};

	return cmocka_run_group_tests(tests, begin, found_done);
}
