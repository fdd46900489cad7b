/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Baselines: reports of runs that later runs are compared with, in .trainprof/baselines/NAME of a
 * repository. Only report.json files are kept, so they can be committed.
 */
#ifndef TRAINPROF_SRC_CLI_COMPARE_BASELINE_STORE_H
#define TRAINPROF_SRC_CLI_COMPARE_BASELINE_STORE_H

#include "trainprof/base/status.h"
#include "trainprof/model/run_values.h"

#include <stdbool.h>
#include <stddef.h>

/* Zero-initialised is empty. It owns its texts (heap). */
struct tp_baseline {
	char *name;
	char *directory;
	char *reason;   /* NULL = none given */
	char *saved_at; /* "2026-11-20T14:03:11Z" */
	char *commit;   /* of the repository; NULL = unknown */
	char *machine;  /* model of the CPU; NULL = unknown */
	char **runs;    /* paths */
	size_t n_runs;
};

/* Input of a save. Borrowed. */
struct tp_baseline_new {
	const char *name;
	const char *reason;
	const char *machine;
	const char *const *documents;            /* the reports as text */
	const struct tp_run_values *const *runs; /* the same reports as values */
	size_t n_documents;
};

/* True for letters, digits, ".", "_" and "-", beginning with a letter or digit. */
bool tp_baseline_is_name(const char *word);
bool tp_baseline_exists(const char *name);
/* The path of the baseline, whether it exists or not. Freed by the caller. */
char *tp_baseline_path(const char *name);

/* Errors  TP_ABSENT with the existing names, TP_VERSION, TP_PARSE for damaged files. */
TP_MUST_CHECK enum tp_status tp_baseline_load(struct tp_baseline *out, const char *name,
					      struct tp_error *err);
void tp_baseline_release(struct tp_baseline *baseline);

/* Writes the new baseline next to the old one, then replaces the old one; a failure leaves the old
 * one.
 * Errors  TP_IO, TP_DENIED. */
TP_MUST_CHECK enum tp_status tp_baseline_save(const struct tp_baseline_new *what,
					      struct tp_error *err);
TP_MUST_CHECK enum tp_status tp_baseline_remove(const char *name, struct tp_error *err);

/* Names in alphabetical order, n of them; freed with tp_baseline_names_free(). */
char **tp_baseline_names(size_t *n);
void tp_baseline_names_free(char **names, size_t n);

#endif
