/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ranks and stages that compute longer than others, on jobs whose answer is known. */
#include "analyze/spanscene.h"

#include "trainprof/model/fact.h"

static struct scene s;
static uint16_t threads[SCENE_RANKS];
static uint16_t streams[SCENE_RANKS];

static void setup(void)
{
	scene_init(&s, 1);
}

static void teardown(void)
{
	scene_release(&s);
}

static void job_init(uint32_t n_ranks)
{
	scene_release(&s);
	scene_init(&s, n_ranks);
	for (uint32_t i = 0; i < n_ranks; i++) {
		threads[i] = scene_track(&s, i, TP_TRACK_THREAD);
		streams[i] = scene_track(&s, i, (int32_t)i);
	}
}

static void exchange(uint32_t rank, const char *op, const char *group, uint64_t start, uint64_t end)
{
	struct tp_detail detail = {.group = tp_sink_string(&s.builder.sink, group),
				   .op = tp_sink_string(&s.builder.sink, op),
				   .bytes = 4096};
	scene_detailed(&s, threads[rank], start - 4, start - 2, streams[rank], TP_SPAN_KERNEL,
		       SCENE_ALLRED, start, end, &detail);
}

static void compute(uint32_t rank, uint64_t start, uint64_t end)
{
	scene_op(&s, threads[rank], start - 4, streams[rank], TP_SPAN_KERNEL, SCENE_GEMM, start,
		 end);
}

static double fact(enum tp_fact id)
{
	ck_assert_msg(s.profile.facts[id].is_known, "fact %d is not known", (int)id);
	return s.profile.facts[id].value;
}

/* Rank `slow` computes for `slow_ns` and the others for 1000; all sum their gradients, in 100. */
static void add_replicas(uint32_t n_ranks, uint32_t slow, uint64_t slow_ns)
{
	uint64_t step_ns = (slow_ns > 1000 ? slow_ns : 1000) + 100;
	for (unsigned i = 0; i < 4; i++) {
		uint64_t at = 10000 + i * step_ns;
		for (uint32_t rank = 0; rank < n_ranks; rank++) {
			uint64_t end = at + (rank == slow ? slow_ns : 1000);
			scene_step(&s, threads[rank], i, at - 5, at - 5 + step_ns);
			compute(rank, at, end);
			exchange(rank, "allreduce", "all", end, at + step_ns);
		}
	}
}

static void replicas(uint32_t n_ranks, uint32_t slow, uint64_t slow_ns)
{
	job_init(n_ranks);
	add_replicas(n_ranks, slow, slow_ns);
	scene_judge(&s);
}

START_TEST(a_slow_rank_is_named_with_what_it_costs)
{
	replicas(4, 2, 1900);
	ck_assert_double_eq(fact(TP_FACT_COMM_SLOW_RANK), 2);
	ck_assert_double_eq(fact(TP_FACT_COMM_SLOW_RANK_PEERS), 3);
	ck_assert_double_eq_tol(fact(TP_FACT_COMM_SLOW_RANK_TIMES), 1.9, 1e-9);
	ck_assert_double_eq_tol(fact(TP_FACT_COMM_SLOW_RANK_EXCESS), 900.0 / 2000, 1e-3);
	ck_assert_double_eq_tol(fact(TP_FACT_COMM_SLOW_RANK_SAVED), 900.0 / 2000, 1e-3);
	ck_assert_double_eq(fact(TP_FACT_COMM_STAGES), 1);
	ck_assert(!s.profile.facts[TP_FACT_COMM_SLOW_STAGE].is_known);
}
END_TEST

START_TEST(equal_ranks_have_no_slow_one)
{
	replicas(4, 2, 1000);
	ck_assert_double_eq_tol(fact(TP_FACT_COMM_SLOW_RANK_TIMES), 1, 1e-9);
	ck_assert_double_eq_tol(fact(TP_FACT_COMM_SLOW_RANK_EXCESS), 0, 1e-9);
	ck_assert_double_eq_tol(fact(TP_FACT_COMM_SLOW_RANK_SAVED), 0, 1e-9);
	ck_assert_double_eq_tol(fact(TP_FACT_COMM_UNEVEN_SAVED), 0, 1e-9);
}
END_TEST

/* If two ranks are late in turn, each loses half of the difference in every step. */
START_TEST(ranks_that_are_slow_in_turn_are_uneven)
{
	job_init(2);
	for (unsigned i = 0; i < 4; i++) {
		uint64_t at = 10000 + i * 2000;
		for (uint32_t rank = 0; rank < 2; rank++) {
			uint64_t end = at + (rank == i % 2 ? 1900 : 1100);
			scene_step(&s, threads[rank], i, at - 5, at + 1995);
			compute(rank, at, end);
			exchange(rank, "allreduce", "all", end, at + 2000);
		}
	}
	scene_judge(&s);
	ck_assert_double_eq_tol(fact(TP_FACT_COMM_SLOW_RANK_TIMES), 1, 1e-2);
	ck_assert_double_eq_tol(fact(TP_FACT_COMM_UNEVEN_SAVED), 400.0 / 2000, 1e-3);
}
END_TEST

/* Two stages, one rank each; the second computes three times as long. They take turns, so that a
 * step lasts for the sum of both, whichever has the layers. */
static void two_stages(int64_t first_stage, int64_t second_stage)
{
	job_init(2);
	s.ranks[0].stage = first_stage;
	s.ranks[1].stage = second_stage;
	for (unsigned i = 0; i < 4; i++) {
		uint64_t at = 10000 + i * 4100;
		for (uint32_t rank = 0; rank < 2; rank++)
			scene_step(&s, threads[rank], i, at - 5, at + 4095);
		compute(0, at, at + 1000);
		exchange(0, "sendrecv", "rank 0 to rank 1", at + 1000, at + 1050);
		exchange(1, "sendrecv", "rank 0 to rank 1", at + 10, at + 1050);
		compute(1, at + 1050, at + 4050);
		exchange(0, "allreduce", "all", at + 1060, at + 4100);
		exchange(1, "allreduce", "all", at + 4050, at + 4100);
	}
	scene_judge(&s);
}

START_TEST(stages_are_found_from_senders_and_receivers)
{
	two_stages(-1, -1);
	ck_assert_double_eq(fact(TP_FACT_COMM_STAGES), 2);
	ck_assert_double_eq(fact(TP_FACT_COMM_SLOW_STAGE), 1);
	ck_assert_double_eq_tol(fact(TP_FACT_COMM_SLOW_STAGE_TIMES), 3, 1e-9);
	/* No rank has a peer, and one micro-batch gains nothing from even stages. */
	ck_assert(!s.profile.facts[TP_FACT_COMM_SLOW_RANK].is_known);
	ck_assert_double_eq_tol(fact(TP_FACT_COMM_SLOW_STAGE_SAVED), 0, 1e-9);
	ck_assert_double_eq_tol(fact(TP_FACT_COMM_SLOW_STAGE_MOST), 1000.0 / 4100, 1e-3);
}
END_TEST

START_TEST(stages_that_the_file_names_are_taken)
{
	two_stages(1, 0);
	ck_assert_double_eq(fact(TP_FACT_COMM_STAGES), 2);
	ck_assert_double_eq(fact(TP_FACT_COMM_SLOW_STAGE), 0);
}
END_TEST

/* Nothing shows that they do the same work. */
START_TEST(ranks_without_anything_in_common_are_not_compared)
{
	job_init(2);
	for (uint32_t rank = 0; rank < 2; rank++) {
		scene_step(&s, threads[rank], 1, 1000, 3000);
		compute(rank, 1010, 2000 + 900 * rank);
	}
	scene_judge(&s);
	ck_assert(!s.profile.facts[TP_FACT_COMM_SLOW_RANK].is_known);
	ck_assert_ptr_nonnull(s.profile.facts[TP_FACT_COMM_SLOW_RANK].missing);
}
END_TEST

START_TEST(stages_that_never_communicate_are_not_compared)
{
	job_init(2);
	for (uint32_t rank = 0; rank < 2; rank++) {
		s.ranks[rank].stage = rank;
		for (unsigned i = 0; i < 4; i++) {
			uint64_t at = 10000 + i * 4000;
			scene_step(&s, threads[rank], i, at - 5, at + 3995);
			compute(rank, at, at + 1000 + 2000 * rank);
		}
	}
	scene_judge(&s);
	ck_assert(!s.profile.facts[TP_FACT_COMM_SLOW_STAGE].is_known);
	ck_assert_ptr_nonnull(s.profile.facts[TP_FACT_COMM_SLOW_STAGE].missing);
}
END_TEST

/* A track may name a rank of which the file says nothing. */
START_TEST(a_slow_rank_that_the_file_does_not_list_has_its_place)
{
	job_init(4);
	s.run.n_ranks = 1;
	add_replicas(4, 2, 1900);
	scene_judge(&s);
	ck_assert_double_eq(fact(TP_FACT_COMM_SLOW_RANK), 2);
}
END_TEST

Suite *suite_analyze_rank_balance(void);
Suite *suite_analyze_rank_balance(void)
{
	Suite *suite = suite_create("analyze/rank_balance");
	TCase *tc = tcase_create("balance");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_slow_rank_is_named_with_what_it_costs);
	tcase_add_test(tc, equal_ranks_have_no_slow_one);
	tcase_add_test(tc, ranks_that_are_slow_in_turn_are_uneven);
	tcase_add_test(tc, stages_are_found_from_senders_and_receivers);
	tcase_add_test(tc, stages_that_the_file_names_are_taken);
	tcase_add_test(tc, ranks_without_anything_in_common_are_not_compared);
	tcase_add_test(tc, stages_that_never_communicate_are_not_compared);
	tcase_add_test(tc, a_slow_rank_that_the_file_does_not_list_has_its_place);
	suite_add_tcase(suite, tc);
	return suite;
}
