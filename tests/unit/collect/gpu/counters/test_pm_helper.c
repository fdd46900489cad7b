/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the process that samples counters: what it reports about the test double of CUPTI, and
 * that its failures do not affect trainprof. */
#include "collect/gpu/counters/pm_helper.h"
#include "collect/pmdouble.h"
#include "skip.h"

#include "trainprof/base/clock.h"

#include <math.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#define WINDOW_NS (450 * TP_NS_PER_MS)

/* All reports of the helper for one request. */
struct told {
	size_t n[TP_PM_DONE + 1];
	struct tp_pm_event last[TP_PM_DONE + 1];
	double least[TP_N_PM_METRICS];
	double most[TP_N_PM_METRICS];
	bool is_ascending;
	bool is_gone;
};

static struct tp_pm_helper helper;
static struct told told;

static void note(const struct tp_pm_event *news)
{
	if (news->kind == TP_PM_BIN)
		for (size_t i = 0; i < TP_N_PM_METRICS; i++) {
			told.least[i] = fmin(told.least[i], news->bin.values[i]);
			told.most[i] = fmax(told.most[i], news->bin.values[i]);
		}
	if (news->kind == TP_PM_BIN && told.n[TP_PM_BIN])
		told.is_ascending &= news->bin.time_ns > told.last[TP_PM_BIN].bin.time_ns;
	told.n[news->kind]++;
	told.last[news->kind] = *news;
}

/* Receives reports until one of this kind comes, or the helper is gone. */
static void listen_for(enum tp_pm_event_kind kind, double seconds)
{
	uint64_t until_ns = tp_clock_now_ns() + (uint64_t)(seconds * 1e9);
	struct tp_pm_event news;
	told = (struct told){.is_ascending = true};
	for (size_t i = 0; i < TP_N_PM_METRICS; i++)
		told.least[i] = told.most[i] = NAN;
	while (!told.n[kind] && !helper.is_gone && tp_clock_now_ns() < until_ns) {
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
		while (tp_pm_helper_receive(&helper, &news))
			note(&news);
	}
	told.is_gone = helper.is_gone;
}

static void wish_for(uint64_t devices, uint64_t window_ns)
{
	const struct tp_pm_request wish = {.devices = devices, .window_ns = window_ns};
	ck_assert(tp_pm_helper_request(&helper, &wish));
}

static void ask(uint64_t devices, uint64_t window_ns)
{
	wish_for(devices, window_ns);
	listen_for(TP_PM_DONE, 50);
}

static void start(const char *script)
{
	pm_script(script);
	ck_assert(!tp_pm_helper_start(&helper, NULL));
}

static void end(void)
{
	pid_t pid = helper.pid;
	tp_pm_helper_end(&helper);
	ck_assert_int_eq(kill(pid, 0), -1); /* the helper has left nothing behind */
	ck_assert_int_eq(helper.pid, 0);
}

/* Ends the helper, in much less than the 30 s that its call would take, also on a busy machine. */
static void end_soon(void)
{
	uint64_t before_ns = tp_clock_now_ns();
	end();
	ck_assert_uint_lt(tp_clock_now_ns() - before_ns, 20 * TP_NS_PER_S);
}

static void teardown(void)
{
	if (helper.pid)
		end();
	pm_double_reset();
}

static double least(enum tp_metric metric)
{
	return told.least[metric - TP_METRIC_PM_FIRST];
}

static double most(enum tp_metric metric)
{
	return told.most[metric - TP_METRIC_PM_FIRST];
}

START_TEST(a_window_tells_what_the_counters_say_without_its_first_sample)
{
	start(PM_CORE "dram__bytes_read.sum 3000\n");
	uint64_t before_ns = tp_clock_now_ns();
	ask(1, WINDOW_NS);
	ck_assert_uint_eq(told.n[TP_PM_READY], 1);
	ck_assert_str_eq(told.last[TP_PM_READY].why.reason, "5 counters of GH100 in one pass");
	ck_assert_uint_eq(told.n[TP_PM_FAILED], 0);
	ck_assert_uint_eq(told.n[TP_PM_OPENED], 1);
	ck_assert_uint_eq(told.n[TP_PM_CLOSED], 1);
	/* One bin per 0.1 s that the window was open, which may be long on a busy machine. */
	uint64_t open_ns = told.last[TP_PM_CLOSED].time_ns - told.last[TP_PM_OPENED].time_ns;
	ck_assert_uint_ge(told.n[TP_PM_BIN], 4);
	ck_assert_uint_le(told.n[TP_PM_BIN], open_ns / (100 * TP_NS_PER_MS));
	ck_assert(told.is_ascending);
	ck_assert_double_eq_tol(least(TP_METRIC_GPU_PM_SM_ACTIVE), 0.8, 1e-9);
	ck_assert_double_eq_tol(most(TP_METRIC_GPU_PM_SM_ACTIVE), 0.8, 1e-9);
	ck_assert_double_eq_tol(most(TP_METRIC_GPU_PM_DRAM), 0.25, 1e-9);
	ck_assert_double_eq_tol(least(TP_METRIC_GPU_PM_DRAM_READ), 3e6, 1e-3);
	ck_assert(isnan(most(TP_METRIC_GPU_PM_L2_HIT)));
	/* On our clock, whatever clock the GPU has. */
	ck_assert_uint_gt(told.last[TP_PM_BIN].bin.time_ns, before_ns);
	ck_assert_uint_le(told.last[TP_PM_BIN].bin.time_ns, tp_clock_now_ns());
	/* READY is reported only once; the second request has its own window. */
	ask(1, WINDOW_NS);
	ck_assert_uint_eq(told.n[TP_PM_READY], 0);
	ck_assert_uint_ge(told.n[TP_PM_BIN], 4);
}
END_TEST

/* CUPTI 12.6 has a version of a structure that is four bytes shorter, and refuses larger ones. */
START_TEST(an_older_cupti_is_configured_by_what_it_knows)
{
	start("config_bytes 60\n" PM_CORE);
	ask(1, WINDOW_NS);
	ck_assert_uint_eq(told.n[TP_PM_FAILED], 0);
	ck_assert_uint_ge(told.n[TP_PM_BIN], 4);
}
END_TEST

START_TEST(a_wish_without_a_window_samples_nothing)
{
	start("devices 2\nfail_cuptiPmSamplingEnable 35\n" PM_CORE);
	ask(3, 0);
	ck_assert_uint_eq(told.n[TP_PM_READY], 2);
	ck_assert_uint_eq(told.n[TP_PM_FAILED], 0);
	ck_assert_uint_eq(told.n[TP_PM_OPENED], 0);
}
END_TEST

START_TEST(two_devices_are_sampled_at_the_same_time)
{
	start("devices 2\n" PM_CORE);
	ask(3, WINDOW_NS);
	ck_assert_uint_eq(told.n[TP_PM_OPENED], 2);
	ck_assert_uint_eq(told.n[TP_PM_CLOSED], 2);
	ck_assert_uint_ge(told.n[TP_PM_BIN], 2 * 4);
	ck_assert_uint_lt(told.last[TP_PM_OPENED].time_ns, told.last[TP_PM_BIN].bin.time_ns);
}
END_TEST

START_TEST(old_chips_are_sampled_by_their_clock)
{
	start("chip GA100\n" PM_CORE);
	ask(1, WINDOW_NS);
	ck_assert_uint_eq(told.n[TP_PM_FAILED], 0);
	ck_assert_uint_ge(told.n[TP_PM_BIN], 2);
}
END_TEST

START_TEST(an_overflow_ends_the_window_and_is_said)
{
	start("overflow_after 4000\n" PM_CORE); /* the buffer overflows after 4 s */
	ask(1, 6 * TP_NS_PER_S);
	ck_assert_uint_eq(told.n[TP_PM_CLOSED], 1);
	ck_assert_int_ne(told.last[TP_PM_CLOSED].why.presence, TP_PRESENCE_PRESENT);
	ck_assert_str_eq(told.last[TP_PM_CLOSED].why.reason, "the hardware's buffer ran over");
	ck_assert_uint_ge(told.n[TP_PM_BIN], 1); /* bins from before the overflow are kept */
}
END_TEST

/* All calls of a window; each is tested with each of the errors. */
static const char *const calls[] = {
	"cuptiProfilerInitialize",
	"cuptiDeviceGetChipName",
	"cuptiPmSamplingGetCounterAvailability",
	"cuptiProfilerHostInitialize",
	"cuptiProfilerHostConfigAddMetrics",
	"cuptiProfilerHostGetConfigImageSize",
	"cuptiProfilerHostGetConfigImage",
	"cuptiProfilerHostGetNumOfPasses",
	"cuptiPmSamplingEnable",
	"cuptiPmSamplingSetConfig",
	"cuptiPmSamplingGetCounterDataSize",
	"cuptiPmSamplingCounterDataImageInitialize",
	"cuptiPmSamplingStart",
	"cuptiPmSamplingDecodeData",
	"cuptiPmSamplingGetCounterDataInfo",
	"cuptiPmSamplingCounterDataGetSampleInfo",
	"cuptiProfilerHostEvaluateToGpuValues",
};
enum { N_CALLS = sizeof(calls) / sizeof(calls[0]) };

static const struct {
	int result;
	enum tp_presence presence;
} errors[] = {{PM_NO_PRIVILEGES, TP_PRESENCE_NO_PERMISSION},
	      {PM_HARDWARE_BUSY, TP_PRESENCE_IN_USE},
	      {PM_NOT_SUPPORTED, TP_PRESENCE_NO_DEVICE},
	      {PM_UNKNOWN, TP_PRESENCE_NO_DEVICE}};
enum { N_ERRORS = sizeof(errors) / sizeof(errors[0]) };

START_TEST(each_call_that_fails_is_named_and_nothing_is_left_open)
{
	const char *call = calls[_i / N_ERRORS];
	enum tp_presence presence = errors[_i % N_ERRORS].presence;
	char script[1000];
	snprintf(script, sizeof(script), "fail_%s %d\n" PM_CORE, call,
		 errors[_i % N_ERRORS].result);
	start(script);
	ask(1, WINDOW_NS / 2);
	ck_assert_msg(!told.is_gone, "%s", call);
	ck_assert_uint_eq(told.n[TP_PM_DONE], 1);
	ck_assert_uint_eq(told.n[TP_PM_OPENED], told.n[TP_PM_CLOSED]);
	/* A window that was opened reports the error at its end, one that was not opened reports it
	 * as failed. */
	const struct tp_availability *why =
		&told.last[told.n[TP_PM_CLOSED] ? TP_PM_CLOSED : TP_PM_FAILED].why;
	ck_assert_msg(why->presence == presence, "%s: %s", call, why->reason);
	ck_assert_msg(strstr(why->reason, call + strlen("cupti")) ||
			      strstr(why->reason, call + strlen("cuptiProfiler")),
		      "%s: %s", call, why->reason);
}
END_TEST

START_TEST(a_crash_is_seen_and_harms_nobody)
{
	char script[1000];
	snprintf(script, sizeof(script), "crash_%s 1\n" PM_CORE, calls[_i]);
	start(script);
	ask(1, WINDOW_NS / 2);
	ck_assert(told.is_gone);
}
END_TEST

START_TEST(one_that_hangs_is_not_waited_for)
{
	start("sleep_cuptiPmSamplingStart 30\n" PM_CORE);
	wish_for(1, WINDOW_NS);
	listen_for(TP_PM_DONE, 0.3);
	ck_assert_uint_eq(told.n[TP_PM_DONE], 0);
	end_soon();
}
END_TEST

START_TEST(an_end_in_the_middle_of_a_window_is_not_waited_for)
{
	start(PM_CORE);
	wish_for(1, 30 * TP_NS_PER_S);
	listen_for(TP_PM_OPENED, 25);
	ck_assert_uint_eq(told.n[TP_PM_OPENED], 1);
	end_soon();
}
END_TEST

/* Starts a process that delays the reaping of another process as long as it lives. Returns 0 if
 * tracing is not allowed. */
static pid_t hold_end_of(pid_t other)
{
	int ends[2];
	char is_held = 0;
	ck_assert_int_eq(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		is_held = ptrace(PTRACE_SEIZE, other, NULL, NULL) == 0;
		if (write(ends[1], &is_held, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	ck_assert_int_eq(read(ends[0], &is_held, 1), 1);
	if (is_held)
		return pid;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}

/* Simulates a helper that hangs in the driver: for us it has not ended, even after SIGKILL. */
START_TEST(one_that_does_not_end_of_being_killed_is_left)
{
	start(PM_CORE);
	pid_t pid = helper.pid;
	pid_t holder = hold_end_of(pid);
	if (!holder) {
		test_skip("nothing may be traced here");
		return;
	}
	tp_pm_helper_end(&helper);
	ck_assert_int_eq(helper.pid, 0);
	ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
	kill(holder, SIGKILL);
	waitpid(holder, NULL, 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	pm_double_reset();
}
END_TEST

START_TEST(it_dies_with_us)
{
	int ends[2];
	pid_t inner = 0;
	pm_script(PM_CORE);
	ck_assert_int_eq(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (tp_pm_helper_start(&helper, NULL) ||
		    write(ends[1], &helper.pid, sizeof(helper.pid)) != sizeof(helper.pid))
			_exit(1);
		pause();
	}
	ck_assert_int_eq(read(ends[0], &inner, sizeof(inner)), sizeof(inner));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (int i = 0; i < 4000 && kill(inner, 0) == 0; i++) {
		char path[64];
		char state = 0;
		snprintf(path, sizeof(path), "/proc/%d/stat", (int)inner);
		FILE *file = fopen(path, "r");
		if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			state = 0;
		if (file)
			fclose(file);
		if (state == 'Z') /* no process here reaps it */
			break;
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
		ck_assert_int_lt(i, 3999);
	}
	pm_double_reset();
}
END_TEST

Suite *suite_collect_pm_helper(void);
Suite *suite_collect_pm_helper(void)
{
	Suite *suite = suite_create("collect/pm_helper");
	TCase *tc = tcase_create("pm_helper");
	TCase *orphan = tcase_create("orphan"); /* the helper's parent is another process */
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, a_window_tells_what_the_counters_say_without_its_first_sample);
	tcase_add_test(tc, an_older_cupti_is_configured_by_what_it_knows);
	tcase_add_test(tc, a_wish_without_a_window_samples_nothing);
	tcase_add_test(tc, two_devices_are_sampled_at_the_same_time);
	tcase_add_test(tc, old_chips_are_sampled_by_their_clock);
	tcase_add_test(tc, an_overflow_ends_the_window_and_is_said);
	tcase_add_loop_test(tc, each_call_that_fails_is_named_and_nothing_is_left_open, 0,
			    N_CALLS * N_ERRORS);
	tcase_add_loop_test(tc, a_crash_is_seen_and_harms_nobody, 0, N_CALLS);
	tcase_add_test(tc, one_that_hangs_is_not_waited_for);
	tcase_add_test(tc, an_end_in_the_middle_of_a_window_is_not_waited_for);
	tcase_add_test(tc, one_that_does_not_end_of_being_killed_is_left);
	suite_add_tcase(suite, tc);
	tcase_set_timeout(orphan, 60);
	tcase_add_test(orphan, it_dies_with_us);
	suite_add_tcase(suite, orphan);
	return suite;
}
