/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child process of trainprof that samples hardware counters, so that anything CUPTI does there
 * (it may hang, crash, print) affects nobody else. Nothing is loaded into the target.
 *
 * It serves one request at a time and ends when we do. It must be started while this process has
 * one thread, and before the target: younger processes are considered part of the target.
 */
#ifndef TRAINPROF_SRC_COLLECT_GPU_COUNTERS_PM_HELPER_H
#define TRAINPROF_SRC_COLLECT_GPU_COUNTERS_PM_HELPER_H

#include "pm_session.h"

#include "trainprof/base/status.h"
#include "trainprof/model/source.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { TP_PM_DEVICES_MAX = 64 };

struct tp_pm_helper {
	pid_t pid;    /* 0 = none */
	int fd;       /* SOCK_SEQPACKET; -1 = none */
	bool is_gone; /* it has ended unexpectedly */
};

/* Requests one window of that length on all devices at once; length 0: report what could be
 * done. */
struct tp_pm_request {
	uint64_t devices; /* one bit each, in order of buses */
	uint64_t window_ns;
	char runtime[512]; /* path of the program's libcudart, if it is known */
};

enum tp_pm_event_kind {
	TP_PM_READY,  /* what a device counts: `why.reason`; before its first window */
	TP_PM_FAILED, /* for a device: `why`; it is tried again at each request */
	TP_PM_OPENED, /* a window opened */
	TP_PM_BIN,    /* `bin` */
	TP_PM_CLOSED, /* `n_samples`; why.presence is PRESENT if the window was complete */
	TP_PM_DONE,   /* the request is finished */
};

struct tp_pm_event {
	enum tp_pm_event_kind kind;
	uint32_t device;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t n_samples;
	uint64_t cpu_ns; /* DONE: CPU time of the helper so far */
	struct tp_pm_bin bin;
	struct tp_availability why;
};

TP_MUST_CHECK enum tp_status tp_pm_helper_start(struct tp_pm_helper *out, struct tp_error *err);
/* Never waits. Returns false if the helper is gone. */
bool tp_pm_helper_request(struct tp_pm_helper *helper, const struct tp_pm_request *wish);
/* Receives the next event if there is one; never waits. */
bool tp_pm_helper_receive(struct tp_pm_helper *helper, struct tp_pm_event *out);
/* Waits at most a quarter of a second for a window to close; then it kills the helper, and the
 * driver releases the counters. A helper that does not end within another second hangs in the
 * driver and is left behind. May be called twice. */
void tp_pm_helper_end(struct tp_pm_helper *helper);

#endif
