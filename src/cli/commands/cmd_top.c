/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof top: shows what a running program does, with periodic updates. */
#include "cli/options/command.h"

#include "cli/live/live_view.h"
#include "cli/session/analysis_session.h"
#include "cli/session/recordings.h"
#include "cli/session/run_session.h"
#include "cli/terminal/messages.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/text.h"

#include <stdlib.h>
#include <string.h>

#define INTERVAL_MIN_NS (200 * TP_NS_PER_MS)
#define INTERVAL_MAX_NS (600 * TP_NS_PER_S)

static const struct tp_live_view_options defaults = {.interval_ns = 2 * TP_NS_PER_S, .rate_hz = 99};

#define AT(member) .offset = offsetof(struct tp_live_view_options, member)

static const struct tp_option options[] = {{.letter = 'i',
					    .name = "interval",
					    .type = TP_OPTION_DURATION,
					    .value = "TIME",
					    .text = "length of each update",
					    .otherwise = "2s",
					    AT(interval_ns)},
					   {TP_OPTION_DURATION_TIME, .otherwise = "never",
					    AT(duration_ns)},
					   {.letter = 'n',
					    .name = "count",
					    .type = TP_OPTION_COUNT,
					    .value = "N",
					    .text = "stop after N updates",
					    .otherwise = "no limit",
					    AT(count)},
					   {TP_OPTION_COLLECT, AT(collect)},
					   {TP_OPTION_SAMPLE_RATE, AT(rate_hz)},
					   {.name = "json",
					    .type = TP_OPTION_FLAG,
					    .text = "print each update as one line of JSON",
					    AT(is_json)},
					   {TP_OPTION_RULES, .is_rare = true, AT(rules)},
					   TP_OPTION_END};

/* A recording whose name is a number must be written as "./4242". */
static bool is_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

static int watch_recording(const struct tp_cli *cli, const struct tp_live_view_options *o,
			   const char *word)
{
	struct tp_error err = {0};
	char *directory;
	if (tp_recordings_find(&directory, word, &err) != TP_OK) {
		if (!err.next[0])
			tp_error_next(&err, "pgrep -af train");
		return tp_message_error_status(NULL, &err);
	}
	int status = tp_live_view_recording(cli, o, directory);
	free(directory);
	return status;
}

static int top_exec(const struct tp_cli *cli, const void *opts, int argc, char **argv)
{
	const struct tp_live_view_options *o = opts;
	if (o->interval_ns < INTERVAL_MIN_NS || o->interval_ns > INTERVAL_MAX_NS) {
		tp_message_print("trainprof top --interval 2s …",
				 "top: an interval is from 200ms to 600s");
		return TP_EXIT_USAGE;
	}
	if (!argc) {
		tp_message_print(
			"pgrep -af train",
			"top needs the pid of a program, or a recording that is being written");
		return TP_EXIT_USAGE;
	}
	pid_t pid;
	if (tp_text_parse_pid(argv[0], &pid))
		return tp_live_view_process(cli, o, pid);
	if (!is_number(argv[0]))
		return watch_recording(cli, o, argv[0]);
	tp_message_print("pgrep -af train", "top: '%s' is not a process id", argv[0]);
	return TP_EXIT_USAGE;
}

const struct tp_command tp_cmd_top = {
	.name = "top",
	.group = "Measure",
	.synopsis = "[options] PID|RUN",
	.summary = "show what a running program does now",
	.intro =
		"Show the last seconds of a running program and of all that it starts, again and\n"
		"again, until q, until it ends, or for --duration. The program keeps running. For\n"
		"RUN, a recording in progress, it shows what is being recorded and measures\n"
		"nothing itself. On a terminal these are the screens of trainprof view, with step\n"
		"times since the start and an alarm when another part becomes the limit, or steps\n"
		"slow down or stop. An opened row stays until Esc; z holds any screen. Elsewhere\n"
		"it prints one block after another, with --json one object per line.",
	.examples = "  trainprof top $(pgrep -f train.py)\n"
		    "  trainprof top -i 10s -n 6 4242 > top.txt\n"
		    "  trainprof top --json 4242 | jq .parts_ns\n"
		    "  trainprof top prof                    written by trainprof run -o prof",
	.ending =
		"Exit status: 0 shown; 2: no such process; 4: no such recording; 5: not permitted.",
	.options = options,
	.storage_size = sizeof(struct tp_live_view_options),
	.defaults = &defaults,
	.max_words = 1,
	.exec = top_exec,
};
