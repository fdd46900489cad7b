/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a rank's place in its job from the environment variables of launchers. */
#include "trainprof/model/job_place.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <string.h>

/* Variables of one launcher. NULL = it does not set this one. */
struct launcher {
	const char *name;
	const char *needs; /* must be set too; NULL = nothing else is needed */
	const char *rank;
	const char *n_ranks;
	const char *local_rank;
	const char *id;
	const char *attempt;
	bool is_of_script; /* also set for the script that a batch system starts, which is no rank
			    */
};

/*
 * In order from the innermost launcher: torchrun passes on to its workers everything that mpirun or
 * srun set, and mpirun may run in a container whose own place is in RANK. Open MPI: mpirun(1),
 * "Environmental variables"; MPICH, Intel MPI: PMI-1; Slurm: srun(1), "Output environment
 * variables"; RANK: torch.distributed, "Environment variable initialization", which DeepSpeed and
 * Kubeflow follow.
 */
static const struct launcher launchers[] = {
	{"torchrun", "TORCHELASTIC_RUN_ID", "RANK", "WORLD_SIZE", "LOCAL_RANK",
	 "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", false},
	{"Open MPI", NULL, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
	 "OMPI_COMM_WORLD_LOCAL_RANK", "PMIX_NAMESPACE", NULL, false},
	{"PMI", NULL, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", NULL, NULL, false},
	{"RANK and WORLD_SIZE", NULL, "RANK", "WORLD_SIZE", "LOCAL_RANK", NULL, NULL, false},
	{"Slurm", NULL, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", NULL, NULL, true},
	{"Slurm", NULL, "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", NULL, NULL, true},
	{"PMIx", NULL, "PMIX_RANK", NULL, NULL, "PMIX_NAMESPACE", NULL, false},
};

/* Job ids that a batch system sets for its jobs. */
static const char *const batch_ids[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID",
					"JOB_ID"};

struct environment {
	tp_variable_fn *variable;
	const void *context;
	struct tp_arena *arena;
};

static const char *value_of(const struct environment *from, const char *name)
{
	const char *value = name ? from->variable(from->context, name) : NULL;
	return value && *value ? value : NULL;
}

/* Returns false also if there is no such variable. */
static bool read_number(const struct environment *from, const char *name, uint64_t *out)
{
	const char *text = value_of(from, name);
	return text && tp_text_parse_count(text, out) && *out <= INT32_MAX;
}

/* The address at which ranks meet is the same for the whole job, and hardly ever for two jobs at
 * once. */
static const char *address_id(const struct environment *from)
{
	const char *address = value_of(from, "MASTER_ADDR");
	const char *port = value_of(from, "MASTER_PORT");
	return address && port ? tp_arena_printf(from->arena, "%.200s:%.20s", address, port) : NULL;
}

static const char *batch_id(const struct environment *from)
{
	const char *step = value_of(from, "SLURM_STEP_ID");
	for (size_t i = 0; i < TP_ARRAY_LEN(batch_ids); i++) {
		const char *id = value_of(from, batch_ids[i]);
		if (id && i == 0 && step)
			return tp_arena_printf(from->arena, "%.200s.%.40s", id, step);
		if (id)
			return tp_arena_strndup(from->arena, id, strnlen(id, 200));
	}
	return NULL;
}

static const char *job_id(const struct launcher *by, const struct environment *from)
{
	const char *id = value_of(from, by->id);
	/* torchrun's id of a run for which the user gave none */
	if (id && strcmp(id, "none") != 0)
		return tp_arena_strndup(from->arena, id, strnlen(id, 200));
	const char *point = strcmp(by->rank, "RANK") == 0 ? address_id(from) : NULL;
	return point ? point : batch_id(from);
}

/* ENVIRONMENT=BATCH: sbatch(1); a step has its own number. */
static bool is_script(const struct launcher *by, const struct environment *from)
{
	const char *kind = value_of(from, "ENVIRONMENT");
	return by->is_of_script && kind && strcmp(kind, "BATCH") == 0 &&
	       !value_of(from, "SLURM_STEP_ID");
}

static bool read_place(struct tp_job_place *out, const struct launcher *by,
		       const struct environment *from)
{
	uint64_t rank = 0;
	uint64_t n = 0;
	uint64_t other = 0;
	const char *word = value_of(from, by->rank);
	const char *size = value_of(from, by->n_ranks);
	if (!word || (by->n_ranks && !size) || (by->needs && !value_of(from, by->needs)) ||
	    is_script(by, from))
		return false;
	bool is_number = read_number(from, by->rank, &rank);
	bool is_good = is_number && (!by->n_ranks || (read_number(from, by->n_ranks, &n) && n));
	bool is_possible = is_good && (!n || rank < n);
	if (!is_possible && !out->contradiction)
		out->contradiction =
			tp_arena_printf(from->arena, "%s=%.20s%s%s%s%.20s", by->rank, word,
					size ? " of " : "", size ? by->n_ranks : "",
					size ? "=" : "", size ? size : "");
	if (!is_number || n == 1)
		return is_number && is_possible && n != 1;
	out->launcher = by->name;
	out->id = job_id(by, from);
	out->rank = (int64_t)rank;
	out->n_ranks = is_possible ? (uint32_t)n : 0;
	out->local_rank = read_number(from, by->local_rank, &other) ? (int64_t)other : -1;
	out->attempt = read_number(from, by->attempt, &other) ? (uint32_t)other : 0;
	return is_possible;
}

bool tp_job_place_find(struct tp_job_place *out, tp_variable_fn *variable, const void *context,
		       struct tp_arena *arena)
{
	const struct environment from = {variable, context, arena};
	struct tp_job_place doubtful = {0};
	*out = (struct tp_job_place){.local_rank = -1};
	for (size_t i = 0; i < TP_ARRAY_LEN(launchers); i++) {
		if (read_place(out, &launchers[i], &from))
			return true;
		/* Another launcher may give a certain place. */
		if (out->launcher && !doubtful.launcher)
			doubtful = *out;
		*out = (struct tp_job_place){.local_rank = -1, .contradiction = out->contradiction};
	}
	if (doubtful.launcher)
		*out = doubtful;
	return doubtful.launcher != NULL;
}

void tp_job_place_copy(struct tp_job_place *out, const struct tp_job_place *from,
		       struct tp_arena *arena)
{
	*out = *from;
	out->launcher = tp_arena_strdup(arena, from->launcher);
	out->id = tp_arena_strdup(arena, from->id);
	out->contradiction = tp_arena_strdup(arena, from->contradiction);
}
