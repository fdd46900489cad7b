/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns traces of other tools into records of our own: those of PyTorch's profiler, nsys, XProf,
 * rocprofv3, rocmProfileData, Ascend's profiler, TensorFlow 1 and Horovod, and timelines of
 * pipeline jobs.
 */
#ifndef TRAINPROF_IMPORT_IMPORT_H
#define TRAINPROF_IMPORT_IMPORT_H

#include "trainprof/base/arena.h"
#include "trainprof/base/status.h"
#include "trainprof/model/run_info.h"
#include "trainprof/model/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A format that can be read, for `import --list`. Static storage. */
struct tp_import_format_info {
	const char *name;    /* "kineto" */
	const char *summary; /* one line */
	const char *keeps;   /* what becomes spans */
	const char *loses;   /* what it cannot contain, or what is left out */
	const char *threads; /* information about threads besides spans; NULL = never any */
};

/* The n-th format in listing order; NULL after the last. */
const struct tp_import_format_info *tp_import_format_info(size_t n);

struct tp_import_options {
	const char *format;      /* name of the only format to try; NULL = detect it */
	const char *device_lane; /* pattern of lanes of devices, for JSON of unknown tools; NULL =
				    none */
	bool keeps_python;  /* all Python functions; otherwise the outermost of each thread only */
	unsigned n_threads; /* ranks read in parallel; 0 = as many as CPUs are allowed */
};

/* The result; texts live in `arena`. */
struct tp_import_result {
	struct tp_arena arena;
	struct tp_rank_info *ranks; /* by number if each has a distinct one; else by file, then
				       member or process */
	size_t n_ranks;
	/* Earliest start and latest end of everything known: spans, stays on CPUs, samples; both 0
	 * if there is nothing. */
	uint64_t first_ns;
	uint64_t last_ns;
	uint32_t n_tasks;          /* threads with stays or samples */
	uint64_t n_thread_records; /* their stays and samples */
};

/*
 * Reads files, each with the trace of one or more ranks, into the sink. Sources are streamed:
 * memory does not grow with them, except for distinct names, and for a pipeline job's operations,
 * of which at most 4 Mi are kept.
 *
 * Errors  those of the first file without usable content (TP_ABSENT, TP_DENIED, TP_IO, TP_PARSE),
 *         or TP_PARSE for files of different tools, with what to type in err->next; the sink may
 *         hold earlier records. Malformed entries in a file are skipped and counted in its ranks.
 * Thread  starts threads of its own; they use the sink one at a time and not after return.
 */
TP_MUST_CHECK enum tp_status tp_import_files(struct tp_import_result *out, const char *const *paths,
					     size_t n_paths,
					     const struct tp_import_options *options,
					     struct tp_sink *sink, struct tp_error *err);
void tp_import_result_release(struct tp_import_result *result);

#endif
