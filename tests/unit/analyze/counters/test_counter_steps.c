/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of steps that only a variable of the program shows. */
#include "analyze/pyscene.h"
#include "analyze/sim.h"

#include "analyze/counters/counter_steps.h"
#include "trainprof/base/memory.h"

#include <math.h>

enum { MAX_COUNTERS = 3, MAX_STEPS = 2000 };

/* Every step has this stack, whatever it does. */
#define LINE "train.py><module>:120 train.py>main:111 libtorch.so!item:1"

#define BACKWARD "train.py><module>:120 train.py>main:107 net.py>backward:9 libtorch.so!conv:2"
#define TRAIN                                                                                      \
	"train.py><module>:120 train.py>main:107 " PY_TORCH                                        \
	"autograd/__init__.py>backward:200 libtorch.so!conv:2"
#define UPDATE                                                                                     \
	"train.py><module>:120 train.py>main:111 " PY_TORCH                                        \
	"optim/adam.py>Adam.step:163 libtorch.so!item:1"

struct counting {
	struct sim sim;
	uint64_t values[MAX_COUNTERS];
	uint64_t told[MAX_COUNTERS];
	uint64_t totals[MAX_COUNTERS];   /* 0 = none */
	const char *names[MAX_COUNTERS]; /* NULL = its number */
	int n;
	uint64_t starts_ns[MAX_STEPS];
	size_t n_steps;
};

static void begin(struct counting *c, int n)
{
	*c = (struct counting){.n = n};
	sim_init(&c->sim, 99, 50, 5);
	for (int i = 0; i < n; i++)
		c->told[i] = c->values[i] = UINT64_MAX; /* not set yet */
}

/* Emits the changed values after a sample, as the collector does. */
static void add_changes(struct counting *c)
{
	for (int i = 0; i < c->n; i++) {
		char name[96];
		char number[16];
		if (c->values[i] == c->told[i])
			continue;
		snprintf(number, sizeof(number), "#%d", i);
		snprintf(name, sizeof(name), "/home/me/train.py:103 main() %s",
			 c->names[i] ? c->names[i] : number);
		struct tp_sink *sink = &c->sim.builder.sink;
		struct tp_mark mark = {.kind = TP_MARK_COUNTER,
				       .time_ns = 1 + c->sim.now_ns,
				       .name = tp_sink_string(sink, name),
				       .value = c->values[i]};
		tp_sink_mark(sink, &mark);
		if (c->totals[i] && c->told[i] == UINT64_MAX) {
			mark.kind = TP_MARK_TOTAL;
			mark.value = c->totals[i];
			tp_sink_mark(sink, &mark);
		}
		c->told[i] = c->values[i];
	}
}

static void work_at(struct counting *c, const char *path, double ms)
{
	uint64_t left_ns = sim_ms(&c->sim, ms, 0.2);
	while (left_ns > 0) {
		uint64_t slice_ns = left_ns < 200000 ? left_ns : 200000;
		uint64_t next_ns = c->sim.next_sample_ns;
		sim_work(&c->sim, path, slice_ns);
		if (c->sim.next_sample_ns != next_ns)
			add_changes(c);
		left_ns -= slice_ns;
	}
}

static void work(struct counting *c, double ms)
{
	work_at(c, LINE, ms);
}

static void work_step(struct counting *c, double ms)
{
	c->starts_ns[c->n_steps++] = c->sim.now_ns;
	work(c, ms);
}

static void judge(struct counting *c)
{
	struct tp_error err;
	sim_finish(&c->sim);
	ck_assert_int_eq(tp_pass_steps(&c->sim.analysis, &err), TP_OK);
}

static void end(struct counting *c)
{
	sim_release(&c->sim);
	free(c);
}

/* Number of found steps that begin within one sampling period of a true one. */
static size_t n_in_place(const struct counting *c)
{
	size_t n = 0;
	for (size_t i = 0; i < c->sim.profile.n_steps; i++) {
		double nearest_ns = INFINITY;
		for (size_t k = 0; k < c->n_steps; k++) {
			double off_ns = fabs((double)c->sim.profile.steps[i].start_ns -
					     (double)c->starts_ns[k]);
			nearest_ns = off_ns < nearest_ns ? off_ns : nearest_ns;
		}
		n += nearest_ns <= 1e9 / 99;
	}
	return n;
}

static void expect_steps(const struct counting *c)
{
	const struct tp_profile *profile = &c->sim.profile;
	double n = (double)c->n_steps;
	ck_assert_msg(profile->steps_found_by == TP_STEPS_COUNTER, "%s", profile->steps_reason);
	ck_assert_ptr_nonnull(strstr(profile->steps_reason, "train.py:103 main() "));
	ck_assert_ptr_nonnull(strstr(profile->steps_reason, c->names[0] ? c->names[0] : "#0"));
	ck_assert_double_eq_tol((double)profile->n_steps, n, fmax(1, 0.01 * n));
	ck_assert_double_ge((double)n_in_place(c), 0.97 * (double)profile->n_steps);
	double all_ns = (double)(profile->steps[profile->n_steps - 1].start_ns -
				 profile->steps[0].start_ns);
	double true_ns = (double)(c->starts_ns[c->n_steps - 1] - c->starts_ns[0]);
	ck_assert_double_eq_tol(all_ns / true_ns, 1, 0.01);
}

static const struct {
	double ms;
	int n;
} rows[] = {{20, 1000}, {42, 150}, {49, 20}, {90, 300}, {12, 1000}};

START_TEST(steps_of_one_line_are_counted)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 1);
	work(c, 300);
	for (int i = 0; i < rows[_i].n; i++) {
		c->values[0] = (uint64_t)i;
		work_step(c, rows[_i].ms);
	}
	judge(c);
	expect_steps(c);
	end(c);
}
END_TEST

/* Batches grow to eight times, in the second row all at once. The first steps are seen without
 * Python frames, so their number follows from the position of the loop and the time. */
START_TEST(steps_that_grow_are_counted)
{
	enum { N_UNREAD = 5, N_STEPS = 200 };
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 1);
	c->names[0] = "for loop over a range at line 109";
	for (int i = 0; i < N_STEPS; i++) {
		double ms = _i ? (i < N_STEPS * 6 / 10 ? 12 : 96) : 12 + 84.0 * i / N_STEPS;
		c->starts_ns[c->n_steps++] = c->sim.now_ns;
		if (i >= N_UNREAD)
			c->values[0] = (uint64_t)i + 1;
		work_at(c, i < N_UNREAD ? "libpython.so!start:1" : LINE, ms);
	}
	judge(c);
	expect_steps(c);
	end(c);
}
END_TEST

/* The second variable counts epochs of 4 s, the third parts of a batch. */
START_TEST(steps_are_distinguished_from_epochs_and_parts)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 3);
	for (int i = 0; i < 800; i++) {
		c->values[0] = (uint64_t)i % 80;
		c->values[1] = (uint64_t)i / 80;
		c->starts_ns[c->n_steps++] = c->sim.now_ns;
		for (uint64_t part = 0; part < 4; part++) {
			c->values[2] = part;
			work(c, 50.0 / 4);
		}
	}
	judge(c);
	expect_steps(c);
	end(c);
}
END_TEST

/* The second variable counts epochs of 0.6 s; the optimizer runs in each step. */
START_TEST(steps_of_short_epochs_are_counted)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 2);
	for (int i = 0; i < 300; i++) {
		c->values[0] = (uint64_t)i % 12;
		c->values[1] = (uint64_t)i / 12;
		work_step(c, 47);
		work_at(c, UPDATE, 3);
	}
	judge(c);
	expect_steps(c);
	end(c);
}
END_TEST

/* Only the form of the outer loop shows that it counts epochs of 1.2 s. */
START_TEST(a_loop_over_data_inside_one_over_a_range_has_batches)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 2);
	c->names[0] = "for loop at line 110";
	c->names[1] = "for loop over a range at line 109";
	for (int i = 0; i < 360; i++) {
		c->values[0] = (uint64_t)i % 60 + 1;
		c->values[1] = (uint64_t)i / 60 + 1;
		work_step(c, 20);
	}
	judge(c);
	expect_steps(c);
	end(c);
}
END_TEST

/* Many outer rounds are steps, and the rounds of the inner loop are parts of a step. */
START_TEST(a_loop_over_data_inside_many_rounds_has_parts_of_steps)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 2);
	c->names[0] = "for loop over a range at line 109";
	c->names[1] = "for loop at line 110";
	for (int i = 0; i < 60; i++) {
		c->values[0] = (uint64_t)i + 1;
		c->starts_ns[c->n_steps++] = c->sim.now_ns;
		for (uint64_t part = 0; part < 10; part++) {
			c->values[1] = part + 1;
			work(c, 20);
		}
	}
	judge(c);
	expect_steps(c);
	end(c);
}
END_TEST

/* A breakpoint on another variable has the better borders; they are still known to be batches. */
START_TEST(a_variable_that_counts_with_batches_counts_batches)
{
	struct counting *c = tp_alloc(sizeof(*c));
	struct tp_counter_steps counted;
	begin(c, 2);
	c->names[0] = "done";
	c->names[1] = "_num_yielded of the for loop at line 110";
	struct tp_sink *sink = &c->sim.builder.sink;
	struct tp_mark mark = {.kind = TP_MARK_WRITE,
			       .name = tp_sink_string(sink, "/home/me/train.py:103 main() done")};
	for (uint64_t i = 0; i < 200; i++) {
		c->values[0] = i;
		c->values[1] = i % 50 + 1;
		mark.time_ns = 1 + c->sim.now_ns;
		mark.value = i + 1;
		tp_sink_mark(sink, &mark);
		work_step(c, 20);
	}
	sim_finish(&c->sim);
	ck_assert(tp_counter_steps_find(&counted, &c->sim.analysis, 0, c->sim.now_ns));
	ck_assert_uint_gt(counted.n_exact, 150);
	ck_assert(counted.is_of_batches);
	tp_counter_steps_release(&counted);
	end(c);
}
END_TEST

/* Libraries are loaded one after the other, each in two phases that stacks distinguish. */
START_TEST(rounds_of_imports_do_not_hide_a_loop_that_counts)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 1);
	c->names[0] = "for loop at line 110";
	c->totals[0] = 300;
	for (int i = 0; i < 6; i++) {
		work_at(c, "train.py><module>:2 torch/__init__.py><module>:20 libc.so!dlopen:1",
			200);
		work_at(c, "train.py><module>:2 torch/__init__.py><module>:21 libc.so!read:1", 100);
	}
	for (uint64_t i = 0; i < 300; i++) {
		c->values[0] = i + 1;
		work_step(c, 20);
	}
	judge(c);
	ck_assert_msg(c->sim.profile.steps_found_by == TP_STEPS_COUNTER, "%s",
		      c->sim.profile.steps_reason);
	ck_assert_uint_eq(c->sim.profile.n_steps, 300);
	ck_assert(!c->sim.profile.steps_are_about);
	end(c);
}
END_TEST

/* Steps of two lengths in irregular order look irregular between samples, but not between
 * writes. */
START_TEST(a_counter_found_late_is_numbered_by_an_earlier_one)
{
	struct counting *c = tp_alloc(sizeof(*c));
	struct tp_counter_steps counted;
	begin(c, 2);
	c->names[0] = "self.logger.batch";
	c->names[1] = "self.stepped";
	struct tp_sink *sink = &c->sim.builder.sink;
	struct tp_mark mark = {
		.kind = TP_MARK_WRITE,
		.name = tp_sink_string(sink, "/home/me/train.py:103 main() self.logger.batch")};
	for (uint64_t i = 0; i < 200; i++) {
		c->values[1] = i;
		if (i >= 30) {
			c->values[0] = i;
			mark.time_ns = 1 + c->sim.now_ns;
			mark.value = i - 29;
			tp_sink_mark(sink, &mark);
		}
		work_step(c, i * 7919 % 10 < 4 ? 70 : 20);
	}
	sim_finish(&c->sim);
	ck_assert(tp_counter_steps_find(&counted, &c->sim.analysis, 0, c->sim.now_ns));
	ck_assert_uint_eq(counted.n, 200);
	ck_assert_uint_gt(counted.n_exact, 150);
	tp_counter_steps_release(&counted);
	end(c);
}
END_TEST

/* Two loops over ranges: epochs of 0.6 s, or steps with time steps; the report mentions both. */
START_TEST(a_loop_that_may_have_epochs_is_no_sure_count)
{
	static const char *const outer[] = {"for loop over a range at line 109, variable i",
					    "for loop over a range at line 109, variable epoch"};
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 2);
	c->names[0] = "for loop over a range at line 110, variable k";
	c->names[1] = outer[_i];
	for (int i = 0; i < 360; i++) {
		c->values[0] = (uint64_t)i % 30 + 1;
		c->values[1] = (uint64_t)i / 30 + 1;
		work_step(c, 20);
	}
	judge(c);
	const struct tp_profile *profile = &c->sim.profile;
	bool is_named = _i == 1;
	ck_assert_msg(profile->n_steps == (is_named ? 360 : 12), "%zu", profile->n_steps);
	ck_assert(profile->steps_are_about == !is_named);
	ck_assert(is_named || profile->steps_confidence <= 0.5);
	ck_assert_msg(is_named == !strstr(profile->steps_reason,
					  "the loop inside it at line 110 has 360 rounds"),
		      "%s", profile->steps_reason);
	end(c);
}
END_TEST

/* An attribute of the trainer continues to count when its epochs of 1.2 s restart. */
START_TEST(an_attribute_named_after_steps_counts_them)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 2);
	c->names[0] = "self.global_step";
	c->names[1] = "#3";
	for (int i = 0; i < 360; i++) {
		c->values[0] = (uint64_t)i;
		c->values[1] = (uint64_t)i / 60;
		work_step(c, 20);
	}
	judge(c);
	expect_steps(c);
	end(c);
}
END_TEST

/* The second variable counts micro-batches; the optimizer runs after the last one. */
START_TEST(micro_batches_that_share_an_update_are_no_steps)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 2);
	for (int i = 0; i < 40; i++) {
		c->values[0] = (uint64_t)i;
		c->starts_ns[c->n_steps++] = c->sim.now_ns;
		for (uint64_t part = 0; part < 12; part++) {
			c->values[1] = part;
			work(c, 47);
		}
		work_at(c, UPDATE, 10);
	}
	judge(c);
	expect_steps(c);
	end(c);
}
END_TEST

/* The only counter is named after epochs: each has one update, as the whole graph is one batch, or
 * ten short steps that nothing counts, the second time after an evaluation. */
START_TEST(an_epoch_with_one_update_is_a_step)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 1);
	c->names[0] = "for loop over a range at line 109, variable epoch";
	for (int i = 0; i < 200; i++) {
		c->values[0] = (uint64_t)i + 1;
		c->starts_ns[c->n_steps++] = c->sim.now_ns;
		if (_i == 2)
			work(c, 60);
		for (int part = 0; part < (_i ? 10 : 1); part++) {
			work_at(c, TRAIN, _i == 2 ? 10 : 0);
			work(c, _i ? 3 : 30);
			work_at(c, UPDATE, _i ? 1 : 10);
		}
	}
	judge(c);
	if (_i)
		ck_assert_int_ne(c->sim.profile.steps_found_by, TP_STEPS_COUNTER);
	else
		expect_steps(c);
	end(c);
}
END_TEST

/* The second variable is an argument of a function that had no samples in the first three
 * rounds. */
START_TEST(the_more_complete_of_two_equal_counters_has_the_steps)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 2);
	for (uint64_t i = 0; i < 100; i++) {
		c->values[0] = i;
		if (i >= 3)
			c->values[1] = i;
		work_step(c, 40);
	}
	judge(c);
	expect_steps(c);
	end(c);
}
END_TEST

/* Every other step saves a checkpoint on the same line. */
START_TEST(steps_of_two_lengths_are_counted)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 1);
	for (int i = 0; i < 200; i++) {
		c->values[0] = (uint64_t)i;
		work_step(c, i % 2 ? 160 : 30);
	}
	judge(c);
	expect_steps(c);
	end(c);
}
END_TEST

/* The same, and one in six takes three times as long. */
START_TEST(steps_that_take_turns_are_counted_one_by_one)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 1);
	for (int i = 0; i < 300; i++) {
		c->values[0] = (uint64_t)i;
		double ms = i % 2 ? 160 : 30;
		work_step(c, sim_uniform(&c->sim) < 1 / 6.0 ? 3 * ms : ms);
	}
	judge(c);
	expect_steps(c);
	ck_assert_double_ge(c->sim.profile.steps_confidence, 0.75);
	end(c);
}
END_TEST

/* Other programs take the CPU for random times. */
START_TEST(steps_on_a_crowded_machine_are_counted)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 1);
	for (int i = 0; i < 200; i++) {
		c->values[0] = (uint64_t)i;
		work_step(c, 45);
		sim_preempt(&c->sim, (uint64_t)(5e6 * exp(4 * sim_uniform(&c->sim))));
	}
	judge(c);
	const struct tp_profile *profile = &c->sim.profile;
	ck_assert_msg(profile->steps_found_by == TP_STEPS_COUNTER, "%s", profile->steps_reason);
	ck_assert_uint_eq(profile->n_steps, 200);
	end(c);
}
END_TEST

#define FORWARD "train.py><module>:120 train.py>main:106 net.py>forward:5 libtorch.so!conv:1"

/* Some steps have no forward pass, so that stacks show one long step for two. */
static struct counting *train_in_phases(int rarely)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 1);
	for (int i = 0; i < 300; i++) {
		c->values[0] = (uint64_t)i;
		c->starts_ns[c->n_steps++] = c->sim.now_ns;
		if (rarely == 0 || i % rarely != 5)
			work_at(c, FORWARD, 60);
		work_at(c, BACKWARD, 60);
	}
	judge(c);
	return c;
}

START_TEST(a_counter_is_believed_where_stacks_miss_a_few_steps)
{
	struct counting *c = train_in_phases(25);
	expect_steps(c);
	end(c);
}
END_TEST

START_TEST(stacks_that_show_all_steps_are_kept)
{
	struct counting *c = train_in_phases(0);
	ck_assert_ptr_nonnull(strstr(c->sim.profile.steps_reason, "found in the call stacks"));
	ck_assert_double_eq_tol((double)c->sim.profile.n_steps, 300, 3);
	end(c);
}
END_TEST

/* Other threads compute; the loop is polled in its waits, and one step compiles for 0.4 s. */
START_TEST(a_counter_that_looks_have_read_is_as_good)
{
	struct counting *c = tp_alloc(sizeof(*c));
	struct tp_counter_steps counted;
	begin(c, 1);
	for (int i = 0; i < 150; i++) {
		uint64_t length_ns = i == 100 ? 400000000 : sim_ms(&c->sim, 37, 0.2);
		c->starts_ns[c->n_steps++] = c->sim.now_ns;
		c->values[0] = (uint64_t)i;
		sim_work(&c->sim, LINE, 100000);
		for (uint64_t at_ns = 0; at_ns < length_ns; at_ns += 200000) {
			uint64_t next_ns = c->sim.next_poll_ns;
			sim_block(&c->sim, LINE, TP_CAUSE_FUTEX, 200000);
			if (c->sim.next_poll_ns != next_ns)
				add_changes(c);
		}
	}
	sim_finish(&c->sim);
	ck_assert(tp_counter_steps_find(&counted, &c->sim.analysis, 0, c->sim.now_ns));
	ck_assert_uint_eq(counted.n, 150);
	for (size_t i = 0; i < counted.n; i++)
		ck_assert_double_eq_tol((double)counted.borders[i], (double)c->starts_ns[i], 11e6);
	tp_counter_steps_release(&counted);
	end(c);
}
END_TEST

/* The outer part of a stack stayed the same and the sample has no Python: a value without its
 * sample. */
START_TEST(values_without_a_sample_are_in_order)
{
	struct counting *c = tp_alloc(sizeof(*c));
	struct tp_counter_steps counted;
	begin(c, 1);
	for (int i = 0; i < 300; i++) {
		c->values[0] = (uint64_t)i;
		c->starts_ns[c->n_steps++] = c->sim.now_ns;
		if (i % 9 < 6)
			work(c, 15);
		else
			sim_work(&c->sim, "libtorch.so!item:1", sim_ms(&c->sim, 15, 0.2));
		if (i % 9 == 7)
			add_changes(c);
	}
	sim_finish(&c->sim);
	ck_assert(tp_counter_steps_find(&counted, &c->sim.analysis, 0, c->sim.now_ns));
	ck_assert_uint_eq(counted.n, 300);
	for (size_t i = 1; i < counted.n; i++)
		ck_assert_uint_lt(counted.borders[i - 1], counted.borders[i]);
	tp_counter_steps_release(&counted);
	end(c);
}
END_TEST

/* Remains of a dead frame may show any number once. */
START_TEST(a_wrong_number_makes_no_step)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 1);
	for (int i = 0; i < 400; i++) {
		c->values[0] = (uint64_t)i;
		if (i % 100 == 50)
			c->values[0] = 7000000;
		if (i % 100 == 70)
			c->values[0] = 0;
		work_step(c, 12);
		c->values[0] = (uint64_t)i;
		work(c, 30);
	}
	judge(c);
	expect_steps(c);
	end(c);
}
END_TEST

/* The same for two or three readings with different numbers. */
START_TEST(a_wrong_number_that_stays_is_wrong_once)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 1);
	for (int i = 0; i < 400; i++) {
		c->values[0] = (uint64_t)i;
		work_step(c, 20);
		for (int k = 0; k < 3; k++) {
			if (i % 50 == 25)
				c->values[0] = 7000000 + 100 * (uint64_t)k;
			work(c, 8);
		}
	}
	judge(c);
	expect_steps(c);
	end(c);
}
END_TEST

static void expect_none(const struct counting *c)
{
	ck_assert_msg(c->sim.profile.steps_found_by == TP_STEPS_NONE, "%s",
		      c->sim.profile.steps_reason);
	ck_assert_uint_eq(c->sim.profile.n_steps, 0);
}

/* Twelve layers in each step, which no variable shows. */
START_TEST(layers_are_no_steps)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 1);
	for (int i = 0; i < 480; i++) {
		c->values[0] = (uint64_t)i % 12;
		work(c, 50);
	}
	judge(c);
	expect_none(c);
	end(c);
}
END_TEST

START_TEST(a_counter_of_a_small_part_of_the_run_is_no_step)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 1);
	for (int i = 0; i < 100; i++) {
		c->values[0] = (uint64_t)i;
		work(c, 30);
	}
	work(c, 9000);
	judge(c);
	expect_none(c);
	end(c);
}
END_TEST

START_TEST(a_training_after_a_longer_preparation_has_the_steps)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 1);
	work_at(c, "train.py><module>:120 train.py>main:90 libtorch.so!item:1", 6000);
	for (int i = 0; i < 100; i++) {
		c->values[0] = (uint64_t)i;
		work_step(c, 30);
	}
	judge(c);
	expect_steps(c);
	end(c);
}
END_TEST

/* The training calls the same function, and shows no counter. */
START_TEST(an_evaluation_after_a_training_without_counter_is_no_training)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 1);
	work_at(c, "train.py><module>:120 train.py>main:100 train.py>forward:20 libtorch.so!item:1",
		6000);
	for (int i = 0; i < 150; i++) {
		c->values[0] = (uint64_t)i;
		work_at(c,
			"train.py><module>:120 train.py>main:111 train.py>forward:20 "
			"libtorch.so!item:1",
			30);
	}
	judge(c);
	expect_none(c);
	end(c);
}
END_TEST

/* Nothing but its growth shows that it counts steps, so the count is not certain. */
START_TEST(short_steps_of_a_variable_are_counted)
{
	static const double lengths[] = {2, 3, 5, 9};
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 1);
	work(c, 100);
	for (int i = 0; i < 1500; i++) {
		c->values[0] = (uint64_t)i;
		work_step(c, lengths[_i]);
	}
	work(c, 100);
	judge(c);
	expect_steps(c);
	ck_assert(c->sim.profile.steps_are_about);
	end(c);
}
END_TEST

/* Epochs of 3.2 s, with 800 steps each. */
START_TEST(short_steps_of_long_epochs_are_counted)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 1);
	c->names[0] = _i ? "for loop at line 110" : NULL;
	work(c, 100);
	for (uint64_t i = 0; i < 1600; i++) {
		c->values[0] = i % 800 + (_i ? 1 : 0);
		work_step(c, 4);
	}
	work(c, 100);
	judge(c);
	expect_steps(c);
	end(c);
}
END_TEST

/* All samples of a batch are counted when it arrives, in steps of 24 ms. */
START_TEST(samples_of_batches_are_no_steps)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 1);
	for (uint64_t i = 0; i < 200; i++)
		for (uint64_t sample = 0; sample < 8; sample++) {
			c->values[0] = 8 * i + sample;
			work(c, sample < 7 ? 0.2 : 24 - 1.4);
		}
	judge(c);
	expect_none(c);
	end(c);
}
END_TEST

/* A loop shows its position, so its steps may be shorter than the time between samples. */
START_TEST(short_steps_of_a_loop_are_counted)
{
	static const double lengths[] = {2, 3, 5, 8};
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 1);
	c->names[0] = _i % 2 ? "for loop down at line 110" : "for loop at line 110";
	c->totals[0] = 1000;
	work(c, 100);
	for (int i = 0; i < 1000; i++) {
		c->values[0] = (uint64_t)i + 1;
		work_step(c, lengths[_i]);
	}
	c->values[0] = c->told[0];
	work(c, 100);
	judge(c);
	expect_steps(c);
	end(c);
}
END_TEST

/* A busy machine: counters are read for the first time in the eighth step. */
START_TEST(steps_before_the_first_reading_are_counted)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 1);
	c->names[0] = _i ? "for loop at line 110" : NULL;
	for (int i = 0; i < 60; i++) {
		if (i == 8)
			c->sim.next_sample_ns = c->sim.now_ns;
		else if (i < 8)
			c->sim.next_sample_ns = UINT64_MAX;
		c->values[0] = (uint64_t)(i + _i);
		work_step(c, 30);
	}
	judge(c);
	/* The time at which the first steps began is not known. */
	ck_assert_msg(c->sim.profile.n_steps == 60, "%zu", c->sim.profile.n_steps);
	ck_assert_int_eq(c->sim.profile.steps_found_by, TP_STEPS_COUNTER);
	end(c);
}
END_TEST

/* A variable that did not exist in earlier samples cannot have counted before. */
START_TEST(a_high_first_value_is_no_steps_where_there_was_no_time_for_them)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 1);
	work(c, 500);
	for (int i = 0; i < 60; i++) {
		c->values[0] = (uint64_t)i + 20; /* continues after a checkpoint */
		work_step(c, 30);
	}
	judge(c);
	expect_steps(c);
	end(c);
}
END_TEST

/* The remaining rounds of a loop that was left early were not run. */
START_TEST(rounds_that_were_not_run_are_not_counted)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 1);
	c->names[0] = "for loop at line 110";
	c->totals[0] = 60;
	for (int i = 0; i < 45; i++) {
		c->values[0] = (uint64_t)i + 1;
		work_step(c, 30);
	}
	work(c, 1000);
	judge(c);
	expect_steps(c);
	end(c);
}
END_TEST

/* Files read one after the other, no two alike. */
START_TEST(rounds_that_are_not_alike_are_no_steps)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 1);
	for (int i = 0; i < 60; i++) {
		c->values[0] = (uint64_t)i;
		work(c, 20 * exp(4 * sim_uniform(&c->sim)));
	}
	judge(c);
	expect_none(c);
	end(c);
}
END_TEST

START_TEST(batches_that_are_not_alike_are_steps)
{
	struct counting *c = tp_alloc(sizeof(*c));
	begin(c, 1);
	c->names[0] = "_num_yielded of the for loop at line 110";
	for (int i = 0; i < 200; i++) {
		c->values[0] = (uint64_t)i + 1;
		work_step(c, 10 * exp(3 * sim_uniform(&c->sim)));
	}
	judge(c);
	expect_steps(c);
	end(c);
}
END_TEST

Suite *suite_analyze_counter_steps(void);
Suite *suite_analyze_counter_steps(void)
{
	Suite *suite = suite_create("analyze/counted");
	TCase *tc = tcase_create("counted");
	tcase_add_loop_test(tc, steps_of_one_line_are_counted, 0,
			    (int)(sizeof(rows) / sizeof(rows[0])));
	tcase_add_loop_test(tc, steps_that_grow_are_counted, 0, 2);
	tcase_add_test(tc, steps_are_distinguished_from_epochs_and_parts);
	tcase_add_test(tc, steps_of_short_epochs_are_counted);
	tcase_add_test(tc, a_loop_over_data_inside_one_over_a_range_has_batches);
	tcase_add_test(tc, a_loop_over_data_inside_many_rounds_has_parts_of_steps);
	tcase_add_test(tc, a_variable_that_counts_with_batches_counts_batches);
	tcase_add_loop_test(tc, a_loop_that_may_have_epochs_is_no_sure_count, 0, 2);
	tcase_add_test(tc, an_attribute_named_after_steps_counts_them);
	tcase_add_test(tc, micro_batches_that_share_an_update_are_no_steps);
	tcase_add_loop_test(tc, an_epoch_with_one_update_is_a_step, 0, 3);
	tcase_add_test(tc, the_more_complete_of_two_equal_counters_has_the_steps);
	tcase_add_test(tc, steps_of_two_lengths_are_counted);
	tcase_add_test(tc, steps_that_take_turns_are_counted_one_by_one);
	tcase_add_test(tc, steps_on_a_crowded_machine_are_counted);
	tcase_add_test(tc, a_counter_is_believed_where_stacks_miss_a_few_steps);
	tcase_add_test(tc, stacks_that_show_all_steps_are_kept);
	tcase_add_test(tc, a_counter_that_looks_have_read_is_as_good);
	tcase_add_test(tc, values_without_a_sample_are_in_order);
	tcase_add_test(tc, a_wrong_number_makes_no_step);
	tcase_add_test(tc, a_wrong_number_that_stays_is_wrong_once);
	tcase_add_test(tc, layers_are_no_steps);
	tcase_add_test(tc, a_counter_of_a_small_part_of_the_run_is_no_step);
	tcase_add_test(tc, a_training_after_a_longer_preparation_has_the_steps);
	tcase_add_test(tc, an_evaluation_after_a_training_without_counter_is_no_training);
	tcase_add_loop_test(tc, short_steps_of_a_variable_are_counted, 0, 4);
	tcase_add_loop_test(tc, short_steps_of_long_epochs_are_counted, 0, 2);
	tcase_add_test(tc, samples_of_batches_are_no_steps);
	tcase_add_loop_test(tc, short_steps_of_a_loop_are_counted, 0, 4);
	tcase_add_loop_test(tc, steps_before_the_first_reading_are_counted, 0, 2);
	tcase_add_test(tc, a_high_first_value_is_no_steps_where_there_was_no_time_for_them);
	tcase_add_test(tc, rounds_that_were_not_run_are_not_counted);
	tcase_add_test(tc, rounds_that_are_not_alike_are_no_steps);
	tcase_add_test(tc, batches_that_are_not_alike_are_steps);
	tcase_add_test(tc, rounds_of_imports_do_not_hide_a_loop_that_counts);
	tcase_add_test(tc, a_counter_found_late_is_numbered_by_an_earlier_one);
	tcase_set_timeout(tc, 30);
	suite_add_tcase(suite, tc);
	return suite;
}
