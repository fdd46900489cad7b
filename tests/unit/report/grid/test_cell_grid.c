/* SPDX-License-Identifier: Apache-2.0 */
/* Text in cells: widths, cuts, marks. A terminal that receives only changes must show the grid. */
#include "trainprof/base/text.h"
#include "trainprof/report/cell_grid.h"
#include "trainprof/report/report.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tp_buf text_of(const struct tp_grid *grid)
{
	struct tp_buf text = {0};
	tp_grid_add_text(&text, grid);
	return text;
}

static const struct {
	const char *text;
	size_t end;
	bool is_ascii;
	const char *expected;
	size_t column;
} puts_of[] = {
	{"plain", 10, false, "plain\n", 5},
	{"too long a text", 8, false, "too lon…\n", 8},
	{"too long a text", 8, true, "too lon~\n", 8},
	{"日本語", 10, false, "日本語\n", 6},
	{"日本語", 5, false, "日本…\n", 5},
	{"日本語", 4, false, "日 …\n", 4},
	{"日本語", 10, true, "???\n", 3},
	{"e\u0301\u0302!", 10, false, "e\u0301\u0302!\n", 2},
	{"\u0301x", 10, false, "x\n", 1},
	{"\033[2Jx\a", 10, false, "?[2Jx?\n", 6},
	{"\xff\xfe", 10, false, "\ufffd\ufffd\n", 2},
	{"\u202eabc", 10, false, "?abc\n", 4},
	{"", 10, false, "\n", 0},
	{"beyond", 40, false, "beyond\n", 6},
	{"the grid ends earlier", 400, false, "the grid en…\n", 12},
};

START_TEST(text_takes_the_columns_that_it_needs)
{
	struct tp_grid grid;
	tp_grid_init(&grid, 12, 1, puts_of[_i].is_ascii);
	size_t column = tp_grid_put(&grid, 0, 0, puts_of[_i].end, TP_PAINT_NONE, puts_of[_i].text);
	struct tp_buf text = text_of(&grid);
	ck_assert_str_eq(tp_buf_text(&text), puts_of[_i].expected);
	ck_assert_uint_eq(column, puts_of[_i].column);
	tp_buf_release(&text);
	tp_grid_release(&grid);
}
END_TEST

START_TEST(half_of_a_wide_character_never_stays)
{
	struct tp_grid grid;
	tp_grid_init(&grid, 6, 1, false);
	tp_grid_put(&grid, 0, 0, 6, TP_PAINT_NONE, "日本語");
	tp_grid_put(&grid, 0, 1, 2, TP_PAINT_NONE, "x");
	tp_grid_put(&grid, 0, 4, 5, TP_PAINT_NONE, "y");
	struct tp_buf text = text_of(&grid);
	ck_assert_str_eq(tp_buf_text(&text), " x本y\n");
	tp_buf_release(&text);
	tp_grid_release(&grid);
}
END_TEST

START_TEST(places_outside_are_ignored)
{
	struct tp_grid grid;
	tp_grid_init(&grid, 3, 2, false);
	ck_assert_uint_eq(tp_grid_put(&grid, 2, 0, 3, TP_PAINT_NONE, "x"), 0);
	ck_assert_uint_eq(tp_grid_put(&grid, 0, 3, 9, TP_PAINT_NONE, "x"), 3);
	ck_assert_uint_eq(tp_grid_put(&grid, 0, 2, 1, TP_PAINT_NONE, "x"), 2);
	tp_grid_select(&grid, 7, 0, 3);
	tp_grid_select(&grid, 1, 0, 300);
	struct tp_buf text = text_of(&grid);
	ck_assert_str_eq(tp_buf_text(&text), "\n\n");
	tp_buf_release(&text);
	tp_grid_release(&grid);
}
END_TEST

START_TEST(colours_of_a_page_become_paints)
{
	struct tp_grid grid;
	struct tp_page page;
	const struct tp_report_style style = {.width = 20, .has_colour = true};
	tp_page_init(&page, &style);
	tp_page_add(&page, TP_PAINT_NONE, "a");
	tp_page_add(&page, TP_PAINT_BAD, "b");
	tp_page_add(&page, TP_PAINT_PART + TP_PART_HOST, "c");
	tp_page_end(&page);
	tp_page_add(&page, TP_PAINT_NONE, "second");
	tp_page_end(&page);
	tp_grid_init(&grid, 8, 2, false);
	ck_assert_uint_eq(tp_grid_put_page(&grid, 0, 0, 8, 9, &page, 0), 2);
	ck_assert_int_eq(grid.cells[0].paint, TP_PAINT_NONE);
	ck_assert_int_eq(grid.cells[1].paint, TP_PAINT_BAD);
	ck_assert_int_eq(grid.cells[2].paint, TP_PAINT_PART + TP_PART_HOST);
	tp_grid_clear(&grid);
	ck_assert_uint_eq(tp_grid_put_page(&grid, 0, 1, 8, 1, &page, 1), 1);
	struct tp_buf text = text_of(&grid);
	ck_assert_str_eq(tp_buf_text(&text), " second\n\n");
	tp_buf_release(&text);
	tp_page_release(&page);
	tp_grid_release(&grid);
}
END_TEST

/* ---- a terminal that understands the grid's output ---- */

enum { COLUMNS = 12, LINES = 4 };

struct terminal {
	char cells[LINES][COLUMNS][TP_CELL_BYTES];
	bool is_reverse[LINES][COLUMNS];
	size_t line, column;
	bool reverse;
};

static void erase(struct terminal *t, size_t line, size_t from)
{
	for (size_t i = from; i < COLUMNS; i++) {
		strcpy(t->cells[line][i], " ");
		t->is_reverse[line][i] = false;
	}
}

static const char *obey(struct terminal *t, const char *p)
{
	const char *end = p + 2 + strspn(p + 2, "0123456789;");
	switch (*end) {
	case 'H':
		t->line = strtoul(p + 2, NULL, 10);
		t->line -= t->line > 0;
		t->column = 0;
		break;
	case 'J':
		for (size_t i = 0; i < LINES; i++)
			erase(t, i, 0);
		break;
	case 'K':
		erase(t, t->line, t->column);
		break;
	case 'm':
		t->reverse = strncmp(p + 2, "0;7", 3) == 0;
		break;
	default:
		ck_abort_msg("the terminal does not know %.8s", p + 1);
	}
	return end + 1;
}

static void send_to(struct terminal *t, const char *p)
{
	while (*p) {
		if (*p == '\033') {
			p = obey(t, p);
			continue;
		}
		size_t len = tp_text_utf8_length(p);
		ck_assert_uint_lt(t->column, COLUMNS);
		memcpy(t->cells[t->line][t->column], p, len);
		t->cells[t->line][t->column][len] = '\0';
		t->is_reverse[t->line][t->column++] = t->reverse;
		p += len;
	}
}

START_TEST(changes_make_the_terminal_show_the_grid)
{
	struct terminal terminal = {0};
	struct tp_grid shown = {0};
	srand(1);
	for (int round = 0; round < 300; round++) {
		struct tp_grid grid;
		struct tp_buf out = {0};
		tp_grid_init(&grid, COLUMNS, LINES, false);
		for (size_t line = 0; line < LINES; line++) {
			/* Most lines stay the same. */
			int what = rand() % 4 ? (int)line : rand();
			char text[32];
			snprintf(text, sizeof(text), "%.*s", what % 9, "abc█ef xyz");
			tp_grid_put(&grid, line, (size_t)what % 5, COLUMNS,
				    (enum tp_paint)(what % 3), text);
			if (what % 7 == 0)
				tp_grid_select(&grid, line, 0, COLUMNS);
		}
		tp_grid_add_changes(&out, &grid, round % 50 ? &shown : NULL, true);
		send_to(&terminal, tp_buf_text(&out));
		for (size_t i = 0; i < COLUMNS * LINES; i++) {
			ck_assert_str_eq(terminal.cells[i / COLUMNS][i % COLUMNS],
					 grid.cells[i].text);
			ck_assert(terminal.is_reverse[i / COLUMNS][i % COLUMNS] ==
				  grid.cells[i].is_selected);
		}
		tp_buf_clear(&out);
		tp_grid_add_changes(&out, &grid, &grid, true);
		ck_assert_uint_eq(out.len, 0);
		tp_buf_release(&out);
		tp_grid_release(&shown);
		shown = grid;
	}
	tp_grid_release(&shown);
}
END_TEST

START_TEST(without_colour_there_is_none)
{
	struct tp_grid grid;
	struct tp_buf out = {0};
	tp_grid_init(&grid, 8, 1, false);
	tp_grid_put(&grid, 0, 0, 8, TP_PAINT_BAD, "bad");
	tp_grid_put(&grid, 0, 4, 8, TP_PAINT_PART + TP_PART_HOST, "host");
	tp_grid_add_changes(&out, &grid, NULL, false);
	ck_assert_ptr_null(strstr(tp_buf_text(&out), "31"));
	ck_assert_ptr_null(strstr(tp_buf_text(&out), "38;5"));
	tp_buf_clear(&out);
	tp_grid_add_changes(&out, &grid, NULL, true);
	ck_assert_ptr_nonnull(strstr(tp_buf_text(&out), "38;5"));
	tp_buf_release(&out);
	tp_grid_release(&grid);
}
END_TEST

START_TEST(pictures_escape_what_is_markup)
{
	struct tp_grid grid;
	struct tp_buf out = {0};
	tp_grid_init(&grid, 40, 1, false);
	tp_grid_put(&grid, 0, 0, 40, TP_PAINT_NONE, "</text><script>&\"");
	tp_grid_add_image(&out, &grid, "<b>\033");
	ck_assert_ptr_nonnull(strstr(tp_buf_text(&out), "&lt;/text&gt;&lt;script&gt;&amp;&quot;"));
	ck_assert_ptr_nonnull(strstr(tp_buf_text(&out), "<title>&lt;b&gt;?</title>"));
	ck_assert_ptr_null(strstr(tp_buf_text(&out), "<script"));
	tp_buf_release(&out);
	tp_grid_release(&grid);
}
END_TEST

Suite *suite_report_cell_grid(void);
Suite *suite_report_cell_grid(void)
{
	Suite *suite = suite_create("report_cell_grid");
	TCase *tc = tcase_create("grid");
	tcase_add_loop_test(tc, text_takes_the_columns_that_it_needs, 0,
			    (int)(sizeof(puts_of) / sizeof(puts_of[0])));
	tcase_add_test(tc, half_of_a_wide_character_never_stays);
	tcase_add_test(tc, places_outside_are_ignored);
	tcase_add_test(tc, colours_of_a_page_become_paints);
	tcase_add_test(tc, changes_make_the_terminal_show_the_grid);
	tcase_add_test(tc, without_colour_there_is_none);
	tcase_add_test(tc, pictures_escape_what_is_markup);
	suite_add_tcase(suite, tc);
	return suite;
}
