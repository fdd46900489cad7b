/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the messages for files that are not traces. */
#include "import/reader/unsupported_file.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
	const char *path;
	const char *head;
	const char *text;
	const char *next;
} strangers[] = {
	{"t.nsys-rep", "\x12\x34", "'t.nsys-rep' is nsys's private format",
	 "nsys export --type sqlite t.nsys-rep && trainprof import FILE.sqlite"},
	{"a/t.qdrep", "", "'a/t.qdrep' is nsys's private format",
	 "nsys export --type sqlite a/t.qdrep && trainprof import FILE.sqlite"},
	{".nsys-rep", "?", "'.nsys-rep' is no trace that trainprof knows",
	 "trainprof import --list"},
	{"t.ncu-rep", "?",
	 "'t.ncu-rep' is a report of Nsight Compute, which covers kernels and not a run",
	 "nsys profile -o t ./train && nsys export --type sqlite t.nsys-rep"},
	{"t.json", "\n <!doctype html>", "'t.json' is an HTML page", "head -c 300 t.json"},
	{"t.json", "<html lang=en>", "'t.json' is an HTML page", "head -c 300 t.json"},
	{"t.zip", "PK\3\4....", "'t.zip' is a ZIP archive", "unzip t.zip"},
	{"t.json.zst", "\x28\xb5\x2f\xfd", "'t.json.zst' is packed by zstd", "zstd -d t.json.zst"},
	{"trace-ST.parquet", "PAR1\x15", "'trace-ST.parquet' is a Parquet file",
	 "python3 -c \"import pandas; pandas.read_parquet('trace-ST.parquet').to_csv('trace.csv', "
	 "index=False)\" && trainprof import trace.csv"},
	{"t.pkl", "\x80\x04\x95",
	 "'t.pkl' is a Python pickle, which cannot be read without running it",
	 "trainprof import --list"},
	{"t.db", "SQLite format 3", "'t.db' is an SQLite database, and no export of nsys",
	 "trainprof import --list"},
	{"step_trace_time.csv", "Step,Computing,Free",
	 "'step_trace_time.csv' is a summary of Ascend's profiler, without times of kernels",
	 "trainprof import FOLDER   (the *_ascend_pt folder that it lies in)"},
	{"a.austin", "MOJ\1",
	 "'a.austin' is a profile of Austin: sampled stacks without waits and steps",
	 "trainprof attach PID"},
	{"a.txt", "# mode: wall",
	 "'a.txt' is a profile of Austin: sampled stacks without waits and steps",
	 "trainprof attach PID"},
	{"run.wandb", ":W&B", "'run.wandb' is a log of Weights & Biases: scalars, and no trace",
	 "trainprof run -- CMD"},
	{"a/events.out.tfevents.17.host", "\x18",
	 "'a/events.out.tfevents.17.host' is a file of TensorBoard's scalars, and no trace",
	 "trainprof import LOGDIR   (its plugins/profile is looked for)"},
	{"t.arrow", "ARROW1", "'t.arrow' is an Arrow file",
	 "nsys export --type sqlite REPORT.nsys-rep"},
	{"t.pftrace", "\x0a\x14\xe2\x03", "'t.pftrace' is a trace of Perfetto, which is not read",
	 "traceconv json t.pftrace trace.json && trainprof import trace.json   (rocprofv3 writes "
	 "rocpd, too)"},
	{"t", "\x0a\x14\xe2\x03\x11\x08\x05",
	 "'t' is a trace of Perfetto, which is not read, or another protocol buffer",
	 "traceconv json t trace.json && trainprof import trace.json   (rocprofv3 writes rocpd, "
	 "too)"},
	{"t", "\x0a\x04\x08\x01\x10\x02\x0a\x04",
	 "'t' is a profile of pprof: sampled stacks without waits and steps",
	 "trainprof attach PID"},
	{"t", "\x0a\xef\xbf\xbd\x01\x12\x0d/device:GPU:0",
	 "'t' is a binary file that was copied as text: bytes of it are lost",
	 "trainprof import FILE   (the binary file, copied again)"},
	{"t.json.gz", "\x1f\xef\xbf\xbd\x08",
	 "'t.json.gz' is a binary file that was copied as text: bytes of it are lost",
	 "trainprof import FILE   (the binary file, copied again)"},
	{"t.json.gz", "\x1f\x8b\x08", "'t.json.gz' is packed by gzip more than once",
	 "gunzip -c t.json.gz > trace.json && trainprof import trace.json"},
	{"t", "\x80\x04\x95\x7a}\x94(\x8c\x08segments\x94]",
	 "'t' is a snapshot of PyTorch's memory: sizes over time, and no steps",
	 "python -m torch.cuda._memory_viz trace_plot t -o memory.html"},
	{"t", "\x80\x02}q(X\x08...segments", /* of an older protocol */
	 "'t' is a snapshot of PyTorch's memory: sizes over time, and no steps",
	 "python -m torch.cuda._memory_viz trace_plot t -o memory.html"},
	{"t", "\x80\x02}q(X\x07...versionX\x09...pg_config",
	 "'t' is PyTorch's flight recorder: the last collectives, and no timeline",
	 "torchfrtrace FOLDER   (says which rank did not enter a collective)"},
	{"t", "{(\xda\x01~\xe9", "'t' is a profile of cProfile, which has no times of steps",
	 "trainprof run -- python3 SCRIPT"},
	{"t", "{(a) -> b}", "'t' is no trace that trainprof knows", "trainprof import --list"},
	{"t", "{caf\xc3\xa9: 1}", "'t' is no trace that trainprof knows",
	 "trainprof import --list"},
	{"t", "main;train 12\nmain;train;step 7\nmain;tr",
	 "'t' is collapsed stacks: samples without waits and steps", "trainprof attach PID"},
	{"t", "main;train 12\nof five lines\nonly;one 4\nis\na stack 3\n",
	 "'t' is no trace that trainprof knows", "trainprof import --list"},
	{"t",
	 "............\x09........\x1a\x0d"
	 "brain.Event:2",
	 "'t' is a file of TensorBoard's scalars, and no trace",
	 "trainprof import LOGDIR   (its plugins/profile is looked for)"},
	{"t.csv", "\"Kind\",\"Agent_Id\",\"Queue_Id\"",
	 "'t.csv' is rocprofv3's CSV, a file for each kind of event",
	 "rocprofv3 --output-format rocpd --hip-trace --kernel-trace --memory-copy-trace -- CMD"},
	{"t.csv", "Time (%),Total Time (ns),Instances",
	 "'t.csv' is a summary of nsys, without times of kernels",
	 "nsys export --type sqlite REPORT.nsys-rep"},
	{"train",
	 "\x7f"
	 "ELF",
	 "'train' is a program", "trainprof run -- train"},
	{"noise", "\x93\x1c\xff", "'noise' is no trace that trainprof knows",
	 "trainprof import --list"},
};

START_TEST(each_is_named_with_what_to_do)
{
	struct tp_error err = {0};
	const unsigned char *head = (const unsigned char *)strangers[_i].head;
	ck_assert_int_eq(tp_unsupported_file_error(strangers[_i].path, head,
						   strlen(strangers[_i].head), &err),
			 TP_PARSE);
	ck_assert_str_eq(err.text, strangers[_i].text);
	ck_assert_str_eq(err.next, strangers[_i].next);
}
END_TEST

static const struct {
	const char *name;
	const char *next;
} held[] = {
	{"PROF_000001_2026", "msprof --export=on"},
	{"CUPTI_ACTIVITY_KIND_KERNEL.parquet", "nsys export --type sqlite"},
	{"events.out.tfevents.1", "start_trace(LOGDIR)"},
};

START_TEST(folders_are_named_by_what_they_hold)
{
	struct tp_error err = {0};
	char folder[] = "/tmp/trainprof-raw-XXXXXX";
	char path[128];
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert(!tp_unsupported_folder_find(folder, &err));
	snprintf(path, sizeof(path), "%s/%s", folder, held[_i].name);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert(tp_unsupported_folder_find(folder, &err));
	ck_assert_ptr_nonnull(strstr(err.next, held[_i].next));
	rmdir(path);
	rmdir(folder);
}
END_TEST

START_TEST(blanks_alone_are_no_trace)
{
	struct tp_error err = {0};
	ck_assert_int_eq(tp_unsupported_file_error("t", (const unsigned char *)"  \n", 3, &err),
			 TP_PARSE);
	ck_assert_str_eq(err.text, "'t' is no trace that trainprof knows");
	ck_assert_int_eq(tp_unsupported_file_error("t", (const unsigned char *)"  \n", 3, NULL),
			 TP_PARSE);
}
END_TEST

Suite *suite_import_unsupported_file(void);
Suite *suite_import_unsupported_file(void)
{
	Suite *suite = suite_create("import/refusal");
	TCase *tc = tcase_create("refusal");
	tcase_add_loop_test(tc, each_is_named_with_what_to_do, 0,
			    sizeof(strangers) / sizeof(strangers[0]));
	tcase_add_test(tc, blanks_alone_are_no_trace);
	tcase_add_loop_test(tc, folders_are_named_by_what_they_hold, 0,
			    sizeof(held) / sizeof(held[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
