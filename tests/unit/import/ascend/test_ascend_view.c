/* SPDX-License-Identifier: Apache-2.0 */
/* Tests trace_view.json of Ascend's profiler. */
#include "import/database.h"

#include "trainprof/base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Microseconds since 1970 with ns, as texts; the name of torch's process comes after its events. */
#define EVENT(pid, tid, name, us, length, rest)                                                    \
	"{\"ph\":\"X\",\"name\":\"" name "\",\"pid\":" #pid ",\"tid\":" #tid                       \
	",\"ts\":\"17364088836" us "\",\"dur\":" length rest "},"
#define TYPE(type, link) ",\"args\":{\"Task Type\":\"" type "\",\"connection_id\":" #link "}"
#define NAMES(pid, process, tid, thread)                                                           \
	"{\"name\":\"process_name\",\"pid\":" #pid ",\"tid\":0,\"args\":{\"name\":\"" process      \
	"\"},\"ph\":\"M\"},{\"name\":\"thread_name\",\"pid\":" #pid ",\"tid\":" #tid               \
	",\"args\":{\"name\":\"" thread "\"},\"ph\":\"M\"},"
#define TORCH                                                                                      \
	"[" EVENT(7, 70, "ProfilerStep#5", "00000.000", "900.5", ",\"cat\":\"cpu_op\"")            \
		EVENT(7, 70, "aten::mm", "00001.000", "4.25", ",\"cat\":\"cpu_op\"")               \
			EVENT(7, 70, "outer", "00000.500", "90", ",\"cat\":\"python_function\"")   \
				EVENT(7, 70, "inner", "00000.750", "9",                            \
				      ",\"cat\":\"python_function\"")
#define LANES                                                                                      \
	NAMES(7, "Python", 70, "Thread 70")                                                        \
	NAMES(8, "CANN", 70, "Thread 70")                                                          \
	NAMES(9, "Ascend Hardware", 2, "Stream 2")                                                 \
	NAMES(10, "HCCL", 0, "Group 0 Communication")                                              \
	NAMES(10, "HCCL", 1, "Plane 0")                                                            \
	NAMES(11, "Overlap Analysis", 0, "Computing")                                              \
	"{\"name\":\"HBM\",\"ph\":\"C\",\"pid\":12,"                                               \
	"\"ts\":\"1\",\"args\":{\"v\":1}}]"
#define CALL                                                                                       \
	EVENT(8, 70, "AscendCL@aclrtMemcpyAsync", "00002.000", "1.5",                              \
	      ",\"args\":{\"level\":\"acl\",\"connection_id\":936}")
#define COLLECTIVE                                                                                 \
	EVENT(10, 0, "hcom_allReduce__586_2_1", "00030.000", "50.00021875",                        \
	      ",\"args\":{\"data_type\":\"FP32\",\"count\":250,\"connection_id\":940}")            \
	EVENT(10, 1, "Reduce_Inline", "00031.000", "3", "")
#define SUMMARY EVENT(11, 0, "Computing", "00010.000", "7.75", "")

START_TEST(waits_and_pieces_are_no_work)
{
	struct imported in;
	imported_text(&in,
		      TORCH CALL EVENT(9, 2, "MatMul", "00010.000", "5.1259", TYPE("AI_CORE", 1))
			      EVENT(9, 2, "EVENT_WAIT", "00011.000", "100",
				    TYPE("EVENT_WAIT_SQE", 2))
				      EVENT(9, 2, "MEMCPY_ASYNC", "00020.000", "2.5",
					    TYPE("PCIE_DMA_SQE", 936)) COLLECTIVE SUMMARY LANES);
	ck_assert_int_eq(in.status, TP_OK);
	ck_assert_str_eq(in.result.ranks[0].format, "ascend");
	ck_assert_int_eq(in.result.ranks[0].pid, 7);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_KERNEL, "MatMul"), 5125);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_KERNEL, "hcom_"), 50000);
	ck_assert_uint_eq(imported_count(&in, TP_SPAN_KERNEL), 2);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_COPY, ""), 2500);
	/* The host: a call and operators of one thread lie on one track. */
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_CALL, "aclrtMemcpyAsync"), 1500);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_OPERATOR, "aten::mm"), 4250);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_ANNOTATION, "ProfilerStep#5"), 900500);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_PYTHON, ""), 90000);
	for (size_t i = 0; i < in.n_spans; i++) {
		if (!tp_span_kind_is_device(in.spans[i].kind))
			ck_assert_int_eq(imported_track(&in, i)->number, 70);
		if (in.spans[i].kind == TP_SPAN_CALL || in.spans[i].kind == TP_SPAN_COPY)
			ck_assert_uint_eq(in.spans[i].link, 936);
		if (in.spans[i].kind == TP_SPAN_OPERATOR)
			ck_assert_uint_eq(in.spans[i].start_ns, UINT64_C(1736408883600001000));
	}
	imported_release(&in);
}
END_TEST

/* Older exports have the type "Other" for nearly all tasks. */
START_TEST(untyped_work_is_read_from_the_makers_summary)
{
	struct imported in;
	imported_text(&in, TORCH EVENT(9, 2, "MatMul", "00010.000", "5", TYPE("AI_CORE", 1))
				   EVENT(9, 2, "x", "00016.000", "9", TYPE("Other", 2))
					   COLLECTIVE SUMMARY LANES);
	ck_assert_int_eq(in.status, TP_OK);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_KERNEL, "Computing"), 7750);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_KERNEL, "MatMul"), 0);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_KERNEL, "hcom_"), 50000);
	/* The input is the maker's own summary: there is nothing to compare. */
	ck_assert_uint_eq(in.result.ranks[0].maker_computing_ns, 0);
	imported_release(&in);
}
END_TEST

/* A kernel of 20 us overlaps the last 10 us of the collective. */
START_TEST(the_makers_sums_stand_beside_ours)
{
	struct imported in;
	imported_text(
		&in,
		TORCH EVENT(9, 2, "MatMul", "00010.000", "5.125",
			    TYPE("AI_CORE", 1)) EVENT(9, 2, "MatMul", "00070.000", "20",
						      TYPE("AI_CORE", 2))
			EVENT(9, 2, "EVENT_WAIT", "00011.000", "100",
			      TYPE("EVENT_WAIT_SQE", 2)) EVENT(9, 2, "MEMCPY_ASYNC", "00090.000",
							       "2", TYPE("PCIE_DMA_SQE", 3))
				COLLECTIVE SUMMARY EVENT(11, 0, "Computing", "00070.000", "20", "")
					EVENT(11, 1, "Communication", "00030.000", "50.0003",
					      "") EVENT(11, 2, "Exposed", "00030.000", "40", "")
						EVENT(11, 3, "Free", "00020.000", "10",
						      "") NAMES(11, "Overlap Analysis", 1,
								"Communication")
							NAMES(11, "Overlap Analysis", 2,
							      "Communication(Not Overlapped)")
								NAMES(11, "Overlap Analysis", 3,
								      "Free") LANES);
	const struct tp_rank_info *rank = &in.result.ranks[0];
	ck_assert_int_eq(in.status, TP_OK);
	ck_assert_uint_eq(rank->read_computing_ns, 25125);
	ck_assert_uint_eq(rank->read_communication_ns, 50000);
	ck_assert_uint_eq(rank->read_exposed_ns, 40000);
	ck_assert_uint_eq(rank->maker_computing_ns, 27750);
	ck_assert_uint_eq(rank->maker_communication_ns, 50000);
	ck_assert_uint_eq(rank->maker_exposed_ns, 40000);
	/* The summary is no work of the device. */
	ck_assert_uint_eq(imported_count(&in, TP_SPAN_KERNEL), 3);
	imported_release(&in);
}
END_TEST

START_TEST(a_collective_has_its_size_and_place)
{
	struct imported in;
	imported_text(&in, TORCH COLLECTIVE LANES);
	for (size_t i = 0; i < in.n_spans; i++) {
		struct tp_detail detail = imported_detail(&in, i);
		if (in.spans[i].kind != TP_SPAN_KERNEL)
			continue;
		ck_assert_uint_eq(detail.bytes, 1000);
		ck_assert_uint_eq(detail.sequence, 3);
		ck_assert_str_eq(tp_strtab_text(&in.sink.strings, detail.group), "586");
	}
	imported_release(&in);
}
END_TEST

static const char *const damaged[] = {
	TORCH "]",
	TORCH CALL LANES,
	TORCH EVENT(9, 2, "MatMul", "x", "5", TYPE("AI_CORE", 1)) LANES,
	TORCH EVENT(9, 2, "MatMul", "00010.000", "-5", TYPE("AI_CORE", 1)) LANES,
	TORCH "7," LANES,
};

START_TEST(a_file_that_is_cut_before_its_names_says_so)
{
	struct imported in;
	imported_text(&in, TORCH "{\"ph\":\"X\",\"na");
	ck_assert_int_eq(in.status, TP_PARSE);
	ck_assert_ptr_nonnull(strstr(in.err.text, ": it was cut, and no lane"));
	imported_release(&in);
}
END_TEST

/* Lanes are unknown without the name of a process. */
START_TEST(what_cannot_be_read_is_counted_or_refused)
{
	struct imported in;
	imported_text(&in, damaged[_i]);
	ck_assert_uint_eq(imported_count(&in, TP_SPAN_KERNEL), 0);
	if (_i == 0)
		ck_assert_int_eq(in.status, TP_PARSE);
	else
		ck_assert_int_eq(in.status, TP_OK);
	if (_i > 1)
		ck_assert_uint_eq(in.result.ranks[0].n_skipped, 1);
	imported_release(&in);
}
END_TEST

/* Its marks come after the first bytes, so it is not recognised, but read if requested by name. */
START_TEST(asked_for_by_name_it_reads_any_json)
{
	static const char text[] = "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\","
				   "\"pid\":7,\"tid\":70,\"ts\":1,"
				   "\"dur\":2}," LANES;
	const struct tp_import_options asked = {.format = "ascend"};
	struct imported in;
	imported_bytes(&in, text, strlen(text), &asked);
	ck_assert_int_eq(in.status, TP_OK);
	ck_assert_str_eq(in.result.ranks[0].format, "ascend");
	imported_release(&in);
	imported_bytes(&in, "no JSON", 7, &asked);
	ck_assert_int_eq(in.status, TP_PARSE);
	imported_release(&in);
}
END_TEST

START_TEST(the_folder_says_which_rank_it_is)
{
	struct imported in;
	char folder[] = "/tmp/trainprof-ascend-XXXXXX";
	char path[128];
	char info[96];
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(info, sizeof(info), "%s/profiler_info_12.json", folder);
	ck_assert_int_eq(tp_file_replace(info, "{}", 2, NULL), TP_OK);
	snprintf(path, sizeof(path), "%s/ASCEND_PROFILER_OUTPUT", folder);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	strcat(path, "/trace_view.json");
	ck_assert_int_eq(tp_file_replace(path, TORCH LANES, strlen(TORCH LANES), NULL), TP_OK);
	imported_files(&in, &(const char *){path}, 1, NULL);
	ck_assert_int_eq(in.status, TP_OK);
	ck_assert_int_eq(in.result.ranks[0].number, 12);
	imported_release(&in);
	unlink(path);
	unlink(info);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	rmdir(folder);
}
END_TEST

Suite *suite_import_ascend_view(void);

Suite *suite_import_ascend_view(void)
{
	Suite *suite = suite_create("import/ascend_view");
	TCase *tc = tcase_create("ascend_view");
	tcase_add_test(tc, waits_and_pieces_are_no_work);
	tcase_add_test(tc, untyped_work_is_read_from_the_makers_summary);
	tcase_add_test(tc, the_makers_sums_stand_beside_ours);
	tcase_add_test(tc, a_collective_has_its_size_and_place);
	tcase_add_test(tc, a_file_that_is_cut_before_its_names_says_so);
	tcase_add_loop_test(tc, what_cannot_be_read_is_counted_or_refused, 0,
			    (int)(sizeof(damaged) / sizeof(damaged[0])));
	tcase_add_test(tc, asked_for_by_name_it_reads_any_json);
	tcase_add_test(tc, the_folder_says_which_rank_it_is);
	suite_add_tcase(suite, tc);
	return suite;
}
