/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of SHA-256: the examples of FIPS 180-4, and both ways of computing it. */
#include "trainprof/base/sha256.h"

#include "trainprof/base/map.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* NIST, "SHA256.pdf" of the examples with intermediate values, and the million letters of FIPS
 * 180-2, appendix B.3. */
static const struct {
	const char *text;
	unsigned n_times;
	const char *hex;
} examples[] = {
	{"", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
	{"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
	{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
	 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
	{"a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
};

static void assert_example(int i, bool with_instructions)
{
	struct tp_sha256 hash;
	char hex[TP_SHA256_HEX];
	tp_sha256_init(&hash);
	hash.has_instructions &= with_instructions;
	for (unsigned k = 0; k < examples[i].n_times; k++)
		tp_sha256_add(&hash, examples[i].text, strlen(examples[i].text));
	tp_sha256_hex(&hash, hex);
	ck_assert_str_eq(hex, examples[i].hex);
}

START_TEST(the_examples_of_the_standard_come_out)
{
	assert_example(_i, true);
	assert_example(_i, false);
}
END_TEST

START_TEST(pieces_of_any_length_and_place_hash_as_the_whole)
{
	enum { SIZE = 1500 };
	unsigned char bytes[SIZE];
	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = (unsigned char)tp_hash_mix(i, 5);
	for (size_t size = 0; size < SIZE; size += 1 + size / 40) {
		struct tp_sha256 whole;
		struct tp_sha256 pieces;
		char wanted[TP_SHA256_HEX];
		char got[TP_SHA256_HEX];
		tp_sha256_init(&whole);
		whole.has_instructions = false;
		tp_sha256_add(&whole, bytes, size);
		tp_sha256_hex(&whole, wanted);
		tp_sha256_init(&pieces);
		for (size_t at = 0; at < size;) {
			size_t n = 1 + tp_hash_mix(at, size) % 200;
			n = n < size - at ? n : size - at;
			tp_sha256_add(&pieces, bytes + at, n);
			at += n;
		}
		tp_sha256_hex(&pieces, got);
		ck_assert_str_eq(got, wanted);
	}
}
END_TEST

Suite *suite_base_sha256(void);
Suite *suite_base_sha256(void)
{
	Suite *suite = suite_create("base/sha256");
	TCase *tc = tcase_create("sha256");
	tcase_add_loop_test(tc, the_examples_of_the_standard_come_out, 0,
			    sizeof(examples) / sizeof(examples[0]));
	tcase_add_test(tc, pieces_of_any_length_and_place_hash_as_the_whole);
	suite_add_tcase(suite, tc);
	return suite;
}
