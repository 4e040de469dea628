// SPDX-License-Identifier: MIT
/* tutti-card's side of the ivshmem protocol: what a guest is told when it connects, kicks and interrupts (SYS-10). */
#undef _GNU_SOURCE /* the source defines it in its own way, before anything else */
#include "tutti-card/peer.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>

#include "open_files.h"

#define VECTORS 3u

static struct peer peer;
static char folder[64], path[96];
static int memory, beyond;

static int setup(void **state)
{
	strcpy(folder, "/tmp/tutti-peer-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/card", folder);
	memory = eventfd(0, EFD_CLOEXEC); /* any file will do */
	beyond = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	memset(&peer, 0, sizeof(peer));
	if (peer_init(&peer, memory, VECTORS))
		return -1;
	peer.vector[VECTORS] = beyond; /* where the next vector would be */
	return peer_listen(&peer, path);
}

static int teardown(void **state)
{
	char command[96];

	peer_fini(&peer);
	close(memory);
	close(beyond);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

static int connects(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* The next message, and the file that comes with it, -1 if there is none. */
static int64_t next(int fd, int *file)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))];
	int64_t number = 77;
	struct iovec vector = {&number, sizeof(number)};
	struct msghdr message = {
		.msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	struct cmsghdr *header;

	assert_int_equal(recvmsg(fd, &message, MSG_CMSG_CLOEXEC), sizeof(number));
	header = CMSG_FIRSTHDR(&message);
	*file = -1;
	if (header) {
		assert_int_equal(header->cmsg_level, SOL_SOCKET);
		assert_int_equal(header->cmsg_type, SCM_RIGHTS);
		assert_int_equal(header->cmsg_len, CMSG_LEN(sizeof(int)));
		memcpy(file, CMSG_DATA(header), sizeof(*file));
	}
	return (int64_t)le64toh((uint64_t)number);
}

static void add(int fd, uint64_t n)
{
	assert_int_equal(write(fd, &n, sizeof(n)), sizeof(n));
}

/* What an eventfd counts, which is 0 afterwards. */
static uint64_t taken(int fd)
{
	uint64_t n = 0;

	return read(fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

/* A file of the guest's is the same as one of ours. */
static void assert_same(int theirs, int ours)
{
	assert_true(theirs >= 0);
	add(theirs, 5);
	assert_int_equal(taken(ours), 5);
	close(theirs);
}

/* Version, number of the guest, memory, the card's number with the kick, the guest's with each vector: in this order. */
static void introduction(void **state)
{
	for (int64_t id = 1; id <= 3; id++) {
		int guest = connects(), file;

		/* nothing is left of the guest before */
		add(peer.kick, 9);
		add(peer.vector[VECTORS - 1], 9);
		assert_int_equal(peer_accept(&peer), 0);
		assert_int_equal(taken(peer.kick), 0);
		assert_int_equal(taken(peer.vector[VECTORS - 1]), 0);
		assert_int_equal(next(guest, &file), 0);
		assert_int_equal(file, -1);
		assert_int_equal(next(guest, &file), id);
		assert_int_equal(file, -1);
		assert_int_equal(next(guest, &file), -1);
		assert_same(file, memory);
		assert_int_equal(next(guest, &file), 0);
		assert_same(file, peer.kick);
		for (unsigned i = 0; i < VECTORS; i++) {
			assert_int_equal(next(guest, &file), id);
			assert_same(file, peer.vector[i]);
		}
		assert_int_equal(recv(guest, &file, sizeof(file), MSG_DONTWAIT), -1); /* and that is all */
		assert_false(peer_gone(&peer));
		assert_int_equal(send(guest, "noise", 5, 0), 5);
		assert_false(peer_gone(&peer));
		assert_false(peer_gone(&peer));
		close(guest);
		assert_true(peer_gone(&peer));
		assert_int_equal(peer.guest, -1);
	}
}

/* Numbers of guests have 16 bits, and 0 is the card's. */
static void numbers(void **state)
{
	static const struct {
		unsigned before;
		int64_t next;
	} rows[] = {{UINT16_MAX - 1, UINT16_MAX}, {UINT16_MAX, 1}, {0, 1}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int guest = connects(), file;

		peer.id = rows[i].before;
		assert_int_equal(peer_accept(&peer), 0);
		next(guest, &file);
		assert_int_equal(next(guest, &file), rows[i].next);
		close(guest);
		assert_true(peer_gone(&peer));
	}
}

/* Only one guest is served at a time, others are turned away; one that disconnects at once does not count. */
static void one_guest(void **state)
{
	unsigned files = open_files();
	int guest, second;
	char byte;

	assert_int_equal(peer_accept(&peer), -EAGAIN);
	guest = connects();
	close(guest);
	assert_int_equal(peer_accept(&peer), -EPIPE);
	assert_int_equal(peer.guest, -1);
	guest = connects();
	assert_int_equal(peer_accept(&peer), 0);
	second = connects();
	assert_int_equal(peer_accept(&peer), -EBUSY);
	assert_int_equal(recv(second, &byte, 1, 0), 0); /* closed without an answer */
	close(second);
	assert_false(peer_gone(&peer));
	close(guest);
	assert_true(peer_gone(&peer));
	assert_int_equal(open_files(), files);
}

/* An interrupt counts on its own vector only, and vectors that do not exist are ignored. */
static void interrupts(void **state)
{
	for (unsigned i = 0; i < VECTORS; i++) {
		peer_interrupt(&peer, i);
		peer_interrupt(&peer, i);
		for (unsigned k = 0; k < VECTORS; k++)
			assert_int_equal(taken(peer.vector[k]), k == i ? 2 : 0);
	}
	peer_interrupt(&peer, VECTORS);
	peer_interrupt(&peer, ~0u);
	assert_int_equal(taken(beyond), 0);
	add(peer.vector[0], UINT64_MAX - 1); /* a full counter does not block */
	peer_interrupt(&peer, 0);
	assert_true(taken(peer.vector[0]) == UINT64_MAX - 1);
	add(peer.kick, 3);
	peer_kicked(&peer);
	assert_int_equal(taken(peer.kick), 0);
	peer_kicked(&peer);
}

/* Names of sockets have a limit, an old socket of the same name is replaced, and failures leave nothing open. */
static void sockets(void **state)
{
	unsigned files = open_files();
	char name[sizeof(((struct sockaddr_un *)0)->sun_path) + 1];
	int fd;

	snprintf(name, sizeof(name), "%s/", folder);
	memset(name + strlen(name), 'x', sizeof(name) - 1 - strlen(name));
	name[sizeof(name) - 1] = 0;
	assert_int_equal(unix_listen(name), -ENAMETOOLONG);
	name[sizeof(name) - 2] = 0;
	fd = unix_listen(name);
	assert_true(fd >= 0);
	close(fd);
	fd = unix_listen(name);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(unix_listen("/nowhere/at/all"), -ENOENT);
	assert_int_equal(open_files(), files);
}

/* All files are closed at the end, whether a guest is there or not; without vectors there is just the kick. */
static void ends(void **state)
{
	unsigned files = open_files();

	for (unsigned vectors = 0; vectors <= 2; vectors++)
		for (unsigned there = 0; there < 2; there++) {
			struct peer other;
			int guest = -1;

			assert_int_equal(peer_init(&other, memory, vectors), 0);
			assert_int_equal(open_files(), files + 1 + vectors);
			assert_int_equal(peer_listen(&other, path), 0);
			if (there) {
				guest = connects();
				assert_int_equal(peer_accept(&other), 0);
			}
			peer_fini(&other);
			if (there)
				close(guest);
			assert_int_equal(open_files(), files);
		}
	assert_true(peer_listen(&peer, "/nowhere/at/all") < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"SYS-10: what a guest is told", introduction, setup, teardown, NULL},
		{"SYS-10: numbers of guests", numbers, setup, teardown, NULL},
		{"SYS-10: one guest at a time", one_guest, setup, teardown, NULL},
		{"SYS-10: kicks and interrupts", interrupts, setup, teardown, NULL},
		{"SYS-10: names of sockets", sockets, setup, teardown, NULL},
		{"SYS-10: nothing is left open", ends, setup, teardown, NULL},
	};

	return cmocka_run_group_tests_name("tutti-card: its guest", tests, NULL, NULL);
}
