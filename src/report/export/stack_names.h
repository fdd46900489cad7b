/* SPDX-License-Identifier: Apache-2.0 */
/* Names of frames, made once each, and the entries around a stack in a flame graph. */
#ifndef TRAINPROF_SRC_REPORT_EXPORT_STACK_NAMES_H
#define TRAINPROF_SRC_REPORT_EXPORT_STACK_NAMES_H

#include "weights.h"

#include "trainprof/base/strtab.h"

/*
 * The names of a stack, outermost first: process, thread, part, frames, wait. Ids are those of a
 * table of texts; texts are valid UTF-8 without control characters.
 */
struct tp_export_names {
	const struct tp_profile *profile;
	struct tp_strtab texts;
	uint32_t *of_frame; /* by frame; heap */
	uint32_t *ids;      /* of the last named stack; heap */
	uint32_t *frames;   /* frame id of each entry, 0 if it is no frame; heap */
	size_t n;
	size_t n_around; /* process, thread and part: the entries before the frames */
	size_t capacity;
	size_t frames_capacity;
};

void tp_export_names_init(struct tp_export_names *names, const struct tp_profile *profile);
void tp_export_names_release(struct tp_export_names *names);
/* The name of one frame; borrowed. */
const char *tp_export_names_frame(struct tp_export_names *names, uint32_t frame);
/* Fills ids, frames and n. */
void tp_export_names_of(struct tp_export_names *names, const struct tp_export_weight *weight);
const char *tp_export_names_text(const struct tp_export_names *names, uint32_t id);

#endif
