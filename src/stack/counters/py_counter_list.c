/* SPDX-License-Identifier: Apache-2.0 */
/* Names counters and adds those that changed to the list of a reading. */
#include "py_counter_list.h"

#include "py_counter_slot.h"

enum {
	MAX_LOOP_GROWTH = 256, /* between two readings: for loops advance one by one */
	LIVE_CHANGES = 4,      /* changes that a loop needs before its end is emitted */
	WORD = 8,
};

static const char *make_label(struct tp_py_counters *self, const struct tp_py_counter_root *root,
			      const char *attribute)
{
	struct tp_buf *text = &self->scratch;
	tp_buf_clear(text);
	if (root->line && attribute)
		tp_buf_printf(text, "%s of the for loop at line %u", attribute, root->line);
	else if (root->line)
		tp_buf_printf(text, "for loop %s%sat line %u%s%s", root->is_down ? "down " : "",
			      root->is_number  ? "over a range of numbers "
			      : root->is_range ? "over a range "
					       : "",
			      root->line, root->name ? ", variable " : "",
			      root->name ? root->name : "");
	else if (root->name)
		tp_buf_printf(text, "%s.%s", root->name, attribute);
	else
		tp_buf_printf(text, "#%u.%s", root->number, attribute);
	return tp_strtab_text(&self->names,
			      tp_strtab_intern_len(&self->names, tp_buf_text(text), text->len));
}

/* Names are unique texts, so their addresses stand for them. */
static uint64_t label_key(const struct tp_py_counter_root *root, const char *attribute)
{
	uint64_t form = (uint64_t)root->line << 3 | (uint64_t)root->is_down << 2 |
			(uint64_t)root->is_number << 1 | root->is_range;
	uint64_t names = tp_hash_mix((uintptr_t)root->name, (uintptr_t)attribute);
	return tp_hash_mix(tp_hash_mix(names, form), root->number);
}

/* Each reading labels each counter, so the texts are made once. */
const char *tp_py_counter_label(struct tp_py_counters *self, const struct tp_py_counter_root *root,
				const char *attribute)
{
	uint64_t key = label_key(root, attribute);
	uint64_t kept;
	if (tp_map_get(&self->labels, key, &kept))
		return (const char *)(uintptr_t)kept; /* NOLINT(performance-no-int-to-ptr) */
	const char *label = make_label(self, root, attribute);
	tp_map_set(&self->labels, key, (uintptr_t)label);
	return label;
}

uint64_t tp_py_counter_slot_of_label(struct tp_py_counters *self,
				     const struct tp_py_counter_root *root, const char *label)
{
	return tp_py_counter_slot_of(self, root->code,
				     tp_hash_mix((uint64_t)(uintptr_t)label, root->number));
}

void tp_py_counter_emit(struct tp_py_counters *self, struct tp_py_counter_list *list,
			const struct tp_py_counter_root *root, struct tp_python_counter counter,
			uint64_t slot)
{
	bool is_loop = counter.kind == TP_PYTHON_COUNTER_ITERATOR;
	if (list->n == list->max)
		return;
	tp_py_counter_note_address(self, counter.address);
	bool is_new = tp_py_counter_update(self, slot, counter.value,
					   is_loop ? MAX_LOOP_GROWTH : TP_PY_COUNTER_MAX_GROWTH);
	bool is_live = is_loop && self->slots[slot].n_counted >= LIVE_CHANGES &&
		       !tp_py_counter_is_given_up(self, slot);
	counter.file = root->code->file;
	counter.name = root->code->name;
	counter.first_line = root->code->first_line;
	counter.local = root->number;
	counter.width = WORD;
	if (is_live)
		tp_py_live_loops_note_counter(&self->loops, slot, root->code->address, root->number,
					      &counter);
	/* A loop is emitted each time it is seen, so its last iteration is known. */
	if (is_new || is_live)
		list->out[list->n++] = counter;
}
