// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <linux/eventfd.h>
void probe(struct eventfd_ctx *c);
void probe(struct eventfd_ctx *c) { eventfd_signal(c); }
