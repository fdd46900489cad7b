/* SPDX-License-Identifier: Apache-2.0 */
/* Lines are never wider than requested, and no text can control the terminal. */
#include "trainprof/report/page.h"

#include "trainprof/base/text.h"
#include "trainprof/report/report.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct tp_report_style style;
static struct tp_page page;

static void begin(unsigned width, bool is_ascii)
{
	style = (struct tp_report_style){.width = width, .is_ascii = is_ascii};
	tp_page_init(&page, &style);
}

static void expect(const char *text)
{
	ck_assert_str_eq(tp_buf_text(&page.out), text);
	tp_page_release(&page);
}

START_TEST(text_that_does_not_fit_is_cut_and_marked)
{
	begin(10, false);
	tp_page_add(&page, TP_PAINT_NONE, "0123456789abc");
	tp_page_end(&page);
	tp_page_add(&page, TP_PAINT_NONE, "0123456789");
	tp_page_end(&page);
	expect("012345678…\n0123456789\n");
	begin(10, true);
	tp_page_add(&page, TP_PAINT_NONE, "0123456789abc");
	tp_page_end(&page);
	expect("012345678~\n");
}
END_TEST

START_TEST(words_wrap_and_long_words_break)
{
	begin(12, false);
	tp_page_add(&page, TP_PAINT_NONE, "a: ");
	tp_page_wrap(&page, 3, TP_PAINT_NONE, "one two three abcdefghijklm", 0);
	expect("a: one two\n   three\n   abcdefghi\n   jklm\n");
}
END_TEST

START_TEST(last_allowed_line_ends_in_a_mark)
{
	begin(10, false);
	tp_page_wrap(&page, 0, TP_PAINT_NONE, "one two three four five", 2);
	expect("one two\nthree…\n");
}
END_TEST

START_TEST(right_text_moves_to_its_own_line_when_crowded)
{
	begin(12, false);
	tp_page_add(&page, TP_PAINT_NONE, "left");
	tp_page_right(&page, TP_PAINT_NONE, "right");
	tp_page_add(&page, TP_PAINT_NONE, "left side");
	tp_page_right(&page, TP_PAINT_NONE, "right");
	expect("left   right\nleft side\n       right\n");
}
END_TEST

START_TEST(adjacent_texts_do_not_touch)
{
	begin(20, false);
	tp_page_wrap_with_right(&page, 2, "one two three four", TP_PAINT_NONE, "1.52×", 0);
	expect("one two three  1.52×\n  four\n");
}
END_TEST

START_TEST(control_characters_and_broken_bytes_are_replaced)
{
	begin(40, false);
	tp_page_add(&page, TP_PAINT_NONE,
		    "a\x1b[2Jb\nc\x7f\xc2\x9b"
		    "1m\xff\xc3\xa9");
	tp_page_end(&page);
	expect("a?[2Jb?c??1m\xef\xbf\xbd\xc3\xa9\n");
}
END_TEST

START_TEST(ascii_spells_what_it_lacks)
{
	begin(40, true);
	tp_page_add(&page, TP_PAINT_NONE, "1.5× (1–2) ≥ 3 µs … é");
	tp_page_end(&page);
	expect("1.5x (1-2) >= 3 us ~ ?\n");
}
END_TEST

START_TEST(colour_does_not_count_as_width)
{
	begin(10, false);
	style.has_colour = true;
	tp_page_add(&page, TP_PAINT_BAD, "12345");
	tp_page_add(&page, TP_PAINT_BAD, "");
	tp_page_right(&page, TP_PAINT_NONE, "6789");
	expect("\x1b[1;31m12345\x1b[0m 6789\n");
}
END_TEST

START_TEST(bars_round_to_eighths_and_never_vanish)
{
	static const struct {
		double ratio;
		const char *blocks;
		const char *ascii;
	} rows[] = {
		{0, "", ""},        {0.0001, "▏", "."},          {0.25, "██", "##"},
		{0.3, "██▍", "##"}, {1, "████████", "########"}, {7, "████████", "########"},
		{-1, "", ""},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (int is_ascii = 0; is_ascii < 2; is_ascii++) {
			begin(20, is_ascii);
			tp_page_bar(&page, TP_PAINT_NONE, rows[i].ratio, 8);
			ck_assert_str_eq(tp_buf_text(&page.line),
					 is_ascii ? rows[i].ascii : rows[i].blocks);
			tp_page_release(&page);
		}
	}
}
END_TEST

START_TEST(spaces_at_the_end_are_dropped)
{
	begin(20, false);
	tp_page_add(&page, TP_PAINT_NONE, "a");
	tp_page_column(&page, 9);
	tp_page_end(&page);
	tp_page_end(&page);
	expect("a\n\n");
}
END_TEST

Suite *suite_report_page(void);
Suite *suite_report_page(void)
{
	Suite *suite = suite_create("report_page");
	TCase *tc = tcase_create("page");
	tcase_add_test(tc, text_that_does_not_fit_is_cut_and_marked);
	tcase_add_test(tc, words_wrap_and_long_words_break);
	tcase_add_test(tc, last_allowed_line_ends_in_a_mark);
	tcase_add_test(tc, right_text_moves_to_its_own_line_when_crowded);
	tcase_add_test(tc, adjacent_texts_do_not_touch);
	tcase_add_test(tc, control_characters_and_broken_bytes_are_replaced);
	tcase_add_test(tc, ascii_spells_what_it_lacks);
	tcase_add_test(tc, colour_does_not_count_as_width);
	tcase_add_test(tc, bars_round_to_eighths_and_never_vanish);
	tcase_add_test(tc, spaces_at_the_end_are_dropped);
	suite_add_tcase(suite, tc);
	return suite;
}
