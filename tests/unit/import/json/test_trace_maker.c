/* SPDX-License-Identifier: Apache-2.0 */
/* Claims about who wrote a file: the smallest of each maker, with Kineto's events before its marks.
 */
#include "import/imported.h"

#include "trainprof/base/buf.h"

#include <check.h>
#include <string.h>

#define OPERATOR                                                                                   \
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":1,"     \
	"\"dur\":2}"
#define PROCESS(name)                                                                              \
	"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":9,\"args\":{\"name\":\"" name "\"}}"

static const struct {
	const char *text;
	const char *maker;
} foreign[] = {
	{"[" OPERATOR "," PROCESS("Ascend Hardware") "]", "Ascend"},
	{"[" OPERATOR "," PROCESS("HCCL") "]", "Ascend"},
	{"[" OPERATOR ",{\"ph\":\"X\",\"cat\":\"enqueue\",\"name\":\"Enqueue@a\",\"pid\":1,"
	 "\"tid\":1,\"ts\":\"5.123\",\"dur\":1}]",
	 "Ascend"},
	{"{\"traceEvents\":[" PROCESS("/host:CPU") "," OPERATOR ",{}]}", "XProf"},
	{"{\"traceEvents\":[" PROCESS("/device:TPU:0") "]}", "XProf"},
	{"{\"traceEvents\":[" PROCESS("/device:GPU:0/stream:all Compute") "]}", "TensorFlow 1"},
	{"[" PROCESS("grad") ",{\"ph\":\"B\",\"name\":\"NEGOTIATE_ALLREDUCE\",\"pid\":1,\"ts\":1},"
			     "{\"ph\":\"E\",\"pid\":1,\"ts\":9},",
	 "Horovod"},
	{"{\"rocprofiler-sdk-tool\":[{}]}", "rocprofv3"},
	{"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"profiles\":[]}",
	 "speedscope"},
	{"{\"traceEvents\":[" OPERATOR "],\"viztracer_metadata\":{}}", "VizTracer"},
};

START_TEST(a_file_of_another_maker_is_named)
{
	struct imported in;
	imported_text(&in, foreign[_i].text);
	ck_assert_int_eq(in.status, TP_PARSE);
	ck_assert_msg(strstr(in.err.text, foreign[_i].maker) != NULL, "%s", in.err.text);
	ck_assert_uint_gt(strlen(in.err.next), 0);
	imported_release(&in);
}
END_TEST

static const struct {
	const char *text;
	const char *format;
	enum tp_span_kind kind;
} files[] = {
	{"[" OPERATOR "," PROCESS("python") "]", "kineto", TP_SPAN_OPERATOR},
	{"[{\"ph\":\"X\",\"cat\":\"mine\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2}]",
	 "unknown", TP_SPAN_ANNOTATION},
	/* Exports of torch.autograd's profiler have no categories. */
	{"[{\"name\":\"aten::mm\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"tid\":1,"
	 "\"pid\":\"CPU functions\",\"args\":{}}]",
	 "kineto", TP_SPAN_OPERATOR},
};

START_TEST(what_has_no_mark_is_of_an_unknown_maker)
{
	struct imported in;
	imported_text(&in, files[_i].text);
	ck_assert_int_eq(in.status, TP_OK);
	ck_assert_str_eq(in.result.ranks[0].format, files[_i].format);
	ck_assert_uint_eq(imported_count(&in, files[_i].kind), in.n_spans);
	imported_release(&in);
}
END_TEST

/* The operator's time on a device is told at the operator: it is no time line of the device. */
START_TEST(device_time_of_operators_is_no_operator)
{
	struct imported in;
	imported_text(&in,
		      "[{\"name\":\"aten::mm\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"tid\":1,"
		      "\"pid\":\"CPU functions\"},{\"name\":\"aten::mm\",\"ph\":\"X\",\"ts\":1,"
		      "\"dur\":9,\"tid\":0,\"pid\":\"CUDA functions\"}]");
	ck_assert_uint_eq(in.n_spans, 1);
	ck_assert_uint_eq(in.result.ranks[0].n_skipped, 1);
	imported_release(&in);
}
END_TEST

Suite *suite_import_trace_maker(void);

Suite *suite_import_trace_maker(void)
{
	Suite *suite = suite_create("import/tracemaker");
	TCase *tc = tcase_create("tracemaker");
	tcase_add_loop_test(tc, a_file_of_another_maker_is_named, 0,
			    (int)(sizeof(foreign) / sizeof(foreign[0])));
	tcase_add_loop_test(tc, what_has_no_mark_is_of_an_unknown_maker, 0,
			    (int)(sizeof(files) / sizeof(files[0])));
	tcase_add_test(tc, device_time_of_operators_is_no_operator);
	suite_add_tcase(suite, tc);
	return suite;
}
