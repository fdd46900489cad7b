/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof merge: joins the digests of a job's ranks in one file. */
#include "cli/options/command.h"

#include "cli/job/digest_merge.h"
#include "cli/session/job_folder.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/report/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

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

/* Merges all words into one file. No file remains if there was no rank, unless it is a share. */
static int merge_words(struct tp_digest_merge *merge, char **words, int n, bool is_share)
{
	struct tp_error err = {0};
	int result = TP_EXIT_OK;
	/* A folder that does not exist must not prevent merging the others. */
	for (int i = 0; i < n && merge->write_error.status == TP_OK; i++)
		if (tp_digest_merge_add(merge, words[i], &err) != TP_OK)
			result = tp_message_error_status("merge", &err);
	if (!merge->counts.n_ranks && !is_share)
		return result == TP_EXIT_OK ? TP_EXIT_FILE : result;
	if (tp_digest_merge_finish(merge, &err) != TP_OK)
		result = tp_message_error_status("merge", &err);
	return result;
}

/* ---- with the ranks of a launcher ------------------------------------------------------------ */

enum { SHARE_WAIT_S = 600, POLLS_A_SECOND = 10 };

static char *share_name(const struct merge_options *o, int64_t rank)
{
	return tp_asprintf("%s.rank-%" PRId64, o->output, rank);
}

/* Merges the ranks whose number modulo the number of ranks is that of this rank. A share that
 * exists already is complete. */
static int merge_share(const struct merge_options *o, const struct tp_job_place *place, int argc,
		       char **argv)
{
	struct tp_digest_merge merge;
	struct tp_error err = {0};
	char *path = share_name(o, place->rank);
	int result = TP_EXIT_OK;
	if (access(path, F_OK) != 0) {
		if (tp_digest_merge_open(&merge, path, &o->how, &err) != TP_OK) {
			result = tp_message_error_status("merge", &err);
		} else {
			merge.n_divisor = place->n_ranks;
			merge.remainder = (uint64_t)place->rank;
			result = merge_words(&merge, argv, argc, true);
			tp_digest_merge_close(&merge);
		}
	}
	free(path);
	return result;
}

static bool wait_share(const char *path)
{
	const struct timespec pause = {.tv_nsec = 1000000000 / POLLS_A_SECOND};
	for (int i = 0; i < SHARE_WAIT_S * POLLS_A_SECOND; i++) {
		if (access(path, F_OK) == 0)
			return true;
		nanosleep(&pause, NULL);
	}
	tp_message_print(NULL, "merge: another rank has not written '%s'", path);
	return false;
}

/* Rank 0 joins the shares when its own is done. */
static int join_shares(const struct tp_cli *cli, const struct merge_options *o, uint32_t n)
{
	struct tp_digest_merge merge;
	struct tp_error err = {0};
	char **shares = tp_alloc((n + 1) * sizeof(*shares));
	int result = TP_EXIT_OK;
	for (uint32_t i = 0; i < n; i++)
		shares[i] = share_name(o, i);
	for (uint32_t i = 0; i < n && result == TP_EXIT_OK; i++)
		result = wait_share(shares[i]) ? TP_EXIT_OK : TP_EXIT_FILE;
	if (result == TP_EXIT_OK && tp_digest_merge_open(&merge, o->output, &o->how, &err) != TP_OK)
		result = tp_message_error_status("merge", &err);
	else if (result == TP_EXIT_OK) {
		merge.keeps_names = true;
		result = merge_words(&merge, shares, (int)n, false);
		if (result == TP_EXIT_OK && !cli->is_quiet)
			result = print_result(&merge, o->output);
		tp_digest_merge_close(&merge);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (result == TP_EXIT_OK)
			unlink(shares[i]);
		free(shares[i]);
	}
	free((void *)shares);
	return result;
}

static int merge_exec(const struct tp_cli *cli, const void *opts, int argc, char **argv)
{
	const struct merge_options *o = opts;
	struct tp_arena arena = {0};
	struct tp_job_place place;
	struct tp_digest_merge merge;
	struct tp_progress_line progress;
	struct tp_error err = {0};
	int result;
	if (!argc || !o->output) {
		tp_message_print("trainprof merge prof -o job.tpj",
				 "merge needs folders of recordings and -o");
		return TP_EXIT_USAGE;
	}
	bool is_rank = tp_job_folder_place(&place, &arena) && place.n_ranks > 1;
	tp_arena_release(&arena);
	if (is_rank) {
		result = merge_share(o, &place, argc, argv);
		if (place.rank == 0 && result == TP_EXIT_OK)
			result = join_shares(cli, o, place.n_ranks);
		return result;
	}
	if (tp_digest_merge_open(&merge, o->output, &o->how, &err) != TP_OK)
		return tp_message_error_status("merge", &err);
	tp_progress_start(&progress, cli, "merging", (const char *const *)argv, (size_t)argc);
	result = merge_words(&merge, argv, argc, false);
	tp_progress_stop(&progress);
	if (merge.counts.n_ranks && merge.write_error.status == TP_OK && !cli->is_quiet &&
	    print_result(&merge, o->output) != TP_EXIT_OK)
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
		 "where it was when it is started again. Started by mpirun or srun, each rank "
		 "merges\n"
		 "the recordings whose number fits its own, and rank 0 joins these shares.",
	.examples = "  trainprof merge prof -o job.tpj && trainprof report job.tpj\n"
		    "  trainprof merge host*/prof -o job.tpj\n"
		    "  srun trainprof merge prof -o job.tpj",
	.ending = "Exit status: 0 merged; 4: a DIR, or the job file, cannot be read or written.",
	.options = options,
	.storage_size = sizeof(struct merge_options),
	.max_words = SIZE_MAX,
	.exec = merge_exec,
};
