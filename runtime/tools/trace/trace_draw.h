/* SPDX-License-Identifier: MIT */
/** DOC: Traces as pictures and for other programs */
#ifndef TUTTI_TOOL_TRACE_DRAW_H
#define TUTTI_TOOL_TRACE_DRAW_H

#include <stdio.h>

#include "trace_model.h"

/** trace_draw_lake() - level diagram of one placement. 0, -EIO, -ENODATA: free slots were not recorded. */
int trace_draw_lake(const struct trace_model *model, const struct trace_placement *placement, FILE *file);
/** trace_draw_time() - which CTA was on which SM, from @from to @to µs after the start. 0 or -EIO. */
int trace_draw_time(const struct trace_model *model, double from, double to, FILE *file);
/** trace_write_json() - all of it for chrome://tracing and Perfetto. 0 or -EIO. */
int trace_write_json(const struct trace_model *model, FILE *file);
/** trace_write_html() - all of it as a page for a browser. 0, -EIO; -EINVAL: the page in the program is broken. */
int trace_write_html(const struct trace_model *model, FILE *file);

#endif
