/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of functions, from the hottest stacks of a profile. */
#ifndef TRAINPROF_SRC_REPORT_VIEW_VIEW_FUNCTIONS_H
#define TRAINPROF_SRC_REPORT_VIEW_VIEW_FUNCTIONS_H

#include "trainprof/model/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TP_VIEW_NO_FUNCTION UINT32_MAX

/* Numbers the functions of the trace; all frames of a function have the same number. */
struct tp_view_functions {
	const struct tp_profile *profile;
	uint32_t *of_frame; /* heap, by frame */
	uint32_t *frame;    /* heap, by function: one of its frames */
	size_t n;
	size_t capacity;
	bool has_python;
	unsigned char *loaders; /* heap, by task: enum tp_view_loaders of its process */
};

/* The threads of a process that make batches. */
enum tp_view_loaders {
	TP_VIEW_NO_LOADERS,
	TP_VIEW_LOADER_PROCESS,
	TP_VIEW_LOADER_THREADS, /* all of its threads except the main one */
};

enum tp_view_state { TP_VIEW_ALL_TIME, TP_VIEW_CPU_TIME, TP_VIEW_WAIT_TIME, TP_VIEW_N_STATES };

/* Selects the stacks that are counted. */
struct tp_view_selection {
	enum tp_part part; /* of the trainer's main thread; TP_N_PARTS: any part */
	uint32_t task;     /* leader of a process; TP_NO_TASK: all */
	bool only_loaders; /* processes that make batches */
	bool only_python;  /* without native frames below and between Python frames */
	enum tp_view_state state;
};

struct tp_view_cost {
	uint32_t function;
	uint32_t line;    /* line of the file with most of its time; 0: not known */
	uint64_t self_ns; /* time as the innermost function */
	uint64_t total_ns;
	uint64_t line_ns;
};

struct tp_view_line_cost {
	uint32_t line;
	uint64_t self_ns;
	uint64_t total_ns;
};

void tp_view_functions_init(struct tp_view_functions *functions, const struct tp_profile *profile);
void tp_view_functions_release(struct tp_view_functions *functions);

bool tp_view_is_selected(const struct tp_view_functions *functions,
			 const struct tp_view_selection *selection, const struct tp_hot_stack *hot);
uint64_t tp_view_selected_ns(const struct tp_view_functions *functions,
			     const struct tp_view_selection *selection);

/* Selects all time of all processes; for Python programs only Python frames. */
struct tp_view_selection tp_view_select_all(const struct tp_view_functions *functions);

/* Returns the shown frames of a stack, leaf first; `room` has TP_STACK_MAX_FRAMES. A stack without
 * Python frames is shown completely. */
const uint32_t *tp_view_frames(const struct tp_view_functions *functions,
			       const struct tp_view_selection *selection,
			       const struct tp_stack *stack, uint32_t *room, uint32_t *n);

/* Costs of the functions in the selected stacks, sorted by their own time; freed with free(). */
struct tp_view_cost *tp_view_costs(const struct tp_view_functions *functions,
				   const struct tp_view_selection *selection, size_t *n);
/* Costs of the lines of a source file, sorted by number; freed with free(). */
struct tp_view_line_cost *tp_view_line_costs(const struct tp_view_functions *functions,
					     const struct tp_view_selection *selection,
					     uint32_t file, size_t *n);

/* An address in native code, and its number of CPU samples. */
struct tp_view_address {
	uint64_t address;
	uint64_t n_self;  /* samples with this address in the innermost frame */
	uint64_t n_total; /* samples with this address anywhere in the stack */
};

/* Addresses in a native function that have samples, sorted; freed with free(). All processes count,
 * because the selection of hot stacks keeps one address for each function. *n_all is the number of
 * all samples. */
struct tp_view_address *tp_view_addresses(const struct tp_view_functions *functions,
					  uint32_t function, size_t *n, uint64_t *n_all);

/* Strings of the trace; file is 0 if only the module is known. */
const char *tp_view_function_name(const struct tp_view_functions *functions, uint32_t function,
				  char *plain, size_t size);
const struct tp_frame *tp_view_function_frame(const struct tp_view_functions *functions,
					      uint32_t function);

#endif
