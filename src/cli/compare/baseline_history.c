/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes the earlier saves of a baseline. */
#include "baseline_history.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/model/fact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "trainprof-baseline-history/1."

enum { ADVICE_MAX = 8 };

/* ---- reading ---- */

static const char *text_of(const struct tp_json *object, const char *key, struct tp_arena *arena)
{
	const char *text = tp_json_string(tp_json_get(object, key));
	return text ? tp_arena_strdup(arena, text) : NULL;
}

static const char *const *texts_of(const struct tp_json *array, size_t *n, struct tp_arena *arena)
{
	const char **out = tp_arena_alloc(arena, (tp_json_count(array) + 1) * sizeof(*out));
	*n = 0;
	TP_JSON_EACH (item, array)
		if (tp_json_string(item))
			out[(*n)++] = tp_arena_strdup(arena, tp_json_string(item));
	return out;
}

static bool read_save(struct tp_history_save *out, const struct tp_json *row,
		      struct tp_arena *arena)
{
	const struct tp_json *of_steps = tp_json_get(row, "step_ns");
	const struct tp_json *array = of_steps ? of_steps : tp_json_get(row, "run_ns");
	double *times = tp_arena_alloc(arena, (tp_json_count(array) + 1) * sizeof(*times));
	*out = (struct tp_history_save){.saved_at = text_of(row, "saved_at", arena),
					.commit = text_of(row, "commit", arena),
					.machine = text_of(row, "machine", arena),
					.reason = text_of(row, "reason", arena),
					.place = text_of(row, "place", arena),
					.is_of_steps = of_steps != NULL,
					.time_ns = times};
	TP_JSON_EACH (item, array) {
		times[out->n_times] = tp_json_number(item, 0);
		if (!(times[out->n_times] > 0) || !isfinite(times[out->n_times]))
			return false;
		out->n_times++;
	}
	out->advice = texts_of(tp_json_get(row, "advice"), &out->n_advice, arena);
	return out->n_times > 0;
}

static enum tp_status read_saves(struct tp_run_history *out, const struct tp_json_doc *doc,
				 struct tp_arena *arena, struct tp_error *err)
{
	const struct tp_json *root = tp_json_root(doc);
	const struct tp_json *rows = tp_json_get(root, "saves");
	const char *schema = tp_json_string(tp_json_get(root, "schema"));
	if (!schema || !tp_text_starts_with(schema, SCHEMA))
		return tp_fail(err, schema ? TP_VERSION : TP_PARSE,
			       "%s: its schema is %.60s; this reads %sx", tp_json_name(doc),
			       schema ? schema : "unknown", SCHEMA);
	out->saves = tp_arena_alloc(arena, (tp_json_count(rows) + 1) * sizeof(*out->saves));
	TP_JSON_EACH (row, rows) {
		if (!read_save(&out->saves[out->n], row, arena))
			return tp_fail(err, TP_PARSE,
				       "%s:%u: step_ns of a save must be a list of times above 0",
				       tp_json_name(doc), tp_json_line(row));
		out->n++;
	}
	return TP_OK;
}

enum tp_status tp_baseline_history_read(struct tp_run_history *out, const char *directory,
					struct tp_arena *arena, struct tp_error *err)
{
	struct tp_json_doc *doc = NULL;
	char *path = tp_asprintf("%s/%s", directory, TP_BASELINE_HISTORY);
	*out = (struct tp_run_history){0};
	enum tp_status status = tp_json_load(&doc, path, err);
	free(path);
	if (status == TP_ABSENT)
		return TP_OK;
	if (status == TP_OK)
		status = read_saves(out, doc, arena, err);
	tp_json_free(doc);
	return status;
}

/* ---- writing ---- */

bool tp_baseline_history_describe(struct tp_history_save *out,
				  const struct tp_run_values *const *runs, size_t n,
				  struct tp_arena *arena)
{
	const struct tp_run_values *first = runs[0];
	double *times = tp_arena_alloc(arena, n * sizeof(*times));
	const char **advice = tp_arena_alloc(arena, ADVICE_MAX * sizeof(*advice));
	*out = (struct tp_history_save){
		.is_of_steps = first->facts[TP_FACT_STEP_TIME].is_known,
		.time_ns = times,
		.advice = advice,
		.place = first->places.n ? first->places.items[0].text : NULL,
	};
	tp_fact_id fact = out->is_of_steps ? TP_FACT_STEP_TIME : TP_FACT_RUN_DURATION;
	for (size_t i = 0; i < n; i++) {
		const struct tp_quantity *time = &runs[i]->facts[fact];
		if (!time->is_known || !(time->value > 0))
			return false;
		times[out->n_times++] = time->value;
	}
	for (size_t i = 0; i < first->n_findings && out->n_advice < ADVICE_MAX; i++)
		if (first->findings[i].is_advice)
			advice[out->n_advice++] = first->findings[i].rule;
	return true;
}

static void write_save(struct tp_json_writer *w, const struct tp_history_save *save)
{
	tp_json_open(w, '{');
	tp_json_put_known_string(w, "saved_at", save->saved_at);
	tp_json_put_known_string(w, "commit", save->commit);
	tp_json_put_known_string(w, "machine", save->machine);
	tp_json_put_known_string(w, "reason", save->reason);
	tp_json_write_key(w, save->is_of_steps ? "step_ns" : "run_ns");
	tp_json_open(w, '[');
	for (size_t i = 0; i < save->n_times; i++)
		tp_json_write_number(w, floor(save->time_ns[i]));
	tp_json_close(w, ']');
	tp_json_write_key(w, "advice");
	tp_json_open(w, '[');
	for (size_t i = 0; i < save->n_advice; i++)
		tp_json_write_string(w, save->advice[i]);
	tp_json_close(w, ']');
	tp_json_put_known_string(w, "place", save->place);
	tp_json_close(w, '}');
}

void tp_baseline_history_write(struct tp_json_writer *w, const struct tp_run_history *old,
			       const struct tp_history_save *added)
{
	size_t first = old->n >= TP_BASELINE_HISTORY_MAX ? old->n + 1 - TP_BASELINE_HISTORY_MAX : 0;
	tp_json_open(w, '{');
	tp_json_put_string(w, "schema", SCHEMA "0");
	tp_json_write_key(w, "saves");
	tp_json_open(w, '[');
	for (size_t i = first; i < old->n; i++)
		write_save(w, &old->saves[i]);
	write_save(w, added);
	tp_json_close(w, ']');
	tp_json_close(w, '}');
}
