/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of range messages. */
#include "agent/nvtx/nvtx_message.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#define N "\1"

static const struct {
	const char *message;
	const char *text;
	unsigned n;
	uint32_t numbers[2];
} cases[] = {
	{"step 12", "step " N, 1, {12}},
	{"forward", "forward", 0, {0}},
	{"", "", 0, {0}},
	{"epoch 1 step 30", "epoch " N " step " N, 2, {1, 30}},
	{"rank 3 epoch 1 step 30", "rank 3 epoch " N " step " N, 2, {1, 30}},
	{"aten::mm, seq = 7, op_id = 12, sizes = [[64, 3]]",
	 "aten::mm, seq = " N ", op_id = " N ", sizes = [[64, 3]]",
	 2,
	 {7, 12}},
	{"aten::conv2d, op_id = 12", "aten::conv2d, op_id = " N, 1, {12}},
	{"x = 1, y = 2, z = 3", "x = " N ", y = " N ", z = 3", 2, {1, 2}},
	{"0", N, 1, {0}},
	{"999999999", N, 1, {999999999}},
	{"agent 007", "agent 007", 0, {0}},
	{"id 1234567890", "id 1234567890", 0, {0}},
	{"odd " N " 12", "odd " N " 12", 0, {0}},
	{"\xff\xfe 5", "\xff\xfe " N, 1, {5}},
};

/* Converts the message back as a reader does. */
static void restore(char *out, const struct tp_nvtx_message *text)
{
	unsigned n = 0;
	for (size_t i = 0; i < text->length; i++) {
		if (n < text->n_numbers && text->text[i] == 1)
			out += sprintf(out, "%u", text->numbers[n++]);
		else
			*out++ = text->text[i];
	}
	*out = '\0';
}

START_TEST(numbers_are_taken_out_and_come_back)
{
	struct tp_nvtx_message text;
	char again[600];
	tp_nvtx_message_read(&text, cases[_i].message);
	ck_assert_str_eq(text.text, cases[_i].text);
	ck_assert_uint_eq(text.length, strlen(cases[_i].text));
	ck_assert_uint_eq(text.n_numbers, cases[_i].n);
	for (unsigned i = 0; i < text.n_numbers; i++)
		ck_assert_uint_eq(text.numbers[i], cases[_i].numbers[i]);
	restore(again, &text);
	ck_assert_str_eq(again, cases[_i].message);
}
END_TEST

START_TEST(texts_that_differ_only_in_numbers_are_one)
{
	struct tp_nvtx_message a;
	struct tp_nvtx_message b;
	tp_nvtx_message_read(&a, "iteration 99999 of 3");
	tp_nvtx_message_read(&b, "iteration 7 of 12345");
	ck_assert_str_eq(a.text, b.text);
	ck_assert_uint_eq(a.hash, b.hash);
	tp_nvtx_message_read(&b, "iteration 7 at 12345");
	ck_assert_uint_ne(a.hash, b.hash);
}
END_TEST

START_TEST(a_text_that_is_kept_keeps_its_numbers)
{
	struct tp_nvtx_message text;
	tp_nvtx_message_copy(&text, "layer 12");
	ck_assert_str_eq(text.text, "layer 12");
	ck_assert_uint_eq(text.n_numbers, 0);
	tp_nvtx_message_copy(&text, NULL);
	ck_assert_uint_eq(text.length, 0);
}
END_TEST

START_TEST(a_long_message_is_cut)
{
	struct tp_nvtx_message text;
	char message[2000];
	memset(message, 'x', sizeof(message) - 1);
	message[sizeof(message) - 1] = '\0';
	message[5] = '7';
	tp_nvtx_message_read(&text, message);
	ck_assert_uint_eq(text.length, TP_NVTX_MESSAGE_MAX);
	ck_assert_uint_eq(text.n_numbers, 1);
	memset(message, '3', sizeof(message) - 1);
	tp_nvtx_message_read(&text, message);
	ck_assert_uint_eq(text.n_numbers, 0);
}
END_TEST

START_TEST(wide_messages_become_utf8)
{
	struct tp_nvtx_message text;
	wchar_t longer[1200];
	tp_nvtx_message_read_wide(&text, L"Schritt \u00fc\u20ac\U0001f600 12");
	ck_assert_str_eq(text.text, "Schritt \xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80 " N);
	ck_assert_uint_eq(text.numbers[0], 12);
	const wchar_t wild[] = {0xd800, (wchar_t)0x80000000, 'a', 0};
	tp_nvtx_message_read_wide(&text, wild);
	ck_assert_str_eq(text.text, "??a");
	for (size_t i = 0; i < 1199; i++)
		longer[i] = 0x20ac;
	longer[1199] = 0;
	tp_nvtx_message_read_wide(&text, longer);
	ck_assert_uint_le(text.length, TP_NVTX_MESSAGE_MAX);
	tp_nvtx_message_read_wide(&text, NULL);
	ck_assert_uint_eq(text.length, 0);
}
END_TEST

Suite *suite_agent_nvtx_message(void);
Suite *suite_agent_nvtx_message(void)
{
	Suite *suite = suite_create("agent_rangetext");
	TCase *tests = tcase_create("rangetext");
	tcase_add_loop_test(tests, numbers_are_taken_out_and_come_back, 0,
			    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tests, texts_that_differ_only_in_numbers_are_one);
	tcase_add_test(tests, a_text_that_is_kept_keeps_its_numbers);
	tcase_add_test(tests, a_long_message_is_cut);
	tcase_add_test(tests, wide_messages_become_utf8);
	suite_add_tcase(suite, tests);
	return suite;
}
