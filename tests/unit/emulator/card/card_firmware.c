// SPDX-License-Identifier: MIT
/*
 * Firmware for tests of the card: does what the test writes into card memory.
 * Compiled by the test with the cross compiler, not part of the test program.
 *
 * On EVENT_MESSAGE it executes the script at SCRIPT: word 0 op, word 1 number of
 * words, then the words. Every event is copied to EVENTS: word 0 of that area
 * counts them, records of 8 words follow.
 */
#include "tutti/contract.h"

#define CARD(offset) ((volatile uint32_t *)(TUTTI_CORE_CARD + (offset)))
#define SCRIPT CARD(0x200000)
#define EVENTS CARD(0x210000)
#define TRAPS CARD(0x220000)
#define COPY CARD(0x230000)
#define MAGIC 0x54455354u

enum { OP_COMMANDS = 1, OP_TIMER, OP_ILLEGAL, OP_SPIN, OP_LOAD, OP_STORE, OP_BREAK, OP_ENABLE, OP_HALT, OP_PEEK, OP_POKE,
       OP_NO_HANDLER, OP_MARK, OP_JUMP, OP_BUSY, OP_MARK_HALT, OP_WFI, OP_MIE };

static uint32_t commands[1024] __attribute__((aligned(64)));
static struct tutti_event events[64] __attribute__((aligned(64)));
static volatile struct tutti_engines *const engines = (void *)TUTTI_CORE_ENGINES;

static uint32_t busy; /* TIMER events to take before the core may idle again */

void start(void);
void trap(void);

static void reg_write(uint32_t reg, uint32_t value)
{
	*(volatile uint32_t *)(TUTTI_CORE_REGISTERS + reg) = value;
}

__attribute__((interrupt, aligned(4))) void trap(void)
{
	uint32_t cause, epc, tval;

	__asm__ volatile("csrr %0, mcause\n csrr %1, mepc\n csrr %2, mtval" : "=r"(cause), "=r"(epc), "=r"(tval));
	TRAPS[0] = cause;
	TRAPS[1] = epc;
	TRAPS[2] = tval;
	if (cause == 11) { /* there is no idle unit: this is how the firmware waits */
		TRAPS[5]++;
		__asm__ volatile("csrw mie, %0\n wfi\n csrw mepc, %1" : : "r"(0x800), "r"(epc + 4));
		return;
	}
	if (TRAPS[3] == 1) /* trap in the trap handler */
		__asm__ volatile(".word 0xffffffff");
	TRAPS[4] = 1;
	reg_write(TUTTI_REG_HALT, 0);
}

static void set_timer(uint32_t ticks)
{
	uint32_t now = *(volatile uint32_t *)(TUTTI_CORE_REGISTERS + TUTTI_REG_TIME_LO);

	engines->timer_lo = now + ticks;
	engines->timer_hi = 0; /* the tests that use this end long before the low word is full */
}

/* A millisecond or so. */
static void work(void)
{
	for (uint32_t i = 0; i < 1000; i++)
		__asm__ volatile(".rept 256\n nop\n .endr");
}

static void command(const volatile uint32_t *w, uint32_t n)
{
	uint32_t tail = engines->command_tail, left = 1024 - (tail & 1023), i;

	if (left < n) {
		commands[tail & 1023] = left << 8;
		tail += left;
	}
	for (i = 0; i < n; i++)
		commands[(tail + i) & 1023] = w[i];
	__asm__ volatile("" ::: "memory");
	engines->command_tail = tail + n;
}

static void script(void)
{
	const volatile uint32_t *w = &SCRIPT[2];
	uint32_t n = SCRIPT[1], i;

	switch (SCRIPT[0]) {
	case OP_COMMANDS:
		command(w, n);
		break;
	case OP_TIMER:
		engines->timer_lo = w[0];
		engines->timer_hi = w[1];
		break;
	case OP_ILLEGAL:
		__asm__ volatile(".word 0xffffffff");
		break;
	case OP_SPIN:
		for (;;)
			;
	case OP_LOAD:
		(void)*(volatile uint32_t *)w[0];
		break;
	case OP_STORE:
		*(volatile uint32_t *)w[0] = 1;
		break;
	case OP_BREAK:
		__asm__ volatile("ebreak");
		break;
	case OP_ENABLE:
		engines->doorbell_enable[w[0]] = w[1];
		break;
	case OP_HALT: /* register 31 has a value that the crash record must show */
		__asm__ volatile("li t6, 31\n sw zero, %0(%1)" : : "i"(TUTTI_REG_HALT), "r"(TUTTI_CORE_REGISTERS) : "t6", "memory");
		break;
	case OP_PEEK:
		for (i = 0; i < w[1]; i++)
			COPY[i] = ((volatile uint32_t *)w[0])[i];
		break;
	case OP_POKE:
		for (i = 1; i < n; i++)
			((volatile uint32_t *)w[0])[i - 1] = w[i];
		break;
	case OP_NO_HANDLER:
		__asm__ volatile("csrw mtvec, zero");
		__asm__ volatile(".word 0xffffffff");
		break;
	case OP_MARK:
		reg_write(TUTTI_REG_MARK, 1);
		__asm__ volatile("nop\n nop\n nop\n nop\n nop");
		reg_write(TUTTI_REG_MARK, 2);
		break;
	case OP_MARK_HALT: /* by two stores, one after the other */
		__asm__ volatile("sw %0, %1(%2)\n sw %0, %3(%2)" : : "r"(w[0]), "i"(TUTTI_REG_MARK), "r"(TUTTI_CORE_REGISTERS),
				 "i"(TUTTI_REG_HALT) : "memory");
		break;
	case OP_BUSY: /* take @w[0] events, @w[1] ticks apart, without idling */
		busy = w[0];
		set_timer(w[1]);
		break;
	case OP_WFI: /* with @w[0] in mie */
		COPY[0] = 0;
		__asm__ volatile("csrw mie, %0\n wfi" : : "r"(w[0]) : "memory");
		COPY[0] = 1;
		break;
	case OP_MIE:
		__asm__ volatile("csrw mie, %0" : : "r"(w[0]) : "memory");
		break;
	case OP_JUMP:
		((void (*)(void))w[0])();
		break;
	}
}

static void main_loop(void)
{
	uint32_t head = 0, i;

	for (;;) {
		volatile struct tutti_event *event = &events[head & 63];

		if (!event->word[0]) {
			if (busy)
				work();
			else
				__asm__ volatile("ecall" ::: "memory");
			continue;
		}
		for (i = 0; i < 8; i++)
			EVENTS[8 + (EVENTS[0] & 255) * 8 + i] = event->word[i];
		EVENTS[0]++;
		i = event->word[0] & 0xff;
		event->word[0] = 0;
		head++;
		if (i == TUTTI_EVENT_MESSAGE)
			script();
		else if (i == TUTTI_EVENT_TIMER && busy && --busy)
			set_timer(SCRIPT[3]);
	}
}

__attribute__((naked, section(".text.start"))) void start(void)
{
	__asm__ volatile("lui sp, 0x40\n la t0, trap\n csrw mtvec, t0\n j go");
}

__attribute__((used)) void go(void);
void go(void)
{
	const struct tutti_discovery *d = (void *)TUTTI_CORE_CONTROL;
	volatile struct tutti_status *status = (void *)(TUTTI_CORE_CONTROL + d->status.offset);

	/* what the loader and the hardware leave as it is */
	for (uint32_t i = 0; i < 64; i++)
		events[i].word[0] = 0;
	busy = 0;
	*(volatile uint32_t *)(TUTTI_CORE_CONTROL + d->crash.offset) = TUTTI_CRASH_NONE;
	engines->command_base = (uint32_t)commands;
	engines->command_words = 1024;
	engines->event_base = (uint32_t)events;
	engines->event_slots = 64;
	status->state = TUTTI_STATE_RUNNING;
	main_loop();
}
