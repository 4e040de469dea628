// SPDX-License-Identifier: MIT
/*
 * Translated code of kernels. A hart asks for it where its processor fetches for the first time. If it becomes ready later,
 * the processor is made to forget its code, fetches again, and finds it: a wave in a long loop goes on in it at once. What
 * waves do, and what they count, does not depend on that.
 */
#include "emulator/hart/hart.h"
#include "emulator/translated/translated.h"

/* Code is what can be executed and not be written; who writes it through another mapping invalidates it. */
static bool is_code(const struct region *region)
{
	return (region->rights & CPU_MAY_FETCH) && !(region->rights & CPU_MAY_STORE);
}

void hart_code_fetched(struct hart *hart, const struct region *region)
{
	const struct cpu_translation *translation;

	if (!is_code(region) || cpu_is_attached(hart->cpu, region->first))
		return;
	translation = translator_find(hart->array->translator, region->host, region->bytes);
	if (!translation || cpu_attach(hart->cpu, region->first, translation))
		hart->untranslated = true;
}

void hart_code_refresh(struct hart *hart)
{
	uint32_t news = translator_news(hart->array->translator);

	if (news == hart->translator_news)
		return;
	hart->translator_news = news;
	hart->untranslated = false;
	cpu_invalidate(hart->cpu, 0, 0, true);
}

void hart_code_ready(void *data)
{
	struct sm_array *array = data;

	/* A hart does not end as long as somebody holds this lock. */
	pthread_mutex_lock(&array->timer_lock);
	for (unsigned e = 0; e < array->engines; e++) {
		struct hart *hart = tutti_load_acquire(&array->engine[e].running);

		if (hart)
			cpu_invalidate(hart->cpu, 0, 0, true);
	}
	pthread_mutex_unlock(&array->timer_lock);
}
