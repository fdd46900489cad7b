/* SPDX-License-Identifier: Apache-2.0 */
/* Own time of spans that nest, overlap and extend beyond the judged window. */
#include "report/view/view_spans.h"

#include <check.h>
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

START_TEST(own_time_is_without_what_is_within)
{
	static const struct {
		const char *name;
		uint64_t own_ns, n;
	} expected[] = {
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
		size_t k = 0;
		while (k < n &&
		       strcmp(expected[k].name, tp_trace_string(&s.trace, costs[i].name)) != 0)
			k++;
		ck_assert_uint_lt(k, n);
		ck_assert_uint_eq(costs[i].own_ns, expected[k].own_ns);
		ck_assert_uint_eq(costs[i].n, expected[k].n);
		ck_assert(!i || costs[i - 1].own_ns >= costs[i].own_ns);
	}
	free(costs);
	tp_profile_release(&s.profile);
	tp_trace_release(&s.trace);
	tp_trace_builder_release(&s.builder);
}
END_TEST

Suite *suite_report_view_spans(void);
Suite *suite_report_view_spans(void)
{
	Suite *suite = suite_create("report_view_spans");
	TCase *tc = tcase_create("spans");
	tcase_add_test(tc, own_time_is_without_what_is_within);
	suite_add_tcase(suite, tc);
	return suite;
}
