/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Tracepoints: events/tutti in tracefs. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tutti

#if !defined(TUTTI_KERNEL_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TUTTI_KERNEL_TRACE_H

#include <linux/tracepoint.h>
#include "tutti/message.h"

/* An object comes to the card or leaves it; kind as in enum tutti_kind. */
DECLARE_EVENT_CLASS(tutti_object,
	TP_PROTO(u32 kind, u32 id),
	TP_ARGS(kind, id),
	TP_STRUCT__entry(
		__field(u32, kind)
		__field(u32, id)
	),
	TP_fast_assign(
		__entry->kind = kind;
		__entry->id = id;
	),
	TP_printk("%s %u", __print_symbolic(__entry->kind, { 0, "context" }, { 1, "queue" }, { 2, "rsb" }),
		  __entry->id)
);
DEFINE_EVENT(tutti_object, tutti_on_card, TP_PROTO(u32 kind, u32 id), TP_ARGS(kind, id));
DEFINE_EVENT(tutti_object, tutti_off_card, TP_PROTO(u32 kind, u32 id), TP_ARGS(kind, id));

TRACE_EVENT(tutti_message_send,
	TP_PROTO(const struct tutti_message *message),
	TP_ARGS(message),
	TP_STRUCT__entry(
		__field(u32, id)
		__field(u16, type)
		__field(u64, arg0)
		__field(u64, arg1)
	),
	TP_fast_assign(
		__entry->id = message->id;
		__entry->type = message->type;
		__entry->arg0 = message->arg[0];
		__entry->arg1 = message->arg[1];
	),
	TP_printk("id %u type %u arg %#llx %#llx", __entry->id, __entry->type, __entry->arg0, __entry->arg1)
);

TRACE_EVENT(tutti_message_reply,
	TP_PROTO(const struct tutti_message *message),
	TP_ARGS(message),
	TP_STRUCT__entry(
		__field(u32, id)
		__field(s16, status)
		__field(u64, value)
	),
	TP_fast_assign(
		__entry->id = message->id;
		__entry->status = message->status;
		__entry->value = message->value;
	),
	TP_printk("id %u status %d value %#llx", __entry->id, __entry->status, __entry->value)
);

TRACE_EVENT(tutti_fault,
	TP_PROTO(const struct tutti_fault *fault),
	TP_ARGS(fault),
	TP_STRUCT__entry(
		__field(u16, queue)
		__field(u16, code)
		__field(u16, cause)
		__field(u64, packet)
		__field(u64, address)
	),
	TP_fast_assign(
		__entry->queue = fault->queue;
		__entry->code = fault->code;
		__entry->cause = fault->cause;
		__entry->packet = fault->packet;
		__entry->address = fault->address;
	),
	TP_printk("queue %u code %u cause %u packet %llu address %#llx", __entry->queue, __entry->code,
		  __entry->cause, __entry->packet, __entry->address)
);

TRACE_EVENT(tutti_fence_signal,
	TP_PROTO(u32 queue, u64 packet, int error),
	TP_ARGS(queue, packet, error),
	TP_STRUCT__entry(
		__field(u32, queue)
		__field(u64, packet)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->queue = queue;
		__entry->packet = packet;
		__entry->error = error;
	),
	TP_printk("queue %u packet %llu error %d", __entry->queue, __entry->packet, __entry->error)
);

/* A rung of the recovery ladder has been tried. */
TRACE_EVENT(tutti_rung,
	TP_PROTO(u32 rung, int error),
	TP_ARGS(rung, error),
	TP_STRUCT__entry(
		__field(u32, rung)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->rung = rung;
		__entry->error = error;
	),
	TP_printk("%s error %d", __print_symbolic(__entry->rung, { 0, "context" }, { 1, "firmware" },
						  { 2, "function" }, { 3, "wedged" }), __entry->error)
);

DECLARE_EVENT_CLASS(tutti_range,
	TP_PROTO(u32 context, u64 address, u64 bytes, int error),
	TP_ARGS(context, address, bytes, error),
	TP_STRUCT__entry(
		__field(u32, context)
		__field(u64, address)
		__field(u64, bytes)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->context = context;
		__entry->address = address;
		__entry->bytes = bytes;
		__entry->error = error;
	),
	TP_printk("context %u address %#llx bytes %#llx error %d", __entry->context, __entry->address,
		  __entry->bytes, __entry->error)
);
DEFINE_EVENT(tutti_range, tutti_map, TP_PROTO(u32 context, u64 address, u64 bytes, int error),
	     TP_ARGS(context, address, bytes, error));
DEFINE_EVENT(tutti_range, tutti_unmap, TP_PROTO(u32 context, u64 address, u64 bytes, int error),
	     TP_ARGS(context, address, bytes, error));

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH base
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
