/* SPDX-License-Identifier: MIT */
/**
 * DOC: Inside of a translator
 *
 *   translated.c   the code objects that are known, the thread that has them compiled
 *   compiler.c     finding the system's compiler and running it
 *   source.c       what the compiler gets
 *   cache.c        the cache folder: whom it trusts, what it forgets
 *   library.c      opening what was compiled, and whether it is what was asked for
 */
#ifndef TUTTI_EMULATOR_TRANSLATED_PARTS_H
#define TUTTI_EMULATOR_TRANSLATED_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "emulator/cpu/translation.h"

#define SYMBOL	  "tutti_translated"
#define CACHE_PATH 4096
#define KEY_BYTES 40 /* of a name: 32 digits, ".so" and the end */

/* ---- compiler.c ---- */

/**
 * struct compiler - the system's.
 * @path: empty if there is none
 * @identity: a text that another compiler, or the same with other options, would not have
 * @running: the process that waits for it to end, 0 = none; @stopped: nothing is compiled any more
 */
struct compiler {
	char path[512];
	char identity[1024];
	bool fused; /* this machine multiplies and adds in one instruction */
	pid_t running;
	bool stopped;
};

void compiler_find(struct compiler *compiler);
/** compiler_run() - compile unit.c to unit.so in folder @folder, for @bytes of code. Return: false if that failed. */
bool compiler_run(struct compiler *compiler, int folder, uint64_t bytes, bool in_background);
/** compiler_stop() - kill what compiles, for good. May be called by another thread. */
void compiler_stop(struct compiler *compiler);

/* ---- source.c ---- */

/** source_version() - changes with the translator and with what its output includes. */
const char *source_version(void);
/** source_write() - write unit.c and what it includes into @folder. Return: false: it cannot be translated, or written. */
bool source_write(int folder, const uint8_t *code, uint64_t bytes);

/* ---- cache.c ---- */

/** cache_open() - the cache folder, made if it is not there. Return: its descriptor, -1: there is none that can be trusted. */
int cache_open(void);
/** cache_usage() - path of that folder, empty if it cannot be trusted, and how many translations of what size it holds. */
void cache_usage(char path[static CACHE_PATH], uint32_t *files, uint64_t *bytes);
/** cache_spare() - a folder for this process alone, for where there is no cache. @path: its name, empty if there is none. */
int cache_spare(char path[static 64]);
void cache_spare_remove(int folder, const char *path);
/** cache_trusted() - open file @name of @folder, if nobody else can have written it. Return: descriptor or -1. */
int cache_trusted(int folder, const char *name);
/** cache_work() - a new folder below @folder to work in. @name is filled. Return: descriptor or -1. */
int cache_work(int folder, char name[static 64]);
void cache_work_remove(int folder, int work, const char *name);
/** cache_bound() - remove the files that were used longest ago if there are too many of them, and what crashes have left. */
void cache_bound(int folder);

/* ---- library.c ---- */

/** library_seal() - add to file @name of @folder what library_open() looks for. Return: false: it cannot be read or written. */
bool library_seal(int folder, const char *name);
/** library_open() - file @name of @folder as the translation of that code. Return: NULL: it is not, or damaged. */
const struct cpu_translation *library_open(int folder, const char *name, const uint8_t *code, uint64_t bytes);
/** library_key() - the name of the file for that code. */
void library_key(char name[static KEY_BYTES], const struct compiler *compiler, const uint8_t *code, uint64_t bytes);

#endif
