/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which files in folders of traces are read. */
#include "trainprof/import/trace_folder.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/trainprof-folder-XXXXXX";

static void make_of(const char *name, const char *content)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *slash = strchr(path + strlen(root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	ck_assert_int_eq(tp_file_replace(path, content, strlen(content), NULL), TP_OK);
}

static void make(const char *name)
{
	make_of(name, "x");
}

static void enter(void)
{
	memcpy(root + strlen(root) - 6, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(root));
}

static void leave(void)
{
	char *command = tp_asprintf("rm -r %s", root);
	ck_assert_int_eq(system(command), 0);
	free(command);
}

/* Returns the paths below the root, each followed by a space. */
static char *expanded_as(const char *path, const char *format, const char **chosen)
{
	static char text[1024];
	struct tp_arena arena = {0};
	struct tp_trace_files files;
	char *full = tp_asprintf("%s/%s", root, path);
	tp_trace_folder_expand(&files, &(const char *){full}, 1, format, &arena);
	text[0] = '\0';
	for (size_t i = 0; i < files.n; i++) {
		strcat(text, files.paths[i] + strlen(root) + 1);
		strcat(text, " ");
	}
	if (chosen)
		*chosen = files.chosen ? "chosen" : "";
	tp_arena_release(&arena);
	free(full);
	return text;
}

static char *expanded(const char *path, const char **chosen)
{
	return expanded_as(path, NULL, chosen);
}

START_TEST(the_newest_profile_of_a_log_folder_is_read)
{
	const char *chosen;
	make("log/plugins/profile/2026_01_02_10_00_00/a.xplane.pb");
	make("log/plugins/profile/2026_01_03_09_00_00/b.xplane.pb");
	make("log/plugins/profile/2026_01_03_09_00_00/a.xplane.pb");
	make("log/plugins/profile/2026_01_03_09_00_00/a.trace.json.gz");
	make("log/events.out.tfevents.1");
	ck_assert_str_eq(expanded("log", &chosen),
			 "log/plugins/profile/2026_01_03_09_00_00/a.xplane.pb "
			 "log/plugins/profile/2026_01_03_09_00_00/b.xplane.pb ");
	ck_assert_str_eq(chosen, "chosen");
}
END_TEST

START_TEST(ranks_of_a_folder_are_in_the_order_of_their_numbers)
{
	make("job/worker10.pt.trace.json.gz");
	make("job/worker9.pt.trace.json.gz");
	make("job/notes.txt");
	ck_assert_str_eq(expanded("job", NULL), "job/worker9.pt.trace.json.gz "
						"job/worker10.pt.trace.json.gz ");
}
END_TEST

START_TEST(what_is_no_folder_of_traces_stays)
{
	make("none/readme");
	ck_assert_str_eq(expanded("none", NULL), "none ");
	ck_assert_str_eq(expanded("none/readme", NULL), "none/readme ");
	ck_assert_str_eq(expanded("absent", NULL), "absent ");
}
END_TEST

START_TEST(each_rank_of_ascend_is_read_once_from_what_says_most)
{
	make("job/a_ascend_pt/profiler_info_0.json");
	make("job/a_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db");
	make("job/a_ascend_pt/ASCEND_PROFILER_OUTPUT/analysis.db");
	make("job/a_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json");
	make("job/b_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json");
	make("job/b_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv");
	ck_assert_str_eq(expanded("job", NULL),
			 "job/a_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db "
			 "job/b_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json ");
	ck_assert_str_eq(expanded("job/b_ascend_pt", NULL),
			 "job/b_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json ");
}
END_TEST

START_TEST(folders_of_hosts_are_searched)
{
	make("out/node1/17_results.db");
	make("out/node1/17_results.json");
	make("out/node2/9_results.db");
	make("out/node2/notes.txt");
	ck_assert_str_eq(expanded("out", NULL), "out/node1/17_results.db out/node2/9_results.db ");
}
END_TEST

static const char kineto[] = "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\","
			     "\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2}]}";
static const char csv[] = "Name,Start Time(us),Duration(us)\nMatMul,5,6\n";
static const char xprof[] = "{\"traceEvents\":[{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,"
			    "\"args\":{\"name\":\"/host:CPU\"}}]}";

/* Reading one of them and saying nothing of the other would hide half of what is there. */
START_TEST(a_trace_of_another_maker_is_named_once)
{
	make_of("mixed/0.pt.trace.json", kineto);
	make_of("mixed/1.pt.trace.json", kineto);
	make_of("mixed/op_summary_1.csv", csv);
	make_of("mixed/op_summary_2.csv", csv);
	ck_assert_str_eq(expanded("mixed", NULL), "mixed/0.pt.trace.json mixed/1.pt.trace.json "
						  "mixed/op_summary_1.csv ");
	ck_assert_str_eq(expanded_as("mixed", "ascend-csv", NULL),
			 "mixed/op_summary_1.csv mixed/op_summary_2.csv ");
	ck_assert_str_eq(expanded_as("mixed", "rocprof", NULL),
			 "mixed/0.pt.trace.json mixed/1.pt.trace.json mixed/op_summary_1.csv ");
}
END_TEST

START_TEST(other_forms_of_the_same_maker_are_not_named)
{
	make_of("ascend/trace_view.json", kineto);
	make_of("ascend/op_summary_1.csv", csv);
	ck_assert_str_eq(expanded("ascend", NULL), "ascend/trace_view.json ");
	make_of("xprof/a.xplane.pb", "x");
	make_of("xprof/a.trace.json.gz", xprof);
	ck_assert_str_eq(expanded("xprof", NULL), "xprof/a.xplane.pb ");
	make_of("torch/a.pt.trace.json.gz", kineto);
	make_of("torch/a.trace.json.gz", kineto);
	ck_assert_str_eq(expanded("torch", NULL), "torch/a.pt.trace.json.gz ");
}
END_TEST

/* Results of an evaluation and databases of programs have such names, too. */
START_TEST(a_file_that_only_has_the_name_of_a_trace_is_not_named)
{
	make_of("job/0.pt.trace.json", kineto);
	make_of("job/eval_results.json", "{\"accuracy\": 0.9}");
	make_of("job/runs.sqlite", "SQLite format 3");
	make_of("job/kernel_details.csv", "epoch,loss\n1,2\n");
	ck_assert_str_eq(expanded("job", NULL), "job/0.pt.trace.json ");
}
END_TEST

Suite *suite_import_trace_folder(void);
Suite *suite_import_trace_folder(void)
{
	Suite *suite = suite_create("import/trace_folder");
	TCase *tcase = tcase_create("folders");
	tcase_add_checked_fixture(tcase, enter, leave);
	tcase_add_test(tcase, the_newest_profile_of_a_log_folder_is_read);
	tcase_add_test(tcase, ranks_of_a_folder_are_in_the_order_of_their_numbers);
	tcase_add_test(tcase, what_is_no_folder_of_traces_stays);
	tcase_add_test(tcase, each_rank_of_ascend_is_read_once_from_what_says_most);
	tcase_add_test(tcase, folders_of_hosts_are_searched);
	tcase_add_test(tcase, a_trace_of_another_maker_is_named_once);
	tcase_add_test(tcase, other_forms_of_the_same_maker_are_not_named);
	tcase_add_test(tcase, a_file_that_only_has_the_name_of_a_trace_is_not_named);
	suite_add_tcase(suite, tcase);
	return suite;
}
