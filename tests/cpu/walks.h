/* SPDX-License-Identifier: MIT */
/* Where generate.c puts the loops that walk through memory, and lockstep.c finds them. */
#ifndef TESTS_CPU_WALKS_H
#define TESTS_CPU_WALKS_H

#define WALKS 80u
#define WALK  760u /* bytes from one to the next */

#endif
