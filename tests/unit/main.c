/* unit [--proofs] [--times] [-x] [SUITE...]: run all unit suites, those named, or after -x all but those
 * named; ends with "unit: N passed, N failed, N skipped". Tests that measure running programs are left
 * out; --proofs runs only those. --times prints the seconds that each suite took. */
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

/* What the command line asks for. */
static struct {
	bool proofs;
	bool times;
	bool leave_out; /* the suites that are named */
	char **names;
	int n_names;
} options;

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

static void read_options(int argc, char **argv)
{
	int i = 1;
	for (; i < argc && argv[i][0] == '-'; i++) {
		options.proofs |= strcmp(argv[i], "--proofs") == 0;
		options.times |= strcmp(argv[i], "--times") == 0;
		options.leave_out |= strcmp(argv[i], "-x") == 0;
	}
	options.names = argv + i;
	options.n_names = argc - i;
}

static bool is_chosen(const char *name)
{
	for (int i = 0; i < options.n_names; i++)
		if (strcmp(options.names[i], name) == 0)
			return !options.leave_out;
	return options.leave_out || options.n_names == 0;
}

static void run_suite(size_t i)
{
	SRunner *runner = srunner_create(suites[i].make());
	srunner_run_tagged(runner, NULL, NULL, options.proofs ? PROOF : NULL,
			   options.proofs ? NULL : PROOF, CK_SILENT);
	int n_failed = srunner_ntests_failed(runner);
	shared->n_run += srunner_ntests_run(runner);
	shared->n_failed += n_failed;
	if (n_failed) {
		printf("%s: ", suites[i].name);
		fflush(stdout);
		srunner_print(runner, CK_NORMAL);
	}
	srunner_free(runner);
}

/* In a process of its own: Check keeps what every test said, and the more it keeps the longer each
 * test that is forked from it takes to be looked through for leaks. */
static void run_suite_apart(size_t i)
{
	int status = 0;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		run_suite(i);
		fflush(stdout);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
		printf("%s: the suite itself ended with status %#x\n", suites[i].name,
		       (unsigned)status);
		shared->n_run++;
		shared->n_failed++;
	}
}

static double elapsed_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* CPU time of all children that have ended. */
static double used_s(void)
{
	struct rusage used;
	getrusage(RUSAGE_CHILDREN, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static void run_timed(size_t i)
{
	double began_s = elapsed_s(), used_before_s = used_s();
	run_suite_apart(i);
	if (options.times)
		printf("%8.2f s, CPU %8.2f s  %s\n", elapsed_s() - began_s,
		       used_s() - used_before_s, suites[i].name);
}

int main(int argc, char **argv)
{
	/* Against hanging only. Check's own 4 s of wall time are few for a sanitizer on a CPU that
	 * others want too, and so are those that tests ask for, which tell what they take alone. */
	setenv("CK_DEFAULT_TIMEOUT", "60", 0);
	setenv("CK_TIMEOUT_MULTIPLIER", "5", 0);
	/* A shell ignores these for what it runs in the background, and nohup; programs inherit it.
	 */
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
	/* A single one here, so that a debugger sees it (CK_FORK=no). */
	if (n_wanted == 1)
		run_suite(only);
	for (size_t i = 0; n_wanted > 1 && i < N_SUITES; i++)
		if (is_wanted[i])
			run_timed(i);
	printf("unit: %d passed, %d failed, %d skipped\n",
	       shared->n_run - shared->n_failed - shared->n_skipped, shared->n_failed,
	       shared->n_skipped);
	return shared->n_failed ? 1 : 0;
}
