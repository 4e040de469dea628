/* SPDX-License-Identifier: MIT */
/** DOC: Fast stores of translated code */
#ifndef TUTTI_EMULATOR_UNICORN_STORE_SPEED_H
#define TUTTI_EMULATOR_UNICORN_STORE_SPEED_H

void store_speed_init(void);

#endif
