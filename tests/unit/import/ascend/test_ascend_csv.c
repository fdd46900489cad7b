/* SPDX-License-Identifier: Apache-2.0 */
/* Tests tables of kernels of Ascend's profiler. */
#include "import/database.h"

#include <string.h>

static const struct {
	const char *text;
	int device;
	size_t n_skipped;
} files[] = {
	{"Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim\n"
	 "50,MatMul,N/A,N/A,1736405443881410.320\t,50.621,0,0\n"
	 "50,hcom_allReduce__586_0_1,N/A,HCCL,1736405443881566.663\t,6.28,105.722,0\n",
	 0, 0},
	{"Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start "
	 "Time(us),Task Duration(us),Task Wait Time(us)\r\n"
	 "2,1,4,16,MatMul,MatMul,static,AI_CORE,\"1736405443881410.320\t\",50.621,0\r\n"
	 "2,1,5,16,hcom_allReduce__586_0_1,x,x,COMM,1736405443881566.663,6.28,0\r\n"
	 "2,1,5,16,Add,x,x,AI_CORE,N/A,6.28,0\r\n",
	 2, 1},
};

START_TEST(columns_are_found_by_their_headings)
{
	struct imported in;
	imported_text(&in, files[_i].text);
	ck_assert_int_eq(in.status, TP_OK);
	ck_assert_str_eq(in.result.ranks[0].format, "ascend-csv");
	ck_assert_uint_eq(in.n_spans, 2);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_KERNEL, "MatMul"), 50621);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_KERNEL, "hcom_"), 6280);
	ck_assert_int_eq(imported_track(&in, 0)->device, files[_i].device);
	ck_assert_uint_eq(in.spans[0].start_ns, UINT64_C(1736405443881410320));
	ck_assert_uint_eq(in.result.ranks[0].n_skipped, files[_i].n_skipped);
	imported_release(&in);
}
END_TEST

START_TEST(a_table_without_rows_is_refused)
{
	struct imported in;
	imported_text(&in, "Name,Start Time(us),Duration(us)\na,b,c\n");
	ck_assert_int_eq(in.status, TP_PARSE);
	imported_release(&in);
}
END_TEST

Suite *suite_import_ascend_csv(void);

Suite *suite_import_ascend_csv(void)
{
	Suite *suite = suite_create("import/ascend_csv");
	TCase *tc = tcase_create("ascend_csv");
	tcase_add_loop_test(tc, columns_are_found_by_their_headings, 0,
			    (int)(sizeof(files) / sizeof(files[0])));
	tcase_add_test(tc, a_table_without_rows_is_refused);
	suite_add_tcase(suite, tc);
	return suite;
}
