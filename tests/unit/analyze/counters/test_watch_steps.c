/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of step borders from breakpoints, with hand-made writes and readings. */
#include "analyze/counters/watch_steps.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 3, TASK = 0, ROUNDS_MAX = 400, PERIOD_NS = 20000000, SAMPLE_NS = 9700000 };

/* A loop, as its breakpoint and its readings show it. */
struct loop {
	struct tp_mark marks[4 * ROUNDS_MAX];
	size_t n_marks;
	struct tp_watch_reading readings[ROUNDS_MAX];
	size_t n_readings;
	uint64_t starts_ns[ROUNDS_MAX];
	size_t n_rounds;
	uint64_t guesses_ns[ROUNDS_MAX]; /* borders between readings */
	size_t n_guesses;
	uint64_t number; /* number of the last write */
};

/* Deviations of a loop from an ordinary one. */
struct shape {
	size_t n_rounds;
	size_t epoch;       /* restarts after so many rounds; 0 = never */
	size_t armed_at;    /* first watched round */
	size_t writes;      /* writes per round; 0 = one */
	size_t extra_every; /* one extra write in every n-th round; 0 = none */
	size_t lost_at;     /* the write of this round is lost; 0 = none */
	size_t gone_at;     /* from this round on the writes are another variable's; 0 = never */
	bool is_misread;    /* every reading is wrong */
	bool is_made_anew;  /* created again in each epoch: two writes that are no rounds */
};

static struct loop loop;
static struct tp_trace trace;
static struct tp_analysis analysis;
static struct tp_watch_borders borders;

static void push_mark(enum tp_mark_kind kind, uint64_t time_ns, uint64_t value)
{
	loop.marks[loop.n_marks++] = (struct tp_mark){
		.kind = kind, .task = TASK, .name = NAME, .time_ns = time_ns, .value = value};
}

static void push_write(const struct shape *shape, size_t round, uint64_t time_ns)
{
	if (round < shape->armed_at)
		return;
	loop.number++;
	if (shape->lost_at == 0 || round != shape->lost_at)
		push_mark(TP_MARK_WRITE, time_ns, loop.number);
}

static void write_round(const struct shape *shape, size_t round)
{
	uint64_t time_ns = loop.starts_ns[round];
	size_t n = shape->writes ? shape->writes : 1;
	for (uint64_t i = 2; shape->is_made_anew && round % shape->epoch == 0 && i > 0; i--)
		push_write(shape, round, time_ns - i * 1000);
	n += shape->extra_every && round % shape->extra_every == 0;
	n = shape->gone_at && round >= shape->gone_at ? 5 : n;
	for (size_t i = 0; i < n; i++)
		push_write(shape, round, time_ns + i * 1000000);
}

static uint64_t value_of(const struct shape *shape, size_t round)
{
	return shape->epoch ? round % shape->epoch : round;
}

/* A sample every SAMPLE_NS; a value that changed is read 0.2 ms later. */
static void read_round(const struct shape *shape, size_t round)
{
	uint64_t start_ns = loop.starts_ns[round];
	uint64_t sample_ns = (start_ns / SAMPLE_NS + 1) * SAMPLE_NS;
	loop.guesses_ns[loop.n_guesses++] = sample_ns - SAMPLE_NS / 2;
	loop.readings[loop.n_readings++] =
		(struct tp_watch_reading){.value = value_of(shape, round) +
						   (shape->is_misread ? round * 3 : 0),
					  .time_ns = sample_ns + 200000,
					  .n_borders = loop.n_guesses};
}

static void begin(const struct shape *shape)
{
	memset(&loop, 0, sizeof(loop));
	loop.n_rounds = shape->n_rounds;
	for (size_t i = 0; i < shape->n_rounds; i++)
		loop.starts_ns[i] = 50000000 + i * PERIOD_NS + (i * 7919 % 13) * 100000;
	for (size_t i = 0; i < shape->n_rounds; i++) {
		write_round(shape, i);
		read_round(shape, i);
	}
	trace = (struct tp_trace){.marks = loop.marks, .n_marks = loop.n_marks};
	analysis = (struct tp_analysis){.trace = &trace, .main_task = TASK};
	borders = (struct tp_watch_borders){.n = loop.n_guesses};
	borders.times_ns = malloc(sizeof(loop.guesses_ns));
	memcpy(borders.times_ns, loop.guesses_ns, sizeof(loop.guesses_ns));
}

static bool join_writes(void)
{
	size_t n_writes;
	bool is_joined = tp_watch_steps_join(&borders, &analysis, NAME, loop.readings,
					     loop.n_readings, 0, &n_writes);
	ck_assert(tp_watch_steps_has_writes(&analysis, NAME) == (n_writes > 0));
	return is_joined;
}

static void end(void)
{
	free(borders.times_ns);
}

static size_t n_true(void)
{
	size_t n = 0;
	for (size_t i = 0; i < borders.n; i++)
		for (size_t k = 0; k < loop.n_rounds; k++)
			n += borders.times_ns[i] == loop.starts_ns[k];
	return n;
}

static void expect_order(void)
{
	for (size_t i = 1; i < borders.n; i++)
		ck_assert_uint_gt(borders.times_ns[i], borders.times_ns[i - 1]);
}

START_TEST(borders_are_the_writes_from_when_they_were_watched)
{
	const struct shape shape = {.n_rounds = 200, .armed_at = 17};
	begin(&shape);
	ck_assert(join_writes());
	ck_assert_uint_eq(borders.n, 200);
	ck_assert_uint_ge(borders.n_exact, 200 - 17 - 1);
	ck_assert_uint_eq(n_true(), borders.n_exact);
	expect_order();
	end();
}
END_TEST

START_TEST(a_restarted_counter_stays_exact)
{
	const struct shape shape = {.n_rounds = 200, .armed_at = 5, .epoch = 40};
	begin(&shape);
	ck_assert(join_writes());
	ck_assert_uint_eq(borders.n, 200);
	ck_assert_uint_ge(n_true(), 200 - 5 - 1);
	expect_order();
	end();
}
END_TEST

/* The last rounds were not read: their number is known from the loop's total. */
START_TEST(rounds_after_the_last_reading_have_their_writes)
{
	const struct shape shape = {.n_rounds = 200, .armed_at = 5};
	begin(&shape);
	loop.n_readings -= 4;
	ck_assert(join_writes());
	ck_assert_uint_eq(borders.n, 200);
	ck_assert_uint_ge(n_true(), 200 - 5 - 1);
	expect_order();
	end();
}
END_TEST

START_TEST(a_new_iterator_adds_no_rounds)
{
	const struct shape shape = {.n_rounds = 200,
				    .armed_at = 5,
				    .epoch = 40,
				    .is_made_anew = true};
	begin(&shape);
	ck_assert(join_writes());
	ck_assert_uint_eq(borders.n, 200);
	ck_assert_uint_ge(n_true(), 200 - 5 - 1);
	expect_order();
	end();
}
END_TEST

/* x = x, or a loop variable that the body sets again. */
static const struct shape refused[] = {
	{.n_rounds = 200, .armed_at = 5, .writes = 2},
	{.n_rounds = 200, .armed_at = 5, .writes = 3},
	{.n_rounds = 200, .armed_at = 5, .extra_every = 2},
	{.n_rounds = 200, .armed_at = 5, .is_misread = true},
	{.n_rounds = 200, .armed_at = 0, .gone_at = 1},
	{.n_rounds = 3, .armed_at = 1},
	{.n_rounds = 200, .armed_at = 199},
};

START_TEST(writes_that_do_not_fit_are_not_believed)
{
	begin(&refused[_i]);
	ck_assert(!join_writes());
	ck_assert_uint_eq(borders.n, refused[_i].n_rounds);
	ck_assert_uint_eq(borders.n_exact, 0);
	ck_assert_int_eq(memcmp(borders.times_ns, loop.guesses_ns,
				borders.n * sizeof(*borders.times_ns)),
			 0);
	end();
}
END_TEST

START_TEST(one_that_was_lost_costs_its_own_border_only)
{
	const struct shape shape = {.n_rounds = 200, .armed_at = 5, .lost_at = 100};
	begin(&shape);
	ck_assert(join_writes());
	ck_assert_uint_eq(borders.n, 200);
	ck_assert_uint_ge(n_true(), 200 - 5 - 4);
	ck_assert_uint_le(n_true(), 199);
	expect_order();
	end();
}
END_TEST

START_TEST(a_rare_write_more_costs_the_borders_around_it)
{
	const struct shape shape = {.n_rounds = 300, .armed_at = 5, .extra_every = 50};
	begin(&shape);
	ck_assert(join_writes());
	ck_assert_uint_eq(borders.n, 300);
	ck_assert_uint_eq(n_true(), borders.n_exact);
	ck_assert_uint_ge(borders.n_exact, 270);
	expect_order();
	end();
}
END_TEST

START_TEST(writes_after_the_variable_ended_are_no_borders)
{
	const struct shape shape = {.n_rounds = 200, .armed_at = 5, .gone_at = 190};
	begin(&shape);
	ck_assert(join_writes());
	ck_assert_uint_eq(borders.n, 200);
	ck_assert_uint_eq(n_true(), borders.n_exact);
	ck_assert_uint_ge(borders.n_exact, 180);
	ck_assert_uint_le(borders.n_exact, 186);
	end();
}
END_TEST

START_TEST(writes_of_another_thread_or_name_are_nobodys)
{
	const struct shape shape = {.n_rounds = 50, .armed_at = 5};
	begin(&shape);
	for (size_t i = 0; i < loop.n_marks; i++) {
		loop.marks[i].task = i % 2 ? TASK + 1 : TASK;
		loop.marks[i].name = i % 2 ? NAME : NAME + 1;
	}
	ck_assert(!join_writes());
	end();
}
END_TEST

Suite *suite_analyze_watch_steps(void);
Suite *suite_analyze_watch_steps(void)
{
	Suite *suite = suite_create("analyze/watch_steps");
	TCase *tc = tcase_create("watch_steps");
	tcase_add_test(tc, borders_are_the_writes_from_when_they_were_watched);
	tcase_add_test(tc, a_restarted_counter_stays_exact);
	tcase_add_test(tc, a_new_iterator_adds_no_rounds);
	tcase_add_test(tc, rounds_after_the_last_reading_have_their_writes);
	tcase_add_loop_test(tc, writes_that_do_not_fit_are_not_believed, 0,
			    sizeof(refused) / sizeof(refused[0]));
	tcase_add_test(tc, one_that_was_lost_costs_its_own_border_only);
	tcase_add_test(tc, a_rare_write_more_costs_the_borders_around_it);
	tcase_add_test(tc, writes_after_the_variable_ended_are_no_borders);
	tcase_add_test(tc, writes_of_another_thread_or_name_are_nobodys);
	suite_add_tcase(suite, tc);
	return suite;
}
