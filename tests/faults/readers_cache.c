/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces functions that load rules and open recordings by ones that keep the result. */
#include "readers_cache.h"

#include "cli/session/analysis_session.h"
#include "cli/session/rules_dir.h"

#include "trainprof/advise/advise.h"
#include "trainprof/analyze/analyze.h"
#include "trainprof/base/buf.h"
#include "trainprof/base/memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker's names */
enum tp_status __real_tp_rules_dir_find(struct tp_rules_dirs *, const struct tp_words *,
					struct tp_error *);
enum tp_status __real_tp_rules_dir_load_rest(struct tp_rulebook **, const struct tp_rules_dirs *,
					     struct tp_buf *, struct tp_error *);
enum tp_status __real_tp_rules_dir_load_patterns(struct tp_patterns **,
						 const struct tp_rules_dirs *, struct tp_error *);
enum tp_status __real_tp_analysis_session_open(struct tp_analysis_session *, const char *,
					       const struct tp_analysis_session_options *,
					       struct tp_error *);
void __real_tp_analysis_session_close(struct tp_analysis_session *);

enum tp_status __wrap_tp_rules_dir_find(struct tp_rules_dirs *out, const struct tp_words *extra,
					struct tp_error *err);
enum tp_status __wrap_tp_rules_dir_load_rest(struct tp_rulebook **out,
					     const struct tp_rules_dirs *dirs,
					     struct tp_buf *problems, struct tp_error *err);
enum tp_status __wrap_tp_rules_dir_load_patterns(struct tp_patterns **out,
						 const struct tp_rules_dirs *dirs,
						 struct tp_error *err);
enum tp_status __wrap_tp_rules_dir_rulebook(struct tp_rulebook **out, const struct tp_words *extra,
					    bool is_lenient, struct tp_error *err);
void __wrap_tp_rulebook_free(struct tp_rulebook *book);
void __wrap_tp_patterns_free(struct tp_patterns *patterns);
enum tp_status __wrap_tp_analysis_session_open(struct tp_analysis_session *reading,
					       const char *directory,
					       const struct tp_analysis_session_options *options,
					       struct tp_error *err);
void __wrap_tp_analysis_session_close(struct tp_analysis_session *reading);

/* ---- rules: loading them is most of the time of a command ---- */

static struct {
	struct tp_rules_dirs dirs; /* those without an option */
	struct tp_rulebook *book;
	struct tp_patterns *patterns;
} loaded;

enum tp_status __wrap_tp_rules_dir_find(struct tp_rules_dirs *out, const struct tp_words *extra,
					struct tp_error *err)
{
	if (!loaded.dirs.n || (extra && extra->n))
		return __real_tp_rules_dir_find(out, extra, err);
	*out = (struct tp_rules_dirs){0};
	for (; out->n < loaded.dirs.n; out->n++)
		out->items[out->n] = tp_strdup(loaded.dirs.items[out->n]);
	return TP_OK;
}

enum tp_status __wrap_tp_rules_dir_load_rest(struct tp_rulebook **out,
					     const struct tp_rules_dirs *dirs,
					     struct tp_buf *problems, struct tp_error *err)
{
	if (dirs->n != loaded.dirs.n)
		return __real_tp_rules_dir_load_rest(out, dirs, problems, err);
	*out = loaded.book;
	return TP_OK;
}

enum tp_status __wrap_tp_rules_dir_load_patterns(struct tp_patterns **out,
						 const struct tp_rules_dirs *dirs,
						 struct tp_error *err)
{
	if (dirs->n != loaded.dirs.n)
		return __real_tp_rules_dir_load_patterns(out, dirs, err);
	*out = loaded.patterns;
	return TP_OK;
}

enum tp_status __wrap_tp_rules_dir_rulebook(struct tp_rulebook **out, const struct tp_words *extra,
					    bool is_lenient, struct tp_error *err)
{
	struct tp_rules_dirs dirs;
	struct tp_buf problems = {0};
	enum tp_status status = __wrap_tp_rules_dir_find(&dirs, extra, err);
	if (status == TP_OK)
		status = __wrap_tp_rules_dir_load_rest(out, &dirs, is_lenient ? &problems : NULL,
						       err);
	tp_buf_release(&problems);
	tp_rules_dir_release(&dirs);
	return status;
}

void __wrap_tp_rulebook_free(struct tp_rulebook *book)
{
	(void)book;
}

void __wrap_tp_patterns_free(struct tp_patterns *patterns)
{
	(void)patterns;
}

void readers_cache_load_rules(void)
{
	struct tp_rules_dirs dirs;
	struct tp_error err = {0};
	if (loaded.book)
		return;
	if (__real_tp_rules_dir_find(&dirs, NULL, &err) != TP_OK ||
	    __real_tp_rules_dir_load_rest(&loaded.book, &dirs, NULL, &err) != TP_OK ||
	    __real_tp_rules_dir_load_patterns(&loaded.patterns, &dirs, &err) != TP_OK) {
		fprintf(stderr, "%s\n", err.text);
		exit(2);
	}
	loaded.dirs = dirs;
}

/* ---- recordings: a child reads a changed one, and one that never changes ---- */

enum { SESSIONS_MAX = 4 };

static struct {
	char *directory;
	struct tp_analysis_session session;
} sessions[SESSIONS_MAX];

static bool is_plain(const struct tp_analysis_session_options *options)
{
	return (!options->steps || strcmp(options->steps, "auto") == 0) && !options->skip &&
	       !options->rank && !options->rules.n && !options->redact && !options->is_lenient;
}

enum tp_status __wrap_tp_analysis_session_open(struct tp_analysis_session *reading,
					       const char *directory,
					       const struct tp_analysis_session_options *options,
					       struct tp_error *err)
{
	size_t at = 0;
	while (at < SESSIONS_MAX && sessions[at].directory &&
	       strcmp(sessions[at].directory, directory) != 0)
		at++;
	if (!is_plain(options) || at == SESSIONS_MAX)
		return __real_tp_analysis_session_open(reading, directory, options, err);
	if (!sessions[at].directory) {
		char *name = tp_strdup(directory);
		enum tp_status status =
			__real_tp_analysis_session_open(&sessions[at].session, name, options, err);
		if (status != TP_OK) {
			free(name);
			return status;
		}
		sessions[at].directory = name;
	}
	/* The pointers into the kept session stay valid. */
	*reading = sessions[at].session;
	return TP_OK;
}

void __wrap_tp_analysis_session_close(struct tp_analysis_session *reading)
{
	bool is_kept = false;
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		is_kept |= reading->report.profile == &sessions[i].session.profile;
	if (!is_kept) {
		__real_tp_analysis_session_close(reading);
		return;
	}
	free(reading->directory);
	*reading = (struct tp_analysis_session){0};
}

void readers_cache_forget(const char *directory)
{
	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		if (!sessions[i].directory || strcmp(sessions[i].directory, directory) != 0)
			continue;
		__real_tp_analysis_session_close(&sessions[i].session);
		free(sessions[i].directory);
		sessions[i].directory = NULL;
	}
}
/* NOLINTEND(bugprone-reserved-identifier) */
