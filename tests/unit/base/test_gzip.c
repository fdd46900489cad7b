/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of unpacking gzip data that is complete, truncated or damaged anywhere, or has several
 * members. */
#include "base/gzip.h"
#include "giver.h"
#include "packed.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Unpacks the first `size` bytes in reads of `step`; appends the result to `out`. */
static enum tp_stream_end unpack(struct tp_buf *out, const struct tp_buf *packed, size_t size,
				 size_t step)
{
	struct giver giver = {packed->data, size};
	struct tp_gzip *gzip = tp_gzip_new(give, &giver);
	char *bytes = tp_alloc(step);
	size_t n;
	do {
		n = tp_gzip_read(gzip, bytes, step);
		tp_buf_add(out, bytes, n);
	} while (n == step);
	ck_assert_uint_eq(tp_gzip_read(gzip, bytes, step), 0);
	enum tp_stream_end ending = tp_gzip_ending(gzip);
	tp_gzip_free(gzip);
	free(bytes);
	return ending;
}

static void put_text(struct tp_buf *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		tp_buf_printf(out, "%zu ", i);
}

static void assert_begins(const struct tp_buf *got, const struct tp_buf *wanted)
{
	ck_assert_uint_le(got->len, wanted->len);
	ck_assert(got->len == 0 || memcmp(got->data, wanted->data, got->len) == 0);
}

START_TEST(members_one_after_the_other_are_one_text)
{
	struct tp_buf text = {0};
	struct tp_buf packed = {0};
	put_text(&text, 40000);
	packed_add(&packed, text.data, 1);
	packed_add(&packed, text.data, 0);
	packed_add(&packed, text.data + 1, text.len - 1);
	static const size_t steps[] = {1, 100, 65536, 1 << 20};
	for (size_t i = 0; i < TP_ARRAY_LEN(steps); i++) {
		struct tp_buf got = {0};
		ck_assert_int_eq(unpack(&got, &packed, packed.len, steps[i]), TP_STREAM_WHOLE);
		ck_assert_uint_eq(got.len, text.len);
		assert_begins(&got, &text);
		tp_buf_release(&got);
	}
	tp_buf_release(&text);
	tp_buf_release(&packed);
}
END_TEST

START_TEST(padding_after_the_last_member_is_no_damage)
{
	struct tp_buf packed = {0};
	struct tp_buf got = {0};
	packed_add(&packed, "text", 4);
	tp_buf_pad(&packed, '\0', 700);
	ck_assert_int_eq(unpack(&got, &packed, packed.len, 64), TP_STREAM_WHOLE);
	ck_assert_str_eq(tp_buf_text(&got), "text");
	tp_buf_release(&packed);
	tp_buf_release(&got);
}
END_TEST

START_TEST(data_before_a_cut_is_returned)
{
	struct tp_buf text = {0};
	struct tp_buf packed = {0};
	put_text(&text, 30);
	packed_add(&packed, text.data, text.len);
	for (size_t cut = 0; cut < packed.len; cut++) {
		struct tp_buf got = {0};
		ck_assert_int_eq(unpack(&got, &packed, cut, 32), TP_STREAM_CUT);
		assert_begins(&got, &text);
		/* A truncated stored block yields all of its bytes that are there. */
		if (cut > 15)
			ck_assert_uint_ge(got.len + 15, cut < text.len + 15 ? cut : text.len);
		tp_buf_release(&got);
	}
	tp_buf_release(&text);
	tp_buf_release(&packed);
}
END_TEST

START_TEST(a_wrong_checksum_is_reported_after_the_bytes)
{
	struct tp_buf text = {0};
	struct tp_buf packed = {0};
	struct tp_buf got = {0};
	put_text(&text, 300);
	packed_add(&packed, text.data, text.len);
	packed.data[packed.len - 6] ^= 1;
	ck_assert_int_eq(unpack(&got, &packed, packed.len, 1000), TP_STREAM_DAMAGED);
	ck_assert_uint_eq(got.len, text.len);
	tp_buf_release(&text);
	tp_buf_release(&packed);
	tp_buf_release(&got);
}
END_TEST

START_TEST(no_damage_goes_unseen)
{
	struct tp_buf packed = {0};
	packed_add(&packed, "the quick brown fox", 19);
	for (size_t bit = 10 * 8; bit < packed.len * 8; bit++) {
		struct tp_buf got = {0};
		/* The head of a stored block has three bits; the five bits after it are unused. */
		if (bit >= 83 && bit < 88)
			continue;
		packed.data[bit / 8] = (char)(packed.data[bit / 8] ^ 1 << bit % 8);
		ck_assert_int_ne(unpack(&got, &packed, packed.len, 64), TP_STREAM_WHOLE);
		packed.data[bit / 8] = (char)(packed.data[bit / 8] ^ 1 << bit % 8);
		tp_buf_release(&got);
	}
	tp_buf_release(&packed);
}
END_TEST

Suite *suite_base_gzip(void);
Suite *suite_base_gzip(void)
{
	Suite *suite = suite_create("base/gzip");
	TCase *tc = tcase_create("gzip");
	tcase_add_test(tc, members_one_after_the_other_are_one_text);
	tcase_add_test(tc, padding_after_the_last_member_is_no_damage);
	tcase_add_test(tc, data_before_a_cut_is_returned);
	tcase_add_test(tc, a_wrong_checksum_is_reported_after_the_bytes);
	tcase_add_test(tc, no_damage_goes_unseen);
	suite_add_tcase(suite, tc);
	return suite;
}
