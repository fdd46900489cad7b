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

/* Shared with the processes that Check forks for tests. */
static int *n_skipped;

void test_skip(const char *reason)
{
	__atomic_fetch_add(n_skipped, 1, __ATOMIC_RELAXED);
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

int main(int argc, char **argv)
{
	/* Check's own 4 s of wall time are few for a sanitizer on a CPU that others want too. */
	setenv("CK_DEFAULT_TIMEOUT", "60", 0);
	/* A shell ignores these for what it runs in the background, and nohup; programs inherit it.
	 */
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	n_skipped = mmap(NULL, sizeof(*n_skipped), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (n_skipped == MAP_FAILED)
		return 2;
	SRunner *runner = srunner_create(NULL);
	int chosen = 0;
	for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++) {
		if (!is_chosen(suites[i].name, argc, argv))
			continue;
		srunner_add_suite(runner, suites[i].make());
		chosen++;
	}
	if (!chosen) {
		fprintf(stderr, "no suite '%s'\n", argc > 1 ? argv[1] : "");
		return 2;
	}
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	int run = srunner_ntests_run(runner);
	srunner_free(runner);
	printf("unit: %d passed, %d failed, %d skipped\n", run - failed - *n_skipped, failed,
	       *n_skipped);
	return failed ? 1 : 0;
}
