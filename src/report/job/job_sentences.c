/* SPDX-License-Identifier: Apache-2.0 */
/* Describes a job in sentences. */
#include "job_sentences.h"

#include "report/digest/gain_text.h"
#include "trainprof/base/text.h"
#include "trainprof/report/units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The activity of a thread, worded for a sentence about it. */
static const char *label_text(enum tp_label label)
{
	switch (label) {
	case TP_LABEL_DATALOADER_PREP:
		return "decodes and prepares data";
	case TP_LABEL_DATALOADER_FETCH:
		return "reads data";
	case TP_LABEL_DATALOADER_PAUSE:
		return "sleeps while it loads data";
	case TP_LABEL_DATALOADER_QUEUE:
		return "waits for a CPU while it loads data";
	case TP_LABEL_HOST_INTERPRETER:
		return "runs Python";
	case TP_LABEL_HOST_GC:
		return "collects garbage";
	case TP_LABEL_HOST_CHECKPOINT:
		return "saves checkpoints";
	case TP_LABEL_HOST_LOGGING:
		return "writes logs";
	case TP_LABEL_HOST_GIL:
		return "waits for the interpreter lock";
	case TP_LABEL_IDLE_RUNNABLE:
		return "waits for a free CPU";
	case TP_LABEL_IDLE_SLEEP:
		return "sleeps";
	case TP_LABEL_IDLE_IO:
		return "waits for files or disks";
	case TP_LABEL_IDLE_LOCK:
		return "waits for a lock";
	default:
		break;
	}
	switch (tp_label_part(label)) {
	case TP_PART_COMPUTE:
		return "computes";
	case TP_PART_COMMUNICATION:
		return "exchanges data";
	case TP_PART_MEMORY:
		return "copies or allocates memory";
	case TP_PART_DATALOADER:
		return "loads data";
	case TP_PART_HOST:
		return "works on the CPU";
	default:
		return "waits";
	}
}

void tp_job_add_rank(struct tp_buf *out, const struct tp_job_rank *rank)
{
	if (rank->number >= 0)
		tp_buf_printf(out, "rank %" PRId64, rank->number);
	else if (rank->pid)
		tp_buf_printf(out, "pid %d", (int)rank->pid);
	else
		tp_buf_printf(out, "'%s'", rank->directory);
}

void tp_job_add_code(struct tp_buf *out, const struct tp_job_code *code)
{
	if (code->file && *code->file) {
		tp_buf_puts(out, tp_text_base_name(code->file));
		if (code->line)
			tp_buf_printf(out, ":%u", code->line);
		if (code->function && *code->function)
			tp_buf_puts(out, " in ");
	}
	if (code->function && *code->function)
		tp_buf_printf(out, "%s()", code->function);
}

/* "0, 1 and 5 more" */
static void add_late_numbers(struct tp_buf *out, const struct tp_job *job)
{
	enum { SHOWN = 4 };
	size_t n = 0;
	for (size_t i = 0; i < job->n_ranks; i++) {
		const struct tp_job_rank *rank = &job->ranks[i];
		if (!rank->is_late)
			continue;
		if (n < SHOWN && rank->number >= 0)
			tp_buf_printf(out, "%s%" PRId64, n ? ", " : "", rank->number);
		else if (n < SHOWN)
			tp_buf_printf(out, "%s%d", n ? ", " : "", (int)rank->pid);
		n++;
	}
	if (n > SHOWN)
		tp_buf_printf(out, " and %zu more", n - SHOWN);
}

void tp_job_add_title(struct tp_buf *out, const struct tp_job *job)
{
	static const char *const titles[] = {
		[TP_JOB_IN_TURN] = "RANKS ARE LATE IN TURN",
		[TP_JOB_ALL_WAIT] = "ALL RANKS WAIT",
		[TP_JOB_EVEN] = "RANKS ARE EVEN",
		[TP_JOB_CANNOT_TELL] = "CANNOT TELL",
	};
	if (job->verdict == TP_JOB_SLOW_HOST) {
		tp_buf_puts(out, job->is_sure ? "ONE HOST IS LATE" : "ONE HOST MAY BE LATE");
	} else if (job->verdict == TP_JOB_LATE_RANK) {
		bool is_one = job->n_late == 1;
		tp_buf_puts(out, job->ranks[job->late].number < 0 ? "PID "
				 : is_one                         ? "RANK "
								  : "RANKS ");
		add_late_numbers(out, job);
		tp_buf_puts(out, !job->is_sure ? " MAY BE LATE"
				 : is_one      ? " IS LATE"
					       : " ARE LATE");
	} else {
		tp_buf_puts(out, titles[job->verdict]);
	}
}

static void add_late_sentence(struct tp_buf *out, const struct tp_job *job)
{
	if (job->slow_host) {
		tp_buf_printf(out, "All %zu ranks of %s come last: ", job->n_late, job->slow_host);
	}
	if (job->joined_by == TP_JOB_BY_SHARES) {
		tp_buf_printf(
			out, "it waits %s of its time for others, the next one %s; not sure: %s",
			tp_unit_percent(job->ranks[job->late].wait_ns / 1e9).text,
			tp_unit_percent((job->ranks[job->late].wait_ns + job->late_ns) / 1e9).text,
			job->because);
		return;
	}
	tp_buf_printf(out, "%sin %zu of %zu steps; %s %s longer than %s",
		      job->slow_host ? "" : "last ", job->n_last, job->n_steps,
		      job->n_late > 1 ? "they take" : "it takes", tp_unit_time(job->late_ns).text,
		      job->n_late == 1 ? "the next rank" : "the others");
	if (!job->is_sure && job->because)
		tp_buf_printf(out, "; not sure: %s", job->because);
}

void tp_job_add_sentence(struct tp_buf *out, const struct tp_job *job)
{
	switch (job->verdict) {
	case TP_JOB_LATE_RANK:
	case TP_JOB_SLOW_HOST:
		add_late_sentence(out, job);
		return;
	case TP_JOB_IN_TURN:
		tp_buf_printf(out, "ranks wait %s of each step for the last one, each time another",
			      tp_unit_percent(job->wait_ratio).text);
		return;
	case TP_JOB_ALL_WAIT:
		tp_buf_printf(out, "even the last rank spends %s of each step in exchanges: %s",
			      tp_unit_percent(job->exchange_ratio).text,
			      job->is_sure ? "the network, or the work of exchanging"
					   : "the network, or a rank that was not compared");
		return;
	case TP_JOB_EVEN:
		tp_buf_printf(out, "they wait %s of each step for each other",
			      tp_unit_percent(job->wait_ratio).text);
		return;
	default:
		tp_buf_puts(out, job->because ? job->because : "ranks could not be joined");
	}
}

static void add_compared(struct tp_buf *out, const struct tp_job *job, double late_ns,
			 double others_ns, bool is_bound)
{
	static const char *const reasons[TP_N_JOB_LATE_KINDS] = {
		[TP_JOB_LATE_MORE_WORK] = "It has more of this work, as with larger batches",
		[TP_JOB_LATE_SLOWER_CPU] =
			"All its work takes longer: its CPU is slower or throttled, or "
			"it has more of everything, as with larger batches",
		[TP_JOB_LATE_WITHOUT_CPU] = "It waits for a free CPU: other programs, more threads "
					    "than CPUs, or a limit of its control group",
		[TP_JOB_LATE_OTHER_STAGE] = "It has hardly any work in common with the others: a "
					    "stage of its own, or another role",
	};
	tp_buf_printf(out, "; others %s%s", is_bound ? "at most " : "",
		      tp_unit_time(others_ns).text);
	if (others_ns > 0.2 * late_ns && !is_bound)
		tp_buf_printf(out, ", %.2g times less", late_ns / others_ns);
	if (reasons[job->late_kind])
		tp_buf_printf(out, ". %s", reasons[job->late_kind]);
}

void tp_job_add_cause(struct tp_buf *out, const struct tp_job *job)
{
	if (job->late == TP_JOB_NO_RANK || job->late_label == TP_N_LABELS)
		return;
	const struct tp_job_rank *rank = &job->ranks[job->late];
	const char *unit = job->joined_by == TP_JOB_BY_SHARES ? "per second" : "per step";
	struct tp_buf name = {0};
	tp_job_add_rank(&name, rank);
	tp_buf_printf(out, "Meanwhile %s", tp_buf_text(&name));
	tp_buf_release(&name);
	if (rank->host)
		tp_buf_printf(out, " (host %s)", rank->host);
	tp_buf_printf(out, " %s", label_text(job->late_label));
	if (!job->late_code) {
		tp_buf_printf(out, ", %s %s", tp_unit_time(job->late_label_ns).text, unit);
		add_compared(out, job, job->late_label_ns, job->others_label_ns, false);
		return;
	}
	tp_buf_puts(out, " at ");
	tp_job_add_code(out, job->late_code);
	tp_buf_printf(out, ", %s %s", tp_unit_time(job->late_code->step_ns).text, unit);
	add_compared(out, job, job->late_code->step_ns, job->others_code_ns,
		     job->others_code_is_bound);
}

void tp_job_add_gain(struct tp_buf *out, const struct tp_job *job)
{
	if (job->late == TP_JOB_NO_RANK)
		return;
	if (job->joined_by == TP_JOB_BY_SHARES) {
		tp_buf_puts(out, "Without that the job is faster by ");
		tp_report_add_gain(out, 1, job->gain, job->gain_high);
		return;
	}
	double low = job->is_sure ? job->gain_low : 1;
	if (tp_gain_is_estimate(low) || tp_gain_has_high(low, job->gain_high)) {
		tp_buf_puts(out, "Without that the job is faster by ");
		tp_report_add_gain(out, low, job->gain, job->gain_high);
	} else {
		tp_buf_puts(out, "How much faster the job is without that is not known");
	}
	tp_buf_printf(out, ": a step takes %s, as the next rank makes it",
		      tp_unit_time(job->step_ns - job->late_ns).text);
	if (job->lacks_cpus)
		tp_buf_puts(out, "; uncertain, because ranks compete for CPUs");
}

void tp_job_add_extent(struct tp_buf *out, const struct tp_job *job)
{
	size_t n = 0;
	for (size_t i = 0; i < job->n_ranks; i++)
		n += !job->ranks[i].is_duplicate && !job->ranks[i].unreadable;
	if (job->n_expected && n != job->n_expected)
		tp_buf_printf(out, "%zu of %u ranks", n, job->n_expected);
	else
		tp_buf_printf(out, "%s", tp_unit_counted(n, "rank").text);
	if (job->n_hosts > 1)
		tp_buf_printf(out, " on %zu hosts", job->n_hosts);
	if (job->n_steps)
		tp_buf_printf(out, ", %s, %s steps/s", tp_unit_counted(job->n_steps, "step").text,
			      tp_unit_number(1e9 / job->step_ns).text);
}

void tp_job_add_mostly(struct tp_buf *out, const struct tp_job_rank *rank)
{
	int best = TP_N_LABELS;
	for (int label = 0; label < TP_N_LABELS; label++)
		if (tp_label_part((enum tp_label)label) != TP_PART_COMMUNICATION &&
		    rank->label_ns[label] > 0 &&
		    (best == TP_N_LABELS || rank->label_ns[label] > rank->label_ns[best]))
			best = label;
	if (best != TP_N_LABELS)
		tp_buf_printf(out, "%s %s", label_text((enum tp_label)best),
			      tp_unit_time(rank->label_ns[best]).text);
}
