/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_RUNTIME_CARD_PLUGIN_H
#define TUTTI_RUNTIME_CARD_PLUGIN_H

#include "emulator/plugin/plugin.h"

/**
 * card_plugin() - the emulated card: the one linked into this program, or the plug-in, which stays open.
 * Return: NULL after one line on stderr if there is none, or none of this library's version.
 */
const struct tutti_card_plugin *card_plugin(void);

#endif
