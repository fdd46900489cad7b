/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of which function of a native program is watched, with simulated programs and a test double
 * of the kernel's breakpoints. */
#include "collect/watch/entry_watch.h"

#include "collect/watchdouble.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/host_info.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <stdio.h>

enum { TID = 100000001, BASE = 0x400000 };

/* A part of a step: a function that is called once or several times in a row. */
struct part {
	char caller; /* caller of the function; 0 = main */
	char function;
	char leaf; /* innermost function of its samples */
	double ms; /* time per call */
	unsigned calls;
	unsigned every; /* called in every n-th step; 0 = in each */
};

static struct tp_host host;
static struct tp_trace_builder sink;
static struct tp_task_tree *tree;
static struct tp_watch_list list;
static struct tp_entry_watch watch;
static uint64_t now_ns;
static uint64_t next_sample_ns;
static uint64_t next_update_ns;
static bool is_unmapped;

static uint64_t start_of(char function)
{
	return 0x1000 + (uint64_t)function * 256;
}

static bool find_address(void *context, const struct tp_task_tree_task *task, const char *path,
			 uint64_t start, uint64_t *address)
{
	(void)context;
	ck_assert_int_eq(task->info.tid, TID);
	ck_assert_str_eq(path, "/bin/train");
	*address = BASE + start;
	return !is_unmapped;
}

static void setup(void)
{
	watchdouble_reset();
	tp_trace_builder_init(&sink);
	tree = tp_task_tree_new(&host, &sink.sink);
	tp_task_tree_fork(tree, TID, TID, 0, 0);
	/* 5 us per hit: 200 hits per second */
	tp_watch_list_init(&list, tree, &watchdouble_system, 5000, 0.001);
	tp_entry_watch_init(&watch, &list, &sink.sink, find_address, NULL);
	now_ns = next_sample_ns = next_update_ns = TP_NS_PER_S;
	is_unmapped = false;
}

static void teardown(void)
{
	tp_watch_list_release(&list);
	tp_entry_watch_release(&watch);
	tp_task_tree_free(tree);
	tp_trace_builder_release(&sink);
}

static uint32_t frame_of(char function)
{
	char name[2] = {function, 0};
	const struct tp_frame frame = {.kind = TP_FRAME_NATIVE,
				       .module = tp_sink_string(&sink.sink, "/bin/train"),
				       .symbol = tp_sink_string(&sink.sink, name),
				       .address = start_of(function) + 4,
				       .function_start = start_of(function)};
	return tp_sink_frame(&sink.sink, &frame);
}

static void add_sample(const struct part *part)
{
	uint32_t frames[4];
	size_t n = 0;
	frames[n++] = frame_of(part->leaf);
	frames[n++] = frame_of(part->function);
	if (part->caller)
		frames[n++] = frame_of(part->caller);
	frames[n++] = frame_of('M');
	const struct tp_sample sample = {.task = tp_task_tree_find(tree, TID)->info.id,
					 .time_ns = now_ns,
					 .stack = tp_sink_stack(&sink.sink, frames, n, 0)};
	tp_entry_watch_add(&watch, &sample, TID);
}

/* Simulates one call, with the sampler and trainprof's loop running meanwhile. */
static void call(const struct part *part)
{
	uint64_t end_ns = now_ns + (uint64_t)(part->ms * 1e6);
	watchdouble_hit(BASE + start_of(part->function), now_ns);
	while (next_sample_ns < end_ns || next_update_ns < end_ns) {
		if (next_sample_ns <= next_update_ns) {
			now_ns = next_sample_ns;
			/* not in step with any part */
			next_sample_ns += 10 * TP_NS_PER_MS + now_ns / 1000 % 7919 * 100;
			add_sample(part);
		} else {
			now_ns = next_update_ns;
			next_update_ns += 50 * TP_NS_PER_MS;
			tp_watch_list_drain(&list);
			tp_entry_watch_update(&watch, now_ns);
		}
	}
	now_ns = end_ns;
}

static void live(const struct part *parts, size_t n, double seconds)
{
	uint64_t end_ns = now_ns + (uint64_t)(seconds * 1e9);
	for (unsigned step = 0; now_ns < end_ns; step++) {
		char last = 0;
		for (size_t i = 0; i < n; i++) {
			if (parts[i].every && step % parts[i].every != 0)
				continue;
			if (parts[i].caller && parts[i].caller != last)
				watchdouble_hit(BASE + start_of(parts[i].caller), now_ns);
			last = parts[i].caller;
			for (unsigned k = 0; k < parts[i].calls; k++)
				call(&parts[i]);
		}
	}
	tp_watch_list_drain(&list);
}

/* Returns the function whose calls were emitted (0 = none), and their number. */
static char recorded(size_t *n)
{
	char name = 0;
	uint64_t number = 0;
	*n = 0;
	for (size_t i = 0; i < sink.n_records; i++) {
		const struct tp_mark *mark = &sink.records[i].of.mark;
		if (sink.records[i].kind != TP_RECORD_MARK || mark->kind != TP_MARK_CALL)
			continue;
		const char *text = tp_strtab_text(&sink.sink.strings, mark->name);
		ck_assert(name == 0 || name == text[0]);
		ck_assert_str_eq(text + 1, "() in train");
		name = text[0];
		ck_assert_uint_eq(mark->value, ++number);
		++*n;
	}
	return name;
}

static size_t n_taken(void)
{
	size_t n = 0;
	for (int i = 0; i < WATCHDOUBLE_REGISTERS; i++)
		n += watchdouble[i].is_taken;
	return n;
}

/* Each row: a program, and the functions one of which must be found ("" = none may be). */
static const struct {
	struct part parts[5];
	const char *answers;
	double step_ms;
} rows[] = {
	/* forward of six layers, backward, update */
	{{{0, 'F', 'L', 7, 1, 0}, {0, 'B', 'K', 11, 1, 0}, {0, 'U', 'U', 2, 1, 0}}, "FBU", 20},
	{{{0, 'F', 'L', 2, 1, 0}, {0, 'B', 'K', 3, 1, 0}, {0, 'U', 'U', 1, 1, 0}}, "FBU", 6},
	{{{0, 'F', 'L', 50, 1, 0}, {0, 'B', 'K', 70, 1, 0}, {0, 'U', 'U', 10, 1, 0}}, "FBU", 130},
	/* one function per step */
	{{{'T', 'F', 'L', 7, 1, 0}, {'T', 'B', 'K', 13, 1, 0}}, "TFB", 20},
	/* layers are called from main: six in a row, then six the other way, then an update */
	{{{0, 'L', 'L', 1, 6, 0}, {0, 'K', 'K', 2, 6, 0}, {0, 'U', 'U', 2, 1, 0}}, "U", 20},
	/* an evaluation every fourth step, which works in the same functions */
	{{{0, 'F', 'L', 7, 1, 0},
	  {0, 'B', 'K', 11, 1, 0},
	  {0, 'U', 'U', 2, 1, 0},
	  {0, 'E', 'L', 6, 1, 4}},
	 "FBU",
	 21.5},
	/* a function that works in shared leaves, and alone: it may be an evaluation */
	{{{0, 'E', 'L', 20, 1, 0}, {0, 'L', 'L', 0.5, 4, 0}}, "", 22},
	/* micro-batches, then an update for each of four tensors */
	{{{0, 'F', 'L', 8, 1, 0}, {0, 'B', 'K', 10, 1, 0}, {0, 'U', 'U', 2, 4, 4}}, "U", 80},
	/* three layers forward, three backward: nothing says that these are not batches */
	{{{0, 'L', 'L', 5, 3, 0}, {0, 'K', 'K', 10, 3, 0}}, "", 45},
	/* epochs of five batches, each with an evaluation as long as ten: both come once per epoch
	 */
	{{{0, 'F', 'L', 20, 5, 0}, {0, 'E', 'L', 200, 1, 0}}, "", 300},
	/* two batches and an evaluation of five: bursts of backward passes are epochs */
	{{{0, 'F', 'L', 8, 1, 0},
	  {0, 'B', 'K', 12, 1, 0},
	  {0, 'F', 'L', 8, 1, 0},
	  {0, 'B', 'K', 12, 1, 0},
	  {0, 'F', 'L', 16, 5, 0}},
	 "F",
	 17.1},
	/* a checkpoint every tenth step */
	{{{0, 'F', 'L', 7, 1, 0}, {0, 'B', 'K', 11, 1, 0}, {0, 'C', 'C', 12, 1, 10}}, "FB", 19.2},
	/* four micro-batches for each update */
	{{{0, 'F', 'L', 4, 1, 0}, {0, 'B', 'K', 6, 1, 0}, {0, 'U', 'U', 4, 1, 4}}, "U", 44},
	/* only layers: no function is called visibly once per step */
	{{{0, 'L', 'L', 1, 6, 0}, {0, 'K', 'K', 2, 6, 0}}, "", 18},
	/* 250 and 500 steps per second exceed the budget */
	{{{0, 'F', 'L', 1.6, 1, 0}, {0, 'B', 'K', 2.4, 1, 0}}, "", 4},
	{{{0, 'F', 'L', 0.8, 1, 0}, {0, 'B', 'K', 1.2, 1, 0}}, "", 2},
};

START_TEST(the_function_of_a_step_is_found_or_none)
{
	size_t n_parts = 0;
	size_t n;
	while (n_parts < 5 && rows[_i].parts[n_parts].function)
		n_parts++;
	live(rows[_i].parts, n_parts, 30);
	char name = recorded(&n);
	if (rows[_i].answers[0] == '\0') {
		ck_assert_msg(name == 0, "row %d: %zu calls of %c", _i, n, name);
		return;
	}
	ck_assert_msg(name && strchr(rows[_i].answers, name), "row %d: %zu calls of %c", _i, n,
		      name ? name : '-');
	/* Recorded from within the first ten seconds on, and each call once. */
	ck_assert_msg((double)n >= 20000 / rows[_i].step_ms, "row %d: %zu calls", _i, n);
	ck_assert_msg((double)n <= 30000 / rows[_i].step_ms, "row %d: %zu calls", _i, n);
	ck_assert_uint_eq(n_taken(), 1);
}
END_TEST

START_TEST(a_program_that_marks_its_steps_is_left_alone)
{
	watch.is_off = true;
	live(rows[0].parts, 3, 10);
	size_t n;
	ck_assert_int_eq(recorded(&n), 0);
	ck_assert_uint_eq(n_taken(), 0);
}
END_TEST

START_TEST(one_that_begins_to_mark_them_is_let_go)
{
	live(rows[0].parts, 3, 10);
	ck_assert_uint_eq(n_taken(), 1);
	watch.is_off = true;
	live(rows[0].parts, 3, 1);
	ck_assert_uint_eq(n_taken(), 0);
}
END_TEST

START_TEST(after_an_exec_the_search_begins_anew)
{
	live(rows[0].parts, 3, 10);
	ck_assert_uint_eq(n_taken(), 1);
	unsigned n_opens = watchdouble_n_opens;
	tp_task_tree_exec(tree, TID, now_ns);
	live(rows[0].parts, 3, 0.3);
	ck_assert_uint_eq(n_taken(), 0);
	live(rows[0].parts, 3, 10);
	ck_assert_uint_eq(n_taken(), 1);
	ck_assert_uint_gt(watchdouble_n_opens, n_opens);
}
END_TEST

START_TEST(functions_that_are_not_mapped_are_not_tried)
{
	is_unmapped = true;
	live(rows[0].parts, 3, 10);
	ck_assert_uint_eq(watchdouble_n_opens, 0);
}
END_TEST

START_TEST(without_registers_nothing_is_tried_for_ever)
{
	watchdouble_failure = ENOSPC;
	live(rows[0].parts, 3, 60);
	ck_assert_uint_le(watchdouble_n_opens, 5 * 8);
	size_t n;
	ck_assert_int_eq(recorded(&n), 0);
}
END_TEST

START_TEST(a_program_that_ends_during_a_trial_leaves_nothing)
{
	live(rows[0].parts, 3, 1.5);
	tp_task_tree_exit(tree, TID, now_ns);
	tp_watch_list_drain(&list);
	tp_entry_watch_update(&watch, now_ns);
	ck_assert_uint_eq(n_taken(), 0);
}
END_TEST

Suite *suite_collect_entry_watch(void);
Suite *suite_collect_entry_watch(void)
{
	Suite *suite = suite_create("collect/entry_watch");
	TCase *tc = tcase_create("entry_watch");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, the_function_of_a_step_is_found_or_none, 0,
			    sizeof(rows) / sizeof(rows[0]));
	tcase_add_test(tc, a_program_that_marks_its_steps_is_left_alone);
	tcase_add_test(tc, one_that_begins_to_mark_them_is_let_go);
	tcase_add_test(tc, after_an_exec_the_search_begins_anew);
	tcase_add_test(tc, functions_that_are_not_mapped_are_not_tried);
	tcase_add_test(tc, without_registers_nothing_is_tried_for_ever);
	tcase_add_test(tc, a_program_that_ends_during_a_trial_leaves_nothing);
	suite_add_tcase(suite, tc);
	return suite;
}
