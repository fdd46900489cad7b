/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the subject of runs: command, machine, software. */
#include "comparable.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <stdio.h>
#include <string.h>

/* Returns the compared property of a run as text; NULL = unknown, which differs from nothing. */
typedef const char *describe_run(const struct tp_run_values *run, struct tp_arena *arena);

/* The folder of a file is not part of the work: only base names are compared. The command of an
 * import is trainprof's own. */
static const char *command_of(const struct tp_run_values *run, struct tp_arena *arena)
{
	struct tp_buf text = {0};
	if (!run->n_command || (run->mode && strcmp(run->mode, "import") == 0))
		return NULL;
	for (size_t i = 0; i < run->n_command; i++) {
		if (i)
			tp_buf_putc(&text, ' ');
		tp_buf_puts(&text, tp_text_base_name(run->command[i]));
	}
	const char *out = tp_arena_strdup(arena, tp_buf_text(&text));
	tp_buf_release(&text);
	return out;
}

static const char *mode_of(const struct tp_run_values *run, struct tp_arena *arena)
{
	(void)arena;
	return !run->mode                         ? NULL
	       : strcmp(run->mode, "import") == 0 ? "an imported trace"
	       : run->is_job                      ? "the report of a job"
						  : "a recording";
}

static const char *ranks_of(const struct tp_run_values *run, struct tp_arena *arena)
{
	return run->n_ranks ? tp_arena_printf(arena, "%lu", (unsigned long)run->n_ranks) : NULL;
}

static const char *cpu_of(const struct tp_run_values *run, struct tp_arena *arena)
{
	(void)arena;
	return run->cpu_model;
}

/* A quota can be smaller than the number of CPUs in the mask. */
static const char *n_cpus_of(const struct tp_run_values *run, struct tp_arena *arena)
{
	double n = run->n_allowed;
	if (run->quota_cpus > 0 && (n <= 0 || run->quota_cpus < n))
		n = run->quota_cpus;
	return n > 0 ? tp_arena_printf(arena, "%g", n) : NULL;
}

static const char *device_of(const struct tp_run_values *run, struct tp_arena *arena)
{
	(void)arena;
	return run->device;
}

static const char *kernel_of(const struct tp_run_values *run, struct tp_arena *arena)
{
	(void)arena;
	return run->kernel;
}

static const char *version_of(const struct tp_run_values *run, struct tp_arena *arena)
{
	(void)arena;
	return run->version;
}

/* Software may have been changed on purpose: a difference is reported and does not prevent the
 * comparison. */
static const struct {
	enum tp_likeness aspect;
	const char *what;
	describe_run *describe;
	bool is_reported_only;
} rows[] = {
	{TP_LIKE_WORKLOAD, "kind", mode_of, false},
	{TP_LIKE_WORKLOAD, "command", command_of, false},
	{TP_LIKE_WORKLOAD, "ranks", ranks_of, false},
	{TP_LIKE_MACHINE, "CPU", cpu_of, false},
	{TP_LIKE_MACHINE, "CPUs", n_cpus_of, false},
	{TP_LIKE_MACHINE, "device", device_of, false},
	{TP_LIKE_SOFTWARE, "kernel", kernel_of, true},
	{TP_LIKE_SOFTWARE, "trainprof", version_of, true},
};

/* Adds the first pair of runs that differ in this property. */
static void check_row(struct tp_run_diff *out, const struct tp_diff_request *request, size_t row,
		      struct tp_arena *arena)
{
	const char *first = NULL;
	size_t n = request->n_base + request->n_now;
	for (size_t i = 0; i < n; i++) {
		const struct tp_run_values *run =
			i < request->n_base ? request->base[i] : request->now[i - request->n_base];
		const char *text = rows[row].describe(run, arena);
		if (!text || (first && strcmp(first, text) == 0))
			continue;
		if (!first) {
			first = text;
			continue;
		}
		bool is_ignored =
			rows[row].is_reported_only || request->is_ignored[rows[row].aspect];
		out->unlike[out->n_unlike++] = (struct tp_unlike){rows[row].aspect, rows[row].what,
								  first, text, is_ignored};
		out->is_comparable = out->is_comparable && is_ignored;
		return;
	}
}

_Static_assert(TP_ARRAY_LEN(rows) <= TP_DIFF_UNLIKE_MAX, "room for all that may differ");

void tp_comparable_check(struct tp_run_diff *out, const struct tp_diff_request *request,
			 struct tp_arena *arena)
{
	out->is_comparable = true;
	for (size_t i = 0; i < TP_ARRAY_LEN(rows); i++)
		check_row(out, request, i, arena);
}
