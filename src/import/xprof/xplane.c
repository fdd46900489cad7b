/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes one plane of an XSpace. */
#include "xplane.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>

/* Numbers of fields in xplane.proto. */
enum { PLANE_ID = 1, PLANE_NAME, PLANE_LINES, PLANE_TYPES, PLANE_STAT_NAMES, PLANE_STATS };
enum { LINE_ID = 1, LINE_NAME = 2, LINE_TIMESTAMP = 3, LINE_EVENTS = 4, LINE_DISPLAY_NAME = 11 };
enum { EVENT_TYPE = 1, EVENT_OFFSET, EVENT_DURATION, EVENT_STATS, EVENT_OCCURRENCES };
enum { TYPE_NAME = 2, TYPE_DISPLAY_NAME = 4, TYPE_STATS = 5 };
enum { STAT_NAME = 1, STAT_DOUBLE = 2, STAT_TEXT = 5, STAT_BYTES = 6, STAT_REFERENCE = 7 };
enum { NAMED_NAME = 2 };             /* of XStatMetadata */
enum { ENTRY_KEY = 1, ENTRY_VALUE }; /* of a map */

static const uint64_t PS_PER_NS = 1000;

void tp_xplane_name(const struct tp_protobuf *message, struct tp_protobuf *name)
{
	struct tp_protobuf rest = *message;
	struct tp_protobuf_field field;
	*name = (struct tp_protobuf){0};
	/* The name comes before all long fields. */
	while (tp_protobuf_next(&rest, &field) && field.number <= PLANE_NAME)
		if (field.number == PLANE_NAME && field.type == TP_PROTOBUF_BYTES)
			*name = field.body;
}

/* ---- tables ---- */

/* Makes the table of small ids once all are known: lines have millions of them. */
static void index_complete(struct tp_xindex *index)
{
	enum { SMALL_MAX = 1 << 16 };
	size_t cursor = 0;
	uint64_t id;
	uint64_t place;
	while (tp_map_next(&index->map, &cursor, &id, &place))
		if (id < SMALL_MAX && id >= index->n_places)
			index->n_places = (size_t)id + 1;
	index->places = tp_alloc((index->n_places + 1) * sizeof(*index->places));
	cursor = 0;
	while (tp_map_next(&index->map, &cursor, &id, &place))
		if (id < index->n_places)
			index->places[id] = (uint32_t)place + 1;
}

static inline bool index_find(const struct tp_xindex *index, uint64_t id, uint64_t *place)
{
	if (id >= index->n_places)
		return tp_map_get(&index->map, id, place);
	*place = (uint64_t)index->places[id] - 1;
	return index->places[id] != 0;
}

static void index_release(struct tp_xindex *index)
{
	tp_map_release(&index->map);
	free(index->places);
}

/* Decodes the key and the message of a map's entry. */
static bool decode_entry(const struct tp_protobuf *entry, uint64_t *key, struct tp_protobuf *value)
{
	struct tp_protobuf rest = *entry;
	struct tp_protobuf_field field;
	*key = 0;
	*value = (struct tp_protobuf){0};
	while (tp_protobuf_next(&rest, &field)) {
		if (field.number == ENTRY_KEY && field.type == TP_PROTOBUF_VARINT)
			*key = field.value;
		else if (field.number == ENTRY_VALUE && field.type == TP_PROTOBUF_BYTES)
			*value = field.body;
	}
	return rest.len == 0;
}

static void add_type(struct tp_xplane *plane, const struct tp_protobuf *entry)
{
	uint64_t id;
	struct tp_xevent_type type = {0};
	struct tp_protobuf_field field;
	plane->is_damaged |= !decode_entry(entry, &id, &type.message);
	struct tp_protobuf rest = type.message;
	while (tp_protobuf_next(&rest, &field)) {
		if (field.type != TP_PROTOBUF_BYTES)
			continue;
		if (field.number == TYPE_NAME)
			type.name = field.body;
		else if (field.number == TYPE_DISPLAY_NAME)
			type.display_name = field.body;
		type.has_stats |= field.number == TYPE_STATS;
	}
	if (!type.name.len)
		type.name = type.display_name;
	tp_map_set(&plane->type_ids.map, id, plane->n_types);
	TP_ARRAY_PUSH(plane->types, plane->n_types, plane->types_capacity) = type;
}

static void add_stat_name(struct tp_xplane *plane, const struct tp_protobuf *entry)
{
	uint64_t id;
	struct tp_protobuf message;
	struct tp_protobuf name = {0};
	struct tp_protobuf_field field;
	plane->is_damaged |= !decode_entry(entry, &id, &message);
	while (tp_protobuf_next(&message, &field))
		if (field.number == NAMED_NAME && field.type == TP_PROTOBUF_BYTES)
			name = field.body;
	tp_map_set(&plane->stat_ids.map, id, plane->n_stat_names);
	TP_ARRAY_PUSH(plane->stat_names, plane->n_stat_names, plane->stat_names_capacity) = name;
}

static enum tp_xstat stat_by_name(const struct tp_protobuf *name)
{
	static const char *const names[] = {"",
#define X(id, name) name,
					    TP_XSTAT_MAP(X)
#undef X
	};
	for (size_t i = 1; i < TP_ARRAY_LEN(names); i++)
		if (tp_protobuf_equals(name, names[i]))
			return (enum tp_xstat)i;
	return TP_XSTAT_OTHER;
}

void tp_xplane_init(struct tp_xplane *plane, const struct tp_protobuf *message)
{
	struct tp_protobuf rest = *message;
	struct tp_protobuf_field field;
	*plane = (struct tp_xplane){.message = *message};
	while (tp_protobuf_next(&rest, &field)) {
		if (field.number == PLANE_ID && field.type == TP_PROTOBUF_VARINT)
			plane->id = (int64_t)field.value;
		if (field.type != TP_PROTOBUF_BYTES)
			continue;
		if (field.number == PLANE_NAME)
			plane->name = field.body;
		else if (field.number == PLANE_LINES)
			TP_ARRAY_PUSH(plane->lines, plane->n_lines, plane->lines_capacity) =
				field.body;
		else if (field.number == PLANE_TYPES)
			add_type(plane, &field.body);
		else if (field.number == PLANE_STAT_NAMES)
			add_stat_name(plane, &field.body);
	}
	plane->is_damaged |= rest.len > 0;
	plane->stats = tp_alloc(plane->n_stat_names + 1);
	for (size_t i = 0; i < plane->n_stat_names; i++)
		plane->stats[i] = (uint8_t)stat_by_name(&plane->stat_names[i]);
	index_complete(&plane->type_ids);
	index_complete(&plane->stat_ids);
	for (uint64_t id = 0; id < TP_ARRAY_LEN(plane->stats_by_id); id++) {
		uint64_t index;
		if (index_find(&plane->stat_ids, id, &index))
			plane->stats_by_id[id] = plane->stats[index];
	}
}

void tp_xplane_release(struct tp_xplane *plane)
{
	free(plane->lines);
	free(plane->types);
	free(plane->stat_names);
	free(plane->stats);
	index_release(&plane->type_ids);
	index_release(&plane->stat_ids);
	*plane = (struct tp_xplane){0};
}

/* ---- statistics ---- */

static void set_value(const struct tp_xplane *plane, const struct tp_protobuf_field *field,
		      struct tp_xvalue *value)
{
	uint64_t name;
	if (field->number == STAT_TEXT && field->type == TP_PROTOBUF_BYTES)
		value->text = field->body;
	else if (field->type != TP_PROTOBUF_VARINT)
		return;
	else if (field->number == STAT_REFERENCE &&
		 index_find(&plane->stat_ids, field->value, &name))
		value->text = plane->stat_names[name];
	else
		value->number = field->value;
}

/* Most statistics are of no use, and begin with a small id that says so. */
static inline bool is_other_stat(const struct tp_xplane *plane, const struct tp_protobuf *stat)
{
	return stat->len > 1 && stat->bytes[0] == (STAT_NAME << 3 | TP_PROTOBUF_VARINT) &&
	       stat->bytes[1] < TP_ARRAY_LEN(plane->stats_by_id) &&
	       plane->stats_by_id[stat->bytes[1]] == TP_XSTAT_OTHER;
}

static void add_stat(const struct tp_xplane *plane, const struct tp_protobuf *stat,
		     struct tp_xstats *out)
{
	struct tp_protobuf rest = *stat;
	struct tp_protobuf_field field;
	struct tp_xvalue value = {0};
	enum tp_xstat which = TP_XSTAT_OTHER;
	bool has_value = false;
	while (tp_protobuf_next(&rest, &field)) {
		uint64_t index;
		if (field.number == STAT_NAME) {
			if (field.type != TP_PROTOBUF_VARINT ||
			    !index_find(&plane->stat_ids, field.value, &index))
				return;
			which = (enum tp_xstat)plane->stats[index];
			if (which == TP_XSTAT_OTHER)
				return;
		} else if (field.number >= STAT_DOUBLE && field.number <= STAT_REFERENCE) {
			set_value(plane, &field, &value);
			has_value = true;
		}
	}
	if (!has_value || which == TP_XSTAT_OTHER || tp_xstats_have(out, which))
		return;
	out->of[which] = value;
	out->known |= 1U << which;
}

static void add_stats(const struct tp_xplane *plane, const struct tp_protobuf *message,
		      uint32_t number, struct tp_xstats *out)
{
	struct tp_protobuf rest = *message;
	struct tp_protobuf_field field;
	while (tp_protobuf_next(&rest, &field))
		if (field.number == number && field.type == TP_PROTOBUF_BYTES)
			add_stat(plane, &field.body, out);
}

void tp_xplane_stats(const struct tp_xplane *plane, struct tp_xstats *out)
{
	out->known = 0;
	add_stats(plane, &plane->message, PLANE_STATS, out);
}

/* ---- lines and events ---- */

void tp_xline_init(struct tp_xline *line, const struct tp_protobuf *message)
{
	struct tp_protobuf rest = *message;
	struct tp_protobuf_field field;
	struct tp_protobuf display = {0};
	bool has_time = false;
	*line = (struct tp_xline){.message = *message};
	while (tp_protobuf_next(&rest, &field)) {
		/* Writers go by the numbers of fields, so the rest is events. */
		if (field.number == LINE_EVENTS && has_time && line->name.len)
			return;
		has_time |= field.number == LINE_TIMESTAMP;
		if (field.number == LINE_ID && field.type == TP_PROTOBUF_VARINT)
			line->id = (int64_t)field.value;
		else if (field.number == LINE_TIMESTAMP && field.type == TP_PROTOBUF_VARINT)
			line->timestamp_ns = field.value;
		else if (field.number == LINE_NAME && field.type == TP_PROTOBUF_BYTES)
			line->name = field.body;
		else if (field.number == LINE_DISPLAY_NAME && field.type == TP_PROTOBUF_BYTES)
			display = field.body;
	}
	if (!line->name.len)
		line->name = display;
}

/* Adds the line's time and the offset, in ns, rounded down. Returns false if the result is too
 * large. */
static bool add_offset(uint64_t timestamp_ns, uint64_t offset_ps, uint64_t *out)
{
	*out = timestamp_ns + offset_ps / PS_PER_NS;
	return timestamp_ns <= INT64_MAX / 2 && *out <= INT64_MAX;
}

static enum tp_xevent_result decode_event(const struct tp_xplane *plane,
					  const struct tp_xline *line,
					  const struct tp_protobuf *message,
					  struct tp_xevent *event)
{
	struct tp_protobuf rest = *message;
	struct tp_protobuf_field field;
	uint64_t id = 0;
	uint64_t type;
	uint64_t offset_ps = 0;
	uint64_t duration_ps = 0;
	bool is_sum = false; /* sum of several occurrences: without a time of its own */
	event->stats.known = 0;
	while (tp_protobuf_next(&rest, &field)) {
		if (field.number == EVENT_STATS && field.type == TP_PROTOBUF_BYTES &&
		    !is_other_stat(plane, &field.body))
			add_stat(plane, &field.body, &event->stats);
		if (field.type != TP_PROTOBUF_VARINT)
			continue;
		is_sum |= field.number == EVENT_OCCURRENCES;
		if (field.number == EVENT_TYPE)
			id = field.value;
		else if (field.number == EVENT_OFFSET)
			offset_ps = field.value;
		else if (field.number == EVENT_DURATION)
			duration_ps = field.value;
	}
	if (rest.len)
		return TP_XEVENT_BAD;
	if (!index_find(&plane->type_ids, id, &type))
		return TP_XEVENT_NO_NAME;
	event->type = &plane->types[type];
	if (event->type->has_stats)
		add_stats(plane, &event->type->message, TYPE_STATS, &event->stats);
	if (is_sum || duration_ps > INT64_MAX || offset_ps > INT64_MAX ||
	    !add_offset(line->timestamp_ns, offset_ps, &event->start_ns) ||
	    !add_offset(line->timestamp_ns, offset_ps + duration_ps, &event->end_ns))
		return TP_XEVENT_NO_TIME;
	return TP_XEVENT_OK;
}

enum tp_xevent_result tp_xline_next(const struct tp_xplane *plane, const struct tp_xline *line,
				    struct tp_protobuf *rest, struct tp_xevent *out)
{
	struct tp_protobuf_field field;
	while (tp_protobuf_next(rest, &field)) {
		if (field.number != LINE_EVENTS || field.type != TP_PROTOBUF_BYTES)
			continue;
		return decode_event(plane, line, &field.body, out);
	}
	return TP_XEVENT_END;
}
