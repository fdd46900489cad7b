/* SPDX-License-Identifier: Apache-2.0 */
/* Environment settings for threads and memory. A variable that is not set counts as known to be
 * unset; it is unknown only if no environment was recorded. Gives: env.* */
#include "analyze/analysis.h"
#include "analyze/classify/frame_class.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/model/fact.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *find_variable(const struct tp_run_info *run, const char *name)
{
	for (size_t i = 0; i < run->n_environment; i++)
		if (strcmp(run->environment[i].name, name) == 0)
			return run->environment[i].value;
	return NULL;
}

static bool has_environment(const struct tp_run_info *run)
{
	return run->n_environment > 0 || run->mode == TP_MODE_RUN;
}

/* Returns the first number of "4" or "4,2" (one count for each level of nesting); 0 if it is no
 * count. */
static unsigned long first_count(const char *value)
{
	char *end;
	unsigned long count = value ? strtoul(value, &end, 10) : 0;
	return value && end != value && count < 1000000 ? count : 0;
}

static void set_count(struct tp_profile *profile, enum tp_fact fact, unsigned long count,
		      const char *why)
{
	if (count)
		tp_profile_set(profile, fact, (double)count, TP_ORIGIN_MEASURED, 1);
	else
		tp_profile_set_missing(profile, fact, why);
}

static void set_threads(struct tp_analysis *analysis)
{
	static const char *const blas[] = {"OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"};
	struct tp_profile *profile = analysis->profile;
	const struct tp_run_info *run = &analysis->trace->run;
	set_count(profile, TP_FACT_ENV_OMP, first_count(find_variable(run, "OMP_NUM_THREADS")),
		  "OMP_NUM_THREADS is not set");
	unsigned long count = 0;
	for (size_t i = 0; !count && i < TP_ARRAY_LEN(blas); i++)
		count = first_count(find_variable(run, blas[i]));
	set_count(profile, TP_FACT_ENV_BLAS, count,
		  "neither OPENBLAS_NUM_THREADS nor MKL_NUM_THREADS is set");
}

static bool is_value(const char *value, const char *wanted)
{
	return value && strcasecmp(value, wanted) == 0;
}

/* Returns true if waiting threads sleep: by the standard variable, or by the runtimes' own
 * variables set to no spinning. */
static bool is_wait_by_sleep(const struct tp_run_info *run)
{
	return is_value(find_variable(run, "OMP_WAIT_POLICY"), "passive") ||
	       is_value(find_variable(run, "GOMP_SPINCOUNT"), "0") ||
	       is_value(find_variable(run, "KMP_BLOCKTIME"), "0");
}

/* A library that only allocates; libc does not count by its name alone. */
static bool is_alloc_library(const struct tp_patterns *patterns, const char *path)
{
	return tp_patterns_frame(patterns, path, "").leaf == TP_LEAF_ALLOC;
}

/* LD_PRELOAD holds paths separated by colons or blanks: returns the first that is an allocator, in
 * the arena. */
static const char *preloaded_alloc_library(const struct tp_analysis *analysis, const char *preload)
{
	const char *found = NULL;
	char *paths = tp_strdup(preload);
	char *rest = paths;
	for (char *path; !found && (path = strsep(&rest, ": "));)
		if (*path && is_alloc_library(analysis->patterns, path))
			found = tp_arena_printf(analysis->arena, "variable LD_PRELOAD: %s", path);
	free(paths);
	return found;
}

/* Returns the variable that sets thresholds or preloads another allocator; NULL if there is
 * none. */
static const char *malloc_variable(const struct tp_analysis *analysis)
{
	static const char *const variables[] = {"MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_",
						"MALLOC_TOP_PAD_", "MALLOC_CONF"};
	const struct tp_run_info *run = &analysis->trace->run;
	for (size_t i = 0; i < TP_ARRAY_LEN(variables); i++)
		if (find_variable(run, variables[i]))
			return tp_arena_printf(analysis->arena, "variable %s=%s", variables[i],
					       find_variable(run, variables[i]));
	const char *tunables = find_variable(run, "GLIBC_TUNABLES");
	if (tunables && strstr(tunables, "glibc.malloc."))
		return tp_arena_printf(analysis->arena, "variable GLIBC_TUNABLES=%s", tunables);
	const char *preload = find_variable(run, "LD_PRELOAD");
	return preload ? preloaded_alloc_library(analysis, preload) : NULL;
}

/* Returns another allocator found in a stack; NULL if there is none. */
static const char *find_alloc_library(const struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	uint32_t last = 0; /* frames of one module are often consecutive */
	for (size_t i = 1; i < trace->n_frames; i++) {
		const struct tp_frame *frame = &trace->frames[i];
		if (frame->kind != TP_FRAME_NATIVE || frame->module == last)
			continue;
		last = frame->module;
		const char *path = tp_trace_string(trace, last);
		if (is_alloc_library(analysis->patterns, path))
			return tp_arena_printf(analysis->arena, "stack: %s", path);
	}
	return NULL;
}

static void set_malloc(struct tp_analysis *analysis)
{
	const char *seen = malloc_variable(analysis);
	if (!seen)
		seen = find_alloc_library(analysis);
	tp_profile_set(analysis->profile, TP_FACT_ENV_MALLOC, seen != NULL, TP_ORIGIN_MEASURED, 1);
	analysis->profile->facts[TP_FACT_ENV_MALLOC].seen = seen;
}

static void set_python(struct tp_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	const struct tp_trace *trace = analysis->trace;
	if (profile->trainer == TP_NO_TASK) {
		tp_profile_set_missing(profile, TP_FACT_ENV_PYTHON, "no trainer was seen");
		return;
	}
	const char *exe = tp_trace_string(trace, trace->tasks[profile->trainer].exe);
	const char *slash = strrchr(exe, '/');
	bool is_python = tp_text_glob("python*", slash ? slash + 1 : exe);
	for (size_t i = 1; i < trace->n_frames && !is_python; i++)
		is_python = trace->frames[i].kind == TP_FRAME_PYTHON;
	if (is_python || *exe)
		tp_profile_set(profile, TP_FACT_ENV_PYTHON, is_python, TP_ORIGIN_MEASURED, 1);
	else
		tp_profile_set_missing(profile, TP_FACT_ENV_PYTHON,
				       "the trainer's program file is unknown");
}

enum tp_status tp_pass_environment(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	struct tp_profile *profile = analysis->profile;
	const struct tp_run_info *run = &analysis->trace->run;
	set_python(analysis);
	if (!has_environment(run)) {
		static const enum tp_fact facts[] = {TP_FACT_ENV_OMP, TP_FACT_ENV_BLAS,
						     TP_FACT_ENV_PASSIVE, TP_FACT_ENV_MALLOC};
		for (size_t i = 0; i < TP_ARRAY_LEN(facts); i++)
			tp_profile_set_missing(profile, facts[i],
					       "the environment was not recorded");
		return TP_OK;
	}
	set_threads(analysis);
	tp_profile_set(profile, TP_FACT_ENV_PASSIVE, is_wait_by_sleep(run), TP_ORIGIN_MEASURED, 1);
	set_malloc(analysis);
	return TP_OK;
}
