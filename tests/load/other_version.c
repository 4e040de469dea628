// SPDX-License-Identifier: MIT
/* An emulated card of another version: the library must refuse it by its first word. */
#include <stdint.h>

extern const uint32_t tutti_card_plugin[2];
const uint32_t tutti_card_plugin[2] = {999, 0};
