/* SPDX-License-Identifier: MIT */
/** DOC: The short way from the end of a kernel's last CTAs to the launch of the next kernel */
#ifndef EXPRESS_H
#define EXPRESS_H

#include "core/base.h"

/** express_event_cta() - handle an event CTA, with @head as its word 0: CTAs of one task have completed. */
void express_event_cta(const struct tutti_event *event, uint32_t head);
/** express_event_cga() - handle an event CGA: CTAs of a CGA with an identity have completed. */
void express_event_cga(const struct tutti_event *event);

#endif
