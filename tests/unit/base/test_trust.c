/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the owners whose files are trusted. Creating files of other users needs root. */
#include "trainprof/base/trust.h"

#include "skip.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OTHER = 54321 };

static char directory[64];
static char path[96];
static char link_path[96];

static void setup(void)
{
	strcpy(directory, "/tmp/trainprof-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/file", directory);
	snprintf(link_path, sizeof(link_path), "%s/link", directory);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(symlink(path, link_path), 0);
}

static void teardown(void)
{
	unlink(link_path);
	unlink(path);
	rmdir(directory);
}

static void expect(const char *name, enum tp_status status, const char *text)
{
	struct tp_error err = {0};
	ck_assert_int_eq(tp_trust_check(name, &err), status);
	if (text)
		ck_assert_msg(strstr(err.text, text) && *err.next, "%s", err.text);
	ck_assert_int_eq(tp_trust_is_given(name), status == TP_OK);
}

START_TEST(own_files_count_unless_others_may_write_them)
{
	static const struct {
		mode_t mode;
		bool counts;
	} modes[] = {{0600, true}, {0644, true}, {0755, true}, {0602, false}, {0666, false}};
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		ck_assert_int_eq(chmod(path, modes[i].mode), 0);
		expect(path, modes[i].counts ? TP_OK : TP_DENIED,
		       modes[i].counts ? NULL : "may write");
		expect(link_path, modes[i].counts ? TP_OK : TP_DENIED, NULL);
	}
}
END_TEST

START_TEST(a_group_of_others_may_not_write)
{
	if (geteuid() != 0) {
		test_skip("only root gives files to groups");
		return;
	}
	ck_assert_int_eq(chown(path, 0, OTHER), 0);
	ck_assert_int_eq(chmod(path, 0640), 0);
	expect(path, TP_OK, NULL);
	ck_assert_int_eq(chmod(path, 0660), 0);
	expect(path, TP_DENIED, "others of its group may write");
	ck_assert_int_eq(chown(path, 0, 0), 0);
	expect(path, TP_OK, NULL);
}
END_TEST

START_TEST(files_and_links_of_other_users_do_not_count)
{
	if (geteuid() != 0) {
		test_skip("only root gives files away");
		return;
	}
	ck_assert_int_eq(lchown(link_path, OTHER, OTHER), 0);
	expect(path, TP_OK, NULL);
	expect(link_path, TP_DENIED, "is a link of another user (user 54321)");
	ck_assert_int_eq(lchown(link_path, 0, 0), 0);
	ck_assert_int_eq(chown(path, OTHER, OTHER), 0);
	expect(path, TP_DENIED, "belongs to another user (user 54321)");
	expect(link_path, TP_DENIED, "belongs to");
}
END_TEST

START_TEST(a_missing_file_is_absent)
{
	expect("/nonexistent/file", TP_ABSENT, NULL);
}
END_TEST

Suite *suite_base_trust(void);
Suite *suite_base_trust(void)
{
	Suite *suite = suite_create("base/trust");
	TCase *tc = tcase_create("trust");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, own_files_count_unless_others_may_write_them);
	tcase_add_test(tc, a_group_of_others_may_not_write);
	tcase_add_test(tc, files_and_links_of_other_users_do_not_count);
	tcase_add_test(tc, a_missing_file_is_absent);
	suite_add_tcase(suite, tc);
	return suite;
}
