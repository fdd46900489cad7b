/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of an agent that joins a program which already uses CUDA's test doubles. */
#include "collect/gpu/trace/agent_attach.h"
#include "collect/gpu/trace/gpu_ring_set.h"
#include "collect/process/task_tree.h"

#include "skip.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/collector.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATH = 600, OF_64_KERNELS = 59 };

static struct tp_host host = {.root = "", .is_live = true};
static struct tp_trace_builder sink;
static struct tp_collect_context context;
static struct tp_gpu_ring_set rings;
static struct tp_agent_attach_stats joined;
static pid_t launcher;

static const char *beside(char out[PATH], const char *file)
{
	char self[500];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	ck_assert_int_gt(len, 0);
	self[len] = '\0';
	*strrchr(self, '/') = '\0';
	snprintf(out, PATH, "%s/%s", self, file);
	return out;
}

static void setup(void)
{
	tp_trace_builder_init(&sink);
	context = (struct tp_collect_context){.host = &host, .sink = &sink.sink};
	context.tree = tp_task_tree_new(&host, &sink.sink);
	tp_gpu_ring_set_init(&rings, &context, "cupti");
	launcher = 0;
}

static void teardown(void)
{
	if (launcher > 0) {
		kill(launcher, SIGKILL);
		waitpid(launcher, NULL, 0);
	}
	tp_gpu_ring_set_close(&rings);
	tp_task_tree_free(context.tree);
	tp_trace_builder_release(&sink);
}

static void nap(long ms)
{
	const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
	nanosleep(&time, NULL);
}

static bool is_using_cuda(pid_t pid)
{
	char path[64];
	char line[PATH];
	bool is_there = false;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	FILE *maps = fopen(path, "r");
	while (maps && !is_there && fgets(line, sizeof(line), maps))
		is_there = strstr(line, "libcuda") && strstr(line, "r-xp");
	if (maps)
		fclose(maps);
	return is_there;
}

/* Units of work per thread: for two minutes at the requested rate, and for half a second. */
static const char many_units[] = "1280000";
static const char few_units[] = "6400";

/* Starts the launcher, which waits up to a minute for a reader and then works. */
static bool start(const char *age, const char *end, const char *units)
{
	char program[PATH];
	char path[PATH];
	char paths[2 * PATH + 2];
	char folder[64];
	snprintf(folder, sizeof(folder), "doubles/%s", age);
	snprintf(paths, sizeof(paths), "%s:", beside(path, "doubles"));
	strcat(paths, beside(path, folder));
	beside(program, "programs/gpu_launcher");
	launcher = fork();
	if (launcher == 0) {
		int null = open("/dev/null", O_WRONLY);
		dup2(null, 1);
		unsetenv("CUDA_INJECTION64_PATH");
		setenv("LD_LIBRARY_PATH", paths, 1);
		execl(program, "gpu_launcher", end, "2", units, "20000", "60000", (char *)NULL);
		_exit(127);
	}
	if (ptrace(PTRACE_SEIZE, launcher, NULL, NULL) != 0) {
		test_skip("children cannot be traced here");
		return false;
	}
	ptrace(PTRACE_INTERRUPT, launcher, NULL, NULL);
	waitpid(launcher, NULL, 0);
	ptrace(PTRACE_DETACH, launcher, NULL, NULL);
	for (int i = 0; i < 10000 && !is_using_cuda(launcher); i++)
		nap(5);
	return true;
}

static enum tp_status join(struct tp_error *err)
{
	char agent[PATH];
	tp_task_tree_scan_existing(context.tree, launcher, tp_clock_now_ns());
	return tp_agent_attach(&joined, &rings, context.tree, launcher,
			       beside(agent, "libtrainprof-agent.so"), err);
}

static void collect(long ms)
{
	for (long i = 0; i < ms; i += 50) {
		nap(50);
		tp_gpu_ring_set_drain(&rings, tp_clock_now_ns(), SIZE_MAX);
	}
}

static uint64_t n_told(void)
{
	return tp_gpu_decoder_get_stats(rings.items[0]->decoder)->n_spans;
}

static enum tp_gpu_state state_of(void)
{
	tp_gpu_ring_reader_refresh(&rings.items[0]->file);
	return rings.items[0]->file.header.state;
}

/* Waits for the state, however long it takes. */
static void expect_state(enum tp_gpu_state state)
{
	for (int i = 0; i < 10000 && state_of() != state; i++)
		nap(5);
	ck_assert_int_eq(state_of(), state);
}

static void collect_until_told(uint64_t n)
{
	for (int i = 0; i < 1000 && n_told() <= n; i++)
		collect(50);
	ck_assert_uint_gt(n_told(), n);
}

/* Detaches, however long an agent needs to get a CPU and leave. */
static void leave(void)
{
	for (int i = 0; i < 20 && (i == 0 || state_of() != TP_GPU_STATE_FINISHED); i++)
		tp_gpu_ring_set_detach(&rings, tp_clock_now_ns());
	ck_assert_int_eq(state_of(), TP_GPU_STATE_FINISHED);
}

START_TEST(what_a_joined_program_does_is_told_until_the_agent_leaves)
{
	struct tp_error err = {0};
	if (!start("whole", "hang", many_units))
		return;
	ck_assert_msg(join(&err) == TP_OK, "%s", err.text);
	ck_assert_uint_eq(joined.n, 1);
	ck_assert_uint_eq(rings.n, 1);
	expect_state(TP_GPU_STATE_IDLE); /* nothing was requested yet */
	tp_gpu_ring_set_request(&rings, TP_GPU_REQUEST_EVENTS);
	collect_until_told(1000);
	leave();
	ck_assert_int_eq(waitpid(launcher, NULL, WNOHANG), 0);
}
END_TEST

/* Start of the earliest span that was added after the first `n_before` of its track. */
static uint64_t first_start_ns(const size_t *n_before, size_t most)
{
	uint64_t first_ns = UINT64_MAX;
	for (size_t i = 0; i < sink.n_spans && i < most; i++)
		for (size_t k = n_before[i]; k < sink.spans[i].n; k++)
			if (sink.spans[i].items[k].start_ns < first_ns)
				first_ns = sink.spans[i].items[k].start_ns;
	return first_ns;
}

/* The second visit finds the same agent by its name; spans that were reported before are not
 * reported again. */
START_TEST(a_second_visit_finds_the_agent)
{
	struct tp_error err = {0};
	if (!start("whole", "hang", many_units))
		return;
	for (int i = 0; i < 3; i++) {
		enum { TRACKS = 64 };
		size_t n_before[TRACKS] = {0};
		for (size_t k = 0; k < sink.n_spans && k < TRACKS; k++)
			n_before[k] = sink.spans[k].n;
		uint64_t came_ns = tp_clock_now_ns();
		ck_assert_msg(join(&err) == TP_OK, "visit %d: %s", i, err.text);
		tp_gpu_ring_set_request(&rings, TP_GPU_REQUEST_EVENTS);
		collect_until_told(100);
		leave();
		ck_assert_uint_lt(first_start_ns(n_before, TRACKS), UINT64_MAX);
		ck_assert_uint_gt(first_start_ns(n_before, TRACKS), came_ns);
		ck_assert_uint_eq(tp_gpu_decoder_get_stats(rings.items[0]->decoder)->n_lost, 0);
		tp_gpu_ring_set_close(&rings);
		tp_gpu_ring_set_init(&rings, &context, "cupti");
	}
}
END_TEST

START_TEST(one_visitor_at_a_time)
{
	struct tp_error err = {0};
	if (!start("whole", "hang", many_units))
		return;
	ck_assert_msg(join(&err) == TP_OK, "%s", err.text);
	ck_assert_int_eq(join(&err), TP_BUSY);
	ck_assert_str_eq(err.next, "pgrep -af trainprof");
	ck_assert_uint_eq(rings.n, 1);
	tp_gpu_ring_set_detach(&rings, tp_clock_now_ns());
}
END_TEST

/* Simulates that trainprof was killed: the reader's sign of life is old. */
START_TEST(an_agent_without_a_reader_leaves)
{
	struct tp_error err = {0};
	if (!start("whole", "hang", many_units))
		return;
	ck_assert_msg(join(&err) == TP_OK, "%s", err.text);
	tp_gpu_ring_set_request(&rings, TP_GPU_REQUEST_EVENTS);
	for (int i = 0; i < 1000 && state_of() != TP_GPU_STATE_OPEN; i++)
		collect(50);
	ck_assert_int_eq(state_of(), TP_GPU_STATE_OPEN);
	tp_gpu_ring_reader_mark_alive(&rings.items[0]->file, 1);
	expect_state(TP_GPU_STATE_FINISHED);
}
END_TEST

START_TEST(an_old_cupti_is_not_joined)
{
	struct tp_error err = {0};
	if (!start("old", "hang", many_units))
		return;
	ck_assert_msg(join(&err) == TP_OK, "%s", err.text);
	expect_state(TP_GPU_STATE_UNSUPPORTED);
	tp_gpu_ring_set_detach(&rings, tp_clock_now_ns());
	ck_assert_int_eq(waitpid(launcher, NULL, WNOHANG), 0);
}
END_TEST

START_TEST(a_program_may_forbid_it)
{
	struct tp_error err = {0};
	setenv("TRAINPROF_GPU", "0", 1);
	if (!start("whole", "hang", many_units))
		return;
	ck_assert_int_eq(join(&err), TP_DENIED);
	ck_assert_msg(strstr(err.text, "TRAINPROF_GPU=0") != NULL, "%s", err.text);
}
END_TEST

START_TEST(a_joined_program_ends_as_it_would)
{
	struct tp_error err = {0};
	int status = -1;
	if (!start("whole", "exit", few_units))
		return;
	ck_assert_msg(join(&err) == TP_OK, "%s", err.text);
	tp_gpu_ring_set_request(&rings, TP_GPU_REQUEST_EVENTS);
	while (waitpid(launcher, &status, WNOHANG) == 0)
		collect(100);
	launcher = 0;
	ck_assert_int_eq(status, 0);
	tp_gpu_ring_set_drain(&rings, tp_clock_now_ns(), SIZE_MAX);
	/* All of its work began after a reader was there. */
	ck_assert_uint_ge(n_told(), 2 * 100 * OF_64_KERNELS);
	ck_assert_int_eq(state_of(), TP_GPU_STATE_FINISHED);
}
END_TEST

Suite *suite_collect_agent_attach(void);
Suite *suite_collect_agent_attach(void)
{
	Suite *suite = suite_create("collect/gpujoin");
	TCase *tcase = tcase_create("all");
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, what_a_joined_program_does_is_told_until_the_agent_leaves);
	tcase_add_test(tcase, a_second_visit_finds_the_agent);
	tcase_add_test(tcase, one_visitor_at_a_time);
	tcase_add_test(tcase, an_agent_without_a_reader_leaves);
	tcase_add_test(tcase, an_old_cupti_is_not_joined);
	tcase_add_test(tcase, a_program_may_forbid_it);
	tcase_add_test(tcase, a_joined_program_ends_as_it_would);
	suite_add_tcase(suite, tcase);
	return suite;
}
