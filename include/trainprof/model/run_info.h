/* SPDX-License-Identifier: Apache-2.0 */
/* Everything known about a run besides its records: the recording's manifest, in memory. */
#ifndef TRAINPROF_MODEL_RUN_INFO_H
#define TRAINPROF_MODEL_RUN_INFO_H

#include "trainprof/base/arena.h"
#include "trainprof/base/buf.h"
#include "trainprof/model/job_place.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum tp_run_mode { TP_MODE_RUN, TP_MODE_ATTACH, TP_MODE_IMPORT, TP_MODE_MERGE };

enum tp_end_kind {
	TP_END_UNKNOWN, /* trainprof itself was killed, or the recording was truncated */
	TP_END_EXITED,
	TP_END_SIGNALED,
	TP_END_DETACHED,
	TP_END_RUNNING,
};

enum { TP_N_RUN_MODES = TP_MODE_MERGE + 1, TP_N_END_KINDS = TP_END_RUNNING + 1 };

/* Amount of data that could be collected; shown in reports, determined by trying
 * (docs/limits.md). */
enum tp_tier { TP_TIER_FULL, TP_TIER_REDUCED, TP_TIER_MINIMAL, TP_TIER_BARE, TP_N_TIERS };

struct tp_host_info {
	const char *name;
	const char *kernel; /* "Linux 6.18.44" */
	const char *cpu_model;
	uint32_t n_cpus;    /* online */
	uint32_t n_allowed; /* in our affinity mask */
	uint32_t n_numa_nodes;
	uint64_t memory_bytes;
	double quota_cpus;           /* cgroup CPU limit; 0 = none */
	uint64_t memory_limit_bytes; /* cgroup; 0 = none */
};

struct tp_env_var {
	const char *name;
	const char *value;
};

/* A device that a trace mentions. Zero and NULL = unknown. */
struct tp_device_info {
	int32_t number;
	const char *name;      /* "NVIDIA H100" */
	uint32_t n_processors; /* streaming multiprocessors, compute units */
	uint64_t memory_bytes;
	uint32_t capability; /* compute capability, 10 x major + minor */
};

/* More ranks than that in one recording are refused: 30 threads and streams of each are as many as
 * a recording can distinguish (TP_TRACKS_MAX). */
enum { TP_RANKS_MAX = 1024 };

/* One process of the job whose trace was imported, and its origin. */
struct tp_rank_info {
	const char *path;            /* path of the file, as given */
	const char *member;          /* name inside an archive; NULL if the file is not one */
	const char *sha256;          /* of the file: 64 hex digits */
	const char *format;          /* name of the importer: "kineto" */
	const char *host;            /* NULL = unknown */
	int64_t number;              /* the job's rank number; -1 = unknown */
	uint32_t n_ranks;            /* of the job; 0 = unknown */
	int64_t stage;               /* of the pipeline, from 0; -1 = none, or unknown */
	int64_t pid;                 /* 0 = unknown */
	uint64_t n_events;           /* events read, of any kind */
	uint64_t n_kept;             /* became spans */
	uint64_t n_skipped;          /* relevant, but malformed */
	const char *skipped_because; /* the first reason; NULL if none */
	bool is_cut;                 /* the file ends in the middle of the document */
	/* Sums over the whole file by the tool that wrote it, and those of the same work as it was
	 * read; all 0 = the tool wrote none. Exposed = while nothing computes. */
	uint64_t maker_computing_ns;
	uint64_t maker_communication_ns;
	uint64_t maker_exposed_ns;
	uint64_t read_computing_ns;
	uint64_t read_communication_ns;
	uint64_t read_exposed_ns;
	const struct tp_device_info *devices;
	size_t n_devices;
};

/* All pointers live in one arena, that of the trace or of the command. */
struct tp_run_info {
	const char *id;    /* "r-" and 16 hex digits */
	const char *label; /* -n, or the program's name */
	const char **command;
	size_t n_command;
	bool keeps_arguments;  /* secrets in command and environment are not masked */
	const char *directory; /* the target's working directory */
	const char *commit;    /* of the git repository there; NULL = none is known */
	enum tp_run_mode mode;
	enum tp_tier tier;
	pid_t pid;                  /* of the target */
	uint64_t attached_after_ns; /* age of the target at that time; TP_MODE_ATTACH only */
	uint64_t started_wall_ns;   /* CLOCK_REALTIME */
	uint64_t started_ns;        /* CLOCK_MONOTONIC: zero of the trace */
	uint64_t ended_ns;          /* CLOCK_MONOTONIC; 0 when unknown */
	uint64_t measure_from_ns;   /* --delay: CLOCK_MONOTONIC, started_ns when none */
	uint64_t measure_until_ns;  /* --duration or ended_ns; 0 when unknown */
	enum tp_end_kind end;
	int end_code;          /* exit status, or signal number */
	double sample_rate_hz; /* sustained interrupts per second and thread; 0 if there are none */
	double asked_rate_hz;  /* the requested rate; 0 = unknown */
	double poll_rate_hz;   /* inspections of blocked threads per second */
	struct tp_host_info host;
	struct tp_job_place job;              /* of a rank that was recorded by itself */
	const struct tp_env_var *environment; /* allow-list only */
	size_t n_environment;
	const char *written_by;           /* "trainprof 0.1.0 (0f3c2e1)" */
	const struct tp_rank_info *ranks; /* imported ranks */
	size_t n_ranks;
};

/* Their members in documents, in order: X(field, type, name in a manifest, name in a report, when
 * a report has it). Types: text, count and count32, number (above 0), integer32, flag, ordinal (-1
 * is unknown) and pid. A report has `known` members only if they are known, `always` members
 * always. */
#define TP_HOST_INFO_MAP(X)                                                                        \
	X(name, text, "name", "name", known)                                                       \
	X(kernel, text, "kernel", "kernel", known)                                                 \
	X(cpu_model, text, "cpu_model", "cpu_model", known)                                        \
	X(n_cpus, count32, "cpus", "cores", known)                                                 \
	X(n_allowed, count32, "allowed_cpus", "allowed_cores", known)                              \
	X(n_numa_nodes, count32, "numa_nodes", "numa_nodes", known)                                \
	X(memory_bytes, count, "memory_bytes", "memory_bytes", known)
/* Members of a host that a report lists among its limits. */
#define TP_HOST_LIMIT_MAP(X)                                                                       \
	X(quota_cpus, number, "quota_cpus", "cgroup_cpus", known)                                  \
	X(memory_limit_bytes, count, "memory_limit_bytes", "cgroup_memory_bytes", known)
#define TP_DEVICE_INFO_MAP(X)                                                                      \
	X(number, integer32, "number", "number", always)                                           \
	X(name, text, "name", "name", known)                                                       \
	X(n_processors, count32, "processors", "processors", known)                                \
	X(memory_bytes, count, "memory_bytes", "memory_bytes", known)                              \
	X(capability, count32, "capability", "capability", known)
#define TP_RANK_INFO_MAP(X)                                                                        \
	X(path, text, "path", "path", always)                                                      \
	X(member, text, "member", "member", known)                                                 \
	X(sha256, text, "sha256", "sha256", always)                                                \
	X(format, text, "format", "format", always)                                                \
	X(host, text, "host", "host", known)                                                       \
	X(number, ordinal, "number", "rank", known)                                                \
	X(n_ranks, count32, "n_ranks", "world_size", known)                                        \
	X(stage, ordinal, "stage", "stage", known)                                                 \
	X(pid, pid, "pid", "pid", known)                                                           \
	X(n_events, count, "events", "events", always)                                             \
	X(n_kept, count, "kept", "kept", always)                                                   \
	X(n_skipped, count, "skipped", "skipped", always)                                          \
	X(skipped_because, text, "skipped_because", "skipped_because", known)                      \
	X(is_cut, flag, "is_cut", "is_cut", always)                                                \
	X(maker_computing_ns, count, "maker_computing_ns", "maker_computing_ns", known)            \
	X(maker_communication_ns, count, "maker_communication_ns", "maker_communication_ns",       \
	  known)                                                                                   \
	X(maker_exposed_ns, count, "maker_exposed_ns", "maker_exposed_ns", known)                  \
	X(read_computing_ns, count, "read_computing_ns", "read_computing_ns", known)               \
	X(read_communication_ns, count, "read_communication_ns", "read_communication_ns", known)   \
	X(read_exposed_ns, count, "read_exposed_ns", "read_exposed_ns", known)

/* As in the report's schema: "attach", "reduced", "exited". */
const char *tp_run_mode_name(enum tp_run_mode mode);
const char *tp_tier_name(enum tp_tier tier);
const char *tp_end_name(enum tp_end_kind end);

/* Appends the command as a line for a shell, with the prefix in front of its program: after the
 * variables that `env` sets, which would win otherwise. */
void tp_run_info_add_command(struct tp_buf *out, const struct tp_run_info *run, const char *prefix);
/* Returns the first variable that the prefix sets or removes and the command's own words set again
 * after it, as in `sh -c "THREADS=8 ./train"`; NULL = none. */
const char *tp_run_info_overrides(const struct tp_run_info *run, const char *prefix,
				  struct tp_arena *arena);
/* A deep copy into an arena. */
void tp_run_info_copy(struct tp_run_info *out, const struct tp_run_info *from,
		      struct tp_arena *arena);

#endif
