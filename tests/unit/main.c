/* Runs all unit suites, those named, or behind -x all but those named; ends with
 * "unit: N passed, N failed, N skipped". */
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

static const struct {
	const char *name;
	Suite *(*make)(void);
} suites[] = {
#define SUITE(name) {#name, suite_##name},
#include "suites.h"
#undef SUITE
};

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
	int n_chosen = 0;
	size_t last = 0;
	for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++) {
		if (!is_chosen(suites[i].name, argc, argv))
			continue;
		if (n_chosen++)
			run_suite_apart(last);
		last = i;
	}
	if (!n_chosen) {
		fprintf(stderr, "no suite '%s'\n", argc > 1 ? argv[1] : "");
		return 2;
	}
	/* The last one, or the only one, here, so that a debugger sees it (CK_FORK=no). */
	run_suite(last);
	printf("unit: %d passed, %d failed, %d skipped\n",
	       shared->n_run - shared->n_failed - shared->n_skipped, shared->n_failed,
	       shared->n_skipped);
	return shared->n_failed ? 1 : 0;
}
