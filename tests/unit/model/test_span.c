/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the order of spans. */
#include "trainprof/model/span.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <check.h>
#include <stdlib.h>

/* Enclosing spans come before enclosed ones, and equal ones keep their order: `link` has the
 * original order. */
static void assert_sorted(const struct tp_span *spans, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		const struct tp_span *a = &spans[i - 1];
		const struct tp_span *b = &spans[i];
		ck_assert(a->start_ns <= b->start_ns);
		if (a->start_ns == b->start_ns)
			ck_assert(a->end_ns >= b->end_ns);
		if (a->start_ns == b->start_ns && a->end_ns == b->end_ns)
			ck_assert_uint_lt(a->link, b->link);
	}
}

/* Patterns of ascending runs that merging has to handle, and the number of different times. */
static const struct {
	size_t n;
	uint64_t n_times;
	size_t run; /* length of ascending runs; 1 = none */
} orders[] = {
	{0, 1, 1},           {1, 1, 1},
	{2, 1, 1},           {2, 100, 1},
	{3, 3, 2},           {100, 1, 100},
	{100, 7, 1},         {1000, 1000000, 1},
	{1000, 50, 10},      {4097, 100000, 4096},
	{5000, 100000, 333}, {20000, 100000000, 19},
};

START_TEST(any_order_is_sorted_and_nothing_is_lost)
{
	size_t n = orders[_i].n;
	struct tp_span *spans = tp_alloc((n + 1) * sizeof(*spans));
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t random = tp_hash_mix(i, (uint64_t)_i);
		uint64_t start = i % orders[_i].run ? spans[i - 1].start_ns + random % 3
						    : random % orders[_i].n_times;
		spans[i] = (struct tp_span){.start_ns = start,
					    .end_ns = start + random / 7 % 5,
					    .link = (uint32_t)i};
		sum += i;
	}
	tp_spans_sort(spans, n);
	assert_sorted(spans, n);
	for (size_t i = 0; i < n; i++)
		sum -= spans[i].link;
	ck_assert_uint_eq(sum, 0);
	free(spans);
}
END_TEST

START_TEST(kinds_have_names)
{
	ck_assert_str_eq(tp_span_kind_name(TP_SPAN_KERNEL), "kernel");
	ck_assert_str_eq(tp_span_kind_name(TP_SPAN_OS_CALL), "os_call");
	ck_assert_str_eq(tp_span_kind_name(TP_N_SPAN_KINDS), "none");
}
END_TEST

Suite *suite_model_span(void);
Suite *suite_model_span(void)
{
	Suite *suite = suite_create("model/span");
	TCase *tc = tcase_create("span");
	tcase_add_loop_test(tc, any_order_is_sorted_and_nothing_is_lost, 0,
			    sizeof(orders) / sizeof(orders[0]));
	tcase_add_test(tc, kinds_have_names);
	suite_add_tcase(suite, tc);
	return suite;
}
