/* SPDX-License-Identifier: Apache-2.0 */
/* Tests records of rocprofv3's JSON. */
#include "import/rocm/rocprof_record.h"

#include "trainprof/base/memory.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads the record with `reader`; *is_whole says whether all of it was read. */
static struct tp_rocprof_record read_with(struct tp_rocprof_records *reader, const char *text,
					  bool *is_whole)
{
	struct tp_rocprof_record record = {.agent = -1, .queue = -1};
	char bytes[512 + TP_JSON_WALK_SLACK] = {0};
	size_t len = strlen(text);
	ck_assert_uint_lt(len, 512);
	memcpy(bytes, text, len + 1);
	const char *after = tp_rocprof_record_read(reader, &record, bytes, bytes + len);
	ck_assert(!after || after == bytes + len);
	*is_whole = after != NULL;
	return record;
}

/* The record once parsed and once remembered, which are the same. */
static struct tp_rocprof_record record_of(const char *text)
{
	struct tp_rocprof_records *reader = tp_alloc(sizeof(*reader));
	bool is_whole;
	struct tp_rocprof_record first = read_with(reader, text, &is_whole);
	struct tp_rocprof_record second = read_with(reader, text, &is_whole);
	ck_assert_mem_eq(first.members, second.members, sizeof(first.members));
	ck_assert_uint_eq(first.n_threads, second.n_threads);
	ck_assert_uint_eq(first.n_items, second.n_items);
	ck_assert(is_whole);
	free(reader);
	return first;
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

/* One reader reads them all, in an order in which each kind of value follows another. */
START_TEST(what_is_remembered_is_what_is_parsed)
{
	static const char *const values[] = {"5",   "{\"handle\":6}", "\"7\"",
					     "[8]", "{\"value\":9}",  "",
					     "-1"};
	struct tp_rocprof_records *shared = tp_alloc(sizeof(*shared));
	for (unsigned i = 0; i < 7 * 7 * 7; i++) {
		struct tp_rocprof_records *own = tp_alloc(sizeof(*own));
		char text[256];
		bool is_whole;
		bool is_whole_again;
		(void)snprintf(text, sizeof(text),
			       "{\"agent_id\":%s,\"dispatch_info\":{\"queue_id\":%s},\"kind\":%s%s",
			       values[i % 7], values[i / 7 % 7], values[i / 49], i % 3 ? "}" : "");
		struct tp_rocprof_record expected = read_with(own, text, &is_whole);
		struct tp_rocprof_record record = read_with(shared, text, &is_whole_again);
		ck_assert(is_whole == is_whole_again);
		ck_assert(is_whole || i % 3 == 0 || strstr(text, ":,") || strstr(text, ":}"));
		ck_assert_mem_eq(record.members, expected.members, sizeof(record.members));
		free(own);
	}
	free(shared);
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
	tcase_add_test(tcase, what_is_remembered_is_what_is_parsed);
	suite_add_tcase(suite, tcase);
	return suite;
}
