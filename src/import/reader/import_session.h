/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of tp_import_files: what all readers share, and what each reader has of its own. Files
 * are read at the same time; ranks get their places in the result when all have been read.
 */
#ifndef TRAINPROF_SRC_IMPORT_READER_IMPORT_SESSION_H
#define TRAINPROF_SRC_IMPORT_READER_IMPORT_SESSION_H

#include "trainprof/base/arena.h"
#include "trainprof/import/import.h"
#include "trainprof/model/run_info.h"
#include "trainprof/model/sink.h"
#include "trainprof/model/span.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_import_source;

/* A rank, and where it belongs. */
struct tp_import_session_rank {
	struct tp_rank_info info;
	size_t file;   /* index of the path */
	size_t number; /* how many were begun before */
	size_t begun_as;
	bool is_absent; /* begun, and taken back */
};

/* `lock` guards all of it, but for what is told before the readers start. */
struct tp_import_session {
	pthread_mutex_t lock;
	struct tp_sink *sink;
	struct tp_arena *arena; /* for texts of ranks: the result's */
	const struct tp_import_options *options;
	/* In order of their begin. Tracks name them by their place here until all is read. */
	struct tp_import_session_rank ranks[TP_RANKS_MAX];
	size_t n_ranks;
	size_t n_begun;
	struct tp_track *tracks; /* as told to the sink, by id */
	size_t n_tracks;
	size_t tracks_capacity;
	uint32_t n_tasks;          /* told to the sink */
	uint64_t n_thread_records; /* stays and samples of those */
	uint64_t first_ns;         /* UINT64_MAX with nothing */
	uint64_t last_ns;
};

/* A reader at work on one file; what readers of formats know as struct tp_import_reader. */
struct tp_import_reader {
	struct tp_import_session *session;
	size_t file;
	const struct tp_import_source *source;
	const char *format;
};

#endif
