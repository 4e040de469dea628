/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_BASE_FOLDER_H
#define TUTTI_BASE_FOLDER_H

#include <limits.h>
#include <stdbool.h>

/**
 * own_folder() - the folder of the file that holds this library: libtutti.so.0, or a program that links
 * libtutti.a. The library looks there first for the firmware image and the emulated card.
 * Return: false if the folder cannot be determined.
 */
bool own_folder(char folder[PATH_MAX]);

#endif
