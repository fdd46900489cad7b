/* SPDX-License-Identifier: Apache-2.0 */
/* Tests records of rocprofv3's JSON. */
#include "import/rocm/rocprof_record.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct tp_rocprof_record record_of(const char *text)
{
	struct tp_rocprof_record record = {.agent = -1, .queue = -1};
	char bytes[512 + TP_JSON_WALK_SLACK] = {0};
	struct tp_json_slice object = {bytes, strlen(text), TP_JSON_SLICE_OBJECT, false};
	ck_assert_uint_lt(object.len, 512);
	memcpy(bytes, text, object.len);
	tp_rocprof_record_read(&record, &object);
	return record;
}

START_TEST(members_of_inner_objects_are_the_records)
{
	struct tp_rocprof_record record = record_of(
		"{\"kind\":11,\"operation\":2,\"thread_id\":908,\"correlation_id\":{\"internal\":7,"
		"\"external\":{\"value\":9}},\"start_timestamp\":63857982592000,\"dispatch_info\":{"
		"\"agent_id\":{\"handle\":37946},\"kernel_id\":8,\"workgroup_size\":{\"x\":512,"
		"\"y\":2,\"z\":1},\"grid_size\":{\"x\":2048,\"y\":4,\"z\":1}},\"stream_id\":{"
		"\"handle\":3},\"end_timestamp\":63857982594840}");
	ck_assert_int_eq(record.kind, 11);
	ck_assert_int_eq(record.thread, 908);
	ck_assert_int_eq(record.correlation, 7);
	ck_assert_int_eq(record.agent, 37946);
	ck_assert_int_eq(record.kernel, 8);
	ck_assert_int_eq(record.end_ns - record.start_ns, 2840);
	ck_assert_uint_eq(record.n_threads, 1024);
	ck_assert_uint_eq(record.n_items, 8192);
	ck_assert_int_eq(record.queue, -1);
}
END_TEST

START_TEST(a_handle_may_be_a_plain_number)
{
	struct tp_rocprof_record record =
		record_of("{\"agent_id\": 5, \"queue_id\": {\"handle\": \"6\"} , }");
	ck_assert_int_eq(record.agent, 5);
	ck_assert_int_eq(record.queue, 6);
}
END_TEST

/* Objects that are nested deeper than records ever are, lists, and volumes that do not fit. */
START_TEST(what_makes_no_sense_ends_nothing)
{
	struct tp_rocprof_record record = record_of(
		"{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":{\"kind\":1}}}}},\"list\":[{\"kind\":2}],,"
		"\"grid_size\":{\"x\":4294967295,\"y\":4294967295,\"z\":9},"
		"\"workgroup_size\":{\"x\":-1},\"kind\":\"x\",\"bytes\":99999999999999999999,"
		"\"thread_id\":4}");
	ck_assert_int_eq(record.kind, -1);
	ck_assert_int_eq(record.bytes, -1);
	ck_assert_uint_eq(record.n_items, 0);
	ck_assert_uint_eq(record.n_threads, 0);
	ck_assert_int_eq(record.thread, 4);
}
END_TEST

Suite *suite_import_rocprof_record(void);
Suite *suite_import_rocprof_record(void)
{
	Suite *suite = suite_create("import/rocprof_record");
	TCase *tcase = tcase_create("records");
	tcase_add_test(tcase, members_of_inner_objects_are_the_records);
	tcase_add_test(tcase, a_handle_may_be_a_plain_number);
	tcase_add_test(tcase, what_makes_no_sense_ends_nothing);
	suite_add_tcase(suite, tcase);
	return suite;
}
