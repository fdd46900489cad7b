/* SPDX-License-Identifier: Apache-2.0 */
/* Writes lines of Python programs and the workers of their loaders into the JSON report. */
#include "document.h"

/* Writes whole paths: otherwise a reader of the document cannot distinguish two files of the same
 * name. */
void tp_report_json_line(struct tp_json_writer *w, const struct tp_profile *profile,
			 const struct tp_line_result *line)
{
	tp_json_open(w, '{');
	tp_json_put_string(w, "part", tp_part_name(line->part));
	tp_json_put_string(w, "label", tp_label_name(line->label));
	tp_json_put_string(w, "of", line->is_own ? "own" : "loop");
	tp_json_put_string(w, "file", tp_trace_string(profile->trace, line->file));
	tp_json_put_uint(w, "line", line->line);
	tp_json_put_string(w, "function", tp_trace_string(profile->trace, line->symbol));
	tp_json_put_uint(w, "time_ns", line->time_ns);
	tp_json_close(w, '}');
}

void tp_report_json_lines(struct tp_json_writer *w, const struct tp_profile *profile)
{
	if (!profile->n_lines)
		return;
	tp_json_write_key(w, "lines");
	tp_json_open(w, '[');
	for (size_t i = 0; i < profile->n_lines; i++)
		tp_report_json_line(w, profile, &profile->lines[i]);
	tp_json_close(w, ']');
}

void tp_report_json_loop(struct tp_json_writer *w, const struct tp_profile *profile)
{
	const struct tp_source_loop *loop = &profile->loop;
	if (!loop->is_known)
		return;
	tp_json_write_key(w, "loop");
	tp_json_open(w, '{');
	tp_json_put_string(w, "file", tp_trace_string(profile->trace, loop->file));
	tp_json_put_string(w, "function", tp_trace_string(profile->trace, loop->symbol));
	if (loop->first_line) {
		tp_json_put_uint(w, "first_line", loop->first_line);
		tp_json_put_uint(w, "last_line", loop->last_line);
	}
	tp_json_close(w, '}');
}

static void write_worker(struct tp_json_writer *w, const struct tp_trace *trace,
			 const struct tp_worker_result *worker)
{
	const struct tp_task *task = &trace->tasks[worker->task];
	tp_json_open(w, '{');
	tp_json_put_int(w, "pid", task->pid);
	tp_json_put_int(w, "tid", task->tid);
	tp_json_put_uint(w, "lived_ns", worker->lived_ns);
	tp_json_write_key(w, "time_ns");
	tp_json_open(w, '{');
	for (int what = 0; what < TP_N_WORKER_TIMES; what++)
		tp_json_put_uint(w, tp_worker_time_name((enum tp_worker_time)what),
				 worker->time_ns[what]);
	tp_json_close(w, '}');
	tp_json_close(w, '}');
}

void tp_report_json_workers(struct tp_report_document *doc)
{
	const struct tp_profile *profile = doc->digest->profile;
	if (!profile->n_workers)
		return;
	tp_json_write_key(doc->w, "loader_workers");
	tp_json_open(doc->w, '[');
	for (size_t i = 0; i < profile->n_workers && i < doc->max_processes; i++)
		write_worker(doc->w, doc->digest->trace, &profile->workers[i]);
	tp_json_close(doc->w, ']');
}

static void write_work(struct tp_json_writer *w, const struct tp_profile *profile,
		       const struct tp_work_result *work)
{
	const struct tp_trace *trace = profile->trace;
	static const char *const names[TP_N_WORK_OF] = {"training", "loading", "tasks"};
	tp_json_open(w, '{');
	tp_json_put_string(w, "of", names[work->of]);
	tp_json_put_string(w, "name", work->name);
	tp_json_put_uint(w, "time_ns", work->time_ns);
	if (work->file) {
		tp_json_put_string(w, "file", tp_trace_string(trace, work->file));
		tp_json_put_uint(w, "line", work->line);
		tp_json_put_string(w, "function", tp_trace_string(trace, work->symbol));
	}
	tp_json_close(w, '}');
}

void tp_report_json_functions(struct tp_report_document *doc)
{
	const struct tp_profile *profile = doc->digest->profile;
	if (!profile->n_works)
		return;
	tp_json_write_key(doc->w, "functions");
	tp_json_open(doc->w, '[');
	for (size_t i = 0; i < profile->n_works; i++)
		write_work(doc->w, profile, &profile->works[i]);
	tp_json_close(doc->w, ']');
}
