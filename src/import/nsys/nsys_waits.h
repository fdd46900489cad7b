/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads waits for the device that nsys records separately from calls:
 * CUPTI_ACTIVITY_KIND_SYNCHRONIZATION. Calls whose name contains "Synchronize" are waits already;
 * other calls (a copy from pageable memory, a call of a driver that was not traced) get the wait as
 * a span of its own on the same thread.
 *
 * Columns and numbers: schema of exports of 2026.1, and CUpti_ActivitySynchronizationType of
 * CUPTI's documentation, both read 2026-11-22.
 */
#ifndef TRAINPROF_SRC_IMPORT_NSYS_NSYS_WAITS_H
#define TRAINPROF_SRC_IMPORT_NSYS_NSYS_WAITS_H

#include "nsys_process.h"

struct tp_nsys_waits {
	struct tp_map calls; /* process and link -> track of the call, or a special value */
};

/* Finds the calls that are waits, before calls are read. `waits` is zero-initialised. */
void tp_nsys_waits_find(struct tp_nsys_waits *waits, struct tp_nsys_processes *processes,
			struct tp_sqlite_db *db);
/* Remembers a call's track and name by its link (correlation id), so that its waits can be
 * matched. */
void tp_nsys_waits_add_call(struct tp_nsys_waits *waits, const struct tp_nsys_processes *processes,
			    const struct tp_nsys_process *process, const struct tp_span *call,
			    const char *name, size_t len);
/* Emits the waits that no call has recorded, after calls were read. Counts only those as events. */
void tp_nsys_waits_emit(struct tp_nsys_waits *waits, struct tp_nsys_processes *processes,
			struct tp_sqlite_db *db);
void tp_nsys_waits_release(struct tp_nsys_waits *waits);

#endif
