/* SPDX-License-Identifier: Apache-2.0 */
/* Time by thread, stack and part: the data of flame graphs. */
#ifndef TRAINPROF_SRC_REPORT_EXPORT_WEIGHTS_H
#define TRAINPROF_SRC_REPORT_EXPORT_WEIGHTS_H

#include "thread_walk.h"

#include "trainprof/base/buf.h"
#include "trainprof/model/profile.h"

#define TP_EXPORT_NO_DEVICE UINT32_MAX

/* Time of threads in the judged window; of the main thread and of devices in the judged steps. */
struct tp_export_weight {
	uint32_t task;   /* thread; TP_NO_TASK for a device */
	uint32_t device; /* index into profile->devices; TP_EXPORT_NO_DEVICE for a thread */
	uint32_t stack;  /* 0 = not known */
	enum tp_state state;
	enum tp_cause cause;
	enum tp_label label; /* TP_N_LABELS: none, or only the part is known */
	enum tp_part part;   /* TP_N_PARTS: not in a part of the report */
	int64_t step;        /* index into profile->steps; TP_EXPORT_NO_STEP */
	uint64_t n;          /* number of time intervals */
	uint64_t time_ns;
};

struct tp_export_weights {
	struct tp_export_weight *items; /* heap; in order of tasks, then of devices, by time */
	size_t n;
	size_t capacity;
};

/* The sums over a part equal profile->parts[].time_ns. Separate for each step, or over all
 * steps. */
void tp_export_weights_build(struct tp_export_weights *out, const struct tp_profile *profile,
			     bool by_step);
void tp_export_weights_release(struct tp_export_weights *weights);

/* "python3 (4711)", "rank 0"; "main", "loader", "pool-1 (4713)", "GPU 0";
 * "[dataloader.prep]", "" without a part; "[waits: pipe]", "" on a CPU. */
void tp_export_add_process(struct tp_buf *out, const struct tp_profile *profile,
			   const struct tp_export_weight *weight);
void tp_export_add_thread(struct tp_buf *out, const struct tp_profile *profile,
			  const struct tp_export_weight *weight);
void tp_export_add_part(struct tp_buf *out, const struct tp_export_weight *weight);
void tp_export_add_wait(struct tp_buf *out, enum tp_state state, enum tp_cause cause);

/* "on_cpu", "runnable", "off_cpu" or "device". */
const char *tp_export_state(const struct tp_export_weight *weight);

/* The role of a thread in the profile; TP_THREAD_OTHER if it has none. */
enum tp_thread_role tp_export_role(const struct tp_profile *profile, uint32_t task);

#endif
