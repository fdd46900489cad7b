/* Which names mean what: the files of rules/patterns/, ready for matching. */
#ifndef TRAINPROF_SRC_ANALYZE_PATTERNS_H
#define TRAINPROF_SRC_ANALYZE_PATTERNS_H

#include "analysis.h"

struct tp_kernel_patterns;
struct tp_span_patterns;

/* What one frame says. TP_LEAF_CALLER: nothing by itself, look at who called it. */
enum { TP_LEAF_CALLER = TP_N_LEAVES };

struct tp_frame_class {
	enum tp_phase phase;
	unsigned leaf; /* enum tp_leaf or TP_LEAF_CALLER */
	bool is_loader_root;
	bool is_team_root;
	bool is_comm_root;
};

/* What a file name says when a thread reads or writes it. */
enum tp_file_kind { TP_FILE_UNKNOWN, TP_FILE_DATA, TP_FILE_CHECKPOINT, TP_FILE_LOG };

/* module is a path or "[kernel]"; symbol may be "". Case does not matter. */
struct tp_frame_class tp_patterns_frame(const struct tp_patterns *patterns, const char *module,
					const char *symbol);
enum tp_phase tp_patterns_mark(const struct tp_patterns *patterns, const char *mark);
enum tp_file_kind tp_patterns_file(const struct tp_patterns *patterns, const char *path);
/* Role by the program's name or the thread's name; false when no pattern knows it. */
bool tp_patterns_is_launcher(const struct tp_patterns *patterns, const char *program);
enum tp_thread_role tp_patterns_thread(const struct tp_patterns *patterns, const char *comm);
bool tp_patterns_is_interpreter(const struct tp_patterns *patterns, const char *program);

/* Rows for names of device kernels and of spans, for kernelclass.c and spanclass.c. */
const struct tp_kernel_patterns *tp_patterns_kernels(const struct tp_patterns *patterns);
const struct tp_span_patterns *tp_patterns_spans(const struct tp_patterns *patterns);

#endif
