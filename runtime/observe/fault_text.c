// SPDX-License-Identifier: MIT
/* What a fault record means, in words: kernel, cause, access, allocation and function (SYS-58). */
#include <stdarg.h>
#include <stdio.h>

#include "code/code_name.h"
#include "memory/memory.h"
#include "packet/packet.h"
#include "queue/queue.h"
#include "tutti/wave.h"

#define NO_SM 0xffffu

/* Text that grows in a buffer which may be too small. */
struct sentence {
	char *text;
	size_t bytes, used;
};

__attribute__((format(printf, 2, 3))) static void add(struct sentence *sentence, const char *format, ...)
{
	size_t room = sentence->used < sentence->bytes ? sentence->bytes - sentence->used : 0;
	va_list list;
	int n;

	va_start(list, format);
	n = vsnprintf(room ? sentence->text + sentence->used : NULL, room, format, list);
	va_end(list);
	sentence->used += n > 0 ? (size_t)n : 0;
}

static const char *const causes[] = {
    [TUTTI_CAUSE_UNMAPPED] = "nothing is mapped there",
    [TUTTI_CAUSE_PROTECTION] = "the memory there does not allow it",
    [TUTTI_CAUSE_ALIGNMENT] = "misaligned address",
    [TUTTI_CAUSE_BUS] = "the bus has refused it",
    [TUTTI_CAUSE_ILLEGAL] = "illegal instruction",
    [TUTTI_CAUSE_BREAK] = "ebreak instruction",
    [TUTTI_CAUSE_ABORT] = "the kernel has called tutti_abort()",
    [TUTTI_CAUSE_SERVICE] = "unknown service, or not allowed here",
    [TUTTI_CAUSE_WATCHDOG] = "no progress within the time limit",
    [TUTTI_CAUSE_STACK] = "the stack is full",
    [TUTTI_CAUSE_ECC] = "a memory error that could not be corrected",
    [TUTTI_CAUSE_CGA_RANK] = "no workgroup of that rank",
    [TUTTI_CAUSE_CGA_OFFSET] = "beyond any workgroup's shared memory",
    [TUTTI_CAUSE_CGA_EXITED] = "that workgroup has exited",
    [TUTTI_CAUSE_CGA_SEGMENT] = "beyond that workgroup's shared memory",
};

static const char *const accesses[] = {
    [TUTTI_ACCESS_READ] = "read of",
    [TUTTI_ACCESS_WRITE] = "write to",
    [TUTTI_ACCESS_EXECUTE] = "jump to",
    [TUTTI_ACCESS_ATOMIC] = "atomic operation on",
};

#define TEXT(table, i) ((i) < sizeof(table) / sizeof((table)[0]) ? (table)[i] : NULL)

static const char *cause_text(const struct tutti_fault *fault)
{
	if (fault->cause >= TUTTI_CAUSE_TENSOR)
		return tutti_tensor_strerror((enum tutti_tensor_error)(fault->cause - TUTTI_CAUSE_TENSOR));
	return TEXT(causes, fault->cause);
}

/*
 * Of a condensed packet the kernel cannot be told. The card overwrites the type of packets that it takes, but what
 * follows it in a condensed one makes no launch.
 */
static bool is_launch(const struct queue *queue, const union tutti_packet *slot)
{
	union tutti_packet packet = *slot;

	if (!(queue->public.flags & TUTTI_QUEUE_EXTENDED))
		return true;
	if ((packet.word[0] & TUTTI_HEADER_TYPE) == TUTTI_PACKET_INVALID)
		packet.dispatch.header = TUTTI_PACKET_KERNEL_DISPATCH;
	return (packet.word[0] & TUTTI_HEADER_TYPE) == TUTTI_PACKET_KERNEL_DISPATCH &&
	       packet_check(&packet, queue->public.flags, NULL) == TUTTI_ERROR_NONE;
}

/* The packet is still in its slot until the ring comes round. */
static bool kernel_of(struct queue *queue, const struct tutti_fault *fault, char name[CODE_NAME_BYTES])
{
	const union tutti_packet *slot = tutti_queue_slot(&queue->public, fault->packet);

	if (tutti_load_relaxed(queue->public.write_index) - fault->packet > queue->public.mask + 1 || fault->kernel ||
	    !is_launch(queue, slot))
		return false;
	return code_kernel_name(queue->device, slot->dispatch.kernel_object, name);
}

/* Blocks come in pages and powers of two, so what lies just behind one is soon found by going back from there. */
static void add_allocation(struct sentence *sentence, struct tutti_device *device, uint64_t address)
{
	static const uint32_t back[] = {0, 64, 4096, 65536, 1 << 20};
	uint64_t start, end;
	size_t bytes;
	void *found;

	if (address >= TUTTI_WAVE_SHARED) {
		add(sentence, ", %s memory", address < TUTTI_WAVE_PRIVATE ? "shared" : "private");
		return;
	}
	for (unsigned i = 0; i < sizeof(back) / sizeof(back[0]); i++) {
		if (address < back[i] || !memory_find(device, (const void *)(uintptr_t)(address - back[i]), &found, &bytes))
			continue;
		start = (uintptr_t)found;
		end = start + bytes;
		if (address < end)
			add(sentence, ", byte %llu of the %zu bytes allocated at %#llx",
			    (unsigned long long)(address - start), bytes, (unsigned long long)start);
		else
			add(sentence, ", %llu bytes behind the %zu bytes allocated at %#llx",
			    (unsigned long long)(address - end), bytes, (unsigned long long)start);
		return;
	}
	add(sentence, ", in no allocation");
}

static void add_access(struct sentence *sentence, struct tutti_device *device, const struct tutti_fault *fault)
{
	const char *cause = cause_text(fault), *access = TEXT(accesses, fault->access);

	if (fault->cause == TUTTI_CAUSE_ABORT)
		add(sentence, ": %s with code %llu", cause, (unsigned long long)fault->address);
	else if (cause)
		add(sentence, ": %s", cause);
	if (!access || (fault->cause >= TUTTI_CAUSE_ILLEGAL && fault->cause <= TUTTI_CAUSE_WATCHDOG))
		return;
	add(sentence, "%s%s %#llx", cause ? ", " : ": ", access, (unsigned long long)fault->address);
	add_allocation(sentence, device, fault->address);
}

static void add_place(struct sentence *sentence, struct tutti_device *device, const struct tutti_fault *fault)
{
	char name[CODE_NAME_BYTES], line[CODE_LINE_BYTES];
	uint64_t offset;

	if (fault->pc && code_function_name(device, fault->pc, name, &offset))
		add(sentence, "; in function %s + %#llx", name, (unsigned long long)offset);
	if (fault->pc && code_line(device, fault->pc, line))
		add(sentence, "; %s", line);
	if (fault->pc)
		add(sentence, "; pc %#llx", (unsigned long long)fault->pc);
	if (fault->sm != NO_SM)
		add(sentence, ", SM %u, wave %u", fault->sm, fault->wave);
}

int tutti_fault_text(struct tutti_queue *public, const struct tutti_fault *fault, char *text, size_t bytes)
{
	CALL_SCOPE(call);
	struct sentence sentence = {.text = text, .bytes = bytes};
	struct queue *queue = queue_of(public);
	char name[CODE_NAME_BYTES];

	if (!queue_call(&call, public) || !fault || (!text && bytes))
		return -EINVAL;
	add(&sentence, "%s", tutti_strerror(fault->code));
	if (kernel_of(queue, fault, name))
		add(&sentence, " in kernel %s", name);
	add_access(&sentence, queue->device, fault);
	add_place(&sentence, queue->device, fault);
	add(&sentence, "; packet %llu", (unsigned long long)fault->packet);
	if (fault->kernel)
		add(&sentence, ", kernel %u of it", fault->kernel);
	return (int)sentence.used;
}
