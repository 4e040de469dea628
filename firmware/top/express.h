/* SPDX-License-Identifier: MIT */
/** DOC: The short way of a kernel, from its last completion to the launch of the next one */
#ifndef EXPRESS_H
#define EXPRESS_H

#include "core/base.h"

/** express_event_cta() - CTAs of one task have completed. */
void express_event_cta(const struct tutti_event *event);
/** express_event_cga() - CTAs of a CGA with an identity have completed. */
void express_event_cga(const struct tutti_event *event);

#endif
