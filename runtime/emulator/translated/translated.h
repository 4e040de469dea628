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

#endif
