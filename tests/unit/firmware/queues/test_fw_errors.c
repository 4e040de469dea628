/* SPDX-License-Identifier: MIT */
/*
 * Errors of queues (PKT-06, SYS-06): every packet that is refused is named once, with its code and the place of its first bad
 * byte or unit; it stays as it is; a reset passes over it alone; and so are faults of what a queue reads, writes and copies.
 */
#include "fw_direct.h"
#include "fw_reports.h"

#include "queues/queue_life.h"
#include "tensor/mover_ring.h"

#define Q 2u

static void begin(unsigned flags)
{
	start(4, 0);
	descriptor[1].workgroup[0] = 64;
	descriptor[2].workgroup[1] = 2;
	descriptor[3].scalar_blocks = 32;
	descriptor[4].magic = 0;
	rig_rsb(Q, ASID, TUTTI_RSB_SCRATCH);
	rig_queue(Q, ASID, flags);
}

static struct tutti_fault refused(unsigned code, unsigned field)
{
	return (struct tutti_fault){ .code = (uint16_t)code, .queue = Q, .context = ASID, .sm = 0xffff, .field = field };
}

static void reset(void)
{
	rig_command = take_one;
	assert_int_equal(rig_request(TUTTI_MSG_QUEUE_RESET, Q, 0, 0), 0);
	rig_command = NULL;
	take();
}

static void end_kernels(void)
{
	for (unsigned s = 0; s < SLOTS; s++)
		end_all(s);
}

/* Packet @bad comes behind a good one and before another: it is reported, kept, and passed over by the reset. */
static void expect_refused(unsigned flags, const union tutti_packet *bad, struct tutti_fault want, const char *what)
{
	struct tutti_dispatch_packet good = kernel_packet(0, 1);
	unsigned index = !!(flags & TUTTI_QUEUE_RSB);
	uint32_t before;

	begin(flags);
	if (index)
		store(Q, 0, good);
	submit(Q, &good);
	before = messages_sent();
	write_packet(Q, bad);
	submit(Q, &good);
	want.packet = index + 1;
	if (messages_sent() != before + 1)
		fail_msg("%s: %u reports", what, messages_sent() - before);
	if (reported()->code != want.code || reported()->field != want.field || reported()->kernel != want.kernel)
		fail_msg("%s: code %u, field %u, kernel %u", what, reported()->code, reported()->field, reported()->kernel);
	expect_report(&want);
	assert_int_equal(started[Q], 1);
	assert_memory_equal(&ring[Q][index + 1], bad, sizeof(*bad));
	assert_int_equal(ring[Q][index].dispatch.header, TUTTI_PACKET_INVALID);
	reset();
	assert_int_equal(ring[Q][index + 1].dispatch.header, TUTTI_PACKET_INVALID);
	assert_int_equal(started[Q], 2);
	end_kernels();
	submit(Q, &good);
	assert_int_equal(started[Q], 3);
	assert_int_equal(messages_sent(), before + 2); /* the answer to the reset */
}

/* ---- packets of one kernel ---- */

#define FIELD(name) offsetof(struct tutti_dispatch_packet, name)

/* X(code, first bad byte, what makes the packet @p bad); begin() says what is special about kernels 1 to 4 */
#define BAD_KERNELS(X)                                                                  \
	X(PACKET, header, p.header |= 1u << 13)                                         \
	X(PACKET, header, p.header |= 1u << 15)                                         \
	X(PACKET, header, p.header |= 3u << TUTTI_HEADER_ACQUIRE_SHIFT)                 \
	X(PACKET, header, p.header |= 3u << TUTTI_HEADER_RELEASE_SHIFT)                 \
	X(PACKET, setup, p.setup |= 4)                                                  \
	X(PACKET, setup, p.setup |= 0x8000)                                             \
	X(DIMENSIONS, setup, p.setup = 0)                                               \
	X(DIMENSIONS, workgroup_x, p.workgroup_x = 0)                                   \
	X(DIMENSIONS, workgroup_x, (p.setup = 2, p.workgroup_y = 0))                    \
	X(DIMENSIONS, workgroup_x, (p.setup = 3, p.workgroup_z = 0))                    \
	X(DIMENSIONS, workgroup_x, (p.workgroup_z = 0, p.grid_x = 0))                   \
	X(DIMENSIONS, grid_x, p.grid_x = 0)                                             \
	X(DIMENSIONS, grid_x, (p.setup = 2, p.grid_y = 0))                              \
	X(DIMENSIONS, grid_x, (p.setup = 3, p.grid_z = 0))                              \
	X(DIMENSIONS, grid_x, p.grid_y = 0)                                             \
	X(DIMENSIONS, setup, p.workgroup_y = 2)                                         \
	X(DIMENSIONS, setup, p.workgroup_z = 2)                                         \
	X(DIMENSIONS, setup, p.grid_y = 2)                                              \
	X(DIMENSIONS, setup, p.grid_z = 2)                                              \
	X(DIMENSIONS, setup, (p.setup = 2, p.workgroup_z = 2))                          \
	X(DIMENSIONS, setup, (p.setup = 2, p.grid_z = 2))                               \
	X(GRID, grid_x, (p.setup = 2, p.grid_x = 32 << 16, p.grid_y = 1 << 16))         \
	X(GRID, grid_x, (p.setup = 3, p.grid_x = 32 << 16, p.grid_y = 1 << 8, p.grid_z = 1 << 8)) \
	X(WORKGROUP, workgroup_x, p.workgroup_x = 1025)                                 \
	X(WORKGROUP, workgroup_x, (p.setup = 2, p.workgroup_y = 33))                    \
	X(WORKGROUP, workgroup_x, (p.setup = 3, p.workgroup_z = 33))                    \
	X(WORKGROUP, workgroup_x, (p.setup = 3, p.workgroup_y = 33, p.workgroup_z = 1)) \
	X(WORKGROUP, workgroup_x, p.kernel_object += 64)                                \
	X(WORKGROUP, workgroup_x, p.kernel_object += 2 * 64)                            \
	X(WORKGROUP, workgroup_x, (p.kernel_object += 3 * 64, p.workgroup_x = 1024))    \
	X(PRIVATE_MEMORY, private_bytes, p.private_bytes = fw.item_private + 1)         \
	X(GROUP_MEMORY, group_bytes, p.group_bytes = (fw.shared_blocks << fw.shared_shift) + 1) \
	X(CODE_OBJECT, kernel_object, p.kernel_object = 0)                              \
	X(CODE_OBJECT, kernel_object, p.kernel_object += 32)                            \
	X(CODE_OBJECT, kernel_object, p.kernel_object |= 1ull << 47)                    \
	X(CODE_OBJECT, kernel_object, p.kernel_object += 4 * 64)                        \
	X(PACKET, kernarg, p.kernarg = 1ull << 47)                                      \
	X(PACKET, kernarg, (p.kernarg = 1ull << 63, p.signal = 1))                      \
	X(PACKET, signal, p.signal = 1ull << 47)                                        \
	X(PACKET, signal, p.signal = 32)

static void bad_kernels(void **unused)
{
	struct tutti_dispatch_packet p;

	(void)unused;
#define TRY(error, first, change)                                                                                 \
	for (unsigned extended = 0; extended < 2; extended++) {                                                   \
		begin(0);                                                                                         \
		p = kernel_packet(0, 1);                                                                          \
		(void)(change);                                                                                   \
		expect_refused(extended ? TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB : 0, (const union tutti_packet *)&p, \
			       refused(TUTTI_ERROR_##error, FIELD(first)), #change);                              \
	}
	BAD_KERNELS(TRY)
#undef TRY
}

#define BAD_REFERENCES(X)                       \
	X(p.ref_num = 1)                        \
	X(p.ref_num = TUTTI_REF_STORE | 8)      \
	X(p.ref_num = TUTTI_REF_STORE | 0x4000) \
	X(p.ref_num = 0x7fff)

/* Extended queues only: a number of no reference, and a reference where there is no buffer. */
static void bad_references(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);
	struct tutti_fault want = refused(TUTTI_ERROR_PACKET, FIELD(ref_num));

	(void)unused;
#define TRY(change)                                                                                      \
	p = kernel_packet(0, 1);                                                                         \
	(void)(change);                                                                                  \
	expect_refused(TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB, (const union tutti_packet *)&p, want, #change);
	BAD_REFERENCES(TRY)
#undef TRY
	p.ref_num = TUTTI_REF_STORE;
	expect_refused(TUTTI_QUEUE_EXTENDED, (const union tutti_packet *)&p, want, "no buffer");
}

/* ---- packets of other types ---- */

#define AGENT(name) offsetof(struct tutti_agent_packet, name)
#define BARRIER(name) offsetof(struct tutti_barrier_packet, name)
#define TYPE(what) p.word[0] = (p.word[0] & ~0xffu) | (what)

#define BAD_PACKETS(X)                                                                                    \
	X(PACKET, 0, TYPE(6))                                                                             \
	X(PACKET, 0, TYPE(255))                                                                           \
	X(PACKET, 0, TYPE(TUTTI_PACKET_CONDENSED)) /* not on this queue */                                \
	X(PACKET, 0, p.word[0] = 1u << 16) /* type 0 of another format than 0 */                          \
	X(PACKET, 0, p.word[0] |= 1u << 13)                                                               \
	X(PACKET, 0, p.word[0] |= 3u << TUTTI_HEADER_ACQUIRE_SHIFT)                                       \
	X(PACKET, 0, p.word[0] |= 3u << TUTTI_HEADER_RELEASE_SHIFT)                                       \
	X(PACKET, 0, (TYPE(TUTTI_PACKET_AGENT_DISPATCH), p.word[0] |= 1u << 14))                          \
	X(PACKET, BARRIER(dependency), p.barrier.dependency[0] = 1)                                       \
	X(PACKET, BARRIER(dependency) + 8, p.barrier.dependency[1] = 32)                                  \
	X(PACKET, BARRIER(dependency) + 16, p.barrier.dependency[2] = 1ull << 47)                         \
	X(PACKET, BARRIER(dependency) + 24, p.barrier.dependency[3] = 1ull << 63)                         \
	X(PACKET, BARRIER(dependency) + 32, p.barrier.dependency[4] = 63)                                 \
	X(PACKET, BARRIER(signal), p.barrier.signal = 32)                                                 \
	X(PACKET, BARRIER(signal), p.barrier.signal = 1ull << 47)                                         \
	X(AGENT, AGENT(type), agent(&p, 0x7fff))                                                          \
	X(PACKET, AGENT(signal), (agent(&p, TUTTI_AGENT_NOP), p.agent.signal = 32))                       \
	X(PACKET, AGENT(signal), (agent(&p, TUTTI_AGENT_NOP), p.agent.signal = 1ull << 47))               \
	X(AGENT, AGENT(return_address), agent(&p, TUTTI_AGENT_TIME))                                      \
	X(AGENT, AGENT(return_address), (agent(&p, TUTTI_AGENT_TIME), p.agent.return_address = 0x1004))   \
	X(AGENT, AGENT(return_address), (agent(&p, TUTTI_AGENT_TIME), p.agent.return_address = 1ull << 47)) \
	X(AGENT, AGENT(arg), moves(&p, TUTTI_AGENT_COPY, 1ull << 47, 0x2000, 4))                          \
	X(AGENT, AGENT(arg), moves(&p, TUTTI_AGENT_COPY, 0x1000, 1ull << 47, 4))                          \
	X(AGENT, AGENT(arg), moves(&p, TUTTI_AGENT_COPY, (1ull << 47) - 4, 0x2000, 5))                    \
	X(AGENT, AGENT(arg), moves(&p, TUTTI_AGENT_COPY, 0x1000, (1ull << 47) - 4, 5))                    \
	X(AGENT, AGENT(arg), moves(&p, TUTTI_AGENT_COPY, 0x1000, 0x2000, ~0xfffull))                      \
	X(AGENT, AGENT(arg), moves(&p, TUTTI_AGENT_FILL, 1ull << 47, 7, 4))                               \
	X(AGENT, AGENT(arg), moves(&p, TUTTI_AGENT_FILL, (1ull << 47) - 4, 7, 8))                         \
	X(AGENT, AGENT(arg), moves(&p, TUTTI_AGENT_FILL, 0x1002, 7, 4))                                   \
	X(AGENT, AGENT(arg), moves(&p, TUTTI_AGENT_FILL, 0x1000, 7, 6))

static void agent(union tutti_packet *p, unsigned type)
{
	*p = (union tutti_packet){ .agent = { .header = TUTTI_PACKET_AGENT_DISPATCH, .type = (uint16_t)type } };
}

static void moves(union tutti_packet *p, unsigned type, uint64_t to, uint64_t from, uint64_t bytes)
{
	agent(p, type);
	p->agent.arg[0] = to;
	p->agent.arg[1] = from;
	p->agent.arg[2] = bytes;
}

static void bad_packets(void **unused)
{
	union tutti_packet p;

	(void)unused;
#define TRY(error, first, change)                                                        \
	p = (union tutti_packet){ .barrier = { .header = TUTTI_PACKET_BARRIER_AND } };   \
	(void)(change);                                                                  \
	expect_refused(0, &p, refused(TUTTI_ERROR_##error, first), #change);
	BAD_PACKETS(TRY)
#undef TRY
}

/* Packets arrive; nothing else that the firmware asks for is done. */
static void answer_fetches(void)
{
	const uint32_t *w;
	unsigned words;

	while ((w = hal_host_command(&words)))
		if ((w[0] & 0xff) == TUTTI_CMD_FETCH)
			take_fetch(w);
}

/* What lies at the limits is taken: addresses up to the last byte there is, any word to fill with, any source of nothing. */
static void good_agents(void **unused)
{
	union tutti_packet p[6];
	uint32_t before;

	(void)unused;
	begin(0);
	moves(&p[0], TUTTI_AGENT_COPY, (1ull << 47) - 5, 0x2001, 4);
	moves(&p[1], TUTTI_AGENT_COPY, 0x1001, (1ull << 47) - 5, 4);
	moves(&p[2], TUTTI_AGENT_FILL, (1ull << 47) - 8, ~0ull, 4);
	moves(&p[3], TUTTI_AGENT_FILL, 0x1000, 1ull << 50, 0);
	agent(&p[4], TUTTI_AGENT_TIME);
	p[4].agent.return_address = (1ull << 47) - 8;
	agent(&p[5], TUTTI_AGENT_NOP);
	before = messages_sent();
	for (unsigned i = 0; i < 6; i++)
		write_packet(Q, &p[i]);
	rig_event(TUTTI_EVENT_DOORBELL, 1u << Q, 0);
	answer_fetches();
	assert_int_equal(queue_at(Q)->head, 6);
	assert_int_equal(messages_sent(), before);
}

/* ---- condensed packets ---- */

struct bad_condensed {
	const char *what;
	unsigned kernels, field, kernel;
	uint16_t unit[31];
};

#define VECTOR(fields) ((fields) << TUTTI_DIFF_VECTOR_SHIFT)

/* The field is the number of the unit, and the kernel the first one that is wrong. */
static const struct bad_condensed bad[] = {
	{ "no kernel", 0, 1, 0, { 0 } },
	{ "too many kernels", 32, 1, 0, { 0 } },
	{ "too many kernels", 255, 1, 0, { 0 } },
	{ "scopes with a high byte", 1, 1, 0, { VECTOR(TUTTI_DIFF_SCOPES), 0x100 } },
	{ "a reserved scope", 2, 2, 1, { 0, VECTOR(TUTTI_DIFF_SCOPES), 0x06 } },
	{ "reference that is not stored", 2, 1, 1, { 0, VECTOR(TUTTI_DIFF_KERNARG) | 1 } },
	{ "no grid", 3, 3, 2, { 0, 0, VECTOR(TUTTI_DIFF_GRID_X) } },
	{ "kernarg too high", 2, 6, 1, { VECTOR(TUTTI_DIFF_KERNARG), 0, 0, 0, 0, VECTOR(TUTTI_DIFF_KERNARG), 0, 0, 0, 0x8000 } },
	{ "signal not aligned", 1, 1, 0, { VECTOR(TUTTI_DIFF_SIGNAL), 32 } },
	{ "kernarg and signal too high", 1, 1, 0, { VECTOR(TUTTI_DIFF_KERNARG | TUTTI_DIFF_SIGNAL), 0, 0, 0, 0, 0, 0, 0, 0x8000 } },
};

/* A packet whose differences end behind it: its first kernels change a kernarg, 5 units each, and one does so in vain. */
static void run_over(void)
{
	union tutti_packet p = condensed(7);
	struct tutti_fault want = refused(TUTTI_ERROR_PACKET, 31);

	for (unsigned i = 0; i < 31; i += 5)
		p.condensed.unit[i] = VECTOR(TUTTI_DIFF_KERNARG);
	want.kernel = 6;
	expect_refused(TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB, &p, want, "the last one goes on behind the packet");
	p.condensed.unit[30] = 0;
	p.condensed.num_kernels = 8;
	want.kernel = 7;
	expect_refused(TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB, &p, want, "the last one lies behind the packet");
}

static void bad_condensed_packets(void **unused)
{
	struct tutti_fault want;

	(void)unused;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		union tutti_packet p = condensed(bad[i].kernels);

		memcpy(p.condensed.unit, bad[i].unit, sizeof(bad[i].unit));
		want = refused(TUTTI_ERROR_PACKET, bad[i].field);
		want.kernel = (uint16_t)bad[i].kernel;
		expect_refused(TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB, &p, want, bad[i].what);
	}
	run_over();
	/* without a buffer there is no reference */
	expect_refused(TUTTI_QUEUE_EXTENDED, &(union tutti_packet){ .condensed = { TUTTI_PACKET_CONDENSED, 1, { 0 } } },
		       refused(TUTTI_ERROR_PACKET, 0), "no buffer");
}

/* ---- errors before ---- */

/* The descriptor of kernel 9 cannot be read for @p. Return: what is reported of it but the field */
static struct tutti_fault unreadable_kernel(const void *p)
{
	struct tutti_fault want = refused(TUTTI_ERROR_CODE_OBJECT, 0);

	slow_kernels = true;
	submit(Q, p);
	rig_event(kernel_answer[0].word[0] | TUTTI_CAUSE_UNMAPPED << 8, 0x4567, 0x21);
	kernel_answers = 0;
	slow_kernels = false;
	take();
	want.engine = TUTTI_ENGINE_FETCH;
	want.access = TUTTI_ACCESS_READ;
	want.cause = TUTTI_CAUSE_UNMAPPED;
	want.address = 0x2100004567ull;
	want.packet = queue_at(Q)->head;
	return want;
}

/* The first errors: 0 an unreadable kernel, 1 the same in a condensed packet, 2 bad metadata, 3 a diff that is wrong. */
static void fail_first(unsigned how)
{
	struct tutti_dispatch_packet p = kernel_packet(how ? 0 : 9, 1);
	union tutti_packet c = condensed(2);
	uint64_t object = KERNEL_AT + 64 * 9;
	struct tutti_fault want = refused(TUTTI_ERROR_TMD, offsetof(struct tutti_dispatch_packet, tmd));

	want.packet = queue_at(Q)->head;
	c.condensed.unit[1] = how == 1 ? VECTOR(TUTTI_DIFF_KERNEL_OBJECT) : VECTOR(TUTTI_DIFF_KERNARG) | 7;
	memcpy(&c.condensed.unit[2], &object, sizeof(object));
	if (how == 0) {
		want = unreadable_kernel(&p);
		want.field = FIELD(kernel_object);
	} else if (how == 1) {
		want = unreadable_kernel(&c);
		want.code = TUTTI_ERROR_PACKET;
		want.kernel = 1;
		want.field = 2;
	} else if (how == 2) {
		p.tmd = want.address = TMD_AT;
		submit(Q, &p);
	} else {
		submit(Q, &c);
		want.code = TUTTI_ERROR_PACKET;
		want.kernel = want.field = 1;
	}
	expect_report(&want);
}

/* A report says nothing of an error before it, in a packet of this queue or of another process (SYS-58). */
static void nothing_of_errors_before(void **unused)
{
	struct tutti_dispatch_packet good = kernel_packet(0, 1), wrong = good;
	union tutti_packet c = condensed(2);
	struct tutti_fault want;

	(void)unused;
	wrong.setup = 0;
	c.condensed.unit[0] = VECTOR(TUTTI_DIFF_SIGNAL);
	c.condensed.unit[1] = 32;
	for (unsigned i = 0; i < 12; i++) {
		begin(TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB);
		rig_queue(Q + 1, ASID + 1, 0);
		store(Q, 0, good);
		fail_first(i % 4);
		reset();
		fail_first((i + 1) % 4);
		want = i < 8 ? refused(TUTTI_ERROR_DIMENSIONS, FIELD(setup)) : refused(TUTTI_ERROR_PACKET, 1);
		if (i < 4) {
			want.queue = Q + 1;
			want.context = ASID + 1;
		} else {
			reset();
			want.packet = queue_at(Q)->head;
		}
		submit(want.queue, i < 8 ? (const void *)&wrong : (const void *)&c);
		expect_report(&want);
	}
}

/* ---- resets ---- */

/* A reset passes over a packet that was refused, and over nothing when a kernel has failed. */
static void passes_over_refused_ones(void **unused)
{
	struct tutti_dispatch_packet good = kernel_packet(0, 1), wrong = kernel_packet(0, 1);

	(void)unused;
	begin(0);
	wrong.setup = 0;
	good.header |= TUTTI_HEADER_BARRIER;
	submit(Q, &wrong);
	submit(Q, &wrong);
	submit(Q, &good); /* number 2 */
	submit(Q, &good);
	submit(Q, &good);
	submit(Q, &wrong);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(reported()->packet, i);
		assert_int_equal(queue_at(Q)->head, i);
		reset();
	}
	assert_int_equal(started[Q], 1);
	rig_event(TUTTI_EVENT_FAULT | (uint32_t)slot_of(Q, 2) << 8 | TUTTI_CAUSE_ILLEGAL << 16, 0, 0);
	take();
	assert_int_equal(reported()->packet, 2);
	assert_int_equal(reported()->code, TUTTI_ERROR_KERNEL_TRAP);
	reset();
	assert_int_equal(started[Q], 2);
	assert_true(slot_of(Q, 3) >= 0);
	end_all((unsigned)slot_of(Q, 3));
	end_all((unsigned)slot_of(Q, 4));
	assert_int_equal(reported()->packet, 5);
	assert_int_equal(started[Q], 3);
}

/* A queue has one error until its reset, however many of its kernels fail; the next one is reported again. */
static void one_report_until_the_reset(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);
	uint32_t before;

	(void)unused;
	begin(0);
	for (unsigned i = 0; i < 3; i++)
		submit(Q, &p);
	before = messages_sent();
	for (unsigned i = 0; i < 2; i++) {
		rig_event(TUTTI_EVENT_FAULT | (uint32_t)slot_of(Q, i) << 8 | (i ? TUTTI_CAUSE_BREAK : TUTTI_CAUSE_ILLEGAL) << 16, 0, 0);
		take();
		assert_int_equal(messages_sent(), before + 1);
		assert_int_equal(reported()->packet, 0);
		assert_int_equal(reported()->cause, TUTTI_CAUSE_ILLEGAL);
	}
	reset();
	rig_event(TUTTI_EVENT_FAULT | (uint32_t)slot_of(Q, 2) << 8 | TUTTI_CAUSE_BREAK << 16, 0, 0);
	take();
	assert_int_equal(messages_sent(), before + 3);
	assert_int_equal(reported()->packet, 2);
	assert_int_equal(reported()->cause, TUTTI_CAUSE_BREAK);
}

/* What was fetched before the reset is not used: by now the program may have written other packets there. */
static void fetched_before_the_reset(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);
	struct tutti_fault stop = refused(TUTTI_ERROR_MEMORY, 0);
	const uint32_t *w;
	unsigned words, fetch = 0;

	(void)unused;
	begin(0);
	write_packet(Q, &p);
	rig_event(TUTTI_EVENT_DOORBELL, 1u << Q, 0);
	while ((w = hal_host_command(&words)))
		if ((w[0] & 0xff) == TUTTI_CMD_FETCH) {
			memcpy(hal_pointer(w[5]), &ring[Q][0], 64);
			fetch = w[0];
		}
	queue_stop(queue_at(Q), &stop);
	reset();
	assert_int_equal(started[Q], 0);
	p.grid_x = 64;
	ring[Q][0].dispatch = p;
	rig_event(TUTTI_EVENT_FETCH | (fetch & 0xffff0000u), 0, 0);
	take();
	assert_int_equal(started[Q], 1);
	assert_int_equal(running[slot_of(Q, 0)].ctas, 2);
}

/* ---- faults ---- */

/* A dependency that cannot be read: the barrier is refused, and after the reset the queue goes on behind it. */
static void unreadable_signal(void **unused)
{
	union tutti_packet p = { .barrier = { .header = TUTTI_PACKET_BARRIER_AND, .dependency = { SIGNAL_AT, SIGNAL_AT } } };
	struct tutti_dispatch_packet good = kernel_packet(0, 1);
	struct tutti_fault want = refused(TUTTI_ERROR_RING_FAULT, 0);
	uint32_t fetch[2], n;
	const uint32_t *w;
	unsigned words;

	(void)unused;
	want.engine = TUTTI_ENGINE_FETCH;
	want.access = TUTTI_ACCESS_READ;
	for (unsigned cause = TUTTI_CAUSE_UNMAPPED; cause <= TUTTI_CAUSE_BUS; cause++) {
		begin(0);
		signal_memory[0].value = 1;
		write_packet(Q, &p);
		write_packet(Q, &good);
		rig_event(TUTTI_EVENT_DOORBELL, 1u << Q, 0);
		for (n = 0; (w = hal_host_command(&words));)
			if ((w[0] & 0xff) == TUTTI_CMD_FETCH && (w[0] >> 16 & TAG_KIND) == TAG_PROBE)
				fetch[n++] = w[0];
			else if ((w[0] & 0xff) == TUTTI_CMD_FETCH)
				take_fetch(w);
		assert_int_equal(n, 2);
		/* one of two reads fails */
		rig_event(TUTTI_EVENT_FETCH | (fetch[0] & 0xffff0000u) | cause << 8, 0x40000040, 0x32);
		assert_int_equal(queue_at(Q)->state, QUEUE_RUNNING);
		rig_event(TUTTI_EVENT_FETCH | (fetch[1] & 0xffff0000u), 0, 0);
		want.cause = (uint16_t)cause;
		want.address = 0x3240000040ull;
		expect_report(&want);
		assert_int_equal(started[Q], 0);
		reset();
		assert_int_equal(started[Q], 1);
		assert_int_equal(queue_at(Q)->head, 2);
	}
}

/* A copy that fails: the fault names its packet and address, its signal is not sent, and the queue is not waited for. */
static void failed_copy(void **unused)
{
	union tutti_packet p;
	struct tutti_fault want = refused(TUTTI_ERROR_MEMORY_FAULT, 0);

	(void)unused;
	want.engine = TUTTI_ENGINE_MOVER;
	for (unsigned cause = TUTTI_CAUSE_UNMAPPED; cause <= TUTTI_CAUSE_ECC; cause += TUTTI_CAUSE_ECC - TUTTI_CAUSE_UNMAPPED) {
		const struct tutti_mover *m;

		begin(0);
		agent(&p, TUTTI_AGENT_NOP);
		submit(Q, &p);
		moves(&p, TUTTI_AGENT_COPY, 0x1000, 0x2000, 4096);
		p.agent.signal = SIGNAL_AT;
		submit(Q, &p);
		m = &mover_slots[(HAL_ENGINES->mover_tail - 1) % MOVER_SLOTS];
		assert_int_equal(queue_at(Q)->in_flight, 1);
		rig_event(TUTTI_EVENT_MOVER | (uint32_t)m->tag << 16 | cause << 8, 0x2040, 0x7);
		take();
		want.code = cause == TUTTI_CAUSE_ECC ? TUTTI_ERROR_MEMORY : TUTTI_ERROR_MEMORY_FAULT;
		want.cause = (uint16_t)cause;
		want.packet = 1;
		want.address = 0x700002040ull;
		expect_report(&want);
		assert_int_equal(queue_at(Q)->in_flight, 0);
		assert_int_equal(signal_count, 0);
		/* the queue goes on after a reset, with the next packet */
		reset();
		submit(Q, &p);
		assert_int_equal(queue_at(Q)->in_flight, 1);
		assert_int_equal(queue_at(Q)->head, 3);
	}
}

/*
 * What the post unit cannot write: of a signal it is the packet whose signal was sent last, of the ring or the read index the
 * one the queue is at. Packet numbers have 64 bits.
 */
static void failed_writes(void **unused)
{
	static const struct { uint64_t address; bool ring; } at[] = {
		{ RIG_RING + Q * 4096ull - 1, false }, { RIG_RING + Q * 4096ull, true }, { RIG_RING + Q * 4096ull + 4095, true },
		{ RIG_RING + Q * 4096ull + 4096, false }, { 0x20000000ull + 64 * Q, true }, { 0x20000000ull + 64 * Q + 8, false },
		{ SIGNAL_AT, false },
	};
	static const uint64_t first[] = { 0, 0xfffffffeull, 0x1fffffffeull };
	struct tutti_dispatch_packet p = kernel_packet(0, 1);
	struct tutti_fault want = refused(TUTTI_ERROR_RING_FAULT, 0);
	uint32_t before;

	(void)unused;
	p.signal = SIGNAL_AT;
	want.engine = TUTTI_ENGINE_POST;
	want.access = TUTTI_ACCESS_WRITE;
	want.cause = TUTTI_CAUSE_PROTECTION;
	for (unsigned i = 0; i < 3; i++)
		for (unsigned k = 0; k < sizeof(at) / sizeof(*at); k++) {
			begin(0);
			queue_at(Q)->head = written[Q] = first[i];
			queue_at(Q)->retired = (uint32_t)first[i];
			submit(Q, &p);
			submit(Q, &p);
			end_all((unsigned)slot_of(Q, first[i] + 1));
			rig_event(TUTTI_EVENT_POST_FAULT | Q << 16 | TUTTI_CAUSE_PROTECTION << 8, (uint32_t)at[k].address,
				  (uint32_t)(at[k].address >> 32));
			take();
			want.packet = first[i] + (at[k].ring ? 2 : 1);
			want.address = at[k].address;
			expect_report(&want);
			assert_int_equal(queue_at(Q)->state, QUEUE_STOPPED);
		}
	/* a queue that is going, or gone, has no more errors */
	begin(0);
	submit(Q, &p);
	slow_kills = true;
	rig_command = take_one;
	assert_int_equal(rig_request(TUTTI_MSG_QUEUE_DESTROY, Q, 0, 0), 1); /* its kernel is not gone yet */
	rig_command = NULL;
	before = messages_sent();
	rig_event(TUTTI_EVENT_POST_FAULT | Q << 16 | TUTTI_CAUSE_PROTECTION << 8, 0, 0);
	assert_int_equal(messages_sent(), before);
	assert_int_equal(queue_at(Q)->state, QUEUE_DYING);
	killed(0);
	take();
	assert_int_equal(queue_at(Q)->state, QUEUE_NONE);
	before = messages_sent();
	rig_event(TUTTI_EVENT_POST_FAULT | Q << 16 | TUTTI_CAUSE_PROTECTION << 8, 0, 0);
	assert_int_equal(messages_sent(), before);
	assert_int_equal(queue_at(Q)->state, QUEUE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("PKT-06 SYS-06", bad_kernels),
		RIG_TEST("PKT-08 SYS-06", bad_references),
		RIG_TEST("PKT-02 PKT-06 SYS-06", bad_packets),
		RIG_TEST("PKT-02", good_agents),
		RIG_TEST("PKT-12 PKT-18 SYS-06", bad_condensed_packets),
		RIG_TEST("PKT-06 SYS-06 SYS-58", nothing_of_errors_before),
		RIG_TEST("PKT-06", passes_over_refused_ones),
		RIG_TEST("PKT-06 SYS-06", one_report_until_the_reset),
		RIG_TEST("PKT-06 PKT-07", fetched_before_the_reset),
		RIG_TEST("PKT-03 PKT-06 SYS-06", unreadable_signal),
		RIG_TEST("PKT-02 PKT-06 SYS-06", failed_copy),
		RIG_TEST("PKT-06 SYS-06", failed_writes),
	};

	return cmocka_run_group_tests_name("firmware: errors of queues", tests, NULL, NULL);
}
