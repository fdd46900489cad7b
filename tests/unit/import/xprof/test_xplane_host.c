/* SPDX-License-Identifier: Apache-2.0 */
/* Tests threads in an XSpace: steps, calls, operators, Python, and waits for a batch. */
#include "xspace.h"

#include <stdlib.h>

START_TEST(an_event_of_the_host_is_what_only_its_kind_has)
{
	struct tp_buf space = {0};
	struct imported in;
	put_host(&space);
	import_space(&in, &space);
	ck_assert_msg(!in.status, "%s", in.err.text);
	ck_assert_int_eq(in.result.ranks[0].pid, 4711);
	ck_assert_uint_eq(in.spans[place_of(&in, "step 41")].kind, TP_SPAN_ANNOTATION);
	size_t python = place_of(&in, "train.py(12): main");
	ck_assert_uint_eq(in.spans[python].kind, TP_SPAN_PYTHON);
	ck_assert(!has_span(&in, "train.py(40): batch")); /* not the outermost */
	ck_assert(!has_span(&in, "MemoryAllocation"));
	size_t call = place_of(&in, "cuLaunchKernel");
	ck_assert_uint_eq(in.spans[call].kind, TP_SPAN_CALL);
	ck_assert_uint_eq(in.spans[call].link, 9);
	ck_assert_uint_eq(in.spans[place_of(&in, "dot.3")].kind, TP_SPAN_OPERATOR);
	/* On a thread of tf.data it prepares a batch. */
	for (size_t i = 0; i < in.n_spans; i++)
		if (strcmp(imported_name(&in, i), "dense/MatMul:MatMul") == 0)
			ck_assert_int_eq(in.spans[i].kind == TP_SPAN_OPERATOR,
					 imported_track(&in, i)->number == 80);
	/* The trainer's thread waits while another one fetches its batch. */
	size_t fetch = place_of(&in, "IteratorGetNextOp::DoCompute");
	ck_assert_int_eq(imported_track(&in, fetch)->number, 77);
	ck_assert_int_eq(imported_track(&in, place_of(&in, "Iterator::Root"))->number, 78);
	imported_release(&in);
}
END_TEST

START_TEST(all_python_functions_are_kept_when_asked_for)
{
	static const struct tp_import_options options = {.keeps_python = true};
	struct tp_buf space = {0};
	struct imported in;
	put_host(&space);
	imported_bytes(&in, tp_buf_text(&space), space.len, &options);
	tp_buf_release(&space);
	ck_assert(has_span(&in, "train.py(40): batch"));
	imported_release(&in);
}
END_TEST

static struct tp_span region_of(const struct imported *in, int64_t thread, size_t *n)
{
	struct tp_span found = {0};
	*n = 0;
	for (size_t i = 0; i < in->n_spans; i++)
		if (imported_track(in, i)->number == thread &&
		    strcmp(imported_name(in, i), "XLA thread pool") == 0) {
			found = in->spans[i];
			++*n;
		}
	return found;
}

START_TEST(work_of_xlas_threads_lies_between_their_marks)
{
	struct tp_buf space = {0};
	struct imported in;
	size_t n;
	put_pools(&space);
	import_space(&in, &space);
	ck_assert_msg(!in.status, "%s", in.err.text);
	struct tp_span region = region_of(&in, 91, &n);
	ck_assert_uint_eq(n, 1); /* an end without a begin and a begin without an end are none */
	ck_assert_uint_eq(region.kind, TP_SPAN_OPERATOR);
	ck_assert_uint_eq(region.start_ns, 5300);
	ck_assert_uint_eq(region.end_ns, 5900);
	/* Other pools prepare batches, too. */
	(void)region_of(&in, 92, &n);
	ck_assert_uint_eq(n, 0);
	imported_release(&in);
}
END_TEST

Suite *suite_import_xplane_host(void);
Suite *suite_import_xplane_host(void)
{
	Suite *suite = suite_create("import/xplane_host");
	TCase *tcase = tcase_create("spaces");
	tcase_add_test(tcase, an_event_of_the_host_is_what_only_its_kind_has);
	tcase_add_test(tcase, work_of_xlas_threads_lies_between_their_marks);
	tcase_add_test(tcase, all_python_functions_are_kept_when_asked_for);
	suite_add_tcase(suite, tcase);
	return suite;
}
