/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of steps that calls of a function show, with hand-made marks. */
#include "analyze/counters/call_steps.h"

#include <check.h>

enum { TASK = 2, NAME = 5, OTHER = 6, CALLS_MAX = 1000, PERIOD_NS = 8000000 };

enum { STACK_TRAIN = 1, STACK_OTHER = 2, SAMPLES_MAX = 400 };

static struct tp_mark marks[CALLS_MAX];
static const char *strings[] = {"", "train", "main", "trainer", "", "train() in train", "other()"};
static struct tp_frame frames[] = {{0}, {.symbol = 1}, {.symbol = 2}};
static const uint32_t train_frames[] = {1, 2};
static const uint32_t other_frames[] = {2};
static struct tp_stack stacks[] = {{0}, {train_frames, 2, 0}, {other_frames, 1, 0}};
static struct tp_sample samples[SAMPLES_MAX];
static size_t sample_index[TASK + 2];
static struct tp_trace trace;
static struct tp_analysis analysis;
static struct tp_counter_steps found;

static void setup(void)
{
	trace = (struct tp_trace){.marks = marks,
				  .strings = strings,
				  .n_strings = sizeof(strings) / sizeof(*strings),
				  .frames = frames,
				  .n_frames = sizeof(frames) / sizeof(*frames),
				  .stacks = stacks,
				  .n_stacks = sizeof(stacks) / sizeof(*stacks),
				  .samples = samples,
				  .sample_index = sample_index};
	sample_index[TASK + 1] = 0;
	analysis = (struct tp_analysis){.trace = &trace, .main_task = TASK};
	found = (struct tp_counter_steps){0};
}

static void add(uint32_t task, uint32_t name, uint64_t time_ns, uint64_t number)
{
	marks[trace.n_marks++] = (struct tp_mark){.kind = TP_MARK_CALL,
						  .task = task,
						  .name = name,
						  .time_ns = time_ns,
						  .value = number};
}

static void add_steps(size_t n, uint64_t first)
{
	for (size_t i = 0; i < n; i++)
		add(TASK, NAME, (first + i) * PERIOD_NS + (i * 7919 % 11) * 50000, first + i);
}

START_TEST(each_call_is_a_border)
{
	add_steps(200, 1);
	ck_assert(tp_call_steps_find(&found, &analysis));
	ck_assert_uint_eq(found.n, 200);
	ck_assert_uint_eq(found.n_exact, 200);
	ck_assert_uint_eq(found.name, NAME);
	ck_assert_double_ge(found.regularity, 0.99);
	ck_assert_double_eq_tol(found.period_ns, PERIOD_NS, PERIOD_NS / 10.0);
	for (size_t i = 0; i < found.n; i++)
		ck_assert_uint_eq(found.borders[i], marks[i].time_ns);
	tp_counter_steps_release(&found);
}
END_TEST

START_TEST(lost_calls_part_what_is_known)
{
	add_steps(50, 1);
	add_steps(120, 60);
	ck_assert(tp_call_steps_find(&found, &analysis));
	ck_assert_uint_eq(found.n, 120);
	ck_assert_uint_eq(found.borders[0], marks[50].time_ns);
	tp_counter_steps_release(&found);
}
END_TEST

START_TEST(too_few_or_irregular_calls_are_no_steps)
{
	if (_i == 0)
		add_steps(4, 1);
	for (uint64_t i = 0; i < 100 && _i == 1; i++) /* six in a row, then the rest */
		add(TASK, NAME, i / 6 * PERIOD_NS + i % 6 * (i % 7) * 90000, i + 1);
	for (uint64_t i = 0; i < 100 && _i == 2; i++)
		add(TASK + 1, NAME, i * PERIOD_NS, i + 1);
	ck_assert(!tp_call_steps_find(&found, &analysis));
	ck_assert_ptr_null(found.borders);
}
END_TEST

START_TEST(the_function_with_most_calls_has_them)
{
	add(TASK, OTHER, 1000, 1);
	add_steps(100, 1);
	add(TASK, OTHER, 900 * (uint64_t)PERIOD_NS, 2);
	ck_assert(tp_call_steps_find(&found, &analysis));
	ck_assert_uint_eq(found.name, NAME);
	ck_assert_uint_eq(found.n, 100);
	tp_counter_steps_release(&found);
}
END_TEST

/* A sample each 10 ms until then; each tenth one is not in the function that trains. */
static void sample_until(double ms, uint32_t stack)
{
	size_t *n = &sample_index[TASK + 1];
	for (; (double)*n * 10 < ms; ++*n)
		samples[*n] = (struct tp_sample){.task = TASK,
						 .time_ns = *n * 10000000,
						 .stack = *n % 10 ? stack : STACK_OTHER};
}

/* Steps of 8 ms from 0.2 s on; the breakpoint is set at 1 s. */
static const struct {
	uint32_t before; /* the function that runs before the breakpoint is set */
	size_t n_inferred;
} earlier[] = {{STACK_TRAIN, 100}, {STACK_OTHER, 0}};

START_TEST(calls_before_the_breakpoint_are_estimated)
{
	sample_until(200, STACK_OTHER);
	sample_until(1000, earlier[_i].before);
	sample_until(2600, STACK_TRAIN);
	add_steps(200, 125);
	ck_assert(tp_call_steps_find(&found, &analysis));
	ck_assert_uint_le(found.n_inferred, earlier[_i].n_inferred + 1);
	ck_assert_uint_ge(found.n_inferred + 2, earlier[_i].n_inferred);
	ck_assert_uint_eq(found.n, 200 + found.n_inferred);
	ck_assert_uint_eq(found.n_exact, 200);
	ck_assert_uint_eq(found.borders[found.n_inferred], marks[0].time_ns);
	for (size_t i = 1; i < found.n; i++)
		ck_assert_uint_gt(found.borders[i], found.borders[i - 1]);
	tp_counter_steps_release(&found);
}
END_TEST

/* Steps of 8 ms; the breakpoint is taken down at 1 s. */
static const struct {
	double until_ms; /* the function runs */
	size_t n_inferred;
	bool is_part;
} later[] = {{1000, 0, false}, {1800, 100, false}, {3600, 0, true}};

START_TEST(calls_after_the_breakpoint_are_estimated)
{
	sample_until(later[_i].until_ms, STACK_TRAIN);
	sample_until(3900, STACK_OTHER);
	add_steps(125, 1);
	ck_assert(tp_call_steps_find(&found, &analysis));
	ck_assert_uint_le(found.n_inferred, later[_i].n_inferred + 2);
	ck_assert_uint_ge(found.n_inferred + 2, later[_i].n_inferred);
	ck_assert_uint_eq(found.n, 125 + found.n_inferred);
	ck_assert(!found.is_part_before);
	ck_assert_int_eq(found.is_part_after, later[_i].is_part);
	ck_assert_uint_eq(found.borders[124], marks[124].time_ns);
	for (size_t i = 1; i < found.n; i++)
		ck_assert_uint_gt(found.borders[i], found.borders[i - 1]);
	tp_counter_steps_release(&found);
}
END_TEST

/* Times that no program makes; and a breakpoint that was set for the last few of many calls. */
START_TEST(no_more_calls_are_estimated_than_were_recorded)
{
	sample_until(3000, STACK_TRAIN);
	for (uint64_t i = 0; i < 30; i++)
		add(TASK, NAME, 2000000000 + (_i ? i * PERIOD_NS : 0), 1 + i);
	ck_assert(tp_call_steps_find(&found, &analysis));
	ck_assert_uint_eq(found.n, 30);
	ck_assert_uint_eq(found.n_inferred, 0);
	ck_assert_int_eq(found.is_part_before, _i == 1);
	ck_assert_int_eq(found.is_part_after, _i == 1);
	tp_counter_steps_release(&found);
}
END_TEST

/* Steps of 8 ms in the first 0.4 s and from 1 s on, when the breakpoint is set: none are estimated
 * for the time without the function. Likewise after it is taken down. */
START_TEST(no_calls_are_estimated_where_the_function_was_not_seen)
{
	sample_until(_i ? 1000 : 400, STACK_TRAIN);
	sample_until(_i ? 1600 : 1000, STACK_OTHER);
	sample_until(_i ? 2000 : 2600, STACK_TRAIN);
	add_steps(_i ? 125 : 200, _i ? 1 : 125);
	ck_assert(tp_call_steps_find(&found, &analysis));
	ck_assert_uint_eq(found.n_inferred, 0);
	tp_counter_steps_release(&found);
}
END_TEST

Suite *suite_analyze_call_steps(void);
Suite *suite_analyze_call_steps(void)
{
	Suite *suite = suite_create("analyze/call_steps");
	TCase *tc = tcase_create("call_steps");
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, each_call_is_a_border);
	tcase_add_test(tc, lost_calls_part_what_is_known);
	tcase_add_loop_test(tc, too_few_or_irregular_calls_are_no_steps, 0, 3);
	tcase_add_test(tc, the_function_with_most_calls_has_them);
	tcase_add_loop_test(tc, no_calls_are_estimated_where_the_function_was_not_seen, 0, 2);
	tcase_add_loop_test(tc, no_more_calls_are_estimated_than_were_recorded, 0, 2);
	tcase_add_loop_test(tc, calls_after_the_breakpoint_are_estimated, 0,
			    (int)(sizeof(later) / sizeof(*later)));
	tcase_add_loop_test(tc, calls_before_the_breakpoint_are_estimated, 0,
			    (int)(sizeof(earlier) / sizeof(*earlier)));
	suite_add_tcase(suite, tc);
	return suite;
}
