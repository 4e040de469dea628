// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What all calls that name an object begin and end with. */
#include "card/gate.h"
#include "objects/call.h"

/** tutti_call_begin() - tutti_gate_enter(), and look the handle up. 0, -ENOENT or what tutti_gate_enter() says. */
int tutti_call_begin(struct tutti_call *call, struct drm_file *df, enum tutti_kind kind, u32 handle)
{
	int error;

	call->file = df->driver_priv;
	error = tutti_gate_enter(call->file, &call->index);
	if (error)
		return error;
	call->object = tutti_handle_get(call->file, kind, handle);
	if (call->object)
		return 0;
	tutti_gate_exit(call->file, call->index);
	return -ENOENT;
}

void tutti_call_end(struct tutti_call *call)
{
	tutti_object_put(call->object);
	tutti_gate_exit(call->file, call->index);
}

/** tutti_call_destroy() - *_DESTROY: the handle stays if the card keeps the object. */
int tutti_call_destroy(struct drm_file *df, enum tutti_kind kind, const struct drm_tutti_handle *args)
{
	struct tutti_call call;
	int error;

	if (args->pad)
		return -EINVAL;
	error = tutti_call_begin(&call, df, kind, args->handle);
	if (error)
		return error;
	error = tutti_object_destroy(call.object);
	if (!error && !tutti_handle_take(call.file, args->handle, call.object))
		error = -ENOENT; /* somebody else has destroyed it meanwhile */
	else if (!error)
		tutti_object_put(call.object);
	tutti_call_end(&call);
	return error;
}
