/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns families of kernels to groups. */
#include "kernel_group.h"

#include "trainprof/base/memory.h"

#include <string.h>

static const char *const group_names[] = {"none", "elementwise", "layout", "matrix", "optimizer"};

static const struct tp_kernel_family *find_family(const struct tp_kernel_patterns *patterns,
						  const char *name)
{
	for (size_t i = 0; i < patterns->n_families; i++)
		if (strcmp(patterns->families[i].name, name) == 0)
			return &patterns->families[i];
	return NULL;
}

static enum tp_status add_family(struct tp_kernel_patterns *out, const struct tp_pattern_row *row,
				 const struct tp_json *item, enum tp_kernel_group group,
				 struct tp_error *err)
{
	const char *name = tp_json_string(item);
	if (!name || !*name)
		return tp_pattern_row_fail(row, item, "not the name of a family in", "groups", NULL,
					   err);
	const struct tp_kernel_family *there = find_family(out, name);
	if (there && there->group != group)
		return tp_pattern_row_fail(row, item, "in another group already:", name, NULL, err);
	if (!there)
		TP_ARRAY_PUSH(out->families, out->n_families, out->families_capacity) =
			(struct tp_kernel_family){
				.name = tp_arena_strdup(row->arena, name),
				.group = group,
				.file = row->file,
				.line = tp_json_line(item),
			};
	return TP_OK;
}

enum tp_status tp_kernel_groups_read(struct tp_kernel_patterns *out,
				     const struct tp_pattern_row *row, struct tp_error *err)
{
	enum tp_status status =
		tp_pattern_row_check_keys(row, group_names, TP_ARRAY_LEN(group_names), err);
	for (unsigned group = 0; group < TP_ARRAY_LEN(group_names); group++) {
		const struct tp_json *list = tp_json_get(row->json, group_names[group]);
		if (!status && list && tp_json_type(list) != TP_JSON_ARRAY)
			status = tp_pattern_row_fail(row, list, "not a list:", group_names[group],
						     NULL, err);
		TP_JSON_EACH (item, list)
			if (!status)
				status = add_family(out, row, item, (enum tp_kernel_group)group,
						    err);
	}
	return status;
}

void tp_kernel_groups_apply(struct tp_kernel_patterns *patterns)
{
	for (size_t i = 0; i < patterns->n_items; i++) {
		struct tp_kernel_row *says = &patterns->items[i].says;
		const struct tp_kernel_family *family = find_family(patterns, says->family);
		says->group = family ? family->group : TP_GROUP_NONE;
	}
}

const struct tp_kernel_family *tp_kernel_groups_unused(const struct tp_kernel_patterns *patterns)
{
	for (size_t i = 0; i < patterns->n_families; i++) {
		bool is_used = false;
		for (size_t k = 0; k < patterns->n_items; k++)
			is_used |= strcmp(patterns->items[k].says.family,
					  patterns->families[i].name) == 0;
		if (!is_used)
			return &patterns->families[i];
	}
	return NULL;
}
