/* SPDX-License-Identifier: Apache-2.0 */
/* The pages that explain trainprof itself. */
#include "topics.h"

#include "trainprof/base/text.h"
#include "trainprof/model/fact_id.h"
#include "trainprof/model/metric.h"
#include "trainprof/report/report.h"

#include <string.h>

static const char exit_status[] =
	"EXIT STATUS OF RUN\n"
	"  0-255        the program's own status\n"
	"  by a signal  trainprof ends by the same signal (a shell shows 128+n), after\n"
	"               the report is written; the program's core file is kept\n"
	"  127, 126     the program was not found; was found but cannot be executed\n"
	"  125          trainprof could not start measuring and did not start the\n"
	"               program (output not writable, --require unmet); or --strict, and\n"
	"               the measurement was incomplete although the program returned 0\n"
	"  2            usage error; nothing was started\n"
	"\n"
	"A program may itself return 2 or 125 to 127: a recording exists exactly when the program "
	"was started; its manifest.json says in run.end how it ended. Whatever fails in trainprof "
	"once the program runs, its status is not changed.\n"
	"\n"
	"EXIT STATUS OF ALL OTHER COMMANDS\n"
	"  0    done; where a question was asked, the answer is good\n"
	"  1    done, and the answer is bad (a FAIL in doctor, an invalid rule)\n"
	"  2    usage error: an option, command, rule or name that does not exist\n"
	"  3    cannot tell\n"
	"  4    cannot read or write: missing file, malformed file, full disk\n"
	"  5    not permitted, or not available on this machine\n"
	"  70   internal error\n"
	"  130  interrupted    141  the reader of the output went away\n";

static const char environment[] =
	"TRAINPROF_OUTPUT   recording directory of run and import, as -o\n"
	"TRAINPROF_RULES    folder of additional rules, as --rules\n"
	"TRAINPROF_BASELINES  where baselines are kept, instead of .trainprof/baselines\n"
	"TRAINPROF_CONFIG   configuration file, as --config\n"
	"TRAINPROF_COLOR    auto, always or never, as --color\n"
	"TRAINPROF_PAGER    for help and guide; else PAGER, else less\n"
	"TRAINPROF_GPU      0: do not use the NVIDIA driver\n"
	"TRAINPROF_CUPTI    path of the libcupti to use where the program has none\n"
	"TRAINPROF_AGENT    libtrainprof-agent.so where it is not beside trainprof\n"
	"TRAINPROF_LOADER   settings of every DataLoader of PyTorch that the program makes:\n"
	"                   num_workers=2,prefetch_factor=4,pin_memory=1,persistent_workers=1\n"
	"TRAINPROF_LOG      for developers: collect:debug,store:info\n"
	"NO_COLOR, CLICOLOR_FORCE, FORCE_COLOR, TERM, COLUMNS   usual meaning\n"
	"\n"
	"The measured program finds TRAINPROF_MARKS in its environment: the file into which "
	"<trainprof/mark.h> and the Python module trainprof write step marks; and at the end of "
	"PYTHONPATH the directory of that module. Under TRAINPROF_LOADER, which `try` sets, "
	"a folder comes before all others in PYTHONPATH: its sitecustomize.py replaces these "
	"arguments "
	"where a DataLoader is constructed, and runs the one that it hides; TRAINPROF_LOADER_LOG "
	"names a file for what was changed. With --gpu-trace it finds TRAINPROF_GPU_RINGS, "
	"TRAINPROF_GPU, CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH as well, by which CUDA and "
	"NVTX load trainprof's agent. If NVTX_INJECTION64_PATH is already set, it is left "
	"unchanged, and NVTX ranges go to that tool. Nothing else is added. Of the environment "
	"only a short list of variables that "
	"steer threads, memory and training is recorded; run --env adds names to it.\n"
	"\n"
	"CONFIGURATION FILES, later ones win over earlier ones, the environment over all of them, "
	"options over that:\n"
	"  /etc/trainprof/config.json\n"
	"  $XDG_CONFIG_HOME/trainprof/config.json  (~/.config/trainprof/config.json)\n"
	"  trainprof.json in the current directory or above it\n"
	"\n"
	"They hold option names without dashes; options of one command stand in an object with "
	"its name. // starts a comment that ends with its line:\n"
	"  {\n"
	"    \"color\": \"never\",\n"
	"    \"run\": { \"max-overhead\": \"2%\", \"collect\": \"-pmu\" }\n"
	"  }\n";

static const char formats[] =
	"A recording is a directory: manifest.json (the run), records.tpr (what was recorded), "
	"report.json (the report). docs/format.md describes the format.\n"
	"\n"
	"report.json is trainprof-report/1.0; `trainprof report --schema` prints its JSON Schema "
	"and `trainprof report --validate` checks a file, its sums included. Names end in their "
	"unit: _ns, _bytes, _ratio (0 to 1), _hz, _per_s. Null always comes with a reason. Fields "
	"may be added within version 1; none changes its meaning.\n"
	"\n"
	"Text on screens and Markdown are for people and may change. JSON, exit statuses, names "
	"of options, facts and rules are stable.\n"
	"\n"
	"import reads traces of torch.profiler and exports of nsys (import --list); export writes "
	"what other programs open (export --list).\n"
	"\n"
	"report writes:\n";

static const char parts[] =
	"Each nanosecond of a step belongs to exactly one of six parts. What happens at the same "
	"time behind another part is counted as hidden and costs nothing.\n"
	"\n"
	"  compute        computation of the model; waiting for its own threads\n"
	"  communication  exchange with other ranks, and waiting for them\n"
	"  memory         page faults, swapping, allocating, copying\n"
	"  dataloader     the trainer waits for its batch, or prepares it itself\n"
	"  host           all other work of the program: Python interpreter, logging,\n"
	"                 checkpoints, system calls\n"
	"  idle           sleeping, blocked, or waiting for a free CPU\n"
	"\n"
	"While the training thread waits for its own threads or processes, the time is charged to "
	"what these do: waiting for a loader that decodes is dataloader.prep. The complete order, "
	"with reasons, is in docs/design/waits.md.\n";

static const char steps[] =
	"A step is one iteration of the training loop. trainprof finds steps by step marks that "
	"your program sets, or by the period with which its stacks repeat. Marks are exact and "
	"cost nothing when the program is not measured:\n"
	"\n"
	"  #include <trainprof/mark.h>\n"
	"  for (...) { trainprof_step(); ... }\n"
	"\n"
	"In Python, without installing anything (callbacks of Lightning, Transformers and Keras "
	"are "
	"there, too):\n"
	"\n"
	"  import trainprof\n"
	"  for x, y in loader: trainprof.step(); ...\n"
	"\n"
	"The first steps are excluded until the step time is steady (--skip excludes more). "
	"Checkpoint, evaluation and unusually slow steps are shown apart. Without steps the parts "
	"speak about the whole window, and the report says so.\n";

static const char overhead[] =
	"Sampling, context switches and reading /proc cost something. run measures its own cost, "
	"prints it, and lowers detail to stay below --max-overhead. trainprof never stops the "
	"program, uses no ptrace, and loads nothing into it unless --gpu-trace asks for that.\n"
	"\n"
	"What can be measured depends on permissions; `trainprof doctor` tries everything and "
	"shows what is missing, what it would add and which command enables it.\n";

static void print_facts(struct tp_page *page)
{
	for (tp_fact_id f = 0; f < tp_n_facts; f++) {
		const struct tp_fact_desc *fact = tp_fact_desc(f);
		tp_page_addf(page, TP_PAINT_NONE, "  %s ", fact->name);
		tp_page_column(page, 36);
		tp_page_addf(page, TP_PAINT_DIM, "%s ", fact->unit);
		tp_page_column(page, 43);
		tp_page_wrap(page, 43, TP_PAINT_NONE, fact->text, 0);
	}
}

static void print_metrics(struct tp_page *page)
{
	static const char *const kinds[] = {"counter", "gauge"};
	static const char *const subjects[] = {
		[TP_METRIC_OF_TASK] = "thread",
		[TP_METRIC_OF_PROCESS] = "process",
		[TP_METRIC_OF_HOST] = "machine",
		[TP_METRIC_OF_DEVICE] = "device",
	};
	for (int m = 0; m < TP_N_METRICS; m++) {
		const struct tp_metric_desc *metric = tp_metric_desc((enum tp_metric)m);
		tp_page_addf(page, TP_PAINT_NONE, "  %s ", metric->name);
		tp_page_column(page, 36);
		tp_page_addf(page, TP_PAINT_NONE, "%-6s %-8s %s", metric->unit, kinds[metric->kind],
			     subjects[metric->subject]);
		tp_page_end(page);
	}
}

static void print_formats(struct tp_page *page)
{
	for (const struct tp_exporter *const *e = tp_exporter_list(); *e; e++) {
		tp_page_addf(page, TP_PAINT_NONE, "  --format=%s ", (*e)->name);
		tp_page_column(page, 22);
		tp_page_wrap(page, 22, TP_PAINT_NONE, (*e)->summary, 0);
	}
}

static const struct tp_topic topics[] = {
	{"parts", "the six parts of a step", parts, NULL},
	{"steps", "how steps are found", steps, NULL},
	{"overhead", "what measuring costs and needs", overhead, NULL},
	{"facts", "names that rules and reports use, with units",
	 "What analysis can know about a run. A fact that was not measured is unknown, never "
	 "zero. `trainprof explain FACT` shows one for the last run.\n\n",
	 print_facts},
	{"metrics", "what is recorded over time",
	 "Series in a recording. A counter only grows, a gauge is a level.\n\n", print_metrics},
	{"exit-status", "what the exit statuses mean", exit_status, NULL},
	{"environment", "environment variables and configuration files", environment, NULL},
	{"formats", "files that are written and how stable they are", formats, print_formats},
	{0},
};

const struct tp_topic *tp_topic_list(void)
{
	return topics;
}

void tp_topic_text(struct tp_page *page, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		struct tp_buf line = {0};
		tp_buf_add(&line, text, len);
		size_t indent = strspn(tp_buf_text(&line), " ");
		tp_page_column(page, indent);
		tp_page_wrap(page, indent, TP_PAINT_NONE, tp_buf_text(&line) + indent, 0);
		tp_buf_release(&line);
		text += len + (text[len] == '\n');
	}
}

void tp_topic_prose(struct tp_page *page, const char *text)
{
	struct tp_buf joined = {0};
	for (const char *at = text; *at; at++) {
		bool ends_paragraph = at[1] == '\n' || at[1] == ' ' || at[1] == '\0';
		bool is_in_prose = at != text && at[-1] != '\n';
		bool is_wrapped = *at == '\n' && is_in_prose && !ends_paragraph;
		tp_buf_putc(&joined, (char)(is_wrapped ? ' ' : *at));
	}
	tp_topic_text(page, tp_buf_text(&joined));
	tp_buf_release(&joined);
}

bool tp_topic_print(struct tp_page *page, const char *name)
{
	for (const struct tp_topic *topic = topics; topic->name; topic++) {
		if (strcmp(topic->name, name) != 0)
			continue;
		tp_topic_text(page, topic->text);
		if (topic->print)
			topic->print(page);
		return true;
	}
	return false;
}
