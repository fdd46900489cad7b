/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of making one thread create another one. */
#include "inject/remote_call.h"

#include "joining.h"
#include "skip.h"

#include "inject/machine.h"

#include "trainprof/base/process_memory.h"

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>

enum { ROUNDS = 40, DEPTH = 6 };

static struct {
	pid_t pid;
	int end; /* closing it ends the program */
	struct tp_remote_call borrow;
} climber;

/* Waits at one recursion depth after the other: if the thread were reset to an earlier state, it
 * would find the count of another depth. When the other end is closed, it exits with 7. */
static unsigned climb(unsigned depth, int end)
{
	static unsigned n_waits;
	volatile unsigned own = ++n_waits;
	struct pollfd input = {.fd = end, .events = POLLIN};
	int got = poll(&input, 1, 1);
	if (got != 0 || own != n_waits)
		_exit(got == 1 && own == n_waits ? 7 : 1);
	if (depth && climb(depth - 1, end) != depth)
		_exit(2);
	return depth + 1;
}

static uint64_t address_of(const char *function)
{
	return (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, function);
}

/* Starts a copy of this process, which has the C library at the same address. Its guests leave at
 * once. */
static bool start_climber(uint64_t rest_s)
{
	int ends[2];
	if (!tp_machine_is_known() || !joining_is_possible()) {
		test_skip("no thread can be held here");
		return false;
	}
	ck_assert_int_eq(pipe(ends), 0);
	climber.pid = fork();
	if (climber.pid == 0) {
		close(ends[1]);
		while (climb(DEPTH, ends[0]) == DEPTH + 1)
			continue;
		_exit(3);
	}
	close(ends[0]);
	climber.end = ends[1];
	climber.borrow = (struct tp_remote_call){.pid = climber.pid, .tid = climber.pid};
	struct tp_payload *block = &climber.borrow.block;
	block->create = address_of("pthread_create");
	block->detach = address_of("pthread_detach");
	block->created = TP_PAYLOAD_NOT_CREATED;
	block->order = TP_PAYLOAD_ORDER_LEAVE;
	block->patience = 1;
	block->rest[0] = rest_s;
	block->rests = 1;
	block->open = UINT64_MAX;
	return true;
}

static void end_climber(void)
{
	int status = -1;
	close(climber.end);
	ck_assert_int_eq(waitpid(climber.pid, &status, 0), climber.pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 7, "%#x", (unsigned)status);
}

/* Repeats the call while the thread is between two of its system calls, or the tracer asks for
 * another attempt. */
static struct tp_remote_call_result remote_call_once(void)
{
	struct tp_remote_call_result got;
	do
		tp_remote_call_run(&got, &climber.borrow);
	while (got.outcome == TP_REMOTE_CALL_UNSAFE);
	return got;
}

START_TEST(a_thread_held_at_its_rest_is_brought_back)
{
	if (!start_climber(3600))
		return;
	for (int i = 0; i < ROUNDS; i++) {
		struct tp_payload block;
		struct tp_remote_call_result got = remote_call_once();
		ck_assert_int_eq(got.outcome, TP_REMOTE_CALL_DONE);
		ck_assert(tp_process_memory_read(climber.pid, got.block + TP_PAYLOAD_AT, &block,
						 sizeof(block)));
		ck_assert_int_eq(block.created, 0);
	}
	end_climber();
}
END_TEST

/* While the tracer waits for a CPU the thread moves on, and it is elsewhere when the tracer
 * runs. */
START_TEST(a_thread_that_has_gone_back_by_itself_is_left_where_it_is)
{
	if (!start_climber(0))
		return;
	int n_alone = 0;
	for (int i = 0; i < ROUNDS; i++) {
		enum tp_remote_call_outcome outcome = remote_call_once().outcome;
		ck_assert(outcome == TP_REMOTE_CALL_DETACHED || outcome == TP_REMOTE_CALL_DONE);
		n_alone += outcome == TP_REMOTE_CALL_DETACHED;
	}
	ck_assert_int_gt(n_alone, 0);
	end_climber();
}
END_TEST

/* The guest's code is in the block. */
static void wait_for_guest(void)
{
	char path[64];
	struct stat about;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)climber.pid);
	while (stat(path, &about) == 0 && about.st_nlink > 3)
		usleep(1000);
}

START_TEST(a_block_that_is_there_already_is_used_again)
{
	if (!start_climber(3600))
		return;
	struct tp_remote_call_result first = remote_call_once();
	climber.borrow.made = first.block;
	ck_assert_uint_ne(first.block, 0);
	wait_for_guest();
	for (int i = 0; i < ROUNDS; i++) {
		struct tp_remote_call_result got = remote_call_once();
		ck_assert_int_eq(got.outcome, TP_REMOTE_CALL_DONE);
		ck_assert_uint_eq(got.block, first.block);
		wait_for_guest();
	}
	end_climber();
}
END_TEST

Suite *suite_inject_remote_call(void);
Suite *suite_inject_remote_call(void)
{
	Suite *suite = suite_create("inject/borrow");
	TCase *tcase = tcase_create("all");
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, a_thread_held_at_its_rest_is_brought_back);
	tcase_add_test(tcase, a_thread_that_has_gone_back_by_itself_is_left_where_it_is);
	tcase_add_test(tcase, a_block_that_is_there_already_is_used_again);
	suite_add_tcase(suite, tcase);
	return suite;
}
