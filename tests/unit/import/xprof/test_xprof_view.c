/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the JSON that XProf writes for viewers. */
#include "import/database.h"

#include <stdio.h>
#include <string.h>

#define NAMES(pid, process, tid, thread)                                                           \
	"{\"ph\":\"M\",\"pid\":" #pid ",\"name\":\"process_name\",\"args\":{\"name\":\"" process   \
	"\"}},{\"ph\":\"M\",\"pid\":" #pid ",\"tid\":" #tid                                        \
	",\"name\":\"thread_name\",\"args\":{\"name\":\"" thread "\"}},"
#define EVENT(pid, tid, name, ts, dur, args)                                                       \
	"{\"ph\":\"X\",\"pid\":" #pid ",\"tid\":" #tid ",\"ts\":" #ts ",\"dur\":" #dur             \
	",\"name\":\"" name "\",\"args\":{" args "}},"
#define TRACE(events)                                                                              \
	"{\"displayTimeUnit\":\"ns\",\"metadata\":{\"highres-ticks\":true},\"traceEvents\":"       \
	"[" NAMES(701, "/host:CPU", 5, "python") events "{}]}"
#define HOST                                                                                       \
	EVENT(701, 5, "train", 1.000, 90.500, "\"step_num\":\"7\",\"_r\":\"1\"")                   \
	EVENT(701, 5, "$train.py:12 batch", 1.000, 9.250, "")                                      \
	EVENT(701, 5, "$loader.py:3 get", 2.000, 3.000, "")                                        \
	EVENT(701, 5, "cuLaunchKernel", 12.000, 1.500, "\"correlation_id\":\"44\"")                \
	EVENT(701, 5, "dot.3", 14.000, 2.000, "\"hlo_op\":\"dot.3\"")                              \
	EVENT(701, 5, "ThreadpoolListener::StartRegion", 15.000, 0, "")

START_TEST(streams_of_gpus_count_once)
{
	struct imported in;
	imported_text(
		&in,
		TRACE(HOST NAMES(2, "/device:GPU:1", 17, "Stream #17(Kernel,MemcpyH2D)") NAMES(
			2, "/device:GPU:1", 9,
			"XLA Ops") EVENT(2, 17, "gemm", 20.125, 5.125,
					 "\"correlation_id\":\"44\",\"hlo_op\":\"dot.3\"")
			      EVENT(2, 9, "dot.3", 20.125, 5.125, "\"hlo_op\":\"dot.3\"")
				      EVENT(2, 17, "MemcpyH2D", 30.000, 2.000,
					    "\"memcpy_details\":\"size:112 dest:4 async:0\"")
					      EVENT(2, 17, "x", 33.000, 1.000,
						    "\"memcpy_details\":\"kind:D2H size:4\"")));
	ck_assert_int_eq(in.status, TP_OK);
	ck_assert_str_eq(in.result.ranks[0].format, "xprof-json");
	ck_assert_uint_eq(imported_count(&in, TP_SPAN_KERNEL), 1);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_KERNEL, "gemm"), 5125);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_COPY, "Memcpy HtoD"), 2000);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_COPY, "Memcpy DtoH"), 1000);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_ANNOTATION, "step 7"), 90500);
	ck_assert_uint_eq(imported_count(&in, TP_SPAN_ANNOTATION), 1);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_PYTHON, "train.py(12): batch"), 9250);
	ck_assert_uint_eq(imported_count(&in, TP_SPAN_PYTHON), 1);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_CALL, "cuLaunchKernel"), 1500);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_OPERATOR, "dot.3"), 2000);
	for (size_t i = 0; i < in.n_spans; i++) {
		if (!tp_span_kind_is_device(in.spans[i].kind))
			continue;
		ck_assert_int_eq(imported_track(&in, i)->device, 1);
		ck_assert_int_eq(imported_track(&in, i)->number, 17);
	}
	imported_release(&in);
}
END_TEST

/* A loop of 100 us contains a copy of 60 and a fusion of 30: its self time is 10. */
START_TEST(operations_of_a_core_have_the_time_of_their_own)
{
	struct imported in;
	imported_text(&in,
		      TRACE(NAMES(11, "/device:TPU:0", 3, "XLA Ops") NAMES(11, "/device:TPU:0", 4,
									   "XLA Modules")
				    EVENT(11, 3, "while", 0.000, 100.000,
					  "\"hlo_category\":\"while\"")
					    EVENT(11, 3, "copy-done.1", 10.000, 60.000,
						  "\"hlo_category\":\"copy-done\"")
						    EVENT(11, 3, "fusion.2", 70.000, 30.000,
							  "\"hlo_category\":\"loop fusion\"")
							    EVENT(11, 3, "ar.5", 100.000, 7.000,
								  "\"hlo_category\":\"all-reduce\"")
								    EVENT(11, 4, "jit_step", 0.000,
									  107.000, "")));
	ck_assert_int_eq(in.status, TP_OK);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_COPY, "copy-done"), 60000);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_KERNEL, "fusion"), 30000);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_KERNEL, "while"), 10000);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_KERNEL, "all-reduce"), 7000);
	ck_assert_uint_eq(in.n_spans, 4);
	imported_release(&in);
}
END_TEST

/* A file into which two tools were put: only XProf's lanes are read. */
START_TEST(events_of_another_tool_are_skipped_and_counted)
{
	struct imported in;
	imported_text(&in,
		      TRACE(NAMES(2, "/device:GPU:1", 17, "Stream #17(Kernel)") EVENT(
			      2, 17, "gemm", 20.125, 5.125,
			      "") "{\"ph\":\"X\",\"cat\":\"kernel\",\"pid\":2,\"tid\":17,\"ts\":30,"
				  "\"dur\":4,\"name\":\"gemm\",\"args\":{}},"));
	ck_assert_int_eq(in.status, TP_OK);
	ck_assert_uint_eq(in.n_spans, 1);
	ck_assert_uint_eq(in.result.ranks[0].n_skipped, 1);
	imported_release(&in);
}
END_TEST

/* Names come first in XProf's files. Where they do not, and where a lane gets another, its spans
 * are what their names say. */
START_TEST(a_lane_is_what_its_names_say)
{
	static const char late[] = EVENT(2, 17, "gemm", 20.125, 5.125, "")
		EVENT(2, 17, "gemm", 30.125, 5.125, "") NAMES(2, "/device:GPU:1", 17, "Stream #17");
	static const char twice[] = NAMES(2, "/device:GPU:1", 17, "Stream #17")
		EVENT(2, 17, "gemm", 20.125, 5.125, "") EVENT(701, 5, "load", 20.125, 5.125, "")
			NAMES(2, "Ascend Hardware", 17, "Stream 17")
				EVENT(2, 17, "MatMul", 30.125, 5.125, "");
	struct imported in;
	char text[4096];
	(void)snprintf(text, sizeof(text), TRACE("%s"), late);
	imported_text(&in, text);
	ck_assert_uint_eq(imported_count(&in, TP_SPAN_KERNEL), 2);
	ck_assert_int_eq(imported_track(&in, 0)->device, 1);
	imported_release(&in);
	(void)snprintf(text, sizeof(text), TRACE("%s"), twice);
	imported_text(&in, text);
	ck_assert_uint_eq(imported_count(&in, TP_SPAN_KERNEL), 1);
	ck_assert_uint_eq(imported_count(&in, TP_SPAN_ANNOTATION), 1);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_KERNEL, "gemm"), 5125);
	ck_assert_uint_eq(in.result.ranks[0].n_skipped, 1);
	ck_assert_str_eq(in.result.ranks[0].skipped_because, "an event of another tool's");
	imported_release(&in);
}
END_TEST

Suite *suite_import_xprof_view(void);

Suite *suite_import_xprof_view(void)
{
	Suite *suite = suite_create("import/xprof_view");
	TCase *tc = tcase_create("xprof_view");
	tcase_add_test(tc, streams_of_gpus_count_once);
	tcase_add_test(tc, operations_of_a_core_have_the_time_of_their_own);
	tcase_add_test(tc, events_of_another_tool_are_skipped_and_counted);
	tcase_add_test(tc, a_lane_is_what_its_names_say);
	suite_add_tcase(suite, tc);
	return suite;
}
