/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the checksum: the vectors of RFC 3720, B.4, and independence of how the bytes are
 * split. */
#include "store/checksum.h"

#include <check.h>
#include <string.h>

static struct tp_checksum checksum;

static uint32_t sum(const void *bytes, size_t size)
{
	return tp_checksum_add(&checksum, 0, bytes, size);
}

START_TEST(vectors_of_the_standard_come_out)
{
	unsigned char bytes[32];
	memset(bytes, 0, sizeof(bytes));
	ck_assert_uint_eq(sum(bytes, 32), 0x8a9136aa);
	memset(bytes, 0xff, sizeof(bytes));
	ck_assert_uint_eq(sum(bytes, 32), 0x62a8ab43);
	for (unsigned i = 0; i < 32; i++)
		bytes[i] = (unsigned char)i;
	ck_assert_uint_eq(sum(bytes, 32), 0x46dd794e);
	for (unsigned i = 0; i < 32; i++)
		bytes[i] = (unsigned char)(31 - i);
	ck_assert_uint_eq(sum(bytes, 32), 0x113fdb5c);
	ck_assert_uint_eq(sum("123456789", 9), 0xe3069283);
	ck_assert_uint_eq(sum("", 0), 0);
}
END_TEST

START_TEST(any_split_gives_the_same_sum)
{
	unsigned char bytes[64];
	for (unsigned i = 0; i < 64; i++)
		bytes[i] = (unsigned char)(i * 37);
	uint32_t whole = sum(bytes, 64);
	for (size_t at = 0; at <= 64; at++)
		ck_assert_uint_eq(tp_checksum_add(&checksum, sum(bytes, at), bytes + at, 64 - at),
				  whole);
}
END_TEST

static void setup(void)
{
	tp_checksum_init(&checksum);
}

Suite *suite_store_checksum(void);
Suite *suite_store_checksum(void)
{
	Suite *suite = suite_create("store/checksum");
	TCase *tc = tcase_create("checksum");
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, vectors_of_the_standard_come_out);
	tcase_add_test(tc, any_split_gives_the_same_sum);
	suite_add_tcase(suite, tc);
	return suite;
}
