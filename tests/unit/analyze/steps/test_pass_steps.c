/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of finding steps, on simulated trainers whose steps are known. */
#include "analyze/sim.h"

#include "trainprof/base/memory.h"

#include <math.h>

enum { MAX_STEPS = 1200, N_STARTS = 4 };

/* Start times of each phase of each step. */
struct truth {
	uint64_t starts[N_STARTS][MAX_STEPS];
	size_t n;
};

enum loader { LOADER_WAITS, LOADER_WORKS, LOADER_READY };

struct plan {
	double rate_hz;
	double step_ms;
	double spread;
	int n_steps;
	enum loader loader;
	int evaluate_every;
	int checkpoint_every;
	bool is_crowded; /* other programs want the CPUs, for seconds at a time */
};

/* Work that loses its CPU every few milliseconds while the machine is crowded. */
static void work(struct sim *sim, const struct plan *plan, const char *path, uint64_t length_ns)
{
	bool is_crowded = plan->is_crowded && sim->now_ns / 4000000000 % 2;
	while (is_crowded && length_ns > 3000000) {
		sim_work(sim, path, 3000000);
		sim_preempt(sim, sim_ms(sim, 6, 0.9));
		length_ns -= 3000000;
	}
	sim_work(sim, path, length_ns);
}

static void simulate_layers(struct sim *sim, const struct plan *plan, const char *caller, double ms)
{
	enum { n_layers = 6 };
	for (int layer = 0; layer < n_layers; layer++) {
		char path[160];
		snprintf(path, sizeof(path), "%s %s", caller,
			 layer % 2 ? "conv_layer:4" : "relu_layer:9");
		work(sim, plan, path, sim_ms(sim, ms / n_layers, plan->spread));
		/* The team's threads are not always ready. */
		if (sim_uniform(sim) < 0.1)
			sim_block(sim, path, TP_CAUSE_FUTEX, sim_ms(sim, 0.05, 0.9));
		if (sim_uniform(sim) < 0.02)
			sim_preempt(sim, sim_ms(sim, 1, 0.5));
	}
}

static void simulate_step(struct sim *sim, const struct plan *plan, struct truth *truth)
{
	double ms = plan->step_ms;
	size_t i = truth->n++;
	truth->starts[0][i] = sim->now_ns;
	if (plan->loader == LOADER_WAITS) {
		sim_work(sim, "main:1 train:10 next_batch:2", 20000);
		sim_block(sim, "main:1 train:10 next_batch:3 cond_wait:1", TP_CAUSE_FUTEX,
			  sim_ms(sim, 0.4 * ms, plan->spread));
		sim_work(sim, "main:1 train:10 next_batch:4", 20000);
		ms *= 0.6;
	} else if (plan->loader == LOADER_WORKS) {
		for (int k = 0; k < 8; k++) {
			sim_work(sim, "main:1 train:10 next_batch:2 read_file:7",
				 sim_ms(sim, 0.03 * ms, plan->spread));
			sim_work(sim, "main:1 train:10 next_batch:5 decode:3",
				 sim_ms(sim, 0.07 * ms, plan->spread));
		}
		ms *= 0.2;
	} else {
		sim_work(sim, "main:1 train:10 next_batch:2", 100000);
	}
	truth->starts[1][i] = sim->now_ns;
	simulate_layers(sim, plan, "main:1 train:12 forward:5", 0.35 * ms);
	truth->starts[2][i] = sim->now_ns;
	simulate_layers(sim, plan, "main:1 train:13 backward:5", 0.6 * ms);
	truth->starts[3][i] = sim->now_ns;
	sim_work(sim, "main:1 train:14 update:5", sim_ms(sim, 0.05 * ms, plan->spread));
}

static void simulate(struct sim *sim, const struct plan *plan, struct truth *truth)
{
	sim_init(sim, plan->rate_hz, 50, 17);
	truth->n = 0;
	for (int k = 0; k < 3; k++)
		sim_work(sim, "main:0 make_data:5", sim_ms(sim, 200, 0.1));
	for (int i = 1; i <= plan->n_steps; i++) {
		simulate_step(sim, plan, truth);
		if (plan->evaluate_every && i % plan->evaluate_every == 0)
			for (int k = 0; k < 10; k++)
				simulate_layers(sim, plan, "main:1 train:20 evaluate:3 forward:5",
						0.3 * plan->step_ms);
		if (plan->checkpoint_every && i % plan->checkpoint_every == 0) {
			sim_work(sim, "main:1 train:22 save_checkpoint:3 fwrite:1",
				 sim_ms(sim, 0.8 * plan->step_ms, 0.1));
			sim_block(sim, "main:1 train:22 save_checkpoint:4 fsync:1", TP_CAUSE_DISK,
				  sim_ms(sim, 0.8 * plan->step_ms, 0.3));
		}
	}
	sim_work(sim, "main:2 report:5", 50000000);
	sim_finish(sim);
	struct tp_error err;
	ck_assert_int_eq(tp_pass_steps(&sim->analysis, &err), TP_OK);
}

/* Number of found starts that have a true start of that phase within tolerance, one to one. */
static size_t matches(const struct tp_profile *profile, const uint64_t *starts, size_t n,
		      double tolerance_ns)
{
	size_t found = 0;
	size_t at = 0;
	for (size_t i = 0; i < profile->n_steps; i++) {
		while (at < n &&
		       (double)starts[at] + tolerance_ns < (double)profile->steps[i].start_ns)
			at++;
		if (at < n &&
		    fabs((double)starts[at] - (double)profile->steps[i].start_ns) <= tolerance_ns) {
			found++;
			at++;
		}
	}
	return found;
}

static void assert_steps(const struct sim *sim, const struct plan *plan, const struct truth *truth,
			 int line)
{
	const struct tp_profile *profile = &sim->profile;
	ck_assert_msg(profile->steps_found_by == TP_STEPS_PERIOD, "row %d: %s", line,
		      profile->steps_reason);
	double n = (double)truth->n;
	ck_assert_msg(fabs((double)profile->n_steps - n) <= 0.01 * n, "row %d: %zu of %zu steps",
		      line, profile->n_steps, truth->n);
	size_t best = 0;
	double tolerance = 1e9 / sim->run.sample_rate_hz;
	/* Samples count CPU time; a crowded machine gives the program a third of it. */
	if (plan->is_crowded)
		tolerance *= 3;
	for (int phase = 0; phase < N_STARTS; phase++) {
		size_t found = matches(profile, truth->starts[phase], truth->n, tolerance);
		best = found > best ? found : best;
	}
	ck_assert_msg((double)best >= 0.99 * n, "row %d: %zu of %zu starts", line, best, truth->n);
	ck_assert_double_ge(profile->steps_confidence, 0.9);
	for (size_t i = 1; i < profile->n_steps; i++)
		ck_assert_uint_eq(profile->steps[i].start_ns, profile->steps[i - 1].end_ns);
}

static const struct plan found[] = {
	{.rate_hz = 99, .step_ms = 100, .spread = 0.2, .n_steps = 400},
	{.rate_hz = 99, .step_ms = 100, .spread = 0.2, .n_steps = 400, .loader = LOADER_WORKS},
	{.rate_hz = 99, .step_ms = 100, .spread = 0.2, .n_steps = 400, .loader = LOADER_READY},
	{.rate_hz = 99, .step_ms = 73, .spread = 0.2, .n_steps = 500, .loader = LOADER_READY},
	{.rate_hz = 50, .step_ms = 233, .spread = 0.2, .n_steps = 200},
	{.rate_hz = 50, .step_ms = 233, .spread = 0.2, .n_steps = 200, .loader = LOADER_READY},
	{.rate_hz = 199, .step_ms = 45, .spread = 0.2, .n_steps = 600},
	{.rate_hz = 199, .step_ms = 45, .spread = 0.2, .n_steps = 600, .loader = LOADER_WORKS},
	{.rate_hz = 199, .step_ms = 45, .spread = 0.2, .n_steps = 600, .loader = LOADER_READY},
	{.rate_hz = 99, .step_ms = 100, .spread = 0.2, .n_steps = 400, .evaluate_every = 50},
	{.rate_hz = 99, .step_ms = 100, .spread = 0.2, .n_steps = 400, .checkpoint_every = 20},
	{.rate_hz = 99,
	 .step_ms = 90,
	 .spread = 0.2,
	 .n_steps = 400,
	 .loader = LOADER_READY,
	 .evaluate_every = 50,
	 .checkpoint_every = 20},
	{.rate_hz = 99, .step_ms = 600, .spread = 0.2, .n_steps = 12, .loader = LOADER_WORKS},
	/* Too short for samples, but each step waits for its batch. */
	{.rate_hz = 50, .step_ms = 45, .spread = 0.2, .n_steps = 400},
	{.rate_hz = 99, .step_ms = 20, .spread = 0.2, .n_steps = 1000},
	{.rate_hz = 99, .step_ms = 12, .spread = 0.2, .n_steps = 1000, .is_crowded = true},
	{.rate_hz = 99, .step_ms = 150, .spread = 0.2, .n_steps = 200, .is_crowded = true},
	{.rate_hz = 199,
	 .step_ms = 80,
	 .spread = 0.2,
	 .n_steps = 300,
	 .loader = LOADER_READY,
	 .evaluate_every = 50,
	 .is_crowded = true},
	{.rate_hz = 99, .step_ms = 2000, .spread = 0.05, .n_steps = 60, .loader = LOADER_WORKS},
};

START_TEST(steps_are_counted_to_one_percent)
{
	struct sim sim;
	struct truth *truth = tp_alloc(sizeof(*truth));
	simulate(&sim, &found[_i], truth);
	assert_steps(&sim, &found[_i], truth, _i);
	/* The loop contains the steps, but not the creation of the dataset or the report. */
	ck_assert_double_eq_tol((double)sim.analysis.loop_start_ns, (double)truth->starts[0][0],
				50e6);
	free(truth);
	sim_release(&sim);
}
END_TEST

static const struct plan unresolved[] = {
	{.rate_hz = 50, .step_ms = 45, .spread = 0.2, .n_steps = 400, .loader = LOADER_READY},
	{.rate_hz = 99, .step_ms = 20, .spread = 0.2, .n_steps = 1000, .loader = LOADER_WORKS},
	{.rate_hz = 99, .step_ms = 8, .spread = 0.2, .n_steps = 1000, .loader = LOADER_READY},
	{.rate_hz = 19, .step_ms = 100, .spread = 0.2, .n_steps = 400, .loader = LOADER_READY},
};

START_TEST(steps_too_short_for_the_rate_are_not_invented)
{
	struct sim sim;
	struct truth *truth = tp_alloc(sizeof(*truth));
	simulate(&sim, &unresolved[_i], truth);
	ck_assert_msg(sim.profile.steps_found_by == TP_STEPS_NONE, "row %d: %zu steps: %s", _i,
		      sim.profile.n_steps, sim.profile.steps_reason);
	ck_assert_uint_eq(sim.profile.n_steps, 0);
	ck_assert_ptr_nonnull(strstr(sim.profile.steps_reason, "too short"));
	ck_assert_uint_lt(sim.analysis.loop_start_ns, sim.analysis.loop_end_ns);
	free(truth);
	sim_release(&sim);
}
END_TEST

/* ---- loops of other shapes --------------------------------------------------------------------
 */

/* One call of `path` of about `ms`, alternating between two inner functions. */
static void call(struct sim *sim, const char *path, const char *inner, double ms, int n_inner)
{
	for (int i = 0; i < n_inner; i++) {
		char full[200];
		snprintf(full, sizeof(full), "%s %s%c:4", path, inner, 'a' + i % 2);
		sim_work(sim, full, sim_ms(sim, ms / n_inner, 0.15));
	}
}

static void begin_step(struct sim *sim, struct truth *truth)
{
	truth->starts[0][truth->n++] = sim->now_ns;
}

static void body(struct sim *sim, const char *path, double ms)
{
	char full[160];
	snprintf(full, sizeof(full), "%s fa:3", path);
	call(sim, full, "la", 0.3 * ms, 4);
	snprintf(full, sizeof(full), "%s fb:3", path);
	call(sim, full, "lb", 0.6 * ms, 4);
	snprintf(full, sizeof(full), "%s fc:3", path);
	call(sim, full, "lc", 0.1 * ms, 1);
}

/* No name is meaningful; epochs of 60 steps with other work after each. */
static void epochs_without_names(struct sim *sim, struct truth *truth)
{
	for (int epoch = 0; epoch < 5; epoch++) {
		for (int i = 0; i < 60; i++) {
			begin_step(sim, truth);
			body(sim, "main:1 g:2", 150);
		}
		for (int i = 0; i < 10; i++)
			call(sim, "main:1 h:2 fa:3", "la", 50, 4);
	}
}

/* One function does everything, and after every 22 steps another evaluates; no name shows it. */
static void trial_every_few_steps(struct sim *sim, struct truth *truth)
{
	for (int i = 1; i <= 240; i++) {
		sim_work(sim, "main:1 g:1 fetch:2", sim_ms(sim, 3, 0.2));
		begin_step(sim, truth);
		call(sim, "main:1 g:2 step:3 fa:3", "la", 25, 2);
		call(sim, "main:1 g:2 step:4 fb:3", "lb", 50, 2);
		for (int k = 0; k < 6 && i % 22 == 0; k++)
			call(sim, "main:1 g:4 h:3 fa:3", "la", 25, 2);
	}
}

/* The loop calls one function per step, which does everything. */
static void step_function(struct sim *sim, struct truth *truth)
{
	for (int i = 0; i < 200; i++) {
		begin_step(sim, truth);
		body(sim, "main:1 g:2 step:7", 150);
	}
}

/* Four micro-batches, then an update that is visible. */
static void gradient_accumulation(struct sim *sim, struct truth *truth)
{
	for (int i = 0; i < 100; i++) {
		for (int micro = 0; micro < 4; micro++) {
			call(sim, "main:1 g:2 forward:3", "la", 40, 4);
			call(sim, "main:1 g:2 backward:3", "lb", 60, 4);
		}
		begin_step(sim, truth);
		call(sim, "main:1 g:2 optimizer_step:3", "lc", 60, 1);
	}
}

/* Phase A comes twice for each B: A A B A A B. */
static void twice_a_once_b(struct sim *sim, struct truth *truth)
{
	for (int i = 0; i < 150; i++) {
		call(sim, "main:1 g:2 fa:3", "la", 40, 2);
		call(sim, "main:1 g:2 fd:3", "ld", 30, 2);
		call(sim, "main:1 g:2 fa:3", "la", 40, 2);
		begin_step(sim, truth);
		call(sim, "main:1 g:2 fb:3", "lb", 120, 2);
	}
}

/* Nine tenths of the step decode images, each long enough for several stack samples. */
static void inline_loader(struct sim *sim, struct truth *truth)
{
	for (int i = 0; i < 60; i++) {
		begin_step(sim, truth);
		for (int k = 0; k < 8; k++) {
			call(sim, "main:1 g:2 next_batch:3 read_image:3", "la", 30, 1);
			call(sim, "main:1 g:2 next_batch:4 decode:3", "lb", 60, 1);
		}
		call(sim, "main:1 g:2 forward:5", "lc", 30, 2);
		call(sim, "main:1 g:2 backward:6", "ld", 50, 2);
	}
}

/* The same without meaningful names. */
static void inline_loader_without_names(struct sim *sim, struct truth *truth)
{
	for (int i = 0; i < 60; i++) {
		begin_step(sim, truth);
		for (int k = 0; k < 8; k++) {
			call(sim, "main:1 g:2 fa:3 fe:3", "la", 30, 1);
			call(sim, "main:1 g:2 fa:4 fd:3", "lb", 60, 1);
		}
		call(sim, "main:1 g:2 fb:5", "lc", 30, 2);
		call(sim, "main:1 g:2 fc:6", "ld", 50, 2);
	}
}

/* An interpreter calls everything from one place; only deeper frames differ. */
static void interpreter(struct sim *sim, struct truth *truth)
{
	for (int i = 0; i < 150; i++) {
		begin_step(sim, truth);
		for (int layer = 0; layer < 6; layer++) {
			call(sim, "main:1 eval:2 vectorcall:3 conv2d:4", "la", 5, 1);
			call(sim, "main:1 eval:2 vectorcall:3 relu:4", "lb", 3, 1);
		}
		call(sim, "main:1 eval:2 vectorcall:3 run_backward:9", "lc", 70, 4);
		for (int k = 0; k < 5; k++)
			call(sim, "main:1 eval:2 vectorcall:3 addcdiv:9", "ld", 3, 1);
	}
}

/* Most of the run makes data; the loop is short. */
static void long_startup(struct sim *sim, struct truth *truth)
{
	for (int i = 0; i < 300; i++) {
		call(sim, "main:1 make_data:2 draw:3", "la", 60, 2);
		call(sim, "main:1 make_data:2 store:4", "lb", 40, 2);
	}
	for (int i = 0; i < 150; i++) {
		begin_step(sim, truth);
		body(sim, "main:1 train:2", 120);
	}
}

static void long_startup_with_names(struct sim *sim, struct truth *truth)
{
	for (int i = 0; i < 300; i++)
		body(sim, "main:1 g:2", 100);
	for (int i = 0; i < 60; i++) {
		begin_step(sim, truth);
		call(sim, "main:1 train:2 forward:4", "la", 40, 4);
		call(sim, "main:1 train:2 backward:4", "lb", 60, 4);
	}
}

/* One stack in fifty is wrong or does not reach the first frame. */
static void broken_stacks(struct sim *sim, struct truth *truth)
{
	for (int i = 0; i < 200; i++) {
		begin_step(sim, truth);
		body(sim, "main:1 g:2", 150);
		if (i % 2)
			sim_work(sim, "stray:1", sim_ms(sim, 4, 0.5));
	}
}

/* In each layer the thread waits for the compute team, and nothing else blocks. */
static void team_waits(struct sim *sim, struct truth *truth)
{
	for (int i = 0; i < 300; i++) {
		begin_step(sim, truth);
		for (int layer = 0; layer < 12; layer++) {
			const char *path = layer < 6 ? "main:1 g:2 forward:3 layer:4"
						     : "main:1 g:2 backward:3 layer:4";
			sim_work(sim, path, sim_ms(sim, 0.5, 0.2));
			sim_block(sim, path, TP_CAUSE_FUTEX, sim_ms(sim, layer < 6 ? 3 : 5, 0.2));
		}
	}
}

static void (*const shapes[])(struct sim *, struct truth *) = {
	epochs_without_names,
	step_function,
	gradient_accumulation,
	twice_a_once_b,
	inline_loader,
	interpreter,
	inline_loader_without_names,
	long_startup,
	broken_stacks,
	long_startup_with_names,
	trial_every_few_steps,
};

static void simulate_shape(struct sim *sim, void (*shape)(struct sim *, struct truth *),
			   struct truth *truth)
{
	sim_init(sim, 99, 50, 23);
	truth->n = 0;
	sim_work(sim, "main:0 setup:5", 300000000);
	shape(sim, truth);
	sim_work(sim, "main:2 report:5", 50000000);
	sim_finish(sim);
	struct tp_error err;
	ck_assert_int_eq(tp_pass_steps(&sim->analysis, &err), TP_OK);
}

START_TEST(loops_of_other_shapes_are_found)
{
	struct sim sim;
	struct truth *truth = tp_alloc(sizeof(*truth));
	simulate_shape(&sim, shapes[_i], truth);
	const struct tp_profile *profile = &sim.profile;
	ck_assert_msg(profile->steps_found_by == TP_STEPS_PERIOD, "shape %d: %s", _i,
		      profile->steps_reason);
	double n = (double)truth->n;
	ck_assert_msg(fabs((double)profile->n_steps - n) <= 0.01 * n + 1e-9,
		      "shape %d: %zu of %zu steps: %s", _i, profile->n_steps, truth->n,
		      profile->steps_reason);
	/* Whichever phase marks the steps, they are as long as the true ones. */
	size_t near = 0;
	for (size_t i = 0; i + 2 < truth->n; i++) {
		double length = (double)(truth->starts[0][i + 1] - truth->starts[0][i]);
		double got = (double)(profile->steps[i].end_ns - profile->steps[i].start_ns);
		near += fabs(length - got) < 0.35 * length;
	}
	ck_assert_msg((double)near >= 0.9 * n - 3, "shape %d: %zu of %zu lengths", _i, near,
		      truth->n);
	free(truth);
	sim_release(&sim);
}
END_TEST

/* ---- turns ------------------------------------------------------------------------------------
 */

static void fetch(struct sim *sim, double wait_ms)
{
	sim_work(sim, "main:1 eval:2 next:3 get:1", 300000);
	if (wait_ms > 0)
		sim_block(sim, "main:1 eval:2 next:3 poll:2", TP_CAUSE_PIPE,
			  sim_ms(sim, wait_ms, 0.1));
	sim_work(sim, "main:1 eval:2 next:3 get:4", 300000);
}

/* Forward is just long enough to be sampled nearly each time. */
static void train(struct sim *sim)
{
	call(sim, "main:1 eval:4 forward:3", "la", 19, 2);
	call(sim, "main:1 eval:5 backward:3", "lb", 50, 4);
}

/* Both loaders finish at nearly the same time: every other batch is ready. */
static void batches_in_pairs(struct sim *sim, struct truth *truth)
{
	for (int i = 0; i < 200; i++) {
		begin_step(sim, truth);
		fetch(sim, i % 2 ? 0 : 200);
		train(sim);
	}
}

/* The same, but only at times. */
static void batches_in_pairs_at_times(struct sim *sim, struct truth *truth)
{
	for (int i = 0; i < 200; i++) {
		begin_step(sim, truth);
		fetch(sim, i % 2 && i / 25 % 2 ? 0 : 100);
		train(sim);
	}
}

/* CPython 3.11 specialises a call in the eighth round; until then it uses backward's call path. */
static void another_call_at_first(struct sim *sim, struct truth *truth)
{
	for (int i = 0; i < 75; i++) {
		const char *next = i < 8 ? "main:1 eval:5 next:3" : "main:1 eval:2 next:3";
		begin_step(sim, truth);
		call(sim, next, "lc", 100, 8);
		train(sim);
	}
}

/* Once in ten rounds another function is called from the place where forward is called. */
static void a_call_out_of_turn(struct sim *sim, struct truth *truth)
{
	for (int i = 0; i < 150; i++) {
		begin_step(sim, truth);
		call(sim, "main:1 eval:2 next:3", "lc", 60, 8);
		train(sim);
		if (i % 10 == 5)
			call(sim, "main:1 eval:4 zero_grad:3", "la", 11, 1);
	}
}

/* Two layers alternate, three times per step: more often than there are loaders. */
static void layers_take_turns(struct sim *sim, struct truth *truth)
{
	for (int i = 0; i < 120; i++) {
		begin_step(sim, truth);
		fetch(sim, 120);
		for (int layer = 0; layer < 3; layer++)
			train(sim);
	}
}

/* The same with two micro-batches per step. */
static void micro_batches_take_turns(struct sim *sim, struct truth *truth)
{
	for (int i = 0; i < 120; i++) {
		begin_step(sim, truth);
		fetch(sim, 120);
		train(sim);
		train(sim);
	}
}

static const struct {
	void (*shape)(struct sim *, struct truth *);
	int n_loaders;
	bool says_group;
} turns[] = {
	{batches_in_pairs, 2, false},         {batches_in_pairs_at_times, 2, false},
	{another_call_at_first, 0, false},    {a_call_out_of_turn, 0, false},
	{layers_take_turns, 2, true}, /* two of the three might be batches that were ready */
	{layers_take_turns, 1, false},        {micro_batches_take_turns, 1, false},
	{micro_batches_take_turns, 0, false},
};

/* Runs `shape` in a thread that has loader processes. */
static void simulate_loaders(struct sim *sim, void (*shape)(struct sim *, struct truth *),
			     int n_loaders, struct truth *truth)
{
	sim_init(sim, 99, 50, 23);
	truth->n = 0;
	for (int i = 1; i <= n_loaders; i++)
		tp_sink_task(&sim->builder.sink, &(struct tp_task){.id = (uint32_t)i,
								   .tid = 100 + i,
								   .pid = 100 + i,
								   .parent = 0,
								   .start_ns = 1});
	sim_work(sim, "main:0 setup:5", 300000000);
	shape(sim, truth);
	sim_work(sim, "main:2 report:5", 50000000);
	sim_finish(sim);
	for (int i = 1; i <= n_loaders; i++)
		sim->analysis.roles[i] = TP_ROLE_LOADER;
	struct tp_error err;
	ck_assert_int_eq(tp_pass_steps(&sim->analysis, &err), TP_OK);
}

/* In no row may steps be counted in groups or parts. */
START_TEST(rounds_are_counted_by_the_turns_of_their_callees)
{
	struct sim sim;
	struct truth *truth = tp_alloc(sizeof(*truth));
	simulate_loaders(&sim, turns[_i].shape, turns[_i].n_loaders, truth);
	double n = (double)truth->n;
	ck_assert_msg(fabs((double)sim.profile.n_steps - n) <= 0.01 * n + 1e-9,
		      "row %d: %zu of %zu steps: %s", _i, sim.profile.n_steps, truth->n,
		      sim.profile.steps_reason);
	ck_assert_msg(turns[_i].says_group == !!strstr(sim.profile.steps_reason, "group"),
		      "row %d: %s", _i, sim.profile.steps_reason);
	free(truth);
	sim_release(&sim);
}
END_TEST

/* Phases too short to be distinguished by 99 samples per second. */
static void short_steps(struct sim *sim, struct truth *truth, int n_at_once, bool is_always)
{
	for (int i = 0; i < 400; i++) {
		bool is_there = i % n_at_once && (is_always || i / 40 % 2);
		begin_step(sim, truth);
		fetch(sim, is_there ? 0 : 60);
		call(sim, "main:1 eval:4 forward:3", "la", 4, 2);
		call(sim, "main:1 eval:5 backward:3", "lb", 8, 2);
	}
}

static void short_steps_in_pairs(struct sim *sim, struct truth *truth)
{
	short_steps(sim, truth, 2, true);
}

static void short_steps_in_pairs_at_times(struct sim *sim, struct truth *truth)
{
	short_steps(sim, truth, 2, false);
}

static void short_steps_that_wait(struct sim *sim, struct truth *truth)
{
	short_steps(sim, truth, 1, true);
}

static const struct {
	void (*shape)(struct sim *, struct truth *);
	int n_loaders;
	enum tp_steps_found_by found_by;
	bool says_group;
} groups[] = {
	{short_steps_in_pairs, 2, TP_STEPS_PERIOD, true},
	{short_steps_in_pairs_at_times, 2, TP_STEPS_NONE, true},
	{short_steps_in_pairs_at_times, 1, TP_STEPS_NONE, false},
	{short_steps_that_wait, 2, TP_STEPS_PERIOD, true},
	{short_steps_that_wait, 1, TP_STEPS_PERIOD, false},
};

START_TEST(steps_that_may_be_groups_are_called_so)
{
	struct sim sim;
	struct truth *truth = tp_alloc(sizeof(*truth));
	simulate_loaders(&sim, groups[_i].shape, groups[_i].n_loaders, truth);
	ck_assert_msg(sim.profile.steps_found_by == groups[_i].found_by, "row %d: %zu steps: %s",
		      _i, sim.profile.n_steps, sim.profile.steps_reason);
	ck_assert_msg(groups[_i].says_group == !!strstr(sim.profile.steps_reason, "group"),
		      "row %d: %s", _i, sim.profile.steps_reason);
	ck_assert_uint_lt(sim.analysis.loop_start_ns, sim.analysis.loop_end_ns);
	free(truth);
	sim_release(&sim);
}
END_TEST

static void one_long_call(struct sim *sim, struct truth *truth)
{
	(void)truth;
	call(sim, "main:1 solve:2", "la", 20000, 1);
}

static void calls_at_random(struct sim *sim, struct truth *truth)
{
	(void)truth;
	for (int i = 0; i < 500; i++) {
		char path[64];
		snprintf(path, sizeof(path), "main:1 task%c:3", 'a' + (int)(4 * sim_uniform(sim)));
		call(sim, path, "la", 30 + 150 * sim_uniform(sim), 1);
	}
}

static void three_rounds(struct sim *sim, struct truth *truth)
{
	(void)truth;
	for (int i = 0; i < 3; i++)
		body(sim, "main:1 g:2", 500);
}

static void nothing_unwound(struct sim *sim, struct truth *truth)
{
	(void)truth;
	for (int i = 0; i < 100; i++)
		sim_work(sim, "", 100000000);
}

/* Like trial_every_few_steps(), but too fast to count: only the evaluations could be counted. */
static void trial_of_short_steps(struct sim *sim, struct truth *truth)
{
	(void)truth;
	for (int i = 1; i <= 240; i++) {
		sim_work(sim, "main:1 g:1 fetch:2", sim_ms(sim, 3, 0.2));
		call(sim, "main:1 g:2 step:3 fa:3", "la", 13, 2);
		call(sim, "main:1 g:2 fb:3", "lb", 12, 2);
		for (int k = 0; k < 6 && i % 22 == 0; k++)
			call(sim, "main:1 g:4 h:3 fa:3", "la", 25, 2);
	}
}

static void (*const aperiodic[])(struct sim *,
				 struct truth *) = {one_long_call, calls_at_random,
						    three_rounds,  nothing_unwound,
						    team_waits,    trial_of_short_steps};

START_TEST(nothing_is_found_where_nothing_repeats_visibly)
{
	struct sim sim;
	struct truth *truth = tp_alloc(sizeof(*truth));
	simulate_shape(&sim, aperiodic[_i], truth);
	ck_assert_msg(sim.profile.steps_found_by == TP_STEPS_NONE, "shape %d: %zu steps: %s", _i,
		      sim.profile.n_steps, sim.profile.steps_reason);
	ck_assert_uint_eq(sim.profile.n_steps, 0);
	ck_assert_uint_gt(strlen(sim.profile.steps_reason), 10);
	ck_assert_uint_eq(sim.analysis.loop_end_ns > sim.analysis.loop_start_ns, 1);
	free(truth);
	sim_release(&sim);
}
END_TEST

/* Long waits and little work: one sample of all work between two waits shows where it is. */
START_TEST(one_sample_is_enough_between_long_waits)
{
	struct sim sim;
	sim_init(&sim, 99, 50, 23);
	sim_work(&sim, "main:0 setup:5", 300000000);
	for (int i = 0; i < (_i ? 10 : 20); i++) {
		sim_block(&sim, "main:1 load_join:3", TP_CAUSE_FUTEX, sim_ms(&sim, 700, 0.3));
		sim_work(&sim, "main:2 step:3", sim_ms(&sim, _i ? 2.05 : 6, 0.1));
	}
	sim_finish(&sim);
	struct tp_error err;
	ck_assert_int_eq(tp_pass_steps(&sim.analysis, &err), TP_OK);
	ck_assert_msg(sim.profile.steps_found_by == TP_STEPS_PERIOD, "%s",
		      sim.profile.steps_reason);
	ck_assert_uint_ge(sim.profile.n_steps, _i ? 9 : 19);
	ck_assert_uint_le(sim.profile.n_steps, _i ? 10 : 20);
	sim_release(&sim);
}
END_TEST

/* A step is handed to other threads within 1.3 ms, and the program waits for it. A wait during
 * the start of the program has no poll and is taken for one of these waits: it must not begin a
 * step. */
START_TEST(steps_that_are_handed_over_are_counted_by_their_waits)
{
	enum { STEPS = 150 };
	struct sim sim;
	sim_init(&sim, 99, 20, 31 + (uint64_t)_i);
	for (int i = 0; i < 8; i++) {
		sim_work(&sim, "train.py><module>:1 setup.py>prepare:3", sim_ms(&sim, 300, 0.2));
		sim.next_poll_ns = sim.now_ns + 50000000; /* no poll hits it */
		sim_block(&sim, "train.py><module>:1 setup.py>prepare:4", TP_CAUSE_FILE, 30000000);
	}
	for (int i = 0; i < STEPS; i++) {
		sim_work(&sim, "train.py><module>:9 train.py>next_one:2", sim_ms(&sim, 0.9, 0.1));
		sim_work(&sim, "train.py><module>:10 lib.py>execute:53", sim_ms(&sim, 0.4, 0.1));
		sim_block(&sim, "train.py><module>:10 lib.py>execute:53 libxla.so!run:1",
			  TP_CAUSE_FUTEX, sim_ms(&sim, 60, 0.1));
	}
	sim_finish(&sim);
	struct tp_error err;
	ck_assert_int_eq(tp_pass_steps(&sim.analysis, &err), TP_OK);
	ck_assert_msg(sim.profile.n_steps + 1 >= STEPS && sim.profile.n_steps <= STEPS + 1,
		      "%zu steps: %s", sim.profile.n_steps, sim.profile.steps_reason);
	/* The location is in Python, even if the rounds were found in a library. */
	ck_assert_ptr_nonnull(strstr(sim.profile.steps_reason, ".py"));
	sim_release(&sim);
}
END_TEST

/* ---- marks ------------------------------------------------------------------------------------
 */

static void mark_steps(struct sim *sim, int n, bool ends, double outside_ms)
{
	for (int i = 0; i < n; i++) {
		sim_mark(sim, 0, TP_MARK_STEP);
		sim_work(sim, "main:1 train:2", 10000000);
		if (ends)
			sim_mark(sim, 0, TP_MARK_STEP_END);
		sim_work(sim, "main:1 next:2", (uint64_t)(outside_ms * 1e6));
	}
}

static void find_steps(struct sim *sim)
{
	sim_finish(sim);
	struct tp_error err;
	ck_assert_int_eq(tp_pass_steps(&sim->analysis, &err), TP_OK);
}

START_TEST(marks_open_and_end_steps)
{
	struct sim sim;
	sim_init(&sim, 99, 50, 1);
	sim_work(&sim, "main:0 setup:1", 70000000);
	mark_steps(&sim, 5, false, 2);
	sim_mark(&sim, 0, TP_MARK_STEP_END);
	sim_work(&sim, "main:1 evaluate:2", 500000000);
	mark_steps(&sim, 5, false, 2);
	sim_mark(&sim, 0, TP_MARK_STEP_END);
	sim_work(&sim, "main:1 save:2", 100000000);
	find_steps(&sim);
	ck_assert_int_eq(sim.profile.steps_found_by, TP_STEPS_MARKER);
	ck_assert_uint_eq(sim.profile.n_steps, 10);
	for (size_t i = 0; i < 10; i++)
		ck_assert_uint_eq(sim.profile.steps[i].end_ns - sim.profile.steps[i].start_ns,
				  12000000);
	ck_assert_uint_eq(sim.analysis.loop_start_ns, 70000000);
	ck_assert_uint_eq(sim.analysis.loop_end_ns, 70000000 + 620000000);
	sim_release(&sim);
}
END_TEST

START_TEST(time_between_an_end_and_the_next_step_is_the_steps_when_it_always_is)
{
	struct sim sim;
	sim_init(&sim, 99, 50, 1);
	mark_steps(&sim, 20, true, 7); /* fetches its batch outside the marks */
	sim_work(&sim, "main:1 evaluate:2", 300000000);
	mark_steps(&sim, 20, true, 7);
	find_steps(&sim);
	ck_assert_uint_eq(sim.profile.n_steps, 40);
	for (size_t i = 0; i < 39; i++)
		ck_assert_uint_eq(sim.profile.steps[i].end_ns - sim.profile.steps[i].start_ns,
				  i == 19 ? 10000000 : 17000000);
	sim_release(&sim);
}
END_TEST

START_TEST(a_last_step_without_an_end_is_cut_to_the_usual_length)
{
	struct sim sim;
	sim_init(&sim, 99, 50, 1);
	mark_steps(&sim, 20, false, 2);
	sim_work(&sim, "main:1 save:2", 3000000000);
	find_steps(&sim);
	ck_assert_uint_eq(sim.profile.n_steps, 20);
	ck_assert_int_eq(sim.profile.steps[19].kind, TP_STEP_CUT);
	ck_assert_int_eq(sim.profile.steps[18].kind, TP_STEP_STEADY);
	ck_assert_uint_eq(sim.profile.steps[19].end_ns - sim.profile.steps[19].start_ns, 12000000);
	sim_release(&sim);
}
END_TEST

START_TEST(a_few_repetitions_while_the_program_starts_are_no_steps)
{
	/* Four similar tenths of a second, then phases of 5 and 6 ms. */
	struct sim sim;
	sim_init(&sim, 99, 50, 1);
	for (int i = 0; i < 5; i++) {
		sim_work(&sim, "main:1 import:3 parse:4", 60000000);
		sim_work(&sim, "main:1 import:3 link:5", 40000000);
	}
	for (int i = 0; i < 800; i++) {
		sim_work(&sim, "main:4 next:2", 5000000);
		sim_work(&sim, "main:5 train:2", 6000000);
	}
	find_steps(&sim);
	ck_assert_int_eq(sim.profile.steps_found_by, TP_STEPS_NONE);
	ck_assert_uint_ge(sim.analysis.loop_start_ns, 480000000);
	ck_assert_uint_gt(sim.analysis.loop_end_ns, UINT64_C(9000000000));
	sim_release(&sim);
}
END_TEST

START_TEST(repetition_before_an_uncountable_loop_is_not_part_of_it)
{
	/* Two seconds in which `import` parses now and then, then phases of 5 and 6 ms. */
	static const struct {
		const char *path;
		unsigned ms;
	} imports[] = {
		{"main:1 run:2 import:3 parse:4", 80}, {"main:1 run:2 import:3 link:5", 700},
		{"main:1 run:2 import:3 parse:4", 40}, {"main:1 run:2 import:3 open:6", 30},
		{"main:1 run:2 import:3 parse:4", 80}, {"main:1 run:2 import:3 check:7", 900},
		{"main:1 run:2 import:3 parse:4", 40}, {"main:1 run:2 import:3 build:8", 20},
		{"main:1 run:2 import:3 parse:4", 80},
	};
	struct sim sim;
	sim_init(&sim, 99, 50, 1);
	for (size_t i = 0; i < sizeof(imports) / sizeof(imports[0]); i++)
		sim_work(&sim, imports[i].path, imports[i].ms * UINT64_C(1000000));
	for (int i = 0; i < 300; i++) {
		sim_work(&sim, "main:1 run:4 next:2", 5000000);
		sim_work(&sim, "main:1 run:5 train:2", 6000000);
	}
	find_steps(&sim);
	ck_assert_int_eq(sim.profile.steps_found_by, TP_STEPS_NONE);
	ck_assert_uint_ge(sim.analysis.loop_start_ns, 1950000000);
	ck_assert_uint_lt(sim.analysis.loop_start_ns, 2020000000);
	sim_release(&sim);
}
END_TEST

static void make_data(struct sim *sim)
{
	for (int i = 0; i < 60; i++) {
		sim_work(sim, "main:1 make:2 draw:3", 4000000);
		sim_work(sim, "main:1 make:2 store:4", 5000000);
	}
}

/* The shorter loop is before training, or after it. */
START_TEST(the_longer_of_two_uncountable_loops_is_training)
{
	struct sim sim;
	sim_init(&sim, 99, 50, 1);
	if (_i == 0)
		make_data(&sim);
	uint64_t start_ns = sim.now_ns;
	for (int i = 0; i < 300; i++) {
		sim_work(&sim, "main:2 run:4 next:2", 5000000);
		sim_work(&sim, "main:2 run:5 train:2", 6000000);
	}
	uint64_t end_ns = sim.now_ns;
	if (_i == 1)
		make_data(&sim);
	find_steps(&sim);
	ck_assert_int_eq(sim.profile.steps_found_by, TP_STEPS_NONE);
	ck_assert_double_eq_tol((double)sim.analysis.loop_start_ns, (double)start_ns, 60e6);
	ck_assert_double_eq_tol((double)sim.analysis.loop_end_ns, (double)end_ns, 60e6);
	sim_release(&sim);
}
END_TEST

/* A loop that the compiler inlined into main() completely: its stacks are complete, too, but most
 * runs have no sample. */
START_TEST(short_stays_are_not_called_incomplete_stacks)
{
	struct sim sim;
	sim_init(&sim, 99, 50, 5);
	for (int i = 0; i < 1500; i++) {
		sim_work(&sim, "main:2", sim_ms(&sim, 2, 0.5));
		sim_block(&sim, "main:2 pthread_cond_wait:1", TP_CAUSE_FUTEX,
			  sim_ms(&sim, 0.3, 0.9));
	}
	find_steps(&sim);
	ck_assert_int_eq(sim.profile.steps_found_by, TP_STEPS_NONE);
	const char *reason = sim.profile.steps_reason;
	ck_assert_msg(strstr(reason, "too short for 99 samples per second") != NULL, "%s", reason);
	sim_release(&sim);
}
END_TEST

/* Five epochs of steps too fast to count, each followed by work without a known name. */
START_TEST(epochs_of_steps_too_fast_to_count_are_no_steps)
{
	struct sim sim;
	sim_init(&sim, 99, 50, 1);
	for (int epoch = 0; epoch < 5; epoch++) {
		for (int i = 0; i < 250; i++) {
			sim_work(&sim, "main:1 next:2", sim_ms(&sim, 8, 0.5));
			sim_work(&sim, "main:1 train:3", sim_ms(&sim, 5, 0.5));
		}
		sim_work(&sim, "main:1 accuracy:4", 900000000);
	}
	find_steps(&sim);
	ck_assert_msg(sim.profile.steps_found_by == TP_STEPS_NONE, "%zu steps: %s",
		      sim.profile.n_steps, sim.profile.steps_reason);
	sim_release(&sim);
}
END_TEST

static void add_other_tasks(struct sim *sim)
{
	for (uint32_t id = 1; id <= 2; id++) {
		struct tp_task task = {.id = id, .tid = 100 + (pid_t)id, .start_ns = 1};
		task.pid = id == 1 ? 101 : 100; /* 1 = another process, 2 = a thread of this one */
		task.parent = 0;
		tp_sink_task(&sim->builder.sink, &task);
	}
}

START_TEST(marks_of_other_processes_do_not_count)
{
	struct sim sim;
	sim_init(&sim, 99, 50, 1);
	add_other_tasks(&sim);
	for (int i = 0; i < 50; i++) {
		sim_mark(&sim, 1, TP_MARK_STEP);
		sim_work(&sim, "main:1 solve:2", 20000000);
	}
	find_steps(&sim);
	ck_assert_int_eq(sim.profile.steps_found_by, TP_STEPS_NONE);
	sim_release(&sim);
}
END_TEST

START_TEST(marks_of_another_thread_of_the_trainer_count)
{
	struct sim sim;
	sim_init(&sim, 99, 50, 1);
	add_other_tasks(&sim);
	for (int i = 0; i < 50; i++) {
		sim_mark(&sim, 2, TP_MARK_STEP);
		sim_work(&sim, "main:1 solve:2", 20000000);
	}
	find_steps(&sim);
	ck_assert_int_eq(sim.profile.steps_found_by, TP_STEPS_MARKER);
	ck_assert_uint_eq(sim.profile.n_steps, 50);
	sim_release(&sim);
}
END_TEST

START_TEST(the_option_decides_where_steps_come_from)
{
	static const struct {
		enum tp_steps_choice choice;
		bool marked;
		enum tp_steps_found_by found_by;
	} cases[] = {
		{TP_STEPS_AUTO, true, TP_STEPS_MARKER},
		{TP_STEPS_AUTO, false, TP_STEPS_PERIOD},
		{TP_STEPS_ONLY_MARKER, true, TP_STEPS_MARKER},
		{TP_STEPS_ONLY_MARKER, false, TP_STEPS_NONE},
		{TP_STEPS_OFF, true, TP_STEPS_NONE},
		{TP_STEPS_OFF, false, TP_STEPS_NONE},
	};
	for (size_t c = 0; c < TP_ARRAY_LEN(cases); c++) {
		struct sim sim;
		sim_init(&sim, 99, 50, 1);
		sim.options.steps = cases[c].choice;
		for (int i = 0; i < 30; i++) {
			if (cases[c].marked)
				sim_mark(&sim, 0, TP_MARK_STEP);
			body(&sim, "main:1 g:2", 200);
		}
		find_steps(&sim);
		ck_assert_int_eq(sim.profile.steps_found_by, cases[c].found_by);
		sim_release(&sim);
	}
}
END_TEST

/* Steps that have ends have gaps between them; one step or none has no gap to measure. */
START_TEST(few_marks_of_any_kind_make_few_steps)
{
	static const struct {
		enum tp_mark_kind kinds[3];
		size_t n;
		size_t n_steps;
	} cases[] = {
		{{TP_MARK_STEP}, 1, 1},
		{{TP_MARK_STEP_END}, 1, 0},
		{{TP_MARK_STEP, TP_MARK_STEP_END}, 2, 1},
		{{TP_MARK_STEP, TP_MARK_STEP}, 2, 2},
		{{TP_MARK_STEP, TP_MARK_STEP_END, TP_MARK_STEP}, 3, 2},
	};
	struct sim sim;
	sim_init(&sim, 99, 50, 1);
	for (size_t i = 0; i < cases[_i].n; i++) {
		sim_mark(&sim, 0, cases[_i].kinds[i]);
		body(&sim, "main:1 g:2", 200);
	}
	find_steps(&sim);
	ck_assert_uint_eq(sim.profile.n_steps, cases[_i].n_steps);
	sim_release(&sim);
}
END_TEST

Suite *suite_analyze_pass_steps(void);
Suite *suite_analyze_pass_steps(void)
{
	Suite *suite = suite_create("analyze/pass_steps");
	TCase *tc = tcase_create("steps");
	tcase_add_loop_test(tc, steps_are_counted_to_one_percent, 0, TP_ARRAY_LEN(found));
	tcase_add_loop_test(tc, steps_too_short_for_the_rate_are_not_invented, 0,
			    TP_ARRAY_LEN(unresolved));
	tcase_add_loop_test(tc, loops_of_other_shapes_are_found, 0, TP_ARRAY_LEN(shapes));
	tcase_add_loop_test(tc, rounds_are_counted_by_the_turns_of_their_callees, 0,
			    TP_ARRAY_LEN(turns));
	tcase_add_loop_test(tc, steps_that_may_be_groups_are_called_so, 0, TP_ARRAY_LEN(groups));
	tcase_add_loop_test(tc, nothing_is_found_where_nothing_repeats_visibly, 0,
			    TP_ARRAY_LEN(aperiodic));
	tcase_add_test(tc, short_stays_are_not_called_incomplete_stacks);
	tcase_add_loop_test(tc, one_sample_is_enough_between_long_waits, 0, 2);
	tcase_add_loop_test(tc, steps_that_are_handed_over_are_counted_by_their_waits, 0, 4);
	tcase_add_test(tc, marks_open_and_end_steps);
	tcase_add_loop_test(tc, few_marks_of_any_kind_make_few_steps, 0, 5);
	tcase_add_test(tc, time_between_an_end_and_the_next_step_is_the_steps_when_it_always_is);
	tcase_add_test(tc, a_last_step_without_an_end_is_cut_to_the_usual_length);
	tcase_add_test(tc, marks_of_other_processes_do_not_count);
	tcase_add_test(tc, repetition_before_an_uncountable_loop_is_not_part_of_it);
	tcase_add_test(tc, epochs_of_steps_too_fast_to_count_are_no_steps);
	tcase_add_loop_test(tc, the_longer_of_two_uncountable_loops_is_training, 0, 2);
	tcase_add_test(tc, a_few_repetitions_while_the_program_starts_are_no_steps);
	tcase_add_test(tc, marks_of_another_thread_of_the_trainer_count);
	tcase_add_test(tc, the_option_decides_where_steps_come_from);
	suite_add_tcase(suite, tc);
	return suite;
}
