// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <linux/fs.h>
const struct file_operations probe = { .fop_flags = FOP_UNSIGNED_OFFSET };
