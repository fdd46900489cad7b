/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of listing a folder. */
#include "advise/rulebook/listing.h"
#include "advise/shelf.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static struct shelf shelf;

static void setup(void)
{
	shelf_open(&shelf);
}

static void teardown(void)
{
	shelf_close(&shelf);
}

START_TEST(names_are_sorted_by_bytes_and_hidden_ones_left_out)
{
	struct tp_listing listing = {0};
	shelf_put(&shelf, "b.json", "");
	shelf_put(&shelf, "B.json", "");
	shelf_put(&shelf, ".hidden.json", "");
	shelf_put(&shelf, "a.txt", "");
	shelf_put(&shelf, ".json", "");
	ck_assert_int_eq(tp_listing_read(&listing, shelf.path, NULL), TP_OK);
	ck_assert_int_eq(listing.n, 3);
	ck_assert_str_eq(listing.items[0]->d_name, "B.json");
	ck_assert_str_eq(listing.items[1]->d_name, "a.txt");
	char *stem = tp_listing_basename(&listing, 2);
	ck_assert_str_eq(stem, "b");
	ck_assert_ptr_null(tp_listing_basename(&listing, 1));
	free(stem);
	tp_listing_release(&listing);
	ck_assert_int_eq(listing.n, 0);
}
END_TEST

START_TEST(a_path_that_is_no_folder_is_absent)
{
	struct tp_listing listing = {0};
	struct tp_error err = {0};
	char path[80];
	shelf_put(&shelf, "file", "");
	snprintf(path, sizeof(path), "%s/f", shelf.path);
	ck_assert_int_eq(tp_listing_read(&listing, path, &err), TP_ABSENT);
	snprintf(path, sizeof(path), "%s/file", shelf.path);
	ck_assert_int_eq(tp_listing_read(&listing, path, &err), TP_ABSENT);
	ck_assert_int_eq(listing.n, 0);
}
END_TEST

Suite *suite_advise_listing(void);
Suite *suite_advise_listing(void)
{
	Suite *suite = suite_create("advise_listing");
	TCase *tcase = tcase_create("listing");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, names_are_sorted_by_bytes_and_hidden_ones_left_out);
	tcase_add_test(tcase, a_path_that_is_no_folder_is_absent);
	suite_add_tcase(suite, tcase);
	return suite;
}
