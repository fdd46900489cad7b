/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the length of runs below which hardly any samples fall. */
#include "undersampled_runs.h"

#include "analyze/thresholds.h"

enum { N_LENGTHS = 64 }; /* powers of two */

struct length_class {
	double cpu_ns;
	double n_samples;
};

static unsigned class_of(uint64_t length_ns)
{
	unsigned class = 0;
	while (class < N_LENGTHS - 1 && UINT64_C(1) << class < length_ns)
		class ++;
	return class;
}

static bool is_hit(const struct tp_sample *sample)
{
	return sample->state == TP_STATE_ON_CPU && !(sample->flags & TP_SAMPLE_POLLED);
}

static void count_lengths(const struct tp_analysis *analysis,
			  struct length_class classes[N_LENGTHS])
{
	const struct tp_trace *trace = analysis->trace;
	uint32_t task = analysis->main_task;
	size_t at = trace->sample_index[task];
	size_t end = trace->sample_index[task + 1];
	for (size_t i = trace->run_index[task]; i < trace->run_index[task + 1]; i++) {
		const struct tp_run *run = &trace->runs[i];
		struct length_class *class = &classes[class_of(run->end_ns - run->start_ns)];
		class->cpu_ns += (double)(run->end_ns - run->start_ns);
		while (at < end && trace->samples[at].time_ns < run->start_ns)
			at++;
		for (; at < end && trace->samples[at].time_ns < run->end_ns; at++)
			class->n_samples += is_hit(&trace->samples[at]);
	}
}

double tp_undersampled_runs_share(const struct tp_analysis *analysis, uint64_t *below_ns)
{
	*below_ns = 0;
	double rate_hz = analysis->trace->run.sample_rate_hz;
	if (analysis->main_task == TP_NO_TASK || rate_hz <= 0)
		return 0;
	struct length_class classes[N_LENGTHS] = {0};
	count_lengths(analysis, classes);
	double all_ns = 0;
	double blind_ns = 0;
	struct length_class sum = {0};
	for (unsigned i = 0; i < N_LENGTHS; i++) {
		all_ns += classes[i].cpu_ns;
		sum.cpu_ns += classes[i].cpu_ns;
		sum.n_samples += classes[i].n_samples;
		double expected = sum.cpu_ns * rate_hz / 1e9;
		if (!(classes[i].cpu_ns > 0) || expected < TP_UNSEEN_EXPECTED_MIN ||
		    sum.n_samples > TP_UNSEEN_FOUND_MAX * expected)
			continue;
		*below_ns = UINT64_C(1) << i;
		blind_ns = sum.cpu_ns;
	}
	return all_ns > 0 ? blind_ns / all_ns : 0;
}
