/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of reading the commit of a repository. */
#include "cli/session/git_commit.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ONE "1111111111111111111111111111111111111111"
#define TWO "2222222222222222222222222222222222222222"

static char top[64];

static void put(const char *name, const char *text)
{
	char *path = tp_asprintf("%s/%s", top, name);
	for (char *slash = path + strlen(top) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		(void)mkdir(path, 0777);
		*slash = '/';
	}
	ck_assert_int_eq(tp_file_write(path, text, strlen(text), NULL), TP_OK);
	free(path);
}

static void check_commit(const char *folder, const char *expected)
{
	struct tp_arena arena = {0};
	char *path = tp_asprintf("%s/%s", top, folder);
	const char *commit = tp_git_commit_read(path, &arena);
	ck_assert_str_eq(commit ? commit : "none", expected);
	free(path);
	tp_arena_release(&arena);
}

static void begin(void)
{
	strcpy(top, "/tmp/git_commit-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(top));
}

static void end(void)
{
	char *command = tp_asprintf("rm -rf '%s'", top);
	ck_assert_int_eq(system(command), 0);
	free(command);
}

START_TEST(a_branch_a_packed_branch_and_a_loose_commit_are_read)
{
	put("a/.git/HEAD", "ref: refs/heads/main\n");
	put("a/.git/refs/heads/main", ONE "\n");
	put("a/deep/er/file", "");
	check_commit("a", ONE);
	check_commit("a/deep/er", ONE);
	put("b/.git/HEAD", "ref: refs/heads/main\n");
	put("b/.git/packed-refs",
	    "# pack-refs\n" ONE " refs/heads/mainly\n" TWO " refs/heads/main\n");
	check_commit("b", TWO);
	put("c/.git/HEAD", TWO "\n");
	check_commit("c", TWO);
}
END_TEST

START_TEST(another_work_tree_is_followed_to_the_branches)
{
	put("main/.git/worktrees/other/HEAD", "ref: refs/heads/topic\n");
	put("main/.git/worktrees/other/commondir", "../..\n");
	put("main/.git/refs/heads/topic", ONE "\n");
	put("other/.git", "gitdir: ../main/.git/worktrees/other\n");
	check_commit("other", ONE);
}
END_TEST

START_TEST(damaged_and_hostile_repositories_have_no_commit)
{
	put("empty/.git/HEAD", "");
	check_commit("empty", "none");
	put("unborn/.git/HEAD", "ref: refs/heads/main\n");
	check_commit("unborn", "none");
	put("circle/.git/HEAD", "ref: HEAD\n");
	check_commit("circle", "none");
	put("secret", ONE "\n");
	put("above/.git/HEAD", "ref: ../../secret\n");
	check_commit("above", "none");
	put("words/.git/HEAD", "ref: refs/heads/main\n");
	put("words/.git/refs/heads/main", "no commit at all, but forty characters!!\n");
	check_commit("words", "none");
}
END_TEST

Suite *suite_cli_git_commit(void);

Suite *suite_cli_git_commit(void)
{
	Suite *s = suite_create("cli_git_commit");
	TCase *tc = tcase_create("all");
	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, a_branch_a_packed_branch_and_a_loose_commit_are_read);
	tcase_add_test(tc, another_work_tree_is_followed_to_the_branches);
	tcase_add_test(tc, damaged_and_hostile_repositories_have_no_commit);
	suite_add_tcase(s, tc);
	return s;
}
