/* SPDX-License-Identifier: Apache-2.0 */
/* Reads samples of threads, and the stacks that were taken as a thread lost its CPU. */
#include "nsys_samples.h"

static const char table[] = "COMPOSITE_EVENTS";

enum { ID, START, OWNER, STATE, CPU, CYCLES, N_COLUMNS };
static const char *const columns[N_COLUMNS] = {"id",  "start|timestamp", "globalTid", "threadState",
					       "cpu", "cpuCycles"};

/* True if some samples were taken by the clock of CPU cycles. Then those that were not were taken
 * at switches; if none was, all of them were taken by another clock. */
static bool has_clock(struct tp_sqlite_db *db)
{
	static const char *const cycles[] = {"cpuCycles"};
	struct tp_sqlite_rows *rows = tp_sqlite_rows_open(db, table, cycles, 1);
	const struct tp_sqlite_cell *cells;
	bool has_any = false;
	while (!has_any && rows && (cells = tp_sqlite_rows_next(rows)))
		has_any = cells[0].number != 0;
	tp_sqlite_rows_close(rows);
	return has_any;
}

/* ENUM_SAMPLING_THREAD_STATE; any other state is running or unknown. */
static enum tp_state state_of(const struct tp_sqlite_cell *cell)
{
	enum { SLEEPS = 2, SLEEPS_UNINTERRUPTIBLE = 3, STOPPED = 4, UNSCHEDULED = 6, WAITS = 7 };
	switch (cell->number) {
	case SLEEPS:
	case SLEEPS_UNINTERRUPTIBLE:
	case STOPPED:
	case WAITS:
		return TP_STATE_BLOCKED;
	case UNSCHEDULED:
		return TP_STATE_RUNNABLE;
	default:
		return TP_STATE_ON_CPU;
	}
}

void tp_nsys_samples_read(const struct tp_nsys_stacks *stacks, struct tp_nsys_threads *threads)
{
	bool is_clocked = has_clock(threads->db);
	struct tp_sqlite_rows *rows = tp_sqlite_rows_open(threads->db, table, columns, N_COLUMNS);
	const struct tp_sqlite_cell *cells;
	while (rows && (cells = tp_sqlite_rows_next(rows))) {
		struct tp_nsys_row row;
		if (!tp_nsys_threads_place(threads, &cells[OWNER], &cells[START], &row))
			continue;
		enum tp_state state = state_of(&cells[STATE]);
		/* Taken as the thread lost or got a CPU: not an instant chosen by a clock. It shows
		 * where a wait began, but does not stand for time on a CPU. */
		if (is_clocked && cells[CYCLES].type == TP_SQLITE_INTEGER &&
		    !cells[CYCLES].number) {
			if (state == TP_STATE_ON_CPU)
				continue;
			state = TP_STATE_BLOCKED;
		}
		uint32_t cpu = cells[CPU].number > 0 && cells[CPU].number < UINT16_MAX
				       ? (uint32_t)cells[CPU].number
				       : 0;
		tp_thread_emitter_sample(threads->emitter, row.thread, row.time_ns, state, 0,
					 tp_nsys_stacks_find(stacks, &cells[ID]), cpu);
	}
	tp_sqlite_rows_close(rows);
}
