/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the description of a run. */
#include "run_info_collect.h"

#include "git_commit.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/secret.h"
#include "trainprof/base/text.h"
#include "trainprof/base/version.h"

#include <assert.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Variables that control threads, memory, data types and ranks of training programs. Nothing else
 * of the environment is recorded: it contains secrets. */
static const char *const recorded[] = {
	"CUBLAS_*",
	"CUDA_LAUNCH_BLOCKING",
	"CUDA_VISIBLE_DEVICES",
	"GLIBC_TUNABLES",
	"GOMP_*",
	"HIP_LAUNCH_BLOCKING",
	"JAX_*",
	"KMP_*",
	"LD_PRELOAD",
	"LOCAL_RANK",
	"LOCAL_WORLD_SIZE",
	"MALLOC_*",
	"MKL_*",
	"NCCL_*",
	"NUMEXPR_*",
	"NVIDIA_TF32_OVERRIDE",
	"OMP_*",
	"OMPI_COMM_WORLD_*",
	"OPENBLAS_*",
	"PMI_RANK",
	"PMI_SIZE",
	"PYTHONDEVMODE",
	"PYTHONMALLOC",
	"PYTORCH_*",
	"RANK",
	"SLURM_CPUS_PER_TASK",
	"SLURM_NTASKS",
	"SLURM_PROCID",
	"TF_CPP_MAX_VLOG_LEVEL",
	"TF_ENABLE_*",
	"TF_GPU_*",
	"TF_NUM_*",
	"TF_XLA_*",
	"TOKENIZERS_PARALLELISM",
	"TORCH_*",
	"VECLIB_*",
	"WORLD_SIZE",
	"XLA_*",
};

static bool is_recorded(const char *name, const struct tp_words *names)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(recorded); i++)
		if (tp_text_glob(recorded[i], name))
			return true;
	for (size_t i = 0; i < names->n; i++)
		if (tp_text_glob(names->items[i], name))
			return true;
	return false;
}

static const char *mask_variable(const char *name, const char *value, struct tp_arena *arena)
{
	struct tp_buf masked = {0};
	tp_secret_add_variable(&masked, name, value);
	char *copy = tp_arena_strdup(arena, tp_buf_text(&masked));
	tp_buf_release(&masked);
	return copy;
}

/* Masks secrets in the command before it is recorded. */
static void mask_command(struct tp_run_info *run, struct tp_arena *arena)
{
	struct tp_buf masked = {0};
	struct tp_secret_scan scan = {0};
	for (size_t i = 0; i < run->n_command && !run->keeps_arguments; i++) {
		tp_buf_clear(&masked);
		tp_secret_add_argument(&masked, &scan, run->command[i]);
		run->command[i] = tp_arena_strdup(arena, tp_buf_text(&masked));
	}
	tp_buf_release(&masked);
}

/* Copies those of n variables "NAME=value" that are recorded. */
static void copy_environment(struct tp_run_info *out, char *const *from, size_t n,
			     const struct tp_words *names, struct tp_arena *arena)
{
	struct tp_env_var *variables = tp_arena_array(arena, n + 1, sizeof(*variables));
	out->n_environment = 0;
	for (size_t i = 0; i < n; i++) {
		size_t len = strcspn(from[i], "=");
		char *name = tp_arena_strndup(arena, from[i], len);
		if (!from[i][len] || !is_recorded(name, names))
			continue;
		variables[out->n_environment++] = (struct tp_env_var){
			.name = name,
			.value = out->keeps_arguments
					 ? tp_arena_strdup(arena, from[i] + len + 1)
					 : mask_variable(name, from[i] + len + 1, arena),
		};
	}
	out->environment = variables;
}

/* Longer arguments and variables are cut; the kernel's own limit is 6 MiB for both. */
enum { TEXTS_MAX = 8 << 20 };

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

static const char *random_id(struct tp_arena *arena)
{
	uint64_t bits = tp_clock_wall_ns();
	/* Too early after boot there is no randomness: then only the clock is used. */
	(void)!syscall(SYS_getrandom, &bits, sizeof(bits), GRND_NONBLOCK);
	return tp_arena_printf(arena, "r-%016llx", (unsigned long long)bits);
}

void tp_run_info_make(struct tp_run_info *out, char **argv, const struct tp_run_naming *naming,
		      const struct tp_host *host, struct tp_arena *arena)
{
	char here[PATH_MAX];
	size_t n = 0;
	assert(argv[0]);
	while (argv[n])
		n++;
	const char **command = tp_arena_array(arena, n, sizeof(*command));
	for (size_t i = 0; i < n; i++)
		command[i] = argv[i];
	*out = (struct tp_run_info){
		.id = random_id(arena),
		.label = naming->label ? naming->label
			 : n           ? base_name(argv[0])
				       : "",
		.keeps_arguments = naming->keeps_arguments,
		.command = command,
		.n_command = n,
		.directory = tp_arena_strdup(arena, getcwd(here, sizeof(here)) ? here : "?"),
		.mode = TP_MODE_RUN,
		.started_wall_ns = tp_clock_wall_ns(),
		.started_ns = tp_clock_now_ns(),
		.host = host->info,
		.written_by =
			tp_arena_printf(arena, "trainprof %s (%s)", tp_version(), tp_commit()),
	};
	size_t n_variables = 0;
	while (environ[n_variables])
		n_variables++;
	copy_environment(out, environ, n_variables, naming->variables, arena);
	mask_command(out, arena);
	out->commit = tp_git_commit_read(out->directory, arena);
}

/* Reads a file of /proc/PID that contains texts, each ended by a NUL; n = 0 if it cannot be
 * read. */
static char **read_texts(pid_t pid, const char *name, size_t *n, struct tp_arena *arena)
{
	char path[64];
	struct tp_buf text = {0};
	*n = 0;
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	if (tp_file_read(&text, path, TEXTS_MAX, NULL) != TP_OK)
		tp_buf_clear(&text);
	size_t most = 1;
	for (size_t i = 0; i < text.len; i++)
		most += text.data[i] == '\0';
	char **texts = tp_arena_array(arena, most, sizeof(*texts));
	for (size_t at = 0; at < text.len;) {
		size_t len = strnlen(text.data + at, text.len - at);
		texts[(*n)++] = tp_arena_strndup(arena, text.data + at, len);
		at += len + 1;
	}
	tp_buf_release(&text);
	return texts;
}

/* The program's name, for a program that has overwritten its arguments. */
static const char *read_comm(pid_t pid, struct tp_arena *arena)
{
	char path[64];
	char text[64];
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	long len = tp_file_peek(path, text, sizeof(text));
	return len > 1 ? tp_arena_strndup(arena, text, (size_t)len - 1) : "?";
}

static const char *read_directory(pid_t pid, struct tp_arena *arena)
{
	char path[64];
	char target[PATH_MAX];
	snprintf(path, sizeof(path), "/proc/%d/cwd", (int)pid);
	ssize_t len = readlink(path, target, sizeof(target));
	return len > 0 ? tp_arena_strndup(arena, target, (size_t)len) : "?";
}

/* Time since its start, with the resolution of a clock tick. */
static uint64_t age_ns(pid_t pid)
{
	enum { START_FIELD = 22 }; /* of /proc/PID/stat, proc(5), in ticks since boot */
	char path[64];
	char text[2048];
	struct timespec boot = {0};
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	const char *at = tp_file_peek(path, text, sizeof(text)) > 0 ? strrchr(text, ')') : NULL;
	for (int field = 2; at && field < START_FIELD; field++)
		at = strchr(at + 1, ' ');
	long hz = sysconf(_SC_CLK_TCK);
	if (!at || hz <= 0 || clock_gettime(CLOCK_BOOTTIME, &boot) != 0)
		return 0;
	uint64_t now_ns = (uint64_t)boot.tv_sec * TP_NS_PER_S + (uint64_t)boot.tv_nsec;
	uint64_t start_ns = strtoull(at, NULL, 10) * (TP_NS_PER_S / (uint64_t)hz);
	return now_ns > start_ns ? now_ns - start_ns : 0;
}

void tp_run_info_make_attached(struct tp_run_info *out, pid_t pid,
			       const struct tp_run_naming *naming, const struct tp_host *host,
			       struct tp_arena *arena)
{
	size_t n;
	size_t n_variables;
	char **variables = read_texts(pid, "environ", &n_variables, arena);
	char **texts = read_texts(pid, "cmdline", &n, arena);
	const char **command = tp_arena_array(arena, n + 1, sizeof(*command));
	for (size_t i = 0; i < n; i++)
		command[i] = texts[i];
	if (n == 0 || !*command[0]) {
		command[0] = read_comm(pid, arena);
		n = 1;
	}
	*out = (struct tp_run_info){
		.id = random_id(arena),
		.label = naming->label ? naming->label : base_name(command[0]),
		.keeps_arguments = naming->keeps_arguments,
		.command = command,
		.n_command = n,
		.directory = read_directory(pid, arena),
		.mode = TP_MODE_ATTACH,
		.pid = pid,
		.started_wall_ns = tp_clock_wall_ns(),
		.started_ns = tp_clock_now_ns(),
		.host = host->info,
		.written_by =
			tp_arena_printf(arena, "trainprof %s (%s)", tp_version(), tp_commit()),
	};
	out->attached_after_ns = age_ns(pid);
	cpu_set_t allowed;
	if (sched_getaffinity(pid, sizeof(allowed), &allowed) == 0) /* of the process, not ours */
		out->host.n_allowed = (uint32_t)CPU_COUNT(&allowed);
	copy_environment(out, variables, n_variables, naming->variables, arena);
	mask_command(out, arena);
}

/* Length of one ending that only names the type of the file; 0 if there is none. */
static size_t ending_length(const char *name, size_t len)
{
	static const char *const endings[] = {".gz",  ".json", ".trace",  ".pt",
					      ".tar", ".tgz",  ".sqlite", ".zip"};
	for (size_t i = 0; i < TP_ARRAY_LEN(endings); i++) {
		size_t n = strlen(endings[i]);
		if (len > n && memcmp(name + len - n, endings[i], n) == 0)
			return n;
	}
	return 0;
}

/* "traces/worker0.pt.trace.json.gz" -> "worker0". */
static const char *label_of_file(const char *path, struct tp_arena *arena)
{
	const char *name = base_name(path);
	size_t len = strlen(name);
	for (size_t n; (n = ending_length(name, len));)
		len -= n;
	return tp_arena_strndup(arena, name, len);
}

void tp_run_info_make_import(struct tp_run_info *out, const char *const *files, size_t n,
			     const char *label, struct tp_arena *arena)
{
	const char **command = tp_arena_array(arena, n + 2, sizeof(*command));
	command[0] = "trainprof";
	command[1] = "import";
	for (size_t i = 0; i < n; i++)
		command[i + 2] = files[i];
	*out = (struct tp_run_info){
		.id = random_id(arena),
		.label = label ? label : label_of_file(files[0], arena),
		.command = command,
		.n_command = n + 2,
		.directory = "",
		.mode = TP_MODE_IMPORT,
		.tier = TP_TIER_BARE, /* nothing was collected */
		.started_wall_ns = tp_clock_wall_ns(),
		.end = TP_END_UNKNOWN,
		.written_by =
			tp_arena_printf(arena, "trainprof %s (%s)", tp_version(), tp_commit()),
	};
}
