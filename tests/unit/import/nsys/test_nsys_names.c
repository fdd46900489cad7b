/* SPDX-License-Identifier: Apache-2.0 */
/* Tests names: from numbers or texts, few or many, damaged or missing. */
#include "import/nsys/nsys_names.h"

#include "import/nsys_scene.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* One kernel each; the column of the name accepts anything. */
#define SCHEMA                                                                                     \
	SCHEMA_STRINGS                                                                             \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, globalPid, "     \
	"demangledName, shortName);"

static void make(const char *strings, const char *names)
{
	nsys_file_make(SCHEMA "%sINSERT INTO CUPTI_ACTIVITY_KIND_KERNEL %s;", strings, names);
}

START_TEST(a_thousand_names_stay_a_thousand)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	make("INSERT INTO StringIds WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n "
	     "WHERE i < 999) SELECT 7000000000 * i, 'kernel ' || i FROM n;",
	     "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1999) "
	     "SELECT "
	     "i, i + 1, 0, 7, 281475060596736, 7000000000 * (i % 1000), 0 FROM n");
	nsys_scene_import(&scene, nsys_file_path());
	ck_assert_uint_eq(scene.result.ranks[0].n_kept, 2000);
	ck_assert_uint_eq(scene.trace.n_tracks, 1);
	for (size_t i = 0; i < 2000; i++) {
		char name[32];
		snprintf(name, sizeof(name), "kernel %zu", i % 1000);
		ck_assert_str_eq(nsys_scene_name(&scene, &scene.trace.spans[0].items[i]), name);
	}
	nsys_scene_release(&scene);
}
END_TEST

static const struct {
	const char *strings, *row, *name;
} names[] = {
	{"INSERT INTO StringIds VALUES (1, 'long<int>'), (2, 'short');", "1, 2", "long<int>"},
	{"INSERT INTO StringIds VALUES (1, 'long<int>'), (2, 'short');", "NULL, 2", "short"},
	{"", "42, 2", "string 42"},
	{"", "-1, 2", "string -1"},
	{"", "NULL, NULL", ""},
	{"", "1.5, NULL", ""},
	{"", "'as it is_v7000, op_id = 1', 2", "as it is_v7000, op_id = 1"},
	{"INSERT INTO StringIds VALUES (1, '');", "1, 2", ""},
	/* é in Latin-1, a surrogate, an overlong sequence: none is UTF-8 */
	{"INSERT INTO StringIds VALUES (1, CAST(x'63e9c3a9' AS TEXT));", "1, 2",
	 "c\xef\xbf\xbd\xc3\xa9"},
	{"INSERT INTO StringIds VALUES (1, CAST(x'61c0' AS TEXT));", "1, 2", "a\xef\xbf\xbd"},
	{"", "CAST(x'ff6b' AS TEXT), 2", "\xef\xbf\xbdk"},
	/* bytes after a NUL are not part of a name */
	{"INSERT INTO StringIds VALUES (1, CAST(x'61620063' AS TEXT));", "1, 2", "ab"},
	{"INSERT INTO StringIds VALUES (1, x'6162');", "1, 2", "string 1"},
};

START_TEST(any_cell_gives_a_name)
{
	char sql[200];
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	snprintf(sql, sizeof(sql), "VALUES (1, 2, 0, 7, 281475060596736, %s)", names[_i].row);
	make(names[_i].strings, sql);
	nsys_scene_import(&scene, nsys_file_path());
	ck_assert_msg(!scene.status, "%s", scene.err.text);
	ck_assert_str_eq(nsys_scene_name(&scene, nsys_scene_span(&scene, TP_SPAN_KERNEL, 0)),
			 names[_i].name);
	nsys_scene_release(&scene);
}
END_TEST

START_TEST(a_string_may_name_several_things)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(
		&scene,
		nsys_file_make("%s", SCHEMA_STRINGS SCHEMA_CALLS SCHEMA_RANGES SCHEMA_KERNEL
			       "INSERT INTO StringIds VALUES (1, 'aten::f, op_id = 5_v7');"
			       "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 1, 7, 5, "
			       "281475060596736, 1, 1, NULL, 1, 1, 1, 1, 1, 1, NULL);"
			       "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 20, 0, "
			       "281475060596742, 9, 1, 0, NULL);"
			       "INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, textId) "
			       "VALUES (10, 20, 59, 281475060596742, 1), (30, 40, 59, "
			       "281475060596742, 1);"));
	ck_assert_str_eq(nsys_scene_name(&scene, nsys_scene_span(&scene, TP_SPAN_KERNEL, 0)),
			 "aten::f, op_id = 5_v7");
	ck_assert_str_eq(nsys_scene_name(&scene, nsys_scene_span(&scene, TP_SPAN_CALL, 0)),
			 "aten::f, op_id = 5");
	ck_assert_uint_eq(nsys_scene_count(&scene, TP_SPAN_OPERATOR), 2);
	ck_assert_str_eq(nsys_scene_name(&scene, nsys_scene_span(&scene, TP_SPAN_OPERATOR, 1)),
			 "aten::f");
	nsys_scene_release(&scene);
}
END_TEST

START_TEST(names_without_end_are_cut)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	make("INSERT INTO StringIds VALUES (1, replace(hex(zeroblob(100000)), '00', 'abc'));",
	     "VALUES (1, 2, 0, 7, 281475060596736, 1, NULL)");
	nsys_scene_import(&scene, nsys_file_path());
	const char *name = nsys_scene_name(&scene, nsys_scene_span(&scene, TP_SPAN_KERNEL, 0));
	ck_assert_uint_eq(strlen(name), 65535);
	nsys_scene_release(&scene);
}
END_TEST

START_TEST(databases_in_utf16_are_read)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(&scene,
			  nsys_file_make("PRAGMA encoding = 'UTF-16le';" SCHEMA
					 "INSERT INTO StringIds VALUES (1, 'k\xc3\xa9rnel');"
					 "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, "
					 "0, 7, 281475060596736, 1, NULL);"));
	ck_assert_str_eq(nsys_scene_name(&scene, nsys_scene_span(&scene, TP_SPAN_KERNEL, 0)),
			 "k\xc3\xa9rnel");
	nsys_scene_release(&scene);
}
END_TEST

Suite *suite_import_nsys_names(void);
Suite *suite_import_nsys_names(void)
{
	Suite *suite = suite_create("import/nsys_names");
	TCase *tc = tcase_create("names");
	tcase_add_test(tc, a_thousand_names_stay_a_thousand);
	tcase_add_loop_test(tc, any_cell_gives_a_name, 0, (int)(sizeof(names) / sizeof(names[0])));
	tcase_add_test(tc, a_string_may_name_several_things);
	tcase_add_test(tc, names_without_end_are_cut);
	tcase_add_test(tc, databases_in_utf16_are_read);
	suite_add_tcase(suite, tc);
	return suite;
}
