// SPDX-License-Identifier: MIT
/* Looks for the emulated card's plug-in in the library's folder, its subfolder `tutti`, and where it is installed. */
#include "transport/card_plugin.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/fork.h"
#include "base/say.h"

/*
 * The symbol exists only in programs that link the emulated card. It is hidden, so that a shared libtutti does not
 * resolve it from another object.
 */
extern const struct tutti_card_plugin linked_card __asm__(TUTTI_CARD_PLUGIN_SYMBOL)
    __attribute__((weak, visibility("hidden")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects @opened */
static const struct tutti_card_plugin *opened;

FREE_IN_CHILD(lock)

static bool find_file(char *path, size_t bytes)
{
	static const char *const beside[] = {"/", "/tutti/", "/../lib/tutti/"};
	char folder[PATH_MAX];

	if (own_folder(folder)) {
		for (unsigned i = 0; i < sizeof(beside) / sizeof(*beside); i++) {
			snprintf(path, bytes, "%s%s%s", folder, beside[i], TUTTI_CARD_PLUGIN_FILE);
			if (!access(path, R_OK))
				return true;
		}
	}
	snprintf(path, bytes, "%s/tutti/%s", TUTTI_LIBDIR, TUTTI_CARD_PLUGIN_FILE);
	return !access(path, R_OK);
}

/* The plug-in is never unloaded, because its threads and its translated code may run at any time. */
static const struct tutti_card_plugin *open_file(const char *path)
{
	void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	const struct tutti_card_plugin *plugin = file ? dlsym(file, TUTTI_CARD_PLUGIN_SYMBOL) : NULL;

	if (!plugin) {
		say("the emulated card cannot be loaded: %s", dlerror());
		return NULL;
	}
	if (plugin->abi != TUTTI_CARD_PLUGIN_ABI ||
	    plugin->config_bytes != sizeof(struct tutti_card_config)) {
		say("the emulated card %s belongs to another version of libtutti (interface %u, this library "
		    "wants %u)",
		    path, plugin->abi, TUTTI_CARD_PLUGIN_ABI);
		return NULL;
	}
	return plugin;
}

static const struct tutti_card_plugin *find_and_open(void)
{
	char path[PATH_MAX + 64];

	if (find_file(path, sizeof(path)))
		return open_file(path);
	say("the emulated card is not installed: %s is neither beside this library nor in %s/tutti",
	    TUTTI_CARD_PLUGIN_FILE, TUTTI_LIBDIR);
	return NULL;
}

const struct tutti_card_plugin *card_plugin(void)
{
	const struct tutti_card_plugin *plugin;

	if (&linked_card)
		return &linked_card;
	pthread_mutex_lock(&lock);
	if (!opened)
		opened = find_and_open();
	plugin = opened;
	pthread_mutex_unlock(&lock);
	return plugin;
}
