/* SPDX-License-Identifier: MIT */
/**
 * DOC: Registry of finalized modules: a folder in which `tuttic --hsail` has left NAME.brig, and NAME.tco made for it
 *
 * The environment variable TUTTI_HSAIL_REGISTRY names the folder; without it, REGISTRY_FOLDER.
 */
#ifndef TUTTI_HSA_REGISTRY_H
#define TUTTI_HSA_REGISTRY_H

#include "hsa/extension/module.h"

#define REGISTRY_FOLDER "/var/lib/tutti/hsail"

/**
 * registry_find() - the code object of a module that has the same content, name included.
 * @module: module
 * @code: gets it; to be freed
 * @bytes: gets its size
 *
 * Return: false if there is none.
 */
bool registry_find(const struct module *module, void **code, size_t *bytes);

#endif
