/* SPDX-License-Identifier: Apache-2.0 */
/* Tests finding the maker of a file: the smallest file of each maker, with Kineto's events before
 * its marks. */
#include "import/imported.h"
#include "import/json/trace_maker.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/memory.h"

#include <check.h>
#include <string.h>

#define OPERATOR                                                                                   \
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":1,"     \
	"\"dur\":2}"
#define SPACES4                                                                                    \
	"                                                                                "         \
	"                                                                                "
#define SPACES16 SPACES4 SPACES4 SPACES4 SPACES4
#define SPACES   SPACES16 SPACES16 SPACES16 SPACES16
#define PROCESS(name)                                                                              \
	"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":9,\"args\":{\"name\":\"" name "\"}}"

static const struct {
	const char *text;
	const char *maker;
} foreign[] = {
	/* The first bytes of a file determine its reader; signs of its maker that come later are
	 * ignored. */
	{"[" OPERATOR ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" SPACES SPACES SPACES SPACES
	 "\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2}," PROCESS("Ascend Hardware") "]",
	 "Ascend"},
	{"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"profiles\":[]}",
	 "speedscope"},
	{"{\"traceEvents\":[" OPERATOR "],\"viztracer_metadata\":{}}", "VizTracer"},
	{"{\"traceEvents\":[" OPERATOR
	 ",{\"ph\":\"X\",\"cat\":\"gpu_op\",\"name\":\"gemm\",\"pid\":1,"
	 "\"tid\":2,\"ts\":1,\"dur\":2}]}",
	 "unitrace"},
	{"[{\"cat\":\"Session\",\"ph\":\"X\",\"name\":\"model_run\",\"pid\":1,\"tid\":1,\"ts\":1,"
	 "\"dur\":9},"
	 "{\"cat\":\"Kernel\",\"ph\":\"X\",\"name\":\"gemm\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":"
	 "2}]",
	 "ONNX Runtime"},
	{"{\"traceEvents\":[" PROCESS(
		 "gpu/0") ",{\"cat\":\"operator\",\"ph\":\"X\",\"name\":\"FC\","
			  "\"pid\":9,\"tid\":1,\"ts\":1,\"dur\":9}]}",
	 "MXNet"},
	{"{\"traceEvents\":[" PROCESS("2 CPU HIP API") "]}", "rocprof"},
	{"[{\"cat\":\"py-spy\",\"ph\":\"B\",\"name\":\"step\",\"pid\":1,\"tid\":1,\"ts\":1}]",
	 "py-spy"},
	{"{\"version\":\"2.5\",\"nccl_comm_state\":{},\"entries\":[]}", "flight recorder"},
	{"{\"alloc_samples\":1,\"files\":{}}", "Scalene"},
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

/* The smallest file with a mark, cut in its first event or not, and its maker. */
static const struct {
	const char *head;
	const char *reader; /* NULL = no maker whose files can be read */
} heads[] = {
	{"[" OPERATOR "," PROCESS("Ascend Hardware") "]", "ascend"},
	{"[" OPERATOR "," PROCESS("HCCL") "]", "ascend"},
	{" [ " OPERATOR ",{\"ph\":\"X\",\"cat\":\"enqueue\",\"name\":\"Enqueue@a\",\"pid\":1,"
	 "\"tid\":1,\"ts\":\"5.123\",\"dur\":1}]",
	 "ascend"},
	{"[{\"ph\":\"X\",\"name\":\"aten::empty\",\"pid\":3,\"tid\":3,\"ts\":\"1736408883688177."
	 "930\","
	 "\"dur\":1.5,\"cat\":\"cpu_op\",\"args\":{\"Call stack\":\"a long one",
	 "ascend"},
	{"[{\"ph\":\"X\",\"name\":\"a\",\"pid\":3,\"tid\":3,\"ts\":\"1736408883688177.930\","
	 "\"dur\":1,"
	 "\"cat\":\"mine\"}]",
	 NULL},
	{"{\"traceEvents\":[" PROCESS("Allocators") "," PROCESS("/device:GPU:0/stream:all Compute"),
	 "timeline"},
	{"[" PROCESS("grad") ",{\"ph\":\"B\",\"name\":\"NEGOTIATE_ALLREDUCE\",\"pid\":1,\"ts\":1},"
			     "{\"ph\":\"E\",\"pid\":1,\"ts\":9},",
	 "horovod"},
	{"{\"traceEvents\":[" PROCESS("/host:CPU") "," OPERATOR ",{}]}", "xprof-json"},
	{"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[" PROCESS("/device:TPU:0") "]}",
	 "xprof-json"},
	{"{\"rocprofiler-sdk-tool\":[{\"metadata\"", "rocprof"},
	{"{\"a\":[1,{}],\"traceEvents\":[" OPERATOR "," PROCESS("python") "]}", NULL},
	{"{\"traceEvents\":", NULL},
	{"{", NULL},
	{"[[[", NULL},
	{"\n\n", NULL},
};

START_TEST(the_first_bytes_say_who_reads_it)
{
	const char *head = heads[_i].head;
	size_t len = strlen(head);
	ck_assert_pstr_eq(tp_trace_maker_reader((const unsigned char *)head, len),
			  heads[_i].reader);
	/* No cut gives a different reader. */
	for (size_t n = 0; n < len; n++) {
		const char *reader = tp_trace_maker_reader((const unsigned char *)head, n);
		if (reader)
			ck_assert_pstr_eq(reader, heads[_i].reader);
	}
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

/* The operator's device time is recorded with the operator: it is not a timeline of the device. The
 * device is listed without work, which says that what it did is unknown. */
START_TEST(device_time_of_operators_is_no_operator)
{
	struct imported in;
	imported_text(&in,
		      "[{\"name\":\"aten::mm\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"tid\":1,"
		      "\"pid\":\"CPU functions\"},{\"name\":\"aten::mm\",\"ph\":\"X\",\"ts\":1,"
		      "\"dur\":9,\"tid\":0,\"pid\":\"CUDA functions\"}]");
	ck_assert_uint_eq(in.n_spans, 1);
	ck_assert_uint_eq(in.result.ranks[0].n_skipped, 0);
	ck_assert_uint_eq(in.result.ranks[0].n_devices, 1);
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
	tcase_add_loop_test(tc, the_first_bytes_say_who_reads_it, 0,
			    (int)(sizeof(heads) / sizeof(heads[0])));
	tcase_add_loop_test(tc, what_has_no_mark_is_of_an_unknown_maker, 0,
			    (int)(sizeof(files) / sizeof(files[0])));
	tcase_add_test(tc, device_time_of_operators_is_no_operator);
	suite_add_tcase(suite, tc);
	return suite;
}
