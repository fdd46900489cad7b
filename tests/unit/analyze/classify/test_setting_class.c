/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the rows that show settings. */
#include "analyze/classify/pattern_tables.h"
#include "analyze/classify/setting_class.h"

#include "analyze/patternfolder.h"

#include "trainprof/model/fact.h"

static struct tp_patterns *patterns;

static void load(void)
{
	struct tp_error err;
	ck_assert_msg(tp_patterns_load(&patterns, "rules/patterns", &err) == TP_OK, "%s", err.text);
}

static void unload(void)
{
	tp_patterns_free(patterns);
}

static const struct {
	enum tp_fact fact;
	enum tp_setting_source look;
	const char *name;
	const char *further;
	bool is_told;
} sightings[] = {
	{TP_FACT_SET_BLOCKING, TP_SETTING_IN_VARIABLE, "CUDA_LAUNCH_BLOCKING", "1", true},
	{TP_FACT_SET_BLOCKING, TP_SETTING_IN_VARIABLE, "CUDA_LAUNCH_BLOCKING", "0", false},
	{TP_FACT_SET_BLOCKING, TP_SETTING_IN_VARIABLE, "CUDA_LAUNCH_BLOCKING", "", false},
	{TP_FACT_SET_DEBUG, TP_SETTING_IN_VARIABLE, "TORCH_DISTRIBUTED_DEBUG", "INFO", false},
	{TP_FACT_SET_DEBUG, TP_SETTING_IN_VARIABLE, "NCCL_DEBUG", "WARN", false},
	{TP_FACT_SET_NCCL, TP_SETTING_IN_VARIABLE, "NCCL_P2P_DISABLE", "0", false},
	{TP_FACT_SET_BOUND, TP_SETTING_IN_VARIABLE, "OMP_PROC_BIND", "false", false},
	{TP_FACT_SET_BOUND, TP_SETTING_IN_VARIABLE, "KMP_AFFINITY", "none", false},
	{TP_FACT_SET_BOUND, TP_SETTING_IN_ARGUMENT, "/usr/bin/numactl", "", true},
	{TP_FACT_SET_BOUND, TP_SETTING_IN_ARGUMENT, "numactl.txt", "", false},
	{TP_FACT_SET_DDP, TP_SETTING_IN_ARGUMENT, "/opt/venv/bin/torchrun", "", true},
	/* importing a library is not using it */
	{TP_FACT_SET_LORA, TP_SETTING_IN_SOURCE, "/l/peft/tuners/lora/layer.py", "<module>", false},
	{TP_FACT_SET_LORA, TP_SETTING_IN_SOURCE, "/l/peft/tuners/lora/layer.py", "forward", true},
	/* with and without the class before the function, as interpreters before 3.11 have it */
	{TP_FACT_SET_AMP, TP_SETTING_IN_SOURCE, "/l/torch/amp/grad_scaler.py", "unscale_", true},
	{TP_FACT_SET_AMP, TP_SETTING_IN_SOURCE, "/l/torch/amp/grad_scaler.py", "is_enabled", false},
	/* eager optimizers also run through the compiler's wrappers */
	{TP_FACT_SET_COMPILED, TP_SETTING_IN_SOURCE, "/l/torch/_dynamo/eval_frame.py", "_fn",
	 false},
	{TP_FACT_SET_COMPILED, TP_SETTING_IN_KERNEL, "triton_poi_fused_add_0", "", true},
	{TP_FACT_SET_COMPILED, TP_SETTING_IN_KERNEL, "_layer_norm_fwd_kernel", "", false},
	{TP_FACT_SET_FUSED_OPTIMIZER, TP_SETTING_IN_SOURCE, "/l/torch/optim/adam.py", "_fused_adam",
	 true},
	{TP_FACT_SET_FUSED_OPTIMIZER, TP_SETTING_IN_SOURCE, "/l/torch/optim/adam.py", "step",
	 false},
	/* each kernel has one precision */
	{TP_FACT_KERNEL_HALF, TP_SETTING_IN_KERNEL, "volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_tn",
	 "", true},
	{TP_FACT_KERNEL_SINGLE, TP_SETTING_IN_KERNEL, "volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_tn",
	 "", false},
	{TP_FACT_KERNEL_SINGLE, TP_SETTING_IN_KERNEL,
	 "turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_nn", "", false},
	{TP_FACT_KERNEL_HALF, TP_SETTING_IN_KERNEL, "ampere_sgemm_128x64_nn", "", false},
	{TP_FACT_KERNEL_SINGLE, TP_SETTING_IN_KERNEL,
	 "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x16_stage4", "", true},
	{TP_FACT_KERNEL_HALF, TP_SETTING_IN_KERNEL,
	 "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x16_stage4", "", false},
	{TP_FACT_KERNEL_DOUBLE, TP_SETTING_IN_KERNEL, "ampere_sgemm_128x64_nn", "", false},
	{TP_FACT_KERNEL_HALF, TP_SETTING_IN_KERNEL,
	 "sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize128x128x128", "", false},
};

START_TEST(a_sighting_keeps_its_evidence)
{
	const struct tp_setting_patterns *rows = &patterns->settings;
	bool is_told = false;
	for (size_t i = 0; i < rows->n_items; i++)
		is_told |= rows->items[i].fact == sightings[_i].fact &&
			   rows->items[i].look == sightings[_i].look &&
			   tp_setting_match(&rows->items[i], sightings[_i].name,
					    sightings[_i].further);
	ck_assert_msg(is_told == sightings[_i].is_told, "%s %s", sightings[_i].name,
		      sightings[_i].further);
}
END_TEST

START_TEST(every_row_that_ships_has_examples)
{
	const struct tp_setting_patterns *rows = &patterns->settings;
	ck_assert_uint_gt(rows->n_items, 0);
	for (size_t i = 0; i < rows->n_items; i++) {
		const struct tp_setting_pattern *row = &rows->items[i];
		ck_assert_msg(row->examples && row->examples[0], "%s:%u", row->file, row->line);
	}
}
END_TEST

START_TEST(every_setting_has_a_row)
{
	const struct tp_setting_patterns *rows = &patterns->settings;
	for (int fact = 0; fact < TP_N_FACTS; fact++) {
		const char *name = tp_fact_desc((enum tp_fact)fact)->name;
		bool has_row = strncmp(name, "set.", 4) != 0;
		for (size_t i = 0; i < rows->n_items; i++)
			has_row |= (int)rows->items[i].fact == fact;
		ck_assert_msg(has_row, "%s", name);
	}
}
END_TEST

static const struct {
	const char *row;
	const char *message; /* part of it */
} refused[] = {
	{"{ \"setting\": \"set.ampp\", \"thread\": [\"a\"] }", "unknown fact 'set.ampp'; nearest"},
	{"{ \"setting\": \"step.count\", \"thread\": [\"a\"] }", "neither yes or no"},
	{"{ \"setting\": \"kernel.half_ratio\", \"span\": [\"a\"] }", "neither yes or no"},
	{"{ \"setting\": \"set.amp\" }", "looks at one of"},
	{"{ \"setting\": \"set.amp\", \"thread\": [\"a\"], \"span\": [\"b\"] }", "looks at one of"},
	{"{ \"setting\": \"set.amp\", \"thread\": [\"a\"], \"symbol\": [\"b\"] }",
	 "does not go with the rest: 'symbol'"},
	{"{ \"setting\": \"set.amp\", \"thread\": \"a\" }", "not a list: 'thread'"},
	{"{ \"setting\": \"set.amp\", \"phase\": \"none\", \"thread\": [\"a\"] }",
	 "unknown key 'phase'"},
};

START_TEST(a_row_that_makes_no_sense_is_refused_with_its_place)
{
	struct tp_patterns *mine;
	struct tp_error err = {0};
	ck_assert_int_eq(load_rows(&mine, refused[_i].row, &err), TP_PARSE);
	ck_assert_ptr_null(mine);
	ck_assert_msg(strstr(err.text, "90-test.json:2: ") != NULL, "%s", err.text);
	ck_assert_msg(strstr(err.text, refused[_i].message) != NULL, "%s", err.text);
}
END_TEST

Suite *suite_analyze_setting_class(void);
Suite *suite_analyze_setting_class(void)
{
	Suite *suite = suite_create("analyze/settingclass");
	TCase *tc = tcase_create("rows");
	tcase_add_checked_fixture(tc, load, unload);
	tcase_add_loop_test(tc, a_sighting_keeps_its_evidence, 0,
			    sizeof(sightings) / sizeof(sightings[0]));
	tcase_add_test(tc, every_row_that_ships_has_examples);
	tcase_add_test(tc, every_setting_has_a_row);
	suite_add_tcase(suite, tc);
	TCase *bad = tcase_create("mistakes");
	tcase_add_loop_test(bad, a_row_that_makes_no_sense_is_refused_with_its_place, 0,
			    sizeof(refused) / sizeof(refused[0]));
	suite_add_tcase(suite, bad);
	return suite;
}
