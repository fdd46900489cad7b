/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the CPU time accounting of threads and processes, with a hand-written /proc. */
#include "collect/madehost.h"
#include "collect/offcpu/task_accounting.h"

#include "trainprof/base/clock.h"
#include "trainprof/model/trace.h"

#include <unistd.h>

enum { PID = 100, TID = 101 };

struct rig {
	char root[64];
	struct tp_host host;
	struct tp_trace_builder builder;
	struct tp_task_tree *tree;
	struct tp_task_accounting accounts;
	struct tp_task_account account;
	struct tp_task_tree_task *leader;
	struct tp_task_tree_task *thread;
};

/* utime and stime in ticks of 10 ms. */
static void write_stat(const struct rig *rig, const char *path, int utime, int stime)
{
	char text[256];
	snprintf(text, sizeof(text),
		 "101 (a (b) c) S 1 1 1 0 -1 0 11 0 13 0 %d %d 0 0 20 0 2 0 500 1 1", utime, stime);
	madehost_lay(rig->root, path, text);
}

static void write_schedstat(const struct rig *rig, int run, int delay)
{
	char text[64];
	snprintf(text, sizeof(text), "%d %d 7\n", run, delay);
	madehost_lay(rig->root, "/proc/100/task/101/schedstat", text);
}

static void rig_open(struct rig *rig, uint64_t started_ns, uint64_t born_ns)
{
	memset(rig, 0, sizeof(*rig));
	snprintf(rig->root, sizeof(rig->root), "/tmp/trainprof-account-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(rig->root));
	write_stat(rig, "/proc/100/stat", 50, 5);
	write_stat(rig, "/proc/100/task/101/stat", 30, 3);
	write_schedstat(rig, 330, 40);
	madehost_lay(rig->root, "/proc/100/status",
		     "Name:\tx\nVmRSS:\t    2048 kB\nVmSwap:\t 4 kB\n");
	madehost_lay(rig->root, "/proc/100/io",
		     "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\n");
	rig->host = (struct tp_host){.root = rig->root};
	tp_trace_builder_init(&rig->builder);
	rig->tree = tp_task_tree_new(&rig->host, &rig->builder.sink);
	rig->leader = tp_task_tree_fork(rig->tree, PID, PID, 0, born_ns);
	rig->thread = tp_task_tree_fork(rig->tree, TID, PID, PID, born_ns);
	tp_task_accounting_init(&rig->accounts, &rig->host, &rig->builder.sink, rig->tree,
				started_ns);
}

static void rig_close(struct rig *rig)
{
	tp_task_accounting_release(&rig->accounts);
	tp_task_tree_free(rig->tree);
	tp_trace_builder_release(&rig->builder);
	madehost_remove(rig->root);
}

static void read_books(struct rig *rig, uint64_t now_ns, bool is_last)
{
	tp_task_accounting_read(&rig->accounts, &rig->account, rig->thread, now_ns, is_last);
}

/* Returns the readings of a metric, oldest first. */
static size_t readings(const struct rig *rig, enum tp_metric metric, uint32_t task, double *out,
		       size_t max)
{
	size_t n = 0;
	for (size_t i = 0; i < rig->builder.n_records; i++) {
		const struct tp_record *record = &rig->builder.records[i];
		if (record->kind == TP_RECORD_GAUGE && record->of.gauge.metric == metric &&
		    record->of.gauge.task == task && n < max)
			out[n++] = record->of.gauge.value;
	}
	return n;
}

START_TEST(values_and_tasks_are_those_of_the_files)
{
	static const struct {
		enum tp_metric metric;
		bool of_leader;
		double want;
	} wanted[] = {
		{TP_METRIC_TASK_RUN, false, 330},     {TP_METRIC_TASK_DELAY, false, 40},
		{TP_METRIC_TASK_MINFLT, false, 11},   {TP_METRIC_TASK_MAJFLT, false, 13},
		{TP_METRIC_TASK_UTIME, false, 300e6}, {TP_METRIC_TASK_STIME, false, 30e6},
		{TP_METRIC_PROC_UTIME, true, 500e6},  {TP_METRIC_PROC_STIME, true, 50e6},
		{TP_METRIC_PROC_MINFLT, true, 11},    {TP_METRIC_PROC_RSS, true, 2048.0 * 1024},
		{TP_METRIC_PROC_SWAP, true, 4096},    {TP_METRIC_PROC_THREADS, true, 2},
		{TP_METRIC_IO_RCHAR, true, 1},        {TP_METRIC_IO_SYSCW, true, 4},
		{TP_METRIC_IO_WRITE, true, 6},
	};
	struct rig rig;
	double got[4];
	rig_open(&rig, 1000, 10); /* the threads existed before trainprof started */
	read_books(&rig, TP_NS_PER_S, false);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		uint32_t task = (wanted[i].of_leader ? rig.leader : rig.thread)->info.id;
		ck_assert_uint_eq(readings(&rig, wanted[i].metric, task, got, 4), 1);
		ck_assert_double_eq(got[0], wanted[i].want);
	}
	ck_assert_uint_eq(rig.leader->info.utime_ns, 500000000);
	ck_assert_uint_eq(rig.thread->info.stime_ns, 30000000);
	rig_close(&rig);
}
END_TEST

START_TEST(what_was_born_meanwhile_began_at_zero)
{
	struct rig rig;
	double got[4];
	rig_open(&rig, 1000, 2000);
	read_books(&rig, TP_NS_PER_S, false);
	ck_assert_uint_eq(readings(&rig, TP_METRIC_TASK_RUN, rig.thread->info.id, got, 4), 2);
	ck_assert_double_eq(got[0], 0);
	ck_assert_double_eq(got[1], 330);
	ck_assert_uint_eq(readings(&rig, TP_METRIC_PROC_UTIME, rig.leader->info.id, got, 4), 2);
	ck_assert_double_eq(got[0], 0);
	/* A level such as RSS has no reading of 0 at the start. */
	ck_assert_uint_eq(readings(&rig, TP_METRIC_PROC_RSS, rig.leader->info.id, got, 4), 1);
	rig_close(&rig);
}
END_TEST

START_TEST(repeated_readings_are_left_out_but_the_end_of_a_pause_is_kept)
{
	struct rig rig;
	double got[8];
	uint32_t id;
	rig_open(&rig, 1000, 10);
	id = rig.thread->info.id;
	for (uint64_t second = 1; second <= 5; second++)
		read_books(&rig, second * TP_NS_PER_S, false);
	ck_assert_uint_eq(readings(&rig, TP_METRIC_TASK_RUN, id, got, 8), 1);
	write_schedstat(&rig, 900, 40);
	read_books(&rig, 6 * TP_NS_PER_S, false);
	ck_assert_uint_eq(readings(&rig, TP_METRIC_TASK_RUN, id, got, 8), 3);
	ck_assert_double_eq(got[0], 330);
	ck_assert_double_eq(got[1], 330);
	ck_assert_double_eq(got[2], 900);
	write_schedstat(&rig, 1000, 41); /* changes at once: no pause in between */
	read_books(&rig, 7 * TP_NS_PER_S, false);
	ck_assert_uint_eq(readings(&rig, TP_METRIC_TASK_DELAY, id, got, 8), 4);
	ck_assert_double_eq(got[3], 41);
	rig_close(&rig);
}
END_TEST

START_TEST(the_last_reading_is_put_in_any_case)
{
	struct rig rig;
	double got[8];
	rig_open(&rig, 1000, 10);
	rig.thread->where = TP_TASK_TREE_BLOCKED; /* and has not run: its files need not be read */
	read_books(&rig, 1 * TP_NS_PER_S, false);
	write_schedstat(&rig, 777, 0);
	read_books(&rig, 2 * TP_NS_PER_S, false);
	ck_assert_uint_eq(readings(&rig, TP_METRIC_TASK_RUN, rig.thread->info.id, got, 8), 1);
	read_books(&rig, 3 * TP_NS_PER_S, true);
	size_t n = readings(&rig, TP_METRIC_TASK_RUN, rig.thread->info.id, got, 8);
	ck_assert_uint_eq(n, 3);
	ck_assert_double_eq(got[n - 1], 777);
	rig_close(&rig);
}
END_TEST

START_TEST(a_process_that_is_gone_is_no_reading)
{
	struct rig rig;
	double got[4];
	char path[128];
	rig_open(&rig, 1000, 10);
	snprintf(path, sizeof(path), "%s/proc/100/stat", rig.root);
	unlink(path);
	snprintf(path, sizeof(path), "%s/proc/100/task/101/stat", rig.root);
	unlink(path);
	read_books(&rig, TP_NS_PER_S, false);
	ck_assert_uint_eq(readings(&rig, TP_METRIC_PROC_UTIME, rig.leader->info.id, got, 4), 0);
	ck_assert_uint_eq(readings(&rig, TP_METRIC_TASK_UTIME, rig.thread->info.id, got, 4), 0);
	tp_task_accounting_remove(&rig.accounts, PID);
	ck_assert_uint_eq(rig.accounts.processes.n, 0);
	rig_close(&rig);
}
END_TEST

START_TEST(a_glance_is_put_when_the_process_ends)
{
	struct rig rig;
	double got[4];
	rig_open(&rig, 1000, 10);
	read_books(&rig, TP_NS_PER_S, false);
	write_stat(&rig, "/proc/100/stat", 80, 9);
	ck_assert(tp_task_accounting_peek(&rig.accounts, rig.leader));
	ck_assert_uint_eq(readings(&rig, TP_METRIC_PROC_UTIME, rig.leader->info.id, got, 4), 1);
	ck_assert_uint_eq(rig.leader->info.utime_ns, 800000000);
	tp_task_accounting_remove(&rig.accounts, PID);
	ck_assert_uint_eq(readings(&rig, TP_METRIC_PROC_UTIME, rig.leader->info.id, got, 4), 2);
	ck_assert_double_eq(got[1], 800e6);
	ck_assert_uint_eq(readings(&rig, TP_METRIC_PROC_STIME, rig.leader->info.id, got, 4), 2);
	ck_assert_double_eq(got[1], 90e6);
	ck_assert_uint_eq(readings(&rig, TP_METRIC_IO_RCHAR, rig.leader->info.id, got, 4), 1);
	rig_close(&rig);
}
END_TEST

START_TEST(an_old_glance_is_not_put)
{
	struct rig rig;
	double got[4];
	rig_open(&rig, 1000, 10);
	ck_assert(tp_task_accounting_peek(&rig.accounts, rig.leader));
	read_books(&rig, TP_NS_PER_S, false);
	tp_task_accounting_remove(&rig.accounts, PID);
	ck_assert_uint_eq(readings(&rig, TP_METRIC_PROC_UTIME, rig.leader->info.id, got, 4), 1);
	rig_close(&rig);
}
END_TEST

START_TEST(a_process_that_lived_between_two_readings_has_a_beginning_and_an_end)
{
	struct rig rig;
	double got[4];
	rig_open(&rig, 1000, 2000);
	ck_assert(tp_task_accounting_peek(&rig.accounts, rig.leader));
	tp_task_accounting_remove(&rig.accounts, PID);
	ck_assert_uint_eq(readings(&rig, TP_METRIC_PROC_UTIME, rig.leader->info.id, got, 4), 2);
	ck_assert_double_eq(got[0], 0);
	ck_assert_double_eq(got[1], 500e6);
	rig_close(&rig);
}
END_TEST

/* Returns for how long a reading lasts after which the thread has run for `run_ns`. */
static uint64_t period_of_reading(struct rig *rig, int run_ns)
{
	write_schedstat(rig, run_ns, 40);
	read_books(rig, TP_NS_PER_S, false);
	return rig->account.due_ns - TP_NS_PER_S;
}

START_TEST(of_many_threads_those_that_hardly_run_are_read_rarely)
{
	struct rig rig;
	rig_open(&rig, 1000, 10);
	ck_assert_uint_eq(period_of_reading(&rig, 330), TP_NS_PER_S);
	ck_assert_uint_eq(period_of_reading(&rig, 331), TP_NS_PER_S);
	for (pid_t tid = TID + 1; tid < TID + 79; tid++)
		ck_assert_ptr_nonnull(tp_task_tree_fork(rig.tree, tid, PID, PID, 10));
	ck_assert_uint_eq(period_of_reading(&rig, 332), 5 * TP_NS_PER_S);
	ck_assert_uint_eq(period_of_reading(&rig, 2000000000), TP_NS_PER_S);
	for (pid_t tid = TID + 79; tid < TID + 1000; tid++)
		ck_assert_ptr_nonnull(tp_task_tree_fork(rig.tree, tid, PID, PID, 10));
	ck_assert_uint_eq(period_of_reading(&rig, 2000000001), 16 * TP_NS_PER_S);
	rig_close(&rig);
}
END_TEST

Suite *suite_collect_task_accounting(void);
Suite *suite_collect_task_accounting(void)
{
	Suite *suite = suite_create("collect/account");
	TCase *tc = tcase_create("account");
	tcase_add_test(tc, values_and_tasks_are_those_of_the_files);
	tcase_add_test(tc, what_was_born_meanwhile_began_at_zero);
	tcase_add_test(tc, repeated_readings_are_left_out_but_the_end_of_a_pause_is_kept);
	tcase_add_test(tc, the_last_reading_is_put_in_any_case);
	tcase_add_test(tc, a_process_that_is_gone_is_no_reading);
	tcase_add_test(tc, a_glance_is_put_when_the_process_ends);
	tcase_add_test(tc, an_old_glance_is_not_put);
	tcase_add_test(tc, a_process_that_lived_between_two_readings_has_a_beginning_and_an_end);
	tcase_add_test(tc, of_many_threads_those_that_hardly_run_are_read_rarely);
	suite_add_tcase(suite, tc);
	return suite;
}
