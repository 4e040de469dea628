// SPDX-License-Identifier: MIT
/* SYS-51: where code that is translated when it is loaded ends: amid an instruction, or behind one that ends with zeros. */
#include "translated_home.h"

#include "cpu_rig.h"
#include "encode.h"

#define C_ADDI 0x0505u /* c.addi a0, 1 */
#define PAGE   4096u

static struct translator *translator;
static uint8_t page[PAGE];

static int begin(void **state)
{
	if (setup(state))
		return -1;
	setenv("XDG_CACHE_HOME", home, 1);
	setenv("TUTTI_TRANSLATE", "wait", 1);
	unsetenv("TUTTI_HOST_CC");
	translator = translator_create(NULL, NULL);
	memset(page, 0, sizeof(page));
	return 0;
}

static int end(void **state)
{
	translator_destroy(translator);
	return teardown(state);
}

/* Run @words words of code at @code, of which the first @bytes bytes are translated. Return: x10 at its ecall */
static uint64_t run(const void *code, size_t bytes, size_t words, unsigned *asked)
{
	const struct cpu_translation *translation = translator_find(translator, code, bytes);
	uint64_t result;
	struct rig rig;

	assert_non_null(translation);
	assert_true(translation->bytes <= bytes);
	rig_init(&rig, 64);
	rig_code(&rig, RIG_BASE, code, words);
	assert_int_equal(cpu_attach(rig.cpu, RIG_BASE, translation), 0);
	assert_int_equal(cpu_run(rig.cpu, &rig.regs, 100), CPU_STOP_ECALL);
	result = rig.regs.x[10];
	*asked = rig.asked;
	rig_fini(&rig);
	return result;
}

/* An instruction whose upper half is not in the same region of memory: all of it is executed, not what zeros make of it. */
static void amid_an_instruction(void **state)
{
	const uint32_t add = E_ADDI(10, 10, 0x123), ecall = E_ECALL;
	const uint16_t code[] = {C_ADDI, (uint16_t)add, (uint16_t)(add >> 16), (uint16_t)ecall, (uint16_t)(ecall >> 16), 0};
	unsigned asked;

	assert_int_equal(run(code, 4, sizeof(code) / 4, &asked), 1 + 0x123);
	assert_int_equal(run(code, 10, sizeof(code) / 4, &asked), 1 + 0x123);
}

/* The rest of the last page is not translated, but all of the last instruction is, though its upper half is zero. */
static void before_zeros(void **state)
{
	static const uint32_t code[] = {E_ADDI(10, 10, 5), E_ECALL};
	unsigned asked;

	memcpy(page, code, sizeof(code));
	assert_int_equal(run(page, sizeof(page), 2, &asked), 5);
	assert_int_equal(asked, 0);
	assert_int_equal(translator_find(translator, page, sizeof(page))->bytes, sizeof(code));
	assert_ptr_equal(translator_find(translator, page, sizeof(page)), translator_find(translator, page, sizeof(code)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"SYS-51: code that ends amid an instruction", amid_an_instruction, begin, end, NULL},
		{"SYS-51: code that ends before zeros", before_zeros, begin, end, NULL},
	};

	return cmocka_run_group_tests_name("translated code: ends", tests, NULL, NULL);
}
