/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers the entries of stacks for formats that have a table of frames. */
#include "frame_table.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

void tp_export_frames_init(struct tp_export_frames *frames, const struct tp_profile *profile)
{
	*frames = (struct tp_export_frames){0};
	tp_export_names_init(&frames->names, profile);
}

void tp_export_frames_release(struct tp_export_frames *frames)
{
	free(frames->number);
	free(frames->text);
	free(frames->frame);
	tp_export_names_release(&frames->names);
}

void tp_export_frames_clear(struct tp_export_frames *frames)
{
	if (frames->n_numbers)
		memset(frames->number, 0, frames->n_numbers * sizeof(*frames->number));
	frames->n = 0;
}

uint32_t tp_export_frames_number(struct tp_export_frames *frames, size_t entry)
{
	uint32_t text = frames->names.ids[entry];
	if (text >= frames->n_numbers) {
		size_t more = text * 2 + 64;
		frames->number = tp_realloc(frames->number, more * sizeof(*frames->number));
		for (size_t i = frames->n_numbers; i < more; i++)
			frames->number[i] = 0;
		frames->n_numbers = more;
	}
	if (!frames->number[text]) {
		size_t n = frames->n;
		TP_ARRAY_PUSH(frames->frame, n, frames->frame_capacity) =
			frames->names.frames[entry];
		TP_ARRAY_PUSH(frames->text, frames->n, frames->text_capacity) = text;
		frames->number[text] = (uint32_t)frames->n;
	}
	return frames->number[text] - 1;
}

const char *tp_export_frames_name(const struct tp_export_frames *frames, size_t number)
{
	return tp_export_names_text(&frames->names, frames->text[number]);
}

const char *tp_export_frames_file(const struct tp_export_frames *frames, size_t number,
				  uint32_t *line)
{
	const struct tp_trace *trace = frames->names.profile->trace;
	uint32_t id = frames->frame[number];
	const struct tp_frame *frame = &trace->frames[id];
	uint32_t file = !id ? 0 : frame->file ? frame->file : frame->module;
	*line = file ? frame->line : 0;
	return file ? tp_trace_string(trace, file) : NULL;
}
