/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of adding unwound stacks to a sink, with this program's own code. */
#include "collect/callstack/stack_intern.h"

#include "stack/symbols/kernel_symbols.h"
#include "stack/symbols/module.h"

#include "trainprof/base/strtab.h"
#include "trainprof/model/trace.h"
#include "trainprof/stack/modules.h"

#include <check.h>
#include <stdio.h>
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

enum {
	N_PATHS = 20,
	DEPTH = 3,
	N_FUNCTIONS = N_PATHS * DEPTH,
	FUNCTION_BYTES = 4096,
	SLOTS_MAX = 4096,
};

static const uint64_t kernel_start = 0xffffffff81000000;

/* Gives the kernel functions with known places. */
static struct tp_module *open_kernel(struct rig *rig)
{
	char path[] = "/tmp/trainprof-kallsyms-XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");
	for (unsigned i = 0; i <= N_FUNCTIONS; i++)
		fprintf(file, "%llx t function_%u\n",
			(unsigned long long)(kernel_start + (uint64_t)i * FUNCTION_BYTES), i);
	fclose(file);
	struct tp_module_body *kernel = rig->modules->items[0];
	kernel->kernel = tp_kernel_symbols_load(path);
	remove(path);
	return &kernel->pub;
}

/* Interrupts hit 20 ways through the kernel at any instruction: 245,760 places. */
static void put_interrupts(struct rig *rig, struct tp_module *kernel, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++) {
		uint64_t random = tp_hash_mix(i, 1);
		struct tp_stack_frame frames[DEPTH];
		for (uint64_t depth = 0; depth < DEPTH; depth++) {
			uint64_t function = random % N_PATHS * DEPTH + depth;
			uint64_t offset = tp_hash_mix(random, depth) % FUNCTION_BYTES;
			frames[depth] = (struct tp_stack_frame){
				.module = kernel,
				.address = kernel_start + function * FUNCTION_BYTES + offset,
			};
		}
		tp_stack_intern_frames(&rig->put, frames, DEPTH, 0);
		if (rig->put.kernel.n_slots > SLOTS_MAX)
			ck_abort_msg("%zu slots after %llu samples", rig->put.kernel.n_slots,
				     (unsigned long long)i);
	}
}

START_TEST(more_samples_of_the_kernel_take_no_more_memory)
{
	struct rig rig;
	rig_open(&rig);
	struct tp_module *kernel = open_kernel(&rig);
	const struct tp_sink *sink = &rig.builder.sink;
	put_interrupts(&rig, kernel, 0, 50000);
	ck_assert_uint_eq(sink->n_frames, 1 + N_FUNCTIONS);
	ck_assert_uint_eq(sink->n_stacks, 1 + N_PATHS);
	put_interrupts(&rig, kernel, 50000, 300000);
	ck_assert_uint_eq(sink->n_frames, 1 + N_FUNCTIONS);
	ck_assert_uint_eq(sink->n_stacks, 1 + N_PATHS);
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
	tcase_add_test(tc, more_samples_of_the_kernel_take_no_more_memory);
	suite_add_tcase(suite, tc);
	return suite;
}
