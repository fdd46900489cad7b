/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that read recordings: a table, run one after the other in one child. */
#include "readers.h"

#include "readers_cache.h"

#include "trainprof/base/memory.h"
#include "trainprof/cli/cli.h"

#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS_MAX = 10, KIB_MAX = 1 << 20, STATUS_MAX = 5, WORDS_MAX = 6, WRONG_STATUS = 90 };

/* Words that are replaced by paths of the input. */
#define RUN  "{run}"
#define RANK "{rank}"

static const char *const always[][WORDS_MAX] = {
	{"report", "--json", RUN}, {"report", "--full", RUN}, {"report", "--markdown", RUN},
	{"report", "--html", RUN}, {"explain", "--all", RUN}, {"guide", "--plan", RUN},
	{"view", "--plain", RUN},
};

/* Two of these run for each input, chosen by its number. */
static const char *const in_turn[][WORDS_MAX] = {
	{"export", "--to=collapsed", RUN},
	{"export", "--to=speedscope", RUN},
	{"export", "--to=pprof", RUN},
	{"export", "--to=chrome", RUN},
	{"export", "--to=perfetto", RUN},
	{"export", "--to=csv", RUN},
	{"export", "--to=csv-steps", RUN},
	{"export", "--to=csv-stacks", RUN},
	{"export", "--to=csv-facts", RUN},
	{"export", "--to=openmetrics", RUN},
	{"export", "--to=otlp", RUN},
	{"export", "--to=tensorboard", RUN},
	{"export", "--to=mlflow", RUN},
	{"export", "--to=wandb", RUN},
	{"view", "--print=text", "--keys=<Enter><Enter>", RUN},
	{"view", "--print=text", "--keys=2<Enter><Down><Enter>", RUN},
	{"view", "--print=markdown", "--keys=3<Enter>", RUN},
	{"view", "--print=svg", "--keys=4<Enter><Right><Enter>", RUN},
	{"view", "--print=text", "--keys=5<End><Enter>", RUN},
	{"view", "--print=text", "--keys=6<Enter>", RUN},
	{"view", "--print=text", "--keys=7<Enter>", RUN},
	{"view", "--print=text", "--width=20", "--lines=3", RUN},
	{"report", "--full", "--steps=none", "--redact=all", RUN},
	{"report", "--json", "--skip=3", RUN},
};

/* With another rank or run. */
static const char *const pairs[][WORDS_MAX] = {
	{"report", "--full", RUN, RANK},     {"report", "--json", RUN, RANK},
	{"report", "--html", RUN, RANK},     {"report", "--markdown", RANK, RUN},
	{"diff", "--json", RUN, RANK},       {"diff", RANK, RUN},
	{"view", "--print=text", RUN, RANK},
};

/* With changed rules; each command loads all rules again. */
static const char *const with_rules[][WORDS_MAX] = {
	{"rules", "check"},
	{"report", "--json", RUN},
	{"report", "--full", "--lenient", RUN},
	{"explain", "--all", "--lenient", RUN},
	{"guide", "--plan", "--lenient", RUN},
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* ---- the commands --------------------------------------------------------------------------- */

/* Written by a child, for its parent to read when it has ended. */
static struct {
	char running[200]; /* the last command */
	double most_s;     /* CPU time of an input */
} * told;

static bool is_child;

static void call(const struct readers_input *input, const char *const *words)
{
	char rules[300];
	char *argv[WORDS_MAX + 3] = {tp_strdup("trainprof")};
	int argc = 1;
	for (int i = 0; i < WORDS_MAX && words[i]; i++) {
		const char *word = strcmp(words[i], RUN) == 0    ? input->recording
				   : strcmp(words[i], RANK) == 0 ? input->rank
								 : words[i];
		argv[argc++] = tp_strdup(word);
	}
	snprintf(rules, sizeof(rules), "--rules=%s", input->rules ? input->rules : "");
	if (input->rules)
		argv[argc++] = tp_strdup(rules);
	size_t len = 0;
	for (int i = 1; i < argc && len < sizeof(told->running); i++)
		len += (size_t)snprintf(told->running + len, sizeof(told->running) - len, " %s",
					argv[i]);
	/* Limits CPU time, so that a busy machine causes no finds; alarm() finds a hang. */
	setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = SECONDS_MAX}, NULL);
	alarm(30 * SECONDS_MAX);
	int status = tp_cli_main(argc, argv);
	if (status < 0 || status > STATUS_MAX)
		_exit(WRONG_STATUS + (status > 70 ? 9 : 0));
	for (int i = 0; i < argc; i++)
		free(argv[i]);
}

static void call_with_rules(const struct readers_input *input)
{
	for (size_t i = 0; i < LENGTH(with_rules); i++)
		call(input, with_rules[i]);
}

static void call_all(const struct readers_input *input)
{
	const char *const import[WORDS_MAX] = {"import", "--output", RUN, input->trace};
	if (input->trace) {
		call(input, import);
		if (access(input->recording, F_OK) != 0)
			return; /* the import refused the trace */
	}
	if (input->rules) {
		call_with_rules(input);
		return;
	}
	for (size_t i = 0; i < LENGTH(always); i++)
		call(input, always[i]);
	for (uint64_t k = 0; k < 2; k++)
		call(input, in_turn[(input->choice + k) % LENGTH(in_turn)]);
	if (input->rank)
		call(input, pairs[input->choice / LENGTH(in_turn) % LENGTH(pairs)]);
}

static double cpu_s(void)
{
	struct rusage usage = {0};
	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void run_here(const struct readers_input *input)
{
	double began_s = cpu_s();
	readers_cache_forget(input->recording);
	call_all(input);
	told->most_s = fmax(told->most_s, cpu_s() - began_s);
}

static pid_t start_child(void)
{
	if (!told)
		told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			    -1, 0);
	if (told == MAP_FAILED)
		exit(2);
	readers_cache_load_rules();
	told->most_s = 0;
	fflush(NULL);
	pid_t child = fork();
	if (child < 0)
		exit(2);
	is_child = child == 0;
	int null = is_child ? open("/dev/null", O_RDWR) : -1;
	for (int fd = STDIN_FILENO; is_child && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	return child;
}

static const char *wait_for(pid_t child, struct readers_cost *most)
{
	static char what[300];
	struct rusage usage = {0};
	int status = 0;
	if (wait4(child, &status, 0, &usage) != child)
		exit(2);
	most->seconds = fmax(most->seconds, told->most_s);
	most->kib = usage.ru_maxrss > most->kib ? usage.ru_maxrss : most->kib;
	if (WIFSIGNALED(status))
		snprintf(what, sizeof(what), "signal %d in%s", WTERMSIG(status), told->running);
	else if (WEXITSTATUS(status))
		snprintf(what, sizeof(what), "status %d in%s", WEXITSTATUS(status), told->running);
	else if (usage.ru_maxrss > KIB_MAX)
		snprintf(what, sizeof(what), "%ld KiB", usage.ru_maxrss);
	else
		return NULL;
	return what;
}

const char *readers_run(const struct readers_input *input, struct readers_cost *most)
{
	if (is_child) {
		run_here(input);
		return NULL;
	}
	pid_t child = start_child();
	if (child)
		return wait_for(child, most);
	run_here(input);
	_exit(0);
}

const char *readers_run_together(void (*run)(void), struct readers_cost *most)
{
	pid_t child = start_child();
	if (child)
		return wait_for(child, most);
	run();
	_exit(0);
}
