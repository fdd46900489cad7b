/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of opening perf events. */
#include "collect/lacks_perf.h"
#include "collect/perf/perf_decode.h"
#include "collect/perf/perf_event.h"
#include "collect/unlisted.h"

#include "proof.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"

#include <check.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct tp_host host = {.root = "", .is_live = true};
static struct tp_perf_setup wish = {
	.has_switches = true,
	.stack_bytes = 32768,
	.ring_pages = 128,
	.period_ns = 5 * TP_NS_PER_MS,
};
static struct tp_perf_events events;
static uint64_t seed = 1;

/* Forks a child that does nothing until it is released, then execs a command of sh. */
static pid_t hold(const char *command, int *go)
{
	int gate[2];
	ck_assert_int_eq(pipe(gate), 0);
	pid_t pid = fork();
	if (pid == 0) {
		char byte;
		close(gate[1]);
		if (read(gate[0], &byte, 1) == 1)
			execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(1);
	}
	close(gate[0]);
	*go = gate[1];
	return pid;
}

static void let_go(pid_t pid, int go)
{
	ck_assert_int_eq(write(go, "", 1), 1);
	close(go);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* Counts the records of a type in all rings and consumes all records. */
static unsigned count(uint32_t type)
{
	unsigned n = 0;
	for (uint32_t i = 0; i < events.n_cpus; i++) {
		const struct perf_event_header *header;
		size_t size;
		tp_perf_ring_refresh(&events.rings[i]);
		while ((header = tp_perf_ring_next(&events.rings[i], &size)))
			n += header->type == type;
	}
	return n;
}

START_TEST(nothing_is_recorded_before_exec_and_all_after_it)
{
	if (lacks_perf())
		return;
	int go;
	pid_t pid = hold("/bin/true; /bin/true; :", &go);
	ck_assert_int_eq(tp_perf_events_open(&events, &host, pid, &wish, &seed, NULL), TP_OK);
	ck_assert_uint_ge(events.n_cpus, 1);
	for (uint32_t i = 0; i < events.n_cpus; i++)
		ck_assert_double_eq(tp_perf_ring_refresh(&events.rings[i]), 0);
	let_go(pid, go);
	ck_assert_uint_eq(count(PERF_RECORD_FORK), 2);
	tp_perf_events_close(&events);
}
END_TEST

START_TEST(switch_records_are_off_until_switched_on_when_asked_so)
{
	if (lacks_perf())
		return;
	for (int is_on = 0; is_on < 2; is_on++) {
		int go;
		/* Each sleep leaves its CPU and comes back, whatever its parent does. */
		pid_t pid = hold("for i in 1 2 3; do sleep 0.01; done; :", &go);
		wish.switches_start_off = true;
		ck_assert_int_eq(tp_perf_events_open(&events, &host, pid, &wish, &seed, NULL),
				 TP_OK);
		if (is_on)
			tp_perf_events_switches(&events, true);
		let_go(pid, go);
		unsigned n = count(PERF_RECORD_SWITCH);
		if (is_on)
			ck_assert_uint_ge(n, 6);
		else
			ck_assert_uint_eq(n, 0);
		tp_perf_events_close(&events);
	}
}
END_TEST

/* Counts the samples with stacks that were taken when threads left a CPU, in all rings, and
 * consumes all records. */
static unsigned count_leaves(void)
{
	const struct tp_perf_layout layout = {.has_chain = true,
					      .has_stack = true,
					      .has_event = true};
	struct tp_perf_record record;
	unsigned n = 0;
	for (uint32_t i = 0; i < events.n_cpus; i++) {
		const void *bytes;
		size_t size;
		uint64_t ignored;
		tp_perf_ring_refresh(&events.rings[i]);
		while ((bytes = tp_perf_ring_next(&events.rings[i], &size))) {
			ck_assert(tp_perf_record_decode(&record, bytes, size, &layout));
			if (record.type != PERF_RECORD_SAMPLE)
				continue;
			/* In the middle of an exec there is no stack. */
			n += tp_map_get(&events.leave_ids, record.event_id, &ignored) &&
			     record.of.sample.stack_bytes > 0;
		}
	}
	return n;
}

START_TEST(who_leaves_a_cpu_is_sampled_when_asked_so)
{
	if (lacks_perf())
		return;
	if (tp_perf_test_open(true) != 0) {
		test_skip("samples of kernel code are not allowed");
		return;
	}
	struct tp_perf_setup setup = wish;
	setup.has_kernel = setup.has_leaves = true;
	setup.stack_bytes = 4096; /* so that a ring holds them together with the other samples */
	for (int is_on = 0; is_on < 2; is_on++) {
		int go;
		/* Next to this program: 400 switches on one CPU, of which 23 are sampled. */
		pid_t pid = hold(
			"exec \"$(dirname \"$(readlink /proc/$PPID/exe)\")/programs/\"ping_pong "
			"pipe 200 pinned >/dev/null",
			&go);
		ck_assert_int_eq(tp_perf_events_open(&events, &host, pid, &setup, &seed, NULL),
				 TP_OK);
		tp_perf_events_switch_out(&events, is_on);
		let_go(pid, go);
		unsigned n = count_leaves();
		if (is_on)
			ck_assert_uint_ge(n, 15);
		else
			ck_assert_uint_eq(n, 0);
		tp_perf_events_close(&events);
	}
}
END_TEST

static void limit_files(rlim_t n)
{
	struct rlimit limit;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = n;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static rlim_t count_open(void)
{
	rlim_t n = 0;
	for (int fd = 0; fd < 4096; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Returns the descriptor limit below which n numbers are free. */
static rlim_t limit_with_free(rlim_t n)
{
	int fd = 0;
	while (n > 0)
		n -= fcntl(fd++, F_GETFD) < 0;
	return (rlim_t)fd;
}

static const struct {
	rlim_t each; /* number of descriptors per CPU */
	bool has_leaves;
	bool has_switches;
	bool is_counted; /* false = the descriptors cannot be counted, and opening fails */
} shortages[] = {{3, true, true, true},  {2, false, true, true},  {1, false, false, true},
		 {3, true, true, false}, {2, false, true, false}, {1, false, false, false}};

START_TEST(too_few_descriptors_cost_leaves_first_and_switch_records_then)
{
	if (lacks_perf())
		return;
	int go;
	pid_t pid = hold(":", &go);
	ck_assert_int_eq(tp_perf_events_open(&events, &host, pid, &wish, &seed, NULL), TP_OK);
	rlim_t n_needed = events.n_cpus * shortages[_i].each;
	tp_perf_events_close(&events);

	struct tp_perf_setup setup = wish;
	setup.has_leaves = true;
	if (!shortages[_i].is_counted)
		refuse_listing();
	/* The count includes ., .. and itself. */
	limit_files(shortages[_i].is_counted ? count_open() + 3 + TP_PERF_FDS_RESERVED + n_needed
					     : limit_with_free(n_needed));
	ck_assert_int_eq(tp_perf_events_open(&events, &host, pid, &setup, &seed, NULL), TP_OK);
	ck_assert_int_eq(events.setup.has_leaves, shortages[_i].has_leaves);
	ck_assert_int_eq(events.setup.has_switches, shortages[_i].has_switches);
	ck_assert_int_eq(events.leaves_failure, shortages[_i].has_leaves ? 0 : EMFILE);
	for (uint32_t i = 0; i < events.n_cpus; i++) {
		ck_assert_int_eq(events.switch_fds[i] >= 0, shortages[_i].has_switches);
		ck_assert_int_eq(events.leave_fds[i] >= 0, shortages[_i].has_leaves);
	}
	tp_perf_events_close(&events);
	let_go(pid, go);
}
END_TEST

START_TEST(too_few_descriptors_for_samples_are_an_error_with_its_remedy)
{
	if (lacks_perf())
		return;
	int go;
	pid_t pid = hold(":", &go);
	struct tp_error err = {0};
	limit_files(count_open() + 3);
	ck_assert_int_eq(tp_perf_events_open(&events, &host, pid, &wish, &seed, &err), TP_BUSY);
	ck_assert_str_eq(err.text, "too few file descriptors for one event per CPU");
	ck_assert_str_ne(err.next, "");
	let_go(pid, go);
}
END_TEST

START_TEST(locked_memory_limit_halves_rings_and_stacks_with_them)
{
	if (getuid() != 0) {
		test_skip("only root can become another user");
		return;
	}
	if (lacks_perf())
		return;
	struct rlimit none = {0, 0};
	setrlimit(RLIMIT_MEMLOCK, &none);
	ck_assert_int_eq(setresuid(65534, 65534, 65534), 0);
	prctl(PR_SET_DUMPABLE, 1);
	if (lacks_perf())
		return;
	int go;
	pid_t pid = hold(":", &go);
	wish.ring_pages = 1024; /* more than perf_event_mlock_kb allows */
	wish.stack_bytes = 65528;
	ck_assert_int_eq(tp_perf_events_open(&events, &host, pid, &wish, &seed, NULL), TP_OK);
	ck_assert_uint_lt(events.setup.ring_pages, 1024);
	ck_assert_uint_ge(events.setup.ring_pages, 16);
	size_t ring_bytes = (size_t)events.setup.ring_pages * (size_t)sysconf(_SC_PAGESIZE);
	ck_assert_uint_le(events.setup.stack_bytes, ring_bytes / 8);
	tp_perf_events_close(&events);
	let_go(pid, go);
}
END_TEST

START_TEST(target_that_is_gone_is_an_error)
{
	if (lacks_perf())
		return;
	struct tp_error err = {0};
	ck_assert_int_ne(tp_perf_events_open(&events, &host, 1 << 22, &wish, &seed, &err), TP_OK);
	ck_assert_str_ne(err.text, "");
}
END_TEST

Suite *suite_collect_perf_event(void);
Suite *suite_collect_perf_event(void)
{
	Suite *suite = suite_create("collect/perf_event");
	TCase *tc = tcase_create("perf_event");
	tcase_set_timeout(tc, 20);
	tcase_add_test(tc, nothing_is_recorded_before_exec_and_all_after_it);
	tcase_add_test(tc, switch_records_are_off_until_switched_on_when_asked_so);
	tcase_add_loop_test(tc, too_few_descriptors_cost_leaves_first_and_switch_records_then, 0,
			    TP_ARRAY_LEN(shortages));
	tcase_add_test(tc, too_few_descriptors_for_samples_are_an_error_with_its_remedy);
	tcase_add_test(tc, locked_memory_limit_halves_rings_and_stacks_with_them);
	tcase_add_test(tc, target_that_is_gone_is_an_error);
	suite_add_tcase(suite, tc);
	TCase *proofs = proof_case(suite, "live events");
	tcase_set_timeout(proofs, 20);
	tcase_add_test(proofs, who_leaves_a_cpu_is_sampled_when_asked_so);
	return suite;
}
