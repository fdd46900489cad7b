/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of reading Python stacks, by complete measurements of programs whose shares are known. */
#include "collect/measured.h"

#include "collect/lacks_perf.h"
#include "collect/lacks_python.h"

#include "proof.h"

#include <check.h>
#include <math.h>
#include <string.h>

static struct measured m;

static void setup(void)
{
	measured_init(&m);
	m.config.sample_rate_hz = 499;
	m.config.stack_bytes = 49152;
}

static void teardown(void)
{
	measured_release(&m);
}

/* Three functions use 3, 6 and 9 ms of CPU time in turn; then the loop sleeps for 5 ms, or for a
 * second in its last round, so that a poll comes during the sleep, however busy the machine is. */
#define BURNING                                                                                    \
	"import time\n"                                                                            \
	"def burn(ms):\n"                                                                          \
	"    end = time.process_time() + ms / 1000\n"                                              \
	"    while time.process_time() < end: pass\n"                                              \
	"def one(): burn(3)\n"                                                                     \
	"def two(): burn(6)\n"                                                                     \
	"def three(): burn(9)\n"                                                                   \
	"def main():\n"                                                                            \
	"    for i in range(80):\n"                                                                \
	"        one()\n"                                                                          \
	"        two()\n"                                                                          \
	"        three()\n"                                                                        \
	"        time.sleep(0.005 if i < 79 else 1)\n"

static const struct tp_frame *frame_at(const struct tp_stack *stack, size_t i)
{
	return &m.trace.frames[stack->frames[i]];
}

/* Returns true if the next Python frame from `i` on has this name, and moves `i` past it. */
static bool next_python_is(const struct tp_stack *stack, size_t *i, const char *name)
{
	while (*i < stack->n_frames && frame_at(stack, *i)->kind != TP_FRAME_PYTHON)
		++*i;
	return *i < stack->n_frames &&
	       strcmp(measured_text(&m, frame_at(stack, (*i)++)->symbol), name) == 0;
}

/* Checks for burn < `name` < main < <module>, with the line of main that makes the call. */
static bool is_burning(const struct tp_stack *stack, const char *name, uint32_t line)
{
	size_t i = 0;
	if (!next_python_is(stack, &i, "burn") || !next_python_is(stack, &i, name) ||
	    !next_python_is(stack, &i, "main"))
		return false;
	ck_assert_uint_eq(frame_at(stack, i - 1)->line, line);
	ck_assert_str_eq(measured_text(&m, frame_at(stack, i - 1)->file), "<string>");
	ck_assert(next_python_is(stack, &i, "<module>"));
	return true;
}

static size_t count_burning(const char *name, uint32_t line)
{
	size_t n = 0;
	for (size_t i = 0; i < m.trace.n_samples; i++) {
		const struct tp_sample *sample = &m.trace.samples[i];
		if (sample->state == TP_STATE_ON_CPU && !(sample->flags & TP_SAMPLE_POLLED))
			n += is_burning(tp_trace_stack(&m.trace, sample->stack), name, line);
	}
	return n;
}

static void run_python(const char *code)
{
	char script[4200];
	snprintf(script, sizeof(script), "exec %s -c '%s'", python_here(), code);
	measured_script(&m, script);
	ck_assert_int_eq(m.status, TP_OK);
}

/* A run has 1.44 s of CPU time and a sample every 2 ms: 720 samples. If other programs take the
 * CPUs, many are read too late to be used; then more runs are needed for the number that a test
 * wants. */
enum { MOST_RUNS = 4 };

static void begin_anew(void)
{
	teardown();
	setup();
}

START_TEST(running_threads_are_told_by_function_and_line)
{
	double one = 0;
	double two = 0;
	double three = 0;
	double sum = 0;
	if (lacks_perf() || lacks_python())
		return;
	for (int i = 0; i < MOST_RUNS && sum < 200; i++) {
		if (i)
			begin_anew();
		run_python(BURNING "main()");
		one += (double)count_burning("one", 10);
		two += (double)count_burning("two", 11);
		three += (double)count_burning("three", 12);
		sum = one + two + three;
	}
	ck_assert_double_ge(sum, 200);
	/* The tolerance is five times the standard error of so many samples. */
	double chance = 5 * sqrt(0.25 / sum);
	ck_assert_double_eq_tol(one / sum, 3.0 / 18, chance);
	ck_assert_double_eq_tol(two / sum, 6.0 / 18, chance);
	ck_assert_double_eq_tol(three / sum, 9.0 / 18, chance);
}
END_TEST

/* Counts the marks of the loop counter with this name, checks their order, and returns the last
 * value in `last`. */
static size_t count_marks(const char *name, uint64_t *last)
{
	size_t n = 0;
	*last = 0;
	for (size_t i = 0; i < m.trace.n_marks; i++) {
		const struct tp_mark *mark = &m.trace.marks[i];
		if (mark->kind != TP_MARK_COUNTER ||
		    strcmp(measured_text(&m, mark->name), name) != 0)
			continue;
		ck_assert_uint_eq(mark->task, 0);
		ck_assert(n == 0 || mark->value > *last);
		*last = mark->value;
		n++;
	}
	return n;
}

/* Runs the code until at least `least` values were recorded; it is run again if the host kept us
 * from polling for a while. */
static void check_counter(const char *code, const char *name, size_t least, uint64_t last)
{
	size_t n = 0;
	for (int i = 0; i < MOST_RUNS && n < least; i++) {
		uint64_t got;
		if (i)
			begin_anew();
		run_python(code);
		n = count_marks(name, &got);
		ck_assert_uint_eq(got, last);
	}
	ck_assert_uint_ge(n, least);
}

/* 80 rounds of 18 ms of CPU time, a sample every 2 ms. The first rounds pass before the interpreter
 * is found. */
START_TEST(the_counter_of_a_loop_is_told)
{
	if (lacks_perf() || lacks_python())
		return;
	check_counter(BURNING "main()", "<string>:8 main() i", 60, 79);
}
END_TEST

/* The thread is almost never on a CPU: the counter is read by polls during its waits. */
START_TEST(the_counter_of_a_loop_that_waits_is_told)
{
	if (lacks_python())
		return;
	check_counter("import time\n"
		      "def main():\n"
		      "    for i in range(20):\n"
		      "        time.sleep(0.1 if i < 19 else 1)\n"
		      "main()",
		      "<string>:2 main() i", 14, 19);
}
END_TEST

START_TEST(the_counter_of_a_function_with_a_long_name_has_all_of_it)
{
	if (lacks_python())
		return;
	char name[701];
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	char code[2000];
	snprintf(code, sizeof(code),
		 "import time\ndef %s():\n    for i in range(20):\n        time.sleep(0.1)\n%s()",
		 name, name);
	run_python(code);
	char counter[800];
	snprintf(counter, sizeof(counter), "<string>:2 %s() i", name);
	size_t n = 0;
	for (size_t i = 0; i < m.trace.n_marks; i++)
		n += strcmp(measured_text(&m, m.trace.marks[i].name), counter) == 0;
	ck_assert_uint_ge(n, 3);
}
END_TEST

START_TEST(functions_that_yield_are_told_from_others)
{
	if (lacks_perf() || lacks_python())
		return;
	run_python(BURNING "def batches():\n"
			   "    for i in range(50):\n"
			   "        burn(10)\n"
			   "        yield i\n"
			   "for batch in batches(): burn(1)");
	size_t n = 0;
	for (size_t i = 0; i < m.trace.n_samples; i++) {
		const struct tp_stack *stack = tp_trace_stack(&m.trace, m.trace.samples[i].stack);
		for (size_t k = 0; k < stack->n_frames; k++) {
			const struct tp_frame *frame = frame_at(stack, k);
			bool is_batches = strcmp(measured_text(&m, frame->symbol), "batches") == 0;
			if (frame->kind != TP_FRAME_PYTHON)
				continue;
			ck_assert_int_eq(!!(frame->flags & TP_FRAME_GENERATOR), is_batches);
			n += is_batches;
		}
	}
	ck_assert_uint_ge(n, 50);
}
END_TEST

START_TEST(waits_are_told_by_their_line)
{
	if (lacks_python())
		return;
	run_python("import time\n"
		   "def rest():\n"
		   "    time.sleep(0.4)\n"
		   "def main():\n"
		   "    time.sleep(0.2)\n"
		   "    for i in range(8):\n" /* the interpreter is found during one of them */
		   "        rest()\n"
		   "main()");
	size_t n = 0;
	for (size_t i = 0; i < m.trace.n_samples; i++) {
		const struct tp_sample *sample = &m.trace.samples[i];
		size_t at = 0;
		const struct tp_stack *stack = tp_trace_stack(&m.trace, sample->stack);
		if (sample->state != TP_STATE_BLOCKED || sample->cause != TP_CAUSE_SLEEP ||
		    !next_python_is(stack, &at, "rest"))
			continue;
		ck_assert_uint_eq(frame_at(stack, at - 1)->line, 3);
		ck_assert(next_python_is(stack, &at, "main"));
		ck_assert_uint_eq(frame_at(stack, at - 1)->line, 7);
		n++;
	}
	ck_assert_uint_ge(n, 3);
}
END_TEST

START_TEST(waits_for_the_interpreter_lock_are_told_from_other_waits)
{
	if (lacks_python())
		return;
	run_python("import threading, time\n"
		   "def spin():\n"
		   "    end = time.time() + 1\n"
		   "    while time.time() < end: sum(range(1000))\n"
		   "def pause(lock):\n"
		   "    lock.acquire(timeout=1)\n"
		   "lock = threading.Lock()\n"
		   "lock.acquire()\n"
		   "threads = [threading.Thread(target=spin) for i in range(3)]\n"
		   "threads.append(threading.Thread(target=pause, args=[lock]))\n"
		   "for thread in threads: thread.start()\n"
		   "for thread in threads: thread.join()");
	size_t n_gil = 0;
	size_t n_held = 0;
	size_t n_lock = 0;
	for (size_t i = 0; i < m.trace.n_samples; i++) {
		const struct tp_sample *sample = &m.trace.samples[i];
		size_t at = 0;
		const struct tp_stack *stack = tp_trace_stack(&m.trace, sample->stack);
		if (sample->state != TP_STATE_BLOCKED || stack->n_frames == 0)
			continue;
		n_gil += sample->cause == TP_CAUSE_GIL;
		n_held += sample->cause == TP_CAUSE_GIL && sample->target &&
			  strncmp(measured_text(&m, sample->target), "thread ", 7) == 0;
		if (!next_python_is(stack, &at, "pause"))
			continue;
		ck_assert_int_ne(sample->cause, TP_CAUSE_GIL);
		n_lock++;
	}
	ck_assert_uint_ge(n_gil, 10); /* three threads share one lock for a second */
	ck_assert_uint_ge(n_held, n_gil / 2);
	ck_assert_uint_ge(n_lock, 1);
}
END_TEST

/* Returns true if the time is between two runs of which the first was preempted. */
static bool wanted_a_cpu(uint32_t task, uint64_t time_ns)
{
	const struct tp_trace *trace = &m.trace;
	for (size_t i = trace->run_index[task]; i + 1 < trace->run_index[task + 1]; i++)
		if (trace->runs[i].end_ns <= time_ns && time_ns < trace->runs[i + 1].start_ns)
			return trace->runs[i].how == TP_RUN_PREEMPTED;
	return false;
}

/* Two functions of 20 and 40 ms in turn, on one CPU with a rival: the CPU may be lost at any
 * time. */
START_TEST(where_a_thread_wants_a_cpu_is_told)
{
	if (lacks_perf() || lacks_python())
		return;
	run_python("import os, signal, time\n"
		   "os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\n"
		   "end = time.monotonic() + 30\n"
		   "rival = os.fork()\n"
		   "def burn(ms):\n"
		   "    end = time.process_time() + ms / 1000\n"
		   "    while time.process_time() < end: pass\n"
		   "def one(): burn(20)\n"
		   "def two(): burn(40)\n"
		   "while not rival:\n"
		   "    if time.monotonic() > end: os._exit(0)\n"
		   "for i in range(40):\n"
		   "    one()\n"
		   "    two()\n"
		   "os.kill(rival, signal.SIGKILL)");
	size_t n_one = 0;
	size_t n_two = 0;
	for (size_t i = 0; i < m.trace.n_samples; i++) {
		const struct tp_sample *sample = &m.trace.samples[i];
		size_t at = 0;
		const struct tp_stack *stack = tp_trace_stack(&m.trace, sample->stack);
		if (sample->state != TP_STATE_RUNNABLE || !next_python_is(stack, &at, "burn") ||
		    !wanted_a_cpu(sample->task, sample->time_ns))
			continue;
		at = 1;
		if (next_python_is(stack, &at, "one"))
			n_one++;
		else
			n_two++;
	}
	double n = (double)(n_one + n_two);
	/* The thread waits for a CPU for 2.4 s in total, and is polled 50 times per second. */
	ck_assert_double_ge(n, 30);
	ck_assert_double_eq_tol((double)n_one / n, 1.0 / 3, 4 * sqrt(0.25 / n));
}
END_TEST

START_TEST(without_perf_events_python_is_read_by_looks)
{
	if (lacks_python())
		return;
	m.selection.collect = "-perf";
	run_python(BURNING "main()");
	size_t n = 0;
	for (size_t i = 0; i < m.trace.n_samples; i++) {
		const struct tp_sample *sample = &m.trace.samples[i];
		size_t at = 0;
		n += sample->state == TP_STATE_ON_CPU &&
		     next_python_is(tp_trace_stack(&m.trace, sample->stack), &at, "burn");
	}
	ck_assert_uint_ge(n, 10);
}
END_TEST

START_TEST(an_interpreter_that_comes_by_exec_and_a_child_of_it_are_read)
{
	if (lacks_perf() || lacks_python())
		return;
	size_t n = 0;
	for (int i = 0; i < MOST_RUNS && n < 60; i++) {
		if (i)
			begin_anew();
		run_python("import os\n" BURNING "pid = os.fork()\n"
			   "if pid: os.waitpid(pid, 0)\n"
			   "else: main()");
		n += count_burning("three", 13);
	}
	ck_assert_uint_ge(n, 60);
}
END_TEST

/* Processes without an interpreter are searched for one four times per second. */
START_TEST(an_interpreter_that_comes_late_is_read)
{
	if (lacks_perf() || lacks_python())
		return;
	char script[4200];
	snprintf(script, sizeof(script), "sleep 0.6; exec %s -c '%s'", python_here(),
		 BURNING "main()");
	size_t n = 0;
	for (int i = 0; i < MOST_RUNS && n < 100; i++) {
		if (i)
			begin_anew();
		measured_script(&m, script);
		ck_assert_int_eq(m.status, TP_OK);
		n += count_burning("three", 12);
	}
	ck_assert_uint_ge(n, 100);
}
END_TEST

Suite *suite_collect_python_collector(void);
Suite *suite_collect_python_collector(void)
{
	Suite *suite = suite_create("collect/pylines");
	TCase *tc = proof_case(suite, "measured programs");
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, running_threads_are_told_by_function_and_line);
	tcase_add_test(tc, the_counter_of_a_loop_is_told);
	tcase_add_test(tc, the_counter_of_a_loop_that_waits_is_told);
	tcase_add_test(tc, the_counter_of_a_function_with_a_long_name_has_all_of_it);
	tcase_add_test(tc, functions_that_yield_are_told_from_others);
	tcase_add_test(tc, waits_are_told_by_their_line);
	tcase_add_test(tc, waits_for_the_interpreter_lock_are_told_from_other_waits);
	tcase_add_test(tc, where_a_thread_wants_a_cpu_is_told);
	tcase_add_test(tc, without_perf_events_python_is_read_by_looks);
	tcase_add_test(tc, an_interpreter_that_comes_by_exec_and_a_child_of_it_are_read);
	tcase_add_test(tc, an_interpreter_that_comes_late_is_read);
	return suite;
}
