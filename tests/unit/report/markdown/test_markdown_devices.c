/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of devices in Markdown equal their golden file, and names cannot break out of them. */
#include "report/golden.h"
#include "report/jobsample.h"

#include "report/markdown/markdown_devices.h"

static char *render(const struct sample *s)
{
	char *text = NULL;
	size_t size = 0;
	struct tp_report_style style = {.width = 80};
	FILE *out = open_memstream(&text, &size);
	ck_assert_int_eq(tp_exporter_find("markdown")->write(&s->report, &style, out, NULL), TP_OK);
	fclose(out);
	return text;
}

START_TEST(markdown_of_an_import_equals_its_golden_file)
{
	struct sample s;
	(_i ? job_alone_init : job_init)(&s);
	char *text = render(&s);
	sample_golden(text, _i ? "alone-markdown" : "job-markdown");
	free(text);
	sample_release(&s);
}
END_TEST

/* Number of column separators in a row, without escaped bars. */
static size_t count_bars(const char *row)
{
	size_t n = 0;
	for (; *row && *row != '\n'; row++)
		n += *row == '|' && row[-1] != '\\';
	return n;
}

START_TEST(hostile_names_stay_in_their_cell)
{
	struct sample s;
	job_init(&s);
	s.trace.strings[JOB_REDUCE] = "a|b<script>`*[x](y)\n|";
	s.trace.run.label = "x";
	char *text = render(&s);
	ck_assert_ptr_null(strstr(text, "<script>"));
	const char *row = strstr(text, "| a\\|b&lt;script>\\`\\*\\[x\\](y) \\| | nccl");
	ck_assert_ptr_nonnull(row);
	ck_assert_uint_eq(count_bars(row + 1), 6);
	free(text);
	sample_release(&s);
}
END_TEST

START_TEST(long_names_are_cut_between_characters)
{
	struct sample s;
	char name[200];
	job_init(&s);
	memset(name, 'k', sizeof(name));
	memcpy(name + 79, "µµ", sizeof("µµ") - 1);
	name[199] = '\0';
	s.trace.strings[JOB_REDUCE] = name;
	char *text = render(&s);
	ck_assert_ptr_nonnull(strstr(text, "kkk… | nccl"));
	ck_assert_ptr_null(strstr(text, "\xef\xbf\xbd"));
	free(text);
	sample_release(&s);
}
END_TEST

Suite *suite_report_markdown_devices(void);
Suite *suite_report_markdown_devices(void)
{
	Suite *suite = suite_create("report_markdown_devices");
	TCase *tc = tcase_create("markdown_devices");
	tcase_add_loop_test(tc, markdown_of_an_import_equals_its_golden_file, 0, 2);
	tcase_add_test(tc, hostile_names_stay_in_their_cell);
	tcase_add_test(tc, long_names_are_cut_between_characters);
	suite_add_tcase(suite, tc);
	return suite;
}
