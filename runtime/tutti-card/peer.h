/* SPDX-License-Identifier: MIT */
/**
 * DOC: ivshmem server side (docs/specs/ivshmem-spec of QEMU, protocol version 0)
 *
 * The card is peer 0 with one vector, the kick; the guest is the only other peer
 * and gets a new id each time it connects. All eventfds live as long as the
 * process, so that threads of the card may raise interrupts at any time.
 */
#ifndef TUTTI_PEER_H
#define TUTTI_PEER_H

#include <stdbool.h>
#include <stdint.h>

#define PEER_VECTORS_MAX 64u

/**
 * struct peer
 * @listener: the Unix socket QEMU's chardev connects to
 * @guest: connection of the guest, -1 = none
 * @id: of the guest, @guest's or the last one's
 * @shared: memory object that becomes BAR2
 * @kick: written by QEMU when the guest rings vector 0 of peer 0
 * @vector: written by the card, read by QEMU
 */
struct peer {
	int listener;
	int guest;
	uint16_t id;
	int shared;
	int kick;
	unsigned vectors;
	int vector[PEER_VECTORS_MAX];
};

int peer_init(struct peer *peer, int shared, unsigned vectors);
/** peer_listen() - from now on a guest may connect. */
int peer_listen(struct peer *peer, const char *path);
/** peer_accept() - accept a connection, or refuse it if there is a guest. Returns 0 or -errno. */
int peer_accept(struct peer *peer);
/** peer_gone() - after an event of the guest's connection: has the guest gone? */
bool peer_gone(struct peer *peer);
/** peer_kicked() - read the eventfd of the kick. */
void peer_kicked(struct peer *peer);
/** peer_interrupt() - raise MSI-X vector @vector. Any thread may call it. */
void peer_interrupt(struct peer *peer, unsigned vector);
void peer_fini(struct peer *peer);

/** unix_listen() - listening socket at @path, which is replaced. Returns it or -errno. */
int unix_listen(const char *path);

#endif
