/* SPDX-License-Identifier: Apache-2.0 */
/* The page is well-formed, has no external references, and no name can break out of it. */
#include "report/sample.h"

#include "report/html/html.h"

#include <check.h>
#include <ctype.h>
#include <stdlib.h>

static char *render(const struct tp_report *report)
{
	char *text = NULL;
	size_t size = 0;
	struct tp_report_style style = {.width = 80};
	FILE *out = open_memstream(&text, &size);
	ck_assert_int_eq(tp_exporter_find("html")->write(report, &style, out, NULL), TP_OK);
	fclose(out);
	return text;
}

/* ---- a checker of tags --------------------------------------------------------------------- */

enum { MAX_OPEN = 64, MAX_NAME = 16 };

struct tags {
	char open[MAX_OPEN][MAX_NAME];
	size_t n;
};

static bool is_void(const char *name)
{
	return strcmp(name, "meta") == 0 || strcmp(name, "br") == 0 || strcmp(name, "input") == 0;
}

/* Returns the end of a tag; checks that all values are in quotes. */
static const char *skip_attributes(const char *p, bool *is_closed)
{
	while (*p != '>') {
		ck_assert_msg(*p && *p != '<', "a tag that does not end: %.40s", p);
		*is_closed = *p == '/';
		if (*p++ == '"') {
			p += strcspn(p, "\"");
			ck_assert(*p == '"');
			p++;
		}
	}
	return p + 1;
}

static const char *check_tag(struct tags *tags, const char *p)
{
	bool ends = p[1] == '/';
	bool is_closed = false;
	char name[MAX_NAME] = "";
	p += ends ? 2 : 1;
	for (size_t i = 0; isalnum((unsigned char)*p) && i < MAX_NAME - 1; i++)
		name[i] = *p++;
	ck_assert_msg(*name, "no name of a tag: %.40s", p);
	p = skip_attributes(p, &is_closed);
	if (ends) {
		ck_assert_uint_gt(tags->n, 0);
		ck_assert_str_eq(tags->open[--tags->n], name);
	} else if (!is_closed && !is_void(name)) {
		ck_assert_uint_lt(tags->n, MAX_OPEN);
		memcpy(tags->open[tags->n++], name, sizeof(name));
		/* The content of these elements is not markup. */
		if (strcmp(name, "script") == 0 || strcmp(name, "style") == 0)
			p = strstr(p, "</");
	}
	return p;
}

/* Returns the number of scripts in the page. */
static size_t check_page(const char *text)
{
	static const char doctype[] = "<!DOCTYPE html>\n";
	struct tags tags = {0};
	size_t n_scripts = 0;
	ck_assert(strncmp(text, doctype, sizeof(doctype) - 1) == 0);
	for (const char *p = text + sizeof(doctype) - 1; (p = strchr(p, '<'));) {
		n_scripts += strncmp(p, "<script", 7) == 0;
		p = check_tag(&tags, p);
	}
	ck_assert_uint_eq(tags.n, 0);
	return n_scripts;
}

static void check_alone(const char *text)
{
	static const char *const references[] = {"http:",     "https:",  "//cdn", " src=",
						 "@import",   "url(",    "<link", "<img",
						 "<iframe",   "fetch(",  "<form", "eval(",
						 " onclick=", " onload="};
	for (size_t i = 0; i < TP_ARRAY_LEN(references); i++)
		ck_assert_msg(!strstr(text, references[i]), "the page has %s", references[i]);
}

START_TEST(the_page_is_well_formed_and_alone)
{
	struct sample s;
	sample_init(&s);
	char *text = render(&s.report);
	ck_assert_uint_eq(check_page(text), 1);
	check_alone(text);
	ck_assert_ptr_nonnull(strstr(text, "default-src 'none'"));
	ck_assert_ptr_nonnull(strstr(text, "script-src 'sha256-"));
	ck_assert_ptr_nonnull(strstr(text, "<h1>COMPUTING</h1>"));
	free(text);
	sample_release(&s);
}
END_TEST

static const char hostile[] =
	"</title></style></script><script>alert(1)</script><img src=x onerror=\"alert(2)\"> ' \" & "
	"\x1b[31m \xff \xe2\x80\xae gnp";

START_TEST(hostile_names_are_text)
{
	static const char *command[] = {hostile, hostile};
	struct sample s;
	sample_init(&s);
	for (size_t i = 1; i < s.trace.n_strings; i++)
		s.trace.strings[i] = hostile;
	s.trace.run.command = command;
	s.trace.run.n_command = 2;
	s.trace.run.label = hostile;
	s.trace.run.id = hostile;
	s.trace.run.host.name = hostile;
	s.findings.verdict_title = hostile;
	s.findings.verdict_sentence = hostile;
	s.findings.items[0].headline = hostile;
	s.findings.items[0].because = hostile;
	s.findings.items[0].verify = hostile;
	s.findings.items[0].rule = hostile;
	char *text = render(&s.report);
	ck_assert_uint_eq(check_page(text), 1);
	ck_assert_ptr_null(strstr(text, "<img"));
	ck_assert_ptr_null(strchr(text, '\x1b'));
	ck_assert_ptr_null(strstr(text, "\xe2\x80\xae"));
	ck_assert_ptr_nonnull(strstr(text, "&lt;script&gt;alert(1)"));
	free(text);
	sample_release(&s);
}
END_TEST

START_TEST(text_is_escaped_once)
{
	struct tp_buf out = {0};
	tp_html_add_text(&out, "a<b>&amp;\"'\n");
	ck_assert_str_eq(tp_buf_text(&out), "a&lt;b&gt;&amp;amp;&quot;&#39;\n");
	tp_buf_release(&out);
}
END_TEST

START_TEST(a_run_of_which_nothing_is_known_is_a_page)
{
	struct sample s;
	sample_init(&s);
	s.profile.n_steps = 0;
	s.profile.step_time = (struct tp_stat){0};
	s.profile.total_ns = 0;
	s.profile.n_processes = 0;
	s.profile.n_workers = 0;
	s.report.findings = NULL;
	s.report.no_findings_because = "no rules";
	char *text = render(&s.report);
	ck_assert_uint_eq(check_page(text), 1);
	ck_assert_ptr_nonnull(strstr(text, "no rules"));
	free(text);
	sample_release(&s);
}
END_TEST

START_TEST(a_million_steps_do_not_grow_the_page)
{
	enum { N = 1000000, MAX_BYTES = 400000 };
	struct sample s;
	sample_init(&s);
	struct tp_step *steps = tp_alloc(N * sizeof(*steps));
	for (size_t i = 0; i < N; i++) {
		steps[i] = (struct tp_step){.start_ns = i * 1000, .end_ns = i * 1000 + 900};
		for (int part = 0; part < TP_N_PARTS; part++)
			steps[i].part_ns[part] = 150;
	}
	s.profile.steps = steps;
	s.profile.n_steps = N;
	char *text = render(&s.report);
	ck_assert_uint_lt(strlen(text), MAX_BYTES);
	check_page(text);
	free(text);
	free(steps);
	sample_release(&s);
}
END_TEST

Suite *suite_report_html(void);
Suite *suite_report_html(void)
{
	Suite *suite = suite_create("report_html");
	TCase *tc = tcase_create("page");
	tcase_add_test(tc, the_page_is_well_formed_and_alone);
	tcase_add_test(tc, hostile_names_are_text);
	tcase_add_test(tc, text_is_escaped_once);
	tcase_add_test(tc, a_run_of_which_nothing_is_known_is_a_page);
	tcase_add_test(tc, a_million_steps_do_not_grow_the_page);
	suite_add_tcase(suite, tc);
	return suite;
}
