/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the tables, lines and events of a plane. */
#include "xspace.h"

#include <stdlib.h>

START_TEST(times_beyond_all_measure_and_sums_are_counted)
{
	struct tp_buf space = {0};
	struct tp_buf plane = {0};
	struct tp_buf line = {0};
	struct tp_buf event = {0};
	struct imported in;
	put_text(&plane, 2, "/device:GPU:0");
	put_line_head(&line, 1, "Stream #1", 5);
	put_event(&line, 1, UINT64_MAX, 10000, NULL);
	put_event(&line, 1, INT64_MAX, INT64_MAX, NULL);
	put_number(&event, 1, 1);
	put_number(&event, 5, 12); /* occurrences */
	put_message(&line, 4, &event);
	put_event(&line, 1, 0, 10000, NULL);
	put_event(&line, 2, 0, 10000, NULL); /* not in the table of names */
	put_message(&plane, 3, &line);
	put_name(&plane, 4, 1, "gemm", NULL);
	put_message(&space, 1, &plane);
	import_space(&in, &space);
	ck_assert_msg(!in.status, "%s", in.err.text);
	ck_assert_uint_eq(in.result.ranks[0].n_events, 5);
	ck_assert_uint_eq(in.result.ranks[0].n_kept, 2);
	ck_assert_uint_eq(in.result.ranks[0].n_skipped, 3);
	imported_release(&in);
}
END_TEST

Suite *suite_import_xplane(void);
Suite *suite_import_xplane(void)
{
	Suite *suite = suite_create("import/xplane");
	TCase *tcase = tcase_create("spaces");
	tcase_add_test(tcase, times_beyond_all_measure_and_sums_are_counted);
	suite_add_tcase(suite, tcase);
	return suite;
}
