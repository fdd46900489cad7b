/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of other tools that start to use CUPTI while the library is in a program. */
#include "agent/cupti/cupti_handoff.h"

#include "agent/cupti/cupti_library.h"
#include "agent/ring/ring_writer.h"

#include "agent/cudadouble.h"
#include "agent/ringreading.h"

#include "proof.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { UNITS = 6400, THREADS = 2, KERNELS = THREADS * UNITS / 64 * 59 };

static char *directory;
static char output[CUDA_DOUBLE_PATH];

/* The result of the tool, as the program prints it. */
struct said {
	int result;
	double took_s;
	unsigned long long n_kernels;
};

static void begin(const char *script, const char *tool)
{
	char path[CUDA_DOUBLE_PATH];
	char paths[2 * CUDA_DOUBLE_PATH];
	directory = ring_directory();
	cupti_script(directory, script);
	snprintf(output, sizeof(output), "%s/output", directory);
	snprintf(paths, sizeof(paths), "%s:", beside(path, "doubles"));
	strcat(paths, beside(path, "doubles/whole"));
	setenv("LD_LIBRARY_PATH", paths, 1);
	setenv("CUDA_INJECTION64_PATH", beside(path, "libtrainprof-agent.so"), 1);
	setenv("TRAINPROF_GPU_RINGS", directory, 1);
	setenv("OTHER_TOOL", beside(path, tool), 1);
}

static pid_t start(const char *end, const char *wait_ms)
{
	char program[CUDA_DOUBLE_PATH];
	char units[16];
	snprintf(units, sizeof(units), "%d", UNITS);
	beside(program, "programs/gpu_launcher");
	pid_t pid = fork();
	if (pid == 0) {
		int fd = open(output, O_WRONLY | O_CREAT | O_APPEND, 0600);
		dup2(fd, 1);
		dup2(fd, 2);
		execl(program, "gpu_launcher", end, "2", units, "0", wait_ms, (char *)NULL);
		_exit(127);
	}
	return pid;
}

/* Returns false if the program has not printed it yet. */
static bool read_said(struct said *out)
{
	char text[512] = "";
	FILE *file = fopen(output, "r");
	size_t got = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	if (file)
		fclose(file);
	text[got] = '\0';
	const char *at = strstr(text, "tool ");
	return at && sscanf(at, "tool %d after %lf saw %llu", &out->result, &out->took_s,
			    &out->n_kernels) == 3;
}

static void run(struct said *said)
{
	int status = -1;
	ck_assert_int_eq(waitpid(start("return", "10000"), &status, 0) > 0, 1);
	ck_assert_int_eq(status, 0);
	ck_assert(read_said(said));
}

static void load(struct ring_reading *reading)
{
	char path[600];
	ck_assert_uint_eq(ring_find(directory, 0, path, sizeof(path)), 1);
	ring_load(reading, path);
}

static const char *const tools[] = {"doubles/lazy/libothertool.so",
				    "doubles/bound/libothertool.so"};

/* Independent of whether the tool's calls are bound lazily or all at its start. */
START_TEST(a_tool_that_comes_while_we_collect_is_served)
{
	struct said said;
	struct ring_reading reading;
	begin("", tools[_i]);
	run(&said);
	ck_assert_int_eq(said.result, 0);
	ck_assert_uint_eq(said.n_kernels, KERNELS);
	load(&reading);
	ck_assert_str_eq(reading.header->owner, "libothertool.so");
	/* Everything recorded before the tool came, and nothing after. */
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_KERNEL], KERNELS);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_CLOSE], 1);
	ck_assert_uint_eq(ring_dropped(&reading), 0);
	ck_assert_uint_eq(reading.header->n_lost, 0);
	ring_free(&reading);
	ring_remove_directory(directory);
}
END_TEST

static const char *const late_tools[] = {"doubles/lazy/libothertool.so",
					 "doubles/bound/libothertool.so",
					 "doubles/named/libothertool.so"};

/* The tool is loaded right before its first call, linked or by name. */
START_TEST(a_tool_that_is_loaded_a_moment_before_it_comes_is_served)
{
	struct said said;
	struct ring_reading reading;
	begin("", late_tools[_i]);
	setenv("OTHER_TOOL_LATE", "1", 1);
	run(&said);
	ck_assert_int_eq(said.result, 0);
	ck_assert_uint_eq(said.n_kernels, KERNELS);
	load(&reading);
	ck_assert_str_eq(reading.header->owner, "libothertool.so");
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_KERNEL], KERNELS);
	ring_free(&reading);
	ring_remove_directory(directory);
}
END_TEST

/* Records that CUPTI has not delivered yet come to us, not to the tool. */
START_TEST(a_tool_does_not_get_what_is_ours)
{
	struct said said;
	struct ring_reading reading;
	begin("delay 60", tools[_i]);
	run(&said);
	ck_assert_uint_eq(said.n_kernels, KERNELS);
	load(&reading);
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_KERNEL], KERNELS);
	ring_free(&reading);
	ring_remove_directory(directory);
}
END_TEST

START_TEST(one_that_takes_the_callbacks_without_subscribing_has_them_for_good)
{
	struct said said;
	struct ring_reading reading;
	begin("", tools[_i]);
	setenv("OTHER_TOOL_TAKES", "1", 1);
	run(&said);
	ck_assert_int_eq(said.result, 0);
	ck_assert_uint_eq(said.n_kernels, KERNELS);
	load(&reading);
	ck_assert_int_eq((int)reading.header->state, TP_GPU_STATE_TAKEOVER);
	ck_assert_str_eq(reading.header->owner, "libothertool.so");
	ck_assert_uint_eq(reading.n_of[TP_GPU_EVENT_KERNEL], KERNELS);
	ring_free(&reading);
	ring_remove_directory(directory);
}
END_TEST

/* A CUPTI call takes a minute: the tool waits for two seconds, is refused, and continues. */
START_TEST(a_tool_does_not_wait_for_an_agent_that_hangs)
{
	struct said said;
	begin("sleep_cuptiActivityDisable 60", tools[0]);
	run(&said);
	ck_assert_int_eq(said.result, 39);
	ck_assert_double_ge(said.took_s, 1.9);
	ck_assert_double_lt(said.took_s, 20); /* on a busy machine too */
	ring_remove_directory(directory);
}
END_TEST

/* ---- between windows ------------------------------------------------------------------------- */

static struct tp_gpu_ring_header *map_header(void)
{
	char path[600];
	ck_assert_uint_eq(ring_find(directory, 0, path, sizeof(path)), 1);
	int fd = open(path, O_RDWR);
	void *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	ck_assert(map != MAP_FAILED);
	return map;
}

static bool comes_to(const struct tp_gpu_ring_header *header, enum tp_gpu_state state)
{
	for (int i = 0; i < 1000; i++, usleep(10000))
		if (__atomic_load_n(&header->state, __ATOMIC_ACQUIRE) == state)
			return true;
	return false;
}

/* Starts a tool that comes before the first window and stays. */
static pid_t start_idle(struct said *said)
{
	setenv("TRAINPROF_GPU", "idle", 1);
	setenv("OTHER_TOOL_STAYS", "1", 1);
	pid_t pid = start("hang", "1500");
	for (int i = 0; i < 3000 && !read_said(said); i++)
		usleep(10000);
	ck_assert_int_eq(said->result, 0);
	return pid;
}

static void end(pid_t pid)
{
	int status;
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ring_remove_directory(directory);
}

START_TEST(one_that_comes_between_windows_does_not_wait_and_is_stood_aside_for)
{
	struct said said = {.result = -1};
	begin("sleep_cuptiActivityDisable 60", tools[0]);
	pid_t pid = start_idle(&said);
	ck_assert_double_lt(said.took_s, 1.9);
	struct tp_gpu_ring_header *header = map_header();
	ck_assert(comes_to(header, TP_GPU_STATE_IDLE));
	__atomic_store_n(&header->wanted, TP_GPU_REQUEST_EVENTS, __ATOMIC_RELEASE);
	ck_assert(comes_to(header, TP_GPU_STATE_BACKOFF));
	ck_assert_str_eq(header->owner, "CUPTI for itself");
	ck_assert_uint_eq(header->n_windows, 0);
	end(pid);
}
END_TEST

/* Registering our callbacks would take away the tool's records. */
START_TEST(nothing_is_taken_from_one_that_did_not_subscribe)
{
	struct said said = {.result = -1};
	setenv("OTHER_TOOL_TAKES", "1", 1);
	begin("", tools[_i]);
	pid_t pid = start_idle(&said);
	struct tp_gpu_ring_header *header = map_header();
	__atomic_store_n(&header->wanted, TP_GPU_REQUEST_EVENTS, __ATOMIC_RELEASE);
	ck_assert(comes_to(header, TP_GPU_STATE_TAKEOVER));
	ck_assert_str_eq(header->owner, "libothertool.so");
	ck_assert_uint_eq(header->n_windows, 0);
	end(pid);
}
END_TEST

/* Tests the double itself: a tool alone gets all records. */
START_TEST(without_an_agent_calls_just_go_through)
{
	struct said said;
	begin("", tools[_i]);
	setenv("TRAINPROF_GPU", "0", 1);
	int status = -1;
	ck_assert_int_eq(waitpid(start("return", "10"), &status, 0) > 0, 1);
	ck_assert_int_eq(status, 0);
	ck_assert(read_said(&said));
	ck_assert_int_eq(said.result, 0);
	ck_assert_uint_eq(said.n_kernels, KERNELS);
	ring_remove_directory(directory);
}
END_TEST

static int is_over;

static void *poll_handoff(void *unused)
{
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
		tp_cupti_handoff_watch();
	return unused;
}

static int stop_at_once(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)info;
	(void)size;
	(void)unused;
	return 1;
}

/* A forked child never releases locks of the loader that a thread of the parent holds. */
START_TEST(children_that_are_forked_while_we_look_can_use_the_loader)
{
	enum { N_FORKS = 300, GUARD_S = 20 };
	static const struct tp_cupti_library lib;
	static const struct tp_ring_writer ring;
	pthread_t thread;
	tp_cupti_handoff_begin(&lib, &ring);
	ck_assert_int_eq(pthread_create(&thread, NULL, poll_handoff, NULL), 0);
	for (int i = 0; i < N_FORKS; i++) {
		int status = -1;
		pid_t pid = fork();
		if (pid == 0) {
			alarm(GUARD_S);
			dl_iterate_phdr(stop_at_once, NULL);
			_exit(dlopen(NULL, RTLD_LAZY) ? 0 : 1);
		}
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_msg(status == 0, "child %d ended with status %#x", i, (unsigned)status);
	}
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	tp_cupti_handoff_end();
}
END_TEST

Suite *suite_agent_cupti_handoff(void);
Suite *suite_agent_cupti_handoff(void)
{
	enum { N = sizeof(tools) / sizeof(tools[0]) };
	Suite *suite = suite_create("agent_newcomer");
	TCase *tests = tcase_create("newcomer");
	tcase_set_timeout(tests, 90);
	tcase_add_loop_test(tests, a_tool_that_comes_while_we_collect_is_served, 0, N);
	tcase_add_loop_test(tests, a_tool_that_is_loaded_a_moment_before_it_comes_is_served, 0, 3);
	tcase_add_loop_test(tests, a_tool_does_not_get_what_is_ours, 0, N);
	tcase_add_loop_test(tests,
			    one_that_takes_the_callbacks_without_subscribing_has_them_for_good, 0,
			    N);
	tcase_add_test(tests, one_that_comes_between_windows_does_not_wait_and_is_stood_aside_for);
	tcase_add_loop_test(tests, nothing_is_taken_from_one_that_did_not_subscribe, 0, N);
	tcase_add_loop_test(tests, without_an_agent_calls_just_go_through, 0, N);
	tcase_add_test(tests, children_that_are_forked_while_we_look_can_use_the_loader);
	suite_add_tcase(suite, tests);
	TCase *proofs = proof_case(suite, "time");
	tcase_set_timeout(proofs, 90);
	tcase_add_test(proofs, a_tool_does_not_wait_for_an_agent_that_hangs);
	return suite;
}
