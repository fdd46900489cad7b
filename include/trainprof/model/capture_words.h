/* SPDX-License-Identifier: Apache-2.0 */
/* Says how to record more with the tool that wrote a trace: a user of XProf has no
 * torch.profiler. */
#ifndef TRAINPROF_MODEL_CAPTURE_WORDS_H
#define TRAINPROF_MODEL_CAPTURE_WORDS_H

#include <stddef.h>

enum tp_capture_need {
	TP_CAPTURE_DEVICE, /* the work of devices */
	TP_CAPTURE_HOST,   /* what the CPU does */
	TP_CAPTURE_MARKS,  /* where steps begin */
	TP_CAPTURE_STEPS,  /* more steps, after warm-up */
	TP_CAPTURE_END,    /* a whole file */
	TP_CAPTURE_LINKS,  /* the launch of each kernel */
	TP_CAPTURE_STACKS, /* stacks of Python */
	TP_CAPTURE_NEEDS
};

struct tp_run_info;

/* Returns what to type or to write, for the tool of the first imported trace; for PyTorch and nsys
 * if `run` is NULL, holds none or is of a tool that has no such setting. Static storage. */
const char *tp_capture_words(const struct tp_run_info *run, enum tp_capture_need need);
/* Returns the need that a placeholder of rules stands for ("%CAPTURE_DEVICE"), by its first
 * characters; TP_CAPTURE_NEEDS = none. Its length goes to *len. */
enum tp_capture_need tp_capture_need_of(const char *text, size_t *len);

#endif
