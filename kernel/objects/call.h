/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_CALL_H
#define TUTTI_KERNEL_CALL_H

#include "objects/handle.h"

/** struct tutti_call - a call that names an object: between tutti_call_begin() and _end(). */
struct tutti_call {
	struct tutti_file *file;
	struct tutti_object *object;
	int index;
};

int tutti_call_begin(struct tutti_call *call, struct drm_file *df, enum tutti_kind kind, u32 handle);
void tutti_call_end(struct tutti_call *call);
int tutti_call_destroy(struct drm_file *df, enum tutti_kind kind, const struct drm_tutti_handle *args);

#endif
