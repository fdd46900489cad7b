/* SPDX-License-Identifier: Apache-2.0 */
/* Tests databases of Ascend's profiler. */
#include "import/database.h"

#include <string.h>

/* Tasks 1 and 2 compute, 3 copies, 4 carries the collective although its type is one of computing,
 * 5 waits, 6 copies for the collective. Times of PYTORCH_API are texts. */
#define STRINGS                                                                                    \
	"CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value TEXT);"                             \
	"INSERT INTO STRING_IDS VALUES (1,'MatMul_op'),(2,'AI_CORE'),(3,'MEMCPY_ASYNC'),"          \
	"(4,'EVENT_WAIT'),(5,'hcom_allReduce__210_3_1'),(6,'group'),(7,'aclrtMemcpyAsync'),"       \
	"(8,'aten::mm'),(9,'ProfilerStep#50'),(10,'train.py(3): "                                  \
	"step'),(11,'inner'),(12,'Enqueue');"
#define TASKS                                                                                      \
	"CREATE TABLE COMPUTE_TASK_INFO(name INT, globalTaskId INT, taskType INT);"                \
	"INSERT INTO COMPUTE_TASK_INFO VALUES (1,1,2),(1,2,2);"                                    \
	"CREATE TABLE COMMUNICATION_TASK_INFO(name INT, globalTaskId INT, opId INT);"              \
	"INSERT INTO COMMUNICATION_TASK_INFO VALUES (5,4,1),(5,6,1);"                              \
	"CREATE TABLE TASK(startNs INT, endNs INT, deviceId INT, connectionId INT, "               \
	"globalTaskId INT, globalPid INT, taskType INT, streamId INT);"                            \
	"INSERT INTO TASK VALUES (1000,1100,3,71,1,9,2,4),(1200,1350,3,72,2,9,2,4),"               \
	"(1400,1407,3,73,3,9,3,5),(1500,9500,3,74,4,9,2,6),(1600,1900,3,0,5,9,4,6),"               \
	"(1700,1800,3,74,6,9,3,6);"
#define OPS                                                                                        \
	"CREATE TABLE COMMUNICATION_OP(opName INT, startNs INT, endNs INT, connectionId INT, "     \
	"groupName INT, opId INT, dataType INT, count NUMERIC);"                                   \
	"INSERT INTO COMMUNICATION_OP VALUES (5,1500,9500,74,6,1,4,1000);"                         \
	"CREATE TABLE ENUM_HCCL_DATA_TYPE(id INT, name TEXT);"                                     \
	"INSERT INTO ENUM_HCCL_DATA_TYPE VALUES (4,'FP32');"
#define HOST                                                                                       \
	"CREATE TABLE CANN_API(startNs INT, endNs INT, type INT, globalTid INT, connectionId INT," \
	" name INT);INSERT INTO CANN_API VALUES (900,950,20000,38654705673,71,7);"                 \
	"CREATE TABLE ENUM_API_TYPE(id INT, name TEXT);INSERT INTO ENUM_API_TYPE VALUES "          \
	"(50001,'op'),(50002,'queue'),(50003,'trace');"                                            \
	"CREATE TABLE PYTORCH_API(startNs TEXT, endNs TEXT, globalTid INT, name INT, type INT);"   \
	"INSERT INTO PYTORCH_API VALUES ('880','960',38654705673,8,50001),"                        \
	"('800','9900',38654705673,9,50001),('820','870',38654705673,11,50003),"                   \
	"('810','9800',38654705673,10,50003),('885','890',38654705673,12,50002),"                  \
	"('x','890',38654705673,12,50002);"                                                        \
	"CREATE TABLE STEP_TIME(id INT, startNs INT, endNs INT);"                                  \
	"INSERT INTO STEP_TIME VALUES (50,800,9900);"
#define FACTS                                                                                      \
	"CREATE TABLE RANK_DEVICE_MAP(rankId INT, deviceId INT);"                                  \
	"INSERT INTO RANK_DEVICE_MAP VALUES (11,3);"                                               \
	"CREATE TABLE HOST_INFO(hostUid TEXT, hostName TEXT);"                                     \
	"INSERT INTO HOST_INFO VALUES ('1','node7');"                                              \
	"CREATE TABLE NPU_INFO(id INT, name TEXT);INSERT INTO NPU_INFO VALUES (3,'Ascend910B');"

START_TEST(membership_and_not_type_says_what_computes)
{
	struct imported in;
	if (!database_import(&in, STRINGS TASKS OPS HOST FACTS))
		return;
	ck_assert_int_eq(in.status, TP_OK);
	ck_assert_uint_eq(imported_count(&in, TP_SPAN_KERNEL), 3);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_KERNEL, "MatMul"), 250);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_KERNEL, "hcom_"), 8000);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_COPY, "MEMCPY"), 7);
	for (size_t i = 0; i < in.n_spans; i++)
		if (tp_span_kind_is_device(in.spans[i].kind))
			ck_assert_int_eq(imported_track(&in, i)->device, 3);
	imported_release(&in);
}
END_TEST

START_TEST(a_collective_has_group_size_and_place)
{
	struct imported in;
	if (!database_import(&in, STRINGS TASKS OPS))
		return;
	for (size_t i = 0; i < in.n_spans; i++) {
		struct tp_detail detail = imported_detail(&in, i);
		if (strncmp(imported_name(&in, i), "hcom_", 5) != 0)
			continue;
		ck_assert_uint_eq(detail.bytes, 4000);
		ck_assert_uint_eq(detail.sequence, 4);
		ck_assert_str_eq(tp_strtab_text(&in.sink.strings, detail.op), "allreduce");
		ck_assert_str_eq(tp_strtab_text(&in.sink.strings, detail.group), "210");
	}
	imported_release(&in);
}
END_TEST

START_TEST(the_host_has_steps_operators_calls_and_outermost_python)
{
	struct imported in;
	if (!database_import(&in, STRINGS TASKS OPS HOST FACTS))
		return;
	const struct tp_rank_info *rank = &in.result.ranks[0];
	ck_assert_uint_eq(imported_count(&in, TP_SPAN_OPERATOR), 1);
	ck_assert_uint_eq(imported_count(&in, TP_SPAN_CALL), 1);
	ck_assert_uint_eq(imported_count(&in, TP_SPAN_PYTHON), 1);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_PYTHON, "train.py"), 8990);
	/* STEP_TIME repeats the step. */
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_ANNOTATION, "ProfilerStep#"), 9100);
	ck_assert_int_eq(rank->number, 11);
	ck_assert_str_eq(rank->host, "node7");
	ck_assert_uint_eq(rank->n_devices, 1);
	ck_assert_str_eq(rank->devices[0].name, "Ascend910B");
	ck_assert_uint_eq(rank->n_skipped, 1); /* the time that is not a number */
	imported_release(&in);
}
END_TEST

/* The collective lasts from 1500 to 9500, and a kernel from 1200 to 1600. */
START_TEST(the_makers_sums_stand_beside_ours)
{
	struct imported in;
	if (!database_import(
		    &in, STRINGS TASKS OPS
		    "UPDATE TASK SET endNs = 1600 WHERE globalTaskId = 2;"
		    "CREATE TABLE OVERLAP_ANALYSIS(id INT, deviceId INT, startNs INT, endNs INT, "
		    "type INT);INSERT INTO OVERLAP_ANALYSIS VALUES (1,3,1000,1100,0),"
		    "(2,3,1200,1600,0),(3,3,1500,9500,1),(4,3,1600,9500,2),(5,3,1100,1200,3),"
		    "(6,3,9,1,0),(7,3,NULL,5,0),(8,3,1,5,77);"))
		return;
	const struct tp_rank_info *rank = &in.result.ranks[0];
	ck_assert_int_eq(in.status, TP_OK);
	ck_assert_uint_eq(rank->read_computing_ns, 500);
	ck_assert_uint_eq(rank->read_communication_ns, 8000);
	ck_assert_uint_eq(rank->read_exposed_ns, 7900);
	ck_assert_uint_eq(rank->maker_computing_ns, 500);
	ck_assert_uint_eq(rank->maker_communication_ns, 8000);
	ck_assert_uint_eq(rank->maker_exposed_ns, 7900);
	imported_release(&in);
}
END_TEST

/* MindSpore and msprof. */
START_TEST(steps_without_operators_are_read_from_their_table)
{
	struct imported in;
	if (!database_import(&in,
			     STRINGS TASKS "CREATE TABLE STEP_TIME(id INT, startNs INT, endNs INT);"
					   "INSERT INTO STEP_TIME VALUES (7,800,9900);"))
		return;
	ck_assert_int_eq(in.status, TP_OK);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_ANNOTATION, "ProfilerStep#7"), 9100);
	imported_release(&in);
}
END_TEST

static const struct {
	const char *sql;
	size_t n_kept;
	size_t n_skipped;
} damaged[] = {
	{"CREATE TABLE TASK(startNs INT, endNs INT);CREATE TABLE NPU_INFO(id INT)", 0, 0},
	{STRINGS "CREATE VIEW TASK AS SELECT 1 AS startNs;CREATE TABLE NPU_INFO(id INT)", 0, 0},
	{STRINGS
	 "CREATE TABLE COMPUTE_TASK_INFO(name INT, globalTaskId INT);INSERT INTO "
	 "COMPUTE_TASK_INFO VALUES (1,1),(99,2);CREATE TABLE TASK(startNs, endNs, deviceId, "
	 "globalTaskId, taskType);INSERT INTO TASK VALUES (5,9,'a',1,2),(9,5,0,1,2),"
	 "(NULL,5,0,1,2),(-4,5,0,1,2),(5,4611686018427387905,0,1,2),(5,9,-1,1,2)",
	 2, 4},
};

START_TEST(what_is_missing_or_no_number_is_refused_or_counted)
{
	struct imported in;
	if (!database_import(&in, damaged[_i].sql))
		return;
	ck_assert_uint_eq(in.n_spans, damaged[_i].n_kept);
	ck_assert_int_eq(in.status, damaged[_i].n_kept ? TP_OK : TP_PARSE);
	if (in.status)
		ck_assert_uint_gt(strlen(in.err.next), 0);
	else
		ck_assert_uint_eq(in.result.ranks[0].n_skipped, damaged[_i].n_skipped);
	imported_release(&in);
}
END_TEST

Suite *suite_import_ascend_db(void);

Suite *suite_import_ascend_db(void)
{
	Suite *suite = suite_create("import/ascend_db");
	TCase *tc = tcase_create("ascend_db");
	tcase_add_test(tc, membership_and_not_type_says_what_computes);
	tcase_add_test(tc, a_collective_has_group_size_and_place);
	tcase_add_test(tc, the_host_has_steps_operators_calls_and_outermost_python);
	tcase_add_test(tc, the_makers_sums_stand_beside_ours);
	tcase_add_test(tc, steps_without_operators_are_read_from_their_table);
	tcase_add_loop_test(tc, what_is_missing_or_no_number_is_refused_or_counted, 0,
			    (int)(sizeof(damaged) / sizeof(damaged[0])));
	suite_add_tcase(suite, tc);
	return suite;
}
