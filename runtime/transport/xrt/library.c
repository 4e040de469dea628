// SPDX-License-Identifier: MIT
/* Finds XRT, and gives it the folder it wants. */
#define _GNU_SOURCE
#include "transport/xrt/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/say.h"

#define LIBRARY "libxrt_coreutil.so.2"
#define SCRATCH "/tmp/tutti-xrt-XXXXXX"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects all below */
static struct xrt_library found;
static const struct xrt_library *replaced;
static bool loaded;
static char scratch[sizeof(SCRATCH)], scratch_lib[sizeof(scratch) + 4];
static pid_t scratch_of; /* the process that has made it */

FREE_IN_CHILD(lock)

void xrt_library_replace(const struct xrt_library *library)
{
	pthread_mutex_lock(&lock);
	replaced = library;
	pthread_mutex_unlock(&lock);
}

/* The part of XRT that talks to cards, or to what takes their place. */
static const char *shim_name(void)
{
	const char *mode = getenv("XCL_EMULATION_MODE");

	if (!mode)
		return "libxrt_core.so.2";
	if (!strcmp(mode, "sw_emu"))
		return "libxrt_swemu.so.2";
	if (!strcmp(mode, "hw_emu"))
		return "libxrt_hwemu.so.2";
	return strcmp(mode, "noop") ? NULL : "libxrt_noop.so.2";
}

static bool has_shim(const char *folder)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/lib/%s", folder, shim_name());
	return !access(path, R_OK);
}

/* A child process that ends leaves the folder to its parent. */
static void remove_scratch(void)
{
	if (scratch_of != getpid())
		return;
	unlink(scratch_lib);
	rmdir(scratch);
}

/* XRT looks for its parts in $XILINX_XRT/lib, but Debian installs them beside the library. */
static int make_scratch(const char *library)
{
	char folder[PATH_MAX], *slash;

	snprintf(folder, sizeof(folder), "%s", library);
	slash = strrchr(folder, '/');
	strcpy(scratch, SCRATCH); /* an earlier try, or the parent's, has made another name of it */
	if (!slash || !mkdtemp(scratch))
		return -ENODEV;
	*slash = 0;
	snprintf(scratch_lib, sizeof(scratch_lib), "%s/lib", scratch);
	scratch_of = getpid();
	if (!symlink(folder, scratch_lib) && has_shim(scratch) && !setenv("XILINX_XRT", scratch, 1))
		return atexit(remove_scratch) ? -ENODEV : 0;
	remove_scratch();
	return -ENODEV;
}

static int check_folder(const char *library)
{
	const char *folder = getenv("XILINX_XRT");

	if (!shim_name()) {
		say("device xrt: XCL_EMULATION_MODE=%s is not a mode of XRT (sw_emu, hw_emu, noop)",
		    getenv("XCL_EMULATION_MODE"));
		return -ENODEV;
	}
	if (folder && *folder) {
		if (has_shim(folder))
			return 0;
		say("device xrt: XILINX_XRT=%s has no lib/%s; source the setup.sh of your XRT, or unset it", folder,
		    shim_name());
		return -ENODEV;
	}
	if (!make_scratch(library))
		return 0;
	say("device xrt: XILINX_XRT is not set and %s is not beside %s; source the setup.sh of your XRT", shim_name(),
	    library);
	return -ENODEV;
}

/* The full path of what dlopen() has found under @symbol. */
static const char *path_of(void *symbol)
{
	Dl_info info;

	return symbol && dladdr(symbol, &info) && info.dli_fname ? info.dli_fname : "";
}

static int find_functions(void *file)
{
	void *symbol;

#define X(result, name, parameters)                                                                           \
	symbol = dlsym(file, #name);                                                                          \
	if (!symbol) {                                                                                        \
		say("device xrt: %s has no %s; Tutti needs XRT 2.13 or later", LIBRARY, #name);               \
		return -ENODEV;                                                                               \
	}                                                                                                     \
	memcpy(&found.name, &symbol, sizeof(symbol));
	XRT_FUNCTIONS(X)
#undef X
	return 0;
}

static int load(void)
{
	void *file = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	int error;

	if (!file) {
		say("device xrt: XRT is not installed (%s); on Debian, install libxrt1", dlerror());
		return -ENODEV;
	}
	error = find_functions(file);
	if (!error)
		error = check_folder(path_of(dlsym(file, "xrtDeviceOpen")));
	if (error)
		dlclose(file);
	return error;
}

int xrt_library_open(const struct xrt_library **library)
{
	int error = 0;

	pthread_mutex_lock(&lock);
	if (!replaced && !loaded) {
		error = load();
		loaded = !error;
	}
	*library = replaced ? replaced : &found;
	pthread_mutex_unlock(&lock);
	return error;
}
