/* SPDX-License-Identifier: Apache-2.0 */
/* Tests databases of rocmProfileData. */
#include "import/database.h"

#include <string.h>

#define SCHEMA                                                                                     \
	"CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY, string TEXT);"                          \
	"INSERT INTO rocpd_string VALUES (1,''),(2,'KernelExecution'),(3,'CopyHostToDevice'),"     \
	"(4,'FillBuffer'),(5,'Cijk_gemm'),(6,'hipLaunchKernel'),(7,'UserMarker'),"                 \
	"(8,'aten::to'),(9,'BarrierAnd'),(10,'OpTable::writeRows'),(11,'Task'),(12,'Odd'),"        \
	"(13,'hipMemcpy');"                                                                        \
	"CREATE TABLE rocpd_op(id INT, gpuId INT, queueId INT, start INT, \"end\" INT, "           \
	"description_id INT, opType_id INT);"                                                      \
	"CREATE TABLE rocpd_api(id INT, pid INT, tid INT, start INT, \"end\" INT, "                \
	"apiName_id INT, args_id INT);"                                                            \
	"CREATE TABLE rocpd_api_ops(id INT, api_id INT, op_id INT);"                               \
	"CREATE TABLE rocpd_copyapi(api_ptr_id INT, size INT);"

START_TEST(work_is_by_its_type_and_belongs_to_the_process_of_its_call)
{
	struct imported in;
	if (!database_import(
		    &in, SCHEMA
		    "INSERT INTO rocpd_api VALUES (30,100,101,50,60,6,1),(31,100,101,70,80,13,1),"
		    "(32,100,101,40,90,7,8),(33,100,101,95,99,10,1),(34,200,200,50,60,6,1);"
		    "INSERT INTO rocpd_op VALUES (1,2,0,100,200,5,2),(2,2,0,210,240,1,3),"
		    "(3,2,0,250,255,1,4),(4,2,0,260,900,1,9),(5,2,0,300,310,5,11),(6,2,0,1,2,1,12),"
		    "(7,3,1,400,407,5,2);"
		    "INSERT INTO rocpd_api_ops VALUES (1,30,1),(2,31,2),(3,31,3),(4,30,5),(5,34,7);"
		    "INSERT INTO rocpd_copyapi VALUES (31,4096);"))
		return;
	ck_assert_int_eq(in.status, TP_OK);
	ck_assert_uint_eq(in.result.n_ranks, 2);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_KERNEL, "Cijk"), 117);
	ck_assert_uint_eq(imported_count(&in, TP_SPAN_KERNEL), 3);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_COPY, "Memcpy HtoD"), 30);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_SET, "Memset"), 5);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_CALL, "hip"), 30);
	ck_assert_uint_eq(imported_count(&in, TP_SPAN_CALL), 3);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_ANNOTATION, "aten::to") +
				  imported_sum(&in, TP_SPAN_OPERATOR, "aten::to"),
			  50);
	for (size_t i = 0; i < in.n_spans; i++) {
		const struct tp_track *track = imported_track(&in, i);
		bool is_first = in.result.ranks[track->rank].pid == 100;
		if (tp_span_kind_is_device(in.spans[i].kind))
			ck_assert_int_eq(track->device, is_first ? 2 : 3);
		if (in.spans[i].kind == TP_SPAN_COPY) {
			ck_assert_uint_eq(imported_detail(&in, i).bytes, 4096);
			ck_assert_uint_eq(in.spans[i].link, 31);
		}
	}
	uint64_t n_skipped = in.result.ranks[0].n_skipped + in.result.ranks[1].n_skipped;
	ck_assert_uint_eq(n_skipped, 1); /* the one of an unknown type */
	imported_release(&in);
}
END_TEST

START_TEST(a_database_without_rows_is_refused)
{
	struct imported in;
	if (!database_import(&in, SCHEMA))
		return;
	ck_assert_int_eq(in.status, TP_PARSE);
	ck_assert_uint_gt(strlen(in.err.next), 0);
	imported_release(&in);
}
END_TEST

Suite *suite_import_rpd(void);

Suite *suite_import_rpd(void)
{
	Suite *suite = suite_create("import/rpd");
	TCase *tc = tcase_create("rpd");
	tcase_add_test(tc, work_is_by_its_type_and_belongs_to_the_process_of_its_call);
	tcase_add_test(tc, a_database_without_rows_is_refused);
	suite_add_tcase(suite, tc);
	return suite;
}
