/* SPDX-License-Identifier: Apache-2.0 */
/* Stores the segments of one thread that have a sample, by kind and length, to find a similar one
 * for a segment without a sample. */
#ifndef TRAINPROF_SRC_ANALYZE_TIMELINE_SEGMENT_STRATA_H
#define TRAINPROF_SRC_ANALYZE_TIMELINE_SEGMENT_STRATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Runs before a preemption, for instance by a thread that was just woken, differ from runs before a
 * wait. Probes of a wait that ended during the probe have a cause, but no stack. */
enum tp_segment_kind {
	TP_SEGMENT_RUN,
	TP_SEGMENT_RUN_PREEMPTED,
	TP_SEGMENT_WAIT,
	TP_SEGMENT_WAIT_NO_STACK,
	TP_N_SEGMENT_KINDS
};

/* Another property that separates segments: groups that the caller numbers from 0. */
enum {
	TP_N_SEGMENT_GROUPS = 3,
	TP_ANY_SEGMENT_GROUP = TP_N_SEGMENT_GROUPS /* only to search, not to add */
};

enum { TP_N_STRATA = 64 }; /* powers of two of the length in ns */

struct tp_segment_hit {
	uint64_t time_ns;
	uint32_t sample;
};

/* Heap, in time order. */
struct tp_segment_hits {
	struct tp_segment_hit *items;
	size_t n;
	size_t capacity;
};

/* Zero-initialised, except for the border. A segment after the border never represents one before
 * it; the other way round only if there is no other. 0 = no border. */
struct tp_strata {
	uint64_t border_ns;
	size_t n_hits[TP_N_SEGMENT_KINDS][TP_N_SEGMENT_GROUPS];
	struct tp_segment_hits hits[TP_N_SEGMENT_KINDS][TP_N_SEGMENT_GROUPS][TP_N_STRATA];
};

/* Returns the substitute for a kind without samples. */
enum tp_segment_kind tp_segment_kind_other(enum tp_segment_kind kind);

/* The properties by which segments are compared. */
struct tp_segment_key {
	enum tp_segment_kind kind;
	int group;
	uint64_t start_ns;
	uint64_t length_ns;
};

/* Segments must be added in time order. */
void tp_strata_add(struct tp_strata *strata, const struct tp_segment_key *stay, uint32_t sample);
/* Returns the sample of the most similar segment of that kind: closest length, shorter ones first,
 * and among those the nearest in time. A different group counts like a length that differs by a
 * factor of eight. Returns TP_NO_SAMPLE if none of the kind has a sample. */
uint32_t tp_strata_find_similar(const struct tp_strata *strata, const struct tp_segment_key *stay);
/* Returns true if a segment of that kind and group has a sample. */
bool tp_strata_has(const struct tp_strata *strata, enum tp_segment_kind kind, int group);
void tp_strata_release(struct tp_strata *strata);

#endif
