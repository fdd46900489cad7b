/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof stacks: prints one snapshot of all threads of a running program. */
#include "cli/options/command.h"

#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

#include "trainprof/base/json.h"
#include "trainprof/base/text.h"
#include "trainprof/collect/thread_stacks.h"
#include "trainprof/report/stacks_page.h"

#include <unistd.h>

struct stacks_options {
	bool is_json;
	bool is_job;
};

static const struct tp_option options[] = {{.name = "json",
					    .type = TP_OPTION_FLAG,
					    .text = "print one JSON document",
					    .offset = offsetof(struct stacks_options, is_json)},
					   {.name = "job",
					    .type = TP_OPTION_FLAG,
					    .text = "for a launcher: where each rank is",
					    .offset = offsetof(struct stacks_options, is_job)},
					   TP_OPTION_END};

static int print_json(const struct tp_thread_stacks *stacks)
{
	struct tp_json_writer w = {0};
	struct tp_buf text = {0};
	tp_report_stacks_json(&w, stacks);
	tp_buf_puts(&text, tp_buf_text(&w.out));
	tp_json_writer_release(&w);
	return tp_output_buf(&text);
}

static int print_text(const struct tp_cli *cli, const struct tp_thread_stacks *stacks, bool is_job)
{
	const struct tp_report_style style = tp_terminal_style(cli, STDOUT_FILENO);
	struct tp_page page;
	tp_page_init(&page, &style);
	bool has_ranks = is_job && tp_report_stacks_job_page(&page, stacks);
	if (!has_ranks)
		tp_report_stacks_page(&page, stacks);
	int status = tp_output_paged(&page);
	if (is_job && !has_ranks)
		tp_message_print("trainprof stacks --job PID   (of mpirun, torchrun, srun)",
				 "no rank of a job is among the processes of %d",
				 (int)stacks->trace.run.pid);
	tp_page_release(&page);
	return status;
}

static int stacks_exec(const struct tp_cli *cli, const void *opts, int argc, char **argv)
{
	const struct stacks_options *o = opts;
	struct tp_host host;
	struct tp_thread_stacks stacks;
	struct tp_availability access;
	struct tp_error err = {0};
	pid_t pid;
	if (!argc) {
		tp_message_print("pgrep -af train", "stacks needs the pid of a program");
		return TP_EXIT_USAGE;
	}
	if (!tp_text_parse_pid(argv[0], &pid)) {
		tp_message_print("pgrep -af train", "stacks: '%s' is not a process id", argv[0]);
		return TP_EXIT_USAGE;
	}
	tp_host_open(&host, "");
	enum tp_status failure = tp_thread_stacks_read(&stacks, &host, pid, &access, &err);
	tp_host_close(&host);
	if (failure) {
		int refused = tp_message_error_status("stacks", &err);
		return failure == TP_TARGET ? TP_EXIT_USAGE : refused;
	}
	if (access.presence != TP_PRESENCE_PRESENT)
		tp_message_print(access.remedy, "stacks cannot be read: %s", access.reason);
	int status = o->is_json ? print_json(&stacks) : print_text(cli, &stacks, o->is_job);
	tp_thread_stacks_release(&stacks);
	return status;
}

const struct tp_command tp_cmd_stacks = {
	.name = "stacks",
	.group = "Measure",
	.synopsis = "[--json] [--job] PID",
	.summary = "print what each thread of a running program does now",
	.intro = "Look once at all threads of a process and of all that it has started: the stack "
		 "in\n"
		 "Python and in native code, the state, what it waits for and since when. Threads "
		 "at\n"
		 "the same place are printed once. Nothing is stopped and nothing is put into the\n"
		 "program: for a running thread, only Python frames can be read.",
	.examples = "  trainprof stacks 4242\n"
		    "  trainprof stacks --job $(pgrep -o mpirun)\n"
		    "  trainprof stacks --json $(pgrep -of train.py)",
	.ending = "Exit status: 0 printed; 2: no such process; 5: not permitted.",
	.options = options,
	.storage_size = sizeof(struct stacks_options),
	.max_words = 1,
	.exec = stacks_exec,
};
