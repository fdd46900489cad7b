/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child process of trainprof's own that samples hardware counters, so that whatever CUPTI does
 * there (it may hang, crash, print) happens to nobody else. Nothing is put into the target.
 *
 * It answers one wish after the other and ends when we do. It has to be started while this process
 * has one thread, and before the target: what is younger than that is taken for the target's.
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
	pid_t pid;    /* 0: none */
	int fd;       /* SOCK_SEQPACKET; -1: none */
	bool is_gone; /* it has ended without being told to */
};

/* One window of that length on all of the devices at once; of no length: say what could be done. */
struct tp_pm_request {
	uint64_t devices; /* a bit each, in order of buses */
	uint64_t window_ns;
	char runtime[512]; /* path of the program's libcudart, where that is known */
};

enum tp_pm_event_kind {
	TP_PM_READY,  /* what a device counts: `why.reason`; before its first window */
	TP_PM_FAILED, /* of a device: `why`; it is tried again at each wish */
	TP_PM_OPENED, /* a window */
	TP_PM_BIN,    /* `bin` */
	TP_PM_CLOSED, /* `n_samples`; why.presence is PRESENT when the window was whole */
	TP_PM_DONE,   /* with the wish */
};

struct tp_pm_event {
	enum tp_pm_event_kind kind;
	uint32_t device;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t n_samples;
	uint64_t cpu_ns; /* DONE: CPU time that the helper has taken so far */
	struct tp_pm_bin bin;
	struct tp_availability why;
};

TP_MUST_CHECK enum tp_status tp_pm_helper_start(struct tp_pm_helper *out, struct tp_error *err);
/* Never waits. False: it is gone. */
bool tp_pm_helper_request(struct tp_pm_helper *helper, const struct tp_pm_request *wish);
/* The next piece of news, if there is one; never waits. */
bool tp_pm_helper_receive(struct tp_pm_helper *helper, struct tp_pm_event *out);
/* Waits for a window to close, at most a quarter of a second; then it is killed, and the driver
 * gives the counters back. One that does not end a second later hangs in the driver, and is left.
 * Twice does no harm. */
void tp_pm_helper_end(struct tp_pm_helper *helper);

#endif
