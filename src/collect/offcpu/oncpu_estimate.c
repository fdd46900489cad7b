/* SPDX-License-Identifier: Apache-2.0 */
/* Distributes samples over running, waiting for a CPU, and waits too short to be observed. */
#include "oncpu_estimate.h"

enum { CREDIT_SAMPLES = 8 };

/* Bounds the credit, so that time for which there were no samples does not distort the next
 * second. */
static double add_credit(double credit_ns, uint64_t before_ns, uint64_t now_ns, double elapsed_ns)
{
	double most_ns = CREDIT_SAMPLES * elapsed_ns;
	credit_ns += now_ns > before_ns ? (double)(now_ns - before_ns) : 0;
	return credit_ns < most_ns ? credit_ns : most_ns;
}

enum tp_state tp_oncpu_estimate_state(struct tp_oncpu_estimate *share,
				      const struct tp_procfs_schedstat *now, double elapsed_ns)
{
	struct tp_procfs_schedstat before = share->was_taken ? share->last : *now;
	bool is_same_stay = share->was_taken && before.n_runs == now->n_runs;
	share->was_taken = true; /* the first sample represents no time yet */
	share->last = *now;
	share->run_ns = add_credit(share->run_ns, before.run_ns, now->run_ns, elapsed_ns);
	share->delay_ns = add_credit(share->delay_ns, before.delay_ns, now->delay_ns, elapsed_ns);
	if (share->run_ns >= elapsed_ns / 2) {
		share->run_ns -= elapsed_ns;
		return TP_STATE_ON_CPU;
	}
	/* One unfinished wait may be owed; the same wait may get further samples. */
	if (share->delay_ns < -elapsed_ns / 2 && !is_same_stay)
		return TP_STATE_BLOCKED;
	share->delay_ns -= elapsed_ns;
	return TP_STATE_RUNNABLE;
}
