/* SPDX-License-Identifier: MIT */
/**
 * DOC: Searches for CGAs of CGAs (spec CGA-02, CGA-12, CGA-18)
 *
 * To find out at which speed a part that has parts itself would fit in a domain, it is placed there and taken back
 * (trial_launch.h), unless there is only one domain. That can take long, so such a search may take several visits
 * (REL-11, core/visit.h). It keeps its place whatever happens meanwhile, as long as it has found no room for a CGA, so
 * that it comes to an end.
 */
#ifndef NESTED_SEARCH_H
#define NESTED_SEARCH_H

#include "groups/trial_launch.h"

/** nested_init() - no search is under way. */
void nested_init(void);
/** nested_forget() - if a search for CGAs of @task was to go on in another visit, it begins anew instead. */
void nested_forget(const struct task *task);
/** nested_run() - place as many of the session's CGAs (trial.left) as there is room and time for. */
void nested_run(void);
/** nested_end() - the session, or what this visit has time for, is over: @n CTAs were placed and accounted for. */
void nested_end(uint32_t n);

#endif
