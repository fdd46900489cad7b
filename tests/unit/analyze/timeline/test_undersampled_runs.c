/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of runs that samples cannot hit. */
#include "analyze/timeline/undersampled_runs.h"

#include <check.h>

enum { RATE_HZ = 100 };

/* Runs of a thread, alternating between two kinds, and whether samples hit them. */
static const struct {
	uint64_t short_ns;
	unsigned n_short; /* per turn */
	uint64_t long_ns;
	bool hits_short;
	double share; /* expected share of blind time */
	uint64_t below_ns;
} threads[] = {
	/* 100 x 20 us and 2 ms per turn: half of the time cannot be hit */
	{20000, 100, 2000000, false, 0.5, 32768},
	{20000, 100, 2000000, true, 0, 0},
	/* too little to be more than chance */
	{2000, 1, 2000000, false, 0, 0},
};

static struct tp_trace_builder builder;

/* `due` counts CPU time since the last sample. */
static uint64_t add_run(uint64_t at, uint64_t length_ns, bool is_hit, uint64_t *due)
{
	tp_sink_run(&builder.sink, &(struct tp_run){.start_ns = at, .end_ns = at + length_ns});
	*due += length_ns;
	if (is_hit && *due >= UINT64_C(1000000000) / RATE_HZ) {
		*due = 0;
		tp_sink_sample(&builder.sink,
			       &(struct tp_sample){.time_ns = at + length_ns / 2, .syscall = -1});
	}
	return at + length_ns + 1000;
}

START_TEST(runs_without_samples_are_reported)
{
	tp_trace_builder_init(&builder);
	tp_sink_task(&builder.sink, &(struct tp_task){.tid = 1, .pid = 1, .parent = TP_NO_TASK});
	uint64_t at = 1000;
	uint64_t due = 0;
	for (unsigned turn = 0; turn < 500; turn++) {
		for (unsigned i = 0; i < threads[_i].n_short; i++)
			at = add_run(at, threads[_i].short_ns, threads[_i].hits_short, &due);
		at = add_run(at, threads[_i].long_ns, true, &due);
	}
	struct tp_run_info run = {.sample_rate_hz = RATE_HZ};
	struct tp_trace trace;
	tp_trace_build(&trace, &builder, &run);
	struct tp_analysis analysis = {.trace = &trace, .main_task = 0};
	uint64_t below_ns;
	ck_assert_double_eq_tol(tp_undersampled_runs_share(&analysis, &below_ns), threads[_i].share,
				0.01);
	ck_assert_uint_eq(below_ns, threads[_i].below_ns);
	analysis.main_task = TP_NO_TASK;
	ck_assert_double_eq(tp_undersampled_runs_share(&analysis, &below_ns), 0);
	tp_trace_release(&trace);
	tp_trace_builder_release(&builder);
}
END_TEST

Suite *suite_analyze_undersampled_runs(void);
Suite *suite_analyze_undersampled_runs(void)
{
	Suite *suite = suite_create("analyze/blindstays");
	TCase *tc = tcase_create("blindstays");
	tcase_add_loop_test(tc, runs_without_samples_are_reported, 0,
			    sizeof(threads) / sizeof(threads[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
