/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of adding unwound stacks to a sink, with this program's own code. */
#include "collect/callstack/stack_intern.h"

#include "trainprof/base/strtab.h"
#include "trainprof/model/trace.h"
#include "trainprof/stack/modules.h"

#include <check.h>
#include <stdlib.h>
#include <unistd.h>

struct rig {
	struct tp_modules *modules;
	struct tp_maps *maps;
	struct tp_trace_builder builder;
	struct tp_stack_intern put;
};

static void rig_open(struct rig *rig)
{
	rig->modules = tp_modules_new();
	rig->maps = tp_maps_new(rig->modules, getpid());
	ck_assert_int_eq(tp_maps_read(rig->maps, NULL), TP_OK);
	tp_trace_builder_init(&rig->builder);
	tp_stack_intern_init(&rig->put, &rig->builder.sink);
}

static void rig_close(struct rig *rig)
{
	tp_stack_intern_release(&rig->put);
	tp_trace_builder_release(&rig->builder);
	tp_maps_free(rig->maps);
	tp_modules_free(rig->modules);
}

static void find(struct rig *rig, uint64_t pc, struct tp_stack_frame *out)
{
	tp_maps_find(rig->maps, pc, 0, out);
}

START_TEST(frames_get_module_and_symbol)
{
	struct rig rig;
	struct tp_stack_frame frames[2];
	rig_open(&rig);
	find(&rig, (uint64_t)(uintptr_t)&tp_stack_intern_frames + 1, &frames[0]);
	find(&rig, 16, &frames[1]); /* nothing is mapped there */
	uint32_t id = tp_stack_intern_frames(&rig.put, frames, 2, TP_STACK_TRUNCATED);
	ck_assert_uint_ne(id, 0);
	struct tp_trace trace;
	struct tp_run_info run = {0};
	tp_trace_build(&trace, &rig.builder, &run);
	const struct tp_stack *stack = tp_trace_stack(&trace, id);
	ck_assert_uint_eq(stack->n_frames, 2);
	ck_assert_uint_eq(stack->flags, TP_STACK_TRUNCATED);
	const struct tp_frame *named = &trace.frames[stack->frames[0]];
	char self[4096] = "";
	ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
	ck_assert_str_eq(tp_trace_string(&trace, named->symbol), "tp_stack_intern_frames");
	ck_assert_str_eq(tp_trace_string(&trace, named->module), self);
	ck_assert_uint_eq(named->address, named->function_start + 1);
	ck_assert_uint_eq(trace.frames[stack->frames[1]].symbol, 0);
	ck_assert_uint_eq(trace.frames[stack->frames[1]].address, 16);
	tp_trace_release(&trace);
	rig_close(&rig);
}
END_TEST

START_TEST(equal_stacks_have_equal_ids_and_guessed_frames_differ)
{
	struct rig rig;
	struct tp_stack_frame frames[2];
	rig_open(&rig);
	find(&rig, (uint64_t)(uintptr_t)&tp_stack_intern_frames, &frames[0]);
	find(&rig, (uint64_t)(uintptr_t)&tp_stack_intern_init, &frames[1]);
	uint32_t first = tp_stack_intern_frames(&rig.put, frames, 2, 0);
	ck_assert_uint_eq(tp_stack_intern_frames(&rig.put, frames, 2, 0), first);
	ck_assert_uint_ne(tp_stack_intern_frames(&rig.put, frames, 1, 0), first);
	frames[1].flags |= TP_FRAME_GUESSED;
	ck_assert_uint_ne(tp_stack_intern_frames(&rig.put, frames, 2, 0), first);
	ck_assert_uint_eq(tp_stack_intern_frames(&rig.put, frames, 0, 0), 0);
	rig_close(&rig);
}
END_TEST

START_TEST(too_many_frames_are_cut_and_marked)
{
	struct rig rig;
	rig_open(&rig);
	struct tp_stack_frame *frames = calloc(TP_STACK_MAX_FRAMES + 5, sizeof(*frames));
	for (uint64_t i = 0; i < TP_STACK_MAX_FRAMES + 5; i++)
		frames[i].address = i;
	uint32_t id = tp_stack_intern_frames(&rig.put, frames, TP_STACK_MAX_FRAMES + 5, 0);
	struct tp_trace trace;
	struct tp_run_info run = {0};
	tp_trace_build(&trace, &rig.builder, &run);
	ck_assert_uint_eq(tp_trace_stack(&trace, id)->n_frames, TP_STACK_MAX_FRAMES);
	ck_assert_uint_eq(tp_trace_stack(&trace, id)->flags, TP_STACK_TRUNCATED);
	tp_trace_release(&trace);
	free(frames);
	rig_close(&rig);
}
END_TEST

Suite *suite_collect_stack_intern(void);
Suite *suite_collect_stack_intern(void)
{
	Suite *suite = suite_create("collect/stackput");
	TCase *tc = tcase_create("stackput");
	tcase_add_test(tc, frames_get_module_and_symbol);
	tcase_add_test(tc, equal_stacks_have_equal_ids_and_guessed_frames_differ);
	tcase_add_test(tc, too_many_frames_are_cut_and_marked);
	suite_add_tcase(suite, tc);
	return suite;
}
