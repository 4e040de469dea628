// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "process.h"

#define SIZE_DEFAULT (128ull << 20)
#define SIZE_MOST    (1ull << 62) /* twice as much can still be counted */
#define GIB	     (1ull << 30)

void process_say(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fputs("tutti-card: ", stderr);
	vfprintf(stderr, format, list);
	fputc('\n', stderr);
	va_end(list);
}

static void *host_memory(void *context, uint64_t bus, uint64_t bytes)
{
	struct process *process = context;

	return guest_memory_pointer(&process->memory, bus, bytes);
}

static void interrupt(void *context, unsigned vector)
{
	struct process *process = context;

	__atomic_fetch_add(&process->interrupts, 1, __ATOMIC_RELAXED);
	peer_interrupt(&process->peer, vector);
}

int process_topology(struct tutti_card_config *config, const struct process_options *options)
{
	FILE *file;
	int error = 0;

	if (!options->topology)
		return 0;
	file = fopen(options->topology, "re");
	if (!file)
		error = -errno;
	else
		error = tutti_card_config_read(config, file);
	if (error)
		process_say("topology %s: %s", options->topology, strerror(-error));
	if (file)
		fclose(file);
	return error;
}

/* A BAR is a power of two: what is not control window is card memory, unless the topology says how much. */
static int choose_size(struct process *process, uint64_t size)
{
	struct tutti_card_config probe = process->config;
	uint64_t needed, window;

	if (!probe.memory_bytes)
		probe.memory_bytes = GIB;
	needed = tutti_card_bar_bytes(&probe);
	if (!needed || size > SIZE_MOST)
		return -EINVAL;
	window = needed - probe.memory_bytes;
	if (process->config.memory_bytes) {
		for (process->bar_bytes = 1; process->bar_bytes < (size ? size : needed);)
			process->bar_bytes <<= 1;
		return process->bar_bytes >= needed ? 0 : -EINVAL;
	}
	process->bar_bytes = size ? size : SIZE_DEFAULT;
	if (process->bar_bytes & (process->bar_bytes - 1) || process->bar_bytes <= window)
		return -EINVAL;
	process->config.memory_bytes = process->bar_bytes - window;
	return 0;
}

/* Create the memory object that QEMU maps as BAR2. */
static int create_bar(struct process *process)
{
	int fd = memfd_create("tutti-card", MFD_CLOEXEC);
	uint8_t *reserve;
	uintptr_t start;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)process->bar_bytes)) {
		close(fd);
		return -errno;
	}
	/* The mapping is aligned to its size, as a BAR is. */
	reserve = mmap(NULL, 2 * process->bar_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		       0);
	if (reserve == MAP_FAILED) {
		close(fd);
		return -ENOMEM;
	}
	start = ((uintptr_t)reserve + process->bar_bytes - 1) & ~(process->bar_bytes - 1);
	process->config.bar = mmap((void *)start, process->bar_bytes, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_FIXED, fd, 0);
	if (process->config.bar == MAP_FAILED) {
		close(fd);
		return -ENOMEM;
	}
	return fd;
}

/* This comes before the card creates its threads: they inherit the mask, so that only the loop gets the signals. */
static int signals_open(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

int process_init(struct process *process, const struct process_options *options)
{
	int error, fd, i;

	memset(process, 0, sizeof(*process));
	process->control = -1;
	for (i = 0; i < CONTROL_CLIENTS; i++)
		process->client[i].socket = -1;
	error = process_topology(&process->config, options);
	if (error)
		return error;
	process->config.workers = options->workers;
	process->config.host_memory = host_memory;
	process->config.interrupt = interrupt;
	process->config.context = process;
	error = choose_size(process, options->size);
	if (error) {
		process_say("BAR size must be a power of two that holds control window and card memory");
		return error;
	}
	process->signals = signals_open();
	fd = create_bar(process);
	if (fd < 0)
		return fd;
	error = guest_memory_init(&process->memory, options->memory, options->q35);
	if (!error)
		error = peer_init(&process->peer, fd, options->vectors);
	if (!error)
		error = tutti_card_create(&process->config, &process->card);
	return error;
}

int process_replug(struct process *process)
{
	tutti_card_destroy(process->card);
	process->card = NULL;
	memset(process->config.bar, 0, process->bar_bytes);
	return tutti_card_create(&process->config, &process->card);
}

/* What the guest started must not continue, because its memory will soon belong to another process. */
static void guest_left(struct process *process)
{
	tutti_card_reset(process->card);
	guest_memory_drop(&process->memory);
	process_say("guest %u has gone", process->peer.id);
}

static void guest_came(struct process *process)
{
	int error = peer_accept(&process->peer);

	if (error)
		process_say("guest refused: %s", error == -EBUSY ? "there is one already" : strerror(-error));
	else
		process_say("guest is peer %u", process->peer.id);
}


enum { SIGNAL, KICK, GUEST, LISTENER, CONTROL, CLIENTS, POLLED = CLIENTS + CONTROL_CLIENTS };

static void serve(struct process *process, const struct pollfd *poll)
{
	int i;

	if (poll[SIGNAL].revents)
		process->quit = true;
	if (poll[KICK].revents) {
		peer_kicked(&process->peer);
		process->kicks++;
		tutti_card_kick(process->card);
	}
	/* The old guest's end is handled before a new connection, so that a QEMU restarted quickly is accepted. */
	if ((poll[GUEST].revents || poll[LISTENER].revents) && process->peer.guest >= 0 && peer_gone(&process->peer))
		guest_left(process);
	if (poll[LISTENER].revents)
		guest_came(process);
	for (i = 0; i < CONTROL_CLIENTS; i++)
		if (poll[CLIENTS + i].revents)
			control_read(process, &process->client[i]);
	if (poll[CONTROL].revents)
		control_accept(process);
}

static int loop(struct process *process)
{
	struct pollfd wanted[POLLED] = {0};
	int i;

	while (!process->quit) {
		wanted[SIGNAL].fd = process->signals;
		wanted[KICK].fd = process->peer.kick;
		wanted[GUEST].fd = process->peer.guest;
		wanted[LISTENER].fd = process->peer.listener;
		wanted[CONTROL].fd = process->control;
		for (i = 0; i < CONTROL_CLIENTS; i++)
			wanted[CLIENTS + i].fd = process->client[i].socket;
		for (i = 0; i < POLLED; i++)
			wanted[i].events = POLLIN;
		if (poll(wanted, POLLED, -1) < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		serve(process, wanted);
	}
	return 0;
}

int process_run(struct process *process, const struct process_options *options)
{
	int error = 0;

	if (options->control) {
		process->control = unix_listen(options->control);
		if (process->control < 0) {
			process_say("%s: %s", options->control, strerror(-process->control));
			return process->control;
		}
	}
	/* The socket is made last, because a client may connect as soon as it exists. */
	error = peer_listen(&process->peer, options->socket);
	if (error)
		process_say("%s: %s", options->socket, strerror(-error));
	else
		error = loop(process);
	unlink(options->socket);
	if (options->control)
		unlink(options->control);
	return error;
}

void process_fini(struct process *process)
{
	int i;

	tutti_card_destroy(process->card);
	peer_fini(&process->peer);
	guest_memory_fini(&process->memory);
	if (process->control >= 0)
		close(process->control);
	for (i = 0; i < CONTROL_CLIENTS; i++)
		if (process->client[i].socket >= 0)
			close(process->client[i].socket);
	if (process->config.bar)
		munmap(process->config.bar, process->bar_bytes);
	close(process->peer.shared);
	close(process->signals);
}
