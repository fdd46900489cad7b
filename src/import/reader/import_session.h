/* SPDX-License-Identifier: Apache-2.0 */
/* One call of tp_import_files: the state shared by all readers, and the state of each reader. Files
 * are read in parallel; ranks get their index in the result when all files have been read. */
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

/* A rank and its origin. */
struct tp_import_session_rank {
	struct tp_rank_info info;
	size_t file;   /* index of the path */
	size_t number; /* number of ranks begun before it */
	size_t begun_as;
	bool is_absent; /* begun, and taken back */
};

/* `lock` protects everything except the members that are set before the readers start. */
struct tp_import_session {
	pthread_mutex_t lock;
	struct tp_sink *sink;
	struct tp_arena *arena; /* for texts of ranks: the result's */
	const struct tp_import_options *options;
	/* In the order in which they were begun, except for reused places. Tracks refer to ranks by
	 * their index here until everything has been read. Heap, TP_RANKS_MAX of them from the
	 * first on, so that they never move. */
	struct tp_import_session_rank *ranks;
	size_t n_ranks;
	size_t n_begun;
	struct tp_track *tracks; /* as emitted to the sink, by id */
	size_t n_tracks;
	size_t tracks_capacity;
	uint32_t n_tasks;          /* tasks emitted to the sink */
	uint64_t n_thread_records; /* stays and samples of those tasks */
	uint64_t first_ns;         /* UINT64_MAX = no records */
	uint64_t last_ns;
};

/* State of reading one file; opaque to importers, which know only the name struct
 * tp_import_reader. */
struct tp_import_reader {
	struct tp_import_session *session;
	size_t file;
	const struct tp_import_source *source;
	const char *format;
};

#endif
