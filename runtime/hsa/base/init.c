// SPDX-License-Identifier: MIT
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "hsa/base/object.h"
#include "hsa/base/runtime.h"
#include "hsa/base/status.h"

/* Calls of hsa_init() that are counted at most: the specification names INT32_MAX. */
#define REFERENCES_MAX INT32_MAX

/**
 * struct runtime - the state.
 * @stopping: a thread closes the card, without the lock, since functions that the application has registered may be
 *	running meanwhile and call this file's
 * @stopped: that is over
 */
static struct {
	pthread_mutex_t lock;
	int32_t references;
	struct tutti_device *device;
	bool stopping;
	pthread_cond_t stopped;
} runtime = {.lock = PTHREAD_MUTEX_INITIALIZER, .stopped = PTHREAD_COND_INITIALIZER};

/* Functions of the application that this thread is in, and that stop() waits for. */
static _Thread_local unsigned callbacks;

void runtime_callback_begin(void)
{
	callbacks++;
}

void runtime_callback_end(void)
{
	callbacks--;
}

struct tutti_device *runtime_device(void)
{
	return __atomic_load_n(&runtime.device, __ATOMIC_ACQUIRE);
}

const struct tutti_discovery *runtime_card(void)
{
	return tutti_device_discovery(runtime_device());
}

hsa_status_t value_text(void *value, size_t bytes, const char *text)
{
	memset(value, 0, bytes);
	snprintf(value, bytes, "%s", text);
	return HSA_STATUS_SUCCESS;
}

static void before_fork(void)
{
	pthread_mutex_lock(&runtime.lock);
	object_before_fork();
}

static void after_fork(void)
{
	object_after_fork();
	pthread_mutex_unlock(&runtime.lock);
}

/* A child has no card until it calls hsa_init() itself. What was its parent's stays where it is. */
static void in_child(void)
{
	object_in_child();
	runtime.references = 0;
	runtime.stopping = false;
	pthread_cond_init(&runtime.stopped, NULL);
	__atomic_store_n(&runtime.device, NULL, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&runtime.lock);
}

static void watch_forks(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
}

static hsa_status_t start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct tutti_device *device;
	int error = tutti_device_open(NULL, &device);

	pthread_once(&once, watch_forks);
	/* The specification has no status for "no card": what cannot be had is a resource. */
	if (error)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	__atomic_store_n(&runtime.device, device, __ATOMIC_RELEASE);
	return HSA_STATUS_SUCCESS;
}

/* The caller holds the lock. */
static void stop(void)
{
	struct tutti_device *device = runtime.device;

	__atomic_store_n(&runtime.device, NULL, __ATOMIC_RELEASE);
	runtime.stopping = true;
	pthread_mutex_unlock(&runtime.lock);
	tutti_device_close(device); /* no function of the application is running any more, but for the one that calls this */
	object_destroy_all();
	pthread_mutex_lock(&runtime.lock);
	runtime.stopping = false;
	pthread_cond_broadcast(&runtime.stopped);
}

hsa_status_t hsa_init(void)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;

	pthread_mutex_lock(&runtime.lock);
	while (runtime.stopping && !callbacks)
		pthread_cond_wait(&runtime.stopped, &runtime.lock);
	if (runtime.stopping)
		status = HSA_STATUS_ERROR_OUT_OF_RESOURCES; /* who closes the card waits for the function that asks for it */
	else if (runtime.references == REFERENCES_MAX)
		status = HSA_STATUS_ERROR_REFCOUNT_OVERFLOW;
	else if (!runtime.references)
		status = start();
	if (status == HSA_STATUS_SUCCESS)
		runtime.references++;
	pthread_mutex_unlock(&runtime.lock);
	return status;
}

hsa_status_t hsa_shut_down(void)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;

	pthread_mutex_lock(&runtime.lock);
	if (!runtime.references)
		status = HSA_STATUS_ERROR_NOT_INITIALIZED;
	else if (!--runtime.references)
		stop();
	pthread_mutex_unlock(&runtime.lock);
	return status;
}
