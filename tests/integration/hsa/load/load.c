// SPDX-License-Identifier: MIT
/* SYS-43: the library is loaded by name while the program runs, as plug-ins and languages do it, and goes again. */
#include <dlfcn.h>
#include <hsa/hsa.h>
#include <stdio.h>

#define TIMES 4

static hsa_status_t one_more(hsa_agent_t agent, void *data)
{
	(void)agent;
	++*(int *)data;
	return HSA_STATUS_SUCCESS;
}

static int fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	return 1;
}

static int use(int times)
{
	void *library = dlopen("libhsa-runtime64.so.1", RTLD_NOW | RTLD_LOCAL);
	hsa_status_t (*init)(void), (*shut_down)(void);
	hsa_status_t (*iterate)(hsa_status_t (*)(hsa_agent_t, void *), void *);
	int agents = 0;

	if (!library)
		return fail(dlerror());
	init = dlsym(library, "hsa_init");
	shut_down = dlsym(library, "hsa_shut_down");
	iterate = dlsym(library, "hsa_iterate_agents");
	if (!init || !shut_down || !iterate)
		return fail("functions are missing");
	for (int i = 0; i < times; i++)
		if (init())
			return fail("hsa_init()");
	if (iterate(one_more, &agents) || agents != 2)
		return fail("no two agents");
	for (int i = 0; i < times; i++)
		if (shut_down())
			return fail("hsa_shut_down()");
	if (shut_down() != HSA_STATUS_ERROR_NOT_INITIALIZED)
		return fail("one hsa_shut_down() too many");
	return dlclose(library) ? fail("dlclose()") : 0;
}

int main(void)
{
	for (int i = 1; i <= TIMES; i++)
		if (use(i))
			return 1;
	if (dlopen("libhsa-runtime64.so.1", RTLD_NOW | RTLD_NOLOAD))
		return fail("it is still there");
	return 0;
}
