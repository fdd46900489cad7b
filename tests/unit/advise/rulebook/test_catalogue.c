/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of loading limits, sources, pages and techniques from several folders. */
#include "advise/shelfbook.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const char pages[] =
	"{\"pages\": [\n"
	" {\"id\": \"first\", \"title\": \"What comes first\", \"text\": [\"One.\", \"- two\"],\n"
	"  \"sections\": [{\"heading\": \"More\", \"text\": [\"Three.\"]}],\n"
	"  \"steps\": [\"look\", \"act\"], \"list\": \"limits\", \"cites\": [\"BOOK\"]},\n"
	" {\"id\": \"second\", \"title\": \"What comes then\"}]}";

START_TEST(without_a_guide_the_rules_load_alone)
{
	struct shelf own;
	shelf_open(&own);
	shelf_put_rule(&own, "a", "step.count > 1", ", \"limits\": [\"anything\"]");
	enum tp_status status = shelf_load(&own, &book, &err);
	shelf_close(&own);
	ck_assert_msg(!status, "%s", err.text);
	const struct tp_catalogue *catalogue = tp_rulebook_catalogue(book);
	ck_assert_uint_eq(catalogue->n_techniques + catalogue->n_limits + catalogue->n_references,
			  0);
}
END_TEST

START_TEST(a_later_folder_replaces_by_id_and_adds)
{
	struct shelf own;
	shelf_open(&own);
	shelf_put_changed(&own, "techniques/fast.json", shelf_fast, "Read faster", "Ours");
	shelf_put_changed(&own, "techniques/swift.json", shelf_fast, "\"fast\"", "\"swift\"");
	shelf_put(&own, "limits.json",
		  "{\"limits\": [{\"id\": \"wait\", \"title\": \"Our wait\", \"order\": 3, "
		  "\"signals\": \"s\", \"proof\": \"p\", \"look_alikes\": []}]}");
	shelf_put(&own, "sources.json",
		  "{\"sources\": [{\"tag\": \"AMPS\", \"title\": \"Our A\", \"where\": \"w\", "
		  "\"checked\": \"2026-11-22\"}]}");
	const char *paths[] = {shelf.path, own.path};
	enum tp_status status = tp_rulebook_load(&book, paths, 2, &err);
	shelf_close(&own);
	ck_assert_msg(!status, "%s", err.text);
	const struct tp_catalogue *catalogue = tp_rulebook_catalogue(book);
	ck_assert_uint_eq(catalogue->n_techniques, 3);
	ck_assert_str_eq(catalogue->techniques[0].id, "fast");
	ck_assert_str_eq(catalogue->techniques[0].title, "Ours");
	ck_assert_str_eq(catalogue->techniques[0].effects[0].source->title, "Our A");
	ck_assert_str_eq(catalogue->techniques[0].effects[1].source->title, "Paper B");
	ck_assert_str_eq(catalogue->techniques[2].id, "swift");
	ck_assert_uint_eq(catalogue->n_limits, 2);
	ck_assert_str_eq(catalogue->limits[1].title, "Our wait");
	ck_assert_uint_eq(catalogue->n_references, 2);
}
END_TEST

START_TEST(a_folder_may_hold_techniques_alone)
{
	struct shelf own;
	shelf_open(&own);
	shelf_put(&own, "techniques/fast.json", shelf_fast);
	const char *paths[] = {shelf.path, own.path};
	enum tp_status status = tp_rulebook_load(&book, paths, 2, &err);
	shelf_close(&own);
	ck_assert_msg(!status, "%s", err.text);
}
END_TEST

START_TEST(a_page_has_sections_steps_a_list_and_sources)
{
	shelf_put(&shelf, "pages.json", pages);
	load_anew();
	const struct tp_catalogue *catalogue = tp_rulebook_catalogue(book);
	ck_assert_uint_eq(catalogue->n_texts, 2);
	const struct tp_guide_text *first = &catalogue->texts[0];
	ck_assert_str_eq(first->id, "first");
	ck_assert_str_eq(first->title, "What comes first");
	ck_assert_uint_eq(first->n_sections, 2);
	ck_assert_ptr_null(first->sections[0].heading);
	ck_assert_str_eq(first->sections[0].text, "One.\n- two\n");
	ck_assert_str_eq(first->sections[1].heading, "More");
	ck_assert_str_eq(first->sections[1].text, "Three.\n");
	ck_assert_uint_eq(first->n_steps, 2);
	ck_assert_str_eq(first->steps[1], "act");
	ck_assert_int_eq(first->list, TP_GUIDE_LIST_LIMITS);
	ck_assert_uint_eq(first->n_cites, 1);
	ck_assert_str_eq(first->cites[0]->title, "Paper B");
	const struct tp_guide_text *second = &catalogue->texts[1];
	ck_assert_uint_eq(second->n_sections, 1);
	ck_assert_str_eq(second->sections[0].text, "");
	ck_assert_uint_eq(second->n_steps + second->n_cites, 0);
	ck_assert_int_eq(second->list, TP_GUIDE_LIST_NONE);
}
END_TEST

START_TEST(mistakes_name_file_and_line)
{
	static const struct shelf_mistake rows[] = {
		{"limits.json", shelf_limits, "\"proof\"", "\"prof\"",
		 "limits.json:3: a limit has no key 'prof'; nearest: proof"},
		{"limits.json", shelf_limits, "\"order\": 2", "\"order\": 0",
		 "limits.json:2: 'order' is a whole number from 1 to 100"},
		{"limits.json", shelf_limits, "\"id\": \"wait\"", "\"id\": \"disk\"",
		 "limits.json:5: 'disk' is there already, on line 2"},
		{"limits.json", shelf_limits, "\"limits\"", "\"limit\"",
		 "has no key 'limit'; nearest: limits"},
		{"limits.json", shelf_limits, "[\"a slow network\"]", "\"a slow network\"",
		 "limits.json:4: 'look_alikes' is a list"},
		{"sources.json", shelf_sources, "\"tag\": \"BOOK\"", "\"tag\": \"AMPS\"",
		 "sources.json:3: 'AMPS' is there already, on line 2"},
		{"sources.json", shelf_sources, "2026-11-21", "last week",
		 "sources.json:3: 'checked' is a day such as 2026-11-20"},
		{"sources.json", shelf_sources, "\"where\": \"a.org\", ", "",
		 "sources.json:2: 'where' is missing"},
		{"sources.json", shelf_sources, "[", "{", "sources.json:"},
		{"pages.json", pages, "\"title\": \"What comes then\"", "\"titel\": \"What\"",
		 "pages.json:5: a page has no key 'titel'; nearest: title"},
		{"pages.json", pages, "\"heading\"", "\"haeding\"",
		 "pages.json:3: a section has no key 'haeding'; nearest: heading"},
		{"pages.json", pages, "\"second\"", "\"first\"",
		 "pages.json:5: 'first' is there already, on line 2"},
		{"pages.json", pages, "\"list\": \"limits\"", "\"list\": \"limts\"",
		 "pages.json:4: 'list' is none, limits or techniques"},
		{"pages.json", pages, "[\"One.\", \"- two\"]", "\"One.\"",
		 "pages.json:2: 'text' is a list"},
	};
	shelf_refuses(&shelf, rows, sizeof(rows) / sizeof(rows[0]));
}
END_TEST

START_TEST(only_what_is_wrong_is_left_out_when_asked)
{
	const char *path = shelf.path;
	struct tp_buf problems = {0};
	shelf_put_changed(&shelf, "techniques/fast.json", shelf_fast, "\"flag\"", "\"none\"");
	shelf_put_changed(&shelf, "techniques/slow.json", shelf_slow, "\"against\": \"fast\", ",
			  ""); /* otherwise slow would be dropped together with fast */
	shelf_put_changed(&shelf, "limits.json", shelf_limits, "\"proof\"", "\"prof\"");
	shelf_put_rule(&shelf, "a", "step.count > 1", "");
	shelf_put_rule(&shelf, "b", "step.cuont > 1", "");
	shelf_put_rule(&shelf, "c", "step.count > 1", ", \"parent\": \"test/b\"");
	shelf_put_rule(&shelf, "d", "step.count > 1", ", \"parent\": \"test/c\"");
	ck_assert_int_eq(tp_rulebook_load(&book, &path, 1, &err), TP_PARSE);
	ck_assert_int_eq(tp_rulebook_load_lenient(&book, &path, 1, &problems, NULL), TP_OK);
	ck_assert_uint_eq(tp_rulebook_count(book), 1);
	ck_assert_uint_eq(book->catalogue.n_techniques, 1);
	ck_assert_uint_eq(book->catalogue.n_limits, 1);
	size_t n = 0;
	for (const char *p = tp_buf_text(&problems); *p; p++)
		n += *p == '\n';
	ck_assert_msg(n == 5, "%s", tp_buf_text(&problems));
	ck_assert_ptr_nonnull(strstr(tp_buf_text(&problems), "b.json:2: no fact 'step.cuont'"));
	ck_assert_ptr_nonnull(
		strstr(tp_buf_text(&problems), "d.json: 'parent' names no rule 'test/c'"));
	tp_buf_release(&problems);
}
END_TEST

START_TEST(thresholds_are_never_left_out)
{
	const char *path = shelf.path;
	struct tp_buf problems = {0};
	shelf_put(&shelf, "thresholds.json", "{\"thresholds\": [{\"name\": \"x\"}]}");
	ck_assert_int_eq(tp_rulebook_load_lenient(&book, &path, 1, &problems, &err), TP_PARSE);
	ck_assert_str_eq(tp_buf_text(&problems), "");
}
END_TEST

Suite *suite_advise_catalogue(void);
Suite *suite_advise_catalogue(void)
{
	Suite *suite = suite_create("advise_catalogue");
	TCase *tcase = tcase_create("catalogue");
	tcase_add_checked_fixture(tcase, setup_guide, teardown);
	tcase_add_test(tcase, without_a_guide_the_rules_load_alone);
	tcase_add_test(tcase, a_later_folder_replaces_by_id_and_adds);
	tcase_add_test(tcase, a_folder_may_hold_techniques_alone);
	tcase_add_test(tcase, a_page_has_sections_steps_a_list_and_sources);
	tcase_add_test(tcase, mistakes_name_file_and_line);
	tcase_add_test(tcase, only_what_is_wrong_is_left_out_when_asked);
	tcase_add_test(tcase, thresholds_are_never_left_out);
	suite_add_tcase(suite, tcase);
	return suite;
}
