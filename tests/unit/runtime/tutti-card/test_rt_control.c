/* SPDX-License-Identifier: MIT */
/* tutti-card in this very program: what its line commands answer, and whom it talks to (SYS-11). */
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
#include "tutti-card/unix_connect.h"
#include "tutti.h"

#define VECTORS 3u
#define MIB	(1ull << 20)

/* ---- commands ---- */

static struct process card;
static int user; /* the other end of the connection of client 0 */
static char reply[65536];

static void connect_user(void)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	card.client[0] = (struct control_client){.socket = ends[0]};
	user = ends[1];
}

static void *window(const struct tutti_region *where)
{
	return (uint8_t *)card.config.bar + where->offset;
}

static const struct tutti_discovery *known(void)
{
	return card.config.bar;
}

/* The thread of the card writes its counters and its state for the last time before it sleeps. Wait for that, so that
 * the tests may write there. */
static void await_sleep(void)
{
	const struct tutti_status *status = window(&known()->status);

	while (!__atomic_load_n(&status->asleep, __ATOMIC_ACQUIRE))
		usleep(100);
}

static int open_process(void **state)
{
	const struct process_options options = {.size = 128 * MIB, .vectors = VECTORS, .workers = 1, .q35 = true};
	int error = process_init(&card, &options);

	connect_user();
	if (!error)
		await_sleep();
	return error;
}

static int close_process(void **state)
{
	sigset_t set;

	close(user);
	process_fini(&card);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	signal(SIGTERM, SIG_IGN); /* it stays pending when the process ends for it */
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	signal(SIGTERM, SIG_DFL);
	return 0;
}

static const char *answers(const char *text)
{
	ssize_t n;

	if (*text)
		assert_int_equal(send(user, text, strlen(text), MSG_NOSIGNAL), strlen(text));
	control_read(&card, &card.client[0]);
	n = recv(user, reply, sizeof(reply) - 1, MSG_DONTWAIT);
	reply[n > 0 ? n : 0] = 0;
	return reply;
}

static void lines(void **state)
{
	char line[600];

	assert_string_equal(answers("bogus\n"), "error no such command\n");
	assert_string_equal(answers("  reset \t\r\n"), "ok\n");
	/* a terminal that echoes sends answers back */
	assert_string_equal(answers("\n"), "");
	assert_string_equal(answers(" \r\n"), "");
	assert_string_equal(answers("ok\n"), "");
	assert_string_equal(answers("error no such command\n"), "");
	assert_string_equal(answers("| text\n"), "");
	/* in parts, and several at once */
	assert_string_equal(answers("res"), "");
	assert_string_equal(answers("et\nbogus\nres"), "ok\nerror no such command\n");
	assert_string_equal(answers("et\n"), "ok\n");
	/* as long as a line may be, and longer */
	memset(line, 'x', sizeof(line));
	strcpy(line + CONTROL_LINE - 1, "\n");
	assert_string_equal(answers(line), "error no such command\n");
	memset(line, 'x', sizeof(line));
	strcpy(line + CONTROL_LINE, "\n");
	answers(line);
	assert_string_equal(answers(""), "error line too long\n");
	memset(line, 'x', sizeof(line));
	strcpy(line + 520, "\nreset\n");
	answers(line);
	answers("");
	assert_string_equal(answers(""), "error line too long\nok\n");
	assert_string_equal(answers("reset\n"), "ok\n");
}

static void helps(void **state)
{
	char name[32];

	answers("help\n");
	for (unsigned i = 0; i < COMMANDS; i++) {
		snprintf(name, sizeof(name), "| %s ", commands[i].name);
		assert_non_null(strstr(reply, name));
	}
	assert_string_equal(reply + strlen(reply) - 3, "ok\n");
}

static void tells_status(void **state)
{
	struct tutti_status *status = window(&known()->status);

	card.kicks = 5;
	answers("status\n");
	assert_non_null(
	    strstr(reply, "guest 0\nkicks 5\ninterrupts 0\ndma_bytes 0\nstate off\nboot_sequence 0\nboot_error 0\n"));
	status->state = TUTTI_STATE_FAILED;
	status->boot_error = 3;
	status->firmware_version = TUTTI_VERSION(4, 5);
	status->asleep = 1;
	status->heartbeat = 99;
	answers("status\n");
	assert_non_null(
	    strstr(reply, "state failed\nboot_sequence 0\nboot_error 3\nfirmware 4.5\nasleep 1\nheartbeat 99\nok\n"));
	status->state++;
	assert_non_null(strstr(answers("status\n"), "state ?\n"));
	card.peer.guest = dup(0);
	card.peer.id = 9;
	assert_non_null(strstr(answers("status\n"), "guest 9\n"));
}

static void tells_counters(void **state)
{
	uint64_t *counters = window(&known()->counters);
	char *at = reply, want[64];

	for (unsigned i = 0; i < TUTTI_COUNTERS; i++)
		counters[i] = 7000 + i;
	answers("counters\n");
	for (unsigned i = 0; i < TUTTI_COUNTERS; i++) {
		snprintf(want, sizeof(want), "%s %u\n", tutti_counter_name(i), 7000 + i);
		assert_memory_equal(at, want, strlen(want));
		at += strlen(want);
	}
	assert_string_equal(at, "ok\n");
}

static void tells_log(void **state)
{
	struct tutti_log *log = window(&known()->log);
	uint64_t bytes = known()->log.bytes - sizeof(*log);

	log->head = 0;
	assert_string_equal(answers("log\n"), "ok\n");
	memcpy(log->text, "one\ntwo\a\n\nthree", 15);
	log->head = 15;
	assert_string_equal(answers("log\n"), "| one\n| two\n| \n| three\nok\n");
	log->head = 4;
	assert_string_equal(answers("log\n"), "| one\nok\n");
	memset(log->text, '.', bytes);
	memcpy(log->text, "x\nyz", 4);
	log->head = bytes + 2; /* what is at the start is the newest */
	answers("log\n");
	assert_int_equal(strlen(reply), 2 + bytes + 3);
	assert_memory_equal(reply, "| yz", 4);
	assert_string_equal(reply + strlen(reply) - 6, ".x\nok\n");
}

static uint64_t raised(unsigned vector)
{
	uint64_t n = 0;

	return read(card.peer.vector[vector], &n, sizeof(n)) == sizeof(n) ? n : 0;
}

static void interrupts(void **state)
{
	static const char *const bad[] = {"interrupt\n", "interrupt x\n", "interrupt 2x\n", "interrupt 3\n",
					  "interrupt 4294967296\n"};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_string_equal(answers(bad[i]), "error Invalid argument\n");
	assert_string_equal(answers("interrupt 2\n"), "ok\n");
	assert_string_equal(answers("interrupt 0x2\ninterrupt 0\n"), "ok\nok\n");
	assert_int_equal(raised(0), 1);
	assert_int_equal(raised(1), 0);
	assert_int_equal(raised(2), 2);
	peer_interrupt(&card.peer, VECTORS); /* no such vector */
	interrupt(&card, 1);
	assert_int_equal(raised(1), 1);
	assert_non_null(strstr(answers("status\n"), "interrupts 1\n"));
}

/* A card that was taken out is there no more, until another one is put in. */
static void taken_out(void **state)
{
	assert_string_equal(answers("inject\n"), "error Invalid argument\n");
	assert_string_equal(answers("inject nonsense\n"), "error Invalid argument\n");
	assert_string_equal(answers("inject removed\n"), "ok\n");
	assert_non_null(strstr(answers("status\n"), "state removed\nok\n"));
	assert_null(strstr(reply, "boot_sequence"));
	assert_string_equal(answers("counters\n"), "error No such device\n");
	assert_string_equal(answers("log\n"), "error No such device\n");
	assert_string_equal(answers("replug\n"), "ok\n");
	assert_non_null(card.card);
	assert_non_null(strstr(answers("status\n"), "state off\n"));
	assert_false(card.quit);
	assert_string_equal(answers("quit\n"), "ok\n");
	assert_true(card.quit);
}

/* A card that has been there leaves no file open, whoever was connected to it. */
static void ends(void **state)
{
	const struct process_options options = {.size = 128 * MIB, .vectors = VECTORS, .workers = 1, .q35 = true};
	unsigned files = 0;

	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(process_init(&card, &options), 0);
		connect_user();
		card.control = dup(0);
		card.client[CONTROL_CLIENTS - 1].socket = dup(0);
		close_process(state);
		if (i) /* what the first card has opened for all is there already */
			assert_int_equal(open_files(), files);
		files = open_files();
	}
}

/* A client that has gone, or that does not read, is dropped. */
static void rude_users(void **state)
{
	int small = 4096;

	close(user);
	control_read(&card, &card.client[0]);
	assert_int_equal(card.client[0].socket, -1);
	connect_user();
	setsockopt(card.client[0].socket, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	for (unsigned i = 0; i < 1000 && card.client[0].socket >= 0; i++) {
		assert_true(send(user, "help\n", 5, MSG_NOSIGNAL) == 5 || errno == EPIPE);
		control_read(&card, &card.client[0]);
	}
	assert_int_equal(card.client[0].socket, -1);
	close(user);
	connect_user();
	control_read(&card, &card.client[0]); /* nothing has been sent yet */
	assert_int_not_equal(card.client[0].socket, -1);
}

static char folder[] = "/tmp/tutti-control-XXXXXX";

static const char *in_folder(const char *name)
{
	static char path[2][sizeof(folder) + 32];
	static unsigned which;
	char *text = path[which++ % 2];

	snprintf(text, sizeof(path[0]), "%s/%s", folder, name);
	return text;
}

static void many_users(void **state)
{
	int fd[CONTROL_CLIENTS + 1];
	char byte;

	assert_non_null(mkdtemp(folder));
	card.control = unix_listen(in_folder("control"));
	assert_true(card.control >= 0);
	for (unsigned i = 1; i <= CONTROL_CLIENTS; i++) { /* one is there already */
		fd[i] = unix_connect(in_folder("control"));
		assert_true(fd[i] >= 0);
		control_accept(&card);
		assert_int_equal(i < CONTROL_CLIENTS ? card.client[i].socket >= 0 : true, true);
	}
	assert_int_equal(read(fd[CONTROL_CLIENTS], &byte, 1), 0); /* too many */
	assert_int_equal(recv(fd[CONTROL_CLIENTS - 1], &byte, 1, MSG_DONTWAIT), -1);
	control_accept(&card); /* nobody has come */
	for (unsigned i = 1; i <= CONTROL_CLIENTS; i++)
		close(fd[i]);
	unlink(in_folder("control"));
	rmdir(folder);
	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
}

/* ---- sockets ---- */

static void listens(void **state)
{
	char path[sizeof(((struct sockaddr_un *)0)->sun_path) + 2];
	int fd, again;

	assert_non_null(mkdtemp(folder));
	memset(path, 'x', sizeof(path));
	memcpy(path, folder, sizeof(folder) - 1);
	path[sizeof(folder) - 1] = '/';
	path[sizeof(path) - 2] = 0; /* as long as the structure: without room for the end */
	assert_int_equal(unix_listen(path), -ENAMETOOLONG);
	path[sizeof(path) - 3] = 0;
	fd = unix_listen(path);
	assert_true(fd >= 0);
	again = unix_listen(path); /* what an earlier process has left is taken over */
	assert_true(again >= 0);
	assert_true(fcntl(again, F_GETFL) & O_NONBLOCK);
	close(fd);
	fd = unix_connect(path);
	assert_true(fd >= 0);
	close(fd);
	close(again);
	unlink(path);
	assert_int_equal(unix_listen("/tmp/tutti-no-such-folder/x"), -ENOENT);
	rmdir(folder);
	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
}

static bool receive(int socket, int64_t *number, int *fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct iovec vector = {number, sizeof(*number)};
	struct msghdr message = {
	    .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};

	*fd = -1;
	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != sizeof(*number))
		return false;
	if (CMSG_FIRSTHDR(&message))
		memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(*fd));
	return true;
}

static bool same_event(int a, int b)
{
	uint64_t one = 1, got = 0;

	return write(a, &one, sizeof(one)) == sizeof(one) && read(b, &got, sizeof(got)) == sizeof(got) && got == 1;
}

/* What a guest is told: version, its number, the memory, the doorbell of the card, its own vectors. */
static void guests(void **state)
{
	uint64_t one = 1;
	int64_t number;
	int guest, other, fd;

	assert_non_null(mkdtemp(folder));
	assert_int_equal(peer_listen(&card.peer, "/tmp/tutti-no-such-folder/x"), -ENOENT);
	assert_int_equal(peer_listen(&card.peer, in_folder("guest")), 0);
	card.peer.id = UINT16_MAX - 1;
	for (unsigned round = 0; round < 3; round++) {
		const int id = round ? (int)round : UINT16_MAX;

		assert_int_equal(write(card.peer.kick, &one, sizeof(one)), sizeof(one)); /* left by an earlier guest */
		peer_interrupt(&card.peer, VECTORS - 1);
		guest = unix_connect(in_folder("guest"));
		assert_int_equal(peer_accept(&card.peer), 0);
		assert_true(receive(guest, &number, &fd) && number == 0 && fd < 0);
		assert_true(receive(guest, &number, &fd) && number == id && fd < 0);
		assert_true(receive(guest, &number, &fd) && number == -1 && fd >= 0);
		close(fd);
		assert_true(receive(guest, &number, &fd) && number == 0 && same_event(fd, card.peer.kick));
		close(fd);
		for (unsigned i = 0; i < VECTORS; i++) {
			assert_true(receive(guest, &number, &fd) && number == id &&
				    same_event(card.peer.vector[i], fd));
			close(fd);
		}
		assert_int_equal(recv(guest, &number, sizeof(number), MSG_DONTWAIT), -1); /* that was all */
		other = unix_connect(in_folder("guest"));
		assert_int_equal(peer_accept(&card.peer), -EBUSY);
		assert_false(receive(other, &number, &fd));
		close(other);
		assert_false(peer_gone(&card.peer));
		assert_int_equal(write(guest, "x", 1), 1);
		assert_false(peer_gone(&card.peer)); /* what a guest says is of no interest */
		close(guest);
		assert_true(peer_gone(&card.peer));
		assert_int_equal(card.peer.guest, -1);
	}
	assert_int_equal(peer_accept(&card.peer), -EAGAIN);
	unlink(in_folder("guest"));
	rmdir(folder);
	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
}

/* ---- the loop ---- */

static struct process_options running;
static int run_result;

static void *run_card(void *context)
{
	run_result = process_run(&card, &running);
	return NULL;
}

static void expects(int fd, const char *text)
{
	size_t used = 0;

	reply[0] = 0;
	while (!strstr(reply, text)) {
		ssize_t n = recv(fd, reply + used, sizeof(reply) - 1 - used, 0);

		assert_true(n > 0);
		used += (size_t)n;
		reply[used] = 0;
	}
}

static void runs(void **state)
{
	static char socket_path[64], control_path[64];
	uint64_t one = 1;
	pthread_t thread;
	int control = -1, guest;

	assert_non_null(mkdtemp(folder));
	snprintf(socket_path, sizeof(socket_path), "%s", in_folder("card"));
	snprintf(control_path, sizeof(control_path), "%s", in_folder("control"));
	running = (struct process_options){.socket = "/tmp/tutti-no-such-folder/x"};
	assert_int_equal(process_run(&card, &running), -ENOENT);
	running = (struct process_options){.socket = socket_path, .control = "/tmp/tutti-no-such-folder/x"};
	assert_int_equal(process_run(&card, &running), -ENOENT);
	assert_int_equal(access(socket_path, F_OK), -1);
	for (unsigned by_signal = 0; by_signal < 2; by_signal++) {
		card.quit = false;
		running.control = control_path;
		pthread_create(&thread, NULL, run_card, NULL);
		while ((guest = unix_connect(socket_path)) < 0)
			usleep(1000);
		control = unix_connect(control_path);
		while (!strstr(reply, "guest ") || strstr(reply, "guest 0\n")) {
			assert_int_equal(write(control, "status\n", 7), 7);
			expects(control, "ok\n");
		}
		card.kicks = 0;
		assert_int_equal(write(card.peer.kick, &one, sizeof(one)), sizeof(one));
		while (!__atomic_load_n(&card.kicks, __ATOMIC_ACQUIRE))
			usleep(1000);
		close(guest);
		while (!strstr(reply, "guest 0\n")) {
			assert_int_equal(write(control, "status\n", 7), 7);
			expects(control, "ok\n");
		}
		assert_non_null(strstr(reply, "kicks 1\n")); /* however often the loop has come round since */
		if (by_signal)
			kill(getpid(), SIGTERM);
		else
			assert_int_equal(write(control, "quit\n", 5), 5);
		pthread_join(thread, NULL);
		assert_int_equal(run_result, 0);
		assert_int_equal(access(socket_path, F_OK) & access(control_path, F_OK), -1);
		close(control);
		close(card.control);
		close(card.peer.listener);
		card.control = card.peer.listener = -1;
	}
	rmdir(folder);
	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
}

#define CARD(name, f)                                                                                                  \
	{                                                                                                              \
		name, f, open_process, close_process, NULL                                                             \
	}
#define PLAIN(name, f)                                                                                                 \
	{                                                                                                              \
		name, f, NULL, NULL, NULL                                                                              \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CARD("SYS-11: lines of the control socket", lines),
	    CARD("SYS-11: its help", helps),
	    CARD("SYS-11: its status", tells_status),
	    CARD("SYS-11: its counters", tells_counters),
	    CARD("SYS-11: its log", tells_log),
	    CARD("SYS-11: its interrupts", interrupts),
	    CARD("SYS-11: a card is taken out", taken_out),
	    PLAIN("SYS-11: a card that ends", ends),
	    CARD("SYS-11: rude users", rude_users),
	    CARD("SYS-11: many users", many_users),
	    PLAIN("SYS-11: sockets", listens),
	    CARD("SYS-11: guests are introduced", guests),
	    CARD("SYS-11: the loop", runs),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("SYS-11 tutti-card", tests, NULL, NULL);
}
