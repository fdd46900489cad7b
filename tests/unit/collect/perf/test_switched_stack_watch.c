/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of threads whose kernels run on their own stack, by complete measurements. */
#include "collect/measured.h"

#include "collect/lacks_perf.h"

#include "proof.h"

#include <check.h>
#include <string.h>

static struct measured m;

static void setup(void)
{
	measured_init(&m);
	m.config.sample_rate_hz = 499;
}

static void teardown(void)
{
	measured_release(&m);
}

#if defined(__x86_64__)
static const struct tp_frame *frame_at(const struct tp_stack *stack, size_t i)
{
	return &m.trace.frames[stack->frames[i]];
}

static bool is_in(const struct tp_stack *stack, size_t i, const char *function)
{
	return strcmp(tp_trace_string(&m.trace, frame_at(stack, i)->symbol), function) == 0;
}

enum { N_CALLERS = 4 };

static bool is_caller(const struct tp_stack *stack, size_t i, size_t level)
{
	static const char *const names[N_CALLERS] = {"multiply", "forward", "step", "main"};
	return is_in(stack, i, names[level]) || (level == 1 && is_in(stack, i, "backward"));
}

/* kernel < multiply < forward or backward < step < main, possibly with a gap: if readings came too
 * late only the ends are correct, so the gap may be wider than the part that varies. */
static void check_callers(const struct tp_stack *stack)
{
	bool has_gap = false;
	size_t at = 1;
	ck_assert_uint_gt(stack->n_frames, at);
	ck_assert(is_caller(stack, at, 0));
	for (size_t level = 0; level < N_CALLERS && at < stack->n_frames; level++) {
		if (frame_at(stack, at)->module == 0) {
			has_gap = true;
			at++;
		}
		bool is_told = at < stack->n_frames && is_caller(stack, at, level);
		ck_assert(is_told || has_gap);
		at += is_told;
	}
	/* The remaining frames call main(). */
	for (size_t i = at; i < stack->n_frames; i++)
		for (size_t level = 0; level < N_CALLERS; level++)
			ck_assert(!is_caller(stack, i, level) && !is_in(stack, i, "overwrite"));
	ck_assert(is_in(stack, stack->n_frames - 1, "_start"));
}

START_TEST(callers_are_told_that_are_gone_when_their_records_are_read)
{
	if (lacks_perf())
		return;
	measured_program(&m, "own_workspace", "2000");
	ck_assert_int_eq(m.status, TP_OK);
	size_t n_whole = 0;
	for (size_t i = 0; i < m.trace.n_samples; i++) {
		const struct tp_stack *stack = tp_trace_stack(&m.trace, m.trace.samples[i].stack);
		if (stack->n_frames == 0 || frame_at(stack, 0)->kind != TP_FRAME_JIT ||
		    stack->flags & TP_STACK_TRUNCATED)
			continue;
		check_callers(stack);
		n_whole++;
	}
	/* Two thirds of some hundreds on a quiet machine; if other programs take the CPUs, most
	 * readings come too late to be useful. */
	ck_assert_uint_ge(n_whole, 1);
}
END_TEST
#endif

Suite *suite_collect_switched_stack_watch(void);
Suite *suite_collect_switched_stack_watch(void)
{
	Suite *suite = suite_create("collect/otherwatch");
	TCase *proofs = proof_case(suite, "measured programs");
	tcase_add_checked_fixture(proofs, setup, teardown);
	tcase_set_timeout(proofs, 60);
#if defined(__x86_64__)
	tcase_add_test(proofs, callers_are_told_that_are_gone_when_their_records_are_read);
#endif
	return suite;
}
