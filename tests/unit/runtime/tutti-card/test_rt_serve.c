/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=tutti_card_kick,--wrap=tutti_card_reset,--wrap=poll */
/* How tutti-card handles every combination of events, with and without a guest (SYS-10, SYS-11). */
#undef _GNU_SOURCE /* the source files below define it themselves */
#include "tutti-card/control.c"
#include "tutti-card/guest_memory.c"
#include "tutti-card/peer.c"
#include "tutti-card/process.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <sys/eventfd.h>

#include "tutti-card/unix_connect.h"

static struct process card;
static unsigned kicks, resets;
static int input; /* a copy of this program's standard input */
static char folder[64], path[96], control_path[96];

void __wrap_tutti_card_kick(struct tutti_card *of);
void __wrap_tutti_card_reset(struct tutti_card *of);

void __wrap_tutti_card_kick(struct tutti_card *of)
{
	assert_ptr_equal(of, &card);
	kicks++;
}

void __wrap_tutti_card_reset(struct tutti_card *of)
{
	assert_ptr_equal(of, &card);
	assert_int_equal(card.memory.bytes, 1); /* guest memory is unmapped only after the card has stopped */
	resets++;
}

static int errors[3]; /* errno of the next calls of poll(), until 0, for success */
static unsigned waits;

int __wrap_poll(struct pollfd *wanted, nfds_t n, int timeout);

/* Fails with the next error, if there is one; otherwise reports no events and ends the loop. */
int __wrap_poll(struct pollfd *wanted, nfds_t n, int timeout)
{
	assert_int_equal(timeout, -1);
	for (nfds_t i = 0; i < n; i++)
		wanted[i].revents = 0;
	errno = errors[waits++];
	if (errno)
		return -1;
	card.quit = true;
	return 0;
}

static int setup(void **state)
{
	strcpy(folder, "/tmp/tutti-serve-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/card", folder);
	snprintf(control_path, sizeof(control_path), "%s/control", folder);
	memset(&card, 0, sizeof(card));
	card.card = (struct tutti_card *)&card; /* is compared but never dereferenced */
	card.signals = -1;
	for (unsigned i = 0; i < CONTROL_CLIENTS; i++)
		card.client[i].socket = -1;
	card.control = unix_listen(control_path);
	input = dup(0);
	return guest_memory_init(&card.memory, NULL, true) || peer_init(&card.peer, eventfd(0, EFD_CLOEXEC), 2) ||
	       peer_listen(&card.peer, path) || card.control < 0;
}

static int teardown(void **state)
{
	char command[96];

	peer_fini(&card.peer);
	guest_memory_fini(&card.memory);
	close(card.control);
	close(card.peer.shared);
	close(input);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

/* ---- guests ---- */

enum guest { NO_GUEST, STAYS, LEAVES };

static bool is_open(int socket)
{
	char byte;

	return recv(socket, &byte, 1, MSG_DONTWAIT | MSG_PEEK) != 0;
}

/*
 * Prepares a card with such a guest, as if guest memory were mapped. The card's end of the connection gets file
 * descriptor 0, as it may in a process without standard input. Return: the guest's end of the connection; -1: there is none
 */
static int a_guest(enum guest guest)
{
	int end = guest == NO_GUEST ? -1 : unix_connect(path);

	if (guest != NO_GUEST) {
		assert_int_equal(peer_accept(&card.peer), 0);
		dup2(card.peer.guest, 0);
		close(card.peer.guest);
		card.peer.guest = 0;
	}
	if (guest == LEAVES) {
		close(end);
		end = -1;
	}
	card.memory.bytes = 1;
	kicks = resets = 0;
	card.kicks = 0;
	card.quit = false;
	return end;
}

static FILE *console; /* the real stderr, while messages are captured */
static char *said;
static size_t said_bytes;

/* The messages about guests that leave, come or are refused must be these and no others, in this order. */
static void assert_said(unsigned gone, unsigned came, bool refused)
{
	char want[256] = "";

	if (gone)
		snprintf(want, sizeof(want), "tutti-card: guest %u has gone\n", gone);
	if (came)
		snprintf(want + strlen(want), sizeof(want) - strlen(want), "tutti-card: guest is peer %u\n", came);
	if (refused)
		strcat(want, "tutti-card: guest refused: there is one already\n");
	fclose(stderr);
	stderr = console;
	assert_string_equal(said, want);
	free(said);
}

/* Runs one turn of the loop with this set of events, a bit for each entry of poll, and checks what it does. */
static void turn(unsigned events, enum guest guest)
{
	struct pollfd poll[POLLED] = {0};
	int old = a_guest(guest), was = card.peer.guest, number = card.peer.id, another = -1;
	bool leaves = guest == LEAVES && events & (1u << GUEST | 1u << LISTENER), comes = events & 1u << LISTENER;
	uint64_t one = 1;

	for (unsigned i = 0; i <= LISTENER; i++)
		poll[i].revents = events >> i & 1 ? POLLIN : 0;
	if (comes)
		another = unix_connect(path);
	assert_int_equal(write(card.peer.kick, &one, sizeof(one)), sizeof(one));
	console = stderr;
	stderr = open_memstream(&said, &said_bytes);
	serve(&card, poll);
	assert_said(leaves ? (unsigned)number : 0, comes && guest != STAYS ? (unsigned)number + 1 : 0, comes && guest == STAYS);
	assert_int_equal(card.quit, events >> SIGNAL & 1);
	assert_int_equal(kicks, events >> KICK & 1);
	assert_int_equal(card.kicks, kicks);
	assert_int_equal(resets, leaves);
	assert_int_equal(card.memory.bytes, leaves ? 0 : 1);
	if (comes && guest != STAYS) {
		assert_int_equal(card.peer.id, number + 1);
		assert_true(card.peer.guest >= 0 && is_open(another));
	} else {
		assert_int_equal(card.peer.id, number);
		assert_int_equal(card.peer.guest, leaves ? -1 : was);
		assert_true(!comes || !is_open(another));
	}
	assert_true(old < 0 || is_open(old));
	/* a kick that was not served stays pending, unless a new guest was accepted, which drops it */
	assert_int_equal(read(card.peer.kick, &one, sizeof(one)) == sizeof(one),
			 !(events >> KICK & 1) && !(comes && guest != STAYS));
	if (card.peer.guest >= 0)
		close(card.peer.guest);
	card.peer.guest = -1;
	dup2(input, 0);
	close(old);
	close(another);
}

static void guests(void **state)
{
	for (unsigned events = 0; events < 1u << (LISTENER + 1); events++)
		for (enum guest guest = NO_GUEST; guest <= LEAVES; guest++)
			turn(events, guest);
}

/* ---- users ---- */

/* Only users with an event are served. A new user gets the first free place. */
static void users(void **state)
{
	int user[CONTROL_CLIENTS] = {0};

	for (unsigned i = 0; i < CONTROL_CLIENTS; i++) {
		struct pollfd poll[POLLED] = {0};

		poll[CONTROL].revents = POLLIN;
		user[i] = unix_connect(control_path);
		for (unsigned k = 0; k < i; k++) {
			assert_int_equal(write(user[k], "bogus\n", 6), 6);
			poll[CLIENTS + k].revents = (k + i) % 2 ? POLLIN : 0;
		}
		serve(&card, poll);
		for (unsigned k = 0; k < CONTROL_CLIENTS; k++)
			assert_int_equal(card.client[k].socket >= 0, k <= i);
		for (unsigned k = 0; k < i; k++) {
			char text[64] = "";

			if (poll[CLIENTS + k].revents == 0) {
				assert_int_equal(recv(user[k], text, sizeof(text), MSG_DONTWAIT), -1);
				control_read(&card, &card.client[k]);
			}
			assert_true(recv(user[k], text, sizeof(text) - 1, MSG_DONTWAIT) > 0);
			assert_string_equal(text, "error no such command\n");
		}
	}
	for (unsigned i = 0; i < CONTROL_CLIENTS; i++) {
		close(user[i]);
		close(card.client[i].socket);
	}
}

/* ---- the loop ---- */

/* A signal that interrupts poll() is not an error; any other failure of poll() ends the loop. */
static void interrupted(void **state)
{
	static const struct {
		int errors[3], result;
		unsigned waits;
	} rows[] = {{{0}, 0, 1}, {{EINTR, EINTR}, 0, 3}, {{ENOMEM}, -ENOMEM, 1}, {{EINTR, EINVAL}, -EINVAL, 2}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		memcpy(errors, rows[i].errors, sizeof(errors));
		waits = 0;
		card.quit = false;
		assert_int_equal(loop(&card), rows[i].result);
		assert_int_equal(waits, rows[i].waits);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"SYS-10: kicks, guests that come and guests that go", guests, setup, teardown, NULL},
	    {"SYS-11: users of the control socket", users, setup, teardown, NULL},
	    {"SYS-10: signals that interrupt poll()", interrupted, setup, teardown, NULL},
	};

	return cmocka_run_group_tests_name("SYS-10, SYS-11 what tutti-card serves", tests, NULL, NULL);
}
