/* SPDX-License-Identifier: Apache-2.0 */
/* Matches texts of rows with types. */
#include "table_types.h"

#include "import/reader/text_pattern.h"

static const struct tp_table_type *match(const struct tp_table_type *types, size_t n,
					 const struct tp_table_value *value)
{
	for (size_t i = 0; value->text && i < n; i++)
		if (tp_text_pattern_match(types[i].text, value->text, value->len, NULL))
			return &types[i];
	return NULL;
}

const struct tp_table_type *tp_table_types_find(struct tp_table_types *known,
						const struct tp_table_type *types, size_t n,
						const struct tp_table_value *value)
{
	size_t slot = value->text_id % TP_TABLE_TYPES_KNOWN;
	if (value->text_id && known->text_ids[slot] == value->text_id)
		return known->types[slot];
	const struct tp_table_type *type = match(types, n, value);
	known->text_ids[slot] = value->text_id;
	known->types[slot] = type;
	return type;
}
