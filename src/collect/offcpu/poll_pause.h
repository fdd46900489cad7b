/* SPDX-License-Identifier: Apache-2.0 */
/* Computes how long to wait until threads off their CPU are polled again. Reads no clock; not
 * thread-safe. */
#ifndef TRAINPROF_SRC_COLLECT_OFFCPU_POLL_PAUSE_H
#define TRAINPROF_SRC_COLLECT_OFFCPU_POLL_PAUSE_H

#include "trainprof/model/task.h"

#include <stdbool.h>
#include <stdint.h>

/* The last wait of a thread that was emitted. */
struct tp_emitted_wait {
	uint64_t n_runs; /* runs of the thread on a CPU when an inspection last found it waiting */
	uint64_t time_ns;
	enum tp_state state;
};

/* True if the thread has not run since: it still waits the same wait. */
bool tp_emitted_wait_lasts(const struct tp_emitted_wait *wait, uint64_t n_runs,
			   enum tp_state state);
/* True if the wait was emitted within the last second: later a wait that lasts is emitted again, so
 * that a crash keeps it. */
bool tp_emitted_wait_is_current(const struct tp_emitted_wait *wait, uint64_t now_ns);

struct tp_poll_pause {
	uint64_t random;  /* state of the generator; not 0 */
	unsigned n_quiet; /* polls in a row that found no new wait */
	bool is_crowded;  /* in the last poll a thread could lose its CPU at any moment */
	double cost_ns;   /* moving average of the CPU time of a poll */
};

/* Call after each poll, with its CPU time and whether it found a wait that was not known. */
void tp_poll_pause_add(struct tp_poll_pause *self, double cost_ns, bool has_new_wait);

/* Returns the time to the next poll: random around 1 / rate_hz, longer after polls that found
 * nothing new, and where polls would take more than this share of the CPUs' time; 0 = any. */
uint64_t tp_poll_pause_next_ns(struct tp_poll_pause *self, double rate_hz, double cpu_share);

#endif
