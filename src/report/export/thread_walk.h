/* SPDX-License-Identifier: Apache-2.0 */
/* The time of threads, piece by piece, as exporters write it. */
#ifndef TRAINPROF_SRC_REPORT_EXPORT_THREAD_WALK_H
#define TRAINPROF_SRC_REPORT_EXPORT_THREAD_WALK_H

#include "trainprof/model/profile.h"

enum { TP_EXPORT_NO_STEP = -1 };

/* A stretch of one thread in which nothing changes; of the main thread within one step. */
struct tp_export_piece {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t task;
	uint32_t stack; /* 0 = not known */
	enum tp_state state;
	enum tp_cause cause;
	enum tp_label label; /* main thread only; else TP_N_LABELS */
	bool is_of_device;   /* a device works meanwhile, and the label is of that */
	bool is_known;       /* else nothing was seen of the thread */
	bool is_judged;      /* the parts of the report are made of it; main thread only */
	int64_t step;        /* index into profile->steps; TP_EXPORT_NO_STEP */
};

typedef void tp_export_callback(void *context, const struct tp_export_piece *piece);

/*
 * Pieces of a thread in order of time. The main thread's cover each judged step, or the judged
 * window, without holes: where nothing is known of it, they are idle.unknown. So their labels sum
 * to profile->label_ns, unless devices have parts of their own (profile->n_devices).
 */
void tp_export_walk_thread(const struct tp_profile *profile, uint32_t task,
			   tp_export_callback *visit, void *context);

/* Whether anything is known of it. */
bool tp_export_has_thread(const struct tp_profile *profile, uint32_t task);

#endif
