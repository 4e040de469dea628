/* SPDX-License-Identifier: MIT */
/*
 * tutti-card as QEMU sees it: this program plays the guest. It speaks the ivshmem protocol, boots the firmware through
 * the BAR, and lets the card copy within the guest's memory, which is a file (spec SYS-11). No wait has a time limit
 * (REL-09): tests/tap/run stops a test that makes no progress.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tutti/contract.h"

#define VECTORS	  4
#define ASID	  1
#define QUEUE	  3
#define SLOTS	  8u
#define VA	  (1ull << 30) /* all table indexes but the second are 0 */
#define GIB	  (1ull << 30)
#define IMAGE_AT  0x80000u

/** struct process - a tutti-card with its files in a directory of their own. */
struct process {
	char directory[40], socket[64], control[64], memory[64], log[64];
	pid_t pid;
};

/** struct guest - one connection. */
struct guest {
	int socket, id, kick, vector[VECTORS];
	uint8_t *bar;
	size_t bar_bytes;
	const struct tutti_discovery *known;
	struct tutti_control *control_words;
	const volatile struct tutti_status *status;
	uint32_t tail, head;
};

/* ---- the process ---- */

static int unix_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	while (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		usleep(10000);
	return fd;
}

static void start(struct process *process, const char *machine, uint64_t memory_bytes)
{
	char program[256], vectors[8];
	int fd;

	strcpy(process->directory, "/tmp/tutti-card.XXXXXX");
	assert_non_null(mkdtemp(process->directory));
	snprintf(process->socket, sizeof(process->socket), "%s/card", process->directory);
	snprintf(process->control, sizeof(process->control), "%s/control", process->directory);
	snprintf(process->memory, sizeof(process->memory), "%s/memory", process->directory);
	snprintf(process->log, sizeof(process->log), "%s/log", process->directory);
	fd = open(process->memory, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0 && !ftruncate(fd, (off_t)memory_bytes)); /* of holes */
	close(fd);
	snprintf(program, sizeof(program), "%s/tutti-card", getenv("TUTTI_OUT") ? getenv("TUTTI_OUT") : "build");
	snprintf(vectors, sizeof(vectors), "%d", VECTORS);
	process->pid = fork();
	assert_true(process->pid >= 0);
	if (!process->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails does not stop it */
		fd = open(process->log, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		dup2(fd, 2);
		execl(program, program, "--socket", process->socket, "--control", process->control, "--memory", process->memory,
		      "--machine", machine, "--vectors", vectors, "--workers", "1", (char *)NULL);
		_exit(127);
	}
}

/* It ends when it is asked to, and leaves no sockets behind. */
static void stop(struct process *process)
{
	int status;

	kill(process->pid, SIGTERM);
	assert_int_equal(waitpid(process->pid, &status, 0), process->pid);
	assert_int_equal(status, 0);
	assert_int_equal(access(process->socket, F_OK), -1);
	assert_int_equal(access(process->control, F_OK), -1);
	unlink(process->memory);
	unlink(process->log);
	assert_int_equal(rmdir(process->directory), 0);
}

static bool log_has(const struct process *process, const char *text)
{
	char log[4096] = "";
	FILE *file = fopen(process->log, "r");

	assert_non_null(file);
	assert_true(fread(log, 1, sizeof(log) - 1, file) < sizeof(log));
	fclose(file);
	return strstr(log, text);
}

static void soon(const struct process *process, const char *text)
{
	while (!log_has(process, text))
		usleep(10000);
}

/* Value of a line of the control socket's status. */
static bool status_is(const struct process *process, const char *line)
{
	char answer[2048] = "";
	size_t bytes = 0;
	int fd = unix_connect(process->control);

	assert_int_equal(write(fd, "status\n", 7), 7);
	while (bytes < sizeof(answer) - 1 && !strstr(answer, "ok\n")) {
		ssize_t n = read(fd, answer + bytes, sizeof(answer) - 1 - bytes);

		assert_true(n > 0);
		bytes += (size_t)n;
	}
	close(fd);
	return strstr(answer, line);
}

/* ---- the protocol ---- */

/* Return: false if the server has closed the connection. */
static bool receive(int socket, int64_t *number, int *fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct iovec vector = { number, sizeof(*number) };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *header;

	*fd = -1;
	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != sizeof(*number))
		return false;
	header = CMSG_FIRSTHDR(&message);
	if (header)
		memcpy(fd, CMSG_DATA(header), sizeof(*fd));
	return true;
}

static void expect_event(int socket, int64_t wanted, int *fd)
{
	int64_t number;

	assert_true(receive(socket, &number, fd));
	assert_int_equal(number, wanted);
	assert_true(*fd >= 0);
	assert_true(fcntl(*fd, F_GETFL) & O_NONBLOCK); /* as QEMU expects them */
}

static void guest_join(struct guest *guest, const struct process *process)
{
	int64_t number;
	struct stat stat;
	int fd;

	memset(guest, 0, sizeof(*guest));
	guest->socket = unix_connect(process->socket);
	assert_true(receive(guest->socket, &number, &fd) && !number && fd < 0); /* version of the protocol */
	assert_true(receive(guest->socket, &number, &fd) && number > 0 && fd < 0);
	guest->id = (int)number;
	assert_true(receive(guest->socket, &number, &fd) && number == -1 && fd >= 0);
	assert_int_equal(fstat(fd, &stat), 0);
	guest->bar_bytes = (size_t)stat.st_size;
	assert_int_equal(guest->bar_bytes & (guest->bar_bytes - 1), 0);
	guest->bar = mmap(NULL, guest->bar_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(guest->bar, MAP_FAILED);
	close(fd);
	expect_event(guest->socket, 0, &guest->kick);
	for (unsigned i = 0; i < VECTORS; i++)
		expect_event(guest->socket, guest->id, &guest->vector[i]);
	guest->known = (void *)guest->bar;
	guest->control_words = (void *)(guest->bar + guest->known->control.offset);
	guest->status = (void *)(guest->bar + guest->known->status.offset);
}

static void guest_leave(struct guest *guest)
{
	munmap(guest->bar, guest->bar_bytes);
	for (unsigned i = 0; i < VECTORS; i++)
		close(guest->vector[i]);
	close(guest->kick);
	close(guest->socket);
}

/* ---- the card, as a driver has it ---- */

static void kick(struct guest *guest)
{
	uint64_t one = 1;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	assert_int_equal(write(guest->kick, &one, sizeof(one)), sizeof(one));
}

static void boot(struct guest *guest)
{
	struct tutti_control *control = guest->control_words;
	uint32_t sequence = control->boot_sequence + 1;
	char path[256];
	size_t bytes;
	FILE *file;

	snprintf(path, sizeof(path), "%s/firmware/tutti-fw.bin", getenv("TUTTI_OUT") ? getenv("TUTTI_OUT") : "build");
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(guest->known->magic, TUTTI_DISCOVERY_MAGIC);
	bytes = fread(guest->bar + guest->known->aperture + IMAGE_AT, 1, guest->known->reserved_bytes - IMAGE_AT, file);
	fclose(file);
	control->host_ring_tail = control->card_ring_head = guest->tail = guest->head = 0;
	control->image_offset = IMAGE_AT;
	control->image_bytes = bytes;
	__atomic_store_n(&control->boot_sequence, sequence, __ATOMIC_RELEASE);
	kick(guest);
	while (guest->status->boot_sequence != sequence || guest->status->state <= TUTTI_STATE_LOADING)
		usleep(1000);
	assert_int_equal(guest->status->state, TUTTI_STATE_RUNNING);
}

static bool has_message(const struct guest *guest)
{
	return __atomic_load_n(&guest->status->card_ring_tail, __ATOMIC_ACQUIRE) != guest->head;
}

/* The reply replaces @message. Return: its status. */
static int request(struct guest *guest, struct tutti_message *message)
{
	uint32_t host = guest->known->host_ring.bytes / sizeof(*message), card = guest->known->card_ring.bytes / sizeof(*message);
	struct tutti_message *to = (void *)(guest->bar + guest->known->host_ring.offset);
	const struct tutti_message *from = (void *)(guest->bar + guest->known->card_ring.offset);
	uint32_t id = message->id = guest->tail + 1;

	to[guest->tail % host] = *message;
	__atomic_store_n(&guest->control_words->host_ring_tail, ++guest->tail, __ATOMIC_RELEASE);
	kick(guest);
	for (;;) {
		if (!has_message(guest)) {
			usleep(500);
			continue;
		}
		*message = from[guest->head++ % card];
		guest->control_words->card_ring_head = guest->head;
		if (message->type == TUTTI_MSG_REPLY && message->id == id)
			return message->status;
	}
}

static bool answers(struct guest *guest)
{
	struct tutti_message message = { .type = TUTTI_MSG_PING, .arg = { 0x1234567890abcdefull } };

	return !request(guest, &message) && message.value == 0x1234567890abcdefull;
}

/** struct block - guest memory that the card reads and writes. */
struct block {
	uint64_t table[4][512]; /* root first */
	struct tutti_agent_packet ring[4096 / sizeof(struct tutti_agent_packet)];
	uint64_t read_index[504];
	struct tutti_signal signal;
	uint8_t source[4096];
	uint8_t target[4096];
};

static uint64_t va_of(size_t offset)
{
	return VA + offset - offsetof(struct block, ring);
}

static void build_tables(struct block *block, uint64_t bus)
{
	uint32_t flags = TUTTI_PTE_V | TUTTI_PTE_R | TUTTI_PTE_W | TUTTI_PTE_U | TUTTI_PTE_A | TUTTI_PTE_D;

	for (unsigned level = 0; level < 3; level++)
		block->table[level][tutti_va_index(VA, 3 - (int)level)] =
			tutti_pte(TUTTI_BUS_HOST | (bus + (level + 1) * 4096), TUTTI_PTE_V);
	for (unsigned page = 4; page < sizeof(*block) / 4096; page++)
		block->table[3][page - 4] = tutti_pte(TUTTI_BUS_HOST | (bus + page * 4096), flags);
	for (unsigned i = 0; i < SLOTS; i++)
		block->ring[i].header = TUTTI_PACKET_INVALID;
}

static int queue_create(struct guest *guest, uint64_t bus)
{
	struct tutti_message message = { .type = TUTTI_MSG_CONTEXT_CREATE };
	int error;

	message.context = (struct tutti_msg_context){ .asid = ASID, .root = TUTTI_BUS_HOST | bus };
	error = request(guest, &message);
	if (error)
		return error;
	message = (struct tutti_message){ .type = TUTTI_MSG_QUEUE_CREATE };
	message.queue = (struct tutti_msg_queue){ .queue = QUEUE,
						  .asid = ASID,
						  .ring = va_of(offsetof(struct block, ring)),
						  .read_index = va_of(offsetof(struct block, read_index)),
						  .size_log2 = 3,
						  .priority = 5,
						  .vector = 1 };
	return request(guest, &message);
}

/*
 * Let the card copy a page with packet 0. Ring, pages and signal are in memory at bus address @bus, which is at @offset in
 * the file. The signal tells when the copy has ended. The read index may move before that, since it tells when the packet's
 * slot is free.
 * Return: false if the card reports an error instead
 */
static bool copies(struct guest *guest, const struct process *process, uint64_t bus, uint64_t offset)
{
	struct tutti_agent_packet packet = {
		.header = tutti_header(TUTTI_PACKET_AGENT_DISPATCH, 1, TUTTI_SCOPE_SYSTEM, TUTTI_SCOPE_SYSTEM),
		.type = TUTTI_AGENT_COPY,
		.arg = { va_of(offsetof(struct block, target)), va_of(offsetof(struct block, source)), 4096 },
		.signal = va_of(offsetof(struct block, signal)),
	};
	int fd = open(process->memory, O_RDWR | O_CLOEXEC);
	struct block *block = mmap(NULL, sizeof(*block), PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
	bool good;

	assert_ptr_not_equal(block, MAP_FAILED);
	close(fd);
	memset(block, 0, sizeof(*block));
	build_tables(block, bus);
	block->signal.value = 1;
	for (unsigned i = 0; i < 4096; i++)
		block->source[i] = (uint8_t)(i * 7 + 1);
	good = !queue_create(guest, bus);
	memcpy((uint8_t *)&block->ring[0] + 4, (uint8_t *)&packet + 4, sizeof(packet) - 4);
	__atomic_store_n((uint32_t *)&block->ring[0], *(uint32_t *)&packet, __ATOMIC_RELEASE);
	*(volatile uint64_t *)(guest->bar + guest->known->doorbells.offset + QUEUE * TUTTI_PAGE_SIZE) = 0;
	kick(guest);
	while (good && tutti_signal_load(&block->signal) && !has_message(guest))
		usleep(1000);
	good = good && !tutti_signal_load(&block->signal) && !memcmp(block->source, block->target, 4096);
	munmap(block, sizeof(*block));
	return good;
}

/* ---- tests ---- */

static void introduction(void **state)
{
	struct process process;
	struct guest guest;
	struct pollfd interrupt;

	start(&process, "q35", 64 << 20);
	guest_join(&guest, &process);
	boot(&guest);
	assert_true(answers(&guest));
	interrupt = (struct pollfd){ .fd = guest.vector[0], .events = POLLIN };
	assert_int_equal(poll(&interrupt, 1, 10000), 1);
	assert_true(copies(&guest, &process, 0x123000, 0x123000));
	guest_leave(&guest);
	stop(&process);
}

/* Where QEMU puts the memory that does not fit below the PCI hole. */
static void above_the_hole(const char *machine, uint64_t bytes, uint64_t low)
{
	struct process process;
	struct guest guest;

	start(&process, machine, bytes);
	guest_join(&guest, &process);
	boot(&guest);
	assert_true(copies(&guest, &process, 4 * GIB + 0x5000, low + 0x5000));
	boot(&guest);
	assert_true(copies(&guest, &process, low - sizeof(struct block), low - sizeof(struct block)));
	boot(&guest);
	assert_true(copies(&guest, &process, 4 * GIB + bytes - low - sizeof(struct block), bytes - sizeof(struct block)));
	boot(&guest);
	assert_false(copies(&guest, &process, low, low)); /* nothing is there */
	boot(&guest);
	assert_false(copies(&guest, &process, 4 * GIB + bytes - low, 0));
	boot(&guest);
	assert_true(answers(&guest));
	guest_leave(&guest);
	stop(&process);
}

static void memory_of_q35(void **state)
{
	above_the_hole("q35", 3 * GIB, 2 * GIB);
}

static void memory_of_pc(void **state)
{
	above_the_hole("pc", 5 * GIB, 3 * GIB);
}

static void second_guest(void **state)
{
	struct process process;
	struct guest guest;
	int64_t number;
	int socket, fd;

	start(&process, "q35", 64 << 20);
	guest_join(&guest, &process);
	boot(&guest);
	socket = unix_connect(process.socket);
	assert_false(receive(socket, &number, &fd));
	close(socket);
	soon(&process, "guest refused: there is one already");
	assert_true(answers(&guest));
	guest_leave(&guest);
	stop(&process);
}

/* The next guest finds a card that is off, without an interrupt of the previous guest or its queues. */
static void reconnect(void **state)
{
	struct process process;
	struct guest first, second;
	struct pollfd interrupt;
	int last = 0;

	start(&process, "q35", 64 << 20);
	for (unsigned i = 0; i < 5; i++) {
		guest_join(&first, &process);
		assert_true(first.id != last);
		last = first.id;
		boot(&first);
		assert_true(copies(&first, &process, 0x10000, 0x10000));
		assert_true(answers(&first));
		guest_leave(&first);
		guest_join(&second, &process); /* at once: the connection is not refused */
		assert_true(status_is(&process, "state off"));
		assert_int_equal(second.status->state, TUTTI_STATE_OFF);
		for (unsigned v = 0; v < VECTORS; v++) {
			interrupt = (struct pollfd){ .fd = second.vector[v], .events = POLLIN };
			assert_int_equal(poll(&interrupt, 1, 0), 0);
		}
		boot(&second);
		assert_true(copies(&second, &process, 0x20000, 0x20000));
		last = second.id;
		guest_leave(&second);
	}
	stop(&process);
}

/* A guest that has been reset boots the card again, whatever it left behind; the connection stays. */
static void guest_reset(void **state)
{
	struct process process;
	struct guest guest;

	start(&process, "q35", 64 << 20);
	guest_join(&guest, &process);
	for (unsigned i = 0; i < 5; i++) {
		boot(&guest);
		assert_true(answers(&guest));
		assert_true(copies(&guest, &process, 0x30000, 0x30000)); /* the queue has the id it had before */
	}
	guest_leave(&guest);
	stop(&process);
}

/* Check that a new guest can boot the card and gets an answer. Then end the process. */
static void still_serves(struct process *process)
{
	struct guest guest;

	guest_join(&guest, process);
	boot(&guest);
	assert_true(answers(&guest));
	guest_leave(&guest);
	stop(process);
}

/* A guest that sends data and leaves does not keep out the next one, even if the card has not seen it leave by then. */
static void last_words(void **state)
{
	struct process process;
	struct guest guest;
	int64_t number;
	int next, fd, status;

	start(&process, "q35", 64 << 20);
	guest_join(&guest, &process);
	kill(process.pid, SIGSTOP);
	assert_int_equal(waitpid(process.pid, &status, WUNTRACED), process.pid);
	assert_int_equal(write(guest.socket, "nonsense", 8), 8);
	guest_leave(&guest);
	next = unix_connect(process.socket);
	kill(process.pid, SIGCONT);
	assert_true(receive(next, &number, &fd));
	close(next);
	still_serves(&process);
}

/* A client that disconnects during the handshake or while it sends affects no other client. */
static void rude_guests(void **state)
{
	struct process process;

	start(&process, "q35", 64 << 20);
	for (unsigned i = 0; i < 50; i++) {
		int socket = unix_connect(process.socket);

		if (i % 2)
			assert_true(write(socket, "nonsense", 8) == 8 || errno == EPIPE || errno == ECONNRESET);
		close(socket);
	}
	still_serves(&process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "SYS-11: a guest is introduced; messages, interrupts, DMA", introduction, NULL, NULL, NULL },
		{ "SYS-11: DMA above the hole of q35", memory_of_q35, NULL, NULL, NULL },
		{ "SYS-11: DMA above the hole of pc", memory_of_pc, NULL, NULL, NULL },
		{ "SYS-11: a second guest is refused", second_guest, NULL, NULL, NULL },
		{ "SYS-11: guests come and go", reconnect, NULL, NULL, NULL },
		{ "SYS-11: a guest is reset", guest_reset, NULL, NULL, NULL },
		{ "SYS-11: rude guests", rude_guests, NULL, NULL, NULL },
		{ "SYS-11: a guest that has sent something and left", last_words, NULL, NULL, NULL },
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("card process", tests, NULL, NULL);
}
