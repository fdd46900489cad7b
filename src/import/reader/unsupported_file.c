/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises files that are not traces. */
#include "unsupported_file.h"

#include "trainprof/base/memory.h"

#include <glob.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PERFETTO          "a trace of Perfetto, which is not read"
#define PERFETTO_JSON     " trace.json && trainprof import trace.json   (rocprofv3 writes rocpd, too)"
#define SCALARS           "a file of TensorBoard's scalars, and no trace"
#define FOLDER_OF_SCALARS "trainprof import LOGDIR   (its plugins/profile is looked for)"
#define RAW_OF_ASCEND     "raw data of Ascend's profiler, which is not read"
#define EXPORT_OF_ASCEND  "msprof --export=on --output="
#define ANALYSE_OF_ASCEND "   (or torch_npu.profiler.profiler.analyse)"
#define TABLES_OF_NSYS    "tables of nsys as Parquet or Arrow, which are not read"
#define EXPORT_OF_NSYS    "nsys export --type sqlite REPORT.nsys-rep"
#define SUMMARY_OF_ASCEND "a summary of Ascend's profiler, without times of kernels"
#define FOLDER_OF_ASCEND  "trainprof import FOLDER   (the *_ascend_pt folder that it lies in)"

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
	{NULL, ".pftrace", PERFETTO, "traceconv json ", PERFETTO_JSON},
	{NULL, ".perfetto-trace", PERFETTO, "traceconv json ", PERFETTO_JSON},
	{"\"Kind\",\"Agent_Id\"", NULL, "rocprofv3's CSV, a file for each kind of event",
	 "rocprofv3 --output-format rocpd --hip-trace --kernel-trace --memory-copy-trace -- CMD",
	 NULL},
	{"\"Index\",\"KernelName\"", NULL, "a table of rocprof, the predecessor of rocprofv3",
	 "rocprofv3 --hip-trace --kernel-trace --memory-copy-trace -- CMD", NULL},
	{"\"ID\",\"Process ID\"", NULL,
	 "a table of Nsight Compute, which covers kernels and not a run",
	 "nsys profile -o t ./train && nsys export --type sqlite t.nsys-rep", NULL},
	{":W&B", NULL, "a log of Weights & Biases: scalars, and no trace", "trainprof run -- CMD",
	 NULL},
	{":::MLL", NULL, "a log of MLPerf: times of epochs, and no trace", "trainprof run -- CMD",
	 NULL},
	{"memray", NULL, "a recording of memray: allocations, and no times of steps",
	 "trainprof run -- CMD", NULL},
	{"Name,Input Shapes,", NULL, SUMMARY_OF_ASCEND, FOLDER_OF_ASCEND, NULL},
	{"Component,Timestamp(us)", NULL, SUMMARY_OF_ASCEND, FOLDER_OF_ASCEND, NULL},
	{"Step,Computing,", NULL, SUMMARY_OF_ASCEND, FOLDER_OF_ASCEND, NULL},
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
	{"\xff\xff\xff\xff", NULL, "an Arrow stream", "nsys export --type sqlite REPORT.nsys-rep",
	 NULL},
	{"PAR1", NULL, "a Parquet file", "python3 -c \"import pandas; pandas.read_parquet('",
	 "').to_csv('trace.csv', index=False)\" && trainprof import trace.csv"},
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

static bool holds(const unsigned char *head, size_t size, const char *text)
{
	return memmem(head, size, text, strlen(text)) != NULL;
}

/* ---- formats whose first bytes are not always the same ---- */

static bool is_python_object(const unsigned char *head, size_t size)
{
	return size > 2 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5;
}

static bool is_memory_snapshot(const unsigned char *head, size_t size)
{
	return is_python_object(head, size) &&
	       (holds(head, size, "segments") || holds(head, size, "device_traces"));
}

static bool is_collective_log(const unsigned char *head, size_t size)
{
	return is_python_object(head, size) &&
	       (holds(head, size, "_comm_state") || holds(head, size, "pg_config"));
}

/* True if a byte that no text has is among the first ones. */
static bool is_binary(const unsigned char *head, size_t size)
{
	for (size_t i = 1; i < size && i < 64; i++)
		if (head[i] < 9 || head[i] >= 0x80)
			return true;
	return false;
}

/* A marshalled dictionary whose first key is a tuple. The upper bit marks one that is used again.
 */
static bool is_python_profile(const unsigned char *head, size_t size)
{
	return size > 1 && head[0] == '{' && ((head[1] & 0x7f) == '(' || (head[1] & 0x7f) == ')') &&
	       is_binary(head, size);
}

static bool is_event_file(const unsigned char *head, size_t size)
{
	enum { RECORD = 12, VERSION_BYTES = 40 };
	if (size <= RECORD || head[RECORD] != 0x09)
		return false;
	size_t rest = size - RECORD;
	return holds(head + RECORD, rest < VERSION_BYTES ? rest : VERSION_BYTES, "brain.Event:");
}

static bool is_text_of_nsys_stats(const unsigned char *head, size_t size)
{
	return holds(head, size < 128 ? size : 128, "Time (%),Total Time (ns)");
}

/* True for lines "main;train;step 12", all but a few of them and the last one, which may be cut. */
static bool is_collapsed(const unsigned char *head, size_t size)
{
	size_t n_lines = 0;
	size_t n_stacks = 0;
	const char *line = (const char *)head;
	const char *end = line + size;
	const char *next;
	while (line < end && (next = memchr(line, '\n', (size_t)(end - line)))) {
		const char *digit = next;
		while (digit > line && digit[-1] >= '0' && digit[-1] <= '9')
			digit--;
		n_lines++;
		n_stacks += digit < next && digit > line && digit[-1] == ' ' &&
			    memchr(line, ';', (size_t)(digit - line));
		line = next + 1;
	}
	return n_stacks >= 2 && 10 * n_stacks >= 9 * n_lines;
}

/* True if the first field of a message contains a text or a message, and a byte that no text has:
 * pprof, Perfetto and XProf begin so. */
static bool is_protocol_buffer(const unsigned char *head, size_t size)
{
	return size >= 4 && head[0] == 0x0a && is_binary(head, size);
}

/* pprof begins with the types of its values: messages of two small numbers, each of one byte or
 * two. A packet of Perfetto has fields of other numbers. */
static bool is_pprof(const unsigned char *head, size_t size)
{
	return is_protocol_buffer(head, size) && size > 6 && head[1] >= 2 && head[1] <= 6 &&
	       (head[2] == 0x08 || head[2] == 0x10) && (size_t)head[1] + 2 < size &&
	       (head[head[1] + 2] == 0x0a || head[head[1] + 2] == 0x12);
}

/* A converter of texts writes this in place of each byte that is no ASCII; the first two are of
 * protocol buffers and gzip. */
static bool was_copied_as_text(const unsigned char *head, size_t size)
{
	return (head[0] == 0x0a || head[0] == 0x1f) && holds(head, size, "\xef\xbf\xbd");
}

/* The file is unpacked once before it is looked into. */
static bool is_gzip(const unsigned char *head, size_t size)
{
	return size > 1 && head[0] == 0x1f && head[1] == 0x8b;
}

/* As some editors and shells of Windows save text. */
static bool is_wide_text(const unsigned char *head, size_t size)
{
	return size > 3 && ((head[0] == 0xff && head[1] == 0xfe && !head[3]) ||
			    (head[0] == 0xfe && head[1] == 0xff && !head[2]));
}

static const struct {
	bool (*recognises)(const unsigned char *head, size_t size);
	const char *what;
	const char *before; /* command to type: `before`, the path, `after` */
	const char *after;
} looked_into[] = {
	{is_memory_snapshot, "a snapshot of PyTorch's memory: sizes over time, and no steps",
	 "python -m torch.cuda._memory_viz trace_plot ", " -o memory.html"},
	{is_collective_log, "PyTorch's flight recorder: the last collectives, and no timeline",
	 "torchfrtrace FOLDER   (says which rank did not enter a collective)", NULL},
	{is_python_object, "a Python pickle, which cannot be read without running it",
	 "trainprof import --list", NULL},
	{is_python_profile, "a profile of cProfile, which has no times of steps",
	 "trainprof run -- python3 SCRIPT", NULL},
	{is_event_file, SCALARS, FOLDER_OF_SCALARS, NULL},
	{is_text_of_nsys_stats, "a summary of nsys, without times of kernels",
	 "nsys export --type sqlite REPORT.nsys-rep", NULL},
	{is_collapsed, "collapsed stacks: samples without waits and steps", "trainprof attach PID",
	 NULL},
	{is_wide_text, "a text in UTF-16", "iconv -f UTF-16 -t UTF-8 ",
	 " > trace.json && trainprof import trace.json"},
	{was_copied_as_text, "a binary file that was copied as text: bytes of it are lost",
	 "trainprof import FILE   (the binary file, copied again)", NULL},
	{is_gzip, "packed by gzip more than once", "gunzip -c ",
	 " > trace.json && trainprof import trace.json"},
	{is_pprof, "a profile of pprof: sampled stacks without waits and steps",
	 "trainprof attach PID", NULL},
	{is_protocol_buffer, PERFETTO ", or another protocol buffer", "traceconv json ",
	 PERFETTO_JSON},
};

static enum tp_status fail(const char *path, const char *what, const char *before,
			   const char *after, struct tp_error *err)
{
	(void)tp_fail(err, TP_PARSE, "'%s' is %s", path, what);
	if (after)
		tp_error_next_word(err, before, path, after);
	else
		tp_error_next(err, "%s", before);
	return TP_PARSE;
}

enum tp_status tp_unsupported_file_error(const char *path, const unsigned char *head, size_t size,
					 struct tp_error *err)
{
	size_t text_size = size;
	const char *text = skip_blanks(head, &text_size);
	for (size_t i = 0; i < TP_ARRAY_LEN(unsupported); i++) {
		const char *suffix = unsupported[i].suffix;
		if (suffix ? has_suffix(path, suffix)
			   : begins_with(text, text_size, unsupported[i].magic))
			return fail(path, unsupported[i].what, unsupported[i].before,
				    unsupported[i].after, err);
	}
	const char *slash = strrchr(path, '/');
	if (strncmp(slash ? slash + 1 : path, "events.out.tfevents", 19) == 0)
		return fail(path, SCALARS, FOLDER_OF_SCALARS, NULL, err);
	for (size_t i = 0; size && i < TP_ARRAY_LEN(looked_into); i++)
		if (looked_into[i].recognises(head, size))
			return fail(path, looked_into[i].what, looked_into[i].before,
				    looked_into[i].after, err);
	(void)tp_fail(err, TP_PARSE, "'%s' is no trace that trainprof knows", path);
	tp_error_next(err, "trainprof import --list");
	return TP_PARSE;
}

/* The kind of files in a folder in which no trace was found. */
static const struct {
	const char *pattern; /* of a path in the folder */
	const char *what;
	const char *before; /* command to type: `before`, the path, `after` */
	const char *after;
} folders[] = {
	{"/PROF_*", RAW_OF_ASCEND, EXPORT_OF_ASCEND, ANALYSE_OF_ASCEND},
	{"/*_ascend_pt/PROF_*", RAW_OF_ASCEND, EXPORT_OF_ASCEND, ANALYSE_OF_ASCEND},
	{"/CUPTI_ACTIVITY_KIND_*.parquet", TABLES_OF_NSYS, EXPORT_OF_NSYS, NULL},
	{"/StringIds.parquet", TABLES_OF_NSYS, EXPORT_OF_NSYS, NULL},
	{"/CUPTI_ACTIVITY_KIND_*.arrow", TABLES_OF_NSYS, EXPORT_OF_NSYS, NULL},
	{"/events.out.tfevents*", "scalars of TensorBoard, and no plugins/profile",
	 "jax.profiler.start_trace(LOGDIR), or: tf.profiler.experimental.start(LOGDIR)", NULL},
};

static bool has_match(const char *path, const char *pattern)
{
	glob_t found = {0};
	char *whole = tp_asprintf("%s%s", path, pattern);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no thread changes the locale or the users */
	bool is_found = glob(whole, GLOB_NOSORT, NULL, &found) == 0;
	globfree(&found);
	free(whole);
	return is_found;
}

bool tp_unsupported_folder_find(const char *path, struct tp_error *err)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(folders); i++) {
		if (!has_match(path, folders[i].pattern))
			continue;
		(void)tp_fail(err, TP_PARSE, "'%s' holds %s", path, folders[i].what);
		if (folders[i].after)
			tp_error_next_word(err, folders[i].before, path, folders[i].after);
		else
			tp_error_next(err, "%s", folders[i].before);
		return true;
	}
	return false;
}
