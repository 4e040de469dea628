/* SPDX-License-Identifier: MIT */
/**
 * DOC: The host build's side of hal.h: the card's interfaces as plain memory
 *
 * A test prepares the control window (hal_host_reset()), calls firmware functions and
 * reads the commands that they wrote (hal_host_command()).
 */
#ifndef HAL_HOST_H
#define HAL_HOST_H

#define HAL_HOST_WINDOW (2u << 20)
#define HAL_HOST_CARD (3u << 20)

struct hal_host {
	struct tutti_engines engines;
	uint8_t window[HAL_HOST_WINDOW] __attribute__((aligned(64)));
	uint8_t card[HAL_HOST_CARD] __attribute__((aligned(64)));
	struct tutti_sm_state sms[TUTTI_MAX_SMS]; /* kept up to date by the tests that need it */
	uint64_t time;
	unsigned halted;
	void (*idle)(void); /* hal_idle() calls this if it is not NULL */
};
extern struct hal_host hal_host;

#define HAL_ENGINES ((volatile struct tutti_engines *)&hal_host.engines)
#define HAL_WINDOW (hal_host.window)
#define HAL_SMS ((const volatile struct tutti_sm_state *)hal_host.sms)

/* In the host build a local address is the 32-bit distance from one static object. */
static inline uint32_t hal_local(const void *pointer)
{
	return (uint32_t)((uintptr_t)pointer - (uintptr_t)&hal_host);
}

/** hal_pointer() - the inverse of hal_local(). */
static inline void *hal_pointer(uint32_t local)
{
	return (void *)((uintptr_t)&hal_host + (uintptr_t)(intptr_t)(int32_t)local);
}

static inline void *hal_card(uint64_t offset, uint32_t bytes)
{
	return offset <= HAL_HOST_CARD - bytes ? hal_host.card + offset : NULL;
}

static inline uint64_t hal_time(void)
{
	return hal_host.time;
}

static inline void hal_idle(void)
{
	if (hal_host.idle)
		hal_host.idle();
}

static inline void hal_halt(void)
{
	hal_host.halted = 1;
}

static inline void hal_release(void)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void hal_acquire(void)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/*
 * Number of GPCs for the next boot, whose SMs hal_host_gpc[] gives; if it is 0, GPCs have 18 SMs each. A CPC has 6 SMs,
 * a TPC has 2, and the card has two µGPUs.
 */
extern unsigned hal_host_gpcs;
/* Task slots for the next boot; 0 means 32. */
extern unsigned hal_host_slots;
/* From the next boot on, SMs acknowledge task states (there is no TUTTI_FEATURE_ORDERED_STATES). */
extern bool hal_host_acknowledge;
extern uint16_t hal_host_gpc[TUTTI_MAX_GPCS];
/* If it is not NULL, the next boot lets it change what the SMs have. */
extern void (*hal_host_capacity)(struct tutti_discovery *discovery);

/** hal_host_discovery() - write default discovery data for a card of @sms SMs, with all regions inside the window. */
void hal_host_discovery(struct tutti_discovery *discovery, unsigned sms);
/** hal_host_reset() - make memory look as before a boot: all zero except for the discovery data. */
void hal_host_reset(unsigned sms);
/** hal_host_command() - take the next command, with its size in @words; NULL if there is none. NOPs are skipped. */
const uint32_t *hal_host_command(unsigned *words);
/**
 * hal_host_tight - pretend that the engines are slow: before each event the test fills the ring as far as code that
 * asks for room could have filled it. The next boot switches this off.
 */
extern bool hal_host_tight;
/** hal_host_skip() - behave as if the ring had been written and taken @laps more times. All commands are taken. */
void hal_host_skip(uint32_t laps);
/** hal_host_fill() - write NOPs until only @left words are free. */
void hal_host_fill(uint32_t left);
/**
 * hal_host_written() - command_end() in function @writer; aborts if words were overwritten before they were taken, or if
 * something begins in words that are owed to others (COMMAND_OWED).
 */
void hal_host_written(uint32_t *end, const char *writer);
extern const char *hal_host_writer; /* the caller of a function of command_ring.c; NULL if command_end() was used */
/** hal_host_most - the largest number of words of the ring that were in use at once since boot. */
extern uint32_t hal_host_most;

#endif
