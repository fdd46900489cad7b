/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast the target gets on while it runs: what it does once, or a fixed number of times, in each
 * step, counted from the records that all sources put, and from ends of ranges. Only rates of one
 * and the same series are ever compared, so a series need not be steps.
 *
 * CPU time is none of them: a thread that launches kernels is on its CPU all the time, whether it
 * launches many or few.
 */
#ifndef TRAINPROF_SRC_COLLECT_GPU_TRACE_PROGRESS_RATE_H
#define TRAINPROF_SRC_COLLECT_GPU_TRACE_PROGRESS_RATE_H

#include "trainprof/model/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The better the earlier: by how directly it tells steps. */
enum tp_progress_kind {
	TP_PROGRESS_STEPS,  /* marks of the program: exact */
	TP_PROGRESS_RANGES, /* ends of NVTX ranges of one name that are told also between windows */
	TP_PROGRESS_COUNTER, /* a variable of a Python loop that counts: read now and then */
	TP_PROGRESS_TRAFFIC, /* of GPU memory, by GPM: the same in each step, whatever it is */
	TP_N_PROGRESS_KINDS
};

/* "its steps", "its NVTX ranges", … */
const char *tp_progress_name(enum tp_progress_kind kind);

/* Of all kinds together: each has an equal share. What comes later is not counted. */
enum { TP_PROGRESS_SERIES = 64 };

struct tp_progress_point {
	uint64_t time_ns;
	double count; /* reached at that time */
};

struct tp_progress_series {
	enum tp_progress_kind kind;
	uint64_t key; /* of the kind: task, name, device */
	double count;
	double last_value; /* of a counter */
	uint64_t last_ns;
	struct tp_progress_point *points; /* a ring; heap */
	size_t n;                         /* points ever, of which the last ones are kept */
};

/* Zero-initialised is empty and valid. */
struct tp_progress {
	struct tp_progress_series series[TP_PROGRESS_SERIES];
	size_t n;
};

void tp_progress_release(struct tp_progress *progress);
/* Take up a record. */
void tp_progress_add_record(struct tp_progress *progress, const struct tp_record *record);
/*
 * Take up the end of a range that the program names on a track; of names that differ in a number
 * at their end ("ProfilerStep#12") all count as one. Only of ranges that are always told: in spans
 * there are more of a name while the GPU is traced, and it would seem to get on faster.
 */
void tp_progress_add_range(struct tp_progress *progress, const char *name, uint32_t track,
			   uint64_t end_ns);

/* Over a stretch, from the first point in it to the last. */
struct tp_progress_rate {
	double count_ns;     /* that one count takes */
	double spread_ratio; /* standard deviation of a single one over that */
	double n;            /* counts behind it */
	uint64_t from_ns;
	uint64_t to_ns;
};

/* Of the usual counts, those aside that took twice as long as most. False: too few points lie in
 * [from, to] (three are needed, and a count between them). */
bool tp_progress_typical_rate(const struct tp_progress_series *series, uint64_t from_ns,
			      uint64_t to_ns, struct tp_progress_rate *out);
/* Of all counts, from the last point at or before `from` to the first at or after `to`. False:
 * there are none. */
bool tp_progress_total_rate(const struct tp_progress_series *series, uint64_t from_ns,
			    uint64_t to_ns, struct tp_progress_rate *out);
/* The series that tells steps, of several the one with most; NULL: none does. */
const struct tp_progress_series *tp_progress_steps(const struct tp_progress *progress);

#endif
