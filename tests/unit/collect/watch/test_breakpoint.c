/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of hardware breakpoints, with a test double of the kernel and on this thread. */
#include "collect/watch/breakpoint.h"

#include "collect/watchdouble.h"

#include <check.h>

enum { HITS_MAX = 64 };

static struct tp_breakpoint breakpoint;
static uint64_t times_ns[HITS_MAX];
static uint64_t numbers[HITS_MAX];
static size_t n_hits;

static void setup(void)
{
	watchdouble_reset();
	n_hits = 0;
}

static void on_hit(void *context, uint64_t time_ns, uint64_t number)
{
	(void)context;
	times_ns[n_hits] = time_ns;
	numbers[n_hits++] = number;
}

static int open_at(uint64_t address, unsigned len, bool is_call)
{
	const struct tp_breakpoint_place place = {.tid = 7,
						  .address = address,
						  .len = len,
						  .is_call = is_call};
	return tp_breakpoint_open(&breakpoint, &watchdouble_system, &place);
}

START_TEST(each_hit_has_its_time_and_number)
{
	ck_assert_int_eq(open_at(0x5000, 8, false), 0);
	for (uint64_t i = 0; i < 5; i++)
		watchdouble_hit(0x5000, 1000 + i);
	ck_assert_uint_eq(tp_breakpoint_drain(&breakpoint, on_hit, NULL), 5);
	watchdouble_hit(0x5000, 2000);
	ck_assert_uint_eq(tp_breakpoint_drain(&breakpoint, on_hit, NULL), 1);
	for (uint64_t i = 0; i < 6; i++) {
		ck_assert_uint_eq(times_ns[i], i < 5 ? 1000 + i : 2000);
		ck_assert_uint_eq(numbers[i], i + 1);
	}
	tp_breakpoint_close(&breakpoint);
	ck_assert_ptr_null(watchdouble_at(0x5000));
}
END_TEST

START_TEST(lost_hits_leave_numbers_out)
{
	ck_assert_int_eq(open_at(0x5000, 8, false), 0);
	watchdouble_hit(0x5000, 1000);
	watchdouble_lose(0x5000, 1500, 3);
	watchdouble_hit(0x5000, 2000);
	ck_assert_uint_eq(tp_breakpoint_drain(&breakpoint, on_hit, NULL), 2);
	ck_assert_uint_eq(numbers[0], 1);
	ck_assert_uint_eq(numbers[1], 5);
	ck_assert_uint_eq(breakpoint.n_lost, 3);
	tp_breakpoint_close(&breakpoint);
}
END_TEST

START_TEST(a_ring_of_rubbish_is_a_loss)
{
	ck_assert_int_eq(open_at(0x5000, 8, false), 0);
	struct watchdouble_register *it = watchdouble_at(0x5000);
	ck_assert_ptr_nonnull(it);
	memset(it->data, 0xff, 64);
	it->page.data_head += 64;
	ck_assert_uint_eq(tp_breakpoint_drain(&breakpoint, on_hit, NULL), 0);
	ck_assert_uint_ge(breakpoint.n_lost, 1);
	watchdouble_hit(0x5000, 2000);
	ck_assert_uint_eq(tp_breakpoint_drain(&breakpoint, on_hit, NULL), 1);
	ck_assert_uint_ge(numbers[0], 2);
	tp_breakpoint_close(&breakpoint);
}
END_TEST

START_TEST(only_this_thread_is_watched_and_only_its_own_code)
{
	ck_assert_int_eq(open_at(0x5000, 4, false), 0);
	const struct perf_event_attr *attr = &watchdouble_at(0x5000)->attr;
	ck_assert_int_eq(watchdouble_at(0x5000)->tid, 7);
	ck_assert_uint_eq(attr->type, PERF_TYPE_BREAKPOINT);
	ck_assert_uint_eq(attr->bp_type, HW_BREAKPOINT_W);
	ck_assert_uint_eq(attr->bp_len, 4);
	ck_assert_uint_eq(attr->sample_period, 1);
	ck_assert(attr->exclude_kernel && !attr->inherit && !attr->disabled);
	ck_assert(attr->remove_on_exec && attr->use_clockid);
	tp_breakpoint_close(&breakpoint);
	ck_assert_int_eq(open_at(0x6000, 0, true), 0);
	ck_assert_uint_eq(watchdouble_at(0x6000)->attr.bp_type, HW_BREAKPOINT_X);
	ck_assert_uint_eq(watchdouble_at(0x6000)->attr.bp_len, sizeof(long));
	tp_breakpoint_close(&breakpoint);
}
END_TEST

START_TEST(an_old_kernel_is_asked_for_less)
{
	watchdouble_is_old = true;
	ck_assert_int_eq(open_at(0x5000, 8, false), 0);
	ck_assert_uint_eq(watchdouble_n_opens, 2);
	ck_assert(!watchdouble_at(0x5000)->attr.remove_on_exec);
	tp_breakpoint_close(&breakpoint);
}
END_TEST

static const int failures[] = {ENOSPC, ENOENT, EOPNOTSUPP, EINVAL, EACCES, EPERM, ESRCH};

START_TEST(a_refusal_is_said_and_leaves_nothing_open)
{
	watchdouble_failure = failures[_i];
	ck_assert_int_eq(open_at(0x5000, 8, false), failures[_i]);
	ck_assert_uint_gt(strlen(tp_breakpoint_failure_text(failures[_i])), 10);
	ck_assert_ptr_null(watchdouble_at(0x5000));
}
END_TEST

START_TEST(four_registers_are_all_there_are)
{
	struct tp_breakpoint others[WATCHDOUBLE_REGISTERS];
	for (uint64_t i = 0; i < WATCHDOUBLE_REGISTERS; i++) {
		const struct tp_breakpoint_place place = {.tid = 7,
							  .address = 0x5000 + 8 * i,
							  .len = 8};
		ck_assert_int_eq(tp_breakpoint_open(&others[i], &watchdouble_system, &place), 0);
	}
	ck_assert_int_eq(open_at(0x6000, 8, false), ENOSPC);
	for (uint64_t i = 0; i < WATCHDOUBLE_REGISTERS; i++)
		tp_breakpoint_close(&others[i]);
}
END_TEST

static volatile uint64_t written;

/* Not checked if the machine has none: `doctor` reports that. */
START_TEST(the_processor_sees_each_write)
{
	const struct tp_breakpoint_place place = {.address = (uint64_t)(uintptr_t)&written,
						  .len = sizeof(written)};
	if (tp_breakpoint_open(&breakpoint, &tp_breakpoint_kernel, &place) != 0)
		return;
	for (uint64_t i = 0; i < 20; i++)
		written = i;
	size_t n = tp_breakpoint_drain(&breakpoint, on_hit, NULL);
	tp_breakpoint_close(&breakpoint);
	if (n == 0)
		return; /* a hypervisor that keeps the registers for itself */
	ck_assert_uint_eq(n, 20);
	for (size_t i = 1; i < n; i++)
		ck_assert_uint_ge(times_ns[i], times_ns[i - 1]);
}
END_TEST

Suite *suite_collect_breakpoint(void);
Suite *suite_collect_breakpoint(void)
{
	Suite *suite = suite_create("collect/breakpoint");
	TCase *tc = tcase_create("breakpoint");
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, each_hit_has_its_time_and_number);
	tcase_add_test(tc, lost_hits_leave_numbers_out);
	tcase_add_test(tc, a_ring_of_rubbish_is_a_loss);
	tcase_add_test(tc, only_this_thread_is_watched_and_only_its_own_code);
	tcase_add_test(tc, an_old_kernel_is_asked_for_less);
	tcase_add_loop_test(tc, a_refusal_is_said_and_leaves_nothing_open, 0,
			    sizeof(failures) / sizeof(failures[0]));
	tcase_add_test(tc, four_registers_are_all_there_are);
	tcase_add_test(tc, the_processor_sees_each_write);
	suite_add_tcase(suite, tc);
	return suite;
}
