/* SPDX-License-Identifier: Apache-2.0 */
/* The rings of programs that cannot share the mark ring ("trainprof/wire/mark_ring.h"): one for
 * each Python process that emits marks, next to the shared ring. They are found by their names, and
 * each name is removed once its file is open, so that none of their files stays. */
#ifndef TRAINPROF_WIRE_MARK_FOLDER_H
#define TRAINPROF_WIRE_MARK_FOLDER_H

#include "trainprof/wire/mark_ring.h"

enum { TP_MARK_FOLDER_MAX_RINGS = 256 };

/* Members are read-only for callers. */
struct tp_mark_folder {
	char *directory;
	char *prefix; /* prefix of the names of rings */
	struct tp_mark_ring *rings[TP_MARK_FOLDER_MAX_RINGS];
	size_t n_rings;
	int64_t changed_ns; /* when names were last added or removed, according to the last search
			     */
	bool has_changed;   /* so recent that a name may have been added after that search */
	uint64_t n_quiet;   /* drains while no name can have been added recently */
	uint64_t n_taken;
	uint64_t n_lost;
	uint64_t n_refused; /* files that are not rings, rings beyond the maximum, damaged ones */
};

/* `path` is that of the shared ring. Returns 0 or ENOMEM. */
int tp_mark_folder_open(struct tp_mark_folder *folder, const char *path);

/* Finds new rings, then drains each one like tp_mark_ring_drain(). */
size_t tp_mark_folder_drain(struct tp_mark_folder *folder, bool is_last, tp_mark_fn *take,
			    void *context);

/* Releases all rings and removes files that programs left behind. */
void tp_mark_folder_close(struct tp_mark_folder *folder);

#endif
