/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of programs that were sampled while they used devices: each ns is attributed. */
#include "analyze/livescene.h"

#include "trainprof/model/fact.h"

static struct live live;

static void setup(void)
{
	live_init(&live);
}

static void teardown(void)
{
	scene_release(&live.scene);
}

static const struct tp_profile *judge(void)
{
	scene_judge(&live.scene);
	return &live.scene.profile;
}

static double fact(enum tp_fact which)
{
	const struct tp_quantity *found = &live.scene.profile.facts[which];
	ck_assert_msg(found->is_known, "%s: %s", tp_fact_desc(which)->name,
		      found->missing ? found->missing : "");
	return found->value;
}

static void ck_part(enum tp_part part, uint64_t ms)
{
	uint64_t found = scene_part(&live.scene, part);
	uint64_t expected = ms * live.scene.profile.n_steady * MS;
	ck_assert_msg(found == expected, "%s: %llu ns of %llu", tp_part_name(part),
		      (unsigned long long)found, (unsigned long long)expected);
}

static void ck_label(enum tp_label label, uint64_t ms)
{
	uint64_t found = live.scene.profile.label_ns[label];
	uint64_t expected = ms * live.scene.profile.n_steady * MS;
	ck_assert_msg(found == expected, "%s.%s: %llu ns of %llu",
		      tp_part_name(tp_label_part(label)), tp_label_name(label),
		      (unsigned long long)found, (unsigned long long)expected);
}

static const char *warning(const char *id)
{
	for (size_t i = 0; i < live.scene.profile.n_warnings; i++)
		if (strcmp(live.scene.profile.warnings[i].id, id) == 0)
			return live.scene.profile.warnings[i].text;
	return NULL;
}

START_TEST(time_without_gpu_work_is_split_by_cpu_samples)
{
	live_fill(&live, 1);
	const struct tp_profile *p = judge();
	ck_assert(p->is_of_steps);
	ck_assert_uint_ge(p->n_steady, 10);
	ck_part(TP_PART_COMPUTE, 50);
	ck_part(TP_PART_DATALOADER, 30);
	ck_part(TP_PART_HOST, 20);
	ck_part(TP_PART_IDLE, 0);
	ck_label(TP_LABEL_DATALOADER_PREP, 30);
	ck_label(TP_LABEL_HOST_LAUNCH, 1);
	ck_label(TP_LABEL_HOST_SYNC, 2);
	ck_assert_int_eq(p->limiter, TP_PART_DATALOADER);
	ck_assert_uint_eq(p->total_ns, p->n_steady * LIVE_STEP_MS * MS);
}
END_TEST

/* Warm-up and slow steps are not judged, yet what they are said to consist of is as true. */
START_TEST(steps_that_are_not_judged_have_their_device_work_as_well)
{
	size_t n_others = 0;
	live_fill(&live, 1);
	const struct tp_profile *p = judge();
	for (size_t i = 0; i < p->n_steps; i++) {
		const struct tp_step *step = &p->steps[i];
		if (step->kind == TP_STEP_STEADY ||
		    step->end_ns - step->start_ns < LIVE_STEP_MS * MS)
			continue;
		n_others++;
		ck_assert_uint_eq(step->part_ns[TP_PART_COMPUTE], 50 * MS);
		ck_assert_uint_eq(step->part_ns[TP_PART_DATALOADER], 30 * MS);
		ck_assert_uint_eq(step->part_ns[TP_PART_IDLE], 0);
	}
	ck_assert_uint_gt(n_others, 0);
}
END_TEST

START_TEST(gaps_of_the_device_are_blamed_on_what_the_thread_did)
{
	live_fill(&live, 1);
	const struct tp_profile *p = judge();
	ck_assert_uint_eq(p->n_devices, 1);
	const struct tp_device_result *device = &p->devices[0];
	uint64_t all_ns = 0;
	for (int i = 0; i < TP_N_GAP_CAUSES; i++)
		all_ns += device->gap_ns[i];
	/* The gaps last from 90 to 140. The CPU side's part is from 90 to 135, of which it loads
	 * 30. */
	ck_assert_uint_gt(all_ns, 0);
	ck_assert_uint_eq(device->gap_ns[TP_GAP_DATALOADER], all_ns);
	ck_assert_uint_eq(all_ns % (50 * MS), 0);
	ck_assert_uint_le(all_ns, device->window_ns / 2);
	ck_assert_double_eq_tol(fact(TP_FACT_DEVICE_BUSY), 0.5, 1e-9);
	ck_assert_double_eq_tol(fact(TP_FACT_STEP_DATALOADER), 0.3, 1e-9);
	ck_assert_double_eq_tol(fact(TP_FACT_STEP_SYNC), 0.02, 1e-9);
	ck_assert_double_eq_tol(fact(TP_FACT_STEP_PREP), 0.3, 1e-9);
	ck_assert_double_eq_tol(fact(TP_FACT_DEVICE_SYNCS), 1, 1e-9);
	ck_assert_double_eq_tol(fact(TP_FACT_DEVICE_UNLINKED), 0, 1e-9);
	ck_assert_double_eq_tol(fact(TP_FACT_KERNEL_MATH), 1, 1e-9);
}
END_TEST

START_TEST(cpu_compute_is_not_judged_when_a_gpu_works)
{
	live_fill(&live, 1);
	const struct tp_profile *p = judge();
	ck_assert(!p->facts[TP_FACT_COMPUTE_THREADS].is_known);
	ck_assert(p->facts[TP_FACT_COMPUTE_THREADS].is_foreign);
	ck_assert_ptr_null(warning("unlinked"));
}
END_TEST

/* A line gets the time for which the device waited, not the time that overlapped with device
 * work. */
START_TEST(lines_have_the_time_that_no_device_hides)
{
	live_fill(&live, 1);
	const struct tp_profile *p = judge();
	uint64_t n_steady = p->n_steady;
	uint64_t by_part[TP_N_PARTS] = {0};
	for (size_t i = 0; i < p->n_lines; i++)
		by_part[p->lines[i].part] += p->lines[i].time_ns;
	ck_assert_uint_eq(by_part[TP_PART_COMPUTE], 0);
	ck_assert_uint_eq(by_part[TP_PART_DATALOADER], 30 * n_steady * MS);
	ck_assert_uint_le(by_part[TP_PART_HOST], 20 * n_steady * MS);
	ck_assert_uint_gt(by_part[TP_PART_HOST], 15 * n_steady * MS);
}
END_TEST

/* Compared with an imported trace of the same spans, with marks as ranges: device and kernels are
 * judged alike. */
START_TEST(facts_of_devices_are_those_of_an_imported_trace)
{
	static const enum tp_fact same[] = {TP_FACT_DEVICE_COUNT,      TP_FACT_DEVICE_BUSY,
					    TP_FACT_DEVICE_BUSY_LEAST, TP_FACT_DEVICE_OPS,
					    TP_FACT_DEVICE_SHORT,      TP_FACT_DEVICE_KERNEL,
					    TP_FACT_DEVICE_UNLINKED,   TP_FACT_DEVICE_SYNCS,
					    TP_FACT_DEVICE_ALLOCS,     TP_FACT_DEVICE_COPY,
					    TP_FACT_KERNEL_MATH,       TP_FACT_KERNEL_MEMORY,
					    TP_FACT_KERNEL_TENSOR,     TP_FACT_COMM_TIME,
					    TP_FACT_STEP_COMPUTE,      TP_FACT_DEVICE_GAP_QUEUED};
	double values[sizeof(same) / sizeof(same[0])];
	live_fill(&live, 1);
	judge();
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		values[i] = fact(same[i]);
	scene_release(&live.scene);
	scene_init(&live.scene, 1);
	live.thread = scene_track(&live.scene, 0, TP_TRACK_THREAD);
	live.stream = scene_track(&live.scene, 0, 0);
	for (unsigned i = 0; i < LIVE_STEPS; i++) {
		scene_step(&live.scene, live.thread, i, live_at(i, 0), live_at(i + 1, 0));
		live_device(&live, i);
	}
	judge();
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		ck_assert_msg(fact(same[i]) == values[i], "%s: %g live, %g imported",
			      tp_fact_desc(same[i])->name, values[i], fact(same[i]));
}
END_TEST

/* Events were dropped in the sixth step: the device's work during that time is not known. */
START_TEST(steps_in_which_events_were_lost_are_not_judged)
{
	live_fill(&live, 1);
	tp_sink_gap(&live.scene.builder.sink, "cupti", "GPU events came faster", live_at(5, 20),
		    live_at(5, 40), 100);
	const struct tp_profile *p = judge();
	size_t n_steady = p->n_steady;
	for (size_t i = 0; i < p->n_steps; i++)
		ck_assert(p->steps[i].start_ns + BEGIN != live_at(5, 0) ||
			  p->steps[i].kind != TP_STEP_STEADY);
	ck_part(TP_PART_COMPUTE, 50);
	scene_release(&live.scene);
	live_init(&live);
	live_fill(&live, 1);
	ck_assert_uint_eq(judge()->n_steady, n_steady + 1);
}
END_TEST

/* Every other step was traced, and lasts 120 ms instead of 80. The first one began before the first
 * event and does not count as traced: 120 to (6 x 80 + 120) / 7. */
START_TEST(steps_that_last_longer_while_they_are_traced_are_warned_of)
{
	struct tp_sink *sink = &live.scene.builder.sink;
	live_fill(&live, 0);
	for (unsigned i = 0; i < LIVE_STEPS; i++) {
		unsigned shift = _i && i % 2 ? 20 : 0;
		tp_sink_mark(sink,
			     &(struct tp_mark){.kind = TP_MARK_STEP, .time_ns = live_at(i, shift)});
		if (i % 2)
			tp_sink_gap(sink, "cupti", "not traced", live_at(i, 20), live_at(i, 99), 0);
	}
	judge();
	const char *text = warning("slowed-by-tracing");
	if (_i)
		ck_assert_str_eq(text, "steps in which the GPU was traced took 40 % longer");
	else
		ck_assert_ptr_null(text);
}
END_TEST

/* Every other step is traced: those between them were made, too. */
START_TEST(steps_that_were_not_traced_are_counted)
{
	live_fill(&live, 1);
	/* The first step began before the first event. */
	ck_assert_uint_eq(judge()->n_untraced, 1);
	size_t n_all = tp_profile_all_steps(&live.scene.profile);
	scene_release(&live.scene);
	live_init(&live);
	live_fill(&live, 1);
	for (unsigned i = 5; i < 11; i += 2)
		tp_sink_gap(&live.scene.builder.sink, "cupti", "not traced", live_at(i, 20),
			    live_at(i, 99), 0);
	const struct tp_profile *p = judge();
	ck_assert_uint_eq(p->n_untraced, 1 + 3);
	ck_assert_uint_eq(tp_profile_all_steps(p), n_all);
	ck_part(TP_PART_COMPUTE, 50);
}
END_TEST

START_TEST(without_a_whole_traced_step_the_thread_is_judged_alone)
{
	live_run(&live, live_at(0, 0), live_at(0, 60));
	for (unsigned i = 0; i < LIVE_STEPS; i++) {
		live_mark(&live, i);
		live_thread(&live, i);
	}
	live_device(&live, 5); /* it began before, and nothing is known about the time after */
	const struct tp_profile *p = judge();
	ck_assert_uint_eq(p->n_devices, 0);
	ck_assert_ptr_nonnull(warning("devices-not-judged"));
	ck_assert_uint_gt(p->parts[TP_PART_DATALOADER].time_ns, 0);
	ck_assert(p->facts[TP_FACT_DEVICE_BUSY].is_foreign);
}
END_TEST

START_TEST(a_second_rank_is_judged_with_the_first)
{
	struct tp_sink *sink = &live.scene.builder.sink;
	live_fill(&live, 1);
	uint16_t thread = scene_track(&live.scene, 1, TP_TRACK_THREAD);
	uint16_t stream = scene_track(&live.scene, 1, 0);
	tp_sink_track(sink, &(struct tp_track){.id = thread,
					       .rank = 1,
					       .device = TP_TRACK_THREAD,
					       .number = 99});
	for (unsigned i = 0; i < LIVE_STEPS; i++)
		scene_detailed(&live.scene, thread, live_at(i, 5), live_at(i, 6), stream,
			       TP_SPAN_KERNEL, SCENE_GEMM, live_at(i, 10), live_at(i, 90), NULL);
	const struct tp_profile *p = judge();
	ck_assert_uint_eq(p->n_devices, 2);
	ck_assert_double_eq_tol(fact(TP_FACT_DEVICE_COUNT), 2, 1e-9);
	ck_assert_double_eq_tol(fact(TP_FACT_DEVICE_BUSY), 0.65, 1e-6);
	ck_assert_double_eq_tol(fact(TP_FACT_DEVICE_BUSY_LEAST), 0.5, 1e-6);
	ck_assert_uint_eq(p->devices[1].own_ns[TP_PART_COMPUTE],
			  80 * MS * (p->devices[1].window_ns / (100 * MS)));
}
END_TEST

Suite *suite_analyze_pass_devices(void);
Suite *suite_analyze_pass_devices(void)
{
	Suite *suite = suite_create("analyze/pass_devices");
	TCase *tc = tcase_create("devices");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, time_without_gpu_work_is_split_by_cpu_samples);
	tcase_add_test(tc, steps_that_are_not_judged_have_their_device_work_as_well);
	tcase_add_test(tc, gaps_of_the_device_are_blamed_on_what_the_thread_did);
	tcase_add_test(tc, cpu_compute_is_not_judged_when_a_gpu_works);
	tcase_add_test(tc, lines_have_the_time_that_no_device_hides);
	tcase_add_test(tc, facts_of_devices_are_those_of_an_imported_trace);
	tcase_add_test(tc, steps_in_which_events_were_lost_are_not_judged);
	tcase_add_loop_test(tc, steps_that_last_longer_while_they_are_traced_are_warned_of, 0, 2);
	tcase_add_test(tc, steps_that_were_not_traced_are_counted);
	tcase_add_test(tc, without_a_whole_traced_step_the_thread_is_judged_alone);
	tcase_add_test(tc, a_second_rank_is_judged_with_the_first);
	suite_add_tcase(suite, tc);
	return suite;
}
