/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs the switches of each thread. */
#include "nsys_switches.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { START, CPU, IS_IN, OWNER, STATE, N_COLUMNS };
/* Until 2021 there is no state. */
static const char *const columns[N_COLUMNS] = {"start|timestamp", "cpu", "isSchedIn", "globalTid",
					       "threadState"};

struct switch_event {
	uint64_t time_ns;
	uint32_t cpu;
	uint16_t thread;
	uint8_t is_in;
	uint8_t how; /* enum tp_run_end, for switches out */
};

/* The last switch of a thread. */
struct pairing {
	uint64_t since_ns;
	uint32_t cpu;
	bool is_known;
	bool is_on;
};

struct switch_reading {
	struct tp_nsys_threads *threads;
	struct pairing *pairings; /* by thread */
	size_t n_pairings;
	size_t pairings_capacity;
	struct switch_event *events;
	size_t n_events;
	size_t events_capacity;
	uint64_t paired_until_ns;
	uint64_t last_ns;
	bool is_in_order;
};

/* ENUM_SAMPLING_THREAD_STATE: 1 running and 6 unscheduled want the CPU that they lost; 2 and 3
 * sleep, 4 is stopped, 7 waits, 8 is in the system's runtime; 5 has ended. */
static enum tp_run_end how_of(const struct tp_sqlite_cell *state)
{
	static const uint8_t hows[] = {TP_RUN_OPEN,      TP_RUN_PREEMPTED, TP_RUN_BLOCKED,
				       TP_RUN_BLOCKED,   TP_RUN_BLOCKED,   TP_RUN_EXITED,
				       TP_RUN_PREEMPTED, TP_RUN_BLOCKED,   TP_RUN_BLOCKED};
	if (state->type != TP_SQLITE_INTEGER || state->number < 0 ||
	    state->number >= (int64_t)TP_ARRAY_LEN(hows))
		return TP_RUN_OPEN;
	return (enum tp_run_end)hows[state->number];
}

/* ---- pairing ------------------------------------------------------------------------------- */

static struct pairing *pairing_of(struct switch_reading *reading, uint16_t thread)
{
	while (reading->n_pairings <= thread)
		TP_ARRAY_PUSH(reading->pairings, reading->n_pairings, reading->pairings_capacity) =
			(struct pairing){0};
	return &reading->pairings[thread];
}

static void run_emit(struct switch_reading *reading, uint16_t thread, uint64_t start_ns,
		     uint64_t end_ns, enum tp_run_end how, uint32_t cpu)
{
	if (end_ns > start_ns)
		tp_thread_emitter_run(reading->threads->emitter, thread, start_ns, end_ns, how,
				      cpu);
}

static void pair_in(struct switch_reading *reading, struct pairing *pairing,
		    const struct switch_event *event)
{
	/* The time and the reason of its switch out are lost. */
	if (pairing->is_on) {
		tp_nsys_threads_skip(reading->threads, "a switch has no counterpart");
		run_emit(reading, event->thread, pairing->since_ns,
			 pairing->since_ns + (event->time_ns > pairing->since_ns), TP_RUN_OPEN,
			 pairing->cpu);
	}
	*pairing = (struct pairing){event->time_ns, event->cpu, true, true};
}

static void pair_out(struct switch_reading *reading, struct pairing *pairing,
		     const struct switch_event *event)
{
	uint64_t start_ns = event->time_ns;
	if (pairing->is_on)
		start_ns = pairing->since_ns;
	else if (start_ns > pairing->since_ns)
		start_ns--; /* it was on the CPU, unknown since when */
	if (!pairing->is_on && pairing->is_known)
		tp_nsys_threads_skip(reading->threads, "a switch has no counterpart");
	run_emit(reading, event->thread, start_ns, event->time_ns, (enum tp_run_end)event->how,
		 event->cpu);
	*pairing = (struct pairing){event->time_ns, event->cpu, true, false};
}

static int by_time(const void *a, const void *b)
{
	const struct switch_event *x = a;
	const struct switch_event *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->is_in - y->is_in; /* switch out before switch in */
}

/* Pairs the first n events in time. */
static void events_pair(struct switch_reading *reading, size_t n)
{
	if (reading->n_events == 0)
		return;
	if (!reading->is_in_order)
		qsort(reading->events, reading->n_events, sizeof(*reading->events), by_time);
	reading->is_in_order = true;
	for (size_t i = 0; i < n; i++) {
		const struct switch_event *event = &reading->events[i];
		struct pairing *pairing = pairing_of(reading, event->thread);
		if (event->is_in)
			pair_in(reading, pairing, event);
		else
			pair_out(reading, pairing, event);
		reading->paired_until_ns = event->time_ns;
	}
	reading->n_events -= n;
	memmove(reading->events, reading->events + n, reading->n_events * sizeof(*reading->events));
}

/* ---- rows ---------------------------------------------------------------------------------- */

static void event_add(struct switch_reading *reading, const struct switch_event *event)
{
	if (event->time_ns < reading->paired_until_ns) {
		tp_nsys_threads_skip(reading->threads, "a switch comes too late");
		return;
	}
	if (reading->n_events == TP_NSYS_SWITCHES_SORTED)
		events_pair(reading, TP_NSYS_SWITCHES_SORTED / 2);
	if (event->time_ns > reading->last_ns)
		reading->last_ns = event->time_ns;
	else if (event->time_ns < reading->last_ns)
		reading->is_in_order = false;
	TP_ARRAY_PUSH(reading->events, reading->n_events, reading->events_capacity) = *event;
}

static void row_read(struct switch_reading *reading, const struct tp_sqlite_cell *cells)
{
	struct tp_nsys_row row;
	if (!tp_nsys_threads_place(reading->threads, &cells[OWNER], &cells[START], &row))
		return;
	if (cells[IS_IN].type != TP_SQLITE_INTEGER) {
		tp_rank_writer_skip(row.process->writer, "a switch has no direction");
		return;
	}
	struct switch_event event = {.time_ns = row.time_ns,
				     .thread = row.thread,
				     .is_in = cells[IS_IN].number != 0,
				     .how = (uint8_t)how_of(&cells[STATE])};
	if (cells[CPU].number > 0 && cells[CPU].number < UINT16_MAX)
		event.cpu = (uint32_t)cells[CPU].number;
	event_add(reading, &event);
}

void tp_nsys_switches_read(struct tp_nsys_threads *threads)
{
	struct switch_reading reading = {.threads = threads, .is_in_order = true};
	struct tp_sqlite_rows *rows =
		tp_sqlite_rows_open(threads->db, "SCHED_EVENTS", columns, N_COLUMNS);
	const struct tp_sqlite_cell *cells;
	while (rows && (cells = tp_sqlite_rows_next(rows)))
		row_read(&reading, cells);
	tp_sqlite_rows_close(rows);
	events_pair(&reading, reading.n_events);
	for (size_t i = 0; i < reading.n_pairings; i++) {
		const struct pairing *pairing = &reading.pairings[i];
		uint64_t until_ns = pairing->since_ns + 1; /* else the previous wait would last */
		if (until_ns < reading.last_ns)
			until_ns = reading.last_ns;
		if (pairing->is_on)
			run_emit(&reading, (uint16_t)i, pairing->since_ns, until_ns, TP_RUN_OPEN,
				 pairing->cpu);
	}
	free(reading.events);
	free(reading.pairings);
}
