/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_HSA_NOTE_H
#define TUTTI_HSA_NOTE_H

#include <stdbool.h>

/** note_userdata() - what the application has noted for the allocation that starts at @start; NULL: nothing. */
void *note_userdata(const void *start);
struct note;
/** note_take() - take out the notes of an allocation that is about to be freed; NULL if there are none. */
struct note *note_take(const void *start);
/** note_end() - if it has been @freed, tell those who want to know, and forget the notes; else put them back. */
void note_end(struct note *note, bool freed);

#endif
