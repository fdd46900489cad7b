/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's events for one process and all that it will create: per CPU one that samples and
 * keeps the books of mappings, names, births and ends, one that only records context switches, and
 * one that samples threads as they leave the CPU, at each so many-th switch. All write the CPU's
 * ring.
 *
 * Not one, because an ioctl on the opened event reaches all inherited copies, but a bit in its
 * attributes cannot be changed any more: the others can be switched off when switches are too many.
 *
 * Or events of CPUs (is_wide), which no thread carries and which tell of everybody.
 */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_EVENT_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_EVENT_H

#include "perf_decode.h"
#include "perf_ring.h"

#include "trainprof/base/map.h"
#include "trainprof/base/status.h"
#include "trainprof/collect/collector.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A prime: a loop that switches four times a round would be met at the same one always. */
enum { TP_PERF_SWITCH_OUT_EVERY = 17 };
/* Descriptors left over for the recording and for what other sources keep open. */
enum { TP_PERF_FDS_RESERVED = 24 };

/* What the kernel lets us do. Leaves, switches, stack and ring are lowered until it does. */
struct tp_perf_setup {
	bool has_kernel; /* samples of kernel code and the kernel's call chain: tp_perf_test_open()
			  */
	bool has_switches; /* context-switch records */
	bool has_leaves;   /* samples as threads leave a CPU; they begin off. Needs has_kernel */
	bool switches_start_off; /* not by the exec, but by tp_perf_events_switches() */
	bool is_attaching; /* the target runs already: records tell their event, nothing waits for
			    * an exec, and tp_perf_events_join() is called for each thread */
	bool is_wide; /* of CPUs, whoever is on them; nothing before tp_perf_events_samples() */
	uint32_t stack_bytes;
	uint32_t ring_pages;
	uint64_t period_ns; /* between samples of a running thread, without jitter */
};

/* Descriptors beyond those of the first thread. */
struct tp_perf_fds {
	int *items;
	size_t n;
	size_t capacity;
};

struct tp_perf_events {
	struct tp_perf_setup setup;
	int leaves_failure;  /* why has_leaves was given up, an errno; 0: it was not */
	double wakeup_share; /* an event is readable when that part of its ring is full */
	uint32_t n_cpus;     /* with events */
	uint32_t cpu_limit;  /* one more than the highest CPU number */
	uint32_t *cpus;      /* numbers; arrays below have the same order */
	int *sample_fds;
	int *switch_fds;         /* -1 without switch records; is_wide: while they are off */
	int *leave_fds;          /* -1 without */
	struct tp_map leave_ids; /* of these events, in records (struct tp_perf_layout.has_event) */
	struct tp_perf_ring *rings;
	struct tp_perf_fds joined_samplers; /* of other threads; all write the rings above */
	struct tp_perf_fds joined_switches;
};

/* How records of such events are to be read. */
struct tp_perf_layout tp_perf_events_layout(const struct tp_perf_setup *setup);

/* Events like those on this very thread, enabled at once, for calibration: on one CPU and inherited
 * by children, or, with cpu -1, everywhere and not inherited. -1 with errno. */
int tp_perf_open_sampler_self(const struct tp_perf_setup *setup, uint64_t period_ns, int cpu);
int tp_perf_open_switches_self(int cpu);

/* An event of one thread that counts nothing and is not inherited; -1 with errno. */
int tp_perf_open_idle(pid_t tid);

/* Samples of one thread alone, running at once, not inherited: readable at each. -1 with errno. */
int tp_perf_open_thread(pid_t tid, const struct tp_perf_setup *setup, uint64_t period_ns);

/* 0 when an event like ours can be opened on this very process, else an errno. */
int tp_perf_test_open(bool with_kernel);

/*
 * Open everything for `target`, which has not execed yet: nothing is recorded before it does. When
 * attaching, `target` is the first thread, and nothing is recorded before it is joined. Where
 * setup->is_wide it is -1.
 * setup   in: what is wished for; out->setup says what it became.
 * seed    of the jitter.
 * Errors  TP_DENIED, TP_BUSY (descriptors or locked memory run out), TP_IO.
 */
TP_MUST_CHECK enum tp_status tp_perf_events_open(struct tp_perf_events *out,
						 const struct tp_host *host, pid_t target,
						 const struct tp_perf_setup *setup, uint64_t *seed,
						 struct tp_error *err);
void tp_perf_events_close(struct tp_perf_events *events);

/*
 * Attaching: from now on this thread is recorded, and all that it will create. Its switches are not
 * before tp_perf_events_switches(). `is_first`: the target of the opening, whose events are open.
 * listeners  event id -> tid, for telling whose event a record is of.
 * Returns 0 or an errno: ESRCH when it has ended, EMFILE when descriptors run out; then nothing is
 * open for it.
 */
int tp_perf_events_join(struct tp_perf_events *events, pid_t tid, bool is_first, uint64_t *seed,
			struct tp_map *listeners);

/* Samples of all threads and the books, on or off. */
void tp_perf_events_samples(const struct tp_perf_events *events, bool is_on);

/* Before switch records go on: opens what is closed while they are off, which takes the kernel up
 * to 0.03 s. False when it refuses. */
bool tp_perf_events_prepare_switches(const struct tp_perf_events *events);
/* Switch records of all threads, on or off. */
void tp_perf_events_switches(const struct tp_perf_events *events, bool is_on);
/* Samples of threads that leave a CPU, on or off: one of TP_PERF_SWITCH_OUT_EVERY switches has one.
 */
void tp_perf_events_switch_out(const struct tp_perf_events *events, bool is_on);
/* A new period for the target's first thread on the i-th CPU, and for threads born from now on. */
void tp_perf_events_set_period(const struct tp_perf_events *events, uint32_t i, uint64_t period_ns);
/* The same for all threads that were joined, but for the first. */
void tp_perf_events_set_joined_period(const struct tp_perf_events *events, uint64_t period_ns);

#endif
