/* SPDX-License-Identifier: Apache-2.0 */
/* Keys from the bytes that xterm, tmux, the Linux console and rxvt send. */
#include "cli/terminal/key_decode.h"

#include "trainprof/report/view.h"

#include <check.h>
#include <string.h>

static const struct {
	const char *bytes;
	int key;
	size_t used;
} keys[] = {
	{"j", 'j', 1},
	{"\r", TP_KEY_ENTER, 1},
	{"\t", TP_KEY_TAB, 1},
	{"\177", TP_KEY_BACKSPACE, 1},
	{"\033[A", TP_KEY_UP, 3},
	{"\033OB", TP_KEY_DOWN, 3},
	{"\033[Cj", TP_KEY_RIGHT, 3},
	{"\033[5~", TP_KEY_PAGE_UP, 4},
	{"\033[6~\033[6~", TP_KEY_PAGE_DOWN, 4},
	{"\033[H", TP_KEY_HOME, 3},
	{"\033[8~", TP_KEY_END, 4},
	{"\033[Z", TP_KEY_SHIFT_TAB, 3},
	{"\033OP", '?', 3},
	{"\033[1;5A", TP_KEY_NONE, 6}, /* Ctrl-Up */
	{"\033[200~", TP_KEY_NONE, 6}, /* begin of a paste */
	{"\033x", TP_KEY_ESCAPE, 1},   /* Alt-x is Escape and x */
	{"\033", TP_KEY_ESCAPE, 0},    /* more bytes may follow */
	{"\033[", TP_KEY_ESCAPE, 0},
	{"\033[1;", TP_KEY_ESCAPE, 0},
};

START_TEST(sequences_are_keys)
{
	size_t used;
	ck_assert_int_eq(tp_key_decode(keys[_i].bytes, strlen(keys[_i].bytes), &used),
			 keys[_i].key);
	ck_assert_uint_eq(used, keys[_i].used);
}
END_TEST

/* Any input is consumed within its length. */
START_TEST(no_byte_is_read_past_the_end)
{
	for (int a = 0; a < 256; a++)
		for (int b = 0; b < 256; b++) {
			const char bytes[] = {'\033', (char)a, (char)b};
			for (size_t n = 1; n <= sizeof(bytes); n++) {
				size_t used;
				(void)tp_key_decode(bytes, n, &used);
				ck_assert_uint_le(used, n);
			}
		}
}
END_TEST

Suite *suite_cli_key_decode(void);
Suite *suite_cli_key_decode(void)
{
	Suite *suite = suite_create("cli_key_decode");
	TCase *tc = tcase_create("keys");
	tcase_add_loop_test(tc, sequences_are_keys, 0, (int)(sizeof(keys) / sizeof(keys[0])));
	tcase_add_test(tc, no_byte_is_read_past_the_end);
	suite_add_tcase(suite, tc);
	return suite;
}
