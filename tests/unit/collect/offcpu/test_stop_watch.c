/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of noticing that a process is stopped, with a hand-written /proc. */
#include "collect/madehost.h"
#include "collect/offcpu/stop_watch.h"
#include "collect/process/task_tree.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/collect/host_info.h"
#include "trainprof/model/trace.h"

#define MS TP_NS_PER_MS

struct rig {
	char root[64];
	struct tp_host host;
	struct tp_trace_builder builder;
	struct tp_stop_watch watch;
	struct tp_task_tree_task leader;
};

static void lay_state(const struct rig *rig, char state, const char *wchan)
{
	char text[160];
	snprintf(text, sizeof(text), "100 (a b) %c 1 1 1 0 -1 0 11 0 13 0 1 1 0 0 20 0 2 0 500 1 1",
		 state);
	madehost_lay(rig->root, "/proc/100/task/100/stat", text);
	madehost_lay(rig->root, "/proc/100/task/100/wchan", wchan);
}

static void rig_open(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	snprintf(rig->root, sizeof(rig->root), "/tmp/trainprof-stop-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(rig->root));
	rig->host = (struct tp_host){.root = rig->root};
	rig->leader.info = (struct tp_task){.pid = 100, .tid = 100};
	rig->leader.where = TP_TASK_TREE_BLOCKED;
	tp_trace_builder_init(&rig->builder);
}

static void poll(struct rig *rig, uint64_t at_ms)
{
	tp_stop_watch_poll(&rig->watch, &rig->builder.sink, &rig->host, &rig->leader, at_ms * MS);
}

static void expect_gap(const struct rig *rig, size_t at, const char *reason, uint64_t from_ms,
		       uint64_t to_ms)
{
	ck_assert_uint_lt(at, rig->builder.n_records);
	const struct tp_gap *gap = &rig->builder.records[at].of.gap;
	ck_assert_str_eq(tp_strtab_text(&rig->builder.sink.strings, gap->source), TP_STOP_SOURCE);
	ck_assert_str_eq(tp_strtab_text(&rig->builder.sink.strings, gap->reason), reason);
	ck_assert_uint_eq(gap->start_ns, from_ms * MS);
	ck_assert_uint_eq(gap->end_ns, to_ms * MS);
}

static void rig_close(struct rig *rig)
{
	madehost_remove(rig->root);
	tp_trace_builder_release(&rig->builder);
}

START_TEST(a_stop_is_recorded_when_it_is_over)
{
	struct rig rig;
	rig_open(&rig);
	lay_state(&rig, 'S', "futex_wait_queue");
	poll(&rig, 1000);
	lay_state(&rig, 'T', "do_signal_stop");
	poll(&rig, 1200);
	poll(&rig, 1250); /* not due yet */
	poll(&rig, 1400);
	ck_assert_uint_eq(rig.builder.n_records, 0);
	lay_state(&rig, 'S', "futex_wait_queue");
	poll(&rig, 1600);
	ck_assert_uint_eq(rig.builder.n_records, 1);
	expect_gap(&rig, 0, "stopped by a signal, process 100", 1200, 1400);
	rig_close(&rig);
}
END_TEST

START_TEST(a_long_stop_is_recorded_in_pieces_that_meet)
{
	struct rig rig;
	rig_open(&rig);
	lay_state(&rig, 't', "ptrace_stop");
	for (uint64_t at_ms = 1000; at_ms <= 2600; at_ms += 200)
		poll(&rig, at_ms);
	tp_stop_watch_finish(&rig.watch, &rig.builder.sink, 100);
	tp_stop_watch_finish(&rig.watch, &rig.builder.sink, 100);
	ck_assert_uint_eq(rig.builder.n_records, 2);
	expect_gap(&rig, 0, "held by a debugger, process 100", 1000, 2000);
	expect_gap(&rig, 1, "held by a debugger, process 100", 2000, 2600);
	rig_close(&rig);
}
END_TEST

START_TEST(threads_that_run_are_not_read)
{
	struct rig rig;
	rig_open(&rig);
	lay_state(&rig, 'T', "do_signal_stop"); /* an outdated state */
	rig.leader.where = TP_TASK_TREE_ON_CPU;
	poll(&rig, 1000);
	rig.leader.where = TP_TASK_TREE_BLOCKED;
	rig.leader.where_since_ns = 1490 * MS;
	poll(&rig, 1500);
	ck_assert(!rig.watch.is_stopped);
	poll(&rig, 1700);
	ck_assert(rig.watch.is_stopped);
	rig_close(&rig);
}
END_TEST

static const struct {
	char state;
	const char *wchan;
	bool is_stopped;
	enum tp_stop_kind kind;
} states[] = {
	{'T', "", true, TP_STOP_SIGNAL},
	{'t', "", true, TP_STOP_DEBUGGER},
	{'S', "do_freezer_trap", true, TP_STOP_FROZEN},
	{'D', "__refrigerator", true, TP_STOP_FROZEN},
	{'S', "futex_wait_queue", false, 0},
	{'D', "io_schedule", false, 0},
	{'R', "do_freezer_trap", false, 0}, /* on its way out of the stop */
	{'S', "", false, 0},
	{'Z', "", false, 0},
};

START_TEST(states_say_who_stopped_it)
{
	struct rig rig;
	rig_open(&rig);
	lay_state(&rig, states[_i].state, states[_i].wchan);
	poll(&rig, 1000);
	ck_assert_int_eq(rig.watch.is_stopped, states[_i].is_stopped);
	if (states[_i].is_stopped)
		ck_assert_int_eq(rig.watch.kind, states[_i].kind);
	rig_close(&rig);
}
END_TEST

Suite *suite_collect_stop_watch(void);
Suite *suite_collect_stop_watch(void)
{
	Suite *suite = suite_create("collect_stop_watch");
	TCase *tests = tcase_create("states");
	tcase_add_test(tests, a_stop_is_recorded_when_it_is_over);
	tcase_add_test(tests, a_long_stop_is_recorded_in_pieces_that_meet);
	tcase_add_test(tests, threads_that_run_are_not_read);
	tcase_add_loop_test(tests, states_say_who_stopped_it, 0, TP_ARRAY_LEN(states));
	suite_add_tcase(suite, tests);
	return suite;
}
