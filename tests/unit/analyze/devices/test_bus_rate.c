/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the rate of collectives, on scenes in which all times are known. */
#include "analyze/spanscene.h"

#include "trainprof/model/fact.h"

static struct scene s;

static void setup(void)
{
	scene_init(&s, 2);
}

static void teardown(void)
{
	scene_release(&s);
}

/* Adds a collective on one rank, in its only step. */
static void add_collective(uint32_t rank, const char *op, uint64_t bytes, uint32_t n_ranks,
			   uint32_t sequence, uint64_t length_ns)
{
	uint16_t thread = scene_track(&s, rank, TP_TRACK_THREAD);
	uint16_t stream = scene_track(&s, rank, 0);
	struct tp_detail detail = {.bytes = bytes, .n_ranks = n_ranks, .sequence = sequence};
	detail.op = tp_sink_string(&s.builder.sink, op);
	detail.group = tp_sink_string(&s.builder.sink, "00000000000000aa");
	scene_step(&s, thread, 1, 1000, 3000);
	scene_detailed(&s, thread, 1000, 1002, stream, TP_SPAN_KERNEL, SCENE_ALLRED,
		       2500 - length_ns, 2500, &detail);
}

static const struct {
	const char *op;
	uint32_t n_ranks;
	double factor; /* factor for the bytes; 0 = unknown */
} ops[] = {
	{"ncclAllReduce", 8, 2.0 * 7 / 8},
	{"ncclAllReduce", 2, 1},
	{"ncclAllGather", 8, 7},
	{"ncclReduceScatter", 4, 3},
	{"ncclAlltoAll", 4, 3},
	{"ncclBroadcast", 8, 1},
	{"ncclSend", 0, 1},
	{"ncclAllReduce", 0, 0},
	{"ncclAllReduce", 1, 0},
	{"allreduce", 8, 0},
	{"", 8, 0},
};

START_TEST(the_rate_is_that_of_nccls_own_tests)
{
	add_collective(0, ops[_i].op, 4096, ops[_i].n_ranks, 0, 100);
	scene_judge(&s);
	const struct tp_quantity *fact = &s.profile.facts[TP_FACT_COMM_BUS_RATE];
	ck_assert_int_eq(fact->is_known, ops[_i].factor > 0);
	if (fact->is_known)
		ck_assert_double_eq_tol(fact->value, ops[_i].factor * 4096 / 100e-9, 1);
	else
		ck_assert_ptr_nonnull(fact->missing);
}
END_TEST

/* The rank that came last has the shortest kernel: the other one waited for it. */
START_TEST(the_shortest_kernel_of_a_collective_counts)
{
	add_collective(0, "ncclAllReduce", 4096, 2, 7, 900);
	add_collective(1, "ncclAllReduce", 4096, 2, 7, 100);
	scene_judge(&s);
	ck_assert_double_eq_tol(s.profile.facts[TP_FACT_COMM_BUS_RATE].value, 4096 / 100e-9, 1);
}
END_TEST

Suite *suite_analyze_bus_rate(void);
Suite *suite_analyze_bus_rate(void)
{
	Suite *suite = suite_create("analyze_busrate");
	TCase *tests = tcase_create("busrate");
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, the_rate_is_that_of_nccls_own_tests, 0,
			    sizeof(ops) / sizeof(ops[0]));
	tcase_add_test(tests, the_shortest_kernel_of_a_collective_counts);
	suite_add_tcase(suite, tests);
	return suite;
}
