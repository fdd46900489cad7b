/* SPDX-License-Identifier: Apache-2.0 */
/* Own time of spans that nest, overlap and leave the judged window; who launched a kernel. */
#include "report/view/view_launches.h"
#include "report/view/view_spans.h"

#include "trainprof/base/buf.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct spans {
	struct tp_trace_builder builder;
	struct tp_trace trace;
	struct tp_profile profile;
};

static void span(struct tp_sink *sink, uint32_t track, const char *name, uint64_t start_ns,
		 uint64_t end_ns)
{
	tp_sink_span(sink, &(struct tp_span){.start_ns = 1000 + start_ns,
					     .end_ns = 1000 + end_ns,
					     .name = tp_sink_string(sink, name),
					     .track = (uint16_t)track,
					     .kind = track ? TP_SPAN_OPERATOR : TP_SPAN_KERNEL});
}

static void init(struct spans *s)
{
	memset(s, 0, sizeof(*s));
	tp_trace_builder_init(&s->builder);
	struct tp_sink *sink = &s->builder.sink;
	tp_sink_track(sink, &(struct tp_track){.id = 0, .device = 0});
	tp_sink_track(sink, &(struct tp_track){.id = 1, .device = TP_TRACK_THREAD, .number = 1});
	tp_sink_track(sink, &(struct tp_track){.id = 2, .device = TP_TRACK_THREAD, .number = 2});
	span(sink, 0, "kernel", 0, 1000);
	span(sink, 1, "outer", 100, 700);
	span(sink, 1, "inner", 200, 300);
	span(sink, 1, "inner", 400, 600);
	span(sink, 1, "innermost", 450, 500);
	span(sink, 1, "outer", 700, 800); /* the next one begins at the end of this one */
	span(sink, 2, "early", 0, 150);   /* the window begins at 100 */
	span(sink, 2, "late", 850, 990);  /* and ends at 900 */
	span(sink, 2, "outside", 950, 960);
	span(sink, 2, "longer", 300, 500);
	span(sink, 2, "overlaps", 400, 600); /* cut at the end of the span in which it began */
	const struct tp_run_info run = {.started_ns = 1000, .ended_ns = 2000};
	tp_trace_build(&s->trace, &s->builder, &run);
	tp_profile_init(&s->profile, &s->trace);
	s->profile.window_start_ns = 100;
	s->profile.window_end_ns = 900;
}

struct expected_cost {
	const char *name;
	uint64_t own_ns, n;
};

static void check_cost(const struct spans *s, const struct tp_view_span_cost *cost,
		       const struct expected_cost *expected, size_t n)
{
	size_t k = 0;
	while (k < n && strcmp(expected[k].name, tp_trace_string(&s->trace, cost->name)) != 0)
		k++;
	ck_assert_uint_lt(k, n);
	ck_assert_uint_eq(cost->own_ns, expected[k].own_ns);
	ck_assert_uint_eq(cost->n, expected[k].n);
}

START_TEST(own_time_is_without_what_is_within)
{
	static const struct expected_cost expected[] = {
		{"outer", 400, 2}, {"inner", 250, 2},    {"longer", 100, 1}, {"overlaps", 100, 1},
		{"early", 50, 1},  {"innermost", 50, 1}, {"late", 50, 1},
	};
	struct spans s;
	size_t n;
	uint64_t all_ns;
	init(&s);
	struct tp_view_span_cost *costs = tp_view_span_costs(&s.profile, &n, &all_ns);
	ck_assert_uint_eq(n, sizeof(expected) / sizeof(expected[0]));
	ck_assert_uint_eq(all_ns, 1000);
	for (size_t i = 0; i < n; i++) {
		check_cost(&s, &costs[i], expected, n);
		ck_assert(!i || costs[i - 1].own_ns >= costs[i].own_ns);
	}
	free(costs);
	tp_profile_release(&s.profile);
	tp_trace_release(&s.trace);
	tp_trace_builder_release(&s.builder);
}
END_TEST

/* ---- launches ---- */

static void kept(struct tp_sink *sink, uint32_t track, enum tp_span_kind kind, const char *name,
		 uint32_t link, uint64_t start_ns, uint64_t end_ns)
{
	tp_sink_span(sink, &(struct tp_span){.start_ns = 1000 + start_ns,
					     .end_ns = 1000 + end_ns,
					     .name = tp_sink_string(sink, name),
					     .link = link,
					     .track = (uint16_t)track,
					     .kind = (uint8_t)kind});
}

static void launch(struct tp_sink *sink, uint32_t link, uint64_t start_ns)
{
	kept(sink, 1, TP_SPAN_CALL, "cudaLaunchKernel", link, start_ns, start_ns + 5);
}

static void gemm(struct tp_sink *sink, uint32_t track, uint32_t link, uint64_t start_ns,
		 uint64_t length_ns)
{
	kept(sink, track, TP_SPAN_KERNEL, "gemm", link, start_ns, start_ns + length_ns);
}

/* Track 0 is a device of rank 0, 1 its thread; 2 a device of rank 1, whose thread is missing. */
static struct tp_sink *begin_launches(struct spans *s)
{
	memset(s, 0, sizeof(*s));
	tp_trace_builder_init(&s->builder);
	struct tp_sink *sink = &s->builder.sink;
	tp_sink_track(sink, &(struct tp_track){.id = 0, .device = 0});
	tp_sink_track(sink, &(struct tp_track){.id = 1, .device = TP_TRACK_THREAD, .number = 1});
	tp_sink_track(sink, &(struct tp_track){.id = 2, .device = 0, .rank = 1});
	return sink;
}

static void end_launches(struct spans *s)
{
	const struct tp_run_info run = {.started_ns = 1000, .ended_ns = 2000};
	tp_trace_build(&s->trace, &s->builder, &run);
	tp_profile_init(&s->profile, &s->trace);
	s->profile.window_end_ns = 900;
}

static void release(struct spans *s)
{
	tp_profile_release(&s->profile);
	tp_trace_release(&s->trace);
	tp_trace_builder_release(&s->builder);
}

static void init_launches(struct spans *s)
{
	struct tp_sink *sink = begin_launches(s);
	kept(sink, 1, TP_SPAN_PYTHON, "train.py(9): step", 0, 0, 150);
	kept(sink, 1, TP_SPAN_ANNOTATION, "ProfilerStep#1", 0, 10, 400); /* overlaps step() */
	kept(sink, 1, TP_SPAN_PYTHON, "net.py(3): forward", 0, 20, 140);
	kept(sink, 1, TP_SPAN_PYTHON, "nn.Module: Linear_7", 0, 30, 130);
	kept(sink, 1, TP_SPAN_OPERATOR, "aten::mm", 0, 40, 120);
	launch(sink, 1, 50);
	launch(sink, 2, 60);
	kept(sink, 1, TP_SPAN_OPERATOR, "aten::mm", 0, 200, 300); /* net.py has ended */
	launch(sink, 3, 210);
	launch(sink, 1, 220); /* the link is used again */
	gemm(sink, 0, 1, 100, 10);
	gemm(sink, 0, 2, 110, 20);
	gemm(sink, 0, 3, 230, 400);
	gemm(sink, 0, 1, 640, 100);
	gemm(sink, 0, 4, 760, 7);  /* its call is not in the trace */
	gemm(sink, 0, 3, 950, 40); /* after the window */
	gemm(sink, 2, 2, 100, 1);  /* of another rank */
	kept(sink, 0, TP_SPAN_KERNEL, "relu", 2, 130, 150);
	end_launches(s);
}

static void check_path(const struct spans *s, const struct tp_view_launch_path *path,
		       uint64_t time_ns, uint64_t n, const char *names)
{
	struct tp_buf text = {0};
	for (size_t i = 0; i < path->depth; i++)
		tp_buf_printf(&text, "%s;", tp_trace_string(&s->trace, path->names[i]));
	ck_assert_str_eq(tp_buf_text(&text), names);
	tp_buf_release(&text);
	ck_assert_uint_eq(path->time_ns, time_ns);
	ck_assert_uint_eq(path->n, n);
}

static uint32_t string_of(const struct tp_trace *trace, const char *text)
{
	uint32_t id = 0;
	while (strcmp(trace->strings[id], text) != 0)
		id++;
	return id;
}

START_TEST(kernels_lead_to_who_launched_them)
{
	struct spans s;
	struct tp_view_launches launches;
	init_launches(&s);
	tp_view_launches_find(&launches, &s.profile, string_of(&s.trace, "gemm"));
	ck_assert_uint_eq(launches.n_paths, 2);
	check_path(&s, &launches.paths[0], 500, 2, "aten::mm;");
	check_path(&s, &launches.paths[1], 30, 2, "aten::mm;net.py(3): forward;train.py(9): step;");
	ck_assert_uint_eq(launches.all_ns, 538);
	ck_assert(launches.has_functions);
	tp_view_launches_release(&launches);
	tp_view_launches_find(&launches, &s.profile, string_of(&s.trace, "aten::mm"));
	ck_assert_uint_eq(launches.n_paths, 0);
	ck_assert(!launches.has_functions);
	tp_view_launches_release(&launches);
	release(&s);
}
END_TEST

/* The innermost callers are what is looked for. */
START_TEST(deep_paths_lose_their_outermost_callers)
{
	enum { N = TP_VIEW_LAUNCH_DEPTH + 6 };
	struct spans s;
	struct tp_view_launches launches;
	struct tp_sink *sink = begin_launches(&s);
	char name[32];
	for (int i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		kept(sink, 1, TP_SPAN_PYTHON, name, 0, (uint64_t)i, 500 - (uint64_t)i);
	}
	launch(sink, 1, 100);
	gemm(sink, 0, 1, 120, 10);
	end_launches(&s);
	tp_view_launches_find(&launches, &s.profile, string_of(&s.trace, "gemm"));
	ck_assert_uint_eq(launches.n_paths, 1);
	const struct tp_view_launch_path *path = &launches.paths[0];
	ck_assert_uint_eq(path->depth, TP_VIEW_LAUNCH_DEPTH);
	ck_assert_str_eq(tp_trace_string(&s.trace, path->names[0]), "f69");
	ck_assert_str_eq(tp_trace_string(&s.trace, path->names[path->depth - 1]), "f6");
	tp_view_launches_release(&launches);
	release(&s);
}
END_TEST

/* b, c and d overlap and end before e, in which both launches are. */
START_TEST(ranges_that_have_ended_are_no_callers)
{
	struct spans s;
	struct tp_view_launches launches;
	struct tp_sink *sink = begin_launches(&s);
	kept(sink, 1, TP_SPAN_ANNOTATION, "a", 0, 0, 500);
	kept(sink, 1, TP_SPAN_ANNOTATION, "b", 0, 10, 30);
	kept(sink, 1, TP_SPAN_ANNOTATION, "c", 0, 20, 40);
	kept(sink, 1, TP_SPAN_ANNOTATION, "d", 0, 35, 50);
	kept(sink, 1, TP_SPAN_ANNOTATION, "e", 0, 45, 400);
	launch(sink, 1, 100);
	launch(sink, 2, 110);
	kept(sink, 1, TP_SPAN_ANNOTATION, "f", 0, 120, 300);
	launch(sink, 3, 130);
	gemm(sink, 0, 1, 150, 1);
	gemm(sink, 0, 2, 151, 2);
	gemm(sink, 0, 3, 153, 30);
	end_launches(&s);
	tp_view_launches_find(&launches, &s.profile, string_of(&s.trace, "gemm"));
	ck_assert_uint_eq(launches.n_paths, 2);
	check_path(&s, &launches.paths[0], 30, 1, "f;e;a;");
	check_path(&s, &launches.paths[1], 3, 2, "e;a;");
	tp_view_launches_release(&launches);
	release(&s);
}
END_TEST

/* The clocks of device and host differ by microseconds. */
START_TEST(a_kernel_that_seems_to_begin_before_its_call_was_launched_by_it)
{
	struct spans s;
	struct tp_view_launches launches;
	struct tp_sink *sink = begin_launches(&s);
	kept(sink, 1, TP_SPAN_OPERATOR, "aten::mm", 0, 40, 120);
	launch(sink, 1, 50);
	gemm(sink, 0, 1, 47, 10);
	end_launches(&s);
	tp_view_launches_find(&launches, &s.profile, string_of(&s.trace, "gemm"));
	ck_assert_uint_eq(launches.n_paths, 1);
	check_path(&s, &launches.paths[0], 10, 1, "aten::mm;");
	tp_view_launches_release(&launches);
	release(&s);
}
END_TEST

Suite *suite_report_view_spans(void);
Suite *suite_report_view_spans(void)
{
	Suite *suite = suite_create("report_view_spans");
	TCase *tc = tcase_create("spans");
	tcase_add_test(tc, own_time_is_without_what_is_within);
	tcase_add_test(tc, kernels_lead_to_who_launched_them);
	tcase_add_test(tc, deep_paths_lose_their_outermost_callers);
	tcase_add_test(tc, ranges_that_have_ended_are_no_callers);
	tcase_add_test(tc, a_kernel_that_seems_to_begin_before_its_call_was_launched_by_it);
	suite_add_tcase(suite, tc);
	return suite;
}
