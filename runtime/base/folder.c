// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "base/folder.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

/* The link map's name of the program itself is empty, and dladdr() returns argv[0], which may be anything. */
bool own_folder(char folder[PATH_MAX])
{
	struct link_map *map = NULL;
	Dl_info info;

	if (!dladdr1((void *)own_folder, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
		return false;
	if (!realpath(*map->l_name ? map->l_name : "/proc/self/exe", folder))
		return false;
	*strrchr(folder, '/') = 0;
	return true;
}
