/* SPDX-License-Identifier: Apache-2.0 */
/* Tests rows: which are spans, which are skipped and why. */
#include "import/nsys/nsys_tables.h"

#include "import/nsys_scene.h"

#include <check.h>
#include <string.h>

#define N(array) (int)(sizeof(array) / sizeof((array)[0]))
/* Columns without types, so that they can contain anything. */
#define LOOSE                                                                                      \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, " \
	"globalPid, name, gridX, gridY, gridZ, blockX, blockY, blockZ);"
#define KERNEL      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
#define KERNEL_GOOD "(10, 20, 0, 7, 1, 281475060596736, 'good', 2, 3, 4, 5, 6, 7)"

static const struct {
	const char *row;
	const char *because; /* NULL = a span */
} kernels[] = {
	{"(30, 40, 0, 7, 1, 281475060596736, 'k', 1, 1, 1, 1, 1, 1)", NULL},
	{"(30, 30, 0, 7, 1, 281475060596736, 'k', 1, 1, 1, 1, 1, 1)", NULL},
	{"(0, 1, 0, NULL, NULL, 281475060596736, NULL, NULL, -1, 1, 'a', 1, 1)", NULL},
	{"(30, 29, 0, 7, 1, 281475060596736, 'k', 1, 1, 1, 1, 1, 1)",
	 "an event ends before it starts"},
	{"(30, NULL, 0, 7, 1, 281475060596736, 'k', 1, 1, 1, 1, 1, 1)", "an event has no end"},
	{"(NULL, 30, 0, 7, 1, 281475060596736, 'k', 1, 1, 1, 1, 1, 1)", "an event has no start"},
	{"('30', 40, 0, 7, 1, 281475060596736, 'k', 1, 1, 1, 1, 1, 1)", "an event has no start"},
	{"(30, 40.5, 0, 7, 1, 281475060596736, 'k', 1, 1, 1, 1, 1, 1)", "an event has no end"},
	{"(30, x'28', 0, 7, 1, 281475060596736, 'k', 1, 1, 1, 1, 1, 1)", "an event has no end"},
	{"(0, 0, 0, 7, 1, 281475060596736, 'k', 1, 1, 1, 1, 1, 1)", "device work has no times"},
	{"(30, 40, NULL, 7, 1, 281475060596736, 'k', 1, 1, 1, 1, 1, 1)",
	 "device work has no device"},
	{"(30, 40, -1, 7, 1, 281475060596736, 'k', 1, 1, 1, 1, 1, 1)", "device work has no device"},
	{"(30, 40, 4294967296, 7, 1, 281475060596736, 'k', 1, 1, 1, 1, 1, 1)",
	 "device work has no device"},
	{"(30, 40, 0, -7, 1, 281475060596736, 'k', 1, 1, 1, 1, 1, 1)", "device work has no stream"},
	{"(30, 40, 0, 4294967296, 1, 281475060596736, 'k', 1, 1, 1, 1, 1, 1)",
	 "device work has no stream"},
	{"(-9223372036854775808, 40, 0, 7, 1, 281475060596736, 'k', 1, 1, 1, 1, 1, 1)",
	 "an event has a time that cannot be"},
	{"(30, 9223372036854775807, 0, 7, 1, 281475060596736, 'k', 1, 1, 1, 1, 1, 1)",
	 "an event has a time that cannot be"},
};

START_TEST(rows_that_make_no_sense_are_skipped_and_counted)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(&scene,
			  nsys_file_make(LOOSE KERNEL "%s," KERNEL_GOOD ";", kernels[_i].row));
	ck_assert_msg(!scene.status, "%s", scene.err.text);
	const struct tp_rank_info *rank = &scene.result.ranks[0];
	ck_assert_uint_eq(rank->n_events, 2);
	ck_assert_uint_eq(rank->n_kept, kernels[_i].because ? 1 : 2);
	ck_assert_uint_eq(rank->n_skipped, kernels[_i].because ? 1 : 0);
	if (kernels[_i].because)
		ck_assert_str_eq(rank->skipped_because, kernels[_i].because);
	else
		ck_assert_ptr_null(rank->skipped_because);
	ck_assert(!rank->is_cut);
	nsys_scene_release(&scene);
}
END_TEST

static const struct {
	const char *dimensions;
	uint64_t blocks;
	uint32_t threads;
} shapes[] = {
	{"2, 3, 4, 5, 6, 7", 24, 210},
	{"2147483647, 65535, 65535, 1024, 1, 1", UINT64_C(2147483647) * 65535 * 65535, 1024},
	{"2147483647, 2147483647, 2147483647, 2147483647, 2, 2", 0, 0},
	{"0, 1, 1, 1, 1, 1", 0, 1},
	{"1, 1, 1, 2147483647, 2, 1", 1, 4294967294},
	{"1, 1, 1, NULL, 'x', 1", 1, 0},
};

START_TEST(grids_and_blocks_multiply_without_overflow)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(&scene,
			  nsys_file_make(LOOSE KERNEL "(1, 2, 0, 7, 1, 281475060596736, 'k', %s);",
					 shapes[_i].dimensions));
	const struct tp_span *span = nsys_scene_span(&scene, TP_SPAN_KERNEL, 0);
	const struct tp_detail *detail = &scene.trace.details[span->detail];
	ck_assert_uint_eq(detail->blocks, shapes[_i].blocks);
	ck_assert_uint_eq(detail->threads, shapes[_i].threads);
	ck_assert_uint_eq(detail->bytes, 0);
	nsys_scene_release(&scene);
}
END_TEST

START_TEST(copies_and_fills_tell_their_bytes)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(
		&scene,
		nsys_file_make("%s", SCHEMA_COPY SCHEMA_SET
			       "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (10, 20, 0, 1, 7, 1, "
			       "281475060596736, 4096, 2, 2, 0), (30, 40, 1, 1, 8, 1, "
			       "281475060596736, -1, 10, NULL, 2);"
			       "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (50, 60, 0, 1, 7, 1, "
			       "281475060596736, 0, 512, NULL, 2);"));
	const struct tp_span *copy = nsys_scene_span(&scene, TP_SPAN_COPY, 0);
	ck_assert_str_eq(nsys_scene_name(&scene, copy), "Memcpy DtoH (Device -> Pageable)");
	ck_assert_uint_eq(scene.trace.details[copy->detail].bytes, 4096);
	copy = nsys_scene_span(&scene, TP_SPAN_COPY, 1);
	ck_assert_str_eq(nsys_scene_name(&scene, copy), "Memcpy PtoP (Unknown -> Device)");
	ck_assert_uint_eq(copy->detail, 0);
	ck_assert_int_eq(nsys_scene_track(&scene, copy)->device, 1);
	const struct tp_span *set = nsys_scene_span(&scene, TP_SPAN_SET, 0);
	ck_assert_str_eq(nsys_scene_name(&scene, set), "Memset (Device)");
	ck_assert_uint_eq(scene.trace.details[set->detail].bytes, 512);
	nsys_scene_release(&scene);
}
END_TEST

START_TEST(a_graph_is_a_kernel_when_its_own_are_not_recorded)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(
		&scene,
		nsys_file_make("%s", SCHEMA_KERNEL SCHEMA_GRAPH
			       "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 1, 7, 5, "
			       "281475060596736, 1, 1, NULL, 1, 1, 1, 1, 1, 1, 77);"
			       /* one with a known kernel, one of another process, one unknown */
			       "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES "
			       "(5, 25, 0, 1, 7, 5, 281475060596736, 1, 1),"
			       "(30, 40, 0, 1, 7, 5, 281475077373952, 1, 1),"
			       "(50, 60, 0, 1, 8, 6, 281475060596736, 2, 2),"
			       "(70, 0, 0, 1, 8, 7, 281475060596736, 2, 2),"
			       "(80, 90, 0, 1, 8, NULL, 281475060596736, 2, 2);"));
	ck_assert_uint_eq(nsys_scene_count(&scene, TP_SPAN_KERNEL), 4);
	ck_assert_uint_eq(nsys_scene_span(&scene, TP_SPAN_KERNEL, 0)->start_ns, 10);
	for (size_t i = 1; i < 4; i++)
		ck_assert_str_eq(nsys_scene_name(&scene,
						 nsys_scene_span(&scene, TP_SPAN_KERNEL, i)),
				 "CUDA graph");
	ck_assert_uint_eq(nsys_scene_span(&scene, TP_SPAN_KERNEL, 2)->link, 6);
	ck_assert_str_eq(scene.result.ranks[0].skipped_because, "an event ends before it starts");
	nsys_scene_release(&scene);
}
END_TEST

START_TEST(only_ranges_of_nvtx_are_spans)
{
	static const char sql[] = SCHEMA_STRINGS SCHEMA_RANGES
		"INSERT INTO StringIds VALUES (4, 'registered');"
		"INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, textId) VALUES "
		"(10, 90, 59, 'outer', 281475060596742, NULL),"
		"(20, 30, 59, 'inner', 281475060596742, NULL),"
		"(40, 50, 59, NULL, 281475060596742, 4),"
		"(55, 65, 60, '', 281475060596742, 4),"
		"(60, NULL, 34, 'a mark', 281475060596742, NULL),"
		"(0, NULL, 75, 'a domain', 281475060596742, NULL),"
		"(70, NULL, 59, 'never closed', 281475060596742, NULL),"
		"(71, 72, 59, NULL, 281475060596742, NULL);";
	static const char *const names[] = {"outer", "inner", "registered", "registered", ""};
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(&scene, nsys_file_make("%s", sql));
	ck_assert_uint_eq(nsys_scene_count(&scene, TP_SPAN_ANNOTATION), N(names));
	for (size_t i = 0; i < N(names); i++)
		ck_assert_str_eq(nsys_scene_name(&scene,
						 nsys_scene_span(&scene, TP_SPAN_ANNOTATION, i)),
				 names[i]);
	ck_assert_uint_eq(scene.result.ranks[0].n_events, 8);
	ck_assert_uint_eq(scene.result.ranks[0].n_skipped, 1);
	ck_assert_str_eq(scene.result.ranks[0].skipped_because, "an event has no end");
	nsys_scene_release(&scene);
}
END_TEST

START_TEST(calls_of_the_system_link_to_nothing)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(
		&scene,
		nsys_file_make("%s", SCHEMA_STRINGS SCHEMA_CALLS SCHEMA_OS_CALLS
			       "INSERT INTO StringIds VALUES (1, 'poll'), (2, 'cudaMalloc');"
			       "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 20, 0, "
			       "281475060596742, 9, 2, 0, NULL);"
			       "INSERT INTO OSRT_API VALUES (30, 40, 27, 281475060596743, 9, "
			       "1);"));
	const struct tp_span *call = nsys_scene_span(&scene, TP_SPAN_OS_CALL, 0);
	ck_assert_str_eq(nsys_scene_name(&scene, call), "poll");
	ck_assert_uint_eq(call->link, 0);
	ck_assert_int_eq(nsys_scene_track(&scene, call)->number, 7);
	ck_assert_uint_eq(nsys_scene_span(&scene, TP_SPAN_CALL, 0)->link, 9);
	nsys_scene_release(&scene);
}
END_TEST

/* A wait for two requests has two rows. */
START_TEST(calls_of_mpi_are_ranges_and_tell_the_rank)
{
	static const char *const names[] = {"MPI_Init", "MPI_Allreduce", "MPI_Isend",
					    "MPI_Waitall"};
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(
		&scene,
		nsys_file_make(
			"%s", SCHEMA_STRINGS
			"CREATE TABLE MPI_P2P_EVENTS (start INTEGER NOT NULL, end INTEGER, "
			"globalTid "
			"INTEGER, textId INTEGER, commHandle INTEGER, tag INTEGER, remoteRank "
			"INTEGER, "
			"size INTEGER, requestHandle INTEGER);"
			"CREATE TABLE MPI_COLLECTIVES_EVENTS (start INTEGER NOT NULL, end INTEGER, "
			"globalTid INTEGER, textId INTEGER, commHandle INTEGER, rootRank INTEGER, "
			"size "
			"INTEGER, recvSize INTEGER, requestHandle INTEGER);"
			"CREATE TABLE MPI_START_WAIT_EVENTS (start INTEGER NOT NULL, end INTEGER, "
			"globalTid INTEGER, textId INTEGER, requestHandle INTEGER);"
			"CREATE TABLE MPI_OTHER_EVENTS (start INTEGER NOT NULL, end INTEGER, "
			"globalTid "
			"INTEGER, textId INTEGER);"
			"CREATE TABLE MPI_RANKS (globalTid INTEGER NOT NULL, rank INTEGER NOT "
			"NULL);"
			"INSERT INTO StringIds VALUES (1, 'MPI_Init'), (2, 'MPI_Allreduce'), (3, "
			"'MPI_Isend'), (4, 'MPI_Waitall');"
			"INSERT INTO MPI_OTHER_EVENTS VALUES (10, 20, 281475060596742, 1);"
			"INSERT INTO MPI_COLLECTIVES_EVENTS VALUES (30, 40, 281475060596742, 2, 0, "
			"0, "
			"8, 8, 0), (50, NULL, 281475060596742, 2, 0, 0, 8, 8, 0);"
			"INSERT INTO MPI_P2P_EVENTS VALUES (60, 62, 281475060596742, 3, 0, 0, 1, "
			"8, 1);"
			"INSERT INTO MPI_START_WAIT_EVENTS VALUES (70, 80, 281475060596742, 4, 1), "
			"(70, "
			"80, 281475060596742, 4, 2);"
			"INSERT INTO MPI_RANKS VALUES (281475060596742, 3), (281475077373958, "
			"4);"));
	ck_assert_msg(!scene.status, "%s", scene.err.text);
	ck_assert_uint_eq(nsys_scene_count(&scene, TP_SPAN_ANNOTATION), N(names) + 1);
	for (size_t i = 0; i < N(names); i++)
		ck_assert_str_eq(nsys_scene_name(&scene,
						 nsys_scene_span(&scene, TP_SPAN_ANNOTATION, i)),
				 names[i]);
	ck_assert_int_eq(scene.result.ranks[0].number, 3);
	ck_assert_uint_eq(scene.result.ranks[0].n_skipped, 1);
	ck_assert_str_eq(scene.result.ranks[0].skipped_because, "an event has no end");
	nsys_scene_release(&scene);
}
END_TEST

START_TEST(more_streams_than_tracks_are_skipped)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(
		&scene,
		nsys_file_make(
			LOOSE KERNEL
			"(1, 2, 0, 0, 1, 281475060596736, 'k', 1, 1, 1, 1, 1, 1);"
			"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL WITH RECURSIVE n(i) AS (SELECT "
			"1 UNION ALL SELECT i + 1 FROM n WHERE i <= %d) SELECT i, i + 1, 0, i, "
			"1, 281475060596736, 'k', 1, 1, 1, 1, 1, 1 FROM n;",
			TP_TRACKS_MAX));
	ck_assert_int_eq(scene.status, TP_OK);
	ck_assert_uint_le(scene.result.ranks[0].n_kept, TP_TRACKS_MAX);
	ck_assert_str_eq(scene.result.ranks[0].skipped_because,
			 "there are too many threads and streams");
	nsys_scene_release(&scene);
}
END_TEST

Suite *suite_import_nsys_tables(void);
Suite *suite_import_nsys_tables(void)
{
	Suite *suite = suite_create("import/nsys_tables");
	TCase *tc = tcase_create("tables");
	tcase_add_loop_test(tc, rows_that_make_no_sense_are_skipped_and_counted, 0, N(kernels));
	tcase_add_loop_test(tc, grids_and_blocks_multiply_without_overflow, 0, N(shapes));
	tcase_add_test(tc, copies_and_fills_tell_their_bytes);
	tcase_add_test(tc, a_graph_is_a_kernel_when_its_own_are_not_recorded);
	tcase_add_test(tc, only_ranges_of_nvtx_are_spans);
	tcase_add_test(tc, calls_of_the_system_link_to_nothing);
	tcase_add_test(tc, calls_of_mpi_are_ranges_and_tell_the_rank);
	tcase_add_test(tc, more_streams_than_tracks_are_skipped);
	suite_add_tcase(suite, tc);
	return suite;
}
