/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the settings that record more. */
#include "trainprof/model/capture_words.h"

#include "trainprof/model/run_info.h"

#include <check.h>
#include <string.h>

/* A user of XProf has no torch.profiler, and one of rocprofv3 no nsys. */
START_TEST(more_is_recorded_with_the_tool_that_wrote_the_trace)
{
	static const struct {
		const char *format;
		enum tp_capture_need need;
		const char *part;
		const char *foreign;
	} cases[] = {
		{"kineto", TP_CAPTURE_DEVICE, "torch.profiler.profile", "nsys"},
		{"nsys", TP_CAPTURE_LINKS, "--cuda-graph-trace=node", "torch.profiler"},
		{"xprof", TP_CAPTURE_MARKS, "jax.profiler.StepTraceAnnotation", "torch"},
		{"xprof-json", TP_CAPTURE_DEVICE, "jax.profiler.start_trace", "torch"},
		{"rocpd", TP_CAPTURE_HOST, "rocprofv3 --hip-trace", "nsys"},
		{"rocpd", TP_CAPTURE_DEVICE, "rocprofv3 --kernel-trace", "jax"},
		{"rocprof", TP_CAPTURE_STEPS, "rocprofv3 --collection-period", "torch"},
		{"rpd", TP_CAPTURE_DEVICE, "runTracer.sh", "nsys"},
		{"ascend-db", TP_CAPTURE_STEPS, "torch_npu.profiler.schedule", "nsys"},
		{"timeline", TP_CAPTURE_DEVICE, "tf.RunOptions", "torch"},
		{"lanes", TP_CAPTURE_END, "PyTorch: prof.stop()", "rocprofv3"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct tp_rank_info rank = {.format = cases[i].format};
		const struct tp_run_info run = {.ranks = &rank, .n_ranks = 1};
		const char *text = tp_capture_words(&run, cases[i].need);
		ck_assert_msg(strstr(text, cases[i].part) != NULL, "%s", text);
		ck_assert_msg(!strstr(text, cases[i].foreign), "%s", text);
	}
	/* Without a trace the words are for the tool that most users have. */
	ck_assert_ptr_nonnull(strstr(tp_capture_words(NULL, TP_CAPTURE_STACKS), "Nsight Systems"));
}
END_TEST

/* An example of a rule and the word behind it fit on two lines of a page. */
START_TEST(words_are_short_and_there_for_each_wish)
{
	static const char *const formats[] = {"kineto", "nsys",   "xprof",    "rocpd",
					      "rpd",    "ascend", "timeline", "lanes"};
	enum { COLUMNS = 150 };
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		const struct tp_rank_info rank = {.format = formats[i]};
		const struct tp_run_info run = {.ranks = &rank, .n_ranks = 1};
		for (int need = 0; need < TP_CAPTURE_NEEDS; need++) {
			const char *text = tp_capture_words(&run, (enum tp_capture_need)need);
			ck_assert_msg(text && strlen(text) <= COLUMNS, "%s %d: %s", formats[i],
				      need, text ? text : "");
		}
	}
}
END_TEST

START_TEST(placeholders_of_rules_name_the_needs)
{
	size_t len;
	ck_assert_int_eq(tp_capture_need_of("%CAPTURE_MARKS; or", &len), TP_CAPTURE_MARKS);
	ck_assert_uint_eq(len, strlen("%CAPTURE_MARKS"));
	ck_assert_int_eq(tp_capture_need_of("%CAPTURE_MAR", &len), TP_CAPTURE_NEEDS);
	ck_assert_int_eq(tp_capture_need_of("%COMMAND", &len), TP_CAPTURE_NEEDS);
}
END_TEST

Suite *suite_model_capture_words(void);
Suite *suite_model_capture_words(void)
{
	Suite *suite = suite_create("model/capture_words");
	TCase *tc = tcase_create("capture_words");
	tcase_add_test(tc, more_is_recorded_with_the_tool_that_wrote_the_trace);
	tcase_add_test(tc, words_are_short_and_there_for_each_wish);
	tcase_add_test(tc, placeholders_of_rules_name_the_needs);
	suite_add_tcase(suite, tc);
	return suite;
}
