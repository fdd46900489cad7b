/* SPDX-License-Identifier: Apache-2.0 */
/* Measures a program: makes the plan and the recording, starts the program, runs the sampler,
 * closes. */
#include "run_session.h"

#include "cli/terminal/messages.h"
#include "crash_guard.h"
#include "force_recovery.h"
#include "install_dir.h"
#include "job_folder.h"
#include "launch_hint.h"
#include "live_child.h"
#include "log_tee.h"
#include "recordings.h"
#include "rules_dir.h"
#include "run_info_collect.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/memory.h"
#include "trainprof/collect/collector.h"
#include "trainprof/collect/env.h"
#include "trainprof/collect/sampler.h"
#include "trainprof/report/units.h"
#include "trainprof/store/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Defaults of the collectors (trainprof/collect/collector.h). */
enum { DEFAULT_POLL_HZ = 50, DEFAULT_STACK_BYTES = 49152, DEFAULT_MAX_SWITCH_HZ = 20000 };

/* Judging one record takes 105 bytes (measured at 2.5 million, 2026-11-22): 0.84 GB. */
enum { DEFAULT_MAX_GPU_RECORDS = 8000000 };

/* State from the plan to the end of the recording. */
struct run_session {
	const struct tp_cli *cli;
	const struct tp_run_options *options;
	char **argv; /* NULL = attach to `pid` */
	pid_t pid;
	struct tp_host host;
	struct tp_arena arena;
	struct tp_run_info run;
	struct tp_plan *plan;
	struct tp_store *store;
	bool has_store; /* we created the directory */
	struct tp_target *target;
	struct tp_log_tee tee;
	struct tp_live_child live_child;
	const char *directory; /* of the recording */
	char *whole_path;      /* of the recording, absolute */
	char *marks_path;
	char *python_path;     /* PYTHONPATH of the program; NULL = unchanged */
	char *aside;           /* the recording that this one replaces, by --force */
	struct tp_buf notices; /* printed after the program's end */
};

const char *const tp_summary_choices[] = {"short", "full", "none", NULL};
const char *const tp_gpu_trace_choices[] = {"windows", "continuous", "off", NULL};

/* The name of the program in messages. */
static const char *program_of(const struct run_session *s)
{
	return s->argv ? s->argv[0] : s->run.command[0];
}

static enum tp_gpu_trace gpu_trace_of(const char *word)
{
	if (strcmp(word, "off") == 0)
		return TP_GPU_TRACE_OFF;
	return strcmp(word, "windows") == 0 ? TP_GPU_TRACE_WINDOWS : TP_GPU_TRACE_CONTINUOUS;
}

static enum tp_status make_plan(struct tp_plan **out, const struct tp_host *host,
				const struct tp_run_options *options, const char *marks_path,
				const char *python_path, bool is_attaching, struct tp_error *err)
{
	const struct tp_collect_config config = {
		.sample_rate_hz = options->rate_hz,
		.poll_rate_hz = DEFAULT_POLL_HZ,
		.stack_bytes = DEFAULT_STACK_BYTES,
		.max_overhead_ratio = options->max_overhead,
		.max_switch_rate_hz = DEFAULT_MAX_SWITCH_HZ,
		.marks_path = marks_path,
		.python_path = python_path,
		.is_attaching = is_attaching,
		.keeps_arguments = options->keeps_arguments,
		.gpu_trace = gpu_trace_of(options->gpu_trace),
		.wants_counters = options->wants_counters,
		.max_gpu_records = DEFAULT_MAX_GPU_RECORDS,
	};
	const struct tp_selection selection = {.collect = options->collect,
					       .require = options->require};
	return tp_plan_make(out, host, &config, &selection, err);
}

enum tp_status tp_run_session_plan(struct tp_plan **out, const struct tp_host *host,
				   const struct tp_run_options *options, bool is_attaching,
				   struct tp_error *err)
{
	return make_plan(out, host, options, NULL, NULL, is_attaching, err);
}

/* ---- before the start ---------------------------------------------------------------------- */

/* True for a source that could be enabled by some command. Sources that this machine does not have
 * are only in the report. */
static bool should_report(const struct tp_plan_row *row)
{
	enum tp_presence presence = row->availability.presence;
	return presence == TP_PRESENCE_NO_PERMISSION || presence == TP_PRESENCE_IN_USE;
}

bool tp_run_session_add_missing(struct tp_buf *out, const struct tp_plan *plan,
				const struct tp_host *host, char *next, size_t size)
{
	const struct tp_availability *first = NULL;
	size_t n = 0;
	for (size_t i = 0; i < tp_plan_count(plan); i++) {
		const struct tp_plan_row *row = tp_plan_row(plan, i);
		if (!should_report(row))
			continue;
		first = first ? first : &row->availability;
		tp_buf_printf(out, "%s%s", n++ ? ", " : "", row->type->summary);
	}
	if (!n)
		return false;
	tp_buf_printf(out, " are off: %s", first->reason);
	bool has_remedy = n == 1 && first->remedy[0];
	struct tp_buf hint = {0};
	if (has_remedy && !(first->is_granted_at_start && tp_launch_add_line(&hint, host)))
		tp_buf_printf(&hint, "%s", first->remedy);
	if (next)
		snprintf(next, size, "%s%s", tp_buf_text(&hint),
			 has_remedy ? "   (or: trainprof doctor)" : "trainprof doctor");
	tp_buf_release(&hint);
	return true;
}

/* Reports what was injected into a running program, or why nothing was: the user has asked for
 * it. */
static void report_attached(const struct run_session *s)
{
	static const char next[] =
		"its first window may stall the program; CUDA graphs made before "
		"are one piece each";
	for (size_t i = 0; i < tp_plan_count(s->plan); i++) {
		const struct tp_plan_row *row = tp_plan_row(s->plan, i);
		const struct tp_availability *now = &row->availability;
		if (strcmp(row->type->name, "cupti") != 0)
			continue;
		if (row->is_chosen)
			tp_message_print(NULL, "%s; %s", now->reason, next);
		else if (!should_report(row))
			tp_message_print(now->remedy, "the GPU is not traced: %s", now->reason);
	}
}

/* Prints at most two lines. */
static void report_missing(const struct run_session *s)
{
	struct tp_buf text = {0};
	char next[200];
	if (!s->cli->is_quiet &&
	    tp_run_session_add_missing(&text, s->plan, &s->host, next, sizeof(next)))
		tp_message_print(next, "%s", tp_buf_text(&text));
	tp_buf_release(&text);
}

/* --force replaces the recording of an older job, but not that of an earlier start of this job. */
static bool is_of_same_job(const struct run_session *s, const char *directory)
{
	struct tp_arena arena = {0};
	struct tp_run_info other;
	bool is_same = s->options->job &&
		       tp_store_load_info(&other, NULL, &arena, directory, NULL) == TP_OK &&
		       tp_job_is_same(&other.job, &s->options->job->place);
	tp_arena_release(&arena);
	return is_same;
}

static enum tp_status open_store(struct run_session *s, const char *directory, struct tp_error *err)
{
	enum tp_status status = TP_OK;
	tp_force_recover(directory, s->cli->is_quiet);
	/* A generated name replaces nothing. */
	if (s->options->force && s->options->output && !is_of_same_job(s, directory))
		status = tp_recordings_backup(&s->aside, directory, err);
	if (status == TP_OK)
		status = tp_recordings_check_room(directory, err);
	if (status == TP_OK)
		status = tp_store_create(&s->store, directory, &s->run, s->options->max_size, err);
	s->has_store = status == TP_OK;
	if (s->has_store)
		tp_store_wait_for_room(s->store);
	return status;
}

static void note_rates(struct run_session *s)
{
	const struct tp_collect_config *config = tp_plan_config(s->plan);
	s->run.sample_rate_hz = config->sample_rate_hz;
	s->run.asked_rate_hz = config->sample_rate_hz > 0 ? s->options->rate_hz : 0;
	s->run.poll_rate_hz = config->poll_rate_hz;
}

/* The first manifest contains the plan, because it is all that remains if trainprof is killed. */
static enum tp_status open_output(struct run_session *s, const char *directory,
				  struct tp_error *err)
{
	free(s->marks_path);
	free(s->whole_path);
	s->whole_path = tp_recordings_absolute(directory);
	/* Absolute, because the program may change its directory. */
	s->marks_path = s->argv ? tp_asprintf("%s/marks.ring", s->whole_path) : NULL;
	if (s->argv && !s->python_path)
		s->python_path = tp_install_python_path();
	tp_plan_free(s->plan);
	s->plan = NULL;
	enum tp_status status = make_plan(&s->plan, &s->host, s->options, s->marks_path,
					  s->python_path, !s->argv, err);
	if (status != TP_OK)
		return status;
	note_rates(s);
	return open_store(s, directory, err);
}

static enum tp_status prepare(struct run_session *s, struct tp_run_session_result *out,
			      struct tp_error *err)
{
	const struct tp_run_naming naming = {.label = s->options->label,
					     .variables = &s->options->env,
					     .keeps_arguments = s->options->keeps_arguments};
	tp_host_open(&s->host, "");
	if (s->argv)
		tp_run_info_make(&s->run, s->argv, &naming, &s->host, &s->arena);
	else
		tp_run_info_make_attached(&s->run, s->pid, &naming, &s->host, &s->arena);
	const struct tp_run_job *job = s->options->job;
	enum tp_status status = TP_OK;
	if (job) {
		tp_job_place_copy(&s->run.job, &job->place, &s->arena);
		status = tp_recordings_check_room(job->folder, err);
		if (status == TP_OK)
			status = tp_job_folder_create(job->folder, err);
	}
	if (status == TP_OK)
		status = open_output(s, out->directory, err);
	else
		job = NULL; /* another name does not help */
	/* Programs that start at the same time in one folder find the same name free; only one of
	 * them gets it. */
	while (status == TP_EXISTS && (job || !s->options->output)) {
		char *next = job ? tp_job_folder_rank(job->folder, &job->place, out->directory)
				 : tp_recordings_new_name("");
		free(out->directory);
		out->directory = next;
		status = open_output(s, out->directory, err);
	}
	if (status == TP_OK)
		status = tp_plan_open(s->plan, tp_store_sink(s->store), err);
	return status;
}

/* Reports what cannot be measured in this process, but could be in one that trainprof starts. */
static void report_access(const struct run_session *s)
{
	struct tp_availability reach;
	tp_target_check_access(s->target, &s->host, &reach);
	if (reach.presence != TP_PRESENCE_PRESENT && !s->cli->is_quiet)
		tp_message_print(reach.remedy, "Python line numbers are not available: %s",
				 reach.reason);
}

static enum tp_status start_target(struct run_session *s, struct tp_error *err)
{
	struct tp_env env = {0};
	enum tp_status status = TP_OK;
	if (s->options->is_live)
		status = tp_log_tee_open_file(&s->tee, s->options->log, err);
	else if (s->options->log)
		status = tp_log_tee_open(&s->tee, s->options->log, err);
	if (status == TP_OK) {
		int keys = s->options->is_live ? tp_live_child_hold_keys() : -1;
		tp_plan_child_env(s->plan, &env);
		status = tp_target_start(&s->target, s->cli->inheritance, s->argv, &env, err);
		tp_live_child_return_keys(keys);
	}
	tp_env_release(&env);
	tp_log_tee_detach(&s->tee);
	return status;
}

/* ---- while it runs ------------------------------------------------------------------------- */

/* Prints all messages about an attached program now. */
static void on_started(void *context)
{
	struct run_session *s = context;
	if (s->options->is_live)
		tp_live_child_start(&s->live_child, s->whole_path);
	if (s->argv)
		return;
	report_missing(s);
	report_access(s);
	if (!s->cli->is_quiet && gpu_trace_of(s->options->gpu_trace) != TP_GPU_TRACE_OFF)
		report_attached(s);
}

static bool on_tick(void *context, uint64_t now_ns)
{
	(void)now_ns;
	struct run_session *s = context;
	uint64_t until_ns;
	tp_store_flush(s->store);
	return !tp_store_has_stopped(s->store, &until_ns, NULL);
}

/* The terminal belongs to the program while it runs. */
static void on_message(void *context, const char *text)
{
	struct run_session *s = context;
	tp_buf_printf(&s->notices, "%s\n", text);
}

static void note_stop(struct run_session *s, struct tp_run_session_result *out)
{
	struct tp_error cause = {0};
	uint64_t until_ns = 0;
	/* The data that is still in memory may not fit on the disk. */
	tp_store_end(s->store);
	out->is_whole = !tp_store_has_stopped(s->store, &until_ns, &cause);
	if (out->is_whole)
		return;
	uint64_t after = until_ns > s->run.started_ns ? until_ns - s->run.started_ns : 0;
	snprintf(out->note, sizeof(out->note), "recording stopped after %s: %.100s",
		 tp_unit_clock(after).text, cause.text);
}

static void finish_run_info(struct run_session *s, const struct tp_sampler_result *result)
{
	s->run.pid = tp_target_pid(s->target);
	s->run.tier = tp_plan_tier(s->plan);
	/* Both clocks must refer to one instant: the zero of the wall clock moves with the exec. */
	if (result->started_ns) {
		s->run.started_wall_ns += result->started_ns - s->run.started_ns;
		s->run.started_ns = result->started_ns;
	}
	s->run.ended_ns = result->end.time_ns;
	s->run.measure_from_ns = result->measure_from_ns;
	s->run.measure_until_ns = result->measure_until_ns;
	s->run.end = result->end.kind;
	s->run.end_code = result->end.code;
	note_rates(s);
	if (s->options->delay_ns && result->measure_from_ns == result->measure_until_ns)
		tp_buf_printf(&s->notices,
			      "nothing was measured: %s ended before --delay was over\n",
			      program_of(s));
}

/* A recording that was moved meanwhile is read from where it is now. */
static void check_place(struct run_session *s, struct tp_run_session_result *out)
{
	char *now = tp_store_find(s->store, s->whole_path);
	out->is_gone = !now;
	if (now && strcmp(now, s->whole_path) == 0) {
		free(now);
		return;
	}
	/* A file at the old path is not ours. */
	free(s->marks_path);
	s->marks_path = now ? tp_asprintf("%s/marks.ring", now) : NULL;
	if (!now) {
		out->is_whole = false;
		snprintf(out->note, sizeof(out->note),
			 "'%.100s' was removed, or its disk was unmounted", out->directory);
		return;
	}
	tp_message_print(NULL, "'%s' was moved to '%s' while it was written", out->directory, now);
	free(out->directory);
	out->directory = now;
	s->directory = now;
}

/* Runs the sampler; afterwards the recording is closed, whatever happened. */
static enum tp_status follow(struct run_session *s, struct tp_run_session_result *out,
			     struct tp_error *err)
{
	const struct tp_sampler_config config = {
		.delay_ns = s->options->delay_ns,
		.duration_ns = s->options->duration_ns,
		.started = on_started,
		.tick = on_tick,
		.notice = on_message,
		.context = s,
	};
	struct tp_sampler_result result = {0};
	if (s->argv) /* an attached program is not affected by our end */
		tp_crash_guard_start(tp_target_pid(s->target), s->argv[0]);
	s->directory = out->directory;
	enum tp_status status = tp_sampler_run(s->plan, s->target, &config, &result, err);
	tp_live_child_stop(&s->live_child);
	if (s->argv)
		tp_crash_guard_stop();
	if (status != TP_OK)
		return status;
	finish_run_info(s, &result);
	snprintf(out->program, sizeof(out->program), "%s", program_of(s));
	note_stop(s, out);
	out->end = result.end;
	out->had_no_keys = !s->argv || s->options->is_live;
	out->was_interrupted = result.was_interrupted;
	check_place(s, out);
	struct tp_error late = {0};
	if (tp_store_finish(s->store, &s->run, &late) != TP_OK && out->is_whole) {
		out->is_whole = false;
		snprintf(out->note, sizeof(out->note), "%.150s", late.text);
	}
	s->store = NULL;
	return TP_OK;
}

/* ---- the whole session --------------------------------------------------------------------- */

/* If nothing was recorded, nothing is left behind, and the recording that --force was to replace is
 * restored. */
static void undo_output(const struct run_session *s, const char *directory, bool is_ours)
{
	struct tp_error err = {0};
	if (is_ours)
		(void)!tp_recordings_remove(directory, NULL);
	if (s->aside && tp_recordings_restore(s->aside, directory, &err) != TP_OK)
		tp_message_error(NULL, &err);
}

static void release(struct run_session *s)
{
	if (s->target)
		tp_target_close(s->target);
	tp_log_tee_close(&s->tee);
	tp_plan_free(s->plan);
	if (s->store && tp_store_finish(s->store, &s->run, NULL) != TP_OK)
		tp_buf_clear(&s->notices);
	/* Its content is in the records by now; in a directory that we did not create it may be in
	 * use. */
	if (s->has_store && s->marks_path)
		unlink(s->marks_path);
	tp_host_close(&s->host);
	tp_arena_release(&s->arena);
	free(s->whole_path);
	free(s->marks_path);
	free(s->python_path);
	tp_buf_release(&s->notices);
}

/* The exit status if the request cannot be met: 2 for names that do not exist, 125 for what this
 * machine or this directory refuses, the shell's statuses for the program. */
static int not_measured(struct run_session *s, const struct tp_error *err)
{
	int status = TP_EXIT_NOT_STARTED;
	if (err->status == TP_TARGET && s->target && tp_target_exit_status(s->target))
		status = tp_target_exit_status(s->target);
	else if (err->status == TP_USAGE)
		status = TP_EXIT_USAGE;
	tp_message_error(NULL, err);
	return status;
}

/* Measures, unless the preparation has failed. */
static enum tp_status measure(struct run_session *s, struct tp_run_session_result *out,
			      enum tp_status done, struct tp_error *err)
{
	if (done == TP_OK)
		done = follow(s, out, err);
	if (done == TP_OK && s->notices.len && !s->cli->is_quiet)
		tp_message_print_lines(tp_buf_text(&s->notices));
	return done;
}

static void tidy(struct run_session *s, const struct tp_run_session_result *out, bool is_measured)
{
	release(s);
	if (!is_measured)
		undo_output(s, out->directory, s->has_store);
	else if (s->aside)
		(void)!tp_recordings_remove(s->aside, NULL);
	free(s->aside);
}

static void begin(struct tp_run_session_result *out, const struct tp_run_options *options)
{
	*out = (struct tp_run_session_result){0};
	if (options->job)
		out->directory =
			tp_job_folder_rank(options->job->folder, &options->job->place, NULL);
	else
		out->directory =
			options->output ? tp_strdup(options->output) : tp_recordings_new_name("");
}

int tp_run_session_run(struct tp_run_session_result *out, const struct tp_cli *cli,
		       const struct tp_run_options *options, char **argv)
{
	struct run_session s = {.cli = cli, .options = options, .argv = argv};
	struct tp_error err = {0};
	int status = -1;
	begin(out, options);
	enum tp_status done = tp_rules_dir_check(&options->reading.rules, &err);
	if (done == TP_OK)
		done = prepare(&s, out, &err);
	if (done == TP_OK) {
		report_missing(&s);
		done = start_target(&s, &err);
	}
	done = measure(&s, out, done, &err);
	if (done != TP_OK)
		status = not_measured(&s, &err);
	out->could_run = done != TP_OK && !s.target && err.status != TP_USAGE;
	tidy(&s, out, done == TP_OK);
	return status;
}

/* A process that does not exist is misuse. */
int tp_run_session_refused(const struct tp_error *err)
{
	tp_message_error(NULL, err);
	return err->status == TP_TARGET ? TP_EXIT_USAGE : tp_exit_status(err);
}

int tp_run_session_attach(struct tp_run_session_result *out, const struct tp_cli *cli,
			  const struct tp_run_options *options, pid_t pid)
{
	struct run_session s = {.cli = cli, .options = options, .pid = pid};
	struct tp_error err = {0};
	int status = -1;
	begin(out, options);
	/* Checked first, so that nothing is created for a process that does not exist. */
	enum tp_status done = tp_rules_dir_check(&options->reading.rules, &err);
	if (done == TP_OK)
		done = tp_target_attach(&s.target, pid, &err);
	if (done == TP_OK)
		done = prepare(&s, out, &err);
	done = measure(&s, out, done, &err);
	if (done != TP_OK)
		status = tp_run_session_refused(&err);
	tidy(&s, out, done == TP_OK);
	return status;
}

bool tp_run_session_check_whole(const struct tp_run_session_result *measured)
{
	if (!measured->is_whole)
		tp_message_print(measured->is_gone ? "choose another -o"
						   : "trainprof report   (valid until then), or "
						     "use --max-size and -o",
				 "%s; %s kept running", measured->note, measured->program);
	return measured->is_whole;
}
