/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the settings that a run shows, and of the evidence for them. */
#include "analyze/hand.h"
#include "analyze/spanscene.h"

#include "trainprof/model/fact.h"

static const char *hand_seen(const struct hand *hand, enum tp_fact fact)
{
	ck_assert_double_eq(hand_fact(hand, fact), 1);
	ck_assert_ptr_nonnull(hand->profile.facts[fact].seen);
	return hand->profile.facts[fact].seen;
}

static void begin(struct hand *hand)
{
	hand_init(hand);
	hand_task(hand, 0, 100, 100, "/usr/bin/python3.11");
	hand->run.mode = TP_MODE_RUN;
}

static void judge(struct hand *hand)
{
	hand_finish(hand);
	hand_pass(hand, tp_pass_settings);
}

static void python_frame(struct hand *hand, const char *file, const char *symbol)
{
	struct tp_sink *sink = &hand->builder.sink;
	struct tp_frame frame = {.kind = TP_FRAME_PYTHON,
				 .file = tp_sink_string(sink, file),
				 .symbol = tp_sink_string(sink, symbol),
				 .line = 7};
	tp_sink_frame(sink, &frame);
}

START_TEST(a_variable_is_evidence_with_its_value)
{
	struct hand hand;
	struct tp_env_var variables[] = {{"CUDA_LAUNCH_BLOCKING", "1"},
					 {"NCCL_P2P_DISABLE", "0"},
					 {"OMP_PROC_BIND", "close"}};
	begin(&hand);
	hand.run.environment = variables;
	hand.run.n_environment = 3;
	judge(&hand);
	ck_assert_str_eq(hand_seen(&hand, TP_FACT_SET_BLOCKING), "variable CUDA_LAUNCH_BLOCKING=1");
	ck_assert_str_eq(hand_seen(&hand, TP_FACT_SET_BOUND), "variable OMP_PROC_BIND=close");
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_SET_NCCL), 0);
	ck_assert_ptr_null(hand.profile.facts[TP_FACT_SET_NCCL].seen);
	hand_release(&hand);
}
END_TEST

START_TEST(settings_that_samples_may_miss_are_unknown_until_seen)
{
	struct hand hand;
	begin(&hand);
	judge(&hand);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_SET_BLOCKING), 0);
	ck_assert_str_eq(hand_missing(&hand, TP_FACT_SET_COMPILED),
			 "nothing that was seen shows it");
	ck_assert_str_eq(hand_missing(&hand, TP_FACT_SET_BOUND), "nothing that was seen shows it");
	hand_release(&hand);
}
END_TEST

START_TEST(an_environment_that_was_not_recorded_says_nothing)
{
	struct hand hand;
	begin(&hand);
	hand.run.mode = TP_MODE_ATTACH;
	judge(&hand);
	ck_assert_str_eq(hand_missing(&hand, TP_FACT_SET_BLOCKING),
			 "the environment was not recorded");
	hand_release(&hand);
}
END_TEST

START_TEST(command_lines_of_the_run_and_its_processes_are_evidence)
{
	struct hand hand;
	const char *command[] = {"/usr/bin/numactl", "--membind=0", "python3", "train.py"};
	begin(&hand);
	hand.run.command = command;
	hand.run.n_command = 4;
	struct tp_task task = {.id = 1, .pid = 200, .tid = 200, .parent = 0, .start_ns = 1};
	task.cmdline = tp_sink_string(&hand.builder.sink,
				      "python3 /opt/venv/bin/torchrun --nproc-per-node=8 train.py");
	tp_sink_task(&hand.builder.sink, &task);
	judge(&hand);
	ck_assert_str_eq(hand_seen(&hand, TP_FACT_SET_BOUND), "command line: usr/bin/numactl");
	ck_assert_str_eq(hand_seen(&hand, TP_FACT_SET_DDP), "command line: venv/bin/torchrun");
	hand_release(&hand);
}
END_TEST

START_TEST(the_name_of_a_thread_is_evidence)
{
	struct hand hand;
	begin(&hand);
	struct tp_task task = {.id = 1, .pid = 100, .tid = 101, .parent = 0, .start_ns = 1};
	task.comm = tp_sink_string(&hand.builder.sink, "pt_data_pin");
	tp_sink_task(&hand.builder.sink, &task);
	judge(&hand);
	ck_assert_str_eq(hand_seen(&hand, TP_FACT_SET_PINNED), "thread pt_data_pin");
	hand_release(&hand);
}
END_TEST

START_TEST(functions_in_stacks_are_evidence_and_module_bodies_are_not)
{
	struct hand hand;
	begin(&hand);
	python_frame(&hand, "/v/site-packages/torch/utils/checkpoint.py", "<module>");
	python_frame(&hand, "/v/site-packages/torch/utils/checkpoint.py",
		     "CheckpointFunction.backward");
	python_frame(&hand, "/v/site-packages/peft/tuners/lora/layer.py", "<module>");
	hand_frame(&hand, "/v/torch/lib/libtorch_cpu.so", "_ZN2at8autocast11cached_castEv");
	hand_frame(&hand, "/usr/lib/libother.so", "_ZN2at8autocast11cached_castEv");
	judge(&hand);
	ck_assert_str_eq(hand_seen(&hand, TP_FACT_SET_RECOMPUTE),
			 "stack: CheckpointFunction.backward of torch/utils/checkpoint.py");
	ck_assert_str_eq(hand_seen(&hand, TP_FACT_SET_AMP),
			 "stack: _ZN2at8autocast11cached_castEv of torch/lib/libtorch_cpu.so");
	(void)hand_missing(&hand, TP_FACT_SET_LORA);
	hand_release(&hand);
}
END_TEST

/* ---- traces ---- */

#define HALF   "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x3_nn"
#define SINGLE "ampere_sgemm_128x64_nn"

static void kernel(struct scene *scene, uint16_t thread, uint16_t stream, const char *name,
		   uint64_t from_us, uint64_t length_us)
{
	scene_op(scene, thread, from_us * 1000 - 500, stream, TP_SPAN_KERNEL, name, from_us * 1000,
		 (from_us + length_us) * 1000);
}

/* A framework is recognized by its libraries, its Python files and its operators; a user's folder
 * of that name does not count. */
START_TEST(a_framework_is_known_by_what_only_it_has)
{
	static const struct {
		const char *file;
		const char *symbol;
		bool is_python;
		enum tp_fact fact; /* TP_N_FACTS = none */
	} rows[] = {
		{"/opt/lib/libtorch_cpu.so", "at::native::mm", false, TP_FACT_ENV_PYTORCH},
		{"/usr/lib/python3/dist-packages/torch/nn/module.py", "f", true,
		 TP_FACT_ENV_PYTORCH},
		{"/v/site-packages/jaxlib/xla_extension.so", "f", false, TP_FACT_ENV_JAX},
		{"/v/site-packages/tensorflow/libtensorflow_cc.so.2", "f", false,
		 TP_FACT_ENV_TENSORFLOW},
		{"/home/me/torch/train.py", "torch", true, TP_N_FACTS},
		{"/v/site-packages/tensorboard/writer.py", "write", true, TP_N_FACTS},
	};
	static const enum tp_fact facts[] = {TP_FACT_ENV_PYTORCH, TP_FACT_ENV_JAX,
					     TP_FACT_ENV_TENSORFLOW};
	struct hand hand;
	begin(&hand);
	if (rows[_i].is_python)
		python_frame(&hand, rows[_i].file, rows[_i].symbol);
	else
		hand_frame(&hand, rows[_i].file, rows[_i].symbol);
	judge(&hand);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (facts[i] == rows[_i].fact)
			ck_assert_double_eq(hand_fact(&hand, facts[i]), 1);
		else
			(void)hand_missing(&hand, facts[i]);
	hand_release(&hand);
}
END_TEST

START_TEST(many_samples_without_a_framework_rule_it_out)
{
	struct hand hand;
	begin(&hand);
	const struct tp_sample like = {
		.stack = hand_stack(&hand, "/usr/bin/train", "main", "/usr/bin/train", "work", 0)};
	for (int i = 0; i < 200; i++)
		hand_sample(&hand, &like, 0.01 * i);
	judge(&hand);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_ENV_PYTORCH), 0);
	(void)hand_missing(&hand, TP_FACT_SET_COMPILED);
	hand_release(&hand);
}
END_TEST

START_TEST(widths_of_numbers_are_shares_of_the_matrix_time)
{
	struct scene scene;
	scene_init(&scene, 1);
	uint16_t thread = scene_track(&scene, 0, TP_TRACK_THREAD);
	uint16_t stream = scene_track(&scene, 0, 0);
	kernel(&scene, thread, stream, HALF, 10, 30);
	kernel(&scene, thread, stream, SINGLE, 50, 60);
	kernel(&scene, thread, stream, "cutlass_gemm_of_somebody", 120, 10);
	kernel(&scene, thread, stream, SCENE_ADAM, 140, 500);
	scene_judge(&scene);
	const struct tp_quantity *facts = scene.profile.facts;
	ck_assert_double_eq_tol(facts[TP_FACT_KERNEL_HALF].value, 0.3, 1e-9);
	ck_assert_double_eq_tol(facts[TP_FACT_KERNEL_SINGLE].value, 0.6, 1e-9);
	ck_assert(facts[TP_FACT_KERNEL_DOUBLE].is_known);
	ck_assert_double_eq(facts[TP_FACT_KERNEL_DOUBLE].value, 0);
	scene_release(&scene);
}
END_TEST

START_TEST(kernels_and_spans_of_a_trace_are_evidence)
{
	struct scene scene;
	scene_init(&scene, 1);
	uint16_t thread = scene_track(&scene, 0, TP_TRACK_THREAD);
	uint16_t stream = scene_track(&scene, 0, 0);
	kernel(&scene, thread, stream, SCENE_ADAM, 10, 30);
	scene_span(&scene, thread, TP_SPAN_CALL, "cudaGraphLaunch", 5000, 6000);
	scene_span(&scene, thread, TP_SPAN_PYTHON, "torch/utils/checkpoint.py(20): checkpoint",
		   7000, 8000);
	scene_judge(&scene);
	const struct tp_quantity *facts = scene.profile.facts;
	ck_assert_str_eq(facts[TP_FACT_SET_GRAPHS].seen, "span cudaGraphLaunch");
	ck_assert_str_eq(facts[TP_FACT_SET_RECOMPUTE].seen,
			 "span torch/utils/checkpoint.py(20): checkpoint");
	ck_assert(facts[TP_FACT_SET_FUSED_OPTIMIZER].is_known);
	ck_assert(!facts[TP_FACT_KERNEL_HALF].is_known);
	ck_assert_str_eq(facts[TP_FACT_KERNEL_HALF].missing, "no matrix products were seen");
	ck_assert(facts[TP_FACT_SET_BLOCKING].is_foreign);
	scene_release(&scene);
}
END_TEST

Suite *suite_analyze_pass_settings(void);
Suite *suite_analyze_pass_settings(void)
{
	Suite *suite = suite_create("analyze/pass_settings");
	TCase *tc = tcase_create("settings");
	tcase_add_test(tc, a_variable_is_evidence_with_its_value);
	tcase_add_test(tc, settings_that_samples_may_miss_are_unknown_until_seen);
	tcase_add_test(tc, an_environment_that_was_not_recorded_says_nothing);
	tcase_add_test(tc, command_lines_of_the_run_and_its_processes_are_evidence);
	tcase_add_test(tc, the_name_of_a_thread_is_evidence);
	tcase_add_test(tc, functions_in_stacks_are_evidence_and_module_bodies_are_not);
	tcase_add_loop_test(tc, a_framework_is_known_by_what_only_it_has, 0, 6);
	tcase_add_test(tc, many_samples_without_a_framework_rule_it_out);
	tcase_add_test(tc, widths_of_numbers_are_shares_of_the_matrix_time);
	tcase_add_test(tc, kernels_and_spans_of_a_trace_are_evidence);
	suite_add_tcase(suite, tc);
	return suite;
}
