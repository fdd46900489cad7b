/* SPDX-License-Identifier: Apache-2.0 */
/* Reads configuration files and the environment into options. */
#include "settings.h"

#include "command.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/base/trust.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *tp_settings_env(const char *name)
{
	const char *value = getenv(name); /* NOLINT(concurrency-mt-unsafe): nobody sets any */
	return value && *value ? value : NULL;
}

static enum tp_status load_file(struct tp_settings *settings, const char *path,
				struct tp_error *err)
{
	struct tp_json_doc *doc = NULL;
	enum tp_status status = tp_json_load(&doc, path, err);
	if (status != TP_OK)
		return status;
	if (tp_json_type(tp_json_root(doc)) != TP_JSON_OBJECT) {
		tp_json_free(doc);
		return tp_fail(err, TP_PARSE, "%s:1: not an object", path);
	}
	settings->files[settings->n_files++] = doc;
	return TP_OK;
}

/* Loads a file that need not exist. A file that another user could have written is ignored. */
static enum tp_status load_if_exists(struct tp_settings *settings, const char *path,
				     struct tp_error *err)
{
	struct tp_error why = {0};
	if (access(path, F_OK) != 0)
		return TP_OK;
	if (tp_trust_check(path, &why) == TP_OK)
		return load_file(settings, path, err);
	tp_buf_printf(&settings->left_out, "settings left out: %s\n", why.text);
	return TP_OK;
}

static void user_path(char *out, size_t size)
{
	const char *config = tp_settings_env("XDG_CONFIG_HOME");
	const char *home = tp_settings_env("HOME");
	out[0] = '\0';
	/* The specification requires to ignore a relative path. */
	if (config && config[0] == '/')
		snprintf(out, size, "%s/trainprof/config.json", config);
	else if (home)
		snprintf(out, size, "%s/.config/trainprof/config.json", home);
}

/* Finds trainprof.json here or in a directory above; relative, as the user would type it. Only the
 * nearest one is used. */
static bool local_path(char *out, size_t size)
{
	char here[4096];
	if (!getcwd(here, sizeof(here)))
		return false;
	size_t used = 0;
	out[0] = '\0';
	for (const char *p = here; *p; p++) {
		if (*p != '/' || used + 32 > size)
			continue;
		snprintf(out + used, size - used, "trainprof.json");
		if (access(out, F_OK) == 0)
			return true;
		used += (size_t)snprintf(out + used, size - used, "../");
	}
	return false;
}

enum tp_status tp_settings_load(struct tp_settings *out, const struct tp_command_table *table,
				const char *only, struct tp_error *err)
{
	char path[4200];
	*out = (struct tp_settings){.table = table};
	if (only) {
		enum tp_status trust = tp_trust_check(only, err);
		return trust == TP_OK ? load_file(out, only, err) : trust;
	}
	enum tp_status status = load_if_exists(out, "/etc/trainprof/config.json", err);
	if (status != TP_OK)
		return status;
	user_path(path, sizeof(path));
	status = *path ? load_if_exists(out, path, err) : TP_OK;
	if (status != TP_OK)
		return status;
	size_t n_before = out->n_files;
	status = local_path(path, sizeof(path)) ? load_if_exists(out, path, err) : TP_OK;
	if (out->n_files > n_before && strchr(path, '/'))
		out->above = out->files[n_before];
	return status;
}

void tp_settings_release(struct tp_settings *settings)
{
	for (size_t i = 0; i < settings->n_files; i++)
		tp_json_free(settings->files[i]);
	tp_buf_release(&settings->left_out);
	tp_buf_release(&settings->trace);
	*settings = (struct tp_settings){0};
}

static enum tp_status unknown_name(const struct tp_command_table *table,
				   const struct tp_json_doc *doc, const struct tp_json *member,
				   const char *section, const struct tp_option *options,
				   struct tp_error *err)
{
	const char *names[128];
	size_t n = 0;
	for (; options->name && n < TP_ARRAY_LEN(names); options++)
		names[n++] = options->name;
	for (const struct tp_command *const *c = table->commands;
	     !section && *c && n < TP_ARRAY_LEN(names); c++)
		names[n++] = (*c)->name;
	const char *near = tp_text_closest(tp_json_key(member), names, n);
	return tp_fail(err, TP_USAGE, "%s:%u: no option '%s'%s%s%s%s", tp_json_name(doc),
		       tp_json_line(member), tp_json_key(member), section ? " for " : "",
		       section ? section : "", near ? "; nearest: " : "", near ? near : "");
}

static void note(struct tp_settings *settings, const char *section, const char *name,
		 const char *value, const char *where)
{
	tp_buf_printf(&settings->trace, "%s%s%s = %s  %s\n", section ? section : "",
		      section ? "." : "", name, value, where);
}

/* A value as it would be on the command line; numbers may be written without quotes. */
static const char *value_text(const struct tp_json *value, char *number, size_t size)
{
	uint64_t n = 0;
	if (tp_json_string(value))
		return tp_json_string(value);
	if (tp_json_type(value) == TP_JSON_BOOL)
		return tp_json_bool(value, false) ? "true" : "false";
	if (!tp_json_uint(value, &n))
		return NULL;
	snprintf(number, size, "%llu", (unsigned long long)n);
	return number;
}

static enum tp_status set_value(struct tp_settings *settings, const struct tp_json_doc *doc,
				const struct tp_json *value, const char *section,
				const struct tp_option *option, void *storage, struct tp_error *err)
{
	char where[200];
	char number[24];
	const char *text = value_text(value, number, sizeof(number));
	snprintf(where, sizeof(where), "%.120s:%u: %s", tp_json_name(doc), tp_json_line(value),
		 option->name);
	if (!text)
		return tp_fail(err, TP_USAGE, "%s: not %s", where,
			       tp_option_type_text(option->type));
	/* Only texts are stored by address, and those live as long as the document. */
	enum tp_status status = tp_option_set(option, storage, text, where, err);
	where[strlen(where) - strlen(option->name) - 2] = '\0';
	if (status == TP_OK)
		note(settings, section, option->name, text, where);
	return status;
}

static enum tp_status apply_member(struct tp_settings *settings, const struct tp_json_doc *doc,
				   const struct tp_json *member, const char *section,
				   const struct tp_option *options, void *storage,
				   struct tp_error *err)
{
	const char *key = tp_json_key(member);
	bool is_section = !section && tp_json_type(member) == TP_JSON_OBJECT;
	if (is_section && tp_command_find(settings->table, key))
		return TP_OK;
	const struct tp_option *option = tp_option_find(options, key);
	if (!option || is_section)
		return unknown_name(settings->table, doc, member, section, options, err);
	/* The settings of a shared folder must not determine the files that each of its users
	 * writes or loads. */
	if (option->is_own && doc == settings->above) {
		tp_buf_printf(&settings->left_out,
			      "settings left out: %s:%u: a folder above cannot set %s\n",
			      tp_json_name(doc), tp_json_line(member), key);
		return TP_OK;
	}
	if (tp_json_type(member) != TP_JSON_ARRAY)
		return set_value(settings, doc, member, section, option, storage, err);
	TP_JSON_EACH (item, member) {
		enum tp_status status =
			set_value(settings, doc, item, section, option, storage, err);
		if (status != TP_OK)
			return status;
	}
	return TP_OK;
}

static enum tp_status apply_environment(struct tp_settings *settings, const char *section,
					const struct tp_option *options, void *storage,
					struct tp_error *err)
{
	for (; options->name; options++) {
		const char *value = options->env ? tp_settings_env(options->env) : NULL;
		if (!value)
			continue;
		char where[160];
		snprintf(where, sizeof(where), "%s=%.100s", options->env, value);
		enum tp_status status = tp_option_set(options, storage, value, where, err);
		if (status != TP_OK)
			return status;
		note(settings, section, options->name, value, options->env);
	}
	return TP_OK;
}

enum tp_status tp_settings_apply(struct tp_settings *settings, const char *section,
				 const struct tp_option *options, void *storage,
				 struct tp_error *err)
{
	for (size_t i = 0; i < settings->n_files; i++) {
		const struct tp_json_doc *doc = settings->files[i];
		const struct tp_json *object = tp_json_root(doc);
		if (section)
			object = tp_json_get(object, section);
		TP_JSON_EACH (member, object) {
			enum tp_status status =
				apply_member(settings, doc, member, section, options, storage, err);
			if (status != TP_OK)
				return status;
		}
	}
	return apply_environment(settings, section, options, storage, err);
}
