/* SPDX-License-Identifier: MIT */
/** DOC: The background thread */
#ifndef TUTTI_EMULATOR_CARD_THREAD_H
#define TUTTI_EMULATOR_CARD_THREAD_H

#include "emulator/base/state.h"

int thread_create(struct tutti_card *card);
void thread_destroy(struct tutti_card *card);
/** thread_watch() - break a core that runs for too long out of its loop. Any thread. */
void thread_watch(struct tutti_card *card);

#endif
