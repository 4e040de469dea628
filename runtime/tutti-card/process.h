/* SPDX-License-Identifier: MIT */
/**
 * DOC: tutti-card, the emulated card as a process
 *
 * main.c (options) - process.c (life of the card, event loop) - peer.c (QEMU) -
 * guest_memory.c (DMA) - control.c (line commands of tests and users). In place of process.c, xrt_device.c is the
 * device process of XRT's software emulation, with wire.c for its messages.
 */
#ifndef TUTTI_PROCESS_H
#define TUTTI_PROCESS_H

#include <stdbool.h>

#include "emulator/card/card.h"
#include "guest_memory.h"
#include "peer.h"

#define CONTROL_CLIENTS 8
#define CONTROL_LINE	256

/** struct control_client - a connection to the control socket and its unfinished line. */
struct control_client {
	int socket; /* -1 = free */
	unsigned used;
	bool too_long;
	char line[CONTROL_LINE];
};

/**
 * struct process
 * @config: kept to build the card again
 * @kicks, @interrupts: counted here, in addition to the card's own counters
 */
struct process {
	struct tutti_card_config config;
	struct tutti_card *card;
	struct peer peer;
	struct guest_memory memory;
	size_t bar_bytes;
	uint64_t kicks, interrupts;
	bool quit;
	int signals; /* signalfd: SIGTERM, SIGINT */
	int control;
	struct control_client client[CONTROL_CLIENTS];
};

/** struct process_options - what the command line says. */
struct process_options {
	const char *socket;
	const char *control;
	const char *memory;
	const char *topology;
	uint64_t size; /* of BAR2, 0 = from the topology's card memory, or 128 MiB */
	unsigned vectors;
	unsigned workers;
	bool q35;
	bool xrt;
};

/** process_topology() - fill in what the options' topology says. 0, or -errno after a message. */
int process_topology(struct tutti_card_config *config, const struct process_options *options);

int process_init(struct process *process, const struct process_options *options);
/** process_run() - run the card until SIGTERM, SIGINT or the command quit. Returns 0 or -errno. */
int process_run(struct process *process, const struct process_options *options);
void process_fini(struct process *process);
/** process_replug() - take the card out and put a new one in, which is the only way back from `removed`. */
int process_replug(struct process *process);

void control_accept(struct process *process);
void control_read(struct process *process, struct control_client *client);

/** process_say() - one line on stderr. */
void process_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
