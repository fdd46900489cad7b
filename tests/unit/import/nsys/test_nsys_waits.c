/* SPDX-License-Identifier: Apache-2.0 */
/* Tests waits for the device that have a table of their own. */
#include "import/nsys/nsys_waits.h"

#include "import/nsys_scene.h"

#include <check.h>
#include <string.h>

/* As in exports of 2026, without the unused columns. */
#define SCHEMA_WAITS                                                                               \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT NULL, end INTEGER "   \
	"NOT NULL, deviceId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, "  \
	"globalPid INTEGER, deprecatedSyncType INTEGER, syncType INTEGER NOT NULL);"
/* Process 1, thread 6; a synchronizing call, and a copy that waits as well. */
#define CALLS                                                                                      \
	SCHEMA_STRINGS SCHEMA_CALLS SCHEMA_WAITS                                                   \
		"INSERT INTO StringIds VALUES (1, 'cudaStreamSynchronize_v3020'), (2, "            \
		"'cudaMemcpyAsync_v3020'), (3, 'cudaStreamWaitEvent_v3020');"                      \
		"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES "                                  \
		"(10, 50, 0, 281475060596742, 5, 1, 0, NULL), "                                    \
		"(60, 99, 0, 281475060596742, 6, 2, 0, NULL), "                                    \
		"(100, 101, 0, 281475060596742, 7, 3, 0, NULL);"
#define WAIT "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES "

static const struct {
	const char *row;
	const char *name; /* name of the additional span; NULL = none */
	int64_t thread;
	uint64_t start_ns;
	uint64_t n_skipped;
} waits[] = {
	/* The call is a wait itself. */
	{"(12, 49, 0, 7, 5, 281475060596736, NULL, 3)", NULL, 0, 0, 0},
	/* The call is not. */
	{"(70, 98, 0, 7, 6, 281475060596736, NULL, 3)", "StreamSynchronize", 6, 70, 0},
	{"(70, 98, 0, 7, 6, 281475060596736, NULL, 1)", "EventSynchronize", 6, 70, 0},
	{"(70, 98, 0, 7, 6, 281475060596736, NULL, 4)", "ContextSynchronize", 6, 70, 0},
	{"(70, 98, 0, 7, 6, NULL, NULL, 4)", "ContextSynchronize", 6, 70, 0},
	/* A stream waits, not a thread. */
	{"(100, 101, 0, 7, 7, 281475060596736, NULL, 2)", NULL, 0, 0, 0},
	{"(70, 98, 0, 7, 6, 281475060596736, NULL, 0)", NULL, 0, 0, 0},
	{"(70, 98, 0, 7, 6, 281475060596736, 3, 'x')", NULL, 0, 0, 0},
	/* No known call. */
	{"(200, 210, 0, 7, 99, 281475060596736, NULL, 3)", "StreamSynchronize", 0, 200, 0},
	{"(200, 210, 0, 7, NULL, 281475060596736, NULL, 3)", "StreamSynchronize", 0, 200, 0},
	/* Another process, which is not a rank. */
	{"(200, 210, 0, 7, 5, 281475077373952, NULL, 3)", NULL, 0, 0, 0},
	/* Invalid times. */
	{"(98, 70, 0, 7, 6, 281475060596736, NULL, 3)", NULL, 0, 0, 1},
	{"(-5, 70, 0, 7, 6, 281475060596736, NULL, 3)", NULL, 0, 0, 1},
	{"('a', 70, 0, 7, 6, 281475060596736, NULL, 3)", NULL, 0, 0, 1},
	{"(70, 9223372036854775807, 0, 7, 6, 281475060596736, NULL, 3)", NULL, 0, 0, 1},
};

START_TEST(a_wait_that_no_call_tells_is_a_span_of_its_thread)
{
	enum { N_CALLS = 3 };
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(&scene, nsys_file_make("%s" WAIT "%s;", CALLS, waits[_i].row));
	ck_assert_msg(!scene.status, "%s", scene.err.text);
	bool is_told = waits[_i].name != NULL;
	const struct tp_rank_info *rank = &scene.result.ranks[0];
	ck_assert_uint_eq(nsys_scene_count(&scene, TP_SPAN_CALL), N_CALLS + is_told);
	ck_assert_uint_eq(rank->n_skipped, waits[_i].n_skipped);
	ck_assert_uint_eq(rank->n_events, N_CALLS + is_told + waits[_i].n_skipped);
	for (size_t i = 0; is_told && i <= N_CALLS; i++) {
		const struct tp_span *span = nsys_scene_span(&scene, TP_SPAN_CALL, i);
		if (span->start_ns != waits[_i].start_ns)
			continue;
		ck_assert_str_eq(nsys_scene_name(&scene, span), waits[_i].name);
		ck_assert_int_eq(nsys_scene_track(&scene, span)->number, waits[_i].thread);
		ck_assert_uint_eq(span->link, 0);
		is_told = false;
	}
	ck_assert(!is_told);
	nsys_scene_release(&scene);
}
END_TEST

START_TEST(waits_of_early_exports_have_their_type_elsewhere)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(&scene,
			  nsys_file_make(SCHEMA_KERNEL SCHEMA_CALLS
					 "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION "
					 "(start, end, correlationId, deprecatedSyncType);"
					 "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (60, 99, "
					 "0, 281475060596742, 6, 2, 0, NULL);" WAIT
					 "(70, 98, 6, 3);"));
	ck_assert_msg(!scene.status, "%s", scene.err.text);
	ck_assert_uint_eq(nsys_scene_count(&scene, TP_SPAN_CALL), 2);
	ck_assert_str_eq(nsys_scene_name(&scene, nsys_scene_span(&scene, TP_SPAN_CALL, 1)),
			 "StreamSynchronize");
	nsys_scene_release(&scene);
}
END_TEST

Suite *suite_import_nsys_waits(void);
Suite *suite_import_nsys_waits(void)
{
	Suite *suite = suite_create("import/nsys_waits");
	TCase *tc = tcase_create("waits");
	tcase_add_loop_test(tc, a_wait_that_no_call_tells_is_a_span_of_its_thread, 0,
			    (int)(sizeof(waits) / sizeof(waits[0])));
	tcase_add_test(tc, waits_of_early_exports_have_their_type_elsewhere);
	suite_add_tcase(suite, tc);
	return suite;
}
