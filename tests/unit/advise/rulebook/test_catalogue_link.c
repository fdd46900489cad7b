/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the references between limits, techniques and sources. */
#include "advise/shelfbook.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const char page[] =
	"{\"pages\": [{\"id\": \"p\", \"title\": \"P\", \"cites\": [\"BOOK\"]}]}";

START_TEST(names_lead_to_what_they_name)
{
	load_anew();
	const struct tp_catalogue *catalogue = tp_rulebook_catalogue(book);
	const struct tp_technique *fast = tp_catalogue_technique(catalogue, "fast");
	const struct tp_limit *wait = tp_catalogue_limit(catalogue, "wait");
	const struct tp_limit *disk = tp_catalogue_limit(catalogue, "disk");
	ck_assert_ptr_eq(&catalogue->limits[0], wait);
	ck_assert_ptr_eq(disk->parent, wait);
	ck_assert_ptr_null(wait->parent);
	ck_assert_ptr_eq(fast->relieves[1], disk);
	ck_assert(tp_technique_has_limit(fast, disk));
	ck_assert(!tp_technique_has_limit(tp_catalogue_technique(catalogue, "slow"), disk));
	ck_assert_str_eq(fast->together[0]->title, "Write slower");
	ck_assert_str_eq(fast->effects[1].source->title, "Paper B");
	ck_assert_ptr_null(tp_catalogue_technique(catalogue, "other"));
	ck_assert_ptr_null(tp_catalogue_limit(catalogue, "other"));
}
END_TEST

START_TEST(unknown_names_are_refused_with_the_nearest)
{
	static const struct shelf_mistake rows[] = {
		{"techniques/fast.json", shelf_fast, "\"disk\"]", "\"dsik\"]",
		 "fast.json:2: no limit 'dsik'; nearest: disk"},
		{"techniques/fast.json", shelf_fast, "[\"slow\"]", "[\"slwo\"]",
		 "fast.json:13: no technique 'slwo'; nearest: slow"},
		{"techniques/fast.json", shelf_fast, "[\"slow\"]", "[\"fast\"]",
		 "fast.json:13: 'together' names itself"},
		{"techniques/slow.json", shelf_slow, "\"against\": \"fast\"",
		 "\"against\": \"fats\"", "slow.json:8: no technique 'fats'; nearest: fast"},
		{"techniques/slow.json", shelf_slow, "\"against\": \"fast\"",
		 "\"against\": \"slow\"", "slow.json:8: 'against' names itself"},
		{"techniques/fast.json", shelf_fast, "\"source\": \"BOOK\"", "\"source\": \"BOKO\"",
		 "fast.json:8: no source 'BOKO'; nearest: BOOK"},
		{"limits.json", shelf_limits, "\"parent\": \"wait\"", "\"parent\": \"wiat\"",
		 "limits.json:2: no limit 'wiat'; nearest: wait"},
		{"limits.json", shelf_limits, "\"parent\": \"wait\"", "\"parent\": \"disk\"",
		 "limits.json:2: 'parent' leads back to this limit"},
		{"limits.json", shelf_limits, "\"order\": 1", "\"order\": 1, \"parent\": \"disk\"",
		 "limits.json:5: 'parent' leads back to this limit"},
		{"pages.json", page, "\"BOOK\"", "\"BOKO\"",
		 "pages.json:1: no source 'BOKO'; nearest: BOOK"},
	};
	shelf_refuses(&shelf, rows, sizeof(rows) / sizeof(rows[0]));
}
END_TEST

/* "a" refers to the cycle of "b" and "c", but is not in it. */
START_TEST(a_cycle_of_limits_is_reported_at_a_member)
{
	static const char *const parents[] = {"b", "c", "b"};
	struct tp_buf text = {0};
	for (int i = 0; i < 3; i++)
		tp_buf_printf(&text,
			      "%s{\"id\": \"%c\", \"title\": \"T\", \"order\": %d, \"parent\": "
			      "\"%s\", \"signals\": \"s\", \"proof\": \"p\"}",
			      i ? ",\n" : "{\"limits\": [\n", 'a' + i, i + 1, parents[i]);
	tp_buf_puts(&text, "]}");
	shelf_put(&shelf, "limits.json", tp_buf_text(&text));
	tp_buf_release(&text);
	ck_assert_int_eq(shelf_load(&shelf, &book, &err), TP_PARSE);
	ck_assert_ptr_nonnull(strstr(err.text, "limits.json:3: 'parent' leads back to this limit"));
}
END_TEST

START_TEST(dependents_of_skipped_entries_are_skipped)
{
	const char *path = shelf.path;
	struct tp_buf problems = {0};
	shelf_put_changed(&shelf, "limits.json", shelf_limits, "\"order\": 1",
			  "\"order\": 1, \"parent\": \"disk\"");
	ck_assert_int_eq(tp_rulebook_load_lenient(&book, &path, 1, &problems, &err), TP_OK);
	ck_assert_uint_eq(book->catalogue.n_limits, 0);
	ck_assert_uint_eq(book->catalogue.n_techniques, 0);
	ck_assert_ptr_nonnull(strstr(tp_buf_text(&problems), "no limit 'wait'"));
	tp_buf_release(&problems);
}
END_TEST

Suite *suite_advise_catalogue_link(void);
Suite *suite_advise_catalogue_link(void)
{
	Suite *suite = suite_create("advise_cataloguelink");
	TCase *tcase = tcase_create("cataloguelink");
	tcase_add_checked_fixture(tcase, setup_guide, teardown);
	tcase_add_test(tcase, names_lead_to_what_they_name);
	tcase_add_test(tcase, unknown_names_are_refused_with_the_nearest);
	tcase_add_test(tcase, a_cycle_of_limits_is_reported_at_a_member);
	tcase_add_test(tcase, dependents_of_skipped_entries_are_skipped);
	suite_add_tcase(suite, tcase);
	return suite;
}
