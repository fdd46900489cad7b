/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of finding the callers of code that runs on its own stack: here a buffer of this
 * process. */
#include "collect/perf/switched_stack.h"

#include "stack/capture.h"

enum { ORIGINAL_SP = 15, SAVED = 6 }; /* index of words, as in oneDNN's kernels */

static struct unwound u;
static struct tp_switched_stack known;
static struct tp_task_tree_task task;
static uint64_t workspace[512];
static bool is_fresh; /* the sample was taken just now */

static void setup(void)
{
	unwound_init(&u);
	known = (struct tp_switched_stack){0};
	memset(workspace, 0, sizeof(workspace));
	is_fresh = true;
	task = (struct tp_task_tree_task){.info = {.id = 3, .pid = getpid(), .tid = 7},
					  .maps = u.maps};
}

static void teardown(void)
{
	tp_switched_stack_release(&known);
	unwound_release(&u);
}

static bool sample_workspace(void)
{
	struct tp_perf_sample sample = {
		.regs = {.ip = 4096, .sp = (uint64_t)(uintptr_t)workspace, .bp = 77},
		.has_regs = true,
		.stack = workspace,
		.stack_bytes = sizeof(workspace),
	};
	return tp_switched_stack_unwind(&known, &task, &sample, is_fresh, u.frames,
					TP_STACK_MAX_FRAMES, &u.result);
}

START_TEST(matrices_have_no_callers)
{
	for (size_t i = 0; i < sizeof(workspace) / sizeof(workspace[0]); i++)
		workspace[i] = UINT64_C(0x3f80000000000000) + (i << 40) + 8 * i;
	ck_assert(!sample_workspace());
	/* A pointer to another matrix. */
	workspace[4] = (uint64_t)(uintptr_t)(workspace + 512);
	ck_assert(!sample_workspace());
	ck_assert_uint_eq(known.n, 0);
}
END_TEST

#if defined(__x86_64__)
static bool is_found;

/* Simulates the kernel: it has saved six registers, and its stack pointer points elsewhere now. */
KEEP static void kernel(void)
{
	/* The base pointer is the first of the six, right below the return address. */
	uint64_t base = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	__asm__ volatile("" : : : "rbx", "r12", "r13", "r14", "r15");
	workspace[ORIGINAL_SP] = base - (SAVED - 1) * sizeof(base);
	is_found = sample_workspace();
	AFTER_CALL();
}

static void (*volatile by_pointer)(void) = kernel;

KEEP static void first_caller(void)
{
	by_pointer();
	AFTER_CALL();
}

KEEP static void second_caller(void)
{
	by_pointer();
	AFTER_CALL();
}

KEEP static void direct_caller(void)
{
	kernel();
	AFTER_CALL();
}

/* Calls from a fixed stack depth. */
KEEP static void call(void (*caller)(void))
{
	caller();
	AFTER_CALL();
}

START_TEST(callers_are_found_by_a_word_of_the_other_stack)
{
	call(first_caller);
	ck_assert(is_found);
	ck_assert_int_eq(u.result.end, TP_UNWIND_COMPLETE);
	ck_assert_str_eq(unwound_name(&u, 1), "first_caller");
	ck_assert_str_eq(unwound_name(&u, 2), "call");
	ck_assert_uint_gt(unwound_find(&u, "main", 3), 3);
}
END_TEST

START_TEST(callers_are_marked_as_guessed)
{
	size_t n = 0;
	call(first_caller);
	ck_assert(is_found);
	for (size_t i = 1; i < u.result.n_frames; i++)
		n += (u.frames[i].flags & TP_FRAME_GUESSED) != 0;
	ck_assert_uint_eq(n, u.result.n_frames - 1);
	ck_assert_uint_eq(u.result.n_guessed, n);
}
END_TEST

START_TEST(code_without_a_file_is_called_by_pointer)
{
	call(direct_caller);
	ck_assert(!is_found);
}
END_TEST

static bool sample_later(void)
{
	memset(u.frames, 0, sizeof(u.frames));
	is_fresh = false;
	bool is_known = sample_workspace();
	is_fresh = true;
	return is_known;
}

START_TEST(later_callers_are_those_that_were_there_before)
{
	call(first_caller);
	size_t n = u.result.n_frames;
	ck_assert(sample_later());
	ck_assert_int_eq(u.result.end, TP_UNWIND_COMPLETE);
	ck_assert_uint_eq(u.result.n_frames, n);
	ck_assert_str_eq(unwound_name(&u, 1), "first_caller");
	task.info.id++; /* nothing is known about another thread */
	ck_assert(!sample_later());
}
END_TEST

/* The words on the stack may belong to code that ran later. */
START_TEST(nothing_is_read_later)
{
	is_fresh = false;
	call(first_caller);
	ck_assert(!is_found);
	ck_assert_uint_eq(known.n, 0);
}
END_TEST

START_TEST(threads_whose_callers_nobody_knows_are_wanted)
{
	call(first_caller);
	ck_assert_uint_eq(known.n_news, 1);
	ck_assert(sample_later());
	ck_assert_uint_eq(known.n_wanted, 0);
	task.info.id++;
	ck_assert(!sample_later());
	ck_assert(!sample_later());
	ck_assert_uint_eq(known.n_wanted, 1);
	ck_assert_int_eq(known.wanted[0], 7);
	for (int i = 0; i < 2 * TP_SWITCHED_STACK_REQUESTS; i++) {
		task.info.tid++;
		ck_assert(!sample_later());
	}
	ck_assert_uint_eq(known.n_wanted, TP_SWITCHED_STACK_REQUESTS);
}
END_TEST

START_TEST(callers_that_are_not_always_the_same_are_not_guessed)
{
	call(first_caller);
	uint64_t place = workspace[ORIGINAL_SP];
	call(second_caller);
	ck_assert(is_found);
	ck_assert_str_eq(unwound_name(&u, 1), "second_caller");
	ck_assert_uint_eq(workspace[ORIGINAL_SP], place);
	ck_assert(!sample_later());
}
END_TEST

/* All calls have the same depth, including the last one. */
KEEP static void call_times(int n, void (*caller)(void))
{
	for (int i = 0; i < n; i++) {
		call(caller);
		AFTER_CALL();
	}
}

static bool has_first_frame(void)
{
	return sample_later() && strcmp(unwound_name(&u, 1), "first_caller") == 0;
}

/* A reading that came too late is one of many, whether it is the first or a later one. */
START_TEST(a_single_other_caller_is_forgiven)
{
	call_times(1, second_caller);
	call_times(40, first_caller);
	ck_assert(has_first_frame());
	call_times(1, second_caller);
	ck_assert(!sample_later());
	call_times(40, first_caller);
	ck_assert(has_first_frame());
}
END_TEST

KEEP static void one_way(void)
{
	first_caller();
	AFTER_CALL();
}

KEEP static void other_way(void)
{
	first_caller();
	AFTER_CALL();
}

/* Returns true if the stack is the kernel's caller, a gap, and everything from call() outwards. */
static bool has_both_ends(void)
{
	return has_first_frame() && u.result.end == TP_UNWIND_COMPLETE && !u.frames[2].module &&
	       strcmp(unwound_name(&u, 3), "call") == 0 && unwound_find(&u, "main", 4) > 4;
}

START_TEST(callers_that_vary_in_the_middle_are_told_at_both_ends)
{
	void (*const ways[])(void) = {one_way, other_way, one_way};
	uint64_t place = 0;
	for (size_t i = 0; i < 3; i++) {
		call(ways[i]);
		ck_assert(is_found);
		place = i ? place : workspace[ORIGINAL_SP];
		size_t n = u.result.n_frames;
		ck_assert_uint_eq(workspace[ORIGINAL_SP], place);
		ck_assert(i == 0 || has_both_ends());
		ck_assert_uint_eq(u.result.n_frames, n);
	}
}
END_TEST

/* Saves its argument in the place of a register that its caller does not use. */
void kernel_that_saves(const uint64_t *word);
void look_from_kernel(uint64_t own_sp);
__asm__(".text\n"
	"kernel_that_saves:\n"
	"	push %rbp; push %rbx; push %r12; push %r13; push %r14; push %rdi\n"
	"	mov %rsp, %rdi\n"
	"	sub $8, %rsp\n"
	"	call look_from_kernel\n"
	"	add $8, %rsp\n"
	"	pop %rdi; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
	"	ret\n");

void look_from_kernel(uint64_t own_sp)
{
	workspace[ORIGINAL_SP] = own_sp;
	is_found = sample_workspace();
}

static void (*volatile saving)(const uint64_t *) = kernel_that_saves;

/* Has a base pointer, because its frame has a variable size. */
__attribute__((no_sanitize("address"))) KEEP static void framed_caller(size_t n)
{
	uint64_t nothing[8] = {0};
	volatile char *room = __builtin_alloca(n);
	*room = 0;
	__asm__ volatile("" : : "r"(nothing) : "memory");
	saving(nothing);
	AFTER_CALL();
}

START_TEST(zeros_are_no_root)
{
	framed_caller(100);
	ck_assert(is_found);
	ck_assert_str_eq(unwound_name(&u, 1), "framed_caller");
	ck_assert_uint_gt(unwound_find(&u, "main", 2), 2);
}
END_TEST
#endif

Suite *suite_collect_switched_stack(void);
Suite *suite_collect_switched_stack(void)
{
	Suite *suite = suite_create("collect/otherstack");
	TCase *tc = tcase_create("otherstack");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, matrices_have_no_callers);
#if defined(__x86_64__)
	tcase_add_test(tc, callers_are_found_by_a_word_of_the_other_stack);
	tcase_add_test(tc, callers_are_marked_as_guessed);
	tcase_add_test(tc, code_without_a_file_is_called_by_pointer);
	tcase_add_test(tc, later_callers_are_those_that_were_there_before);
	tcase_add_test(tc, nothing_is_read_later);
	tcase_add_test(tc, threads_whose_callers_nobody_knows_are_wanted);
	tcase_add_test(tc, callers_that_are_not_always_the_same_are_not_guessed);
	tcase_add_test(tc, a_single_other_caller_is_forgiven);
	tcase_add_test(tc, callers_that_vary_in_the_middle_are_told_at_both_ends);
	tcase_add_test(tc, zeros_are_no_root);
#endif
	suite_add_tcase(suite, tc);
	return suite;
}
