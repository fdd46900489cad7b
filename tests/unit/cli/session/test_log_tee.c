/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of copying the output of a program. */
#include "cli/session/log_tee.h"

#include "trainprof/base/status.h"

#include <check.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[] = "/tmp/tp-logtee-XXXXXX";
static char log_path[64];
static char through_path[64];
static int kept;

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(log_path, sizeof(log_path), "%s/log", directory);
	snprintf(through_path, sizeof(through_path), "%s/through", directory);
	kept = dup(STDOUT_FILENO);
}

static void teardown(void)
{
	dup2(kept, STDOUT_FILENO);
	close(kept);
	unlink(log_path);
	unlink(through_path);
	rmdir(directory);
}

static void read_text(char out[16], const char *path)
{
	memset(out, 0, 16);
	int fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, out, 15) < 0)
		out[0] = '\0';
	close(fd);
}

/* The copying process has hardly begun when the parent reports the end of the program. */
START_TEST(output_of_a_short_program_arrives)
{
	for (int i = 0; i < 50; i++) {
		struct tp_log_tee tee;
		struct tp_error err = {0};
		char text[16];
		int through = open(through_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		ck_assert_int_eq(dup2(through, STDOUT_FILENO), STDOUT_FILENO);
		close(through);
		ck_assert_int_eq(tp_log_tee_open(&tee, log_path, &err), TP_OK);
		bool is_written = write(STDOUT_FILENO, "last words", 10) == 10;
		tp_log_tee_close(&tee);
		ck_assert(is_written);
		read_text(text, log_path);
		ck_assert_str_eq(text, "last words");
		read_text(text, through_path);
		ck_assert_str_eq(text, "last words");
	}
}
END_TEST

Suite *suite_cli_log_tee(void);
Suite *suite_cli_log_tee(void)
{
	Suite *suite = suite_create("cli/logtee");
	TCase *tc = tcase_create("logtee");
	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, output_of_a_short_program_arrives);
	suite_add_tcase(suite, tc);
	return suite;
}
