// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "peer.h"

#define PROTOCOL_VERSION 0
#define CARD_ID		 0
#define NO_FD		 (-1)
#define SHARED_MEMORY	 (-1) /* "id" of the message with the memory object */
#define READS_MOST	 256  /* of up to 4096 bytes each, which is more than a socket holds */

int peer_init(struct peer *peer, int shared, unsigned vectors)
{
	unsigned i;

	peer->listener = peer->guest = -1;
	peer->id = 0;
	peer->shared = shared;
	peer->vectors = vectors;
	peer->kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	for (i = 0; i < vectors; i++)
		peer->vector[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return peer->kick < 0 || (vectors && peer->vector[vectors - 1] < 0) ? -EMFILE : 0;
}

int unix_listen(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd, error;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	unlink(path);
	if (!bind(fd, (struct sockaddr *)&address, sizeof(address)) && !listen(fd, 4))
		return fd;
	error = -errno;
	close(fd);
	return error;
}

int peer_listen(struct peer *peer, const char *path)
{
	int fd = unix_listen(path);

	if (fd < 0)
		return fd;
	peer->listener = fd;
	return 0;
}

/* One message: a 64-bit number, perhaps with a file descriptor. */
static int send_message(int socket, int64_t number, int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
	int64_t wire = (int64_t)htole64((uint64_t)number);
	struct iovec vector = {&wire, sizeof(wire)};
	struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
	struct cmsghdr *header;
	ssize_t sent;

	if (fd != NO_FD) {
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	}
	do {
		sent = sendmsg(socket, &message, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent == sizeof(wire) ? 0 : -EPIPE;
}

/* Send what a new client has to know, in the order of the specification. */
static int introduce(struct peer *peer, int socket)
{
	unsigned i;
	int error = send_message(socket, PROTOCOL_VERSION, NO_FD);

	if (!error)
		error = send_message(socket, peer->id, NO_FD);
	if (!error)
		error = send_message(socket, SHARED_MEMORY, peer->shared);
	if (!error)
		error = send_message(socket, CARD_ID, peer->kick);
	for (i = 0; i < peer->vectors && !error; i++)
		error = send_message(socket, peer->id, peer->vector[i]);
	return error;
}

static void drain(int fd)
{
	uint64_t value;

	while (read(fd, &value, sizeof(value)) > 0)
		;
}

int peer_accept(struct peer *peer)
{
	int socket = accept4(peer->listener, NULL, NULL, SOCK_CLOEXEC), error;
	unsigned i;

	if (socket < 0)
		return -errno;
	if (peer->guest >= 0) {
		close(socket);
		return -EBUSY;
	}
	/* Drop kicks and interrupts that are left from the previous guest. */
	drain(peer->kick);
	for (i = 0; i < peer->vectors; i++)
		drain(peer->vector[i]);
	peer->id = peer->id == UINT16_MAX ? 1 : peer->id + 1;
	error = introduce(peer, socket);
	if (error) {
		close(socket);
		return error;
	}
	peer->guest = socket;
	return 0;
}

/*
 * Clients send no messages in this protocol. What a client sends all the same is read first, because the end of the
 * connection cannot be seen before that. Only as much is read as a socket holds, because the client could send for ever.
 */
bool peer_gone(struct peer *peer)
{
	char bytes[4096];
	ssize_t n;
	int i = 0;

	do {
		n = recv(peer->guest, bytes, sizeof(bytes), MSG_DONTWAIT);
	} while (n > 0 && ++i < READS_MOST);
	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return false;
	close(peer->guest);
	peer->guest = -1;
	return true;
}

void peer_kicked(struct peer *peer)
{
	drain(peer->kick);
}

void peer_interrupt(struct peer *peer, unsigned vector)
{
	uint64_t one = 1;

	/* If the counter is full (2^64 - 2 have not been read) the interrupt is pending anyway. */
	if (vector < peer->vectors && write(peer->vector[vector], &one, sizeof(one)) < 0)
		return;
}

void peer_fini(struct peer *peer)
{
	unsigned i;

	if (peer->guest >= 0)
		close(peer->guest);
	if (peer->listener >= 0)
		close(peer->listener);
	for (i = 0; i < peer->vectors; i++)
		close(peer->vector[i]);
	close(peer->kick);
}
