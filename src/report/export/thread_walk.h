/* SPDX-License-Identifier: Apache-2.0 */
/* The time of threads in pieces, as exporters write it. */
#ifndef TRAINPROF_SRC_REPORT_EXPORT_THREAD_WALK_H
#define TRAINPROF_SRC_REPORT_EXPORT_THREAD_WALK_H

#include "trainprof/model/profile.h"

enum { TP_EXPORT_NO_STEP = -1 };

/* A period of one thread in which nothing changes; for the main thread within one step. */
struct tp_export_piece {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t task;
	uint32_t stack; /* 0 = not known */
	enum tp_state state;
	enum tp_cause cause;
	enum tp_label label; /* main thread only; else TP_N_LABELS */
	bool is_of_device;   /* a device works meanwhile, and the label is the device's */
	bool is_known;       /* false = nothing was recorded about the thread */
	bool is_judged;      /* the parts of the report include it; main thread only */
	int64_t step;        /* index into profile->steps; TP_EXPORT_NO_STEP */
};

typedef void tp_export_callback(void *context, const struct tp_export_piece *piece);

/* Visits the pieces of a thread in order of time. Those of the main thread cover each judged step,
 * or the judged window, without gaps: unknown time is idle.unknown. So their labels sum to
 * profile->label_ns, unless devices have parts of their own (profile->n_devices). */
void tp_export_walk_thread(const struct tp_profile *profile, uint32_t task,
			   tp_export_callback *visit, void *context);

/* True if anything is known about the thread. */
bool tp_export_has_thread(const struct tp_profile *profile, uint32_t task);

#endif
