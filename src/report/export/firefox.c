/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks for the Firefox Profiler, in its processed format, which newer versions of it upgrade. A
 * thread has one sample for each stack, with the time as its weight: samples stand one after the
 * other, not when they happened. Source: docs-developer/processed-profile-format.md of
 * firefox-devtools/profiler.
 */
#include "formats.h"

#include "frame_table.h"
#include "json_stream.h"

#include "trainprof/base/file.h"
#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/version.h"

#include <inttypes.h>
#include <stdlib.h>

enum { GECKO_VERSION = 27, PROCESSED_VERSION = 48, NO_PREFIX = -1 };

/* In the order of write_header(). */
enum category { CATEGORY_CPU, CATEGORY_WAIT, CATEGORY_DEVICE };

struct stack_entry {
	int64_t prefix; /* index of the caller; NO_PREFIX */
	uint32_t frame;
	enum category category;
};

struct firefox {
	FILE *out;
	const struct tp_profile *profile;
	struct tp_export_frames frames; /* of the thread that is being written */
	struct stack_entry *stacks;     /* heap */
	size_t n_stacks;
	size_t stacks_capacity;
	struct tp_map index; /* of stacks, by prefix, frame and category */
	bool is_next;
};

/* ---- tables ---- */

static enum category category_of(const struct tp_export_weight *weight)
{
	if (weight->task == TP_NO_TASK)
		return CATEGORY_DEVICE;
	return weight->state == TP_STATE_ON_CPU ? CATEGORY_CPU : CATEGORY_WAIT;
}

static int64_t stack_number(struct firefox *f, struct stack_entry entry)
{
	uint64_t key = tp_hash_mix((uint64_t)(entry.prefix + 1) << 2 | entry.category, entry.frame);
	uint64_t at = f->n_stacks;
	if (tp_map_get(&f->index, key, &at))
		return (int64_t)at;
	tp_map_set(&f->index, key, at);
	TP_ARRAY_PUSH(f->stacks, f->n_stacks, f->stacks_capacity) = entry;
	return (int64_t)at;
}

/* Returns the number of the innermost entry. The process and the thread are members of the thread,
 * and no frames. */
static int64_t add_stack(struct firefox *f, const struct tp_export_weight *weight)
{
	enum { MEMBERS = 2 };
	int64_t at = NO_PREFIX;
	tp_export_names_of(&f->frames.names, weight);
	for (size_t i = MEMBERS; i < f->frames.names.n; i++)
		at = stack_number(f,
				  (struct stack_entry){.prefix = at,
						       .frame = tp_export_frames_number(&f->frames,
											i),
						       .category = category_of(weight)});
	return at;
}

static void write_null_or(FILE *out, size_t i, bool is_known, uint64_t value)
{
	fputs(i ? "," : "", out);
	if (is_known)
		fprintf(out, "%" PRIu64, value);
	else
		fputs("null", out);
}

static void write_same(FILE *out, const char *key, const char *value, size_t n)
{
	fprintf(out, ",\"%s\":[", key);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%s", i ? "," : "", value);
	putc(']', out);
}

static void write_stacks(const struct firefox *f)
{
	FILE *out = f->out;
	fprintf(out, ",\n\"stackTable\":{\"length\":%zu,\"prefix\":[", f->n_stacks);
	for (size_t i = 0; i < f->n_stacks; i++)
		write_null_or(out, i, f->stacks[i].prefix != NO_PREFIX,
			      (uint64_t)f->stacks[i].prefix);
	fputs("],\"frame\":[", out);
	for (size_t i = 0; i < f->n_stacks; i++)
		write_null_or(out, i, true, f->stacks[i].frame);
	fputs("],\"category\":[", out);
	for (size_t i = 0; i < f->n_stacks; i++)
		write_null_or(out, i, true, f->stacks[i].category);
	putc(']', out);
	write_same(out, "subcategory", "0", f->n_stacks);
	putc('}', out);
}

/* A function for each frame. Its name has the number of the frame in the table of strings, its file
 * follows all names. */
static void write_frames(const struct firefox *f)
{
	FILE *out = f->out;
	size_t n = f->frames.n;
	uint32_t line;
	fprintf(out, ",\n\"frameTable\":{\"length\":%zu,\"func\":[", n);
	for (size_t i = 0; i < n; i++)
		write_null_or(out, i, true, i);
	fputs("],\"line\":[", out);
	for (size_t i = 0; i < n; i++) {
		(void)tp_export_frames_file(&f->frames, i, &line);
		write_null_or(out, i, line != 0, line);
	}
	putc(']', out);
	write_same(out, "address", "-1", n);
	write_same(out, "inlineDepth", "0", n);
	write_same(out, "category", "0", n);
	write_same(out, "subcategory", "0", n);
	write_same(out, "nativeSymbol", "null", n);
	write_same(out, "innerWindowID", "0", n);
	write_same(out, "implementation", "null", n);
	write_same(out, "column", "null", n);
	fprintf(out, "},\n\"funcTable\":{\"length\":%zu,\"name\":[", n);
	for (size_t i = 0; i < n; i++)
		write_null_or(out, i, true, i);
	fputs("],\"fileName\":[", out);
	for (size_t i = 0; i < n; i++)
		write_null_or(out, i, tp_export_frames_file(&f->frames, i, &line) != NULL, n + i);
	putc(']', out);
	write_same(out, "isJS", "false", n);
	write_same(out, "relevantForJS", "false", n);
	write_same(out, "resource", "-1", n);
	write_same(out, "lineNumber", "null", n);
	write_same(out, "columnNumber", "null", n);
	fputs("},\n\"stringArray\":[", out);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? "," : "", out);
		tp_export_json_text(out, tp_export_frames_name(&f->frames, i));
	}
	for (size_t i = 0; i < n; i++) {
		const char *file = tp_export_frames_file(&f->frames, i, &line);
		putc(',', out);
		tp_export_json_text(out, file ? file : "");
	}
	putc(']', out);
}

/* ---- threads ---- */

/* Writes ms with six decimals: whole ns. */
static void write_ms(FILE *out, size_t i, uint64_t ns)
{
	fprintf(out, "%s%" PRIu64 ".%06" PRIu64, i ? "," : "", ns / 1000000, ns % 1000000);
}

static void write_samples(struct firefox *f, const struct tp_export_weight *weights, size_t n)
{
	FILE *out = f->out;
	uint64_t at_ns = 0;
	fprintf(out, ",\n\"samples\":{\"length\":%zu,\"weightType\":\"tracing-ms\",\"stack\":[", n);
	for (size_t i = 0; i < n; i++) {
		int64_t stack = add_stack(f, &weights[i]);
		write_null_or(out, i, stack != NO_PREFIX, (uint64_t)stack);
	}
	fputs("],\"weight\":[", out);
	for (size_t i = 0; i < n; i++)
		write_ms(out, i, weights[i].time_ns);
	fputs("],\"time\":[", out);
	for (size_t i = 0; i < n; i++) {
		write_ms(out, i, at_ns);
		at_ns += weights[i].time_ns;
	}
	fputs("]}", out);
}

static void write_names(const struct firefox *f, const struct tp_export_weight *weight)
{
	const struct tp_trace *trace = f->profile->trace;
	bool is_thread = weight->task != TP_NO_TASK;
	struct tp_buf text = {0};
	tp_export_add_thread(&text, f->profile, weight);
	fprintf(f->out, "%s{\"processType\":\"default\"", f->is_next ? ",\n" : "\n");
	tp_export_json_member(f->out, "name", tp_buf_text(&text));
	tp_buf_clear(&text);
	tp_export_add_process(&text, f->profile, weight);
	tp_export_json_member(f->out, "processName", tp_buf_text(&text));
	tp_buf_release(&text);
	fprintf(f->out, ",\"isMainThread\":%s,\"pid\":\"%lld\",\"tid\":\"%lld\"",
		is_thread && weight->task == f->profile->main_task ? "true" : "false",
		is_thread ? (long long)trace->tasks[weight->task].pid : 0,
		is_thread ? (long long)trace->tasks[weight->task].tid : (long long)weight->device);
	fputs(",\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":0,"
	      "\"unregisterTime\":null,\"pausedRanges\":[]",
	      f->out);
}

static void write_thread(struct firefox *f, const struct tp_export_weight *weights, size_t n)
{
	tp_export_frames_clear(&f->frames);
	f->n_stacks = 0;
	write_names(f, weights);
	f->is_next = true;
	write_samples(f, weights, n);
	write_stacks(f);
	write_frames(f);
	fputs(",\n\"markers\":{\"length\":0,\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[]"
	      ","
	      "\"phase\":[],\"category\":[]},\"resourceTable\":{\"length\":0,\"lib\":[],\"name\":[]"
	      ","
	      "\"host\":[],\"type\":[]},\"nativeSymbols\":{\"length\":0,\"libIndex\":[],"
	      "\"address\":[],\"name\":[],\"functionSize\":[]}}",
	      f->out);
	tp_map_release(&f->index);
	f->index = (struct tp_map){0};
}

static void write_header(FILE *out, const struct tp_profile *profile)
{
	const struct tp_run_info *run = &profile->trace->run;
	fprintf(out,
		"{\"meta\":{\"interval\":1,\"processType\":0,\"stackwalk\":1,\"version\":%d,"
		"\"preprocessedProfileVersion\":%d,\"symbolicated\":true,\"markerSchema\":[],"
		"\"startTime\":%" PRIu64,
		GECKO_VERSION, PROCESSED_VERSION, run->started_wall_ns / 1000000);
	tp_export_json_member(out, "product", run->label ? run->label : "trainprof");
	fprintf(out,
		",\"importedFrom\":\"trainprof %s\",\"categories\":["
		"{\"name\":\"On CPU\",\"color\":\"green\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Waiting\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Device\",\"color\":\"blue\",\"subcategories\":[\"Other\"]}]},"
		"\"libs\":[],\"pages\":[],\"threads\":[",
		tp_version());
}

static enum tp_status firefox_write(const struct tp_report *report, FILE *out, struct tp_error *err)
{
	struct firefox f = {.out = out, .profile = report->profile};
	struct tp_export_weights weights;
	tp_export_weights_build(&weights, report->profile, false);
	tp_export_frames_init(&f.frames, report->profile);
	write_header(out, report->profile);
	for (size_t i = 0; i < weights.n;) {
		const struct tp_export_weight *first = &weights.items[i];
		size_t n = 1;
		while (i + n < weights.n && weights.items[i + n].task == first->task &&
		       weights.items[i + n].device == first->device)
			n++;
		write_thread(&f, first, n);
		i += n;
	}
	fputs("]}\n", out);
	free(f.stacks);
	tp_export_frames_release(&f.frames);
	tp_export_weights_release(&weights);
	return tp_file_check(out, "the export", err);
}

const struct tp_export_format tp_export_firefox = {
	.name = "firefox",
	.ending = "json",
	.summary = "stacks, on and off CPUs as categories",
	.opens = "profiler.firefox.com",
	.write = firefox_write,
};
