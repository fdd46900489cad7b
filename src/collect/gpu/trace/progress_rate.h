/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the target's rate of progress: counts something that it does once, or a fixed number of
 * times, per step, from the records of all sources and from ends of ranges. Rates are compared only
 * within one series, so a series need not be steps.
 *
 * CPU time is not a series: a thread that launches kernels is on its CPU all the time, whether it
 * launches many or few.
 */
#ifndef TRAINPROF_SRC_COLLECT_GPU_TRACE_PROGRESS_RATE_H
#define TRAINPROF_SRC_COLLECT_GPU_TRACE_PROGRESS_RATE_H

#include "trainprof/model/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In order of preference: how directly it shows steps. */
enum tp_progress_kind {
	TP_PROGRESS_STEPS,   /* marks of the program: exact */
	TP_PROGRESS_RANGES,  /* ends of NVTX ranges of one name that are also recorded between
				windows */
	TP_PROGRESS_COUNTER, /* a counting variable of a Python loop, read from time to time */
	TP_PROGRESS_TRAFFIC, /* GPU memory traffic from GPM: the same in each step */
	TP_N_PROGRESS_KINDS
};

/* "its steps", "its NVTX ranges", … */
const char *tp_progress_name(enum tp_progress_kind kind);

/* Over all kinds, which have equal shares. Later ones are not counted. */
enum { TP_PROGRESS_SERIES = 64 };

struct tp_progress_point {
	uint64_t time_ns;
	double count; /* count reached at that time */
};

struct tp_progress_series {
	enum tp_progress_kind kind;
	uint64_t key; /* depends on the kind: task, name, device */
	double count;
	double last_value; /* for a counter */
	uint64_t last_ns;
	struct tp_progress_point *points; /* ring buffer; heap */
	size_t n;                         /* points ever added, of which the last ones are kept */
};

/* Zero-initialised is empty and valid. */
struct tp_progress {
	struct tp_progress_series series[TP_PROGRESS_SERIES];
	size_t n;
};

void tp_progress_release(struct tp_progress *progress);
/* Adds a record. */
void tp_progress_add_record(struct tp_progress *progress, const struct tp_record *record);
/* Adds the end of a named range on a track; names that differ only in a number at their end
 * ("ProfilerStep#12") count as one. Only for ranges that are always recorded: others are more
 * frequent while the GPU is traced, which would look like faster progress. */
void tp_progress_add_range(struct tp_progress *progress, const char *name, uint32_t track,
			   uint64_t end_ns);

/* Over a stretch, from its first point to its last. */
struct tp_progress_rate {
	double count_ns;     /* time per count */
	double spread_ratio; /* standard deviation of a single count relative to it */
	double n;            /* number of counts */
	uint64_t from_ns;
	uint64_t to_ns;
};

/* The rate of typical counts, without those that took twice as long as most. False: too few points
 * in [from, to] (three are needed, and a count between them). */
bool tp_progress_typical_rate(const struct tp_progress_series *series, uint64_t from_ns,
			      uint64_t to_ns, struct tp_progress_rate *out);
/* The rate of all counts, from the last point at or before `from` to the first at or after `to`.
 * False: there are none. */
bool tp_progress_total_rate(const struct tp_progress_series *series, uint64_t from_ns,
			    uint64_t to_ns, struct tp_progress_rate *out);
/* The series that shows steps, or the one with the most points if there are several; NULL =
 * none. */
const struct tp_progress_series *tp_progress_steps(const struct tp_progress *progress);

#endif
