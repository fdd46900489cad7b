/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the wire format of protocol buffers. */
#include "import/xprof/protobuf_read.h"

#include <check.h>
#include <string.h>

static struct tp_protobuf message_of(const void *bytes, size_t len)
{
	return (struct tp_protobuf){bytes, len};
}

START_TEST(fields_of_all_types_are_read_in_order)
{
	static const unsigned char bytes[] = {0x08, 0x96, 0x01, 0x12, 0x02, 'h', 'i',
					      0x19, 1,    0,    0,    0,    0,   0,
					      0,    0x80, 0x25, 2,    0,    0,   0};
	struct tp_protobuf rest = message_of(bytes, sizeof(bytes));
	struct tp_protobuf_field field;
	ck_assert(tp_protobuf_next(&rest, &field));
	ck_assert_uint_eq(field.number, 1);
	ck_assert_uint_eq(field.value, 150);
	ck_assert(tp_protobuf_next(&rest, &field));
	ck_assert_uint_eq(field.number, 2);
	ck_assert(tp_protobuf_equals(&field.body, "hi"));
	ck_assert(!tp_protobuf_equals(&field.body, "h"));
	ck_assert(tp_protobuf_begins(&field.body, "h"));
	ck_assert(tp_protobuf_next(&rest, &field));
	ck_assert_uint_eq(field.value, UINT64_C(0x8000000000000001));
	ck_assert(tp_protobuf_next(&rest, &field));
	ck_assert_uint_eq(field.number, 4);
	ck_assert_uint_eq(field.value, 2);
	ck_assert(!tp_protobuf_next(&rest, &field));
	ck_assert_uint_eq(rest.len, 0);
}
END_TEST

START_TEST(what_is_no_field_ends_the_message_and_stays)
{
	static const struct {
		const char *bytes;
		size_t len;
	} bad[] = {
		{"\x08", 1},     /* no value */
		{"\x08\x80", 2}, /* a varint without an end */
		{"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12}, /* of eleven bytes */
		{"\x0a\x05hi", 4},                                        /* longer than the rest */
		{"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11},     /* of 2^64 bytes */
		{"\x0b\x0c", 2},                                          /* a group */
		{"\x0e\x01", 2},                                          /* type 6 */
		{"\x00\x01", 2},                                          /* field 0 */
		{"\x09\x01\x02", 3},                                      /* three of eight bytes */
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct tp_protobuf rest = message_of(bad[i].bytes, bad[i].len);
		struct tp_protobuf_field field;
		ck_assert_msg(!tp_protobuf_next(&rest, &field), "case %zu", i);
		ck_assert_uint_eq(rest.len, bad[i].len);
	}
}
END_TEST

/* Varints of all lengths, the value by its bits, with enough bytes behind them to be read as a word
 * and with none. */
START_TEST(varints_of_all_lengths_are_read)
{
	enum { VARINT_MAX = 10 };
	for (size_t n_bits = 0; n_bits <= 64; n_bits++) {
		uint64_t value = n_bits ? UINT64_C(0xb5a96c39d27e48f1) >> (64 - n_bits) : 0;
		unsigned char bytes[2 * VARINT_MAX];
		size_t len = 0;
		memset(bytes, 0xff, sizeof(bytes));
		for (uint64_t left = value; !len || left; left >>= 7)
			bytes[len++] = (unsigned char)((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
		for (size_t behind = 0; behind <= VARINT_MAX; behind += VARINT_MAX) {
			struct tp_protobuf rest = {bytes, len + behind};
			uint64_t found = 0;
			ck_assert(tp_protobuf_varint(&rest, &found));
			ck_assert_uint_eq(found, value);
			ck_assert_uint_eq(rest.len, behind);
			ck_assert_ptr_eq(rest.bytes, bytes + len);
		}
	}
}
END_TEST

Suite *suite_import_protobuf_read(void);
Suite *suite_import_protobuf_read(void)
{
	Suite *suite = suite_create("import/protobuf_read");
	TCase *tcase = tcase_create("fields");
	tcase_add_test(tcase, fields_of_all_types_are_read_in_order);
	tcase_add_test(tcase, varints_of_all_lengths_are_read);
	tcase_add_test(tcase, what_is_no_field_ends_the_message_and_stays);
	suite_add_tcase(suite, tcase);
	return suite;
}
