/* SPDX-License-Identifier: Apache-2.0 */
/* Results about a job whose ranks were recorded live: which rank was last, in which steps, doing
 * what, and which ranks are missing. Ranks are joined by their steps and their waits for each
 * other, never by the clocks of different hosts. */
#ifndef TRAINPROF_MODEL_JOB_RESULT_H
#define TRAINPROF_MODEL_JOB_RESULT_H

#include "trainprof/base/arena.h"
#include "trainprof/base/strtab.h"
#include "trainprof/model/part.h"
#include "trainprof/model/profile.h"
#include "trainprof/model/run_info.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TP_JOB_PLACES_MAX = 12 }; /* of one rank */
enum { TP_JOB_ADVICE_MAX = 3 };

/* One step of one rank, on the monotonic clock of its host. */
struct tp_job_step {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t peer_ns; /* of it: waited for other ranks or exchanged with them */
	uint32_t joined;  /* by joining: its number in the job, from 1; 0 = not all ranks have it */
	bool is_judged;   /* steady or slow; not warm-up, evaluation, checkpoint */
};

/* A place in a program and its mean time per step. Texts live in the job's arena. */
struct tp_job_code {
	const char *file; /* NULL = unknown, as for compiled programs */
	const char *function;
	uint32_t line; /* 0 = unknown */
	enum tp_label label;
	double step_ns;
	double queue_ns; /* of it: waited for a CPU */
};

struct tp_job_rank {
	const char *directory;  /* of its recording; of a digest, what that was called */
	const char *digest;     /* the file that it was read from; NULL: its recording was read */
	uint64_t digest_offset; /* where it begins there */
	const char *launcher;   /* of its job; NULL = it was no rank of one */
	const char *job_id;     /* NULL = unknown */
	const char *label;      /* label of the run that the rank was recorded in */
	uint32_t attempt;
	const char *unreadable; /* why there is nothing else about it; or NULL */
	int64_t number;         /* -1 = unknown */
	const char *host;       /* NULL = unknown */
	pid_t pid;
	uint32_t n_ranks; /* size of the job according to this rank; 0 = unknown */
	const char *contradiction;
	enum tp_end_kind end;
	int end_code;
	bool is_cut; /* the recording was not closed */
	uint64_t started_ns;
	uint64_t ended_ns; /* time of its last record, on the host's clock */
	uint64_t started_wall_ns;
	/* The cost of measuring it; ranks in one recording share it equally. 0 = unknown. */
	uint64_t overhead_ns;
	double n_cpus;        /* CPUs that the rank could use: a quota may be of half a CPU */
	uint32_t n_host_cpus; /* CPUs of its host; 0 = unknown */
	struct tp_job_step *steps;
	size_t n_steps;
	size_t n_early; /* steps before those, left out because the job has very many ranks */
	size_t n_judged;
	double step_ns;                              /* mean of the judged steps */
	double label_ns[TP_N_LABELS];                /* per step, or per second without steps */
	struct tp_job_code codes[TP_JOB_PLACES_MAX]; /* without communication; largest first */
	size_t n_codes;
	double sample_ns;      /* what one sample adds to such a time; 0 = unknown */
	uint32_t n_places;     /* that it has, of which `codes` are the largest; 0 = unknown */
	uint64_t peer_tail_ns; /* at its end it did nothing but wait for others for this long */
	const struct tp_job_code *last_place; /* its place at its end, or NULL */

	/* Set by joining. */
	bool is_joined;
	size_t n_joined;   /* steps that other ranks have too */
	size_t n_last;     /* of these, steps in which it was clearly last */
	double own_ns;     /* mean of these steps without waits for others */
	double wait_ns;    /* mean of those waits */
	int64_t skew_ns;   /* its clock minus that of the first joined rank; 0 on the same host */
	bool is_late;      /* one of the ranks that are last */
	bool is_duplicate; /* another recording of the same rank is used */
};

enum tp_job_join {
	TP_JOB_NOT_JOINED,
	TP_JOB_BY_CLOCK,   /* all ranks are on one host */
	TP_JOB_BY_LENGTHS, /* lengths of steps vary together */
	TP_JOB_BY_ORDER,   /* the first recorded steps are assumed to be the same */
	TP_JOB_BY_SHARES,  /* no steps: by each rank's total waiting time; times are per second */
	TP_N_JOB_JOINS
};

/* The rank that is last, or why there is none. */
enum tp_job_verdict {
	TP_JOB_LATE_RANK,   /* the same rank in most steps */
	TP_JOB_SLOW_HOST,   /* all ranks of one host */
	TP_JOB_IN_TURN,     /* ranks wait for each other, for none in particular */
	TP_JOB_ALL_WAIT,    /* all wait at the same time: for the network, or for a rank without a
			       recording */
	TP_JOB_EVEN,        /* no rank waits long */
	TP_JOB_CANNOT_TELL, /* `because` says why */
	TP_N_JOB_VERDICTS
};

const char *tp_job_join_name(enum tp_job_join join);          /* "clock" */
const char *tp_job_verdict_name(enum tp_job_verdict verdict); /* "late_rank" */

/* Difference between the work of the late rank and that of the others. */
enum tp_job_late_kind {
	TP_JOB_LATE_UNKNOWN,
	TP_JOB_LATE_OTHER_WORK,  /* does what the others do not */
	TP_JOB_LATE_MORE_WORK,   /* some of the same work takes longer, and only that: batches that
				  * are larger */
	TP_JOB_LATE_SLOWER_CPU,  /* all of the same work takes longer: slower CPU, or more of all */
	TP_JOB_LATE_WITHOUT_CPU, /* waits for a CPU: other programs, too many threads, a limit */
	TP_JOB_LATE_OTHER_STAGE, /* has hardly any work in common with the others */
	TP_N_JOB_LATE_KINDS
};

const char *tp_job_late_kind_name(enum tp_job_late_kind kind); /* "more_work" */

enum { TP_JOB_NO_RANK = -1 };

/* Advice from the late rank's own report. */
struct tp_job_advice {
	const char *rule;
	const char *headline;
	const char *because;
	double gain_low, gain_value, gain_high; /* for the job: never more than all that it waits */
};

struct tp_job {
	struct tp_arena arena;
	struct tp_strtab texts; /* of digests, where most are alike */
	const char *label;
	const char *id; /* NULL = unknown */
	const char *launcher;
	struct tp_job_rank *ranks; /* by number, those without a number last */
	size_t n_ranks;
	size_t ranks_capacity;
	uint32_t n_expected;    /* number of ranks in the job; 0 = unknown */
	const int64_t *missing; /* numbers of ranks without a recording */
	size_t n_missing;
	size_t n_unreadable;
	size_t n_hosts;
	size_t n_other_jobs; /* recordings of other jobs, which were left out */

	enum tp_job_join joined_by;
	const char *not_joined; /* the reason; NULL if ranks were joined */
	size_t n_steps;         /* joined steps that are judged */
	size_t n_misplaced;     /* left out: a rank has their border at the wrong time */
	double step_ns;         /* their mean length */
	double wait_ratio; /* share of all ranks' time in them that is spent waiting for the last
			      rank */
	double exchange_ratio; /* share of a step that even the last rank spends communicating */

	enum tp_job_verdict verdict;
	const char *because; /* for CANNOT_TELL the reason; otherwise what makes the verdict less
				sure, or NULL */
	bool is_sure;
	int late;       /* index into ranks of the latest rank; or TP_JOB_NO_RANK */
	size_t n_late;  /* number of ranks that are late together */
	size_t n_last;  /* steps in which one of them was last */
	double late_ns; /* mean by which it works longer than the next rank */
	double late_low_ns, late_high_ns; /* 95 % */
	double gain, gain_low, gain_high; /* of the job, when it is as fast as the next; 1 = none */
	bool lacks_cpus;                  /* ranks compete for CPUs, so the gain is uncertain */
	enum tp_job_late_kind late_kind;
	enum tp_label late_label; /* what it does longer than others; TP_N_LABELS unknown */
	double late_label_ns;     /* in one step */
	double others_label_ns;
	const struct tp_job_code *late_code; /* NULL = unknown */
	double others_code_ns;
	bool others_code_is_bound; /* they have at most that: it is not among their largest places
				    */
	const char *slow_host;

	/* A rank that ended before the job did: by a signal, with a non-zero status, or with a
	 * truncated recording. */
	int ended; /* index, or TP_JOB_NO_RANK */
	size_t n_ended;
	uint64_t ended_wait_ns; /* how long the others then only waited */
	/* A rank that does not wait while the others do nothing else, up to the end. */
	int hanging;
	uint64_t hang_ns; /* at least this long; > 0 without `hanging`: all wait, or wait for a rank
			     without a recording */
	bool is_open;     /* no rank ended by itself: the job still runs, or was stopped */
	int stopped_by;   /* the signal that stopped it; 0 = none is known */

	/* At most: CPU time of measuring / CPU time that the ranks of a host could use, on the host
	 * where that is largest; 0 = unknown. */
	double overhead_ratio;
	bool has_no_recording; /* of the late rank, or the first: there is its digest alone */
	struct tp_job_advice advice[TP_JOB_ADVICE_MAX];
	size_t n_advice;
};

void tp_job_release(struct tp_job *job);

#endif
