// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The card's trace ring (include/tutti/trace.h), which one file at a time reads. Records show everybody's work. */
#include <linux/capability.h>
#include <linux/uaccess.h>

#include "card/card.h"
#include "card/gate.h"
#include "report/tracing.h"

#define TRACE_RECORDS_MAX 1024u /* of one call */

static u64 tutti_tracing_tail(struct tutti_device *tdev)
{
	return readq(tdev->window + tdev->known.status.offset + offsetof(struct tutti_status, trace_tail));
}

/* A file that has ended its trace, or is from before a reset, may still be open. */
static bool tutti_tracing_is_free(struct tutti_device *tdev, struct tutti_file *file)
{
	return !tdev->tracer || tdev->tracer == file || !readl(tutti_control_at(tdev, trace_enable)) ||
	       tdev->tracer->generation != (u64)atomic64_read(&tdev->generation);
}

static int tutti_tracing_start(struct tutti_device *tdev, struct tutti_file *file, u32 kinds)
{
	if (!tutti_tracing_is_free(tdev, file))
		return -EBUSY;
	if (kinds) {
		tdev->tracer = file;
		tdev->trace_lost = tutti_status(tdev, trace_lost);
		writeq(tutti_tracing_tail(tdev), tutti_control_at(tdev, trace_head));
	}
	writel(kinds, tutti_control_at(tdev, trace_enable));
	return 0;
}

static int tutti_tracing_allowed(struct tutti_device *tdev)
{
	if (!perfmon_capable())
		return -EACCES;
	if (!(tdev->known.features & TUTTI_FEATURE_TRACE) || tdev->known.trace.bytes < sizeof(struct tutti_trace))
		return -EOPNOTSUPP;
	return 0;
}

int tutti_tracing_start_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct tutti_device *tdev = to_tutti(drm);
	struct drm_tutti_trace_start *args = data;
	int error, index;

	if (args->pad || args->kinds >> TUTTI_TRACE_KINDS)
		return -EINVAL;
	error = tutti_gate_enter(df->driver_priv, &index);
	if (error)
		return error;
	error = tutti_tracing_allowed(tdev);
	if (!error) {
		mutex_lock(&tdev->trace_lock);
		error = tutti_tracing_start(tdev, df->driver_priv, args->kinds);
		mutex_unlock(&tdev->trace_lock);
	}
	tutti_gate_exit(df->driver_priv, index);
	return error;
}

/* The number of records taken. What the card says of its ring is not believed beyond the ring's size. */
static u32 tutti_tracing_take(struct tutti_device *tdev, struct tutti_trace *records, u32 count)
{
	u64 slots = rounddown_pow_of_two(tdev->known.trace.bytes / sizeof(*records));
	u64 head = readq(tutti_control_at(tdev, trace_head));
	u64 ready = min(tutti_tracing_tail(tdev) - head, slots);
	u32 i, n = min_t(u64, ready, count);

	rmb(); /* the count before the records that it counts */
	for (i = 0; i < n; i++, head++)
		memcpy_fromio(&records[i], tdev->window + tdev->known.trace.offset +
			      (head & (slots - 1)) * sizeof(*records), sizeof(*records));
	mb(); /* the records have been read before the card may overwrite them */
	writeq(head, tutti_control_at(tdev, trace_head));
	return n;
}

static int tutti_tracing_read(struct tutti_file *file, struct tutti_trace *records, struct drm_tutti_trace_read *args)
{
	struct tutti_device *tdev = file->tdev;
	int index, error = tutti_gate_enter(file, &index);
	u32 lost;

	if (error)
		return error;
	mutex_lock(&tdev->trace_lock);
	if (tdev->tracer == file) {
		args->count = tutti_tracing_take(tdev, records, args->count);
		lost = tutti_status(tdev, trace_lost);
		args->lost = lost - tdev->trace_lost;
		tdev->trace_lost = lost;
	} else {
		error = -EINVAL;
	}
	mutex_unlock(&tdev->trace_lock);
	tutti_gate_exit(file, index);
	return error;
}

/* By a copy: user memory may take for ever, and a reset does not wait for it. */
int tutti_tracing_read_ioctl(struct drm_device *drm, void *data, struct drm_file *df)
{
	struct drm_tutti_trace_read *args = data;
	struct drm_tutti_trace_read answer = *args;
	struct tutti_trace *records;
	int error;

	answer.count = min(args->count, TRACE_RECORDS_MAX);
	records = kvmalloc_array(TRACE_RECORDS_MAX, sizeof(*records), GFP_KERNEL_ACCOUNT);
	if (!records)
		return -ENOMEM;
	error = tutti_tracing_read(df->driver_priv, records, &answer);
	if (!error && copy_to_user(u64_to_user_ptr(args->pointer), records, answer.count * sizeof(*records)))
		error = -EFAULT;
	if (!error)
		*args = answer;
	kvfree(records);
	return error;
}

/** tutti_tracing_close() - the file goes; if it has read the trace, the card writes none any more. */
void tutti_tracing_close(struct tutti_file *file)
{
	struct tutti_device *tdev = file->tdev;
	int index;

	mutex_lock(&tdev->trace_lock);
	if (tdev->tracer == file) {
		tdev->tracer = NULL;
		if (drm_dev_enter(&tdev->drm, &index)) {
			writel(0, tutti_control_at(tdev, trace_enable));
			drm_dev_exit(index);
		}
	}
	mutex_unlock(&tdev->trace_lock);
}
