/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_RUNTIME_CARD_PLUGIN_H
#define TUTTI_RUNTIME_CARD_PLUGIN_H

#include "emulator/plugin/plugin.h"

/**
 * card_plugin() - find the emulated card: linked into this program, or else the plug-in, which then stays loaded.
 * Return: NULL, after one line on stderr, if there is none or if its version is not this library's.
 */
const struct tutti_card_plugin *card_plugin(void);

#endif
