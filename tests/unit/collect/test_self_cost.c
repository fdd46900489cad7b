/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of trainprof's measurement of its own cost. */
#include "collect/registry.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/collector.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static double last_gauge(const struct tp_trace_builder *sink, enum tp_metric metric)
{
	double value = -1;
	for (size_t i = 0; i < sink->n_records; i++)
		if (sink->records[i].kind == TP_RECORD_GAUGE &&
		    sink->records[i].of.gauge.metric == metric)
			value = sink->records[i].of.gauge.value;
	return value;
}

static double accounted_ns(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3;
}

START_TEST(cost_is_what_the_kernel_accounts)
{
	struct tp_trace_builder sink;
	struct tp_collect_context context = {0};
	struct tp_collector *self;
	tp_trace_builder_init(&sink);
	context.sink = &sink.sink;
	ck_assert_int_eq(tp_self_collector.open(&self, &context, NULL), TP_OK);
	self->type = &tp_self_collector;
	ck_assert_int_eq(tp_self_collector.start(self, 1, NULL), TP_OK);
	double cpu_before = last_gauge(&sink, TP_METRIC_SELF_CPU);
	double rss_before = last_gauge(&sink, TP_METRIC_SELF_RSS);
	const size_t size = 32 << 20;
	char *memory = malloc(size);
	memset(memory, 1, size);
	__asm__ volatile(""
			 :
			 : "r"(memory)
			 : "memory"); /* the compiler must not optimize it away */
	uint64_t until_ns = tp_clock_self_cpu_ns() + 30 * TP_NS_PER_MS;
	while (tp_clock_self_cpu_ns() < until_ns)
		;
	double least_ns = accounted_ns();
	ck_assert_int_eq(tp_self_collector.stop(self, tp_clock_now_ns(), NULL), TP_OK);
	double most_ns = accounted_ns();
	double cpu_ns = last_gauge(&sink, TP_METRIC_SELF_CPU);
	ck_assert_double_ge(cpu_ns - cpu_before, 30e6);
	/* Between both readings of the kernel; it is the sum of two parts, each exact to the
	 * microsecond. */
	ck_assert_double_ge(cpu_ns, least_ns - 2e3);
	ck_assert_double_le(cpu_ns, most_ns + 2e3);
	double grown = last_gauge(&sink, TP_METRIC_SELF_RSS) - rss_before;
	ck_assert_double_eq_tol(grown / (double)size, 1, 0.2);
	ck_assert_int_eq(memory[size / 2], 1);
	free(memory);
	tp_self_collector.close(self);
	tp_trace_builder_release(&sink);
}
END_TEST

Suite *suite_collect_self_cost(void);
Suite *suite_collect_self_cost(void)
{
	Suite *suite = suite_create("collect/own_cost");
	TCase *tc = tcase_create("own_cost");
	tcase_add_test(tc, cost_is_what_the_kernel_accounts);
	suite_add_tcase(suite, tc);
	return suite;
}
