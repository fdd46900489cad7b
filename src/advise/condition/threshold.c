/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and finds named thresholds. */
#include "threshold.h"

#include "token.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <stdlib.h>
#include <string.h>

void tp_thresholds_release(struct tp_thresholds *thresholds)
{
	free(thresholds->items);
	*thresholds = (struct tp_thresholds){0};
}

static struct tp_threshold *thresholds_place(struct tp_thresholds *thresholds, const char *name)
{
	for (size_t i = 0; i < thresholds->n_items; i++)
		if (strcmp(thresholds->items[i].name, name) == 0)
			return &thresholds->items[i];
	TP_ARRAY_PUSH(thresholds->items, thresholds->n_items, thresholds->items_capacity) =
		(struct tp_threshold){0};
	return &thresholds->items[thresholds->n_items - 1];
}

static enum tp_status threshold_read(struct tp_thresholds *thresholds,
				     const struct tp_json_doc *doc, const struct tp_json *item,
				     struct tp_arena *arena, struct tp_error *err)
{
	static const char *const keys[] = {"name", "value", "why", "source", "checked"};
	TP_JSON_EACH (member, item) {
		size_t i = 0;
		while (i < TP_ARRAY_LEN(keys) && strcmp(tp_json_key(member), keys[i]) != 0)
			i++;
		if (i == TP_ARRAY_LEN(keys) || !tp_json_string(member))
			return tp_fail(err, TP_PARSE,
				       "%s:%u: a threshold has name, value, why, source and "
				       "checked, all texts; not '%s'",
				       tp_json_name(doc), tp_json_line(member),
				       tp_json_key(member));
	}
	const char *name = tp_json_string(tp_json_get(item, "name"));
	const char *written = tp_json_string(tp_json_get(item, "value"));
	const char *why = tp_json_string(tp_json_get(item, "why"));
	const char *source = tp_json_string(tp_json_get(item, "source"));
	const char *checked = tp_json_string(tp_json_get(item, "checked"));
	if (!name || !written || !why || (source && !checked))
		return tp_fail(err, TP_PARSE,
			       "%s:%u: a threshold needs a name, a value and why, and with a "
			       "source the date it was checked",
			       tp_json_name(doc), tp_json_line(item));
	double value;
	struct tp_dimension dimension;
	if (!tp_token_parse_number(written, &value, &dimension))
		return tp_fail(err, TP_PARSE, "%s:%u: '%s' is not a number with a unit",
			       tp_json_name(doc), tp_json_line(tp_json_get(item, "value")),
			       written);
	*thresholds_place(thresholds, name) = (struct tp_threshold){
		.name = tp_arena_strdup(arena, name),
		.written = tp_arena_strdup(arena, written),
		.value = value,
		.dimension = dimension,
		.why = tp_arena_strdup(arena, why),
		.source = tp_arena_strdup(arena, source),
		.checked = tp_arena_strdup(arena, checked),
		.path = tp_arena_strdup(arena, tp_json_name(doc)),
	};
	return TP_OK;
}

enum tp_status tp_thresholds_read(struct tp_thresholds *thresholds, const struct tp_json_doc *doc,
				  const struct tp_json *list, struct tp_arena *arena,
				  struct tp_error *err)
{
	enum tp_status status = TP_OK;
	TP_JSON_EACH (item, list) {
		status = threshold_read(thresholds, doc, item, arena, err);
		if (status)
			break;
	}
	return status;
}

const struct tp_threshold *tp_thresholds_find(const struct tp_thresholds *thresholds,
					      const char *name)
{
	for (size_t i = 0; i < thresholds->n_items; i++)
		if (strcmp(thresholds->items[i].name, name) == 0)
			return &thresholds->items[i];
	return NULL;
}

const char *tp_thresholds_nearest(const struct tp_thresholds *thresholds, const char *name)
{
	if (!thresholds->n_items)
		return NULL;
	const char **names = tp_alloc(thresholds->n_items * sizeof(*names));
	for (size_t i = 0; i < thresholds->n_items; i++)
		names[i] = thresholds->items[i].name;
	const char *nearest = tp_text_closest(name, names, thresholds->n_items);
	free(names);
	return nearest;
}

double tp_thresholds_value(const struct tp_thresholds *thresholds, const char *name,
			   double otherwise)
{
	const struct tp_threshold *found = tp_thresholds_find(thresholds, name);
	return found ? found->value : otherwise;
}
