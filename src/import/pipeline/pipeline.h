/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job in pipeline stages, collected operation by operation and emitted rank by rank: the length
 * of steps, and the pairs of sends and receives, are known only when everything has been read.
 *
 *   tp_pipeline_rank(), tp_pipeline_add() in any order; once tp_pipeline_emit()
 *
 * Memory is 32 bytes for each of at most TP_PIPELINE_OPS_MAX operations.
 */
#ifndef TRAINPROF_SRC_IMPORT_PIPELINE_PIPELINE_H
#define TRAINPROF_SRC_IMPORT_PIPELINE_PIPELINE_H

#include "op_type.h"

#include "trainprof/base/arena.h"
#include "trainprof/base/map.h"
#include "trainprof/base/status.h"
#include "trainprof/model/run_info.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_import_reader;
struct tp_json_slice;

enum {
	TP_PIPELINE_OPS_MAX = 4 << 20,
	TP_PIPELINE_STEPS_MAX = 16 << 10,
	TP_PIPELINE_TYPES_MAX = 256,
};

struct tp_pipeline_op {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t step;  /* index */
	uint32_t order; /* among those of its type in the step */
	uint16_t type;  /* index */
	uint16_t rank;  /* index */
	bool is_paired; /* has a partner of the same order in the neighbouring stage */
};

struct tp_pipeline_rank {
	int64_t number;
	/* The rank's position in the job; -1 = unknown. */
	int64_t pipeline; /* rank among those of its stage */
	int64_t stage;
	int64_t tensor;
	uint64_t n_events;
	uint64_t n_skipped;
	const char *skipped_because; /* static storage */
};

/* A step of all ranks together. */
struct tp_pipeline_step {
	int64_t number;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t place_ns; /* the begin that is emitted */
	uint32_t met_as;   /* index before sorting */
};

struct tp_pipeline_type {
	const char *name;               /* in the arena */
	const struct tp_op_type *known; /* NULL = an unknown name */
};

struct tp_pipeline {
	struct tp_arena arena;
	struct tp_pipeline_rank ranks[TP_RANKS_MAX];
	size_t n_ranks;
	struct tp_map rank_ids; /* number -> index */
	bool has_more_ranks;    /* than fit */
	struct tp_pipeline_type types[TP_PIPELINE_TYPES_MAX];
	size_t n_types;
	struct tp_map step_ids;
	struct tp_pipeline_step *steps; /* heap, like ops */
	size_t n_steps;
	size_t steps_capacity;
	struct tp_pipeline_op *ops;
	size_t n_ops;
	size_t ops_capacity;
	/* Set before tp_pipeline_emit(). Without waits (they were subtracted from the times),
	 * waiting for other ranks is not emitted; with several chunks in a stage, the partners of
	 * sends are unknown. */
	bool has_waits;
	bool has_chunks;
	bool is_cut; /* the file ends in mid-document */
};

void tp_pipeline_init(struct tp_pipeline *job);
void tp_pipeline_release(struct tp_pipeline *job);

/* Returns the rank with that number, creating it if needed; NULL if there are too many. */
struct tp_pipeline_rank *tp_pipeline_rank(struct tp_pipeline *job, int64_t number);
void tp_pipeline_skip(struct tp_pipeline_rank *rank, const char *why);
/* Returns the type with that name; TP_PIPELINE_TYPES_MAX if there are too many. */
size_t tp_pipeline_type(struct tp_pipeline *job, const char *name, size_t len);
/* Adds an operation, or counts it as skipped if it is invalid or too many. `op` is complete except
 * for its rank and step. */
void tp_pipeline_add(struct tp_pipeline *job, struct tp_pipeline_rank *rank, int64_t step,
		     const struct tp_pipeline_op *op);

/* Errors  TP_PARSE: nothing useful, or more ranks than can be imported; `name` is the file's. */
TP_MUST_CHECK enum tp_status tp_pipeline_emit(struct tp_pipeline *job,
					      struct tp_import_reader *import, const char *name,
					      struct tp_error *err);

#endif
