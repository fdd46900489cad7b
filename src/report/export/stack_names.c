/* SPDX-License-Identifier: Apache-2.0 */
/* Names stacks for flame graphs. */
#include "stack_names.h"

#include "report/digest/frame_name.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <stdlib.h>

void tp_export_names_init(struct tp_export_names *names, const struct tp_profile *profile)
{
	*names = (struct tp_export_names){.profile = profile};
	tp_strtab_init(&names->texts);
	names->of_frame = tp_alloc((profile->trace->n_frames + 1) * sizeof(*names->of_frame));
}

void tp_export_names_release(struct tp_export_names *names)
{
	tp_strtab_release(&names->texts);
	free(names->of_frame);
	free(names->ids);
	free(names->frames);
}

/* Interns valid UTF-8 without line breaks. Releases the text. */
static uint32_t intern(struct tp_export_names *names, struct tp_buf *text)
{
	struct tp_buf safe = {0};
	tp_text_add_safe(&safe, tp_buf_text(text));
	for (char *p = safe.data; p && *p; p++)
		if (*p == '\n')
			*p = ' ';
	uint32_t id = tp_strtab_intern(&names->texts, safe.len ? safe.data : "[unnamed]");
	tp_buf_release(&safe);
	tp_buf_release(text);
	return id;
}

static void push(struct tp_export_names *names, uint32_t id, uint32_t frame)
{
	size_t n = names->n;
	TP_ARRAY_PUSH(names->frames, n, names->frames_capacity) = frame;
	TP_ARRAY_PUSH(names->ids, names->n, names->capacity) = id;
}

/* Adds nothing for an empty text. */
static void push_text(struct tp_export_names *names, struct tp_buf *text)
{
	if (text->len)
		push(names, intern(names, text), 0);
}

static uint32_t frame_name(struct tp_export_names *names, uint32_t frame)
{
	if (!names->of_frame[frame]) {
		struct tp_buf text = {0};
		tp_report_add_frame(&text, names->profile->trace, frame);
		names->of_frame[frame] = intern(names, &text);
	}
	return names->of_frame[frame];
}

static void push_stack(struct tp_export_names *names, uint32_t id)
{
	const struct tp_stack *stack = tp_trace_stack(names->profile->trace, id);
	struct tp_buf cut = {0};
	if (stack->flags & TP_STACK_TRUNCATED)
		tp_buf_puts(&cut, "[callers not known]");
	push_text(names, &cut);
	for (uint32_t i = stack->n_frames; i-- > 0;)
		push(names, frame_name(names, stack->frames[i]), stack->frames[i]);
}

void tp_export_names_of(struct tp_export_names *names, const struct tp_export_weight *weight)
{
	struct tp_buf text = {0};
	names->n = 0;
	tp_export_add_process(&text, names->profile, weight);
	push_text(names, &text);
	tp_export_add_thread(&text, names->profile, weight);
	push_text(names, &text);
	tp_export_add_part(&text, weight);
	push_text(names, &text);
	names->n_around = names->n;
	if (weight->task == TP_NO_TASK)
		return;
	if (weight->stack) {
		push_stack(names, weight->stack);
	} else if (weight->state == TP_STATE_ON_CPU) {
		tp_buf_puts(&text, "[no stack]");
		push_text(names, &text);
	}
	tp_export_add_wait(&text, weight->state, weight->cause);
	push_text(names, &text);
}

const char *tp_export_names_text(const struct tp_export_names *names, uint32_t id)
{
	return tp_strtab_text(&names->texts, id);
}

const char *tp_export_names_frame(struct tp_export_names *names, uint32_t frame)
{
	return tp_strtab_text(&names->texts, frame_name(names, frame));
}
