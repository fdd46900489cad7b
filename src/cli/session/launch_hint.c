/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises the environment and names the command line that helps there:
 * docs/howto/containers.md. */
#include "launch_hint.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

struct launch_place {
	const char *name;
	const char *variable; /* set in this environment; NULL = only the file counts */
	const char *file;     /* exists in this environment */
	const char *permit;   /* grants the missing permission; NULL = decided outside */
	const char *start;    /* how to start a measurement */
};

#define HOST_SYSCTL "on the host: sudo sysctl kernel.perf_event_paranoid=1"

/* The innermost comes first: a pod is also a container, and a job of Slurm may run in one. */
static const struct launch_place places[] = {
	{"Jupyter", "JPY_SESSION_NAME", NULL, NULL, "!trainprof run -- python3 train.py"},
	{"Jupyter", "JPY_PARENT_PID", NULL, NULL, "!trainprof run -- python3 train.py"},
	{"Slurm", "SLURM_JOB_ID", NULL, NULL, "srun trainprof run -o prof -- python3 train.py"},
	{"Kubernetes", "KUBERNETES_SERVICE_HOST", NULL,
	 "securityContext: {capabilities: {add: [PERFMON, SYS_PTRACE]}}",
	 "kubectl exec POD -- trainprof attach -d 30s PID"},
	{"Apptainer", "APPTAINER_CONTAINER", NULL, HOST_SYSCTL,
	 "apptainer exec IMAGE trainprof run -- python3 train.py"},
	{"Apptainer", "SINGULARITY_CONTAINER", NULL, HOST_SYSCTL,
	 "singularity exec IMAGE trainprof run -- python3 train.py"},
	{"Podman", NULL, "/run/.containerenv",
	 "podman run --cap-add=PERFMON,SYS_PTRACE --security-opt seccomp=unconfined …",
	 "trainprof run -- python3 train.py"},
	{"Docker", NULL, "/.dockerenv", "docker run --cap-add=PERFMON --cap-add=SYS_PTRACE …",
	 "trainprof run -- python3 train.py"},
	{"Here", NULL, "/", NULL, "trainprof run -- python3 train.py"},
};

static bool is_found(const struct launch_place *e)
{
	return e->variable ? getenv(e->variable) != NULL : access(e->file, F_OK) == 0;
}

bool tp_launch_add_line(struct tp_buf *out)
{
	const struct launch_place *found = places;
	/* A notebook or a job determines how to start; the environment around it determines the
	 * permissions. */
	while (!is_found(found) || (!found->permit && found->variable))
		found++;
	if (found->permit)
		tp_buf_printf(out, "%s: %s", found->name, found->permit);
	return found->permit != NULL;
}

void tp_launch_hint(struct tp_buf *out, const char *remedy)
{
	const struct launch_place *found = places;
	while (!is_found(found))
		found++;
	if (!remedy)
		tp_buf_printf(out, "%s: %s", found->name, found->start);
	else if (!tp_launch_add_line(out))
		tp_buf_printf(out, "Here: %s", remedy);
}
