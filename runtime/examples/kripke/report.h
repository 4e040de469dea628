/* SPDX-License-Identifier: MIT */
/** DOC: What Kripke prints */
#ifndef KRIPKE_REPORT_H
#define KRIPKE_REPORT_H

#include "card.h"

/** enum kripke_verdict - how a run's results compare. */
enum kripke_verdict { KRIPKE_FIRST, KRIPKE_EQUAL, KRIPKE_DIFFERENT, KRIPKE_FAILED };

/** struct kripke_run - one launch mode, run to the end. */
struct kripke_run {
	enum kripke_launch launch;
	enum kripke_verdict verdict;
	const char *against; /* what the results were compared with */
	struct kripke_cost cost;
	double *counts;      /* particle count after each iteration */
	double cpu_seconds;  /* that plain C on the CPU took; 0 = it was not run */
};

void kripke_report_problem(const struct kripke_options *options);
/** kripke_report_iteration() - one line as the original prints it. */
void kripke_report_iteration(unsigned iteration, double count, double last);
void kripke_report_table(const struct kripke_run *runs, unsigned count);
/** kripke_report_json() - one object a line, one for each run. */
void kripke_report_json(const struct kripke_options *options, const struct kripke_run *runs, unsigned count);

#endif
