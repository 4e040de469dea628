/* SPDX-License-Identifier: MIT */
/** DOC: Processes that use a card */
#ifndef TUTTI_TOOLS_CLIENTS_H
#define TUTTI_TOOLS_CLIENTS_H

#include <stdint.h>
#include <sys/types.h>

/** struct client - an open card of a process. Memory is in KiB. */
struct client {
	pid_t process;
	char name[32];
	uint64_t card_memory;
	uint64_t system_memory;
	unsigned queues;
};

/**
 * clients_find() - which processes have a card open, as far as /proc shows them to this user.
 * @address: PCI address of the card
 * @client: gets up to @most of them
 * @most: room
 * Return: how many there are in @client.
 */
unsigned clients_find(const char *address, struct client *client, unsigned most);

#endif
