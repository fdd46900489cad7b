/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the thread that calls NVML, with its test double. Also run under ThreadSanitizer. */
#include "collect/gpu/nvml/nvml_thread.h"
#include "collect/nvmldouble.h"

#include "proof.h"

#include "trainprof/base/clock.h"

#include <pthread.h>
#include <sys/stat.h>
#include <time.h>

/* A generous limit for a busy machine, where a second's work may take long; no test depends on
 * speed. */
#define PATIENCE_NS (50 * TP_NS_PER_S)

static struct tp_nvml_thread *watch_open(const char *script)
{
	struct tp_nvml_thread *watch;
	char path[600];
	double_script(script);
	ck_assert(
		!tp_nvml_thread_start(&watch, double_path(path, sizeof(path), "whole"), "", NULL));
	return watch;
}

/* A call does not return as long as this file exists. */
static char held[64];

/* Link count of /proc/self/task before NVML's thread was started. */
static nlink_t n_links_before;

static nlink_t count_links(void)
{
	struct stat tasks = {0};
	ck_assert_int_eq(stat("/proc/self/task", &tasks), 0);
	return tasks.st_nlink;
}

static void *end_at_once(void *unused)
{
	return unused;
}

static struct tp_nvml_thread *watch_held(const char *script, const char *symbol)
{
	char text[400];
	/* A sanitizer starts its own thread together with our first one. */
	pthread_t first;
	ck_assert_int_eq(pthread_create(&first, NULL, end_at_once, NULL), 0);
	pthread_join(first, NULL);
	n_links_before = count_links();
	strcpy(held, "/tmp/trainprof-held-XXXXXX");
	int fd = mkstemp(held);
	ck_assert_int_ge(fd, 0);
	close(fd);
	snprintf(text, sizeof(text), "%shold_%s %s\n", script, symbol, held);
	return watch_open(text);
}

static void let_go(void)
{
	ck_assert_int_eq(unlink(held), 0);
}

static void nap_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* Waits until there are `n` readings and the thread has this state. */
static void wait_for(struct tp_nvml_thread *watch, struct tp_nvml_update *news, size_t n,
		     enum tp_nvml_state state)
{
	uint64_t until_ns = tp_clock_now_ns() + PATIENCE_NS;
	do {
		nap_ms(20);
		tp_nvml_thread_receive(watch, news);
		if (news->n_readings >= n && news->state == state)
			return;
		free(news->readings);
	} while (tp_clock_now_ns() < until_ns);
	ck_abort_msg("nothing after %d s", (int)(PATIENCE_NS / TP_NS_PER_S));
}

/* Waits until there are no more threads than before; a sanitizer may have its own. */
static void wait_until_alone(void)
{
	for (int i = 0; i < 10000 && count_links() > n_links_before; i++)
		nap_ms(5);
	ck_assert_uint_le(count_links(), n_links_before);
}

START_TEST(readings_are_of_the_devices_that_list_the_target)
{
	struct tp_nvml_update news;
	char script[300];
	snprintf(script, sizeof(script),
		 "devices 3\nname GPU\ngpu 1 name NVIDIA L4\nawake 10\ngpu 1 awake 40\n"
		 "gpu 1 process %d 1000\ngpu 0 process 1 50\n",
		 (int)getpid());
	struct tp_nvml_thread *watch = watch_open(script);
	pid_t self = getpid();
	tp_nvml_thread_set_pids(watch, &self, 1);
	wait_for(watch, &news, 1, TP_NVML_RUNNING);
	ck_assert_uint_eq(news.n_devices, 3);
	for (size_t i = 0; i < news.n_readings; i++) {
		ck_assert_uint_eq(news.readings[i].device, 1);
		ck_assert_double_eq_tol(*tp_nvml_value(&news.readings[i], TP_METRIC_GPU_AWAKE), 0.4,
					1e-12);
	}
	ck_assert_str_eq(tp_nvml_thread_device_name(watch, 1), "NVIDIA L4");
	ck_assert_str_eq(tp_nvml_thread_device_name(watch, 7), "");
	free(news.readings);
	tp_nvml_thread_end(watch);
	double_reset();
}
END_TEST

START_TEST(who_uses_no_gpu_gets_no_readings)
{
	struct tp_nvml_update news;
	struct tp_nvml_thread *watch = watch_open("devices 2\nawake 90\nprocess 1 50\n");
	pid_t self = getpid();
	tp_nvml_thread_set_pids(watch, &self, 1);
	wait_for(watch, &news, 0, TP_NVML_RUNNING);
	nap_ms(1200);
	tp_nvml_thread_receive(watch, &news);
	ck_assert_uint_eq(news.n_readings, 0);
	tp_nvml_thread_end(watch);
	double_reset();
}
END_TEST

START_TEST(a_slow_start_is_waited_for_by_nobody)
{
	struct tp_nvml_update news;
	struct tp_nvml_thread *watch = watch_held("devices 1\n", "nvmlInit_v2");
	tp_nvml_thread_set_pids(watch, NULL, 0);
	tp_nvml_thread_receive(watch, &news);
	ck_assert_int_eq(news.state, TP_NVML_STARTING);
	let_go();
	wait_for(watch, &news, 0, TP_NVML_RUNNING);
	tp_nvml_thread_end(watch);
	double_reset();
}
END_TEST

START_TEST(a_call_that_hangs_is_left_behind)
{
	struct tp_nvml_update news;
	char script[200];
	snprintf(script, sizeof(script), "devices 1\nprocess %d 1\nawake 1\n", (int)getpid());
	struct tp_nvml_thread *watch = watch_held(script, "nvmlDeviceGetUtilizationRates");
	pid_t self = getpid();
	tp_nvml_thread_set_pids(watch, &self, 1);
	wait_for(watch, &news, 0, TP_NVML_RUNNING);
	/* The thread waits for other calls as well, but not for that long. */
	do {
		nap_ms(10);
		free(news.readings);
		tp_nvml_thread_receive(watch, &news);
	} while (!news.waits_since_ns ||
		 tp_clock_now_ns() < news.waits_since_ns + 100 * TP_NS_PER_MS);
	free(news.readings);
	tp_nvml_thread_end(watch); /* the call has not returned by then */
	double_reset();
	let_go();
	wait_until_alone(); /* it returns and frees its memory: a sanitizer would report a leak */
}
END_TEST

static const struct {
	const char *call;
	int error;
} failing[] = {
	{"nvmlInit_v2", 3},   {"nvmlInit_v2", 4},
	{"nvmlInit_v2", 9},   {"nvmlInit_v2", 15},
	{"nvmlInit_v2", 999}, {"nvmlDeviceGetCount_v2", 4},
	{"nvmlInit_v2", 18},  {"nvmlDeviceGetCount_v2", 999},
};

START_TEST(a_start_that_fails_says_why)
{
	struct tp_nvml_update news;
	struct tp_availability want;
	char script[100];
	snprintf(script, sizeof(script), "devices 1\nfail_%s %d\n", failing[_i].call,
		 failing[_i].error);
	struct tp_nvml_thread *watch = watch_open(script);
	wait_for(watch, &news, 0, TP_NVML_FAILED);
	tp_nvml_explain(&want, failing[_i].error);
	ck_assert_str_eq(news.why.reason, want.reason);
	ck_assert_int_eq(news.why.presence, want.presence);
	tp_nvml_thread_end(watch);
	double_reset();
}
END_TEST

START_TEST(a_device_that_is_lost_is_counted_and_the_other_goes_on)
{
	struct tp_nvml_update news;
	char script[300];
	snprintf(script, sizeof(script),
		 "devices 2\nprocess %d 1\nawake 5\n"
		 "at 0.5 gpu 0 fail_nvmlDeviceGetUtilizationRates 15\n",
		 (int)getpid());
	struct tp_nvml_thread *watch = watch_open(script);
	pid_t self = getpid();
	tp_nvml_thread_set_pids(watch, &self, 1);
	uint64_t until_ns = tp_clock_now_ns() + PATIENCE_NS;
	bool of_one_only = false;
	do {
		wait_for(watch, &news, 1, TP_NVML_RUNNING);
		of_one_only = news.n_lost_devices == 1;
		for (size_t i = 0; i < news.n_readings; i++)
			of_one_only &= news.readings[i].device == 1;
		free(news.readings);
	} while (!of_one_only && tp_clock_now_ns() < until_ns);
	ck_assert(of_one_only);
	tp_nvml_thread_end(watch);
	double_reset();
}
END_TEST

START_TEST(telling_and_taking_at_full_speed_shares_nothing_by_accident)
{
	char script[200];
	snprintf(script, sizeof(script), "devices 4\nprocess %d 1\nawake 5\ngpm 1\ngpm_2 1\n",
		 (int)getpid());
	struct tp_nvml_thread *watch = watch_open(script);
	uint64_t until_ns = tp_clock_now_ns() + PATIENCE_NS;
	size_t n = 0;
	while (n <= 4 && tp_clock_now_ns() < until_ns) {
		pid_t pids[3] = {getpid(), 1, 2};
		struct tp_nvml_update news;
		tp_nvml_thread_set_pids(watch, pids, 3);
		tp_nvml_thread_receive(watch, &news);
		(void)tp_nvml_thread_device_name(watch, 0);
		n += news.n_readings;
		free(news.readings);
	}
	ck_assert_uint_gt(n, 4);
	tp_nvml_thread_end(watch);
	double_reset();
}
END_TEST

Suite *suite_collect_nvml_thread(void);
Suite *suite_collect_nvml_thread(void)
{
	Suite *suite = suite_create("collect/nvml_watch");
	TCase *tc = tcase_create("watch");
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, readings_are_of_the_devices_that_list_the_target);
	tcase_add_test(tc, a_slow_start_is_waited_for_by_nobody);
	tcase_add_test(tc, a_call_that_hangs_is_left_behind);
	tcase_add_loop_test(tc, a_start_that_fails_says_why, 0,
			    sizeof(failing) / sizeof(failing[0]));
	tcase_add_test(tc, a_device_that_is_lost_is_counted_and_the_other_goes_on);
	tcase_add_test(tc, telling_and_taking_at_full_speed_shares_nothing_by_accident);
	suite_add_tcase(suite, tc);
	TCase *proofs = proof_case(suite, "time");
	tcase_set_timeout(proofs, 60);
	tcase_add_test(proofs, who_uses_no_gpu_gets_no_readings);
	return suite;
}
