/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hardware breakpoints on threads of the target, and their cost limit. The code that sets one
 * gets its hits (times in CLOCK_MONOTONIC ns). A breakpoint is removed here when its thread ends or
 * calls exec, and when its hits come so fast that they would cost the thread more than max_ratio of
 * its time.
 *
 * A thread has four debug registers. At most TP_WATCHES_PER_THREAD of them are used, so that some
 * are left for a debugger. Not thread-safe. Errors of the kernel are kept in `failure`.
 */
#ifndef TRAINPROF_SRC_COLLECT_WATCH_WATCH_LIST_H
#define TRAINPROF_SRC_COLLECT_WATCH_WATCH_LIST_H

#include "collect/process/task_tree.h"
#include "collect/watch/breakpoint.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TP_WATCHES_MAX = 16, TP_WATCHES_PER_THREAD = 2 };
/* The number of successive hits from which the rate is computed. */
enum { TP_WATCH_RATE_HITS = 32 };

struct tp_watch;

/* A hit, or, with number 0, the end: the watch was removed, and the pointer is invalid after the
 * call. */
typedef void tp_watch_fn(void *context, const struct tp_watch *watch, uint64_t time_ns,
			 uint64_t number);

enum tp_watch_end {
	TP_WATCH_OPEN,
	TP_WATCH_CLOSED,   /* by its owner */
	TP_WATCH_ENDED,    /* its thread ended or called exec */
	TP_WATCH_TOO_FAST, /* its hits would cost too much */
};

struct tp_watch {
	bool is_used;
	enum tp_watch_end end;
	uint32_t task;
	pid_t tid;
	pid_t pid;
	uint64_t exec_ns;
	uint64_t address;
	bool is_call;
	uint64_t opened_ns;
	struct tp_breakpoint breakpoint;
	uint64_t last_ns[TP_WATCH_RATE_HITS]; /* times of the last hits, by number modulo size */
	tp_watch_fn *fn;
	void *context;
};

struct tp_watch_list {
	const struct tp_task_tree *tree;
	const struct tp_breakpoint_system *system;
	double cost_ns;   /* of one hit */
	double max_ratio; /* of the thread's time */
	int epoll_fd;     /* readable if hits came; -1 = none */
	struct tp_watch watches[TP_WATCHES_MAX];
	int failure; /* errno of the last open that failed; 0 = none did */
	uint64_t n_opened;
	uint64_t n_hits;
	uint64_t n_lost;
	uint64_t n_too_fast;
};

void tp_watch_list_init(struct tp_watch_list *list, const struct tp_task_tree *tree,
			const struct tp_breakpoint_system *system, double cost_ns,
			double max_ratio);
void tp_watch_list_release(struct tp_watch_list *list); /* without callbacks */

/* Returns the maximum number of hits per second of one watch. */
double tp_watch_list_rate_max_hz(const struct tp_watch_list *list);

/* Returns NULL if it cannot be set: this thread has its share, or list->failure has the reason. */
struct tp_watch *tp_watch_list_open(struct tp_watch_list *list,
				    const struct tp_task_tree_task *task,
				    const struct tp_breakpoint_place *place, uint64_t now_ns,
				    tp_watch_fn *fn, void *context);
/* Reports the hits so far, then the end. */
void tp_watch_list_close(struct tp_watch_list *list, struct tp_watch *watch);

/* Reports all hits so far; removes watches that have ended or are too fast. */
void tp_watch_list_drain(struct tp_watch_list *list);

#endif
