/* SPDX-License-Identifier: Apache-2.0 */
/* unit [--proofs] [--times] [--jobs=N] [SUITE...]: run all unit suites, or those named; ends with
 * "unit: N passed, N failed, N skipped". Tests that measure running programs are left out; --proofs
 * runs only those. --times prints the seconds that each suite took. --jobs runs N suites at once
 * (1): many wait for a process or a driver's double and hardly compute. */
#include "proof.h"
#include "skip.h"

#include <check.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SUITE(name) Suite *suite_##name(void);
#include "suites.h"
#undef SUITE

static const struct {
	const char *name;
	Suite *(*make)(void);
} suites[] = {
#define SUITE(name) {#name, suite_##name},
#include "suites.h"
#undef SUITE
};

#define N_SUITES (sizeof(suites) / sizeof(suites[0]))

enum { JOBS_MAX = 64 };

/* Options of the command line. */
static struct {
	bool proofs;
	bool times;
	int jobs;
	char **names;
	int n_names;
} options = {.jobs = 1};

/* Shared with the processes of suites, and with those that Check forks for tests. */
static struct {
	int n_run;
	int n_failed;
	int n_skipped;
} * shared;

void test_skip(const char *reason)
{
	__atomic_fetch_add(&shared->n_skipped, 1, __ATOMIC_RELAXED);
	printf("skipped: %s\n", reason);
	fflush(stdout);
}

void __real__mark_point(const char *file, int line);
void __wrap__mark_point(const char *file, int line);

/* Check records each assertion that holds in a file, so that it can report after which one a test
 * crashed; in a test that asserts in a loop this takes most of the time. Records only some of
 * many. */
void __wrap__mark_point(const char *file, int line)
{
	enum { ALL_UNTIL = 1000, THEN_EACH = 256 };
	static unsigned n;
	unsigned nth = __atomic_fetch_add(&n, 1, __ATOMIC_RELAXED);
	if (nth < ALL_UNTIL || nth % THEN_EACH == 0)
		__real__mark_point(file, line);
}

static void read_options(int argc, char **argv)
{
	int i = 1;
	for (; i < argc && argv[i][0] == '-'; i++) {
		options.proofs |= strcmp(argv[i], "--proofs") == 0;
		options.times |= strcmp(argv[i], "--times") == 0;
		if (strncmp(argv[i], "--jobs=", 7) == 0)
			options.jobs = atoi(argv[i] + 7);
	}
	options.jobs = options.jobs < 1 ? 1 : options.jobs > JOBS_MAX ? JOBS_MAX : options.jobs;
	options.names = argv + i;
	options.n_names = argc - i;
}

static bool is_chosen(const char *name)
{
	for (int i = 0; i < options.n_names; i++)
		if (strcmp(options.names[i], name) == 0)
			return true;
	return options.n_names == 0;
}

static void run_suite(size_t i)
{
	SRunner *runner = srunner_create(suites[i].make());
	srunner_run_tagged(runner, NULL, NULL, options.proofs ? PROOF : NULL,
			   options.proofs ? NULL : PROOF, CK_SILENT);
	int n_failed = srunner_ntests_failed(runner);
	__atomic_fetch_add(&shared->n_run, srunner_ntests_run(runner), __ATOMIC_RELAXED);
	__atomic_fetch_add(&shared->n_failed, n_failed, __ATOMIC_RELAXED);
	if (n_failed) {
		printf("%s: ", suites[i].name);
		fflush(stdout);
		srunner_print(runner, CK_NORMAL);
	}
	srunner_free(runner);
}

/* A suite that runs in its own process. */
struct job {
	pid_t pid; /* 0 = none */
	size_t suite;
	FILE *output;
	double began_s;
};

static struct job jobs[JOBS_MAX];

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void close_outputs(void)
{
	for (int k = 0; k < options.jobs; k++)
		if (jobs[k].output)
			close(fileno(jobs[k].output));
}

/* Runs a suite in its own process: Check stores the result of every test, and the more it stores
 * the longer the leak check takes in each test that is forked from it. */
static void start_job(struct job *job, size_t suite)
{
	fflush(stdout);
	*job = (struct job){.suite = suite, .output = tmpfile(), .began_s = now_s()};
	job->pid = fork();
	if (job->pid == 0) {
		if (job->output)
			dup2(fileno(job->output), STDOUT_FILENO);
		close_outputs(); /* tests count open descriptors */
		run_suite(suite);
		fflush(stdout);
		_exit(0);
	}
}

static void print_output(FILE *output)
{
	char text[4096];
	size_t got;
	rewind(output);
	while ((got = fread(text, 1, sizeof(text), output)) > 0)
		fwrite(text, 1, got, stdout);
	fclose(output);
}

static void end_job(struct job *job, int status, const struct rusage *used)
{
	const char *name = suites[job->suite].name;
	if (job->output)
		print_output(job->output);
	job->output = NULL;
	if (status != 0) {
		printf("%s: the suite itself ended with status %#x\n", name, (unsigned)status);
		__atomic_fetch_add(&shared->n_run, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&shared->n_failed, 1, __ATOMIC_RELAXED);
	}
	if (options.times)
		printf("%8.2f s, CPU %8.2f s  %s\n", now_s() - job->began_s,
		       (double)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) +
			       (double)(used->ru_utime.tv_usec + used->ru_stime.tv_usec) / 1e6,
		       name);
	fflush(stdout);
	job->pid = 0;
}

/* Waits for one of the jobs to end. */
static void reap_job(void)
{
	struct rusage used;
	int status;
	pid_t pid = wait4(-1, &status, 0, &used);
	for (int k = 0; k < options.jobs; k++)
		if (pid > 0 && jobs[k].pid == pid)
			end_job(&jobs[k], status, &used);
}

static int count_jobs(void)
{
	int n = 0;
	for (int k = 0; k < options.jobs; k++)
		n += jobs[k].pid != 0;
	return n;
}

static void run_in_job(size_t suite)
{
	while (count_jobs() == options.jobs)
		reap_job();
	for (int k = 0; k < options.jobs; k++)
		if (!jobs[k].pid) {
			start_job(&jobs[k], suite);
			if (jobs[k].pid < 0)
				end_job(&jobs[k], -1, &(struct rusage){0});
			return;
		}
}

int main(int argc, char **argv)
{
	/* Only against hanging. Check's default of 4 s wall time is too short for a sanitizer on a
	 * busy CPU, and so are the timeouts that tests set, which state how long the test takes
	 * alone. */
	setenv("CK_DEFAULT_TIMEOUT", "60", 0);
	setenv("CK_TIMEOUT_MULTIPLIER", "5", 0);
	/* A shell ignores these signals in background jobs, and so does nohup; programs inherit
	 * that. */
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	read_options(argc, argv);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return 2;
	bool is_wanted[N_SUITES];
	size_t n_wanted = 0, only = 0;
	for (size_t i = 0; i < N_SUITES; i++) {
		is_wanted[i] = is_chosen(suites[i].name);
		if (is_wanted[i]) {
			n_wanted++;
			only = i;
		}
	}
	if (!n_wanted) {
		fprintf(stderr, "no suite '%s'\n", options.n_names ? options.names[0] : "");
		return 2;
	}
	/* A single suite runs in this process, so that a debugger sees it (CK_FORK=no). */
	if (n_wanted == 1)
		run_suite(only);
	for (size_t i = 0; n_wanted > 1 && i < N_SUITES; i++)
		if (is_wanted[i])
			run_in_job(i);
	while (count_jobs())
		reap_job();
	printf("unit: %d passed, %d failed, %d skipped\n",
	       shared->n_run - shared->n_failed - shared->n_skipped, shared->n_failed,
	       shared->n_skipped);
	return shared->n_failed ? 1 : 0;
}
