/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and loads rules and patterns. */
#include "rules_dir.h"
#include "install_dir.h"

#include "cli/options/settings.h"
#include "cli/terminal/messages.h"

#include "trainprof/advise/advise.h"
#include "trainprof/analyze/analyze.h"
#include "trainprof/base/memory.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_directory(const char *path)
{
	struct stat info;
	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* A rules folder holds bottlenecks or patterns; any folder named "rules" will not do. */
static bool is_rules(const char *path)
{
	char inside[PATH_MAX + 32];
	snprintf(inside, sizeof(inside), "%s/patterns", path);
	if (is_directory(inside))
		return true;
	snprintf(inside, sizeof(inside), "%s/bottlenecks", path);
	return is_directory(inside);
}

enum tp_status tp_rules_dir_find(struct tp_rules_dirs *out, const struct tp_words *extra,
				 struct tp_error *err)
{
	*out = (struct tp_rules_dirs){0};
	char *shipped = tp_install_dir_find("rules", "rules", is_rules);
	const char *env = tp_settings_env("TRAINPROF_RULES");
	if (shipped)
		out->items[out->n++] = shipped;
	if (env)
		out->items[out->n++] = tp_strdup(env);
	for (size_t i = 0; extra && i < extra->n; i++)
		out->items[out->n++] = tp_strdup(extra->items[i]);
	if (out->n)
		return TP_OK;
	tp_fail(err, TP_ABSENT, "no rules found beside the program or in /usr/share/trainprof");
	tp_error_next(err, "TRAINPROF_RULES=DIR, or install trainprof with make install");
	return TP_ABSENT;
}

void tp_rules_dir_release(struct tp_rules_dirs *dirs)
{
	for (size_t i = 0; i < dirs->n; i++)
		free(dirs->items[i]);
	*dirs = (struct tp_rules_dirs){0};
}

enum tp_status tp_rules_dir_load(struct tp_rulebook **out, const struct tp_rules_dirs *dirs,
				 struct tp_error *err)
{
	return tp_rulebook_load(out, (const char *const *)dirs->items, dirs->n, err);
}

enum tp_status tp_rules_dir_load_rest(struct tp_rulebook **out, const struct tp_rules_dirs *dirs,
				      struct tp_buf *problems, struct tp_error *err)
{
	if (!problems)
		return tp_rules_dir_load(out, dirs, err);
	return tp_rulebook_load_lenient(out, (const char *const *)dirs->items, dirs->n, problems,
					err);
}

enum tp_status tp_rules_dir_rulebook(struct tp_rulebook **out, const struct tp_words *extra,
				     bool is_lenient, struct tp_error *err)
{
	struct tp_rules_dirs dirs;
	struct tp_buf problems = {0};
	enum tp_status status = tp_rules_dir_find(&dirs, extra, err);
	if (status == TP_OK)
		status = tp_rules_dir_load_rest(out, &dirs, is_lenient ? &problems : NULL, err);
	tp_message_print_lines(tp_buf_text(&problems));
	tp_buf_release(&problems);
	tp_rules_dir_release(&dirs);
	return status;
}

enum tp_status tp_rules_dir_load_patterns(struct tp_patterns **out,
					  const struct tp_rules_dirs *dirs, struct tp_error *err)
{
	/* The last folder that has patterns: a user who brings them replaces ours. */
	for (size_t i = dirs->n; i-- > 0;) {
		char path[PATH_MAX];
		snprintf(path, sizeof(path), "%s/patterns", dirs->items[i]);
		if (is_directory(path))
			return tp_patterns_load(out, path, err);
	}
	return tp_fail(err, TP_ABSENT, "no patterns in '%s'", dirs->items[0]);
}
