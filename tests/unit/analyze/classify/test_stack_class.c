/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of stacks with Python frames: phases, truncated stacks, and the roles they show. */
#include "analyze/classify/stack_class.h"

#include "analyze/pyscene.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#define PY_TENSORFLOW "/x/site-packages/tensorflow/python/"
#define PY_KERAS      "/x/site-packages/keras/src/saving/"

static struct tp_stack_class class_of(struct pyscene *scene, const char *path)
{
	pyscene_task(scene, 0, 100, 0);
	pyscene_sample(scene, 0, 0.5, TP_STATE_ON_CPU, TP_CAUSE_NONE, path);
	struct sim *sim = &scene->sim;
	sim->run.ended_ns = TP_NS_PER_S;
	tp_trace_build(&sim->trace, &sim->builder, &sim->run);
	struct tp_arena arena = {0};
	struct tp_stack_class *classes =
		tp_stack_class_build(&sim->trace, sim->patterns, &arena, NULL);
	struct tp_stack_class class = classes[sim->trace.samples[0].stack];
	tp_arena_release(&arena);
	return class;
}

static const struct {
	const char *path; /* root first */
	enum tp_phase phase;
	enum tp_leaf leaf;
} stacks[] = {
	/* math in a layer; interpreting in one; a page fault in the loader counts as loading */
	{PY_MAIN " " PY_MODULE " libtorch_cpu.so!addmm:1", TP_PHASE_COMPUTE, TP_LEAF_MATH},
	{PY_MAIN " " PY_MODULE " /usr/bin/python3.11!eval:1", TP_PHASE_COMPUTE,
	 TP_LEAF_INTERPRETER},
	{PY_MAIN " " PY_MODULE, TP_PHASE_COMPUTE, TP_LEAF_INTERPRETER},
	{PY_MAIN " " PY_DATA "__next__:633 /usr/lib/python3/dist-packages/PIL/Image.py>open:3 "
		 "libjpeg.so.62!decode:9",
	 TP_PHASE_DATALOADER, TP_LEAF_DECODE},
	/* a layer that a transform calls in the loader counts as loading */
	{PY_MAIN " " PY_DATA "__next__:633 " PY_MODULE " libtorch_cpu.so!conv:1",
	 TP_PHASE_DATALOADER, TP_LEAF_MATH},
	/* the frames that a forked worker has inherited from its parent do not count */
	{"train.py><module>:3 train.py>evaluate:5 " PY_BOOT " train.py>f:3", TP_PHASE_DATALOADER,
	 TP_LEAF_INTERPRETER},
	{"train.py><module>:3 train.py>save_checkpoint:5 " PY_STD
	 "multiprocessing/process.py>BaseProcess._bootstrap:314 train.py>f:3",
	 TP_PHASE_NONE, TP_LEAF_INTERPRETER},
	/* an import may run a whole program, and then the import is not what takes the time */
	{"<string>><module>:1 <frozen importlib._bootstrap>>_find_and_load:1 "
	 "train.py><module>:3 " PY_MODULE,
	 TP_PHASE_COMPUTE, TP_LEAF_INTERPRETER},
	/* handing over batches is not reading files */
	{PY_MAIN " " PY_DATA "__next__:633 " PY_STD
		 "multiprocessing/connection.py>Connection._recv:383 libc.so.6!read:1",
	 TP_PHASE_DATALOADER, TP_LEAF_PICKLE},
	{PY_MAIN " train.py>read_config:3 libc.so.6!read:1", TP_PHASE_NONE, TP_LEAF_READ},
	/* a decoder's own copies are decoding, other copies are not */
	{PY_MAIN " train.py>f:3 zlib.so!zlib_decompress:1 libc.so.6!memcpy:1", TP_PHASE_NONE,
	 TP_LEAF_DECODE},
	{PY_MAIN " train.py>f:3 libz.so.1!inflate:1 libc.so.6!x:1 libc.so.6!memcpy:1",
	 TP_PHASE_NONE, TP_LEAF_DECODE},
	{PY_MAIN " train.py>f:3 libtorch_cpu.so!cat:1 libc.so.6!memcpy:1", TP_PHASE_COMPUTE,
	 TP_LEAF_COPY},
	/* progress bars are transparent */
	{PY_MAIN " /usr/lib/python3/dist-packages/tqdm/std.py>*tqdm.__iter__:1195 " PY_DATA
		 "__next__:633",
	 TP_PHASE_DATALOADER, TP_LEAF_INTERPRETER},
	{PY_MAIN " train.py>log_metrics:3 " PY_TORCH "_tensor.py>Tensor.__format__:3",
	 TP_PHASE_LOGGING, TP_LEAF_INTERPRETER},
	/* tracing runs a step once to record its operations: that is not training */
	{PY_MAIN " " PY_TENSORFLOW "eager/polymorphic_function/tracing_compilation.py>"
		 "trace_function:178 train.py>step:9 " PY_TENSORFLOW
		 "eager/backprop.py>GradientTape.gradient:3",
	 TP_PHASE_COMPILE, TP_LEAF_INTERPRETER},
	/* importing a library does not count as the activity of its files */
	{"train.py><module>:1 " PY_KERAS "saving_lib.py><module>:30", TP_PHASE_IMPORT,
	 TP_LEAF_INTERPRETER},
	{PY_MAIN " " PY_KERAS "saving_lib.py>save_model:80", TP_PHASE_CHECKPOINT,
	 TP_LEAF_INTERPRETER},
	/* a library that the user built computes; of an installed one nothing is known */
	{PY_MAIN " libffi.so.8!ffi_call:1 /home/me/net/scalar.so!layer:1", TP_PHASE_NONE,
	 TP_LEAF_MATH},
	{PY_MAIN " /home/me/net/scalar.so!layer:1 libc.so.6!exp:1", TP_PHASE_NONE, TP_LEAF_MATH},
	{PY_MAIN " /home/me/net/scalar.so!decode_image:1", TP_PHASE_DATALOADER, TP_LEAF_DECODE},
	{PY_MAIN " /home/me/env/lib/python3.11/site-packages/x/y.so!f:1", TP_PHASE_NONE,
	 TP_LEAF_NONE},
	{PY_MAIN " /usr/lib/libx.so!f:1", TP_PHASE_NONE, TP_LEAF_NONE},
	{PY_MAIN " /usr/bin/blender!f:1", TP_PHASE_NONE, TP_LEAF_NONE},
	{PY_MAIN " /opt/web/bin/uwsgi!f:1", TP_PHASE_NONE, TP_LEAF_NONE},
	{"/opt/job/train.py>main:1 /home/me/net/scalar.so!layer:1", TP_PHASE_NONE, TP_LEAF_MATH},
	{PY_MAIN " " PY_KERAS "serialization_lib.py>deserialize_keras_object:619", TP_PHASE_NONE,
	 TP_LEAF_INTERPRETER},
};

START_TEST(stacks_are_what_their_frames_say_together)
{
	struct pyscene scene;
	pyscene_open(&scene);
	struct tp_stack_class class = class_of(&scene, stacks[_i].path);
	ck_assert_msg(class.phase == stacks[_i].phase, "row %d: phase %d", _i, (int)class.phase);
	ck_assert_msg(class.leaf == stacks[_i].leaf, "row %d: leaf %d", _i, (int)class.leaf);
	ck_assert(class.has_python);
	tp_map_release(&scene.sim.stacks);
	tp_trace_release(&scene.sim.trace);
	tp_trace_builder_release(&scene.sim.builder);
	tp_patterns_free(scene.sim.patterns);
}
END_TEST

START_TEST(frames_outside_a_fork_are_ignored)
{
	struct pyscene scene;
	pyscene_open(&scene);
	struct tp_stack_class class =
		class_of(&scene, "train.py><module>:3 train.py>evaluate:5 " PY_BOOT);
	ck_assert(class.is_loader_root && !class.in_evaluation);
	tp_map_release(&scene.sim.stacks);
	tp_trace_release(&scene.sim.trace);
	tp_trace_builder_release(&scene.sim.builder);
	tp_patterns_free(scene.sim.patterns);
}
END_TEST

/* Two seconds: the trainer waits 60 of 100 ms for a worker that does torch math, as a worker that
 * computes features does; only the worker's main loop distinguishes it from a rank. */
static void worker_that_computes(struct pyscene *scene)
{
	pyscene_task(scene, 0, 100, 0);
	pyscene_task(scene, 1, 200, 0);
	for (int i = 0; i < 20; i++) {
		double at = 0.1 * i;
		pyscene_runs(scene, 0, at, at + 0.04,
			     PY_MAIN " " PY_MODULE " libtorch_cpu.so!addmm:1");
		pyscene_waits(scene, 0, at + 0.04, at + 0.1, TP_CAUSE_FUTEX,
			      PY_MAIN " " PY_DATA "_BaseDataLoaderIter.__next__:633 " PY_STD
				      "queue.py>Queue.get:171");
		pyscene_runs(scene, 1, at, at + 0.01,
			     PY_WORKER " train.py>Features.__getitem__:8 libtorch_cpu.so!addmm:1");
		pyscene_waits(scene, 1, at + 0.01, at + 0.042, TP_CAUSE_PIPE,
			      PY_WORKER " " PY_STD "multiprocessing/connection.py>_recv:383");
		pyscene_runs(scene, 1, at + 0.042, at + 0.098,
			     PY_WORKER " train.py>Features.__getitem__:9 libtorch_cpu.so!addmm:1");
	}
	pyscene_judge(scene, 2, TP_STEPS_OFF);
}

START_TEST(a_process_below_the_workers_loop_is_a_loader_whatever_it_computes)
{
	struct pyscene scene;
	pyscene_open(&scene);
	worker_that_computes(&scene);
	const struct tp_profile *profile = &scene.sim.profile;
	ck_assert_uint_eq(profile->n_processes, 2);
	ck_assert_int_eq(profile->processes[1].role, TP_ROLE_LOADER);
	ck_assert_double_eq(profile->facts[TP_FACT_COMM_PEERS].value, 1);
	pyscene_expect(&scene, TP_LABEL_COMPUTE_MATH, 0.8, 0.01);
	pyscene_expect(&scene, TP_LABEL_DATALOADER_PREP, 1.12, 0.01);
	pyscene_expect(&scene, TP_LABEL_DATALOADER_HANDOVER, 0.08, 0.01);
	pyscene_close(&scene);
}
END_TEST

START_TEST(waiting_for_the_interpreters_lock_is_the_hosts)
{
	struct pyscene scene;
	pyscene_open(&scene);
	pyscene_task(&scene, 0, 100, 0);
	for (int i = 0; i < 20; i++) {
		double at = 0.1 * i;
		pyscene_runs(&scene, 0, at, at + 0.07,
			     PY_MAIN " " PY_MODULE " libtorch_cpu.so!addmm:1");
		pyscene_waits(&scene, 0, at + 0.07, at + 0.1, TP_CAUSE_GIL, PY_MAIN " " PY_MODULE);
	}
	pyscene_judge(&scene, 2, TP_STEPS_OFF);
	pyscene_expect(&scene, TP_LABEL_HOST_GIL, 0.6, 0.01);
	ck_assert_double_eq_tol(scene.sim.profile.facts[TP_FACT_STEP_GIL].value, 0.3, 0.01);
	pyscene_expect(&scene, TP_LABEL_COMPUTE_MATH, 1.4, 0.01);
	pyscene_close(&scene);
}
END_TEST

START_TEST(stacks_without_python_take_the_phase_around_them)
{
	struct pyscene scene;
	pyscene_open(&scene);
	pyscene_task(&scene, 0, 100, 0);
	for (int i = 0; i < 20; i++) {
		double at = 0.1 * i;
		const char *decode = PY_MAIN " " PY_DATA "__next__:633 train.py>f:3 _ours.so!f:1";
		pyscene_runs(&scene, 0, at, at + 0.06, decode);
		/* between two samples in the loader, and between one in the loader and one in the
		 * model */
		pyscene_sample(&scene, 0, at + 0.032, TP_STATE_ON_CPU, TP_CAUSE_NONE,
			       "_ours.so!f:1");
		pyscene_runs(&scene, 0, at + 0.061, at + 0.1,
			     PY_MAIN " " PY_MODULE " libtorch_cpu.so!addmm:1");
	}
	pyscene_judge(&scene, 2, TP_STEPS_OFF);
	pyscene_expect(&scene, TP_LABEL_DATALOADER_PREP, 1.2, 0.05);
	pyscene_expect(&scene, TP_LABEL_HOST_OTHER, 0, 0.001);
	pyscene_close(&scene);
}
END_TEST

/* A generator makes batches with NumPy for 40 of 100 ms; none of its names shows that. */
static void generator(struct pyscene *scene, const char *path)
{
	pyscene_task(scene, 0, 100, 0);
	for (int i = 0; i < 30; i++) {
		double at = 0.1 * i;
		pyscene_runs(scene, 0, at, at + 0.04, path);
		pyscene_runs(scene, 0, at + 0.04, at + 0.1,
			     "train.py><module>:90 train.py>main:71 " PY_MODULE
			     " libtorch_cpu.so!addmm:1");
	}
	pyscene_judge(scene, 3, TP_STEPS_OFF);
}

static const struct {
	const char *path;
	double loader_s;
} generators[] = {
	{PY_MAIN " train.py>*pieces:7 _multiarray_umath.so!multiply:1", 1.2},
	{PY_MAIN " train.py>*pieces:7 train.py>tilt:9 /usr/bin/python3.11!eval:1", 1.2},
	/* a function that the loop calls at the start of each round provides its data */
	{PY_MAIN " train.py>pieces:7 _multiarray_umath.so!multiply:1", 1.2},
	/* one that trains */
	{PY_MAIN " train.py>*pieces:7 " PY_MODULE " libtorch_cpu.so!addmm:1", 0},
	/* one that the loop names beside its body, in the same line */
	{"train.py><module>:90 train.py>main:71 train.py>*pieces:7 /usr/bin/python3.11!eval:1",
	 1.2},
	/* one that another function consumes within the round, and an expression */
	{"train.py><module>:90 train.py>main:72 train.py>total:80 train.py>*pieces:7 "
	 "/usr/bin/python3.11!eval:1",
	 0},
	{PY_MAIN " train.py>*<genexpr>:70 /usr/bin/python3.11!eval:1", 0},
};

/* Without a model in sight, the first call of a round is as likely to be its work as its data. */
START_TEST(the_first_call_of_a_round_without_a_model_is_no_loader)
{
	struct pyscene scene;
	pyscene_open(&scene);
	pyscene_task(&scene, 0, 100, 0);
	for (int i = 0; i < 30; i++) {
		double at = 0.1 * i;
		pyscene_runs(&scene, 0, at, at + 0.04,
			     PY_MAIN " train.py>score:7 /usr/bin/python3.11!eval:1");
		pyscene_runs(&scene, 0, at + 0.04, at + 0.1,
			     "train.py><module>:90 train.py>main:71 train.py>update:12 "
			     "/usr/bin/python3.11!eval:1");
	}
	pyscene_judge(&scene, 3, TP_STEPS_OFF);
	pyscene_expect(&scene, TP_LABEL_DATALOADER_PREP, 0, 0.001);
	pyscene_close(&scene);
}
END_TEST

START_TEST(a_generator_that_the_loop_asks_for_the_next_is_the_loader)
{
	struct pyscene scene;
	pyscene_open(&scene);
	generator(&scene, generators[_i].path);
	pyscene_expect(&scene, TP_LABEL_DATALOADER_PREP, generators[_i].loader_s, 0.01);
	pyscene_close(&scene);
}
END_TEST

/* 40 of 200 ms in a function at the start of each round, `tensor_s` of them in the model's
 * library. */
static void draw(struct pyscene *scene, double tensor_s)
{
	pyscene_task(scene, 0, 100, 0);
	for (int i = 0; i < 25; i++) {
		double at = 0.2 * i;
		pyscene_runs(scene, 0, at, at + 0.04 - tensor_s,
			     PY_MAIN " train.py>Store.some:7 /usr/bin/python3.11!eval:1");
		pyscene_runs(scene, 0, at + 0.04 - tensor_s, at + 0.04,
			     PY_MAIN " train.py>Store.some:9 libtorch_python.so!new_tensor:1");
		pyscene_runs(scene, 0, at + 0.04, at + 0.2,
			     "train.py><module>:90 train.py>main:71 " PY_MODULE
			     " libtorch_cpu.so!addmm:1");
	}
	pyscene_judge(scene, 5, TP_STEPS_OFF);
}

static const struct {
	double tensor_s; /* per 40 ms */
	double loader_s; /* per 5 s */
} drawers[] = {{0.01, 1}, {0.03, 0}};

START_TEST(a_loader_that_makes_tensors_stays_the_loader)
{
	struct pyscene scene;
	pyscene_open(&scene);
	draw(&scene, drawers[_i].tensor_s);
	pyscene_expect(&scene, TP_LABEL_DATALOADER_PREP, drawers[_i].loader_s, 0.01);
	pyscene_close(&scene);
}
END_TEST

/* A loop inside functions whose names would be phases, with a real checkpoint in it. */
START_TEST(functions_around_the_training_are_no_phase)
{
	struct pyscene scene;
	pyscene_open(&scene);
	pyscene_task(&scene, 0, 100, 0);
	static const char in[] = "train.py><module>:90 train.py>load_dataset_run:3 ";
	for (int i = 0; i < 30; i++) {
		double at = 0.1 * i;
		char path[400];
		snprintf(path, sizeof(path),
			 "%strain.py>checkpoints:7 " PY_MODULE " libtorch_cpu.so!mm:1", in);
		pyscene_runs(&scene, 0, at, at + 0.04, path);
		snprintf(path, sizeof(path),
			 "%strain.py>checkpoints:8 " PY_TORCH
			 "_tensor.py>Tensor.backward:488 libtorch_cpu.so!mm:1",
			 in);
		pyscene_runs(&scene, 0, at + 0.04, at + 0.08, path);
		snprintf(path, sizeof(path),
			 "%strain.py>checkpoints:9 " PY_TORCH
			 "serialization.py>save:420 libtorch_cpu.so!mm:1",
			 in);
		pyscene_runs(&scene, 0, at + 0.08, at + 0.1, path);
	}
	pyscene_judge(&scene, 3, TP_STEPS_OFF);
	pyscene_expect(&scene, TP_LABEL_COMPUTE_MATH, 2.4, 0.01);
	pyscene_expect(&scene, TP_LABEL_HOST_CHECKPOINT, 0.6, 0.01);
	pyscene_close(&scene);
}
END_TEST

/* A process starts two ranks and then joins them: it is the launcher, and they load nothing. */
START_TEST(a_process_that_joins_its_ranks_is_their_launcher)
{
	struct pyscene scene;
	pyscene_open(&scene);
	pyscene_task(&scene, 0, 100, 0);
	pyscene_task(&scene, 1, 200, 1.2);
	pyscene_task(&scene, 2, 300, 1.2);
	pyscene_runs(&scene, 0, 0, 1.2, "train.py><module>:3 <frozen importlib._bootstrap>>f:1");
	for (int i = 12; i < 40; i++)
		pyscene_waits(&scene, 0, 0.1 * i, 0.1 * i + 0.1, TP_CAUSE_POLL,
			      "train.py><module>:90 " PY_TORCH
			      "multiprocessing/spawn.py>ProcessContext.join:109 " PY_STD
			      "multiprocessing/connection.py>wait:936");
	for (uint32_t rank = 1; rank <= 2; rank++)
		for (int i = 12; i < 40; i++)
			pyscene_runs(&scene, rank, 0.1 * i, 0.1 * i + 0.09,
				     PY_STD "multiprocessing/process.py>BaseProcess._bootstrap:314 "
					    "train.py>rank:71 " PY_TORCH
					    "_tensor.py>Tensor.backward:488 libtorch_cpu.so!mm:1");
	struct tp_error err;
	struct sim *sim = &scene.sim;
	struct tp_analyze_options options = {.steps = TP_STEPS_OFF};
	sim->run.ended_ns = UINT64_C(4000000000);
	tp_trace_build(&sim->trace, &sim->builder, &sim->run);
	ck_assert_int_eq(tp_analyze(&sim->profile, &sim->trace, sim->patterns, &options, &err),
			 TP_OK);
	ck_assert_uint_eq(sim->profile.trainer, 1);
	ck_assert_int_eq(sim->profile.processes[0].role, TP_ROLE_LAUNCHER);
	ck_assert_int_eq(sim->profile.processes[1].role, TP_ROLE_TRAINER);
	ck_assert_int_eq(sim->profile.processes[2].role, TP_ROLE_TRAINER);
	pyscene_close(&scene);
}
END_TEST

Suite *suite_analyze_stack_class(void);
Suite *suite_analyze_stack_class(void)
{
	Suite *suite = suite_create("analyze/classify");
	TCase *tc = tcase_create("python");
	tcase_add_loop_test(tc, stacks_are_what_their_frames_say_together, 0, TP_ARRAY_LEN(stacks));
	tcase_add_test(tc, frames_outside_a_fork_are_ignored);
	tcase_add_test(tc, a_process_below_the_workers_loop_is_a_loader_whatever_it_computes);
	tcase_add_test(tc, waiting_for_the_interpreters_lock_is_the_hosts);
	tcase_add_test(tc, stacks_without_python_take_the_phase_around_them);
	tcase_add_test(tc, the_first_call_of_a_round_without_a_model_is_no_loader);
	tcase_add_loop_test(tc, a_generator_that_the_loop_asks_for_the_next_is_the_loader, 0,
			    TP_ARRAY_LEN(generators));
	tcase_add_loop_test(tc, a_loader_that_makes_tensors_stays_the_loader, 0,
			    TP_ARRAY_LEN(drawers));
	tcase_add_test(tc, functions_around_the_training_are_no_phase);
	tcase_add_test(tc, a_process_that_joins_its_ranks_is_their_launcher);
	suite_add_tcase(suite, tc);
	return suite;
}
