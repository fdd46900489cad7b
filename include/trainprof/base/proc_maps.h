/* SPDX-License-Identifier: Apache-2.0 */
/* The mappings of a process, from /proc/PID/maps (proc(5)). Addresses and sizes in bytes. */
#ifndef TRAINPROF_BASE_PROC_MAPS_H
#define TRAINPROF_BASE_PROC_MAPS_H

#include "trainprof/base/buf.h"
#include "trainprof/base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* One mapping, as reported by PERF_RECORD_MMAP2 or a line of /proc/PID/maps. */
struct tp_mapping {
	uint64_t start;
	uint64_t size;
	uint64_t file_offset;
	uint64_t inode; /* 0 = no file, or unknown (record with a build-id) */
	uint32_t dev_major;
	uint32_t dev_minor;
	bool is_executable;
	const char *path; /* borrowed; "" or NULL = none */
};

/* Reads PROC/PID/maps whole; `proc` is "/proc" or the folder of a recorded one. The caller releases
 * `out`. Errors  TP_ABSENT (gone), TP_DENIED, TP_PARSE (larger than 64 MiB), TP_IO. */
TP_MUST_CHECK enum tp_status tp_proc_maps_read(struct tp_buf *out, const char *proc, pid_t pid,
					       struct tp_error *err);

/* Parses the next mapping from a text of that form and advances *text past its line; lines that are
 * no mapping are skipped. The text is split in place: out->path points into it. Returns false at
 * its end, or if *text is NULL. */
bool tp_proc_maps_next(char **text, struct tp_mapping *out);

#endif
