/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads manifest.json. */
#include "manifest.h"

#include "layout.h"
#include "manifest_types.h"

#include "trainprof/base/json.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/secret.h"
#include "trainprof/base/text.h"
#include "trainprof/base/version.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The space reserved for the last manifest limits its size: texts are truncated to the first limit,
 * lists to the second. JSON can escape one byte as up to six. */
enum { TEXT_MAX_BYTES = 1024, LIST_MAX_BYTES = 8192, DEVICES_MAX = 16 };

static const char *cut(struct tp_buf *scratch, const char *text, size_t most)
{
	if (!text)
		return NULL;
	tp_buf_clear(scratch);
	tp_buf_add(scratch, text, strnlen(text, most));
	return tp_buf_text(scratch);
}

static void put_text(struct tp_json_writer *w, const char *key, const char *text)
{
	struct tp_buf scratch = {0};
	tp_json_put_string(w, key, cut(&scratch, text, TEXT_MAX_BYTES));
	tp_buf_release(&scratch);
}

/* Clock values exceed 2^53 after 104 days of uptime; above that other JSON readers lose digits. */
static void put_time(struct tp_json_writer *w, const char *key, uint64_t time_ns)
{
	char digits[24];
	snprintf(digits, sizeof(digits), "%" PRIu64, time_ns);
	tp_json_put_string(w, key, digits);
}

static void put_command(struct tp_json_writer *w, const struct tp_run_info *run)
{
	struct tp_buf scratch = {0};
	size_t left = LIST_MAX_BYTES;
	size_t n = 0;
	tp_json_write_key(w, "command");
	tp_json_open(w, '[');
	for (; n < run->n_command && left; n++) {
		tp_json_write_string(w, cut(&scratch, run->command[n], left));
		/* Quotes, comma and indentation take room too. */
		left -= left < scratch.len + 8 ? left : scratch.len + 8;
	}
	tp_json_close(w, ']');
	tp_json_put_bool(w, "command_is_cut", left == 0);
	tp_json_put_bool(w, "keeps_arguments", run->keeps_arguments);
	tp_buf_release(&scratch);
}

/* One "NAME=value" per item: an object could have the same member twice, which readers need not
 * accept. */
static void put_environment(struct tp_json_writer *w, const struct tp_run_info *run)
{
	struct tp_buf line = {0};
	size_t left = LIST_MAX_BYTES;
	tp_json_write_key(w, "environment");
	tp_json_open(w, '[');
	for (size_t i = 0; i < run->n_environment && left; i++) {
		const struct tp_env_var *var = &run->environment[i];
		tp_buf_clear(&line);
		tp_buf_add(&line, var->name, strnlen(var->name, left));
		tp_buf_putc(&line, '=');
		tp_buf_add(&line, var->value, strnlen(var->value, left));
		tp_json_write_string(w, tp_buf_text(&line));
		left -= left < line.len + 8 ? left : line.len + 8;
	}
	tp_json_close(w, ']');
	tp_buf_release(&line);
}

/* Writers for the member types, which are also used in reports. */
#define put_count                                tp_json_put_uint
#define put_count32                              tp_json_put_uint
#define put_number                               tp_json_put_number
#define put_flag                                 tp_json_put_bool
#define put_integer32                            tp_json_put_int
#define put_ordinal                              tp_json_put_int
#define put_pid                                  tp_json_put_int
#define PUT(field, type, name, shown_name, when) put_##type(w, name, from->field);

static void put_host(struct tp_json_writer *w, const struct tp_host_info *from)
{
	tp_json_write_key(w, "host");
	tp_json_open(w, '{');
	TP_HOST_INFO_MAP(PUT)
	TP_HOST_LIMIT_MAP(PUT)
	tp_json_close(w, '}');
}

static void put_job(struct tp_json_writer *w, const struct tp_job_place *from)
{
	tp_json_write_key(w, "job");
	tp_json_open(w, '{');
	TP_JOB_PLACE_MAP(PUT)
	tp_json_close(w, '}');
}

static void put_run(struct tp_json_writer *w, const struct tp_run_info *run)
{
	tp_json_write_key(w, "run");
	tp_json_open(w, '{');
	put_text(w, "id", run->id);
	put_text(w, "label", run->label);
	put_command(w, run);
	put_text(w, "directory", run->directory);
	put_text(w, "commit", run->commit);
	tp_json_put_string(w, "mode", tp_run_mode_name(run->mode));
	tp_json_put_string(w, "tier", tp_tier_name(run->tier));
	tp_json_put_int(w, "pid", run->pid);
	if (run->mode == TP_MODE_ATTACH)
		put_time(w, "attached_after_ns", run->attached_after_ns);
	put_time(w, "started_wall_ns", run->started_wall_ns);
	put_time(w, "started_ns", run->started_ns);
	put_time(w, "ended_ns", run->ended_ns);
	put_time(w, "measure_from_ns", run->measure_from_ns);
	put_time(w, "measure_until_ns", run->measure_until_ns);
	tp_json_put_string(w, "end", tp_end_name(run->end));
	tp_json_put_int(w, "end_code", run->end_code);
	tp_json_put_number(w, "sample_rate_hz", run->sample_rate_hz);
	tp_json_put_number(w, "asked_rate_hz", run->asked_rate_hz);
	tp_json_put_number(w, "poll_rate_hz", run->poll_rate_hz);
	if (run->job.launcher)
		put_job(w, &run->job);
	tp_json_close(w, '}');
}

static void put_devices(struct tp_json_writer *w, const struct tp_rank_info *rank)
{
	tp_json_write_key(w, "devices");
	tp_json_open(w, '[');
	for (size_t i = 0; i < rank->n_devices && i < DEVICES_MAX; i++) {
		const struct tp_device_info *from = &rank->devices[i];
		tp_json_open(w, '{');
		TP_DEVICE_INFO_MAP(PUT)
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}

static void put_ranks(struct tp_json_writer *w, const struct tp_run_info *run)
{
	tp_json_write_key(w, "ranks");
	tp_json_open(w, '[');
	for (size_t i = 0; i < run->n_ranks && i < TP_RANKS_MAX; i++) {
		const struct tp_rank_info *from = &run->ranks[i];
		tp_json_open(w, '{');
		TP_RANK_INFO_MAP(PUT)
		put_devices(w, from);
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}

static void put_store_result(struct tp_json_writer *w, const struct tp_store_result *ledger)
{
	tp_json_write_key(w, "records");
	tp_json_open(w, '{');
	tp_json_put_bool(w, "is_closed", ledger->is_closed);
	tp_json_put_uint(w, "bytes", ledger->n_bytes);
	tp_json_put_uint(w, "blocks", ledger->n_blocks);
	tp_json_put_uint(w, "records", ledger->n_records);
	tp_json_put_bool(w, "has_stopped", ledger->has_stopped);
	if (ledger->has_stopped) {
		put_time(w, "until_ns", ledger->until_ns);
		tp_json_put_uint(w, "lost", ledger->n_lost);
		put_text(w, "because", ledger->stopped_because);
	}
	tp_json_close(w, '}');
}

void tp_manifest_write(struct tp_buf *out, const struct tp_run_info *run,
		       const struct tp_store_result *ledger)
{
	struct tp_json_writer w = {0};
	tp_json_open(&w, '{');
	tp_json_put_string(&w, "format", LAYOUT_WRITTEN);
	put_text(&w, "written_by", run->written_by);
	put_run(&w, run);
	put_host(&w, &run->host);
	put_environment(&w, run);
	if (run->n_ranks)
		put_ranks(&w, run);
	put_store_result(&w, ledger);
	tp_json_close(&w, '}');
	tp_buf_clear(out);
	tp_buf_add(out, w.out.data, w.out.len);
	tp_json_writer_release(&w);
}

static const char *get_text(const struct tp_json *object, const char *key, struct tp_arena *arena)
{
	return tp_arena_strdup(arena, tp_json_string(tp_json_get(object, key)));
}

static uint64_t get_time(const struct tp_json *object, const char *key)
{
	const char *digits = tp_json_string(tp_json_get(object, key));
	uint64_t time_ns = 0;
	if (digits)
		(void)tp_text_parse_count(digits, &time_ns);
	return time_ns;
}

static uint64_t get_count(const struct tp_json *object, const char *key, uint64_t most)
{
	uint64_t value = 0;
	if (!tp_json_uint(tp_json_get(object, key), &value) || value > most)
		return 0;
	return value;
}

static int get_int(const struct tp_json *object, const char *key)
{
	double value = tp_json_number(tp_json_get(object, key), 0);
	return value >= INT32_MIN && value <= INT32_MAX ? (int)value : 0;
}

static double get_positive(const struct tp_json *object, const char *key)
{
	double value = tp_json_number(tp_json_get(object, key), 0);
	return value > 0 && value < 1e18 ? value : 0;
}

/* Returns the index of a text in a list of names, or `otherwise`. */
static unsigned get_choice(const struct tp_json *object, const char *key,
			   const char *(*name_of)(unsigned), unsigned n, unsigned otherwise)
{
	const char *text = tp_json_string(tp_json_get(object, key));
	for (unsigned i = 0; text && i < n; i++)
		if (strcmp(text, name_of(i)) == 0)
			return i;
	return otherwise;
}

static const char *mode_name(unsigned mode)
{
	return tp_run_mode_name((enum tp_run_mode)mode);
}

static const char *tier_name(unsigned tier)
{
	return tp_tier_name((enum tp_tier)tier);
}

static const char *end_name(unsigned end)
{
	return tp_end_name((enum tp_end_kind)end);
}

/* Secrets are masked here, too: older versions recorded them unmasked. */
static void get_command(struct tp_run_info *run, const struct tp_json *command,
			struct tp_arena *arena)
{
	struct tp_buf masked = {0};
	struct tp_secret_scan scan = {0};
	run->command = tp_arena_array(arena, tp_json_count(command) + 1, sizeof(*run->command));
	TP_JSON_EACH (word, command) {
		const char *text = tp_json_string(word);
		tp_buf_clear(&masked);
		if (text && !run->keeps_arguments)
			tp_secret_add_argument(&masked, &scan, text);
		else if (text)
			tp_buf_puts(&masked, text);
		if (text)
			run->command[run->n_command++] =
				tp_arena_strdup(arena, tp_buf_text(&masked));
	}
	tp_buf_release(&masked);
}

static void get_environment(struct tp_run_info *run, const struct tp_json *environment,
			    struct tp_arena *arena)
{
	struct tp_env_var *vars =
		tp_arena_array(arena, tp_json_count(environment), sizeof(*run->environment));
	TP_JSON_EACH (item, environment) {
		const char *line = tp_json_string(item);
		const char *equals = line ? strchr(line, '=') : NULL;
		if (!equals)
			continue;
		struct tp_env_var *var = &vars[run->n_environment++];
		var->name = tp_arena_strndup(arena, line, (size_t)(equals - line));
		struct tp_buf masked = {0};
		if (!run->keeps_arguments)
			tp_secret_add_variable(&masked, var->name, equals + 1);
		else
			tp_buf_puts(&masked, equals + 1);
		var->value = tp_arena_strdup(arena, tp_buf_text(&masked));
		tp_buf_release(&masked);
	}
	run->environment = vars;
}

static void get_run(struct tp_run_info *run, const struct tp_json *from, struct tp_arena *arena)
{
	run->id = get_text(from, "id", arena);
	run->label = get_text(from, "label", arena);
	run->keeps_arguments = tp_json_bool(tp_json_get(from, "keeps_arguments"), false);
	get_command(run, tp_json_get(from, "command"), arena);
	run->directory = get_text(from, "directory", arena);
	run->commit = get_text(from, "commit", arena);
	run->mode =
		(enum tp_run_mode)get_choice(from, "mode", mode_name, TP_N_RUN_MODES, TP_MODE_RUN);
	run->tier = (enum tp_tier)get_choice(from, "tier", tier_name, TP_N_TIERS, TP_TIER_BARE);
	run->pid = get_int(from, "pid");
	run->attached_after_ns = get_time(from, "attached_after_ns");
	run->started_wall_ns = get_time(from, "started_wall_ns");
	run->started_ns = get_time(from, "started_ns");
	run->ended_ns = get_time(from, "ended_ns");
	run->measure_from_ns = get_time(from, "measure_from_ns");
	run->measure_until_ns = get_time(from, "measure_until_ns");
	run->end =
		(enum tp_end_kind)get_choice(from, "end", end_name, TP_N_END_KINDS, TP_END_UNKNOWN);
	run->end_code = get_int(from, "end_code");
	run->sample_rate_hz = get_positive(from, "sample_rate_hz");
	run->asked_rate_hz = get_positive(from, "asked_rate_hz");
	run->poll_rate_hz = get_positive(from, "poll_rate_hz");
}

static int64_t get_signed(const struct tp_json *object, const char *key, int64_t otherwise)
{
	double value = tp_json_number(tp_json_get(object, key), (double)otherwise);
	return value >= -9007199254740992.0 && value <= 9007199254740992.0 ? (int64_t)value
									   : otherwise;
}

/* Readers for the member types, which are also used in reports. */
#define GET_text(name)                           get_text(from, name, arena)
#define GET_count(name)                          get_count(from, name, UINT64_MAX)
#define GET_count32(name)                        ((uint32_t)get_count(from, name, UINT32_MAX))
#define GET_number(name)                         get_positive(from, name)
#define GET_flag(name)                           tp_json_bool(tp_json_get(from, name), false)
#define GET_integer32(name)                      get_int(from, name)
#define GET_ordinal(name)                        get_signed(from, name, -1)
#define GET_pid(name)                            get_signed(from, name, 0)
#define GET(field, type, name, shown_name, when) out->field = GET_##type(name);

static void get_job(struct tp_job_place *out, const struct tp_json *from, struct tp_arena *arena)
{
	TP_JOB_PLACE_MAP(GET)
}

static void get_host(struct tp_host_info *out, const struct tp_json *from, struct tp_arena *arena)
{
	TP_HOST_INFO_MAP(GET)
	TP_HOST_LIMIT_MAP(GET)
}

static void get_devices(struct tp_rank_info *rank, const struct tp_json *list,
			struct tp_arena *arena)
{
	struct tp_device_info *out = tp_arena_array(arena, tp_json_count(list), sizeof(*out));
	rank->devices = out;
	TP_JSON_EACH (from, list) {
		TP_DEVICE_INFO_MAP(GET)
		rank->n_devices++;
		out++;
	}
}

static void get_ranks(struct tp_run_info *run, const struct tp_json *list, struct tp_arena *arena)
{
	struct tp_rank_info *out = tp_arena_array(arena, tp_json_count(list), sizeof(*out));
	run->ranks = out;
	TP_JSON_EACH (from, list) {
		TP_RANK_INFO_MAP(GET)
		get_devices(out, tp_json_get(from, "devices"), arena);
		run->n_ranks++;
		out++;
	}
}

static void get_store_result(struct tp_store_result *ledger, const struct tp_json *from,
			     struct tp_arena *arena)
{
	ledger->is_closed = tp_json_bool(tp_json_get(from, "is_closed"), false);
	ledger->n_bytes = get_count(from, "bytes", UINT64_MAX);
	ledger->n_blocks = get_count(from, "blocks", UINT64_MAX);
	ledger->n_records = get_count(from, "records", UINT64_MAX);
	ledger->has_stopped = tp_json_bool(tp_json_get(from, "has_stopped"), false);
	ledger->until_ns = get_time(from, "until_ns");
	ledger->n_lost = get_count(from, "lost", UINT64_MAX);
	ledger->stopped_because = get_text(from, "because", arena);
}

static enum tp_status check_format(const struct tp_json_doc *doc, const char *directory,
				   struct tp_error *err)
{
	const char *format = tp_json_string(tp_json_get(tp_json_root(doc), "format"));
	if (!format || !tp_text_starts_with(format, LAYOUT_FORMAT))
		return tp_fail(err, TP_PARSE, "%s: not the manifest of a recording",
			       tp_json_name(doc));
	const char *version = format + strlen(LAYOUT_FORMAT);
	char *end;
	unsigned long major = strtoul(version, &end, 10);
	if (end == version || *end != '.')
		return tp_fail(err, TP_PARSE, "%s: not the manifest of a recording",
			       tp_json_name(doc));
	if (major == LAYOUT_MAJOR)
		return TP_OK;
	(void)tp_fail(err, TP_VERSION, "'%s' is recording format %s; this trainprof %s reads %d.x",
		      directory, version, tp_version(), LAYOUT_MAJOR);
	tp_error_next(err, "update trainprof");
	return TP_VERSION;
}

enum tp_status tp_manifest_load(struct tp_run_info *run, struct tp_store_result *ledger,
				struct tp_arena *arena, const char *directory, struct tp_error *err)
{
	struct tp_json_doc *doc = NULL;
	char *path = tp_asprintf("%s/" LAYOUT_MANIFEST, directory);
	enum tp_status status = tp_json_load(&doc, path, err);
	if (status == TP_ABSENT)
		(void)tp_fail(err, TP_ABSENT, "'%s' is not a recording (no " LAYOUT_MANIFEST ")",
			      directory);
	if (!status)
		status = check_format(doc, directory, err);
	if (!status)
		status = tp_manifest_check_types(doc, err);
	if (!status) {
		const struct tp_json *root = tp_json_root(doc);
		*run = (struct tp_run_info){0};
		*ledger = (struct tp_store_result){0};
		run->written_by = get_text(root, "written_by", arena);
		get_run(run, tp_json_get(root, "run"), arena);
		get_job(&run->job, tp_json_get(tp_json_get(root, "run"), "job"), arena);
		get_host(&run->host, tp_json_get(root, "host"), arena);
		get_environment(run, tp_json_get(root, "environment"), arena);
		get_ranks(run, tp_json_get(root, "ranks"), arena);
		get_store_result(ledger, tp_json_get(root, "records"), arena);
	}
	tp_json_free(doc);
	free(path);
	return status;
}
