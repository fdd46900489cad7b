/* SPDX-License-Identifier: Apache-2.0 */
/* Tests databases of rocprofv3, schemas 3 and 4.1. */
#include "import/database.h"

#include <stdio.h>
#include <string.h>

/* One process: pid 42 on GPU 1 (agent 5; agent 4 is a CPU). Ids of rows differ from numbers of
 * threads and devices. */
#define SET(s, pid)                                                                                \
	"CREATE TABLE rocpd_string" s "(id INTEGER PRIMARY KEY, string TEXT);"                     \
	"INSERT INTO rocpd_string" s " VALUES (1,'HIP_RUNTIME_API'),(2,'MARKER_CORE_RANGE_API'),"  \
	"(3,'hipLaunchKernel'),(4,'aten::mm, seq = 1, op_id = 2'),"                                \
	"(5,'MEMORY_COPY_HOST_TO_DEVICE'),(6,'RCCL_API'),(7,'ncclAllReduce'),(8,'step 3');"        \
	"CREATE TABLE rocpd_info_node" s "(id INT, hostname TEXT);"                                \
	"INSERT INTO rocpd_info_node" s " VALUES (1,'mi300');"                                     \
	"CREATE TABLE rocpd_info_process" s "(id INT, pid INT);"                                   \
	"INSERT INTO rocpd_info_process" s " VALUES (77," pid ");"                                 \
	"CREATE TABLE rocpd_info_thread" s "(id INT, pid INT, tid INT);"                           \
	"INSERT INTO rocpd_info_thread" s " VALUES (78,77," pid ");"                               \
	"CREATE TABLE rocpd_info_agent" s "(id INT, type TEXT, type_index INT, name TEXT, "        \
	"product_name TEXT);INSERT INTO rocpd_info_agent" s " VALUES (4,'CPU',0,'EPYC','EPYC'),"   \
	"(5,'GPU',1,'gfx942','AMD Instinct MI300X');"                                              \
	"CREATE TABLE rocpd_info_kernel_symbol" s "(id INT, display_name TEXT, kernel_name TEXT);" \
	"INSERT INTO rocpd_info_kernel_symbol" s " VALUES (1,'Cijk_gemm','x'),"                    \
	"(2,NULL,'ncclDevKernel_Generic'),(3,'__amd_rocclr_copyBuffer','x'),"                      \
	"(4,'__amd_rocclr_fillBufferAligned','x');"                                                \
	"CREATE TABLE rocpd_event" s "(id INT, category_id INT, stack_id INT);"                    \
	"INSERT INTO rocpd_event" s " VALUES (10,1,900),(11,1,900),(12,2,0),(13,6,901),(14,2,0);"
#define COLUMNS_3 "pid INT, tid INT, agent_id INT, queue_id INT, stream_id INT"
#define SPANS(s, columns, owner, copier, caller)                                                   \
	"CREATE TABLE rocpd_kernel_dispatch" s "(id INT, " columns                                 \
	", kernel_id INT, event_id INT, start INT, \"end\" INT);"                                  \
	"INSERT INTO rocpd_kernel_dispatch" s " VALUES (1," owner ",1,11,1000,1500),"              \
	"(2," owner ",2,0,1600,1900),(3," owner ",3,0,2000,2010),(4," owner ",4,0,2020,2025);"     \
	"CREATE TABLE rocpd_memory_copy" s "(id INT, pid INT, tid INT, start INT, \"end\" INT, "   \
	"name_id INT, dst_agent_id INT, src_agent_id INT, size INT, stream_id INT, event_id INT);" \
	"INSERT INTO rocpd_memory_copy" s " VALUES (1," copier ",3000,3100,5,5,4,4096,0,0),"       \
	"(2," copier ",3200,3201,5,4,5,64,0,0);"                                                   \
	"CREATE TABLE rocpd_region" s "(id INT, pid INT, tid INT, start INT, \"end\" INT, "        \
	"name_id INT, event_id INT);INSERT INTO rocpd_region" s " VALUES "                         \
	"(1," caller ",900,950,3,10),(2," caller ",800,960,4,12),(3," caller ",970,980,7,13),"     \
	"(4," caller ",700,3500,8,14);"
#define OWNER_3          "77,78,5,2,9"
#define SCHEMA_3(s, pid) SET(s, pid) SPANS(s, COLUMNS_3, OWNER_3, "77,78", "77,78")

static void check_rank(const struct imported *in)
{
	ck_assert_int_eq(in->status, TP_OK);
	ck_assert_uint_eq(imported_sum(in, TP_SPAN_KERNEL, "Cijk"), 500);
	ck_assert_uint_eq(imported_sum(in, TP_SPAN_KERNEL, "ncclDevKernel"), 300);
	ck_assert_uint_eq(imported_sum(in, TP_SPAN_COPY, "__amd_rocclr_copy"), 10);
	ck_assert_uint_eq(imported_sum(in, TP_SPAN_SET, "__amd_rocclr_fill"), 5);
	ck_assert_uint_eq(imported_sum(in, TP_SPAN_COPY, "Memcpy HtoD"), 101);
	for (size_t i = 0; i < in->n_spans; i++)
		if (tp_span_kind_is_device(in->spans[i].kind))
			ck_assert_int_eq(imported_track(in, i)->device, 1);
}

START_TEST(a_process_has_kernels_copies_calls_and_ranges)
{
	struct imported in;
	if (!database_import(&in, SCHEMA_3("_00_a", "42")))
		return;
	check_rank(&in);
	const struct tp_rank_info *rank = &in.result.ranks[0];
	ck_assert_str_eq(rank->format, "rocpd");
	ck_assert_int_eq(rank->pid, 42);
	ck_assert_str_eq(rank->host, "mi300");
	ck_assert_uint_eq(rank->n_devices, 1);
	ck_assert_str_eq(rank->devices[0].name, "AMD Instinct MI300X");
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_CALL, "hipLaunchKernel"), 50);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_CALL, "ncclAllReduce"), 10);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_OPERATOR, "aten::mm"), 160);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_ANNOTATION, "step 3"), 2800);
	for (size_t i = 0; i < in.n_spans; i++) {
		bool is_launch = in.spans[i].kind == TP_SPAN_CALL && in.spans[i].start_ns == 900;
		if (is_launch || in.spans[i].start_ns == 1000)
			ck_assert_uint_eq(in.spans[i].link, 900);
		if (!tp_span_kind_is_device(in.spans[i].kind))
			ck_assert_int_eq(imported_track(&in, i)->number, 42);
		if (in.spans[i].start_ns == 3000)
			ck_assert_uint_eq(imported_detail(&in, i).bytes, 4096);
	}
	imported_release(&in);
}
END_TEST

START_TEST(each_suffix_is_a_rank)
{
	struct imported in;
	if (!database_import(&in, SCHEMA_3("_00_a", "42") SCHEMA_3("_00_b", "43")))
		return;
	ck_assert_int_eq(in.status, TP_OK);
	ck_assert_uint_eq(in.result.n_ranks, 2);
	ck_assert_int_eq(in.result.ranks[0].pid + in.result.ranks[1].pid, 85);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_KERNEL, "Cijk"), 1000);
	imported_release(&in);
}
END_TEST

START_TEST(tracks_of_schema_4_say_whose_work_it_is)
{
	struct imported in;
	if (!database_import(&in, SET("_c", "42") SPANS("_c", "track_id INT", "6", "77,78",
							"77,78") "CREATE TABLE rocpd_track_c(id "
								 "INT, pid INT, tid INT, agent_id "
								 "INT, queue_id INT, stream_id "
								 "INT);INSERT INTO rocpd_track_c "
								 "VALUES (6,77,78,5,2,9);"))
		return;
	check_rank(&in);
	ck_assert_uint_eq(in.result.n_ranks, 1);
	imported_release(&in);
}
END_TEST

static const struct {
	const char *environment;
	int64_t rank;
} launched[] = {
	{"{\"LOCAL_RANK\":\"1\",\"RANK\":\"13\",\"WORLD_SIZE\":\"16\"}", 13},
	{"{\"SLURM_PROCID\": \"5\"}", 5},
	{"LOCAL_RANK=1 OMPI_COMM_WORLD_RANK=7", 7},
	{"{\"RANK\":\"\",\"LOCAL_RANK\":\"1\"}", -1},
	{"{}", -1},
	{"RANK", -1},
};

START_TEST(the_environment_says_the_rank)
{
	struct imported in;
	char sql[8192];
	snprintf(sql, sizeof(sql),
		 SCHEMA_3("_00_a", "42") "ALTER TABLE rocpd_info_process_00_a ADD environment TEXT;"
					 "UPDATE rocpd_info_process_00_a SET environment = '%s';",
		 launched[_i].environment);
	if (!database_import(&in, sql))
		return;
	ck_assert_int_eq(in.status, TP_OK);
	ck_assert_int_eq(in.result.ranks[0].number, launched[_i].rank);
	imported_release(&in);
}
END_TEST

static const char *const empty[] = {
	"CREATE TABLE rocpd_kernel_dispatch_a(id INT)",
	"CREATE TABLE rocpd_info_agent_a(id INT)",
	"CREATE VIEW rocpd_kernel_dispatch AS SELECT 1;CREATE TABLE rocpd_info_agent_a(id INT)",
	("CREATE TABLE rocpd_kernel_dispatch(start TEXT, \"end\" TEXT);"
	 "INSERT INTO rocpd_kernel_dispatch VALUES ('a','b'),(NULL,7),(9,8)"),
};

START_TEST(a_database_without_work_is_refused_with_what_to_type)
{
	struct imported in;
	if (!database_import(&in, empty[_i]))
		return;
	ck_assert_int_eq(in.status, TP_PARSE);
	ck_assert_msg(strstr(in.err.next, "rocprofv3") != NULL, "%s", in.err.next);
	imported_release(&in);
}
END_TEST

START_TEST(a_newer_schema_is_named_with_the_missing_column)
{
	struct imported in;
	if (!database_import(
		    &in, "CREATE TABLE rocpd_metadata_00(tag TEXT, value TEXT);INSERT INTO "
			 "rocpd_metadata_00 VALUES ('uuid','00'),('schema_version','4.2.0');"
			 "CREATE TABLE rocpd_kernel_dispatch_00(id INT, begin_ns INT, \"end\" INT);"
			 "INSERT INTO rocpd_kernel_dispatch_00 VALUES (1,5,9);"))
		return;
	ck_assert_int_eq(in.status, TP_PARSE);
	ck_assert_ptr_nonnull(strstr(in.err.text, ": schema 4.2.0, table "
						  "rocpd_kernel_dispatch_00 has no column "
						  "'start'"));
	ck_assert_ptr_null(strstr(in.err.text, "'end'"));
	imported_release(&in);
}
END_TEST

Suite *suite_import_rocpd(void);

Suite *suite_import_rocpd(void)
{
	Suite *suite = suite_create("import/rocpd");
	TCase *tc = tcase_create("rocpd");
	tcase_add_test(tc, a_process_has_kernels_copies_calls_and_ranges);
	tcase_add_test(tc, each_suffix_is_a_rank);
	tcase_add_test(tc, tracks_of_schema_4_say_whose_work_it_is);
	tcase_add_loop_test(tc, the_environment_says_the_rank, 0,
			    (int)(sizeof(launched) / sizeof(launched[0])));
	tcase_add_loop_test(tc, a_database_without_work_is_refused_with_what_to_type, 0,
			    (int)(sizeof(empty) / sizeof(empty[0])));
	tcase_add_test(tc, a_newer_schema_is_named_with_the_missing_column);
	suite_add_tcase(suite, tc);
	return suite;
}
