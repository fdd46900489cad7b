/* SPDX-License-Identifier: Apache-2.0 */
/* Tests rocprofv3's JSON. */
#include "import/database.h"

#include <string.h>

#define PROCESS(pid, gpu, records)                                                                 \
	"{\"metadata\":{\"node\":{\"hostname\":\"smc\"},\"pid\":" #pid                             \
	",\"init_time\":1},\"agents\":[{\"id\":{\"handle\":37944},\"type\":1},{\"id\":"            \
	"{\"handle\":37946},\"type\":2,\"name\":\"gfx950\",\"logical_node_type_id\":" #gpu         \
	",\"product_name\":\"MI350X\",\"cu_count\":256}],\"strings\":{\"callback_records\":"       \
	"[{\"kind\":\"NONE\",\"operations\":[]}],\"buffer_records\":[{\"kind\":\"NONE\","          \
	"\"operations\":[]},{\"kind\":\"HIP\",\"operations\":[\"a\",\"hipLaunchKernel\"]},"        \
	"{\"kind\":\"MEMORY_COPY\",\"operations\":[\"NONE\",\"MEMORY_COPY_HOST_TO_DEVICE\"]},"     \
	"{\"kind\":\"MARKER\",\"operations\":[\"roctxThreadRangeA\"]}],"                           \
	"\"marker_api\":{\"7\":\"step 4\"}},\"kernel_symbols\":[{\"kernel_id\":8,"                 \
	"\"kernel_name\":\"k.kd\",\"formatted_kernel_name\":\"gemm\"},{\"kernel_id\":9,"           \
	"\"formatted_kernel_name\":\"__amd_rocclr_copyBuffer\"}],\"callback_records\":"            \
	"{\"counter_collection\":[]},\"buffer_records\":{" records "}}"
#define TIMES(start, end)                                                                          \
	",\"correlation_id\":{\"internal\":7,\"external\":0},\"start_timestamp\":" #start          \
	",\"end_timestamp\":" #end
#define DISPATCH(kernel, agent, start, end)                                                        \
	"{\"size\":184,\"kind\":11,\"operation\":2,\"thread_id\":908" TIMES(                       \
		start, end) ",\"dispatch_info\":{\"agent_id\":{\"handle\":" #agent                 \
			    "},\"queue_id\":{\"handle\":16},\"kernel_id\":" #kernel                \
			    ",\"workgroup_size\":{\"x\":64,\"y\":2,\"z\":1},\"grid_size\":{\"x\":" \
			    "1280,\"y\":2,\"z\":1}},"                                              \
			    "\"stream_id\":{\"handle\":0}}"
#define KERNELS                                                                                    \
	"\"kernel_dispatch\":[" DISPATCH(8, 37946, 63857982592000,                                 \
					 63857982594840) "," DISPATCH(9, 37946, 63857982582000,    \
								      63857982582010) "]"
#define OTHERS                                                                                     \
	",\"memory_copy\":[{\"kind\":2,\"operation\":1,\"thread_id\":908" TIMES(                   \
		100,                                                                               \
		150) ",\"dst_agent_id\":{\"handle\":37946},\"src_agent_id\":{\"handle\":37944},"   \
		     "\"bytes\":512}],\"hip_api\":[{\"kind\":1,\"operation\":1,\"thread_id\":"     \
		     "908" TIMES(50, 90) "}],\"marker_api\":[{\"kind\":3,\"operation\":0,"         \
					 "\"thread_id\":908" TIMES(10, 400) "}],\"rccl_api\":[]"
#define FILE_OF(processes) "{\"rocprofiler-sdk-tool\":[" processes "]}"

START_TEST(records_are_joined_with_names_by_place)
{
	struct imported in;
	imported_text(&in, FILE_OF(PROCESS(908, 3, KERNELS OTHERS)));
	ck_assert_int_eq(in.status, TP_OK);
	const struct tp_rank_info *rank = &in.result.ranks[0];
	ck_assert_str_eq(rank->format, "rocprof");
	ck_assert_int_eq(rank->pid, 908);
	ck_assert_str_eq(rank->host, "smc");
	ck_assert_uint_eq(rank->n_devices, 1);
	ck_assert_int_eq(rank->devices[0].number, 3);
	ck_assert_str_eq(rank->devices[0].name, "MI350X");
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_KERNEL, "gemm"), 2840);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_COPY, "__amd_rocclr_copy"), 10);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_COPY, "Memcpy HtoD"), 50);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_CALL, "hipLaunchKernel"), 40);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_ANNOTATION, "step 4"), 390);
	for (size_t i = 0; i < in.n_spans; i++) {
		if (tp_span_kind_is_device(in.spans[i].kind))
			ck_assert_int_eq(imported_track(&in, i)->device, 3);
		if (in.spans[i].kind == TP_SPAN_KERNEL) {
			ck_assert_uint_eq(imported_detail(&in, i).threads, 128);
			ck_assert_uint_eq(imported_detail(&in, i).blocks, 20);
			ck_assert_uint_eq(in.spans[i].link, 7);
		}
	}
	imported_release(&in);
}
END_TEST

START_TEST(each_process_is_a_rank)
{
	struct imported in;
	imported_text(&in, FILE_OF(PROCESS(908, 0, KERNELS) "," PROCESS(909, 1, KERNELS)));
	ck_assert_int_eq(in.status, TP_OK);
	ck_assert_uint_eq(in.result.n_ranks, 2);
	ck_assert_uint_eq(imported_count(&in, TP_SPAN_KERNEL), 2);
	imported_release(&in);
}
END_TEST

static const struct {
	const char *text;
	size_t n_kept;
	size_t n_skipped;
	bool is_cut;
} damaged[] = {
	{FILE_OF(PROCESS(908, 0, "\"kernel_dispatch\":[]")), 0, 0, false},
	{FILE_OF(""), 0, 0, false},
	{FILE_OF("{}"), 0, 0, false},
	{"{\"rocprofiler-sdk-tool\":7}", 0, 0, false},
	{FILE_OF(PROCESS(908, 0,
			 "\"kernel_dispatch\":[" DISPATCH(8, 1, 5, 9) "," DISPATCH(
				 8, 37946, 9, 5) "," DISPATCH(8, 37946, 5, 9) ",7]")),
	 1, 3, false},
	{"{\"rocprofiler-sdk-tool\":[{\"agents\":[{\"id\":{\"handle\":1},\"type\":2}],"
	 "\"buffer_records\":{\"kernel_dispatch\":[" DISPATCH(8, 1, 5, 9) ",{\"siz",
	 1, 0, true},
};

START_TEST(what_is_damaged_is_counted_or_refused)
{
	struct imported in;
	imported_text(&in, damaged[_i].text);
	ck_assert_uint_eq(in.n_spans, damaged[_i].n_kept);
	ck_assert_int_eq(in.status, damaged[_i].n_kept ? TP_OK : TP_PARSE);
	if (in.status) {
		ck_assert_uint_gt(strlen(in.err.next), 0);
	} else {
		ck_assert_uint_eq(in.result.ranks[0].n_skipped, damaged[_i].n_skipped);
		ck_assert_int_eq(in.result.ranks[0].is_cut, damaged[_i].is_cut);
	}
	imported_release(&in);
}
END_TEST

Suite *suite_import_rocprof(void);

Suite *suite_import_rocprof(void)
{
	Suite *suite = suite_create("import/rocprof");
	TCase *tc = tcase_create("rocprof");
	tcase_add_test(tc, records_are_joined_with_names_by_place);
	tcase_add_test(tc, each_process_is_a_rank);
	tcase_add_loop_test(tc, what_is_damaged_is_counted_or_refused, 0,
			    (int)(sizeof(damaged) / sizeof(damaged[0])));
	suite_add_tcase(suite, tc);
	return suite;
}
