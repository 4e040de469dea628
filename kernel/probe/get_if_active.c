// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <linux/pm_runtime.h>
int probe(struct device *d);
int probe(struct device *d) { return pm_runtime_get_if_active(d); }
