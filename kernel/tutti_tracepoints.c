// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The bodies of the tracepoints of tutti_trace.h. */
#define CREATE_TRACE_POINTS
#include "tutti_trace.h"
