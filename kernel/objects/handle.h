/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_HANDLE_H
#define TUTTI_KERNEL_HANDLE_H

#include "objects/object.h"

struct tutti_object *tutti_handle_get(struct tutti_file *file, enum tutti_kind kind, u32 handle);
int tutti_handle_reserve(struct tutti_file *file, enum tutti_kind kind, u32 *handle);
void tutti_handle_publish(struct tutti_file *file, u32 handle, struct tutti_object *object);
void tutti_handle_cancel(struct tutti_file *file, enum tutti_kind kind, u32 handle);
void tutti_handle_close_all(struct tutti_file *file, enum tutti_kind kind);
bool tutti_handle_take(struct tutti_file *file, u32 handle, struct tutti_object *object);
u32 tutti_handle_limit(enum tutti_kind kind);

#endif
