/* SPDX-License-Identifier: Apache-2.0 */
/* Tests reports that an installed nsys exports; a script replaces nsys. */
#include "import/database.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KERNELS                                                                                    \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, \"end\" INT, deviceId INT, "           \
	"streamId INT, globalPid INT, shortName TEXT);"                                            \
	"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100,350,0,7,16777216,'gemm');"

static char folder[] = "/tmp/trainprof-report-XXXXXX";
static char *old_path;

static void leave(void)
{
	char *command = tp_asprintf("rm -r %s", folder);
	setenv("PATH", old_path, 1);
	ck_assert_int_eq(system(command), 0);
	free(command);
	free(old_path);
}

/* Makes a nsys that runs this script the only program on PATH. */
static void enter_with(const char *body)
{
	char *script = tp_asprintf("#!/bin/sh\n%s\n", body);
	char *program;
	char *path;
	memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(folder));
	program = tp_asprintf("%s/nsys", folder);
	path = tp_asprintf("%s/t.nsys-rep", folder);
	old_path = tp_strdup(getenv("PATH"));
	ck_assert_int_eq(tp_file_replace(program, script, strlen(script), NULL), TP_OK);
	ck_assert_int_eq(chmod(program, 0700), 0);
	ck_assert_int_eq(tp_file_replace(path, "private", 7, NULL), TP_OK);
	setenv("PATH", folder, 1);
	free(script);
	free(program);
	free(path);
}

static void import_report(struct imported *in, const char *format)
{
	const struct tp_import_options options = {.format = format};
	char *path = tp_asprintf("%s/t.nsys-rep", folder);
	imported_files(in, &(const char *){path}, 1, &options);
	free(path);
}

START_TEST(a_report_is_exported_and_read)
{
	struct imported in;
	if (!nsys_can_read())
		return;
	char *body = tp_asprintf(
		"test \"$1 $2 $3 $4 $5\" = 'export --type sqlite --force-overwrite false' || exit "
		"9\nexec /bin/cp '%s' \"$7\"",
		nsys_file_make("%s", KERNELS));
	enter_with(body);
	import_report(&in, _i ? "nsys" : NULL);
	ck_assert_msg(in.status == TP_OK, "%s", in.err.text);
	ck_assert_uint_eq(imported_sum(&in, TP_SPAN_KERNEL, "gemm"), 250);
	ck_assert_str_eq(in.result.ranks[0].format, "nsys");
	ck_assert_ptr_nonnull(strstr(in.result.ranks[0].path, "t.nsys-rep"));
	imported_release(&in);
	free(body);
	leave();
}
END_TEST

START_TEST(what_nsys_complains_of_is_shown)
{
	struct imported in;
	enter_with("echo 'report of version 2031 is newer than nsys' >&2; exit 1");
	import_report(&in, NULL);
	ck_assert_int_eq(in.status, TP_PARSE);
	ck_assert_msg(strstr(in.err.text, "newer than nsys") != NULL, "%s", in.err.text);
	ck_assert_ptr_nonnull(strstr(in.err.next, "nsys export"));
	imported_release(&in);
	leave();
}
END_TEST

Suite *suite_import_nsys_report(void);

Suite *suite_import_nsys_report(void)
{
	Suite *suite = suite_create("import/nsys_report");
	TCase *tc = tcase_create("nsys_report");
	tcase_add_loop_test(tc, a_report_is_exported_and_read, 0, 2);
	tcase_add_test(tc, what_nsys_complains_of_is_shown);
	suite_add_tcase(suite, tc);
	return suite;
}
