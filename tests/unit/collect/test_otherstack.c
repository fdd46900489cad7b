/* Claims about callers of code that works on a stack of its own: here a buffer of this process. */
#include "collect/otherstack.h"

#include "stack/capture.h"

enum { ORIGINAL_SP = 15, SAVED = 6 }; /* words, as oneDNN's kernels have them */

static struct unwound u;
static struct tp_otherstacks known;
static struct tp_tree_task task;
static uint64_t workspace[512];

static void setup(void)
{
	unwound_init(&u);
	known = (struct tp_otherstacks){0};
	memset(workspace, 0, sizeof(workspace));
	task = (struct tp_tree_task){.info = {.id = 3, .pid = getpid()}, .maps = u.maps};
}

static void teardown(void)
{
	tp_otherstacks_release(&known);
	unwound_release(&u);
}

static bool look_at_workspace(void)
{
	struct tp_perf_sample sample = {
		.regs = {.ip = 4096, .sp = (uint64_t)(uintptr_t)workspace, .bp = 77},
		.has_regs = true,
		.stack = workspace,
		.stack_bytes = sizeof(workspace),
	};
	return tp_otherstacks_unwind(&known, &task, &sample, u.frames, TP_STACK_MAX_FRAMES,
				     &u.result);
}

/* Nothing can be read of it any more. */
static void end_process(void)
{
	task.info.pid = INT32_MAX;
}

START_TEST(matrices_have_no_callers)
{
	for (size_t i = 0; i < sizeof(workspace) / sizeof(workspace[0]); i++)
		workspace[i] = UINT64_C(0x3f80000000000000) + (i << 40) + 8 * i;
	ck_assert(!look_at_workspace());
	/* A pointer to another matrix. */
	workspace[4] = (uint64_t)(uintptr_t)(workspace + 512);
	ck_assert(!look_at_workspace());
	ck_assert_uint_eq(known.n, 0);
}
END_TEST

#if defined(__x86_64__)
static bool is_found;

/* Where this stack has the word; all of it is read, so not instrumented. */
__attribute__((no_sanitize("address", "undefined"))) KEEP static uint64_t
find_on_stack(uint64_t from, uint64_t word)
{
	const volatile uint64_t *at = (const volatile uint64_t *)(uintptr_t)from;
	while (*at != word)
		at++;
	return (uint64_t)(uintptr_t)at;
}

/* Stands for the kernel: it saved six registers, and its stack pointer is elsewhere now. */
KEEP static void kernel(void)
{
	uint64_t back = (uint64_t)(uintptr_t)__builtin_return_address(0);
	uint64_t here;
	__asm__ volatile("mov %%rsp, %0" : "=r"(here) : : "rbx", "r12", "r13", "r14", "r15");
	workspace[ORIGINAL_SP] = find_on_stack(here, back) - SAVED * sizeof(back);
	is_found = look_at_workspace();
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

/* From one depth. */
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

START_TEST(callers_that_are_gone_are_those_that_were_there_before)
{
	call(first_caller);
	size_t n = u.result.n_frames;
	end_process();
	memset(u.frames, 0, sizeof(u.frames));
	ck_assert(look_at_workspace());
	ck_assert_uint_eq(u.result.n_frames, n);
	ck_assert_str_eq(unwound_name(&u, 1), "first_caller");
	task.info.id++; /* of another thread nothing is known */
	ck_assert(!look_at_workspace());
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
	end_process();
	ck_assert(!look_at_workspace());
}
END_TEST
#endif

Suite *suite_collect_otherstack(void);
Suite *suite_collect_otherstack(void)
{
	Suite *suite = suite_create("collect/otherstack");
	TCase *tc = tcase_create("otherstack");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, matrices_have_no_callers);
#if defined(__x86_64__)
	tcase_add_test(tc, callers_are_found_by_a_word_of_the_other_stack);
	tcase_add_test(tc, callers_are_marked_as_guessed);
	tcase_add_test(tc, code_without_a_file_is_called_by_pointer);
	tcase_add_test(tc, callers_that_are_gone_are_those_that_were_there_before);
	tcase_add_test(tc, callers_that_are_not_always_the_same_are_not_guessed);
#endif
	suite_add_tcase(suite, tc);
	return suite;
}
