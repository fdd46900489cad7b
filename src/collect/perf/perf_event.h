/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's events for one process and all its later children. Per CPU one event samples and
 * reports mappings, names, forks and exits, one only records context switches, and one samples
 * threads as they leave the CPU, at every n-th switch. All write to the CPU's ring.
 *
 * There are several because an ioctl on the opened event reaches all inherited copies, but a bit in
 * its attributes cannot be changed any more: separate events can be disabled when there are too
 * many switches.
 *
 * Or per-CPU events (is_wide), which belong to no thread and report all processes.
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

/* A prime: a loop that switches four times per round would otherwise always be sampled at the same
 * switch. */
enum { TP_PERF_SWITCH_OUT_EVERY = 17 };
/* Descriptors reserved for the recording and for the files that other sources keep open. */
enum { TP_PERF_FDS_RESERVED = 24 };

/* The options to request. Leaves, switches, stack and ring are reduced until the kernel agrees. */
struct tp_perf_setup {
	bool has_kernel; /* samples of kernel code and the kernel's call chain: tp_perf_test_open()
			  */
	bool has_switches; /* context-switch records */
	bool has_leaves;   /* samples as threads leave a CPU; initially off. Needs has_kernel */
	bool switches_start_off; /* enabled by tp_perf_events_switches(), not by the exec */
	bool is_attaching; /* the target already runs: records contain their event's id, nothing
			      waits for an exec, and each thread gets tp_perf_events_join() */
	bool is_wide;      /* per-CPU events, for any thread; off until tp_perf_events_samples() */
	uint32_t stack_bytes;
	uint32_t ring_pages;
	uint64_t period_ns; /* between samples of a running thread, without jitter */
};

/* Descriptors in addition to those of the first thread. */
struct tp_perf_fds {
	int *items;
	size_t n;
	size_t capacity;
};

struct tp_perf_events {
	struct tp_perf_setup setup;
	int leaves_failure;  /* the errno for which has_leaves was given up; 0 = it was not */
	double wakeup_share; /* an event is readable if this share of its ring is full */
	uint32_t n_cpus;     /* with events */
	uint32_t cpu_limit;  /* highest CPU number plus one */
	uint32_t *cpus;      /* CPU numbers; arrays below have the same order */
	int *sample_fds;
	int *switch_fds;         /* -1 without switch records; is_wide: also while they are off */
	int *leave_fds;          /* -1 if absent */
	struct tp_map leave_ids; /* of these events, in records (struct tp_perf_layout.has_event) */
	struct tp_perf_ring *rings;
	struct tp_perf_fds joined_samplers; /* of other threads; all write to the rings above */
	struct tp_perf_fds joined_switches;
};

/* Returns the layout of the records of such events. */
struct tp_perf_layout tp_perf_events_layout(const struct tp_perf_setup *setup);

/* Open such events on the calling thread, enabled at once, for calibration: on one CPU and
 * inherited by children, or, with cpu -1, on all CPUs and not inherited. -1 with errno. */
int tp_perf_open_sampler_self(const struct tp_perf_setup *setup, uint64_t period_ns, int cpu);
int tp_perf_open_switches_self(int cpu);

/* Opens an event of one thread that counts nothing and is not inherited; -1 with errno. */
int tp_perf_open_idle(pid_t tid);

/* Opens a sampler of this one thread, enabled at once, not inherited: readable at each sample. -1
 * with errno. */
int tp_perf_open_thread(pid_t tid, const struct tp_perf_setup *setup, uint64_t period_ns);

/* Returns 0 if an event like ours can be opened on this process, else an errno. */
int tp_perf_test_open(bool with_kernel);

/*
 * Opens all events for `target`, which has not execed yet: nothing is recorded before it does. When
 * attaching, `target` is the first thread, and nothing is recorded before it is joined. If
 * setup->is_wide it is -1.
 * setup   in: the request; out->setup is what was granted.
 * seed    of the jitter.
 * Errors  TP_DENIED, TP_BUSY (descriptors or locked memory run out), TP_IO.
 */
TP_MUST_CHECK enum tp_status tp_perf_events_open(struct tp_perf_events *out,
						 const struct tp_host *host, pid_t target,
						 const struct tp_perf_setup *setup, uint64_t *seed,
						 struct tp_error *err);
void tp_perf_events_close(struct tp_perf_events *events);

/*
 * When attaching: from now on this thread and its later children are recorded. Switches are not
 * recorded before tp_perf_events_switches(). Returns 0 or an errno: ESRCH if the thread has ended,
 * EMFILE if descriptors run out; then nothing is open for it.
 * is_first   the thread is the target of tp_perf_events_open(), whose events are open.
 * listeners  event id -> tid, to find out whose event a record belongs to.
 */
int tp_perf_events_join(struct tp_perf_events *events, pid_t tid, bool is_first, uint64_t *seed,
			struct tp_map *listeners);

/* Turns samples, mappings, names, forks and exits of all threads on or off. */
void tp_perf_events_samples(const struct tp_perf_events *events, bool is_on);

/* Before switch records are turned on: opens what is closed while they are off, which takes the
 * kernel up to 0.03 s. False if it refuses. */
bool tp_perf_events_prepare_switches(const struct tp_perf_events *events);
/* Turns the switch records of all threads on or off. */
void tp_perf_events_switches(const struct tp_perf_events *events, bool is_on);
/* Turns samples of threads that leave a CPU on or off: one of TP_PERF_SWITCH_OUT_EVERY switches has
 * one. */
void tp_perf_events_switch_out(const struct tp_perf_events *events, bool is_on);
/* Sets the period for the target's first thread on the i-th CPU, and for threads born from now
 * on. */
void tp_perf_events_set_period(const struct tp_perf_events *events, uint32_t i, uint64_t period_ns);
/* The same for all other threads that were joined. */
void tp_perf_events_set_joined_period(const struct tp_perf_events *events, uint64_t period_ns);

#endif
