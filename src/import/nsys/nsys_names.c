/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the strings of an export and passes each to a rank's writer once. */
#include "nsys_names.h"

#include "nsys_words.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/model/range_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_NAME = (64 << 10) - 1, /* bytes; longer names are cut, as in recordings */
	/* Flag in tp_nsys_naming: ids are small, and a range's kind has to be known with its id. */
	IS_OPERATOR = (int)(1U << 30),
};

void tp_nsys_names_load(struct tp_nsys_names *names, struct tp_sqlite_db *db)
{
	static const char *const columns[] = {"id", "value"};
	struct tp_sqlite_rows *rows = tp_sqlite_rows_open(db, "StringIds", columns, 2);
	const struct tp_sqlite_cell *cells;
	while (rows && (cells = tp_sqlite_rows_next(rows))) {
		if (cells[0].type != TP_SQLITE_INTEGER || cells[1].type != TP_SQLITE_TEXT)
			continue;
		size_t len = cells[1].len < MAX_NAME ? cells[1].len : MAX_NAME;
		struct tp_nsys_text text = {tp_arena_strndup(&names->arena, cells[1].text, len),
					    strnlen(cells[1].text, len)};
		tp_map_set(&names->numbers, (uint64_t)cells[0].number, names->n_texts);
		TP_ARRAY_PUSH(names->texts, names->n_texts, names->texts_capacity) = text;
	}
	tp_sqlite_rows_close(rows);
}

void tp_nsys_names_release(struct tp_nsys_names *names)
{
	tp_arena_release(&names->arena);
	tp_map_release(&names->numbers);
	free(names->texts);
	*names = (struct tp_nsys_names){0};
}

void tp_nsys_naming_release(struct tp_nsys_naming *naming)
{
	for (size_t i = 0; i < TP_NSYS_N_USES; i++)
		free(naming->ids[i]);
	*naming = (struct tp_nsys_naming){0};
}

static bool is_utf8(const char *text, size_t len)
{
	for (size_t at = 0; at < len;) {
		size_t step = tp_text_utf8_length(text + at);
		if (step == 0 || at + step > len)
			return false;
		at += step;
	}
	return true;
}

/* Returns the writer's string for the name within a text, with IS_OPERATOR. */
static uint32_t name_write(struct tp_rank_writer *writer, enum tp_nsys_use use, const char *text,
			   size_t len)
{
	bool is_operator = false;
	uint32_t id;
	len = strnlen(text, len < MAX_NAME ? len : MAX_NAME);
	if (use == TP_NSYS_CALL)
		len = tp_nsys_call_len(text, len);
	else if (use == TP_NSYS_RANGE)
		len = tp_range_name_len(text, len, &is_operator);
	if (is_utf8(text, len)) {
		id = tp_rank_writer_string(writer, text, len);
	} else {
		struct tp_buf mended = {0};
		char *cut = tp_strndup(text, len);
		tp_text_add_utf8(&mended, cut);
		id = tp_rank_writer_string(writer, mended.data, mended.len);
		tp_buf_release(&mended);
		free(cut);
	}
	return id | (is_operator ? IS_OPERATOR : 0);
}

static uint32_t number_find(const struct tp_nsys_names *names, struct tp_nsys_naming *naming,
			    struct tp_rank_writer *writer, enum tp_nsys_use use, int64_t number)
{
	uint64_t index;
	if (!tp_map_get(&names->numbers, (uint64_t)number, &index)) {
		char text[32];
		int len = snprintf(text, sizeof(text), "string %lld", (long long)number);
		return tp_rank_writer_string(writer, text, (size_t)len);
	}
	if (!naming->ids[use])
		naming->ids[use] = tp_alloc(names->n_texts * sizeof(*naming->ids[use]));
	uint32_t *id = &naming->ids[use][index];
	if (!*id)
		*id = name_write(writer, use, names->texts[index].text, names->texts[index].len);
	return *id;
}

const char *tp_nsys_names_text(const struct tp_nsys_names *names, const struct tp_sqlite_cell *cell,
			       size_t *len)
{
	uint64_t index;
	*len = 0;
	if (cell->type == TP_SQLITE_TEXT) {
		*len = cell->len;
		return cell->text;
	}
	if (cell->type != TP_SQLITE_INTEGER ||
	    !tp_map_get(&names->numbers, (uint64_t)cell->number, &index))
		return "";
	*len = names->texts[index].len;
	return names->texts[index].text;
}

uint32_t tp_nsys_names_find(const struct tp_nsys_names *names, struct tp_nsys_naming *naming,
			    struct tp_rank_writer *writer, enum tp_nsys_use use,
			    const struct tp_sqlite_cell *cell, bool *is_operator)
{
	uint32_t id = 0;
	if (cell->type == TP_SQLITE_TEXT && cell->len > 0)
		id = name_write(writer, use, cell->text, cell->len);
	else if (cell->type == TP_SQLITE_INTEGER)
		id = number_find(names, naming, writer, use, cell->number);
	*is_operator = id & IS_OPERATOR;
	return id & ~(uint32_t)IS_OPERATOR;
}
