/*
 * Of the looks that find a thread "running", which find it on a CPU and which waiting for one?
 * /proc does not tell, but the kernel's account of CPU time does in sum.
 */
#ifndef TRAINPROF_SRC_COLLECT_RUNSHARE_H
#define TRAINPROF_SRC_COLLECT_RUNSHARE_H

#include "trainprof/model/task.h"

#include <stdint.h>

/* Zero-initialised: never looked at. */
struct tp_runshare {
	uint64_t ran_ns;  /* when last found running; 0 never */
	double credit_ns; /* it ran, and no look has been given for it yet */
};

/*
 * A look that stands for `elapsed_ns` found it running; its CPU time so far is `ran_ns`. It is on a
 * CPU when it has run for at least half of that more than earlier looks were given, so that looks
 * on a CPU add up to the time it ran. (A draw in the proportion of running and waiting since the
 * last look says twice the truth where two threads share a CPU: the kernel accounts a wait only
 * when it ends.)
 */
enum tp_state tp_runshare_take(struct tp_runshare *share, uint64_t ran_ns, double elapsed_ns);

#endif
