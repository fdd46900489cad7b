/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers the entries of stacks in order of appearance: one for each name. */
#ifndef TRAINPROF_SRC_REPORT_EXPORT_FRAME_TABLE_H
#define TRAINPROF_SRC_REPORT_EXPORT_FRAME_TABLE_H

#include "stack_names.h"

struct tp_export_frames {
	struct tp_export_names names;
	uint32_t *number; /* by text, plus one; 0 = not seen yet. Grows with the texts. */
	size_t n_numbers;
	uint32_t *text;  /* by number */
	uint32_t *frame; /* by number: that of the trace, 0 if it is no frame */
	size_t n;
	size_t text_capacity;
	size_t frame_capacity;
};

void tp_export_frames_init(struct tp_export_frames *frames, const struct tp_profile *profile);
void tp_export_frames_release(struct tp_export_frames *frames);
/* Begins again with number 0; names stay. */
void tp_export_frames_clear(struct tp_export_frames *frames);
/* The number of an entry of the last named stack. */
uint32_t tp_export_frames_number(struct tp_export_frames *frames, size_t entry);
const char *tp_export_frames_name(const struct tp_export_frames *frames, size_t number);
/* Its file or module and its line; NULL and 0 if they are not known. */
const char *tp_export_frames_file(const struct tp_export_frames *frames, size_t number,
				  uint32_t *line);

#endif
