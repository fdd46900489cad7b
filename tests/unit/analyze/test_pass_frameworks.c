/* Claims about which frameworks were at work. */
#include "hand.h"

START_TEST(a_framework_is_known_by_what_only_it_has)
{
	static const struct {
		const char *module;
		const char *symbol;
		enum tp_fact fact; /* TP_N_FACTS: none */
	} rows[] = {
		{"/opt/lib/libtorch_cpu.so", "at::native::mm", TP_FACT_ENV_PYTORCH},
		{"/usr/lib/python3/dist-packages/torch/nn/module.py", "f", TP_FACT_ENV_PYTORCH},
		{"", "aten::mm", TP_FACT_ENV_PYTORCH},
		{"/v/site-packages/jaxlib/xla_extension.so", "f", TP_FACT_ENV_JAX},
		{"/v/site-packages/tensorflow/libtensorflow_cc.so.2", "f", TP_FACT_ENV_TENSORFLOW},
		{"/home/me/torch/train.py", "torch", TP_N_FACTS},
		{"/v/site-packages/tensorboard/writer.py", "not_aten::mm", TP_N_FACTS},
	};
	static const enum tp_fact facts[] = {TP_FACT_ENV_PYTORCH, TP_FACT_ENV_JAX,
					     TP_FACT_ENV_TENSORFLOW};
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/bin/train");
	hand_frame(&hand, rows[_i].module, rows[_i].symbol);
	hand_finish(&hand);
	hand_pass(&hand, tp_pass_frameworks);
	for (size_t i = 0; i < 3; i++)
		if (facts[i] == rows[_i].fact)
			ck_assert_double_eq(hand_fact(&hand, facts[i]), 1);
		else
			ck_assert_str_eq(hand_missing(&hand, facts[i]),
					 "no stack and no operator of it was seen");
	hand_release(&hand);
}
END_TEST

Suite *suite_analyze_pass_frameworks(void);
Suite *suite_analyze_pass_frameworks(void)
{
	Suite *suite = suite_create("analyze/pass_frameworks");
	TCase *tc = tcase_create("frameworks");
	tcase_add_loop_test(tc, a_framework_is_known_by_what_only_it_has, 0, 7);
	suite_add_tcase(suite, tc);
	return suite;
}
