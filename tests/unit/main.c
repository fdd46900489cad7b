/* Runs all unit suites, those named, or behind -x all but those named; ends with
 * "unit: N passed, N failed, N skipped". A suite of several that fails is repeated when all others
 * are done: what failed once and holds REPEATS times in a row was disturbed, and is told and
 * counted as skipped. */
#include "skip.h"

#include <check.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SUITE(name) Suite *suite_##name(void);
#include "suites.h"
#undef SUITE

enum {
	/* A test that others disturb one time in a hundred fails the run one time in three thousand
	 * then; of one that fails every other time seven failures of eight are still told. */
	REPEATS = 3,
};

static const struct {
	const char *name;
	Suite *(*make)(void);
} suites[] = {
#define SUITE(name) {#name, suite_##name},
#include "suites.h"
#undef SUITE
};

#define N_SUITES (sizeof(suites) / sizeof(suites[0]))

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

static bool is_chosen(const char *name, int argc, char **argv)
{
	bool leaves_out = argc > 1 && strcmp(argv[1], "-x") == 0;
	for (int i = leaves_out ? 2 : 1; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return !leaves_out;
	return leaves_out || argc == 1;
}

static void run_suite(size_t i)
{
	SRunner *runner = srunner_create(suites[i].make());
	srunner_run_all(runner, CK_SILENT);
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

/* Whether a suite that failed holds each time it is repeated; these runs are not counted. */
static bool holds_again(size_t i)
{
	int n_run = shared->n_run, n_failed = shared->n_failed, n_skipped = shared->n_skipped;
	for (int k = 0; k < REPEATS && shared->n_failed == n_failed; k++)
		run_suite_apart(i);
	bool holds = shared->n_failed == n_failed;
	shared->n_run = n_run;
	shared->n_failed = n_failed;
	shared->n_skipped = n_skipped;
	return holds;
}

static void run_chosen(const bool *is_wanted)
{
	int n_failed_of[N_SUITES] = {0};
	for (size_t i = 0; i < N_SUITES; i++) {
		int before = shared->n_failed;
		if (is_wanted[i])
			run_suite_apart(i);
		n_failed_of[i] = shared->n_failed - before;
	}
	for (size_t i = 0; i < N_SUITES; i++) {
		if (!n_failed_of[i] || !holds_again(i))
			continue;
		shared->n_failed -= n_failed_of[i];
		shared->n_skipped += n_failed_of[i];
		printf("skipped: %s: %d failed once and held %d times when repeated\n",
		       suites[i].name, n_failed_of[i], REPEATS);
	}
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
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return 2;
	bool is_wanted[N_SUITES];
	size_t n_wanted = 0, only = 0;
	for (size_t i = 0; i < N_SUITES; i++) {
		is_wanted[i] = is_chosen(suites[i].name, argc, argv);
		if (is_wanted[i]) {
			n_wanted++;
			only = i;
		}
	}
	if (!n_wanted) {
		fprintf(stderr, "no suite '%s'\n", argc > 1 ? argv[1] : "");
		return 2;
	}
	/* A single one here, so that a debugger sees it (CK_FORK=no). */
	if (n_wanted == 1)
		run_suite(only);
	else
		run_chosen(is_wanted);
	printf("unit: %d passed, %d failed, %d skipped\n",
	       shared->n_run - shared->n_failed - shared->n_skipped, shared->n_failed,
	       shared->n_skipped);
	return shared->n_failed ? 1 : 0;
}
