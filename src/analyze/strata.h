/* The sampled stays of one thread, by kind and length, to find the one that stands for another. */
#ifndef TRAINPROF_SRC_ANALYZE_STRATA_H
#define TRAINPROF_SRC_ANALYZE_STRATA_H

#include <stddef.h>
#include <stdint.h>

/* What a thread does as it loses its CPU, say to whom it has just woken, is not what it does before
 * it waits. Looks at a wait that ended under our eyes know its cause, but have no stack. */
enum tp_stay_kind {
	TP_STAY_RUNS,
	TP_STAY_RUNS_PREEMPTED,
	TP_STAY_WAITS,
	TP_STAY_WAITS_BARE,
	TP_N_STAY_KINDS
};

enum { TP_N_STRATA = 64 }; /* powers of two of a length in ns */

struct tp_stay_hit {
	uint64_t time_ns;
	uint32_t sample;
};

/* Begins zeroed, but for the border. What lies after that never stands for what was before; the
 * other way round only where there is nothing else. 0: no border. */
struct tp_strata {
	uint64_t border_ns;
	struct tp_stay_hit *hits[TP_N_STAY_KINDS][TP_N_STRATA]; /* heap, in order of time */
	size_t n[TP_N_STAY_KINDS][TP_N_STRATA];
	size_t capacity[TP_N_STAY_KINDS][TP_N_STRATA];
};

/* Which kind speaks for one of which no stay was hit. */
enum tp_stay_kind tp_stay_other(enum tp_stay_kind kind);

/* Stays come in order of time. */
void tp_strata_add(struct tp_strata *strata, enum tp_stay_kind kind, uint64_t start_ns,
		   uint64_t length_ns, uint32_t sample);
/* The sample of the stay of that kind that is most like one at `start_ns`: of the closest length,
 * shorter ones first, and of those the nearest in time. NO_SAMPLE where none of the kind was hit.
 */
uint32_t tp_strata_like(const struct tp_strata *strata, enum tp_stay_kind kind, uint64_t start_ns,
			uint64_t length_ns);
void tp_strata_release(struct tp_strata *strata);

#endif
