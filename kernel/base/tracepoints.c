// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The bodies of the tracepoints of base/trace.h. */
#define CREATE_TRACE_POINTS
#include "base/trace.h"
