/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the report of a job as JSON (docs/job.schema.json). */
#include "trainprof/report/job_text.h"

#include "report/digest/gain_text.h"
#include "trainprof/base/version.h"

static void put_code(struct tp_json_writer *w, const char *key, const struct tp_job_code *code)
{
	if (!code)
		return;
	tp_json_write_key(w, key);
	tp_json_open(w, '{');
	tp_json_put_known_string(w, "file", code->file);
	tp_json_put_known_string(w, "function", code->function);
	if (code->line)
		tp_json_put_uint(w, "line", code->line);
	tp_json_put_string(w, "part", tp_part_name(tp_label_part(code->label)));
	tp_json_put_string(w, "label", tp_label_name(code->label));
	tp_json_put_number(w, "step_ns", code->step_ns);
	tp_json_close(w, '}');
}

static void put_identity(struct tp_json_writer *w, const struct tp_job_rank *rank)
{
	if (rank->number >= 0)
		tp_json_put_uint(w, "rank", (uint64_t)rank->number);
	tp_json_put_known_string(w, "host", rank->host);
	if (rank->pid)
		tp_json_put_uint(w, "pid", (uint64_t)rank->pid);
}

static void put_parts(struct tp_json_writer *w, const struct tp_job_rank *rank)
{
	double parts[TP_N_PARTS] = {0};
	for (int label = 0; label < TP_N_LABELS; label++)
		parts[tp_label_part((enum tp_label)label)] += rank->label_ns[label];
	tp_json_write_key(w, "parts_ns");
	tp_json_open(w, '{');
	for (int part = 0; part < TP_N_PARTS; part++)
		tp_json_put_number(w, tp_part_name((enum tp_part)part), parts[part]);
	tp_json_close(w, '}');
}

static void put_rank(struct tp_json_writer *w, const struct tp_job_rank *rank)
{
	tp_json_open(w, '{');
	put_identity(w, rank);
	tp_json_put_string(w, "recording", rank->directory);
	tp_json_put_known_string(w, "unreadable", rank->unreadable);
	tp_json_put_known_string(w, "contradiction", rank->contradiction);
	tp_json_put_bool(w, "is_duplicate", rank->is_duplicate);
	tp_json_put_bool(w, "is_cut", rank->is_cut);
	if (!rank->unreadable) {
		tp_json_put_string(w, "end", tp_end_name(rank->end));
		tp_json_put_int(w, "end_code", rank->end_code);
		tp_json_put_uint(w, "steps", rank->n_steps);
		tp_json_put_uint(w, "waited_at_end_ns", rank->peer_tail_ns);
		put_code(w, "last_place", rank->last_place);
	}
	tp_json_put_bool(w, "is_joined", rank->is_joined);
	if (rank->is_joined) {
		tp_json_put_bool(w, "is_late", rank->is_late);
		tp_json_put_uint(w, "last_in_steps", rank->n_last);
		tp_json_put_number(w, "work_ns", rank->own_ns);
		tp_json_put_number(w, "wait_ns", rank->wait_ns);
		tp_json_put_number(w, "clock_ahead_ns", (double)rank->skew_ns);
		put_parts(w, rank);
	}
	tp_json_close(w, '}');
}

static void put_gain(struct tp_json_writer *w, double low, double value, double high)
{
	tp_json_write_key(w, "speedup");
	tp_json_open(w, '{');
	tp_json_put_string(w, "kind", tp_report_gain_kind(low, high));
	tp_json_put_number(w, "value", value);
	tp_json_write_key(w, "ci95");
	tp_json_open(w, '[');
	tp_json_write_number(w, low);
	tp_json_write_number(w, high);
	tp_json_close(w, ']');
	tp_json_close(w, '}');
}

static void put_late(struct tp_json_writer *w, const struct tp_job *job)
{
	if (job->late == TP_JOB_NO_RANK)
		return;
	tp_json_write_key(w, "late");
	tp_json_open(w, '{');
	put_identity(w, &job->ranks[job->late]);
	tp_json_put_uint(w, "ranks", job->n_late);
	tp_json_put_uint(w, "last_in_steps", job->n_last);
	tp_json_put_number(w, "after_next_ns", job->late_ns);
	tp_json_write_key(w, "after_next_ci95_ns");
	tp_json_open(w, '[');
	tp_json_write_number(w, job->late_low_ns);
	tp_json_write_number(w, job->late_high_ns);
	tp_json_close(w, ']');
	if (job->late_label != TP_N_LABELS) {
		tp_json_put_string(w, "part", tp_part_name(tp_label_part(job->late_label)));
		tp_json_put_string(w, "label", tp_label_name(job->late_label));
		tp_json_put_number(w, "label_ns", job->late_label_ns);
		tp_json_put_number(w, "label_of_others_ns", job->others_label_ns);
	}
	tp_json_put_string(w, "kind", tp_job_late_kind_name(job->late_kind));
	put_code(w, "place", job->late_code);
	if (job->late_code)
		tp_json_put_number(w, "place_of_others_ns", job->others_code_ns);
	if (job->others_code_is_bound)
		tp_json_put_bool(w, "place_of_others_is_bound", true);
	if (job->lacks_cpus)
		tp_json_put_bool(w, "ranks_lack_cpus", true);
	put_gain(w, job->is_sure ? job->gain_low : 1, job->gain, job->gain_high);
	tp_json_close(w, '}');
}

static void put_ends(struct tp_json_writer *w, const struct tp_job *job)
{
	if (job->ended != TP_JOB_NO_RANK) {
		tp_json_write_key(w, "ended");
		tp_json_open(w, '{');
		put_identity(w, &job->ranks[job->ended]);
		tp_json_put_uint(w, "ranks", job->n_ended);
		tp_json_put_uint(w, "others_waited_ns", job->ended_wait_ns);
		tp_json_close(w, '}');
	}
	if (job->hang_ns) {
		tp_json_write_key(w, "hang");
		tp_json_open(w, '{');
		if (job->hanging != TP_JOB_NO_RANK)
			put_identity(w, &job->ranks[job->hanging]);
		tp_json_put_uint(w, "others_waited_ns", job->hang_ns);
		tp_json_close(w, '}');
	}
	if (job->stopped_by)
		tp_json_put_uint(w, "stopped_by_signal", (uint64_t)job->stopped_by);
}

static void put_advice(struct tp_json_writer *w, const struct tp_job *job)
{
	tp_json_write_key(w, "advice");
	tp_json_open(w, '[');
	for (size_t i = 0; i < job->n_advice; i++) {
		const struct tp_job_advice *advice = &job->advice[i];
		tp_json_open(w, '{');
		tp_json_put_string(w, "rule", advice->rule);
		tp_json_put_string(w, "headline", advice->headline);
		tp_json_put_string(w, "because", advice->because);
		put_gain(w, advice->gain_low, advice->gain_value, advice->gain_high);
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}

static const struct tp_job_rank *first_joined(const struct tp_job *job)
{
	for (size_t i = 0; i < job->n_ranks; i++)
		if (job->ranks[i].is_joined)
			return &job->ranks[i];
	return NULL;
}

/* Writes when the judged steps were, so that a program that logs its steps by the same clock can
 * compare them. Steps that follow each other are one span. */
static void put_spans(struct tp_json_writer *w, const struct tp_job *job)
{
	const struct tp_job_rank *rank = first_joined(job);
	if (!rank || !rank->n_steps)
		return;
	tp_json_write_key(w, "judged_spans_ns");
	tp_json_open(w, '[');
	for (size_t i = 0, end; i < rank->n_steps; i = end) {
		end = i + 1;
		if (!rank->steps[i].joined)
			continue;
		while (end < rank->n_steps && rank->steps[end].joined &&
		       rank->steps[end].start_ns == rank->steps[end - 1].end_ns)
			end++;
		tp_json_open(w, '[');
		tp_json_write_uint(w, rank->steps[i].start_ns);
		tp_json_write_uint(w, rank->steps[end - 1].end_ns);
		tp_json_close(w, ']');
	}
	tp_json_close(w, ']');
}

void tp_report_job_json(struct tp_json_writer *w, const struct tp_job *job)
{
	tp_json_open(w, '{');
	tp_json_put_string(w, "schema", "trainprof-job/1.0");
	tp_json_put_string(w, "version", tp_version());
	tp_json_put_known_string(w, "label", job->label);
	tp_json_put_known_string(w, "launcher", job->launcher);
	tp_json_put_known_string(w, "job", job->id);
	if (job->n_expected)
		tp_json_put_uint(w, "ranks_of_job", job->n_expected);
	tp_json_put_uint(w, "hosts", job->n_hosts);
	tp_json_put_uint(w, "recordings_of_other_jobs", job->n_other_jobs);
	tp_json_write_key(w, "missing_ranks");
	tp_json_open(w, '[');
	for (size_t i = 0; i < job->n_missing; i++)
		tp_json_write_int(w, job->missing[i]);
	tp_json_close(w, ']');
	tp_json_put_string(w, "verdict", tp_job_verdict_name(job->verdict));
	tp_json_put_bool(w, "is_sure", job->is_sure);
	tp_json_put_known_string(w, "because", job->because);
	tp_json_put_string(w, "joined_by", tp_job_join_name(job->joined_by));
	tp_json_put_known_string(w, "not_joined", job->not_joined);
	tp_json_put_uint(w, "steps", job->n_steps);
	if (job->n_misplaced)
		tp_json_put_uint(w, "steps_left_out", job->n_misplaced);
	if (job->n_steps) {
		put_spans(w, job);
		tp_json_put_number(w, "step_ns", job->step_ns);
		tp_json_put_number(w, "wait_ratio", job->wait_ratio);
		tp_json_put_number(w, "exchange_ratio", job->exchange_ratio);
	}
	tp_json_put_known_string(w, "slow_host", job->slow_host);
	if (job->overhead_ratio > 0)
		tp_json_put_number(w, "overhead_ratio", job->overhead_ratio);
	put_late(w, job);
	put_ends(w, job);
	put_advice(w, job);
	tp_json_write_key(w, "ranks");
	tp_json_open(w, '[');
	for (size_t i = 0; i < job->n_ranks; i++)
		put_rank(w, &job->ranks[i]);
	tp_json_close(w, ']');
	tp_json_close(w, '}');
}
