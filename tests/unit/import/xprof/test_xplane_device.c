/* SPDX-License-Identifier: Apache-2.0 */
/* Tests devices in an XSpace: GPUs by streams, TPUs by the innermost operation. */
#include "xspace.h"

#include <stdlib.h>

/* A loop of 0 to 10 us contains a copy from 1 to 4 and an all-reduce from 6 to 7: the rest is the
 * loop's own. */
START_TEST(a_tpu_does_what_the_innermost_operation_does)
{
	struct tp_buf space = {0};
	struct tp_buf plane = {0};
	struct tp_buf line = {0};
	struct tp_buf stats = {0};
	struct imported in;
	put_text(&plane, 2, "/device:TPU:0");
	put_line_head(&line, 1, "XLA Ops", 0);
	put_event(&line, 2, 1000000, 3000000, NULL);
	put_event(&line, 1, 0, 10000000, NULL);
	put_event(&line, 3, 6000000, 1000000, NULL);
	put_message(&plane, 3, &line);
	put_line_head(&line, 2, "Async XLA Ops", 0);
	put_event(&line, 2, 0, 10000000, NULL);
	put_message(&plane, 3, &line);
	put_name(&plane, 4, 1, "while.1", NULL);
	put_stat(&stats, 5, STAT_CATEGORY, "copy-done", 0);
	put_name(&plane, 4, 2, "copy-done.7", &stats);
	put_stat(&stats, 5, STAT_CATEGORY, "all-reduce fusion", 0);
	put_name(&plane, 4, 3, "fusion.9", &stats);
	put_stat_names(&plane);
	put_message(&space, 1, &plane);
	import_space(&in, &space);
	ck_assert_msg(!in.status, "%s", in.err.text);
	uint64_t loop_ns = 0;
	for (size_t i = 0; i < in.n_spans; i++)
		if (strcmp(imported_name(&in, i), "while.1") == 0)
			loop_ns += in.spans[i].end_ns - in.spans[i].start_ns;
	ck_assert_uint_eq(loop_ns, 6000);
	size_t copy = place_of(&in, "copy-done.7");
	ck_assert_uint_eq(in.spans[copy].kind, TP_SPAN_COPY);
	ck_assert_uint_eq(in.spans[copy].start_ns, 1000);
	ck_assert_uint_eq(in.spans[copy].end_ns, 4000);
	ck_assert_uint_eq(in.spans[place_of(&in, "all-reduce")].kind, TP_SPAN_KERNEL);
	ck_assert_uint_eq(in.n_spans, 5); /* three pieces of the loop */
	imported_release(&in);
}
END_TEST

Suite *suite_import_xplane_device(void);
Suite *suite_import_xplane_device(void)
{
	Suite *suite = suite_create("import/xplane_device");
	TCase *tcase = tcase_create("spaces");
	tcase_add_test(tcase, a_tpu_does_what_the_innermost_operation_does);
	suite_add_tcase(suite, tcase);
	return suite;
}
