/* SPDX-License-Identifier: Apache-2.0 */
/* Maps the processes and threads of a trace, numbers or texts, to the tracks that contain their
 * spans. Threads of different processes are always distinct, even with the same number. */
#ifndef TRAINPROF_SRC_IMPORT_READER_THREAD_MAP_H
#define TRAINPROF_SRC_IMPORT_READER_THREAD_MAP_H

#include "category.h"
#include "import/json/json_walk.h"
#include "rank_writer.h"

#include "trainprof/base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An event that has begun. */
struct tp_open_event {
	uint64_t start_ns;
	uint32_t name;
	struct tp_category category;
	bool is_kept;
};

struct tp_thread {
	int64_t pid; /* the number, or one below TP_THREAD_TEXT for a text */
	int64_t tid;
	uint16_t track;             /* TP_NO_TRACK = not requested yet */
	uint32_t name;              /* string of the writer; 0 = the trace has none */
	uint64_t n_spans;           /* counted by the caller */
	struct tp_open_event *open; /* heap: the innermost last */
	size_t n_open;
	size_t open_capacity;
	uint32_t next; /* with the same hash, plus one */
};

enum { TP_THREADS_RECENT = 32 };

/* A thread that was found before, by the digits of both its numbers. */
struct tp_thread_digits {
	uint64_t pid; /* up to eight bytes of text; 0 = of none */
	uint64_t tid;
	uint32_t index;
};

struct tp_thread_map {
	struct tp_rank_writer *writer;
	struct tp_thread *items; /* heap, in order of appearance */
	size_t n_items;
	size_t items_capacity;
	struct tp_map ids;                  /* hash of both -> index plus one */
	struct tp_map numbers;              /* track numbers in use */
	int64_t next_number;                /* for threads without one of their own: -1, -2 … */
	uint32_t recent[TP_THREADS_RECENT]; /* index of one found before, by both numbers */
	struct tp_thread_digits digits[TP_THREADS_RECENT];
	struct tp_buf scratch;
};

/* Texts are represented by numbers below it. */
#define TP_THREAD_TEXT (INT64_MIN + (INT64_C(1) << 32))

void tp_thread_map_init(struct tp_thread_map *map, struct tp_rank_writer *writer);
void tp_thread_map_release(struct tp_thread_map *map);

/* Returns the thread, creating it if needed; NULL if there are too many. Borrowed until the next
 * call. */
struct tp_thread *tp_thread_map_find(struct tp_thread_map *map, const struct tp_json_slice *pid,
				     const struct tp_json_slice *tid);
/* Returns the thread's track, creating it if needed. */
uint16_t tp_thread_map_track(struct tp_thread_map *map, struct tp_thread *thread);
/* Names all tracks "PROCESS/THREAD", for tools that may name threads alike in each process.
 * `process_names` maps the number of a process to a string of the writer. */
void tp_thread_map_name_lanes(const struct tp_thread_map *map, const struct tp_map *process_names);

/* Counts events that have begun and not ended as skipped. */
void tp_thread_map_skip_open(const struct tp_thread_map *map);
/* Returns the process with the most spans on its threads; 0 = none has a number. */
int64_t tp_thread_map_main_pid(const struct tp_thread_map *map);

#endif
