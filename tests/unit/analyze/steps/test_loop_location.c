/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of loops of Python programs: the number of rounds, and the lines. */
#include "analyze/pyscene.h"

#include <math.h>

#define TOP     "train.py><module>:120 "
#define FORWARD " " PY_MODULE " net.py>Net.forward:20 " PY_MODULE " libtorch_cpu.so!conv:1"
#define BACKWARD                                                                                   \
	" " PY_TORCH "_tensor.py>Tensor.backward:488 " PY_TORCH                                    \
	"autograd/__init__.py>backward:197 libtorch_cpu.so!conv_backward:1"
#define STEP " " PY_TORCH "optim/adam.py>Adam.step:163 libtorch_cpu.so!addcdiv:1"
#define NEXT " " PY_TORCH "utils/data/dataloader.py>_BaseDataLoaderIter.__next__:628"
#define GET                                                                                        \
	NEXT " " PY_TORCH                                                                          \
	     "utils/data/dataloader.py>_MultiProcessingDataLoaderIter._next_data:1325 " PY_STD     \
	     "multiprocessing/connection.py>wait:936"

struct loop_story {
	struct sim sim;
	size_t n; /* number of rounds so far */
};

static void work(struct loop_story *story, const char *path, double ms)
{
	sim_work(&story->sim, path, sim_ms(&story->sim, ms, 0.2));
}

/* An interpreter has two ways to make the same call, and native frames outside of everything. */
static void work_either_way(struct loop_story *story, const char *caller, const char *below,
			    double ms)
{
	char path[2000];
	const char *way = sim_uniform(&story->sim) < 0.3
				  ? " /usr/bin/python3.11!vectorcall:3 /usr/bin/python3.11!call:9"
				  : " /usr/bin/python3.11!vectorcall:3";
	snprintf(path, sizeof(path), "/usr/bin/python3.11!start:1 %s%s%s", caller, way, below);
	sim_work(&story->sim, path, sim_ms(&story->sim, ms, 0.2));
}

static void round_of(struct loop_story *story, const char *in, int line, double ms)
{
	char caller[1000];
	static const struct {
		const char *below;
		double share;
	} parts[] = {{FORWARD, 0.35}, {BACKWARD, 0.5}, {STEP, 0.15}};
	for (int i = 0; i < 3; i++) {
		snprintf(caller, sizeof(caller), "%s:%d", in, line + 2 * i);
		for (int piece = 0; piece < 4; piece++)
			work_either_way(story, caller, parts[i].below, ms * parts[i].share / 4);
	}
	story->n++;
}

/* Workers are late: polls of the wait have Python frames only. */
static void waits(struct loop_story *story)
{
	for (int i = 0; i < 300; i++) {
		work(story, TOP "train.py>main:88" NEXT, 0.2);
		sim_block(&story->sim, TOP "train.py>main:88" GET, TP_CAUSE_POLL,
			  sim_ms(&story->sim, 40, 0.3));
		round_of(story, TOP "train.py>main", 89, 60);
	}
}

/* No worker: the loader runs in the trainer. */
static void loads_inline(struct loop_story *story)
{
	for (int i = 0; i < 200; i++) {
		for (int k = 0; k < 8; k++) {
			work(story,
			     TOP "train.py>main:88" NEXT
				 " train.py>Pictures.__getitem__:30 libjpeg.so.62!decode:1",
			     6);
			work(story,
			     TOP "train.py>main:88" NEXT
				 " train.py>Pictures.__getitem__:33 /usr/bin/python3.11!eval:1",
			     2);
		}
		round_of(story, TOP "train.py>main", 89, 60);
	}
}

/* All code is at module level. */
static void in_module(struct loop_story *story)
{
	for (int i = 0; i < 300; i++)
		round_of(story, "train.py><module>", 40, 120);
}

/* One method for the epoch, one for the step. */
static void in_methods(struct loop_story *story)
{
	for (int epoch = 0; epoch < 5; epoch++) {
		for (int i = 0; i < 60; i++) {
			work(story, TOP "train.py>Trainer.fit:50 train.py>Trainer.epoch:61" NEXT,
			     2);
			round_of(story,
				 TOP "train.py>Trainer.fit:50 train.py>Trainer.epoch:62 "
				     "train.py>Trainer.step",
				 70, 100);
		}
		work(story, TOP "train.py>Trainer.fit:52 train.py>log:90 libc.so.6!write:1", 30);
	}
}

/* Epochs with an evaluation each, which calls the same model, and a checkpoint. */
static void evaluates(struct loop_story *story)
{
	for (int epoch = 0; epoch < 6; epoch++) {
		for (int i = 0; i < 50; i++) {
			sim_block(&story->sim, TOP "train.py>main:88" GET, TP_CAUSE_POLL,
				  sim_ms(&story->sim, 30, 0.3));
			round_of(story, TOP "train.py>main", 89, 80);
		}
		for (int i = 0; i < 15; i++) {
			sim_block(&story->sim, TOP "train.py>main:96 train.py>evaluate:30" GET,
				  TP_CAUSE_POLL, sim_ms(&story->sim, 30, 0.3));
			work(story, TOP "train.py>main:96 train.py>evaluate:31" FORWARD, 30);
		}
		work(story,
		     TOP "train.py>main:98 " PY_TORCH
			 "serialization.py>save:420 libtorch_cpu.so!writev:1",
		     200);
	}
}

/* The program's work before its loop takes long, and calls into libraries again and again. */
static void starts_slowly(struct loop_story *story)
{
	for (int i = 0; i < 200; i++) {
		work(story, TOP "train.py>main:60 train.py>tokenize:9 train.py>clean:3", 20);
		work(story, TOP "train.py>main:60 train.py>tokenize:10 train.py>count:3", 20);
	}
	for (int i = 0; i < 150; i++) {
		work(story,
		     TOP "train.py>main:88 train.py>get_batch:14 _multiarray_umath.so!take:1", 20);
		round_of(story, TOP "train.py>main", 89, 100);
	}
}

/* A library's trainer around the user's model. */
static void in_a_library(struct loop_story *story)
{
#define LIGHTNING "/v/lib/python3.10/site-packages/lightning/pytorch/"
	for (int i = 0; i < 200; i++) {
		work(story,
		     TOP LIGHTNING "loops/fit_loop.py>_FitLoop.advance:455 " LIGHTNING
				   "loops/fetchers.py>_PrefetchDataFetcher.__next__:134",
		     20);
		round_of(story,
			 TOP LIGHTNING "loops/fit_loop.py>_FitLoop.advance:470 " LIGHTNING
				       "loops/optimization/automatic.py>_AutomaticOptimization.run",
			 180, 100);
	}
#undef LIGHTNING
}

/* The interpreter rewrites its calls while it runs: the same line has another instruction. */
static void rewrites(struct loop_story *story)
{
	for (int i = 0; i < 200; i++) {
		story->sim.shift = i < 40 ? 0 : 4;
		work(story,
		     TOP "train.py>main:88" NEXT
			 " train.py>Pictures.__getitem__:30 libjpeg.so.62!decode:1",
		     60);
		round_of(story, TOP "train.py>main", 89, 60);
	}
}

/* Python could not be read in every tenth sample. */
static void reads_badly(struct loop_story *story)
{
	for (int i = 0; i < 200; i++) {
		round_of(story, TOP "train.py>main", 89, 150);
		if (i % 2)
			work(story, "/usr/bin/python3.11!start:1 libtorch_cpu.so!conv:1", 30);
	}
}

static const struct {
	void (*tell)(struct loop_story *);
	const char *symbol;
	unsigned first_line;
	unsigned last_line;
} shapes[] = {
	{waits, "main", 88, 93},
	{loads_inline, "main", 88, 93},
	{in_module, "<module>", 40, 44},
	{in_methods, "Trainer.epoch", 61, 62},
	{evaluates, "main", 88, 93},
	{starts_slowly, "main", 88, 93},
	{in_a_library, "_FitLoop.advance", 455, 470},
	{reads_badly, "main", 89, 93},
	{rewrites, "main", 88, 93},
};

#define HUNDRED                                                                                    \
	"a23456789_a23456789_a23456789_a23456789_a23456789_"                                       \
	"a23456789_a23456789_a23456789_a23456789_a23456789_"
#define LONG HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED

static const struct {
	const char *caller;
	const char *counts; /* function whose variable grows … */
	uint64_t of;        /* … once in this many rounds */
	const char *loops;
	unsigned line;
} rows[] = {
	{"main", "main", 1, "main", 61},
	{"main", "main", 5, "step", 45},  /* the variable counts something else */
	{"main", "other", 1, "step", 45}, /* not on the stack */
	{LONG, LONG, 1, LONG, 61},
};

START_TEST(rounds_are_counted_to_one_percent_and_have_a_place)
{
	struct loop_story story = {.n = 0};
	struct sim *sim = &story.sim;
	struct tp_error err;
	struct tp_analyze_options options = {.steps = TP_STEPS_AUTO};
	sim_init_as(sim, 99, 50, 23, "/usr/bin/python3.11");
	shapes[_i].tell(&story);
	sim_finish(sim);
	tp_profile_release(&sim->profile);
	ck_assert_int_eq(tp_analyze(&sim->profile, &sim->trace, sim->patterns, &options, &err),
			 TP_OK);
	const struct tp_profile *profile = &sim->profile;
	double n = (double)story.n;
	ck_assert_msg(fabs((double)profile->n_steps - n) <= 0.01 * n, "row %d: %zu of %zu: %s", _i,
		      profile->n_steps, story.n, profile->steps_reason);
	ck_assert(profile->loop.is_known);
	const char *symbol = tp_trace_string(&sim->trace, profile->loop.symbol);
	ck_assert_msg(strcmp(symbol, shapes[_i].symbol) == 0, "row %d: %s", _i,
		      profile->steps_reason);
	ck_assert_msg(profile->loop.first_line == shapes[_i].first_line &&
			      profile->loop.last_line == shapes[_i].last_line,
		      "row %d: lines %u to %u", _i, profile->loop.first_line,
		      profile->loop.last_line);
	ck_assert_ptr_nonnull(strstr(profile->steps_reason, "lines"));
	sim_release(sim);
}
END_TEST

static void train_counted(struct loop_story *story, const char *caller, const char *counter,
			  uint64_t of)
{
	char path[1000];
	snprintf(path, sizeof(path), TOP "train.py>%s:61 train.py>step", caller);
	struct tp_sink *sink = &story->sim.builder.sink;
	for (uint64_t i = 0; i < 150; i++) {
		struct tp_mark mark = {.kind = TP_MARK_COUNTER,
				       .time_ns = 1 + story->sim.now_ns,
				       .name = tp_sink_string(sink, counter),
				       .value = i / of};
		if (i % of == 0)
			tp_sink_mark(sink, &mark);
		round_of(story, path, 45, 100);
	}
}

/* A function of a step is called by one that does nothing else: only the counting variable shows
 * which one loops. */
START_TEST(the_function_with_the_counting_variable_loops)
{
	struct loop_story story = {.n = 0};
	struct sim *sim = &story.sim;
	struct tp_error err;
	struct tp_analyze_options options = {.steps = TP_STEPS_AUTO};
	char name[1000];
	sim_init_as(sim, 99, 50, 23, "/usr/bin/python3.11");
	snprintf(name, sizeof(name), "train.py:%u %s() #4",
		 tp_sink_string(&sim->builder.sink, rows[_i].counts), rows[_i].counts);
	train_counted(&story, rows[_i].caller, name, rows[_i].of);
	sim_finish(sim);
	tp_profile_release(&sim->profile);
	ck_assert_int_eq(tp_analyze(&sim->profile, &sim->trace, sim->patterns, &options, &err),
			 TP_OK);
	const struct tp_profile *profile = &sim->profile;
	ck_assert_double_eq_tol((double)profile->n_steps, 150, 1);
	ck_assert_str_eq(tp_trace_string(&sim->trace, profile->loop.symbol), rows[_i].loops);
	ck_assert_uint_eq(profile->loop.first_line, rows[_i].line);
	sim_release(sim);
}
END_TEST

/* A rank waits for others in each round; what it does between is mostly too short for a sample. */
static void exchange_counted(struct loop_story *story, const char *counter)
{
	struct tp_sink *sink = &story->sim.builder.sink;
	for (uint64_t i = 0; i < 200; i++) {
		struct tp_mark mark = {.kind = TP_MARK_COUNTER,
				       .time_ns = 1 + story->sim.now_ns,
				       .name = tp_sink_string(sink, counter),
				       .value = i + 1};
		work(story, TOP "train.py>main:130 train.py>compute:25", i % 4 ? 1.5 : 30);
		mark.time_ns = 1 + story->sim.now_ns;
		tp_sink_mark(sink, &mark);
		work(story, TOP "train.py>main:132 MPI.so!allreduce:1 libmpi.so.40!progress:1", 22);
		story->n++;
	}
}

/* Several calls that stacks show as one are rounds of the for loop around them. */
START_TEST(rounds_of_the_for_loop_split_stays_that_stacks_show_as_one)
{
	struct loop_story story = {.n = 0};
	struct sim *sim = &story.sim;
	struct tp_error err;
	struct tp_analyze_options options = {.steps = TP_STEPS_AUTO};
	char name[200];
	sim_init_as(sim, 99, 50, 23, "/usr/bin/python3.11");
	const char *function = _i ? "other" : "main";
	snprintf(name, sizeof(name),
		 "train.py:%u %s() for loop over a range at line 120, variable _",
		 tp_sink_string(&sim->builder.sink, function), function);
	exchange_counted(&story, name);
	sim_finish(sim);
	tp_profile_release(&sim->profile);
	ck_assert_int_eq(tp_analyze(&sim->profile, &sim->trace, sim->patterns, &options, &err),
			 TP_OK);
	/* The counter of a function that is not on the stack counts something else. */
	ck_assert(_i ? sim->profile.n_steps < 100 : sim->profile.n_steps >= 199);
	sim_release(sim);
}
END_TEST

Suite *suite_analyze_loop_location(void);
Suite *suite_analyze_loop_location(void)
{
	Suite *suite = suite_create("analyze/loopplace");
	TCase *tc = tcase_create("loopplace");
	tcase_add_loop_test(tc, rounds_are_counted_to_one_percent_and_have_a_place, 0,
			    sizeof(shapes) / sizeof(shapes[0]));
	tcase_add_loop_test(tc, the_function_with_the_counting_variable_loops, 0,
			    sizeof(rows) / sizeof(rows[0]));
	tcase_add_loop_test(tc, rounds_of_the_for_loop_split_stays_that_stacks_show_as_one, 0, 2);
	suite_add_tcase(suite, tc);
	return suite;
}
