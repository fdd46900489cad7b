/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof merge: the digests of a job's ranks, in one file. */
#include "cli/options/command.h"

#include "cli/job/digest_merge.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"

#include "trainprof/base/text.h"
#include "trainprof/report/units.h"

struct merge_options {
	const char *output;
	struct tp_analysis_session_options how;
};

#define AT(member) .offset = offsetof(struct merge_options, member)

static const struct tp_option options[] = {{.letter = 'o',
					    .name = "output",
					    .type = TP_OPTION_TEXT,
					    .value = "JOB",
					    .text = "the job file; never overwritten",
					    .is_own = true,
					    AT(output)},
					   TP_OPTION_END};

static int print_result(const struct tp_digest_merge *merge, const char *path)
{
	const struct tp_digest_counts *counts = &merge->counts;
	struct tp_buf out = {0};
	tp_buf_puts(&out, tp_unit_counted(counts->n_ranks - counts->n_unreadable, "rank").text);
	tp_buf_printf(&out, " of %s", tp_unit_counted(counts->n_sources, "recording").text);
	if (counts->n_unreadable)
		tp_buf_printf(&out, ", %zu not readable", (size_t)counts->n_unreadable);
	if (merge->n_before)
		tp_buf_printf(&out, ", %zu of them merged before", (size_t)merge->n_before);
	tp_buf_puts(&out, "\nNext: trainprof report ");
	tp_text_add_word(&out, path);
	tp_buf_putc(&out, '\n');
	return tp_output_buf(&out);
}

static int merge_exec(const struct tp_cli *cli, const void *opts, int argc, char **argv)
{
	const struct merge_options *o = opts;
	struct tp_digest_merge merge;
	struct tp_error err = {0};
	int result = TP_EXIT_OK;
	if (!argc || !o->output) {
		tp_message_print("trainprof merge prof -o job.tpj",
				 "merge needs folders of recordings and -o");
		return TP_EXIT_USAGE;
	}
	if (tp_digest_merge_open(&merge, o->output, &o->how, &err) != TP_OK)
		return tp_message_error_status("merge", &err);
	/* A folder that is not there is no reason to lose the others. */
	for (int i = 0; i < argc && merge.write_error.status == TP_OK; i++)
		if (tp_digest_merge_add(&merge, argv[i], &err) != TP_OK)
			result = tp_message_error_status("merge", &err);
	if (!merge.counts.n_ranks && result == TP_EXIT_OK)
		result = TP_EXIT_FILE;
	if (!merge.counts.n_ranks)
		;
	else if (tp_digest_merge_finish(&merge, &err) != TP_OK)
		result = tp_message_error_status("merge", &err);
	else if (!cli->is_quiet && print_result(&merge, o->output) != TP_EXIT_OK)
		result = TP_EXIT_FILE;
	tp_digest_merge_close(&merge);
	return result;
}

const struct tp_command tp_cmd_merge = {
	.name = "merge",
	.group = "Exchange",
	.synopsis = "-o JOB DIR...",
	.summary = "put the digests of a job's ranks into one file",
	.intro = "Collect the digests of recordings into one job file, which report reads. A DIR "
		 "is a\n"
		 "recording, a folder of them, or another job file. A recording without a digest "
		 "is\n"
		 "analysed. What cannot be read is named and counted. A merge that was ended goes "
		 "on\n"
		 "where it was when it is started again.",
	.examples = "  trainprof merge prof -o job.tpj && trainprof report job.tpj\n"
		    "  trainprof merge host*/prof -o job.tpj",
	.ending = "Exit status: 0 merged; 4: a DIR, or the job file, cannot be read or written.",
	.options = options,
	.storage_size = sizeof(struct merge_options),
	.max_words = SIZE_MAX,
	.exec = merge_exec,
};
