/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of an export, and those of them that are ranks. */
#ifndef TRAINPROF_SRC_IMPORT_NSYS_NSYS_PROCESS_H
#define TRAINPROF_SRC_IMPORT_NSYS_NSYS_PROCESS_H

#include "import/reader/rank_writer.h"
#include "import/sqlite/sqlite_db.h"
#include "nsys_names.h"

#include "trainprof/base/map.h"

#include <stdbool.h>
#include <stdint.h>

/* globalTid contains, from the lowest bit on, 24 bits of thread and 24 of process, the rest
 * identifies the machine; globalPid is the same without a thread. Source: "Serialized process and
 * thread identifiers", docs.nvidia.com/nsight-systems, 2021.5, read 2026-11-22; and the exports
 * tested. */
static inline uint64_t tp_nsys_process_key(int64_t global)
{
	return (uint64_t)global >> 24;
}

static inline int64_t tp_nsys_pid(uint64_t key)
{
	return (int64_t)(key & 0xffffff);
}

static inline int64_t tp_nsys_tid(int64_t global)
{
	return global & 0xffffff;
}

/* Times are ns of the session, seldom negative; beyond 146 years they are damage. */
#define TP_NSYS_TIME_MAX (INT64_C(1) << 62)

/* Maximum number of processes; a machine has fewer, and a file with more is hostile. */
enum { TP_NSYS_PROCESSES_MAX = 1 << 16 };

/* Kinds of tables in which a process has rows. */
enum tp_nsys_activity {
	TP_NSYS_DEVICE_WORK = 1,
	TP_NSYS_CALLS = 2,
	TP_NSYS_RANGES = 4,
	TP_NSYS_OS_CALLS = 8,
};

struct tp_nsys_process {
	uint64_t key;                  /* machine and process */
	unsigned does;                 /* enum tp_nsys_activity, ORed */
	struct tp_rank_writer *writer; /* NULL = not a rank */
	struct tp_rank_info *info;
	struct tp_nsys_naming naming;
	struct tp_map tracks; /* tid, or device and stream -> track */
	uint64_t last_track_key;
	uint16_t last_track; /* TP_NO_TRACK = none yet */
	struct tp_map wide_links;
	uint32_t *copy_names; /* by kinds; 0 = not requested yet */
};

/* Zero-initialised is empty and valid. */
struct tp_nsys_processes {
	struct tp_nsys_process *items;
	size_t n;
	size_t capacity;
	struct tp_map indices; /* key -> index */
	size_t last;           /* index found last */
	size_t n_ranks;
	size_t first_rank;    /* if n_ranks > 0 */
	struct tp_map owners; /* link of a call -> index, for device work without a process */
	int64_t earliest_ns;  /* earliest start in any table; at most 0 */
	uint64_t n_ownerless; /* rows of device work without a process */
};

/* Finds the processes and those that are ranks: processes with device work; if there are none,
 * those with calls; if there are none, those with ranges. Sorts them by key and begins the
 * ranks. */
void tp_nsys_processes_scan(struct tp_nsys_processes *processes, struct tp_sqlite_db *db,
			    struct tp_import_reader *import);
void tp_nsys_processes_release(struct tp_nsys_processes *processes);

/* Returns the rank that a row belongs to: `owner` is a globalPid or globalTid, `link` the
 * correlation id (may be NULL). Returns NULL if it belongs to no rank; `is_known` is true if it
 * belongs to another process. */
struct tp_nsys_process *tp_nsys_processes_owner(struct tp_nsys_processes *processes,
						const struct tp_sqlite_cell *owner,
						const struct tp_sqlite_cell *link, bool *is_known);

/* Keys of tracks. Streams have numbers of 32 bits; the bit above both distinguishes them from
 * threads. */
static inline uint64_t tp_nsys_thread_key(int64_t global)
{
	return (uint64_t)tp_nsys_tid(global);
}

static inline uint64_t tp_nsys_stream_key(int32_t device, int64_t stream)
{
	return UINT64_C(1) << 63 | (uint64_t)device << 32 | (uint32_t)stream;
}

/* Returns TP_TRACK_THREAD for the key of a thread. */
static inline int32_t tp_nsys_track_device(uint64_t key)
{
	return key >> 63 ? (int32_t)(key >> 32 & INT32_MAX) : TP_TRACK_THREAD;
}

uint16_t tp_nsys_thread_track(struct tp_nsys_process *process, int64_t global);
uint16_t tp_nsys_stream_track(struct tp_nsys_process *process, int32_t device, int64_t stream);
/* Returns the link of a correlation id: the id itself if it fits, as in CUPTI; larger ids get links
 * counted down from the maximum. */
uint32_t tp_nsys_link(struct tp_nsys_process *process, int64_t correlation);

#endif
