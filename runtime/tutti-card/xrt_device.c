// SPDX-License-Identifier: MIT
/*
 * The device process of XRT's software emulation, and the card as its kernel "tutti" (tutti/xrt_card.h). A call is a
 * header of 14 bytes (size, number) and a message, a reply a header of 9 bytes (size) and a message.
 */
#define _GNU_SOURCE
#include "xrt_device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tutti/types.h"
#include "tutti/xrt_card.h"
#include "wire.h"

#define BUFFERS	     64u
#define CALL_HEADER  14u
#define REPLY_HEADER 9u
#define REGISTERS    (TUTTI_XRT_REGISTERS_END / 4u)

/* Numbers of the calls; all others are answered with "yes". */
enum {
	CALL_CLOSE = 1,
	CALL_ALLOC = 4,
	CALL_FREE = 5,
	CALL_TO_DEVICE = 6,
	CALL_TO_HOST = 7,
	CALL_REGISTER_WRITE = 51,
	CALL_REGISTER_READ = 52,
};

/** struct shared - a buffer object: a file in memory that host and card map. */
struct shared {
	uint64_t address; /* of the device */
	size_t bytes;
	int file;
	uint8_t *map; /* NULL = free */
};

struct xrt_device {
	struct tutti_card_config config;
	struct tutti_card *card;
	int socket;
	bool over;
	uint32_t registers[REGISTERS];
	struct shared buffer[BUFFERS];
};

static struct shared *find_buffer(struct xrt_device *device, uint64_t address, uint64_t bytes)
{
	for (unsigned i = 0; i < BUFFERS; i++) {
		struct shared *buffer = &device->buffer[i];

		if (buffer->map && address >= buffer->address && address - buffer->address < buffer->bytes &&
		    bytes <= buffer->bytes - (address - buffer->address))
			return buffer;
	}
	return NULL;
}

static uint8_t *device_memory(struct xrt_device *device, uint64_t address, uint64_t bytes)
{
	struct shared *buffer = find_buffer(device, address, bytes);

	return buffer ? buffer->map + (address - buffer->address) : NULL;
}

static uint64_t register_pair(const struct xrt_device *device, unsigned offset)
{
	return (uint64_t)device->registers[offset / 4 + 1] << 32 | device->registers[offset / 4];
}

/* The card reaches no host memory but what the host has named. */
static void *host_memory(void *context, uint64_t bus, uint64_t bytes)
{
	struct xrt_device *device = context;
	uint64_t start = register_pair(device, TUTTI_XRT_HOST), size = register_pair(device, TUTTI_XRT_HOST_BYTES);

	if (bus < start || bus - start >= size || bytes > size - (bus - start))
		return NULL;
	return device_memory(device, bus, bytes);
}

static void no_interrupt(void *context, unsigned vector)
{
	(void)context;
	(void)vector;
}

static void disable(struct xrt_device *device)
{
	if (device->card)
		tutti_card_destroy(device->card);
	device->card = NULL;
	device->registers[TUTTI_XRT_STATE / 4] = TUTTI_XRT_OFF;
}

static void enable(struct xrt_device *device)
{
	size_t bytes = tutti_card_bar_bytes(&device->config);
	uint8_t *bar = device_memory(device, register_pair(device, TUTTI_XRT_BAR), bytes);
	uint32_t state = TUTTI_XRT_FAILED;

	disable(device);
	device->config.bar = bar;
	if (bar && !tutti_card_create(&device->config, &device->card))
		state = TUTTI_XRT_READY;
	device->registers[TUTTI_XRT_STATE / 4] = state;
}

static void write_register(struct xrt_device *device, uint64_t offset, uint32_t value)
{
	if (offset == TUTTI_XRT_ENABLE)
		value ? enable(device) : disable(device);
	else if (offset == TUTTI_XRT_KICK && device->card)
		tutti_card_kick(device->card);
	else if (offset >= TUTTI_XRT_BAR && offset < TUTTI_XRT_ENABLE && !(offset & 3))
		device->registers[offset / 4] = value;
}

static void reset_registers(struct xrt_device *device)
{
	size_t bytes = tutti_card_bar_bytes(&device->config);

	memset(device->registers, 0, sizeof(device->registers));
	device->registers[TUTTI_XRT_MAGIC / 4] = TUTTI_XRT_MAGIC_VALUE;
	device->registers[TUTTI_XRT_VERSION / 4] = TUTTI_XRT_VERSION_VALUE;
	device->registers[TUTTI_XRT_BAR_BYTES / 4] = (uint32_t)bytes;
	device->registers[TUTTI_XRT_BAR_BYTES / 4 + 1] = (uint32_t)((uint64_t)bytes >> 32);
}

static void buffer_free(struct shared *buffer)
{
	munmap(buffer->map, buffer->bytes);
	close(buffer->file);
	*buffer = (struct shared){0};
}

static bool buffer_make(struct shared *buffer, uint64_t address, uint64_t bytes)
{
	*buffer = (struct shared){.address = address, .bytes = bytes, .file = memfd_create("tutti-xrt", MFD_CLOEXEC)};
	if (buffer->file < 0)
		return false;
	if (!ftruncate(buffer->file, (off_t)bytes)) {
		void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, buffer->file, 0);

		if (map != MAP_FAILED) {
			buffer->map = map;
			return true;
		}
	}
	close(buffer->file);
	return false;
}

/* Replies with a path that the host opens; the file ends with this process. */
static void call_alloc(struct xrt_device *device, struct wire_bytes call, struct wire_reply *reply)
{
	uint64_t address = wire_number(call, 1), bytes = wire_number(call, 2);
	struct shared *buffer = NULL;
	char path[64];
	uint8_t *at;
	int n;

	for (unsigned i = 0; i < BUFFERS && !buffer; i++)
		if (!device->buffer[i].map)
			buffer = &device->buffer[i];
	if (!buffer || !bytes || !buffer_make(buffer, address, bytes)) {
		wire_put_number(reply, 1, 0);
		return;
	}
	wire_put_number(reply, 1, 1);
	if (!wire_number(call, 3)) /* not to be shared */
		return;
	n = snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), buffer->file);
	at = wire_put_string(reply, 2, (size_t)n);
	if (at)
		memcpy(at, path, (size_t)n);
}

/* The card stops before its memory goes, whatever the host has forgotten. */
static void call_free(struct xrt_device *device, struct wire_bytes call, struct wire_reply *reply)
{
	struct shared *buffer = find_buffer(device, wire_number(call, 1), 1);

	if (buffer) {
		disable(device);
		buffer_free(buffer);
	}
	wire_put_number(reply, 1, buffer != NULL);
}

static void call_to_device(struct xrt_device *device, struct wire_bytes call, struct wire_reply *reply)
{
	struct wire_bytes from = wire_string(call, 4);
	uint8_t *to = device_memory(device, wire_number(call, 3) + wire_number(call, 6), from.bytes);

	if (to)
		memcpy(to, from.data, from.bytes);
	wire_put_number(reply, 1, to ? from.bytes : 0);
}

static void call_to_host(struct xrt_device *device, struct wire_bytes call, struct wire_reply *reply)
{
	uint64_t bytes = wire_number(call, 5);
	uint8_t *from = device_memory(device, wire_number(call, 4) + wire_number(call, 6), bytes), *to;

	wire_put_number(reply, 1, from ? bytes : 0);
	to = wire_put_string(reply, 2, from ? bytes : 0);
	if (to && from)
		memcpy(to, from, bytes);
}

static void call_register_write(struct xrt_device *device, struct wire_bytes call, struct wire_reply *reply)
{
	struct wire_bytes data = wire_string(call, 3);
	uint32_t value;

	if (data.bytes == sizeof(value)) {
		memcpy(&value, data.data, sizeof(value));
		write_register(device, wire_number(call, 2), value);
	}
	wire_put_number(reply, 1, 1);
}

static void call_register_read(struct xrt_device *device, struct wire_bytes call, struct wire_reply *reply)
{
	uint64_t offset = wire_number(call, 2);
	uint32_t value = offset < TUTTI_XRT_REGISTERS_END ? device->registers[offset / 4] : 0;
	uint8_t *at;

	wire_put_number(reply, 1, 1);
	at = wire_put_string(reply, 2, sizeof(value));
	if (at)
		memcpy(at, &value, sizeof(value));
}

static void serve(struct xrt_device *device, uint32_t number, struct wire_bytes call, struct wire_reply *reply)
{
	switch (number) {
	case CALL_ALLOC:
		return call_alloc(device, call, reply);
	case CALL_FREE:
		return call_free(device, call, reply);
	case CALL_TO_DEVICE:
		return call_to_device(device, call, reply);
	case CALL_TO_HOST:
		return call_to_host(device, call, reply);
	case CALL_REGISTER_WRITE:
		return call_register_write(device, call, reply);
	case CALL_REGISTER_READ:
		return call_register_read(device, call, reply);
	case CALL_CLOSE:
		disable(device);
		device->over = wire_number(call, 3) != 0;
		break;
	}
	wire_put_number(reply, 1, 1);
}

static bool receive(int socket, void *to, size_t bytes)
{
	return !bytes || recv(socket, to, bytes, MSG_WAITALL) == (ssize_t)bytes;
}

static bool send_all(int socket, const uint8_t *data, size_t bytes)
{
	while (bytes) {
		ssize_t sent = send(socket, data, bytes, MSG_NOSIGNAL);

		if (sent <= 0)
			return false;
		data += sent;
		bytes -= (size_t)sent;
	}
	return true;
}

/* One call. Return: false if the host has gone or speaks another language. */
static bool serve_next(struct xrt_device *device, uint8_t *in, uint8_t *out)
{
	uint8_t header[CALL_HEADER];
	struct wire_reply reply = {.data = out + REPLY_HEADER, .room = WIRE_BYTES_MAX};
	uint64_t bytes;
	uint32_t number;

	if (!receive(device->socket, header, sizeof(header)))
		return false;
	memcpy(&bytes, header + 1, sizeof(bytes));
	memcpy(&number, header + 10, sizeof(number));
	if (bytes > WIRE_BYTES_MAX || !receive(device->socket, in, bytes))
		return false;
	serve(device, number, (struct wire_bytes){in, bytes}, &reply);
	if (reply.used > reply.room)
		return false;
	bytes = reply.used;
	out[0] = header[0];
	memcpy(out + 1, &bytes, sizeof(bytes));
	return send_all(device->socket, out, REPLY_HEADER + bytes);
}

/* XRT makes the socket after it has started this process. */
static int connect_host(void)
{
	const char *user = getenv("USER"), *id = getenv("EMULATION_SOCKETID");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int file, n;

	if (!id) {
		process_say("EMULATION_SOCKETID is not set: XRT's software emulation starts tutti-card --xrt");
		return -EINVAL;
	}
	n = snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/%s%s%s", user ? user : "", user ? "/" : "", id);
	if (n < 0 || (size_t)n >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (file < 0)
		return -errno;
	for (unsigned i = 0; i < 1000; i++) {
		if (!connect(file, (struct sockaddr *)&address, sizeof(address)))
			return file;
		usleep(20000);
	}
	process_say("%s: nobody listens", address.sun_path);
	close(file);
	return -ETIMEDOUT;
}

static int serve_all(struct xrt_device *device)
{
	uint8_t *in = malloc(WIRE_BYTES_MAX), *out = malloc(WIRE_BYTES_MAX + REPLY_HEADER);
	int error = in && out ? 0 : -ENOMEM;

	reset_registers(device);
	while (!error && !device->over && serve_next(device, in, out))
		;
	disable(device);
	free(in);
	free(out);
	return error;
}

int xrt_device_run(const struct process_options *options)
{
	static struct xrt_device device;
	int error = process_topology(&device.config, options);

	if (error)
		return error;
	device.config.workers = options->workers;
	device.config.host_memory = host_memory;
	device.config.interrupt = no_interrupt;
	device.config.context = &device;
	device.socket = connect_host();
	if (device.socket < 0)
		return device.socket;
	error = serve_all(&device);
	close(device.socket);
	return error;
}
