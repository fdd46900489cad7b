/* SPDX-License-Identifier: Apache-2.0 */
/* Tests XSpaces as a whole: a rank, its devices, and the remains of a damaged file. */
#include "xspace.h"

#include <stdlib.h>

static void put_hostname(struct tp_buf *space)
{
	put_text(space, 4, "node-7");
}

START_TEST(work_of_a_gpu_becomes_kernels_and_copies)
{
	struct tp_buf space = {0};
	struct imported in;
	put_gpu(&space);
	put_hostname(&space);
	import_space(&in, &space);
	ck_assert_msg(!in.status, "%s", in.err.text);
	ck_assert_uint_eq(in.n_spans, 2); /* the line that sums it up is left out */
	size_t kernel = place_of(&in, "fusion_12");
	ck_assert_uint_eq(in.spans[kernel].start_ns, 3000);
	ck_assert_uint_eq(in.spans[kernel].end_ns, 8001); /* each end is rounded down */
	ck_assert_uint_eq(in.spans[kernel].kind, TP_SPAN_KERNEL);
	ck_assert_uint_eq(in.spans[kernel].link, 9);
	ck_assert_int_eq(imported_track(&in, kernel)->device, 2);
	ck_assert_int_eq(imported_track(&in, kernel)->number, 17);
	ck_assert_uint_eq(imported_detail(&in, kernel).blocks, 320);
	ck_assert_uint_eq(imported_detail(&in, kernel).threads, 128);
	size_t copy = place_of(&in, "Memcpy HtoD");
	ck_assert_uint_eq(in.spans[copy].kind, TP_SPAN_COPY);
	ck_assert_uint_eq(imported_detail(&in, copy).bytes, 112);
	const struct tp_rank_info *rank = &in.result.ranks[0];
	ck_assert_str_eq(rank->format, "xprof");
	ck_assert_str_eq(rank->host, "node-7");
	ck_assert_uint_eq(rank->n_devices, 1);
	ck_assert_int_eq(rank->devices[0].number, 2);
	ck_assert_str_eq(rank->devices[0].name, "Nvidia GPU");
	imported_release(&in);
}
END_TEST

START_TEST(a_cut_file_is_read_as_far_as_it_goes)
{
	struct tp_buf space = {0};
	put_host(&space);
	size_t plane_end = space.len; /* a file that ends there is complete */
	put_gpu(&space);
	struct imported in;
	imported_bytes(&in, tp_buf_text(&space), space.len, NULL);
	size_t n_whole = in.n_spans;
	imported_release(&in);
	for (size_t len = 4; len < space.len; len++) {
		imported_bytes(&in, tp_buf_text(&space), len, NULL);
		ck_assert_uint_le(in.n_spans, n_whole);
		ck_assert(in.status || len == plane_end || in.result.ranks[0].is_cut);
		imported_release(&in);
	}
	tp_buf_release(&space);
}
END_TEST

/* pprof and Perfetto begin with the same byte; texts are not searched for names of planes. */
START_TEST(other_messages_are_not_taken_for_an_xspace)
{
	static const struct {
		const char *bytes;
		const char *text;
	} others[] = {
		{"\x0a\x06\x08\x01\x10\x02\x18\x03\x12\x04\x08\x03\x10\x04 /host:CPU", "pprof"},
		{"\x0a\x14\x08\x05\xe2\x03\x0f/host:CPU /device", "Perfetto"},
		/* A plane in which a converter has replaced the bytes that are no text. */
		{"\x0a\xef\xbf\xbd\x08\x01\x12\x0d/device:GPU:0", "copied as text"},
		{"\x0a\x30\x08\x01\x12\x0d/device:GPU:0\x1a\x1f\xef\xbf\xbd\xef\xbf\xbd",
		 "copied as text"},
	};
	for (size_t i = 0; i < TP_ARRAY_LEN(others); i++) {
		struct imported in;
		imported_bytes(&in, others[i].bytes, strlen(others[i].bytes), NULL);
		ck_assert_int_eq(in.status, TP_PARSE);
		ck_assert_ptr_nonnull(strstr(in.err.text, others[i].text));
		imported_release(&in);
	}
}
END_TEST

Suite *suite_import_xprof(void);
Suite *suite_import_xprof(void)
{
	Suite *suite = suite_create("import/xprof");
	TCase *tcase = tcase_create("spaces");
	tcase_add_test(tcase, work_of_a_gpu_becomes_kernels_and_copies);
	tcase_add_test(tcase, a_cut_file_is_read_as_far_as_it_goes);
	tcase_add_test(tcase, other_messages_are_not_taken_for_an_xspace);
	suite_add_tcase(suite, tcase);
	return suite;
}
