// SPDX-License-Identifier: MIT
/* Functions of the application that libtutti's event thread calls. */
#include <errno.h>
#include <hsa/hsa_ext_amd.h>
#include <stdlib.h>

#include "hsa/base/object.h"
#include "hsa/base/runtime.h"
#include "hsa/base/status.h"
#include "hsa/signal/signal.h"

/**
 * struct handler - a function and its argument.
 *
 * It is in the table of objects only so that it is freed with the runtime when its signal never met the condition.
 */
struct handler {
	struct object object;
	hsa_amd_signal_handler function;
	void (*once)(void *argument);
	void *argument;
};

static void handler_free(struct object *object)
{
	free(object);
}

/* By its number: when the function has shut the runtime down, the handler is gone already. */
static void handler_done(uint64_t handle)
{
	free(object_remove(OBJECT_HANDLER, handle));
}

static bool on_condition(tutti_signal_t signal, int64_t value, int error, void *context)
{
	struct handler *handler = context;
	uint64_t handle = handler->object.handle;
	bool again;

	(void)signal;
	runtime_callback_begin();
	again = !error && handler->function(value, handler->argument); /* HSA has no word for "it will never be" */
	runtime_callback_end();
	if (!again)
		handler_done(handle);
	return again;
}

static bool on_first(tutti_signal_t signal, int64_t value, int error, void *context)
{
	struct handler *handler = context;
	uint64_t handle = handler->object.handle;

	(void)value;
	runtime_callback_begin();
	if (!error)
		handler->once(handler->argument);
	runtime_callback_end();
	handler_done(handle);
	tutti_signal_destroy(runtime_device(), signal);
	return false;
}

static struct handler *handler_new(void *argument)
{
	struct handler *handler = calloc(1, sizeof(*handler));

	if (!handler)
		return NULL;
	handler->argument = argument;
	handler->object.destroy = handler_free;
	object_add(&handler->object, OBJECT_HANDLER, 0);
	return handler;
}

hsa_status_t hsa_amd_signal_async_handler(hsa_signal_t handle, hsa_signal_condition_t condition,
					  hsa_signal_value_t value, hsa_amd_signal_handler function, void *argument)
{
	struct handler *handler;
	int error;

	REQUIRE_INIT();
	REQUIRE(function && (uint32_t)condition <= HSA_SIGNAL_CONDITION_GTE, INVALID_ARGUMENT);
	REQUIRE(handle.handle, INVALID_SIGNAL);
	handler = handler_new(argument);
	REQUIRE(handler, OUT_OF_RESOURCES);
	handler->function = function;
	error = tutti_signal_handler(runtime_device(), signal_of(handle), (enum tutti_condition)condition, value,
				     on_condition, handler);
	if (!error)
		return HSA_STATUS_SUCCESS;
	handler_done(handler->object.handle);
	return error == -EINVAL ? HSA_STATUS_ERROR_INVALID_SIGNAL : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t hsa_amd_async_function(void (*callback)(void *argument), void *argument)
{
	struct handler *handler;
	tutti_signal_t signal;

	REQUIRE_INIT();
	REQUIRE(callback, INVALID_ARGUMENT);
	REQUIRE(!tutti_signal_create(runtime_device(), 0, &signal), OUT_OF_RESOURCES);
	handler = handler_new(argument);
	if (handler) {
		handler->once = callback;
		if (!tutti_signal_handler(runtime_device(), signal, TUTTI_EQ, 0, on_first, handler))
			return HSA_STATUS_SUCCESS;
		handler_done(handler->object.handle);
	}
	tutti_signal_destroy(runtime_device(), signal);
	return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}
