/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_BASE_FOLDER_H
#define TUTTI_BASE_FOLDER_H

#include <limits.h>
#include <stdbool.h>

/**
 * own_folder() - the folder of the file that holds this library: libtutti.so.0, or a program that links
 * libtutti.a. What belongs to the library (firmware, the emulated card) is looked for beside it first.
 * Return: false if it cannot be found out.
 */
bool own_folder(char folder[PATH_MAX]);

#endif
