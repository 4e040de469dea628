/* SPDX-License-Identifier: MIT */
/**
 * DOC: Translating kernels when they are loaded
 *
 * A translator knows the code objects that the harts of a card have met. It translates each to C (cpu/translate), has the
 * system's compiler compile that, and keeps the result in the user's cache folder, from where it comes back at once the
 * next time. Until it is there, and where there is no compiler, kernels are interpreted; what they compute is the same.
 *
 * TUTTI_TRANSLATE: background (the default) compiles in a thread, wait compiles before the first instruction is executed,
 * off interprets. TUTTI_HOST_CC names the compiler; otherwise it is the first of cc, gcc and clang that PATH has.
 */
#ifndef TUTTI_EMULATOR_TRANSLATED_TRANSLATED_H
#define TUTTI_EMULATOR_TRANSLATED_TRANSLATED_H

#include <stdint.h>

struct cpu_translation;

/**
 * struct translator_report - how kernels are executed in this process.
 * @how: for people
 * @folder: where translations are kept from one process to the next; empty = nowhere
 * @files, @bytes: what is there
 */
struct translator_report {
	char how[640];
	char folder[4096];
	uint32_t files;
	uint64_t bytes;
};

struct translator;

/**
 * translator_create() - read the settings.
 * @ready: called by the translator's thread with @user when there are news; NULL = do not call
 * Return: NULL: no memory; the other functions take that.
 */
struct translator *translator_create(void (*ready)(void *user), void *user);
/** translator_destroy() - end what is being compiled. Translations that it has given remain. */
void translator_destroy(struct translator *translator);
/**
 * translator_find() - the translation of @bytes of code, which cpu_attach() takes. May be called by any thread.
 * Return: NULL: there is none, or not yet.
 */
const struct cpu_translation *translator_find(struct translator *translator, const uint8_t *code, uint64_t bytes);
/** translator_news() - a number that changes whenever a translation has become ready that was not when it was asked for. */
uint32_t translator_news(const struct translator *translator);
/** translator_idle() - wait until nothing is being compiled. */
void translator_idle(struct translator *translator);
/** translator_text() - how kernels are executed, for people. */
const char *translator_text(const struct translator *translator);
/** translator_report() - the same by the settings, and what the cache folder holds. */
void translator_report(struct translator_report *report);
/**
 * translator_fill() - translate @bytes of code now, whatever TUTTI_TRANSLATE says, so that cards find it in the cache folder.
 * Return: 0, -ENOENT: there is no compiler, -EACCES: there is no cache folder that can be trusted, -ENOEXEC: it cannot be
 * translated, or the compiler has failed, -ENOMEM
 */
int translator_fill(const uint8_t *code, uint64_t bytes);

#endif
