/* SPDX-License-Identifier: MIT */
/** DOC: The option -d DEVICE, which all commands of `tutti` take */
#ifndef TUTTI_TOOLS_CHOICE_H
#define TUTTI_TOOLS_CHOICE_H

#include <stdbool.h>

/**
 * device_choose() - let all that is opened from now on be the device @text.
 * @text: number of a card, PCI address ("0000:03:00.0"), device file, or a name that TUTTI_DEVICE takes
 * Return: false after a message: there is no such card.
 */
bool device_choose(const char *text);

/**
 * device_option() - carry out each -d among @argv and take it away.
 * @argc: number of arguments, made smaller
 * @argv: arguments
 * @from: index of the first argument that is looked at
 * @to: index behind the last one; "--" ends the options before that
 * Return: an exit status; after EXIT_USAGE and EXIT_FAILS with a message.
 */
int device_option(int *argc, char **argv, int from, int to);

#endif
