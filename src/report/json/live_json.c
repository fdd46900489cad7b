/* SPDX-License-Identifier: Apache-2.0 */
/* One interval of a live view as a line of JSON, for programs that follow it. */
#include "trainprof/report/live.h"

#include "document.h"
#include "report/digest/digest.h"
#include "report/digest/source_lines.h"
#include "trainprof/base/json.h"

#include <math.h>

enum { LINES_MAX = 10, THREADS_MAX = 64 };

static void write_parts(struct tp_json_writer *w, const struct tp_profile *profile)
{
	bool has_limiter = profile->total_ns && profile->limiter != TP_N_PARTS;
	tp_json_put_string(w, "limiter", has_limiter ? tp_part_name(profile->limiter) : NULL);
	tp_json_put_uint(w, "total_ns", profile->total_ns);
	tp_json_put_bool(w, "is_of_steps", profile->is_of_steps);
	tp_json_write_key(w, "parts_ns");
	tp_json_open(w, '{');
	for (int part = 0; part < TP_N_PARTS; part++)
		tp_json_put_uint(w, tp_part_name((enum tp_part)part), profile->parts[part].time_ns);
	tp_json_close(w, '}');
}

static void write_steps(struct tp_json_writer *w, const struct tp_profile *profile)
{
	const struct tp_stat *time = &profile->step_time;
	bool is_known = profile->is_of_steps && time->n && time->mean > 0;
	tp_json_write_key(w, "steps");
	tp_json_open(w, '{');
	tp_json_put_uint(w, "n", time->n);
	tp_json_put_number(w, "per_s", is_known ? 1e9 / time->mean : NAN);
	tp_json_put_number(w, "mean_ns", is_known ? time->mean : NAN);
	tp_json_put_number(w, "p95_ns", is_known ? time->p95 : NAN);
	tp_json_put_number(w, "max_ns", is_known ? time->max : NAN);
	tp_json_put_string(w, "none_because", time->n ? NULL : profile->steps_reason);
	tp_json_close(w, '}');
}

static void write_thread(struct tp_json_writer *w, const struct tp_profile *profile,
			 const struct tp_thread_result *thread)
{
	const struct tp_task *task = &profile->trace->tasks[thread->task];
	tp_json_open(w, '{');
	tp_json_put_uint(w, "tid", (uint64_t)task->tid);
	tp_json_put_uint(w, "pid", (uint64_t)task->pid);
	tp_json_put_string(w, "name", tp_trace_string(profile->trace, task->comm));
	tp_json_put_string(w, "role", tp_thread_role_name(thread->role));
	tp_json_put_string(w, "process_role", tp_role_name(thread->process_role));
	tp_json_put_uint(w, "on_cpu_ns", thread->on_cpu_ns);
	tp_json_put_uint(w, "runnable_ns", thread->runnable_ns);
	tp_json_write_key(w, "blocked_ns");
	tp_json_open(w, '{');
	for (int i = 0; i < TP_N_CAUSES; i++)
		if (thread->blocked_ns[i])
			tp_json_put_uint(w, tp_cause_name((enum tp_cause)i), thread->blocked_ns[i]);
	tp_json_close(w, '}');
	tp_json_close(w, '}');
}

/* The order of the profile: the main thread is among the first. */
static void write_threads(struct tp_json_writer *w, const struct tp_profile *profile)
{
	size_t n = profile->n_threads < THREADS_MAX ? profile->n_threads : THREADS_MAX;
	tp_json_put_uint(w, "n_threads", profile->n_threads);
	tp_json_write_key(w, "threads");
	tp_json_open(w, '[');
	for (size_t i = 0; i < n; i++)
		write_thread(w, profile, &profile->threads[i]);
	tp_json_close(w, ']');
}

static void write_lines(struct tp_json_writer *w, const struct tp_profile *profile)
{
	const struct tp_line_result *lines[LINES_MAX];
	size_t n = profile->total_ns ? tp_report_top_lines(lines, LINES_MAX, profile) : 0;
	tp_json_write_key(w, "lines");
	tp_json_open(w, '[');
	for (size_t i = 0; i < n; i++)
		tp_report_json_line(w, profile, lines[i]);
	tp_json_close(w, ']');
}

/* In the order of their numbers; the rank of the parts, steps, threads and lines is marked. */
static void write_ranks(struct tp_json_writer *w, const struct tp_live *live)
{
	tp_json_write_key(w, "ranks");
	tp_json_open(w, '[');
	for (size_t i = 0; i < live->n_ranks; i++) {
		const struct tp_live_rank *rank = &live->ranks[i];
		const struct tp_line_result *line;
		tp_json_open(w, '{');
		tp_json_put_number(w, "rank", rank->number >= 0 ? (double)rank->number : NAN);
		tp_json_put_uint(w, "pid", (uint64_t)rank->pid);
		tp_json_put_bool(w, "is_shown", i == live->shown_rank);
		write_parts(w, rank->profile);
		write_steps(w, rank->profile);
		tp_json_write_key(w, "line");
		if (rank->profile->total_ns && tp_report_top_lines(&line, 1, rank->profile))
			tp_report_json_line(w, rank->profile, line);
		else
			tp_json_write_null(w);
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}

void tp_report_live_add_json(struct tp_buf *out, const struct tp_profile *profile,
			     const struct tp_live *live)
{
	const struct tp_report report = {.profile = profile};
	const struct tp_live_history *history = live->history;
	struct tp_report_digest digest;
	struct tp_json_writer w = {.is_flat = true};
	tp_report_digest_make(&digest, &report);
	tp_json_open(&w, '{');
	tp_json_put_string(&w, "schema", TP_LIVE_SCHEMA);
	tp_json_put_string(&w, "subject", live->subject);
	tp_json_put_string(&w, "clock", live->clock);
	tp_json_put_uint(&w, "watched_ns", live->watched_ns);
	tp_json_put_uint(&w, "interval_ns", live->window_ns);
	write_parts(&w, profile);
	write_steps(&w, profile);
	tp_json_put_string(&w, "alarm", history && history->is_new ? history->alarm : NULL);
	tp_json_put_number(&w, "own_cpu_ratio", live->own_ratio >= 0 ? live->own_ratio : NAN);
	tp_json_put_uint(&w, "n_lost", digest.n_lost);
	tp_json_put_string(&w, "note", live->note);
	tp_json_put_string(&w, "end", live->end_note);
	write_threads(&w, profile);
	write_lines(&w, profile);
	write_ranks(&w, live);
	tp_json_close(&w, '}');
	tp_buf_puts(out, tp_buf_text(&w.out));
	tp_json_writer_release(&w);
}
