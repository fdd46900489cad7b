/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of finding a folder that was moved. */
#include "store/folder.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[64];
static int fd;

/* The folder top/prof, open. */
static void setup(void)
{
	strcpy(top, "/tmp/tp-place-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(top));
	ck_assert_int_eq(chdir(top), 0);
	ck_assert_int_eq(mkdir("prof", 0700), 0);
	fd = open("prof", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
}

static void teardown(void)
{
	char command[100];
	close(fd);
	snprintf(command, sizeof(command), "rm -rf %s", top);
	ck_assert_int_eq(system(command), 0);
}

static void is_at(const char *name)
{
	char before[100];
	char after[100];
	snprintf(before, sizeof(before), "%s/prof", top);
	snprintf(after, sizeof(after), "%s/%s", top, name ? name : "");
	char *found = tp_folder_find(before, fd);
	if (name)
		ck_assert_str_eq(found, after);
	else
		ck_assert_ptr_null(found);
	free(found);
}

START_TEST(a_folder_that_stays_is_found)
{
	is_at("prof");
}
END_TEST

START_TEST(a_folder_that_was_moved_is_found_there)
{
	ck_assert_int_eq(rename("prof", "other"), 0);
	is_at("other");
	ck_assert_int_eq(mkdir("prof", 0700), 0); /* another one in its place */
	is_at("other");
}
END_TEST

START_TEST(a_folder_that_was_removed_is_nowhere)
{
	ck_assert_int_eq(rmdir("prof"), 0);
	is_at(NULL);
	ck_assert_int_eq(symlink(".", "prof"), 0);
	is_at(NULL);
}
END_TEST

Suite *suite_store_folder(void);
Suite *suite_store_folder(void)
{
	Suite *suite = suite_create("store/folder");
	TCase *tc = tcase_create("folder");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_folder_that_stays_is_found);
	tcase_add_test(tc, a_folder_that_was_moved_is_found_there);
	tcase_add_test(tc, a_folder_that_was_removed_is_nowhere);
	suite_add_tcase(suite, tc);
	return suite;
}
