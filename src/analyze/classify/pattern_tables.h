/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of rules/patterns/ by subject; used only inside src/analyze/classify/. */
#ifndef TRAINPROF_SRC_ANALYZE_CLASSIFY_PATTERN_TABLES_H
#define TRAINPROF_SRC_ANALYZE_CLASSIFY_PATTERN_TABLES_H

#include "counter_class.h"
#include "frame_class.h"
#include "kernel_class.h"
#include "python_class.h"
#include "setting_class.h"
#include "span_class.h"
#include "stack_idiom.h"

#include "trainprof/base/arena.h"

struct tp_patterns {
	struct tp_arena arena; /* texts of all rows */
	struct tp_frame_patterns frames;
	struct tp_kernel_patterns kernels;
	struct tp_span_patterns spans;
	struct tp_python_patterns python;
	struct tp_setting_patterns settings;
	struct tp_counter_patterns counters;
	struct tp_idiom_patterns idioms;
};

#endif
