/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises files that are not traces. */
#include "unsupported_file.h"

#include "trainprof/base/memory.h"

#include <glob.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Recognised by the first bytes or by the end of the name. Command to type: `before`, the path,
 * `after`. */
static const struct {
	const char *magic;
	const char *suffix;
	const char *what;
	const char *before;
	const char *after; /* NULL = the path is left out, too */
} unsupported[] = {
	{NULL, ".nsys-rep", "nsys's private format", "nsys export --type sqlite ",
	 " && trainprof import FILE.sqlite"},
	{NULL, ".qdrep", "nsys's private format", "nsys export --type sqlite ",
	 " && trainprof import FILE.sqlite"},
	{NULL, ".ncu-rep", "a report of Nsight Compute, which covers kernels and not a run",
	 "nsys profile -o t ./train && nsys export --type sqlite t.nsys-rep", NULL},
	{"SQLite format 3", NULL, "an SQLite database, and no export of nsys",
	 "trainprof import --list", NULL},
	{"version https://git-lfs", NULL, "a pointer of Git LFS and not the file itself",
	 "git lfs pull --include ", ""},
	{"PERFILE2", NULL, "a recording of perf, which has no waits", "trainprof run -- CMD", NULL},
	{"\xfb\x29", NULL, "a profile of cProfile, which has no times of steps",
	 "trainprof run -- python3 SCRIPT", NULL},
	{NULL, ".xplane.pb",
	 "named as XProf's and does not begin with a plane: it was cut, or copied as text",
	 "trainprof import --list", NULL},
	{NULL, ".pftrace", "a trace of Perfetto, which is not read",
	 "trainprof run -- CMD   or profile with torch.profiler", NULL},
	{NULL, ".perfetto-trace", "a trace of Perfetto, which is not read",
	 "trainprof run -- CMD   or profile with torch.profiler", NULL},
	{"Step,Computing,", NULL, "a summary of Ascend's profiler, without times of kernels",
	 "trainprof import FOLDER   (the *_ascend_pt folder that it lies in)", NULL},
	{"MOJ", NULL, "a profile of Austin: sampled stacks without waits and steps",
	 "trainprof attach PID", NULL},
	{"# austin", NULL, "a profile of Austin: sampled stacks without waits and steps",
	 "trainprof attach PID", NULL},
	{"# mode:", NULL, "a profile of Austin: sampled stacks without waits and steps",
	 "trainprof attach PID", NULL},
	{NULL, ".nvvp", "a trace of nvprof, which is not read",
	 "nsys profile --trace=cuda,nvtx,osrt CMD", NULL},
	{NULL, ".nvprof", "a trace of nvprof, which is not read",
	 "nsys profile --trace=cuda,nvtx,osrt CMD", NULL},
	{NULL, ".et", "an execution trace (Chakra), which has no times of the device",
	 "trainprof import the trace of torch.profiler that was written beside it", NULL},
	{NULL, ".wandb", "a log of Weights & Biases: scalars, and no trace", "trainprof run -- CMD",
	 NULL},
	{"ARROW1", NULL, "an Arrow file", "nsys export --type sqlite REPORT.nsys-rep", NULL},
	{NULL, ".arrow", "an Arrow stream", "nsys export --type sqlite REPORT.nsys-rep", NULL},
	{"PAR1", NULL, "a Parquet file", "python3 -c \"import pandas; pandas.read_parquet('",
	 "').to_csv('trace.csv', index=False)\" && trainprof import trace.csv"},
	{"\x80\x04\x95", NULL, "a Python pickle, which cannot be read without running it",
	 "trainprof import --list", NULL},
	{"\x80\x05\x95", NULL, "a Python pickle, which cannot be read without running it",
	 "trainprof import --list", NULL},
	{"PK\3\4", NULL, "a ZIP archive", "unzip ", ""},
	{"\x28\xb5\x2f\xfd", NULL, "packed by zstd", "zstd -d ", ""},
	{"\xfd"
	 "7zXZ",
	 NULL, "packed by xz", "xz -dk ", ""},
	{"BZh", NULL, "packed by bzip2", "bzip2 -dk ", ""},
	{"\x7f"
	 "ELF",
	 NULL, "a program", "trainprof run -- ", ""},
	{"TPREC\r\n", NULL, "part of a recording of trainprof", "trainprof report DIRECTORY", NULL},
	{"<!DOCTYPE", NULL, "an HTML page", "head -c 300 ", ""},
	{"<html", NULL, "an HTML page", "head -c 300 ", ""},
};

static const char *skip_blanks(const unsigned char *head, size_t *size)
{
	const char *text = (const char *)head;
	while (*size && (*text == ' ' || *text == '\n' || *text == '\r' || *text == '\t')) {
		text++;
		(*size)--;
	}
	return text;
}

static bool has_suffix(const char *path, const char *suffix)
{
	size_t len = strlen(path);
	size_t n = strlen(suffix);
	return len > n && strcasecmp(path + len - n, suffix) == 0;
}

static bool begins_with(const char *text, size_t size, const char *magic)
{
	size_t len = strlen(magic);
	return size >= len && strncasecmp(text, magic, len) == 0;
}

/* True if the first field of a message contains a text or a message, and a byte that no text has:
 * pprof, Perfetto and XProf begin so. */
static bool is_protocol_buffer(const unsigned char *head, size_t size)
{
	if (size < 4 || head[0] != 0x0a)
		return false;
	for (size_t i = 1; i < size && i < 64; i++)
		if (head[i] < 9 || head[i] >= 0x80)
			return true;
	return false;
}

enum tp_status tp_unsupported_file_error(const char *path, const unsigned char *head, size_t size,
					 struct tp_error *err)
{
	bool is_message = is_protocol_buffer(head, size);
	const char *text = skip_blanks(head, &size);
	for (size_t i = 0; i < TP_ARRAY_LEN(unsupported); i++) {
		const char *suffix = unsupported[i].suffix;
		const char *after = unsupported[i].after;
		if (suffix ? !has_suffix(path, suffix)
			   : !begins_with(text, size, unsupported[i].magic))
			continue;
		(void)tp_fail(err, TP_PARSE, "'%s' is %s", path, unsupported[i].what);
		if (after)
			tp_error_next_word(err, unsupported[i].before, path, after);
		else
			tp_error_next(err, "%s", unsupported[i].before);
		return TP_PARSE;
	}
	const char *slash = strrchr(path, '/');
	if (strncmp(slash ? slash + 1 : path, "events.out.tfevents", 19) == 0) {
		(void)tp_fail(err, TP_PARSE, "'%s' holds scalars of TensorBoard, and no trace",
			      path);
		tp_error_next(err, "trainprof import LOGDIR   (its plugins/profile is looked for)");
		return TP_PARSE;
	}
	if (is_message) {
		(void)tp_fail(err, TP_PARSE,
			      "'%s' is a protocol buffer (pprof or Perfetto), which is not read",
			      path);
		tp_error_next(err, "trainprof run -- CMD   or profile with torch.profiler");
		return TP_PARSE;
	}
	(void)tp_fail(err, TP_PARSE, "'%s' is no trace that trainprof knows", path);
	tp_error_next(err, "trainprof import --list");
	return TP_PARSE;
}

/* Finds output of Ascend's profiler that was not analysed yet. */
bool tp_unsupported_folder_find(const char *path, struct tp_error *err)
{
	static const char *const below[] = {"", "/*_ascend_pt"};
	bool is_raw = false;
	for (size_t i = 0; !is_raw && i < TP_ARRAY_LEN(below); i++) {
		glob_t found = {0};
		char *pattern = tp_asprintf("%s%s/PROF_*", path, below[i]);
		is_raw = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;
		globfree(&found);
		free(pattern);
	}
	if (!is_raw)
		return false;
	(void)tp_fail(err, TP_PARSE, "'%s' holds raw data of Ascend's profiler, which is not read",
		      path);
	tp_error_next_word(err, "msprof --export=on --output=", path,
			   "   (or torch_npu.profiler.profiler.analyse)");
	return true;
}
