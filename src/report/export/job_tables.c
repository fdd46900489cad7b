/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the ranks of a job, their steps, times and places as tables. */
#include "trainprof/report/job_tables.h"

#include "parquet.h"

#include "trainprof/base/memory.h"

#define COLUMN(row, name, type, is_optional)                                                       \
	{                                                                                          \
#name, TP_PARQUET_##type, offsetof(struct row, name), is_optional                  \
	}

static int64_t number_of(const struct tp_job_rank *rank)
{
	return rank->number < 0 ? TP_PARQUET_NULL : rank->number;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

struct rank_line {
	int64_t rank_row, rank, pid, ranks_of_job, attempt, end_code;
	const char *job_id, *launcher, *label, *host, *recording, *unreadable, *end;
	bool is_cut, is_duplicate, is_joined;
	int64_t started_wall_ns, started_ns, ended_ns, waited_at_end_ns, clock_ahead_ns;
	int64_t steps, judged_steps;
};

static const struct tp_parquet_column rank_columns[] = {
	COLUMN(rank_line, rank_row, INT, false),
	COLUMN(rank_line, rank, INT, true),
	COLUMN(rank_line, host, TEXT, true),
	COLUMN(rank_line, pid, INT, true),
	COLUMN(rank_line, job_id, TEXT, true),
	COLUMN(rank_line, launcher, TEXT, true),
	COLUMN(rank_line, label, TEXT, true),
	COLUMN(rank_line, ranks_of_job, INT, true),
	COLUMN(rank_line, attempt, INT, false),
	COLUMN(rank_line, recording, TEXT, true),
	COLUMN(rank_line, unreadable, TEXT, true),
	COLUMN(rank_line, end, TEXT, true),
	COLUMN(rank_line, end_code, INT, false),
	COLUMN(rank_line, is_cut, FLAG, false),
	COLUMN(rank_line, is_duplicate, FLAG, false),
	COLUMN(rank_line, is_joined, FLAG, false),
	COLUMN(rank_line, started_wall_ns, INT, false),
	COLUMN(rank_line, started_ns, INT, false),
	COLUMN(rank_line, ended_ns, INT, false),
	COLUMN(rank_line, waited_at_end_ns, INT, false),
	COLUMN(rank_line, clock_ahead_ns, INT, false),
	COLUMN(rank_line, steps, INT, false),
	COLUMN(rank_line, judged_steps, INT, false),
};

static enum tp_status write_ranks(const struct tp_job *job, FILE *out, struct tp_error *err)
{
	struct tp_parquet *table = tp_parquet_open(out, rank_columns, TP_ARRAY_LEN(rank_columns));
	for (size_t i = 0; i < job->n_ranks; i++) {
		const struct tp_job_rank *rank = &job->ranks[i];
		const struct rank_line row = {
			.rank_row = (int64_t)i,
			.rank = number_of(rank),
			.host = rank->host,
			.pid = rank->pid ? rank->pid : TP_PARQUET_NULL,
			.job_id = rank->job_id,
			.launcher = rank->launcher,
			.label = rank->label,
			.ranks_of_job = rank->n_ranks ? rank->n_ranks : TP_PARQUET_NULL,
			.attempt = rank->attempt,
			.recording = rank->directory,
			.unreadable = rank->unreadable,
			.end = rank->unreadable ? NULL : tp_end_name(rank->end),
			.end_code = rank->end_code,
			.is_cut = rank->is_cut,
			.is_duplicate = rank->is_duplicate,
			.is_joined = rank->is_joined && job->n_steps,
			.started_wall_ns = (int64_t)rank->started_wall_ns,
			.started_ns = (int64_t)rank->started_ns,
			.ended_ns = (int64_t)rank->ended_ns,
			.waited_at_end_ns = (int64_t)rank->peer_tail_ns,
			.clock_ahead_ns = rank->skew_ns,
			.steps = (int64_t)(rank->n_steps + rank->n_early),
			.judged_steps = (int64_t)rank->n_judged,
		};
		tp_parquet_add(table, &row);
	}
	return tp_parquet_close(table, err);
}

/* ---- steps ----------------------------------------------------------------------------------- */

struct step_row {
	int64_t rank_row, rank, step, job_step, start_ns, end_ns, wait_ns;
	bool is_judged;
};

static const struct tp_parquet_column step_columns[] = {
	COLUMN(step_row, rank_row, INT, false), COLUMN(step_row, rank, INT, true),
	COLUMN(step_row, step, INT, false),     COLUMN(step_row, job_step, INT, true),
	COLUMN(step_row, start_ns, INT, false), COLUMN(step_row, end_ns, INT, false),
	COLUMN(step_row, wait_ns, INT, false),  COLUMN(step_row, is_judged, FLAG, false),
};

static enum tp_status write_steps(const struct tp_job *job, FILE *out, struct tp_error *err)
{
	struct tp_parquet *table = tp_parquet_open(out, step_columns, TP_ARRAY_LEN(step_columns));
	for (size_t i = 0; i < job->n_ranks; i++) {
		const struct tp_job_rank *rank = &job->ranks[i];
		bool is_joined = rank->is_joined && job->n_steps;
		for (size_t k = 0; k < rank->n_steps; k++) {
			const struct tp_job_step *step = &rank->steps[k];
			const struct step_row row = {
				.rank_row = (int64_t)i,
				.rank = number_of(rank),
				.step = (int64_t)(rank->n_early + k),
				.job_step = is_joined && step->joined ? (int64_t)step->joined - 1
								      : TP_PARQUET_NULL,
				.start_ns = (int64_t)step->start_ns,
				.end_ns = (int64_t)step->end_ns,
				.wait_ns = (int64_t)step->peer_ns,
				.is_judged = step->is_judged,
			};
			tp_parquet_add(table, &row);
		}
	}
	return tp_parquet_close(table, err);
}

/* ---- times and places ------------------------------------------------------------------------ */

struct place_row {
	int64_t rank_row, rank, place, line;
	const char *part, *label, *file, *function;
	double step_ns;
};

static const struct tp_parquet_column time_columns[] = {
	COLUMN(place_row, rank_row, INT, false),   COLUMN(place_row, rank, INT, true),
	COLUMN(place_row, part, TEXT, false),      COLUMN(place_row, label, TEXT, false),
	COLUMN(place_row, step_ns, DOUBLE, false),
};

static const struct tp_parquet_column place_columns[] = {
	COLUMN(place_row, rank_row, INT, false),   COLUMN(place_row, rank, INT, true),
	COLUMN(place_row, place, INT, false),      COLUMN(place_row, file, TEXT, true),
	COLUMN(place_row, function, TEXT, true),   COLUMN(place_row, line, INT, true),
	COLUMN(place_row, part, TEXT, false),      COLUMN(place_row, label, TEXT, false),
	COLUMN(place_row, step_ns, DOUBLE, false),
};

static struct place_row row_of(const struct tp_job *job, size_t i, enum tp_label label)
{
	return (struct place_row){.rank_row = (int64_t)i,
				  .rank = number_of(&job->ranks[i]),
				  .part = tp_part_name(tp_label_part(label)),
				  .label = tp_label_name(label)};
}

static enum tp_status write_times(const struct tp_job *job, FILE *out, struct tp_error *err)
{
	struct tp_parquet *table = tp_parquet_open(out, time_columns, TP_ARRAY_LEN(time_columns));
	for (size_t i = 0; i < job->n_ranks; i++) {
		for (int label = 0; label < TP_N_LABELS; label++) {
			struct place_row row = row_of(job, i, (enum tp_label)label);
			row.step_ns = job->ranks[i].label_ns[label];
			if (row.step_ns > 0)
				tp_parquet_add(table, &row);
		}
	}
	return tp_parquet_close(table, err);
}

static enum tp_status write_places(const struct tp_job *job, FILE *out, struct tp_error *err)
{
	struct tp_parquet *table = tp_parquet_open(out, place_columns, TP_ARRAY_LEN(place_columns));
	for (size_t i = 0; i < job->n_ranks; i++) {
		for (size_t k = 0; k < job->ranks[i].n_codes; k++) {
			const struct tp_job_code *code = &job->ranks[i].codes[k];
			struct place_row row = row_of(job, i, code->label);
			row.place = (int64_t)k;
			row.file = code->file;
			row.function = code->function;
			row.line = code->line ? code->line : TP_PARQUET_NULL;
			row.step_ns = code->step_ns;
			tp_parquet_add(table, &row);
		}
	}
	return tp_parquet_close(table, err);
}

const struct tp_job_table tp_job_tables[TP_N_JOB_TABLES] = {
	{"ranks.parquet", write_ranks},
	{"steps.parquet", write_steps},
	{"times.parquet", write_times},
	{"places.parquet", write_places},
};
