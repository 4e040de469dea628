// SPDX-License-Identifier: MIT
/* Harts and translated code: what they ask the translator for, when they ask again, and that waves run what it gives.
 */
#include <pthread.h>

#include "sm_rig.h"
#include "emulator/cpu/translation.h"
#include "emulator/translated/translated.h"

/* ---- a translator that does what the test wants ---- */

static uint32_t news, asked, entered;
static uint32_t available; /* the translation is given from now on */
static const uint8_t *asked_code;
static uint64_t asked_bytes;
static void (*ready)(void *user);
static void *ready_user;

/* In place of any kernel: return at once, after two instructions. */
static uint64_t stands_for(struct cpu *cpu, uint64_t pc)
{
	__atomic_fetch_add(&entered, 1, __ATOMIC_SEQ_CST);
	cpu->instructions += 2;
	return cpu->regs->x[1];
}

static const struct cpu_translated_entry entries[] = {{K_EMPTY, 0}, {K_SPIN, 0}, {K_PEEK, 0}};
static const cpu_translated_function functions[] = {stands_for};
static const uint32_t margins[] = {2};
static const struct cpu_translation code = {
    .xlen = 64,
    .bytes = 4096,
    .entries = 3,
    .functions = 1,
    .entry = entries,
    .function = functions,
    .margin = margins,
};

struct translator *translator_create(void (*fn)(void *user), void *user)
{
	ready = fn;
	ready_user = user;
	return NULL;
}

void translator_destroy(struct translator *translator)
{
}

const struct cpu_translation *translator_find(struct translator *translator, const uint8_t *at, uint64_t bytes)
{
	asked++;
	asked_code = at;
	asked_bytes = bytes;
	return __atomic_load_n(&available, __ATOMIC_SEQ_CST) ? &code : NULL;
}

uint32_t translator_news(const struct translator *translator)
{
	return __atomic_load_n(&news, __ATOMIC_SEQ_CST);
}

/* ---- the card ---- */

static struct tutti_card *card;
static uint64_t *data;
static unsigned done;

static int setup_mode(enum tutti_card_mode mode)
{
	news = asked = entered = available = done = 0;
	card = rig_create(mode, 0, 4);
	data = rig_context(card, 1);
	data[61440 / 8] = DATA;
	return 0;
}

static int setup(void **state)
{
	return setup_mode(TUTTI_CARD_DETERMINISTIC);
}

static int setup_fast(void **state)
{
	return setup_mode(TUTTI_CARD_FAST);
}

static int teardown(void **state)
{
	rig_destroy(card);
	return 0;
}

static void launch(uint32_t entry)
{
	struct tutti_task_state state = rig_state(1, entry, 64, 2);

	state.shared_blocks = 1;
	state.shared_bytes = 64;
	sm_array_state(card->array, 0, 0, &state, NULL, NULL, 0);
	assert_int_equal(rig_launch(card, 0, 2, 4), 0);
	done += 8;
}

static void run(uint32_t entry)
{
	launch(entry);
	rig_until(card, 0, done);
}

/* SYS-51: all the pages of code that lie together are asked for, once; waves run what is given and end by the stub. */
static void given(void **state)
{
	available = 1;
	run(K_EMPTY);
	assert_int_equal(asked, 1);
	assert_ptr_equal(asked_code, rig_find(card, 1, CODE)->host);
	assert_int_equal(asked_bytes, 4096);
	assert_int_equal(entered, 16);
	run(K_PEEK); /* which writes data if it is interpreted */
	assert_int_equal(asked, 1);
	assert_int_equal(entered, 32);
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(data[i], 0);
	assert_int_equal(card->faults, 0);
	/* other code takes its place */
	available = 0;
	sm_array_invalidate(card->array, 1, CODE, 4096);
	run(K_PEEK);
	assert_true(asked > 1);
	assert_int_equal(entered, 32);
}

/* SYS-51: what is not there at first is asked for again when there are news, and only then. */
static void news_come(void **state)
{
	uint32_t before;

	run(K_EMPTY);
	before = asked;
	assert_true(before);
	for (unsigned i = 0; i < 3; i++)
		run(K_EMPTY);
	assert_int_equal(asked, before);
	assert_int_equal(entered, 0);
	news++; /* of other code */
	run(K_EMPTY);
	assert_true(asked > before);
	before = asked;
	available = 1;
	run(K_EMPTY);
	assert_int_equal(asked, before);
	assert_int_equal(entered, 0);
	news++;
	run(K_EMPTY);
	assert_true(asked > before);
	before = asked;
	assert_int_equal(entered, 16);
	news++; /* nobody has to ask any more */
	run(K_EMPTY);
	assert_int_equal(asked, before);
	assert_int_equal(entered, 32);
}

/* SYS-52: what can be written as well is no code that may be translated, since it may change at any time. */
static void writable(void **state)
{
	available = 1;
	rig_find(card, 1, CODE)->prot |= TUTTI_PTE_W;
	run(K_EMPTY);
	assert_int_equal(asked, 0);
	assert_int_equal(entered, 0);
}

static uint32_t stop;

static void *tell(void *unused)
{
	while (!__atomic_load_n(&stop, __ATOMIC_SEQ_CST)) {
		ready(ready_user);
		usleep(200);
	}
	return NULL;
}

/* SYS-51: a wave that runs for long goes on in what becomes ready meanwhile. */
static void in_a_loop(void **state)
{
	pthread_t thread;

	stop = 0;
	launch(K_SPIN);
	for (unsigned i = 0; i < 5; i++)
		rig_step(card);
	assert_int_equal(entered, 0);
	__atomic_store_n(&available, 1, __ATOMIC_SEQ_CST);
	assert_int_equal(pthread_create(&thread, NULL, tell, NULL), 0);
	rig_until(card, 0, done); /* these loops have no end of their own */
	__atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
	pthread_join(thread, NULL);
	assert_int_equal(entered, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"SYS-51: translated kernels", given, setup, teardown, NULL},
	    {"SYS-51: translations that become ready later", news_come, setup, teardown, NULL},
	    {"SYS-52: code that can be written", writable, setup, teardown, NULL},
	    {"SYS-51: translations that become ready while a wave runs", in_a_loop, setup_fast, teardown, NULL},
	};

	return cmocka_run_group_tests_name("SM: translated code", tests, NULL, NULL);
}
