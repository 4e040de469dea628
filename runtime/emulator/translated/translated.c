// SPDX-License-Identifier: MIT
/* The code objects that a translator knows, and the thread that has them compiled. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emulator/translated/parts.h"
#include "emulator/translated/translated.h"

#define OBJECTS_MOST 4096u
#define CODE_MOST    (1u << 20)

enum mode { MODE_OFF, MODE_WAIT, MODE_BACKGROUND };

enum state { WAITS, COMPILED, READY, NEVER };

struct object {
	struct object *next;
	uint8_t *code;
	uint64_t bytes;
	enum state state;
	const struct cpu_translation *translation;
};

/**
 * struct translator - see translated.h.
 * @folder: the cache, or one of our own (@spare), -1 = there is none
 * @process: the one that made it; its children have a copy of the memory, but not the thread
 * @lock: protects all that follows
 */
struct translator {
	enum mode mode;
	struct compiler compiler;
	char text[600];
	int folder;
	char spare[64];
	pid_t process;
	uint32_t news;
	void (*ready)(void *user);
	void *user;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	bool has_thread, ends;
	struct object *objects;
	unsigned count, waiting;
};

/* ---- settings ---- */

static enum mode mode_of(const char *text)
{
	if (text && !strcmp(text, "off"))
		return MODE_OFF;
	if (text && !strcmp(text, "wait"))
		return MODE_WAIT;
	if (text && *text && strcmp(text, "background"))
		fprintf(stderr, "tutti: TUTTI_TRANSLATE=%s is none of off, wait, background; it is background now\n", text);
	return MODE_BACKGROUND;
}

static void find_compiler(struct translator *translator)
{
	if (translator->mode == MODE_OFF) {
		snprintf(translator->text, sizeof(translator->text), "interpreted, since TUTTI_TRANSLATE is off");
		return;
	}
	compiler_find(&translator->compiler);
	if (translator->compiler.path[0]) {
		snprintf(translator->text, sizeof(translator->text), "translated, compiled by %s", translator->compiler.path);
		return;
	}
	translator->mode = MODE_OFF;
	snprintf(translator->text, sizeof(translator->text),
		 "interpreted, which is slower, since there is no C compiler (cc, gcc or clang)");
}

struct translator *translator_create(void (*ready)(void *user), void *user)
{
	struct translator *translator = calloc(1, sizeof(*translator));

	if (!translator)
		return NULL;
	translator->mode = mode_of(getenv("TUTTI_TRANSLATE"));
	translator->folder = -1;
	translator->ready = ready;
	translator->user = user;
	translator->process = getpid();
	pthread_mutex_init(&translator->lock, NULL);
	pthread_cond_init(&translator->changed, NULL);
	find_compiler(translator);
	return translator;
}

const char *translator_text(const struct translator *translator)
{
	return translator ? translator->text : "interpreted";
}

void translator_report(struct translator_report *report)
{
	struct translator *translator = translator_create(NULL, NULL);

	snprintf(report->how, sizeof(report->how), "%s", translator_text(translator));
	cache_usage(report->folder, &report->files, &report->bytes);
	translator_destroy(translator);
}

uint32_t translator_news(const struct translator *translator)
{
	return translator ? __atomic_load_n(&translator->news, __ATOMIC_ACQUIRE) : 0;
}

/* ---- one object ---- */

/* Done for the first kernel, so that a program that runs none leaves the file system alone. */
static bool open_folder(struct translator *translator)
{
	if (translator->folder < 0)
		translator->folder = cache_open();
	if (translator->folder < 0)
		translator->folder = cache_spare(translator->spare);
	return translator->folder >= 0;
}

static bool compile_in(struct translator *translator, int work, const struct object *object, const char *name)
{
	return source_write(work, object->code, object->bytes) &&
	       compiler_run(&translator->compiler, work, object->bytes, translator->mode == MODE_BACKGROUND) &&
	       library_seal(work, "unit.so") && !renameat(work, "unit.so", translator->folder, name);
}

/* The lock is not held: nobody else uses what is used here. */
static const struct cpu_translation *compile(struct translator *translator, const struct object *object)
{
	char name[KEY_BYTES], folder[64];
	int work = cache_work(translator->folder, folder);
	bool good;

	if (work < 0)
		return NULL;
	library_key(name, &translator->compiler, object->code, object->bytes);
	good = compile_in(translator, work, object, name);
	cache_work_remove(translator->folder, work, folder);
	if (good && !translator->spare[0])
		cache_bound(translator->folder);
	return good ? library_open(translator->folder, name, object->code, object->bytes) : NULL;
}

static void settle(struct object *object, const struct cpu_translation *translation)
{
	object->translation = translation;
	object->state = translation ? READY : NEVER;
}

/* ---- the thread ---- */

static struct object *next_waiting(const struct translator *translator)
{
	struct object *object = translator->objects;

	while (object && object->state != WAITS)
		object = object->next;
	return object;
}

/* The lock is given up meanwhile, since those who are told may take it. */
static void tell(struct translator *translator)
{
	__atomic_add_fetch(&translator->news, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&translator->lock);
	if (translator->ready)
		translator->ready(translator->user);
	pthread_mutex_lock(&translator->lock);
}

static void *work(void *data)
{
	struct translator *translator = data;
	struct object *object;

	pthread_mutex_lock(&translator->lock);
	while (!translator->ends) {
		const struct cpu_translation *translation;

		object = next_waiting(translator);
		if (!object) {
			pthread_cond_wait(&translator->changed, &translator->lock);
			continue;
		}
		object->state = COMPILED;
		pthread_mutex_unlock(&translator->lock);
		translation = compile(translator, object);
		pthread_mutex_lock(&translator->lock);
		settle(object, translation);
		if (translation)
			tell(translator);
		translator->waiting--;
		pthread_cond_broadcast(&translator->changed);
	}
	pthread_mutex_unlock(&translator->lock);
	return NULL;
}

/* The program's signals are none of this thread's business. */
static bool start_thread(struct translator *translator)
{
	sigset_t all, kept;

	if (translator->has_thread)
		return true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &kept);
	translator->has_thread = !pthread_create(&translator->thread, NULL, work, translator);
	pthread_sigmask(SIG_SETMASK, &kept, NULL);
	return translator->has_thread;
}

void translator_idle(struct translator *translator)
{
	if (!translator || translator->process != getpid())
		return;
	pthread_mutex_lock(&translator->lock);
	while (translator->waiting)
		pthread_cond_wait(&translator->changed, &translator->lock);
	pthread_mutex_unlock(&translator->lock);
}

void translator_destroy(struct translator *translator)
{
	struct object *object;

	if (!translator)
		return;
	if (translator->process == getpid()) {
		pthread_mutex_lock(&translator->lock);
		translator->ends = true;
		pthread_cond_broadcast(&translator->changed);
		pthread_mutex_unlock(&translator->lock);
		compiler_stop(&translator->compiler);
		if (translator->has_thread)
			pthread_join(translator->thread, NULL);
		if (translator->spare[0])
			cache_spare_remove(translator->folder, translator->spare);
		else if (translator->folder >= 0)
			close(translator->folder);
	}
	while ((object = translator->objects)) {
		translator->objects = object->next;
		free(object->code);
		free(object);
	}
	free(translator);
}

/* ---- finding objects ---- */

static struct object *known(const struct translator *translator, const uint8_t *code, uint64_t bytes)
{
	struct object *object = translator->objects;

	while (object && (object->bytes != bytes || memcmp(object->code, code, bytes)))
		object = object->next;
	return object;
}

static struct object *add(struct translator *translator, const uint8_t *code, uint64_t bytes)
{
	struct object *object;

	if (translator->count == OBJECTS_MOST)
		return NULL;
	object = calloc(1, sizeof(*object));
	if (!object || !(object->code = malloc(bytes))) {
		free(object);
		return NULL;
	}
	memcpy(object->code, code, bytes);
	object->bytes = bytes;
	object->next = translator->objects;
	translator->objects = object;
	translator->count++;
	return object;
}

/* Take the translation of a new object from the cache, or have it compiled, now or in the thread. */
static void begin(struct translator *translator, struct object *object)
{
	const struct cpu_translation *translation;
	char name[KEY_BYTES];

	object->state = NEVER;
	if (!open_folder(translator))
		return;
	library_key(name, &translator->compiler, object->code, object->bytes);
	translation = library_open(translator->folder, name, object->code, object->bytes);
	if (translation || translator->mode == MODE_WAIT) {
		settle(object, translation ? translation : compile(translator, object));
	} else if (start_thread(translator)) {
		object->state = WAITS;
		translator->waiting++;
		pthread_cond_broadcast(&translator->changed);
	}
}

const struct cpu_translation *translator_find(struct translator *translator, const uint8_t *code, uint64_t bytes)
{
	const struct cpu_translation *translation = NULL;
	struct object *object;
	uint64_t all;

	if (!translator || translator->mode == MODE_OFF || translator->process != getpid() || bytes > CODE_MOST)
		return NULL;
	all = bytes & ~1ull;
	while (bytes && !code[bytes - 1])
		bytes--; /* what fills the last page, but not the end of an instruction such as ret */
	bytes = (bytes + 3) & ~3ull;
	if (bytes > all)
		bytes = all;
	pthread_mutex_lock(&translator->lock);
	object = known(translator, code, bytes);
	if (!object && bytes) {
		object = add(translator, code, bytes);
		if (object)
			begin(translator, object);
	}
	if (object && object->state == READY)
		translation = object->translation;
	pthread_mutex_unlock(&translator->lock);
	return translation;
}

int translator_fill(const uint8_t *code, uint64_t bytes)
{
	struct translator *translator = translator_create(NULL, NULL);
	int error = 0;

	if (!translator)
		return -ENOMEM;
	translator->mode = MODE_WAIT;
	if (!translator->compiler.path[0])
		compiler_find(&translator->compiler);
	if (!translator->compiler.path[0])
		error = -ENOENT;
	else if (!translator_find(translator, code, bytes))
		error = -ENOEXEC;
	else if (translator->spare[0])
		error = -EACCES;
	translator_destroy(translator);
	return error;
}
