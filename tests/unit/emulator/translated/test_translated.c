// SPDX-License-Identifier: MIT
/*
 * SYS-51: kernels translated when they are loaded: they compute what the host computes and count what the interpreter counts;
 * the cache is used again, and trusts nobody; without a compiler, a disk or time nothing breaks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu_rig.h"
#include "emulator/cpu/translation.h"
#include "emulator/translated/translated.h"
#include "encode.h"
#include "guest/loops.c"
#define next mixed_next
#include "guest/mixed.c"
#undef next

static char home[64], cache[96];

static int fresh_cache(void **state)
{
	strcpy(home, "/tmp/tutti-test-XXXXXX");
	if (!mkdtemp(home))
		return -1;
	snprintf(cache, sizeof(cache), "%s/tutti/translations", home);
	setenv("XDG_CACHE_HOME", home, 1);
	setenv("TUTTI_TRANSLATE", "wait", 1);
	unsetenv("TUTTI_HOST_CC");
	return 0;
}

static int remove_cache(void **state)
{
	char command[160];

	snprintf(command, sizeof(command), "chmod -R u+rwx %s; rm -rf %s", home, home);
	return system(command);
}

/* Files of the cache folder; @name gets one of them. */
static unsigned cached(char *name)
{
	DIR *list = opendir(cache);
	struct dirent *entry;
	unsigned n = 0;

	while (list && (entry = readdir(list)))
		if (entry->d_name[0] != '.') {
			n++;
			if (name)
				sprintf(name, "%s/%s", cache, entry->d_name);
		}
	if (list)
		closedir(list);
	return n;
}

/* Code that is different for each @number. */
static size_t code_of(uint32_t code[4], unsigned number)
{
	code[0] = E_I(0x13, 10, 0, 10, number);
	code[1] = E_I(0x13, 10, 0, 10, 1);
	code[2] = 0x00000073; /* ecall */
	return 12;
}

static const struct cpu_translation *find(struct translator *translator, unsigned number)
{
	uint32_t code[4];
	size_t bytes = code_of(code, number);

	return translator_find(translator, (const uint8_t *)code, bytes);
}

/* ---- what it computes ---- */

static size_t read_text(const char *path, uint8_t *text, size_t most)
{
	FILE *file = fopen(path, "rb");
	size_t bytes;

	assert_non_null(file);
	bytes = fread(text, 1, most, file);
	fclose(file);
	return bytes;
}

static uint64_t call(struct rig *rig, const char *image, uint64_t a, uint64_t b, uint8_t fflags)
{
	rig_image(rig, image);
	rig->regs.pc = RIG_BASE;
	rig->regs.x[2] = RIG_TOP;
	rig->regs.x[10] = a;
	rig->regs.x[11] = b;
	rig->regs.fflags = fflags;
	assert_int_equal(cpu_run(rig->cpu, &rig->regs, ~0ull), CPU_STOP_ECALL);
	return rig->regs.x[10];
}

/* Both end with the same registers, flags and counts. */
static void same(const struct rig *a, const struct rig *b)
{
	assert_int_equal(cpu_instructions(a->cpu), cpu_instructions(b->cpu));
	assert_memory_equal(a->regs.x, b->regs.x, 32 * 8);
	assert_memory_equal(a->regs.f, b->regs.f, 32 * 8);
	assert_int_equal(a->regs.fflags, b->regs.fflags);
	assert_int_equal(a->regs.pc, b->regs.pc);
	assert_memory_equal(a->memory, b->memory, RIG_BYTES);
}

static void both(struct translator *translator, const char *name, unsigned kinds, const uint64_t *n,
		 uint64_t (*host)(uint64_t, uint64_t))
{
	static uint8_t text[65536];
	const struct cpu_translation *translation;
	char path[256], image[256];
	struct rig rig, plain;

	snprintf(path, sizeof(path), "%s/%s.text", CPU_GUESTS, name);
	snprintf(image, sizeof(image), "%s/%s.bin", CPU_GUESTS, name);
	translation = translator_find(translator, text, read_text(path, text, sizeof(text)));
	assert_non_null(translation);
	rig_init(&rig, 64);
	rig_init(&plain, 64);
	assert_int_equal(cpu_attach(rig.cpu, RIG_BASE, translation), 0);
	for (unsigned which = 0; which < kinds; which++)
		for (unsigned inexact = 0; inexact < 2; inexact++) {
			uint64_t ours = call(&rig, image, which, n[which], (uint8_t)inexact);

			assert_true(ours == call(&plain, image, which, n[which], (uint8_t)inexact));
			if (which != 2 || host == loops)
				assert_true(ours == host(which, n[which]));
			same(&rig, &plain);
		}
	rig_fini(&rig);
	rig_fini(&plain);
}

static void computes(void **state)
{
	static const uint64_t n[] = {1000, 1000, 500, 12, 1, 2}, seeds[] = {1, 2, 3, 4, 5};
	struct translator *translator = translator_create(NULL, NULL);

	both(translator, "loops", 6, n, loops);
	both(translator, "mixed", 5, seeds, mixed);
	translator_destroy(translator);
}

/* Code that is overwritten and invalidated is not what was translated any more. */
static void invalidated(void **state)
{
	struct translator *translator = translator_create(NULL, NULL);
	uint32_t code[4];
	struct rig rig;

	rig_init(&rig, 64);
	rig_code(&rig, RIG_BASE, code, code_of(code, 5) / 4);
	assert_int_equal(cpu_attach(rig.cpu, RIG_BASE, find(translator, 5)), 0);
	assert_true(cpu_is_attached(rig.cpu, RIG_BASE + 4));
	assert_int_equal(cpu_run(rig.cpu, &rig.regs, 10), CPU_STOP_ECALL);
	assert_int_equal(rig.regs.x[10], 6);
	rig_code(&rig, RIG_BASE, code, code_of(code, 70) / 4);
	cpu_invalidate(rig.cpu, RIG_BASE, 4, true);
	rig.regs.pc = RIG_BASE;
	rig.regs.x[10] = 0;
	assert_int_equal(cpu_run(rig.cpu, &rig.regs, 10), CPU_STOP_ECALL);
	assert_int_equal(rig.regs.x[10], 71);
	assert_false(cpu_is_attached(rig.cpu, RIG_BASE));
	rig_fini(&rig);
	translator_destroy(translator);
}

/* Neighbours: invalidating or attaching the bytes just before or behind some code does not affect it. */
static void neighbours(void **state)
{
	struct translator *translator = translator_create(NULL, NULL);
	const struct cpu_translation *translation = find(translator, 5);
	const uint64_t bytes = translation->bytes, first = RIG_BASE, second = first + bytes, third = second + bytes;
	const uint64_t gone[][2] = {{second, third}, {third - 1, third}, {second - 1, second + 1}};
	struct rig rig;

	rig_init(&rig, 64);
	for (unsigned round = 0; round < 3; round++) {
		for (uint64_t at = first; at <= third; at += bytes)
			assert_int_equal(cpu_attach(rig.cpu, at, translation), 0);
		assert_false(cpu_is_attached(rig.cpu, first - 1) || cpu_is_attached(rig.cpu, third + bytes));
		assert_true(cpu_is_attached(rig.cpu, first) && cpu_is_attached(rig.cpu, third + bytes - 1));
		cpu_detach(rig.cpu, gone[round][0], gone[round][1], true);
		assert_int_equal(cpu_is_attached(rig.cpu, first), round < 2);
		assert_int_equal(cpu_is_attached(rig.cpu, second - 1), round < 2);
		assert_false(cpu_is_attached(rig.cpu, second) || cpu_is_attached(rig.cpu, third - 1));
		assert_true(cpu_is_attached(rig.cpu, third));
	}
	cpu_detach(rig.cpu, third + bytes, ~0ull, true);
	cpu_detach(rig.cpu, 0, third, true);
	assert_true(cpu_is_attached(rig.cpu, third));
	cpu_detach(rig.cpu, 0, ~0ull, true);
	assert_false(cpu_is_attached(rig.cpu, third));
	rig_fini(&rig);
	translator_destroy(translator);
}

/* A loop that is being interpreted goes on translated when its translation is attached. */
static void in_the_middle(void **state)
{
	static const uint32_t loop[] = {E_I(0x13, 10, 0, 10, 1), E_B(1, 10, 11, (uint32_t)-4), 0x00000073};
	struct translator *translator = translator_create(NULL, NULL);
	struct rig rig;

	rig_init(&rig, 64);
	rig_code(&rig, RIG_BASE, loop, 3);
	rig.regs.x[11] = 1000000;
	assert_int_equal(cpu_run(rig.cpu, &rig.regs, 1001), CPU_STOP_SLICE);
	assert_int_equal(rig.regs.pc, RIG_BASE + 4);
	assert_int_equal(
		cpu_attach(rig.cpu, RIG_BASE, translator_find(translator, (const uint8_t *)loop, sizeof(loop))), 0);
	assert_int_equal(cpu_run(rig.cpu, &rig.regs, ~0ull), CPU_STOP_ECALL);
	assert_int_equal(cpu_instructions(rig.cpu), 2000001);
	/* nothing was fetched of what the translation stands for, once its loop had been entered */
	assert_int_equal(rig.regs.x[10], 1000000);
	rig_fini(&rig);
	translator_destroy(translator);
}

/* Runs end where they do when all is interpreted, also between the instructions of the stub by which kernels end. */
static void ends_by_the_stub(void **state)
{
	static const uint32_t code[] = {E_ADDI(10, 10, 1), E_ADDI(11, 10, 1), E_JALR(0, 1, 0)}, stub[] = {E_LI(17, 5), E_ECALL};
	struct translator *translator = translator_create(NULL, NULL);
	const struct cpu_translation *translation = translator_find(translator, (const uint8_t *)code, sizeof(code));

	for (unsigned slice = 1; slice <= 6; slice++) {
		struct rig rig[2];
		enum cpu_stop stop = CPU_STOP_SLICE;

		for (unsigned i = 0; i < 2; i++) {
			rig_init(&rig[i], 64);
			rig_code(&rig[i], RIG_BASE, code, 3);
			rig_code(&rig[i], RIG_BASE + 0x800, stub, 2);
			rig[i].regs.x[1] = RIG_BASE + 0x800;
		}
		assert_int_equal(cpu_attach(rig[0].cpu, RIG_BASE, translation), 0);
		cpu_stub(rig[0].cpu, RIG_BASE + 0x800, 5);
		while (stop == CPU_STOP_SLICE) {
			stop = cpu_run(rig[0].cpu, &rig[0].regs, slice);
			assert_int_equal(cpu_run(rig[1].cpu, &rig[1].regs, slice), stop);
			same(&rig[0], &rig[1]);
		}
		assert_int_equal(stop, CPU_STOP_ECALL);
		assert_int_equal(rig[0].regs.x[17], 5);
		if (slice >= 5) /* neither code nor stub were fetched */
			assert_int_equal(rig[0].asked, 0);
		rig_fini(&rig[0]);
		rig_fini(&rig[1]);
	}
	translator_destroy(translator);
}

/* ---- the cache ---- */

static void count_news(void *user)
{
	__atomic_add_fetch((unsigned *)user, 1, __ATOMIC_SEQ_CST);
}

static void used_again(void **state)
{
	struct translator *translator = translator_create(NULL, NULL);
	struct stat status;
	unsigned told = 0;

	assert_non_null(find(translator, 1));
	translator_destroy(translator);
	assert_int_equal(cached(NULL), 1);
	assert_int_equal(stat(cache, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0700);
	/* in the background it could only come later */
	setenv("TUTTI_TRANSLATE", "background", 1);
	translator = translator_create(count_news, &told);
	assert_non_null(find(translator, 1));
	assert_null(find(translator, 2));
	translator_idle(translator);
	assert_int_equal(translator_news(translator), 1);
	assert_int_equal(told, 1);
	assert_non_null(find(translator, 2));
	assert_int_equal(cached(NULL), 2);
	translator_destroy(translator);
}

/* Return: @number is found at once, from the cache. */
static bool comes_from_cache(unsigned number)
{
	struct translator *translator;
	bool found;

	setenv("TUTTI_TRANSLATE", "background", 1);
	translator = translator_create(NULL, NULL);
	found = find(translator, number) != NULL;
	translator_idle(translator);
	translator_destroy(translator);
	return found;
}

static void damage(const char *name, off_t at)
{
	int file = open(name, O_RDWR);
	uint8_t byte;

	assert_int_equal(pread(file, &byte, 1, at), 1);
	byte ^= 0x10;
	assert_int_equal(pwrite(file, &byte, 1, at), 1);
	close(file);
}

static void trusts_nobody(void **state)
{
	struct translator *translator = translator_create(NULL, NULL);
	char name[300];
	struct stat status;

	assert_non_null(find(translator, 1));
	translator_destroy(translator);
	assert_int_equal(cached(name), 1);
	assert_true(comes_from_cache(1));
	/* a damaged byte, half a file: made again */
	assert_int_equal(stat(name, &status), 0);
	damage(name, status.st_size / 2);
	assert_false(comes_from_cache(1));
	assert_true(comes_from_cache(1));
	assert_int_equal(truncate(name, status.st_size / 2), 0);
	assert_false(comes_from_cache(1));
	assert_true(comes_from_cache(1));
	/* what others can write is not executed, file or folder */
	assert_int_equal(chmod(name, 0622), 0);
	assert_false(comes_from_cache(1));
	assert_true(comes_from_cache(1));
	assert_int_equal(chmod(cache, 0770), 0);
	assert_false(comes_from_cache(1));
	assert_int_equal(chmod(cache, 0700), 0);
	assert_true(comes_from_cache(1));
	if (!geteuid()) {
		assert_int_equal(chown(name, 12345, 0), 0);
		assert_false(comes_from_cache(1));
		assert_int_equal(chown(cache, 12345, 0), 0);
		assert_false(comes_from_cache(1));
		assert_int_equal(chown(cache, 0, 0), 0);
	}
	/* a link is no folder of ours */
	snprintf(name, sizeof(name), "%s/other", home);
	assert_int_equal(rename(cache, name), 0);
	assert_int_equal(symlink(name, cache), 0);
	assert_false(comes_from_cache(1));
}

/* By another process: what this one has loaded it would not load again. */
static void cache_elsewhere(unsigned number)
{
	pid_t pid = fork();

	if (!pid)
		_exit(!find(translator_create(NULL, NULL), number));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* The same file under another name is not that code. */
static void is_what_it_says(void **state)
{
	char first[300], second[600];

	cache_elsewhere(21);
	assert_int_equal(cached(first), 1);
	cache_elsewhere(22);
	assert_int_equal(cached(NULL), 2);
	for (DIR *list = opendir(cache); list;) {
		struct dirent *entry = readdir(list);

		if (!entry) {
			closedir(list);
			break;
		}
		snprintf(second, sizeof(second), "%s/%s", cache, entry->d_name);
		if (entry->d_name[0] != '.' && strcmp(first, second))
			rename(first, second);
	}
	assert_int_equal(cached(NULL), 1);
	assert_false(comes_from_cache(22));
}

/* The cache folder may hold other files and be open to others. Only the folder of translations has to be private. */
static void only_its_own_folder(void **state)
{
	char above[80];

	snprintf(above, sizeof(above), "%s/tutti", home);
	assert_int_equal(mkdir(above, 0755), 0);
	assert_int_equal(chmod(above, 0755), 0);
	assert_false(comes_from_cache(23));
	assert_int_equal(cached(NULL), 1);
	assert_true(comes_from_cache(23));
}

/* As `tuttic --translate` does it. */
static void filled_before(void **state)
{
	struct translator_report report;
	struct stat status;
	char name[300];
	uint32_t code[4];
	size_t bytes = code_of(code, 24);

	translator_report(&report);
	assert_string_equal(report.folder, cache);
	assert_int_equal(report.files, 0);
	setenv("TUTTI_TRANSLATE", "off", 1);
	assert_int_equal(translator_fill((const uint8_t *)code, bytes), 0);
	translator_report(&report);
	assert_non_null(strstr(report.how, "TUTTI_TRANSLATE is off"));
	assert_int_equal(report.files, 1);
	assert_int_equal(cached(name), 1);
	assert_int_equal(stat(name, &status), 0);
	assert_int_equal(report.bytes, status.st_size);
	code[0] ^= 1u << 20;
	assert_int_equal(translator_fill((const uint8_t *)code, bytes), 0);
	translator_report(&report);
	assert_int_equal(report.files, 2);
	assert_in_range(report.bytes, status.st_size + 1000, 3 * status.st_size);
	code[0] ^= 1u << 20;
	setenv("TUTTI_TRANSLATE", "wait", 1);
	assert_true(comes_from_cache(24));
	setenv("TUTTI_HOST_CC", "/nonexistent/cc", 1);
	assert_int_equal(translator_fill((const uint8_t *)code, bytes), -ENOENT);
	setenv("TUTTI_HOST_CC", "/bin/false", 1);
	assert_int_equal(translator_fill((const uint8_t *)code, bytes), -ENOEXEC);
	unsetenv("TUTTI_HOST_CC");
	assert_int_equal(chmod(cache, 0770), 0);
	assert_int_equal(translator_fill((const uint8_t *)code, bytes), -EACCES);
	translator_report(&report);
	assert_string_equal(report.folder, "");
	assert_int_equal(chmod(cache, 0700), 0);
}

/* ---- what may fail ---- */

static void no_compiler(void **state)
{
	struct translator *translator;

	setenv("TUTTI_HOST_CC", "/nonexistent/cc", 1);
	translator = translator_create(NULL, NULL);
	assert_null(find(translator, 1));
	assert_non_null(strstr(translator_text(translator), "interpreted"));
	assert_non_null(strstr(translator_text(translator), "no C compiler"));
	translator_destroy(translator);
	setenv("TUTTI_HOST_CC", "/bin/false", 1);
	translator = translator_create(NULL, NULL);
	assert_null(find(translator, 1));
	assert_null(find(translator, 1));
	translator_destroy(translator);
	unsetenv("TUTTI_HOST_CC");
	setenv("TUTTI_TRANSLATE", "off", 1);
	translator = translator_create(NULL, NULL);
	assert_null(find(translator, 1));
	assert_int_equal(cached(NULL), 0);
	translator_destroy(translator);
}

static void no_place(void **state)
{
	struct translator *translator;

	setenv("XDG_CACHE_HOME", "/proc/1", 1);
	translator = translator_create(NULL, NULL);
	assert_non_null(find(translator, 1)); /* in a folder that goes with the translator */
	translator_destroy(translator);
	setenv("XDG_CACHE_HOME", home, 1);
	assert_int_equal(cached(NULL), 0);
}

/* No file can be written, as on a full disk. */
static void full_disk(void **state)
{
	struct rlimit kept, none;
	struct translator *translator;

	getrlimit(RLIMIT_FSIZE, &kept);
	none = kept;
	none.rlim_cur = 100;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &none);
	translator = translator_create(NULL, NULL);
	assert_null(find(translator, 1));
	translator_destroy(translator);
	setrlimit(RLIMIT_FSIZE, &kept);
	assert_int_equal(cached(NULL), 0);
	translator = translator_create(NULL, NULL);
	assert_non_null(find(translator, 1));
	translator_destroy(translator);
}

/* A compiler that takes a minute does not hold up the end. */
static void ends_while_compiling(void **state)
{
	char script[96];
	struct translator *translator;
	FILE *file;

	snprintf(script, sizeof(script), "%s/slow", home);
	file = fopen(script, "w");
	fprintf(file, "#!/bin/sh\nsleep 60\n");
	fclose(file);
	assert_int_equal(chmod(script, 0755), 0);
	setenv("TUTTI_HOST_CC", script, 1);
	setenv("TUTTI_TRANSLATE", "background", 1);
	alarm(20);
	for (unsigned i = 0; i < 5; i++) {
		translator = translator_create(NULL, NULL);
		assert_null(find(translator, i));
		usleep(i * 20000);
		translator_destroy(translator);
	}
	alarm(0);
	assert_int_equal(cached(NULL), 0);
	/* and none of it was a child of ours */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void fork_and_end(struct translator *translator)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		alarm(10);
		find(translator, 1);
		translator_idle(translator);
		translator_destroy(translator);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void forked(void **state)
{
	struct translator *translator;

	setenv("TUTTI_TRANSLATE", "background", 1);
	translator = translator_create(NULL, NULL);
	find(translator, 1);
	fork_and_end(translator);
	translator_idle(translator);
	assert_non_null(find(translator, 1));
	fork_and_end(translator);
	translator_destroy(translator);
}

/* Many processes want the same at once: all get it, and nothing but that is left. */
static void at_once(void **state)
{
	pid_t pids[6];
	int status;

	for (unsigned i = 0; i < 6; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			struct translator *translator = translator_create(NULL, NULL);
			bool good = find(translator, 1) && find(translator, 2);

			translator_destroy(translator);
			_exit(!good);
		}
	}
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(cached(NULL), 2);
}

/* The oldest go. */
static void bounded(void **state)
{
	const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	struct translator *translator = translator_create(NULL, NULL);
	char name[300], kept[300];
	int file;

	assert_non_null(find(translator, 1));
	cached(kept);
	for (unsigned i = 0; i < 600; i++) {
		snprintf(name, sizeof(name), "%s/%u.so", cache, i);
		file = open(name, O_CREAT | O_WRONLY, 0600);
		futimens(file, long_ago);
		close(file);
	}
	assert_non_null(find(translator, 2));
	assert_true(cached(NULL) == 512);
	assert_int_equal(access(kept, F_OK), 0);
	snprintf(name, sizeof(name), "%s/big.so", cache);
	file = open(name, O_CREAT | O_WRONLY, 0600);
	assert_int_equal(ftruncate(file, 200 << 20), 0);
	futimens(file, long_ago);
	close(file);
	assert_non_null(find(translator, 3));
	assert_int_not_equal(access(name, F_OK), 0);
	assert_int_equal(access(kept, F_OK), 0);
	translator_destroy(translator);
}

#define TEST(what, name) {what, name, fresh_cache, remove_cache, NULL}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("SYS-51: translated at load: compiled C as the host and the interpreter", computes),
		TEST("SYS-51: translated at load: code that changes", invalidated),
		TEST("SYS-51: translated at load: code beside code", neighbours),
		TEST("SYS-51: translated at load: attached in the middle of a loop", in_the_middle),
		TEST("SYS-51: translated at load: the stub by which kernels end", ends_by_the_stub),
		TEST("SYS-51: translation cache: used again, private", used_again),
		TEST("SYS-51: translation cache: nothing that others can write, nothing damaged", trusts_nobody),
		TEST("SYS-51: translation cache: a file is what its name says", is_what_it_says),
		TEST("SYS-51: translation cache: bounded, the oldest go", bounded),
		TEST("SYS-51: translation cache: a folder of its own below tutti/", only_its_own_folder),
		TEST("SYS-51: translation cache: filled before a card needs it, and reported", filled_before),
		TEST("SYS-51: translation: no compiler, a compiler that fails, off", no_compiler),
		TEST("SYS-51: translation: no cache folder", no_place),
		TEST("SYS-51: translation: full disk", full_disk),
		TEST("SYS-51: translation: the end while compiling", ends_while_compiling),
		TEST("SYS-51: translation: fork", forked),
		TEST("SYS-51: translation: six processes at once", at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
