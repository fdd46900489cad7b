/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the library in a program: how programs run and end with it. */
#include "agent/cupti/cupti_library.h"
#include "cudadouble.h"
#include "ringreading.h"

#include "proof.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { OF_64_KERNELS = 59, OF_64_CALLS = 63 };

static int wait_ms = 60000; /* longest time that a program waits for the agent */
static char *directory;
static char output[CUDA_DOUBLE_PATH];

static void begin(const char *script)
{
	directory = ring_directory();
	cupti_script(directory, script);
	snprintf(output, sizeof(output), "%s/output", directory);
}

static void set_environment(const char *age)
{
	char path[CUDA_DOUBLE_PATH];
	char paths[2 * CUDA_DOUBLE_PATH];
	char folder[64];
	snprintf(folder, sizeof(folder), "doubles/%s", age);
	snprintf(paths, sizeof(paths), "%s:", beside(path, "doubles"));
	strcat(paths, beside(path, folder));
	setenv("LD_LIBRARY_PATH", paths, 1);
	setenv("CUDA_INJECTION64_PATH", beside(path, "libtrainprof-agent.so"), 1);
	setenv("TRAINPROF_GPU_RINGS", directory, 1);
}

/* Starts the launcher; its output, and any output of the agent, goes to a file. */
static pid_t start(const char *age, const char *end, const char *threads, const char *units,
		   const char *rate)
{
	char program[CUDA_DOUBLE_PATH];
	char wait[16];
	snprintf(wait, sizeof(wait), "%d", wait_ms);
	beside(program, "programs/gpu_launcher");
	pid_t pid = fork();
	if (pid == 0) {
		int fd = open(output, O_WRONLY | O_CREAT | O_APPEND, 0600);
		dup2(fd, 1);
		dup2(fd, 2);
		set_environment(age);
		execl(program, "gpu_launcher", end, threads, units, rate, wait, (char *)NULL);
		_exit(127);
	}
	return pid;
}

static int wait_for(pid_t pid)
{
	int status = -1;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

/* Expects only the launcher's own line: the agent prints nothing. */
static void check_output(int n_lines)
{
	char text[4096] = "";
	FILE *file = fopen(output, "r");
	ck_assert_ptr_nonnull(file);
	size_t got = fread(text, 1, sizeof(text) - 1, file);
	text[got] = '\0';
	fclose(file);
	const char *at = text;
	for (int i = 0; i < n_lines; i++) {
		double init_s;
		double work_s;
		ck_assert_msg(sscanf(at, "init %lf work %lf\n", &init_s, &work_s) == 2, "%s", text);
		at = strchr(at, '\n') + 1;
	}
	ck_assert_str_eq(at, "");
}

static void load(struct ring_reading *reading, size_t nth)
{
	char path[600];
	ck_assert_uint_gt(ring_find(directory, nth, path, sizeof(path)), nth);
	ring_load(reading, path);
}

static void finish(struct ring_reading *reading)
{
	ring_free(reading);
	ring_remove_directory(directory);
}

static const char *const orderly[] = {"return", "exit", "fork"};

START_TEST(a_program_that_ends_in_order_leaves_all_it_did)
{
	struct ring_reading reading;
	begin("flushes_at_exit 1");
	ck_assert_int_eq(wait_for(start("whole", orderly[_i], "3", "6400", "0")), 0);
	check_output(1);
	load(&reading, 0);
	ck_assert_uint_eq(reading.header->state, TP_GPU_STATE_FINISHED);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_KERNEL], 300 * OF_64_KERNELS);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_CALL], 300 * OF_64_CALLS);
	ck_assert_uint_eq(ring_dropped(&reading), 0);
	ck_assert_uint_eq(ring_find(directory, 0, output, sizeof(output)), 1);
	finish(&reading);
}
END_TEST

/* In the middle of their work each of 32 threads forks a child that exits. */
START_TEST(forks_of_32_launching_threads_end_well_and_cost_no_event)
{
	struct ring_reading reading;
	begin("");
	ck_assert_int_eq(wait_for(start("whole", "forks", "32", "640", "0")), 0);
	check_output(1);
	load(&reading, 0);
	ck_assert_uint_eq(reading.header->state, TP_GPU_STATE_FINISHED);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_KERNEL], 32 * 10 * OF_64_KERNELS);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_CALL], 32 * 10 * OF_64_CALLS);
	ck_assert_uint_eq(ring_dropped(&reading), 0);
	ck_assert_uint_eq(ring_find(directory, 0, output, sizeof(output)), 1);
	finish(&reading);
}
END_TEST

/* One second without a reader: the ring holds 2.6 times as many launches. */
START_TEST(nothing_is_lost_at_200000_launches_a_second)
{
	struct ring_reading reading;
	begin("");
	ck_assert_int_eq(wait_for(start("whole", "return", "4", "51200", "200000")), 0);
	load(&reading, 0);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_KERNEL], 4 * 800 * OF_64_KERNELS);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_CALL], 4 * 800 * OF_64_CALLS);
	ck_assert_uint_eq(ring_dropped(&reading) + reading.header->n_lost, 0);
	ck_assert_uint_eq(reading.header->n_scratch, 0);
	finish(&reading);
}
END_TEST

static const struct {
	const char *end;
	int status;
} sudden[] = {{"_exit", 0}, {"kill", SIGKILL}, {"abort", SIGABRT}};

/* Runs `units` of two threads until their sudden end. Returns how many of their kernels the ring
 * has; its last state is at least `reached`. */
static uint64_t end_suddenly(int i, const char *units, const char *rate, enum tp_gpu_state reached)
{
	struct ring_reading reading;
	begin("");
	int status = wait_for(start("whole", sudden[i].end, "2", units, rate));
	ck_assert_int_eq(status & 0x7f, sudden[i].status);
	load(&reading, 0);
	ck_assert_uint_ge(reading.header->state, reached);
	ck_assert_uint_le(reading.header->state, TP_GPU_STATE_OPEN);
	uint64_t n = reading.n_of[TP_GPU_EVENT_KERNEL];
	finish(&reading);
	return n;
}

START_TEST(a_program_that_ends_suddenly_leaves_a_ring_that_is_not_finished)
{
	ck_assert_uint_le(end_suddenly(_i, "640", "0", TP_GPU_STATE_STARTING), 20 * OF_64_KERNELS);
}
END_TEST

/* 20,000 units per second for three seconds: events that were flushed (every 0.1 s) are there. */
START_TEST(a_program_that_ends_suddenly_leaves_all_but_the_last)
{
	uint64_t n = end_suddenly(_i, "30720", "20000", TP_GPU_STATE_OPEN);
	ck_assert_uint_le(n, 960 * OF_64_KERNELS);
	ck_assert_uint_ge(n, 480 * OF_64_KERNELS); /* half of them: this machine may be busy */
}
END_TEST

START_TEST(exec_begins_another_ring)
{
	struct ring_reading first;
	struct ring_reading second;
	begin("");
	ck_assert_int_eq(wait_for(start("whole", "exec", "1", "640", "0")), 0);
	check_output(2);
	load(&first, 0);
	load(&second, 1);
	ck_assert_uint_eq(first.header->pid, second.header->pid);
	ck_assert_uint_eq(first.header->start_ticks, second.header->start_ticks);
	ck_assert_uint_le(first.header->state, TP_GPU_STATE_OPEN); /* no later report */
	ck_assert_uint_eq(second.header->state, TP_GPU_STATE_FINISHED);
	ck_assert_uint_eq(second.n_of[TP_GPU_EVENT_KERNEL], 10 * OF_64_KERNELS);
	ring_free(&first);
	finish(&second);
}
END_TEST

START_TEST(switched_off_or_without_a_directory_it_does_nothing)
{
	char path[600];
	begin("");
	if (_i == 0)
		setenv("TRAINPROF_GPU", "0", 1);
	pid_t pid = fork();
	if (pid == 0) {
		char program[CUDA_DOUBLE_PATH];
		set_environment("whole");
		if (_i == 1)
			unsetenv("TRAINPROF_GPU_RINGS");
		if (_i == 2)
			setenv("TRAINPROF_GPU_RINGS", "/nonexistent", 1);
		ck_assert_ptr_nonnull(freopen(output, "w", stdout));
		execl(beside(program, "programs/gpu_launcher"), "gpu_launcher", "return", "1", "64",
		      "0", "10", (char *)NULL);
		_exit(127);
	}
	ck_assert_int_eq(wait_for(pid), 0);
	check_output(1);
	ck_assert_uint_eq(ring_find(directory, 0, path, sizeof(path)), 0);
	ring_remove_directory(directory);
}
END_TEST

/* Reasons in the state for not collecting; the program runs as if the agent were not there. */
static const struct {
	const char *age;
	const char *script;
	enum tp_gpu_state state;
} refusals[] = {
	{"broken", "", TP_GPU_STATE_NO_CUPTI},
	{"whole", "fail_cuptiSubscribe_v2 999", TP_GPU_STATE_FAILED},
	{"whole", "version 17", TP_GPU_STATE_UNSUPPORTED},
	{"whole", "version 140000", TP_GPU_STATE_UNSUPPORTED},
	{"whole", "version 130000", TP_GPU_STATE_UNSUPPORTED}, /* can hang at the end of a window */
	{"whole", "fail_cuptiGetVersion 999", TP_GPU_STATE_FAILED},
};

/* A ring that is being created has no header yet. */
static bool is_begun(const char *path)
{
	uint64_t magic = 0;
	FILE *file = fopen(path, "rb");
	bool is_read = file && fread(&magic, sizeof(magic), 1, file) == 1;
	if (file)
		fclose(file);
	return is_read && magic;
}

static void wait_until_ended(pid_t pid, struct ring_reading *reading)
{
	for (int i = 0; i < 1200; i++) {
		usleep(50000);
		char path[600];
		if (!ring_find(directory, 0, path, sizeof(path)) || !is_begun(path))
			continue;
		load(reading, 0);
		if (reading->header->state >= TP_GPU_STATE_NO_CUPTI)
			break;
		ring_free(reading);
	}
	kill(pid, SIGKILL);
	wait_for(pid);
	ck_assert_ptr_nonnull(reading->header);
}

START_TEST(the_ring_says_why_nothing_can_be_collected)
{
	struct ring_reading reading = {0};
	begin(refusals[_i].script);
	pid_t pid = start(refusals[_i].age, "hang", "1", "64", "0");
	wait_until_ended(pid, &reading);
	ck_assert_int_eq((int)reading.header->state, (int)refusals[_i].state);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_KERNEL], 0);
	finish(&reading);
}
END_TEST

static const char *const every_call[] = {
#define X(member, symbol, is_needed, arguments) #symbol,
	TP_CUPTI_CALL_MAP(X)
#undef X
};
static const int errors[] = {999, 15, 35, 39};
enum {
	N_CALLS = sizeof(every_call) / sizeof(every_call[0]),
	N_ERRORS = sizeof(errors) / sizeof(errors[0]),
	SOON_MS = 300,
};

/* All four errors run at once: the programs mostly wait for an agent that never comes. */
START_TEST(whichever_call_fails_the_program_does_not_notice)
{
	char *directories[N_ERRORS];
	pid_t pids[N_ERRORS];
	wait_ms = SOON_MS;
	for (int i = 0; i < N_ERRORS; i++) {
		char script[128];
		snprintf(script, sizeof(script), "fail_%s %d", every_call[_i], errors[i]);
		begin(script);
		directories[i] = directory;
		pids[i] = start(strcmp(every_call[_i], "cuptiSubscribe") ? "whole" : "old",
				"return", "2", "640", "0");
	}
	for (int i = 0; i < N_ERRORS; i++) {
		ck_assert_int_eq(wait_for(pids[i]), 0);
		snprintf(output, sizeof(output), "%s/output", directories[i]);
		check_output(1);
		ring_remove_directory(directories[i]);
	}
}
END_TEST

static double seconds_since(const struct timespec *begun)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - begun->tv_sec) + (double)(now.tv_nsec - begun->tv_nsec) * 1e-9;
}

/* Neither at its start nor if it ends before CUPTI is ready, with or without exit handlers. */
START_TEST(a_slow_subscription_does_not_hold_the_program_up)
{
	struct timespec begun;
	double init_s = 99;
	begin("sleep_cuptiSubscribe_v2 60");
	wait_ms = SOON_MS;
	clock_gettime(CLOCK_MONOTONIC, &begun);
	pid_t pid = start("whole", _i ? "return" : "_exit", "1", "64", "0");
	ck_assert_int_eq(wait_for(pid), 0);
	ck_assert_double_lt(seconds_since(&begun), 50); /* on a busy machine too */
	FILE *file = fopen(output, "r");
	ck_assert_int_eq(fscanf(file, "init %lf", &init_s), 1);
	fclose(file);
	ck_assert_double_lt(init_s, 30); /* the same: it takes microseconds, or 60 s */
	ring_remove_directory(directory);
}
END_TEST

/* Ten seconds have been observed; here it is one. Events after the subscription are collected. */
START_TEST(after_a_slow_subscription_all_is_collected)
{
	struct ring_reading reading;
	begin("sleep_cuptiSubscribe_v2 1");
	ck_assert_int_eq(wait_for(start("whole", "return", "1", "640", "0")), 0);
	load(&reading, 0);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_KERNEL], 10 * OF_64_KERNELS);
	finish(&reading);
}
END_TEST

START_TEST(a_cupti_that_hangs_at_the_end_holds_it_up_for_two_seconds_at_most)
{
	struct timespec begun;
	begin("sleep_cuptiActivityDisable 60");
	clock_gettime(CLOCK_MONOTONIC, &begun);
	ck_assert_int_eq(wait_for(start("whole", "return", "1", "64", "0")), 0);
	ck_assert_double_lt(seconds_since(&begun), 50); /* not 60, on a busy machine too */
	ring_remove_directory(directory);
}
END_TEST

START_TEST(stolen_callbacks_are_noticed_and_left_to_the_thief)
{
	struct ring_reading reading = {0};
	begin("steal_after 2000");
	pid_t pid = start("whole", "hang", "1", "256000", "4000");
	wait_until_ended(pid, &reading);
	ck_assert_int_eq((int)reading.header->state, TP_GPU_STATE_TAKEOVER);
	finish(&reading);
}
END_TEST

/* ---- requests of the reader ------------------------------------------------------------------ */

/* A ring that is being created is still empty: nothing of it can be read. */
static struct tp_gpu_ring_header *map_header(void)
{
	char path[600];
	struct stat status;
	struct tp_gpu_ring_header *header = MAP_FAILED;
	for (int i = 0; i < 5000; i++, usleep(10000)) {
		if (!ring_find(directory, 0, path, sizeof(path)) || stat(path, &status) != 0 ||
		    status.st_size < 4096)
			continue;
		int fd = open(path, O_RDWR);
		void *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		close(fd);
		ck_assert(map != MAP_FAILED);
		header = map;
		break;
	}
	ck_assert(header != MAP_FAILED);
	return header;
}

static bool comes_to(const struct tp_gpu_ring_header *header, enum tp_gpu_state state)
{
	for (int i = 0; i < 5000; i++, usleep(10000))
		if (__atomic_load_n(&header->state, __ATOMIC_ACQUIRE) == state)
			return true;
	return false;
}

START_TEST(it_opens_and_closes_as_the_reader_wants)
{
	begin("");
	setenv("TRAINPROF_GPU", "idle", 1);
	pid_t pid = start("whole", "hang", "1", "64", "0");
	struct tp_gpu_ring_header *header = map_header();
	ck_assert(comes_to(header, TP_GPU_STATE_IDLE));
	ck_assert_uint_eq(header->n_windows, 0);
	for (uint32_t window = 1; window <= 3; window++) {
		__atomic_store_n(&header->wanted, TP_GPU_REQUEST_EVENTS, __ATOMIC_RELEASE);
		ck_assert(comes_to(header, TP_GPU_STATE_OPEN));
		ck_assert_uint_eq(header->n_windows, window);
		__atomic_store_n(&header->wanted, TP_GPU_REQUEST_IDLE, __ATOMIC_RELEASE);
		ck_assert(comes_to(header, TP_GPU_STATE_IDLE));
	}
	uint64_t heartbeat_ns = __atomic_load_n(&header->heartbeat_ns, __ATOMIC_RELAXED);
	for (int i = 0;
	     i < 5000 && __atomic_load_n(&header->heartbeat_ns, __ATOMIC_RELAXED) == heartbeat_ns;
	     i++)
		usleep(10000);
	ck_assert_uint_gt(__atomic_load_n(&header->heartbeat_ns, __ATOMIC_RELAXED), heartbeat_ns);
	kill(pid, SIGKILL);
	wait_for(pid);
	ring_remove_directory(directory);
}
END_TEST

/* The agent records the other tool's name, and stays alive. */
START_TEST(another_tool_is_stood_aside_for)
{
	begin("owner Kineto");
	pid_t pid = start("whole", "hang", "1", "64", "0");
	struct tp_gpu_ring_header *header = map_header();
	ck_assert(comes_to(header, TP_GPU_STATE_BACKOFF));
	ck_assert_str_eq(header->owner, "CUPTI for Kineto");
	kill(pid, SIGKILL);
	wait_for(pid);
	ring_remove_directory(directory);
}
END_TEST

/* When the other tool is gone, the agent collects again. */
START_TEST(another_tool_is_stood_aside_for_until_it_is_gone)
{
	begin("owner Kineto owner_stays 5");
	pid_t pid = start("whole", "hang", "1", "64", "0");
	struct tp_gpu_ring_header *header = map_header();
	ck_assert(comes_to(header, TP_GPU_STATE_BACKOFF));
	ck_assert_str_eq(header->owner, "CUPTI for Kineto");
	__atomic_store_n(&header->wanted, TP_GPU_REQUEST_IDLE, __ATOMIC_RELEASE);
	usleep(500000);
	ck_assert_uint_eq(header->state, TP_GPU_STATE_BACKOFF); /* the reason is kept */
	__atomic_store_n(&header->wanted, TP_GPU_REQUEST_EVENTS, __ATOMIC_RELEASE);
	usleep(1000000);
	ck_assert_uint_eq(header->state, TP_GPU_STATE_BACKOFF); /* half a minute has not passed */
	ck_assert(comes_to(header, TP_GPU_STATE_OPEN));
	kill(pid, SIGKILL);
	wait_for(pid);
	ring_remove_directory(directory);
}
END_TEST

/* The daemon would take the callbacks without any notice. */
START_TEST(a_program_that_is_promised_to_kinetos_daemon_is_left_alone)
{
	begin("");
	setenv("KINETO_USE_DAEMON", "1", 1);
	pid_t pid = start("whole", "hang", "1", "64", "0");
	struct tp_gpu_ring_header *header = map_header();
	ck_assert(comes_to(header, TP_GPU_STATE_IN_USE));
	ck_assert_str_eq(header->owner, "KINETO_USE_DAEMON");
	ck_assert_uint_eq(header->n_windows, 0);
	kill(pid, SIGKILL);
	wait_for(pid);
	ring_remove_directory(directory);
}
END_TEST

/* The program makes twice as many events as the ring holds, with no reader for ten seconds; then a
 * reader comes. */
START_TEST(an_unread_ring_is_usable_when_a_reader_comes)
{
	begin("");
	pid_t pid = start("whole", "hang", "4", "262144", "0");
	struct tp_gpu_ring_header *header = map_header();
	ck_assert(comes_to(header, TP_GPU_STATE_OPEN));
	ck_assert(comes_to(header, TP_GPU_STATE_UNREAD));
	ck_assert_uint_eq(header->head, header->n_events);
	ck_assert_uint_gt(header->n_dropped[TP_GPU_EVENT_KERNEL], 0);
	__atomic_store_n(&header->tail, header->head, __ATOMIC_RELEASE);
	ck_assert(comes_to(header, TP_GPU_STATE_OPEN));
	ck_assert_uint_eq(header->n_windows, 2);
	kill(pid, SIGKILL);
	wait_for(pid);
	ring_remove_directory(directory);
}
END_TEST

static uint64_t clock_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The reader disappears in the middle of a window, as if killed; then it returns: it had only been
 * stopped. */
START_TEST(nothing_is_collected_for_a_reader_that_is_gone)
{
	begin("");
	pid_t pid = start("whole", "hang", "1", "64", "0");
	struct tp_gpu_ring_header *header = map_header();
	__atomic_store_n(&header->wanted, TP_GPU_REQUEST_EVENTS, __ATOMIC_RELEASE);
	__atomic_store_n(&header->reader_ns, clock_ns(), __ATOMIC_RELAXED);
	ck_assert(comes_to(header, TP_GPU_STATE_OPEN));
	for (int i = 0; i < 6 && !comes_to(header, TP_GPU_STATE_IDLE); i++)
		;
	ck_assert_uint_eq(header->state, TP_GPU_STATE_IDLE);
	ck_assert_uint_gt(clock_ns() - header->reader_ns, UINT64_C(10000000000));
	__atomic_store_n(&header->reader_ns, clock_ns(), __ATOMIC_RELAXED);
	ck_assert(comes_to(header, TP_GPU_STATE_OPEN));
	ck_assert_uint_eq(header->n_windows, 2);
	kill(pid, SIGKILL);
	wait_for(pid);
	ring_remove_directory(directory);
}
END_TEST

Suite *suite_agent_agent(void);
Suite *suite_agent_agent(void)
{
	Suite *suite = suite_create("agent_agent");
	TCase *tests = tcase_create("agent");
	tcase_set_timeout(tests, 90);
	tcase_add_loop_test(tests, a_program_that_ends_in_order_leaves_all_it_did, 0, 3);
	tcase_add_test(tests, forks_of_32_launching_threads_end_well_and_cost_no_event);
	tcase_add_loop_test(tests, a_program_that_ends_suddenly_leaves_a_ring_that_is_not_finished,
			    0, 3);
	tcase_add_test(tests, exec_begins_another_ring);
	tcase_add_loop_test(tests, switched_off_or_without_a_directory_it_does_nothing, 0, 3);
	tcase_add_loop_test(tests, the_ring_says_why_nothing_can_be_collected, 0,
			    sizeof(refusals) / sizeof(refusals[0]));
	tcase_add_loop_test(tests, whichever_call_fails_the_program_does_not_notice, 0, N_CALLS);
	tcase_add_loop_test(tests, a_slow_subscription_does_not_hold_the_program_up, 0, 2);
	tcase_add_test(tests, after_a_slow_subscription_all_is_collected);
	tcase_add_test(tests, a_cupti_that_hangs_at_the_end_holds_it_up_for_two_seconds_at_most);
	tcase_add_test(tests, it_opens_and_closes_as_the_reader_wants);
	tcase_add_test(tests, another_tool_is_stood_aside_for);
	tcase_add_test(tests, a_program_that_is_promised_to_kinetos_daemon_is_left_alone);
	suite_add_tcase(suite, tests);
	TCase *proofs = proof_case(suite, "time and rates");
	tcase_set_timeout(proofs, 90);
	tcase_add_test(proofs, nothing_is_lost_at_200000_launches_a_second);
	tcase_add_loop_test(proofs, a_program_that_ends_suddenly_leaves_all_but_the_last, 0, 3);
	tcase_add_test(proofs, stolen_callbacks_are_noticed_and_left_to_the_thief);
	tcase_add_test(proofs, another_tool_is_stood_aside_for_until_it_is_gone);
	tcase_add_test(proofs, an_unread_ring_is_usable_when_a_reader_comes);
	tcase_add_test(proofs, nothing_is_collected_for_a_reader_that_is_gone);
	return suite;
}
