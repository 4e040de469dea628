// SPDX-License-Identifier: MIT
/* Fibers for x86-64 System V: see fiber.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emulator/unicorn/fiber.h"

struct fiber {
	void *sp;            /* of the fiber while it is left */
	void *back;          /* of who entered it */
	struct fiber *outer; /* fiber that entered it, NULL = a thread's own stack */
	void (*fn)(void *);
	void *arg;
	uint8_t *map;
	size_t bytes;
	bool finished;
	/* for AddressSanitizer, which must know which stack is in use */
	void *fake;
	const void *back_stack;
	size_t back_bytes;
};

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

static void switch_begins(void **fake, const void *stack, size_t bytes)
{
	__sanitizer_start_switch_fiber(fake, stack, bytes);
}

static void switch_ended(void *fake, const void **stack, size_t *bytes)
{
	__sanitizer_finish_switch_fiber(fake, stack, bytes);
}

/* frames that never return leave marks, which the next user of the addresses would meet */
static void stack_forgotten(void *stack, size_t bytes)
{
	__asan_unpoison_memory_region(stack, bytes);
}
#else
static inline void switch_begins(void **fake, const void *stack, size_t bytes)
{
}

static inline void switch_ended(void *fake, const void **stack, size_t *bytes)
{
}

static inline void stack_forgotten(void *stack, size_t bytes)
{
}
#endif

static __thread struct fiber *current;

/*
 * void fiber_switch(void **save, void *to): keeps what a called function must
 * keep (registers, SSE and x87 control words), swaps stacks, restores the same.
 */
void fiber_switch(void **save, void *to) __attribute__((visibility("hidden")));
void fiber_boot(void) __attribute__((visibility("hidden")));
__asm__(".pushsection .text\n"
	".globl fiber_switch\n.hidden fiber_switch\n.type fiber_switch, @function\n"
	"fiber_switch:\n"
	"	push %rbp\n	push %rbx\n	push %r12\n	push %r13\n	push %r14\n	push %r15\n"
	"	sub $8, %rsp\n	stmxcsr (%rsp)\n	fnstcw 4(%rsp)\n"
	"	mov %rsp, (%rdi)\n	mov %rsi, %rsp\n"
	"	ldmxcsr (%rsp)\n	fldcw 4(%rsp)\n	add $8, %rsp\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbx\n	pop %rbp\n"
	"	ret\n"
	".size fiber_switch, . - fiber_switch\n"
	".globl fiber_boot\n.hidden fiber_boot\n.type fiber_boot, @function\n"
	"fiber_boot:\n"
	"	mov %rbx, %rdi\n	call *%r12\n	ud2\n"
	".size fiber_boot, . - fiber_boot\n"
	".popsection\n");

/* Not inlined: the address of a thread-local must not be kept over a switch, the thread may be another. */
__attribute__((noinline)) static void set_current(struct fiber *fiber)
{
	current = fiber;
}

__attribute__((noinline)) static struct fiber *get_current(void)
{
	return current;
}

static void fiber_main(void *data)
{
	struct fiber *fiber = data;

	switch_ended(NULL, &fiber->back_stack, &fiber->back_bytes);
	fiber->fn(fiber->arg);
	fiber->finished = true;
	for (;;)
		fiber_leave();
}

/* The first frame: what fiber_switch() will pop, then fiber_boot with rbx = fiber, r12 = fiber_main. */
static void fiber_frame(struct fiber *fiber)
{
	uint64_t *sp = (uint64_t *)(fiber->map + fiber->bytes);

	*--sp = 0;
	*--sp = 0;
	*--sp = (uint64_t)fiber_boot;
	*--sp = 0;                    /* rbp */
	*--sp = (uint64_t)fiber;      /* rbx */
	*--sp = (uint64_t)fiber_main; /* r12 */
	*--sp = 0;
	*--sp = 0;
	*--sp = 0;
	*--sp = 0x0000037f00001f80ull; /* x87 and SSE control words at reset */
	fiber->sp = sp;
}

int fiber_create(struct fiber **out, void (*fn)(void *), void *arg, size_t stack)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct fiber *fiber = calloc(1, sizeof(*fiber));

	if (!fiber)
		return -ENOMEM;
	fiber->bytes = ((stack + page - 1) & ~(page - 1)) + page;
	fiber->map = mmap(NULL, fiber->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			  -1, 0);
	if (fiber->map == MAP_FAILED) {
		free(fiber);
		return -ENOMEM;
	}
	if (mprotect(fiber->map, page, PROT_NONE)) {
		munmap(fiber->map, fiber->bytes);
		free(fiber);
		return -ENOMEM;
	}
	fiber->fn = fn;
	fiber->arg = arg;
	fiber_frame(fiber);
	*out = fiber;
	return 0;
}

void fiber_enter(struct fiber *fiber)
{
	struct fiber *outer = get_current();
	void *fake = NULL;

	if (fiber->finished)
		return;
	fiber->outer = outer;
	set_current(fiber);
	switch_begins(&fake, fiber->map, fiber->bytes);
	fiber_switch(&fiber->back, fiber->sp);
	switch_ended(fake, NULL, NULL);
	set_current(outer);
}

void fiber_leave(void)
{
	struct fiber *fiber = get_current();

	switch_begins(&fiber->fake, fiber->back_stack, fiber->back_bytes);
	fiber_switch(&fiber->sp, fiber->back);
	switch_ended(fiber->fake, &fiber->back_stack, &fiber->back_bytes);
}

void fiber_destroy(struct fiber *fiber)
{
	if (!fiber)
		return;
	stack_forgotten(fiber->map, fiber->bytes);
	munmap(fiber->map, fiber->bytes);
	free(fiber);
}
