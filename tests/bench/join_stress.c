/* SPDX-License-Identifier: Apache-2.0 */
/* Injects a library into running programs, again and again: join_stress ROUNDS. Each program has to
 * continue undisturbed. Prints how long a thread was held. */
#define JOINING_LIBRARY "../doubles/libvisitor.so"
#include "inject/joining.h"

#include "inject/machine.h"

#include "trainprof/base/clock.h"

enum { ROUNDS_MOST = 100000, CODE_MOST = 800 };

static const char python[] =
	"import sys, threading, time\n"
	"over = threading.Event()\n"
	"def work(i):\n"
	"    while not over.is_set():\n"
	"        sum(range(1000)); time.sleep(0.001 * (i % 2))\n"
	"threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]\n"
	"[t.start() for t in threads]\n"
	"print('ready', flush=True)\n"
	"sys.stdin.read(); over.set()\n"
	"[t.join() for t in threads]\n"
	"sys.exit(7)\n";

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Returns true if all rounds went well and the program noticed nothing. */
static bool stress(const char *name, char *const *argv, size_t rounds)
{
	static uint64_t stops_ns[ROUNDS_MOST];
	struct joining joining;
	struct tp_injection got;
	struct tp_error err = {0};
	char said[400];
	size_t n = 0;
	unsigned n_tries = 0;
	if (!joining_start(&joining, argv)) {
		printf("%s does not start\n", name);
		return false;
	}
	uint64_t begun_ns = tp_clock_now_ns();
	while (n < rounds && joining_visit(&joining, &got, &err) == n + 1) {
		stops_ns[n++] = got.stopped_ns;
		n_tries += got.n_tries;
	}
	double seconds = (double)(tp_clock_now_ns() - begun_ns) * 1e-9;
	int status = joining_end(&joining, said, sizeof(said));
	qsort(stops_ns, n, sizeof(*stops_ns), by_size);
	printf("%-12s %zu of %zu joined in %.1f s; held for %.3f ms (median), %.3f (99 %%), %.3f "
	       "(most); %.2f threads tried%s%s\n",
	       name, n, rounds, seconds, n ? (double)stops_ns[n / 2] * 1e-6 : 0,
	       n ? (double)stops_ns[n * 99 / 100] * 1e-6 : 0,
	       n ? (double)stops_ns[n - 1] * 1e-6 : 0, n ? (double)n_tries / (double)n : 0,
	       n < rounds ? ": " : "", n < rounds ? err.text : "");
	bool is_well = WIFEXITED(status) && WEXITSTATUS(status) == 7 && !said[0];
	if (!is_well)
		printf("%s: status %#x %s\n", name, (unsigned)status, said);
	return is_well && n == rounds;
}

int main(int argc, char **argv)
{
	size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	char path[JOINING_PATH];
	char program[JOINING_PATH];
	char none[] = "0";
	char few[] = "11";
	char many[] = "200";
	char interpreter[] = "python3";
	char option[] = "-c";
	char code[CODE_MOST];
	if (!rounds || rounds > ROUNDS_MOST)
		return 2;
	if (!tp_machine_is_known() || !joining_is_possible()) {
		printf("skipped: no thread can be held here\n");
		printf("proof-inject: 0 passed, 0 failed, 1 skipped\n");
		return 0;
	}
	joining_path(path, "../programs/steadfast");
	memcpy(program, path, sizeof(path));
	snprintf(code, sizeof(code), "%s", python);
	int n_well = stress("1 thread", (char *[]){program, none, NULL}, rounds) +
		     stress("11 threads", (char *[]){program, few, NULL}, rounds) +
		     stress("200 threads", (char *[]){program, many, NULL}, rounds) +
		     stress("Python", (char *[]){interpreter, option, code, NULL}, rounds);
	printf("proof-inject: %d passed, %d failed, 0 skipped\n", n_well, 4 - n_well);
	return n_well < 4;
}
