/* SPDX-License-Identifier: MIT */
/**
 * DOC: Host side of hal.h: the card's interfaces as plain memory
 *
 * A test fills the window (hal_host_window()), calls firmware functions and reads
 * the commands they wrote from the command ring.
 */
#ifndef HAL_HOST_H
#define HAL_HOST_H

#define HAL_HOST_WINDOW (2u << 20)
#define HAL_HOST_CARD (2u << 20)

struct hal_host {
	struct tutti_engines engines;
	uint8_t window[HAL_HOST_WINDOW] __attribute__((aligned(64)));
	uint8_t card[HAL_HOST_CARD] __attribute__((aligned(64)));
	struct tutti_sm_state sms[TUTTI_MAX_SMS]; /* a test that needs it keeps it */
	uint64_t time;
	unsigned halted;
	void (*idle)(void); /* called by hal_idle() */
};
extern struct hal_host hal_host;

#define HAL_ENGINES ((volatile struct tutti_engines *)&hal_host.engines)
#define HAL_WINDOW (hal_host.window)
#define HAL_SMS ((const volatile struct tutti_sm_state *)hal_host.sms)

/* Local addresses on the host: distance from one static object, 32 bits. */
static inline uint32_t hal_local(const void *pointer)
{
	return (uint32_t)((uintptr_t)pointer - (uintptr_t)&hal_host);
}

/** hal_pointer() - the other way round. */
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

/* SMs of each GPC for the next boot; none: GPCs of 18. CPCs of 6 SMs, TPCs of 2, two µGPUs. */
extern unsigned hal_host_gpcs;
/* Task slots for the next boot, 0 = 32. */
extern unsigned hal_host_slots;
/* SMs of the next boot acknowledge task states (no TUTTI_FEATURE_ORDERED_STATES). */
extern bool hal_host_acknowledge;
extern uint16_t hal_host_gpc[TUTTI_MAX_GPCS];

/** hal_host_discovery() - default discovery data: @sms SMs, regions inside the window. */
void hal_host_discovery(struct tutti_discovery *discovery, unsigned sms);
/** hal_host_reset() - memory as before a boot: all zero but for the discovery data. */
void hal_host_reset(unsigned sms);
/** hal_host_command() - next command written since the last call, NULL = none. NOPs are skipped. */
const uint32_t *hal_host_command(unsigned *words);
/**
 * hal_host_tight - the engines are slow: before each event the ring is filled as far as whoever asks for room could have
 * filled it. The next boot switches it off.
 */
extern bool hal_host_tight;
/** hal_host_skip() - as if @laps more times the ring had been written and taken. All commands are taken. */
void hal_host_skip(uint32_t laps);
/** hal_host_fill() - NOPs, until @left words are free. */
void hal_host_fill(uint32_t left);
/** hal_host_written() - command_end() of @writer: aborts if words were overwritten that are not taken yet. */
void hal_host_written(uint32_t *end, const char *writer);
extern const char *hal_host_writer; /* who called one of command_ring.c's functions; NULL: command_end() itself knows */
/** hal_host_most - most words of the ring that were in use at once since boot. */
extern uint32_t hal_host_most;

#endif
