/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the frames of samples: the stacks they form, in whatever order they come. */
#include "import/nsys/nsys_stacks.h"

#include "import/nsys_scene.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#define T1 "281475060597737" /* GLOBAL(5, 1001) */
#define WORK                                                                                       \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, " \
	"globalPid, name); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 1000, 0, 7, 1, "      \
	"281475060596736, 'k');"
#define STRINGS                                                                                    \
	SCHEMA_STRINGS                                                                             \
	"INSERT INTO StringIds VALUES (1, 'leaf'), (2, 'caller'), (3, 'main'), (4, '/lib/a.so'), " \
	"(5, '[kernel.kallsyms]'), (6, '0x7f0012'), (7, '[Max depth]'), (8, '[Unknown]'), (9, "    \
	"'vfs_read'), (10, '[Broken backtraces]');"
/* Samples 1 and 2, at 10 and 20. */
#define SAMPLES                                                                                    \
	"CREATE TABLE COMPOSITE_EVENTS (id, start, cpu, threadState, globalTid, cpuCycles); "      \
	"INSERT INTO COMPOSITE_EVENTS VALUES (1, 10, 0, 1, " T1 ", 1), (2, 20, 0, 1, " T1 ", 1);"
#define CHAINS                                                                                     \
	"CREATE TABLE SAMPLING_CALLCHAINS (id, symbol, module, kernelMode, unresolved, "           \
	"specialEntry, stackDepth);"

static const struct {
	const char *claim;
	const char *rows; /* id, symbol, module, kernelMode, unresolved, specialEntry, stackDepth */
	const char *first, *second; /* "module:symbol" from the leaf on; "…" where it is cut */
	uint64_t n_skipped;
} scenes[] = {
	{"frames go from the leaf outwards",
	 "(1, 1, 4, 0, 0, 0, 0), (1, 2, 4, 0, 0, 0, 1), (1, 3, 4, 0, 0, 0, 2), (2, 2, 4, 0, 0, 0, "
	 "0)",
	 "/lib/a.so:leaf /lib/a.so:caller /lib/a.so:main ", "/lib/a.so:caller ", 0},
	{"rows of a stack come in any order",
	 "(1, 3, 4, 0, 0, 0, 2), (1, 1, 4, 0, 0, 0, 0), (1, 2, 4, 0, 0, 0, 1), (2, 2, 4, 0, 0, 0, "
	 "0)",
	 "/lib/a.so:leaf /lib/a.so:caller /lib/a.so:main ", "/lib/a.so:caller ", 0},
	{"stacks lie among each other",
	 "(2, 2, 4, 0, 0, 0, 0), (1, 1, 4, 0, 0, 0, 0), (2, 3, 4, 0, 0, 0, 1), (1, 3, 4, 0, 0, 0, "
	 "1)",
	 "/lib/a.so:leaf /lib/a.so:main ", "/lib/a.so:caller /lib/a.so:main ", 0},
	{"texts stand in the place of their numbers",
	 "(1, 'f', '/x.so', NULL, NULL, NULL, 0), (1, 3, '/x.so', NULL, NULL, NULL, 1)",
	 "/x.so:f /x.so:main ", "", 0},
	{"the kernel has one name", "(1, 9, 5, 1, 0, 0, 0), (1, 3, 4, 0, 0, 0, 1)",
	 "[kernel]:vfs_read /lib/a.so:main ", "", 0},
	{"an address is no name",
	 "(1, 6, 4, 0, 1, 0, 0), (1, 3, 4, 0, 0, 0, 1), (2, 8, 8, 0, 0, 0, 0), (2, 3, 4, 0, 0, 0, "
	 "1)",
	 "/lib/a.so: /lib/a.so:main ", ": /lib/a.so:main ", 0},
	{"marks of nsys's are no frames",
	 "(1, 1, 4, 0, 0, 0, 0), (1, 7, 8, 0, 0, 0, 1), (2, 1, 4, 0, 0, 0, 0), (2, 10, 8, 0, 0, 1, "
	 "1)",
	 "/lib/a.so:leaf …", "/lib/a.so:leaf …", 0},
	{"a number without a text has no name", "(1, 77, 4, 0, 0, 0, 0), (1, 3, 78, 0, 0, 0, 1)",
	 "/lib/a.so: :main ", "", 0},
	{"a depth that comes again is counted",
	 "(1, 1, 4, 0, 0, 0, 0), (1, 2, 4, 0, 0, 0, 0), (1, 3, 4, 0, 0, 0, 1), (1, 3, 4, 0, 0, 0, "
	 "1)",
	 "/lib/a.so:leaf /lib/a.so:main ", "", 2},
	{"a frame that is missing leaves the others",
	 "(1, 1, 4, 0, 0, 0, 0), (1, 3, 4, 0, 0, 0, 7)", "/lib/a.so:leaf /lib/a.so:main ", "", 0},
	{"what is no frame is counted",
	 "(1, 1, 4, 0, 0, 0, 'x'), (NULL, 1, 4, 0, 0, 0, 0), ('1', 1, 4, 0, 0, 0, 0), (1, 1, 4, 0, "
	 "0, 0, -1), (1, 1, 4, 0, 0, 0, 9223372036854775807), (1, x'00', 2.5, 'k', x'01', NULL, 0)",
	 ": ", "", 5},
	{"of a stack that has no sample nobody is told",
	 "(99, 1, 4, 0, 0, 0, 0), (-1, 1, 4, 0, 0, 0, 0)", "", "", 0},
};

/* Returns the stack of the n-th sample as text. */
static const char *stack_text(const struct nsys_scene *scene, size_t n)
{
	static char text[400];
	const struct tp_trace *trace = &scene->trace;
	const struct tp_stack *stack = tp_trace_stack(trace, trace->samples[n].stack);
	size_t len = 0;
	text[0] = '\0';
	for (uint32_t i = 0; i < stack->n_frames; i++) {
		const struct tp_frame *frame = &trace->frames[stack->frames[i]];
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s:%s ",
					tp_trace_string(trace, frame->module),
					tp_trace_string(trace, frame->symbol));
		bool is_kernel = !strcmp(tp_trace_string(trace, frame->module), "[kernel]");
		ck_assert_int_eq(frame->kind, is_kernel ? TP_FRAME_KERNEL : TP_FRAME_NATIVE);
	}
	if (stack->flags & TP_STACK_TRUNCATED)
		snprintf(text + len, sizeof(text) - len, "…");
	return text;
}

START_TEST(frames_make_stacks)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(&scene, nsys_file_make(WORK STRINGS SAMPLES CHAINS
						 "INSERT INTO SAMPLING_CALLCHAINS VALUES %s;",
						 scenes[_i].rows));
	ck_assert_msg(!scene.status, "%s", scene.err.text);
	ck_assert_uint_eq(scene.trace.n_samples, 2);
	ck_assert_str_eq(stack_text(&scene, 0), scenes[_i].first);
	ck_assert_str_eq(stack_text(&scene, 1), scenes[_i].second);
	ck_assert_uint_eq(scene.result.ranks[0].n_skipped, scenes[_i].n_skipped);
	nsys_scene_release(&scene);
}
END_TEST

START_TEST(a_stack_of_a_thousand_frames_keeps_its_inner_ones)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(&scene,
			  nsys_file_make(WORK STRINGS SAMPLES CHAINS
					 "INSERT INTO SAMPLING_CALLCHAINS WITH RECURSIVE n(i) AS "
					 "(SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999) "
					 "SELECT 1, 1 + (i > 0), 4, 0, 0, 0, i FROM n;"));
	ck_assert_msg(!scene.status, "%s", scene.err.text);
	const struct tp_stack *stack = tp_trace_stack(&scene.trace, scene.trace.samples[0].stack);
	ck_assert_uint_eq(stack->n_frames, TP_STACK_MAX_FRAMES - 1);
	ck_assert(stack->flags & TP_STACK_TRUNCATED);
	ck_assert_str_eq(tp_trace_string(&scene.trace, scene.trace.frames[stack->frames[0]].symbol),
			 "leaf");
	nsys_scene_release(&scene);
}
END_TEST

/* Everything beyond a function that exceeds the maximum is unknown. */
START_TEST(more_functions_than_are_kept_are_said_to_be_too_many)
{
	struct nsys_scene scene;
	if (!nsys_can_read())
		return;
	nsys_scene_import(&scene,
			  nsys_file_make(WORK STRINGS SAMPLES CHAINS
					 "BEGIN; INSERT INTO SAMPLING_CALLCHAINS WITH RECURSIVE "
					 "n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i "
					 "< %d) SELECT i, 'f' || i, 'm', 0, 0, 0, 0 FROM n; INSERT "
					 "INTO SAMPLING_CALLCHAINS VALUES (2, 'last', 'm', 0, 0, "
					 "0, 0), (2, 'main', 'm', 0, 0, 0, 1); COMMIT;",
					 TP_THREAD_EMITTER_FRAMES_MAX + 3));
	ck_assert_msg(!scene.status, "%s", scene.err.text);
	ck_assert_str_eq(stack_text(&scene, 1), "");
	ck_assert_uint_ge(scene.result.ranks[0].n_skipped, 1);
	ck_assert_str_eq(scene.result.ranks[0].skipped_because,
			 "stacks of samples end too early or are too many");
	nsys_scene_release(&scene);
}
END_TEST

/* The outer frames of all samples come after the inner ones of all, further away than the sorted
 * range. */
START_TEST(rows_by_depth_make_the_stacks_of_a_large_table)
{
	struct nsys_scene scene;
	long long n = TP_NSYS_FRAMES_SORTED;
	if (!nsys_can_read())
		return;
	nsys_scene_import(
		&scene,
		nsys_file_make(WORK STRINGS SAMPLES CHAINS
			       "BEGIN; INSERT INTO SAMPLING_CALLCHAINS WITH RECURSIVE n(i) AS "
			       "(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %lld) SELECT i, "
			       "1, 4, 0, 0, 0, 0 FROM n; INSERT INTO SAMPLING_CALLCHAINS VALUES "
			       "(1, 3, 4, 0, 0, 0, 1), (2, 2, 4, 0, 0, 0, 1); COMMIT;",
			       n));
	ck_assert_msg(!scene.status, "%s", scene.err.text);
	ck_assert_str_eq(stack_text(&scene, 0), "/lib/a.so:leaf /lib/a.so:main ");
	ck_assert_str_eq(stack_text(&scene, 1), "/lib/a.so:leaf /lib/a.so:caller ");
	ck_assert_uint_eq(scene.result.ranks[0].n_skipped, 0);
	nsys_scene_release(&scene);
}
END_TEST

Suite *suite_import_nsys_stacks(void);

Suite *suite_import_nsys_stacks(void)
{
	Suite *suite = suite_create("import/nsys_stacks");
	TCase *tcase = tcase_create("stacks");
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, frames_make_stacks, 0,
			    (int)(sizeof(scenes) / sizeof(scenes[0])));
	tcase_add_test(tcase, a_stack_of_a_thousand_frames_keeps_its_inner_ones);
	tcase_add_test(tcase, more_functions_than_are_kept_are_said_to_be_too_many);
	tcase_add_test(tcase, rows_by_depth_make_the_stacks_of_a_large_table);
	suite_add_tcase(suite, tcase);
	return suite;
}
