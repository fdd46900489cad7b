/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises the environment and names the command line that helps there:
 * docs/howto/containers.md. */
#include "launch_hint.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct launch_place {
	const char *name;
	const char *variable; /* set in this environment; NULL = only the file counts */
	const char *file;     /* exists in this container; NULL = no such file */
	const char *permit;   /* grants the missing permission; NULL = decided outside */
	const char *start;    /* how to start a measurement */
};

#define HOST_SYSCTL     "on the host: sudo sysctl kernel.perf_event_paranoid=1"
#define SAGEMAKER_START "trainprof run -o /opt/ml/output/data/prof -- python3 train.py"

static const char not_granted[] = "this service grants no more permissions";

/* The innermost comes first: a pod is also a container, a job of Slurm may run in one, and managed
 * services run pods. What those start keeps its recording in the folder that they save. */
static const struct launch_place places[] = {
	{"Jupyter", "JPY_SESSION_NAME", NULL, NULL, "!trainprof run -- python3 train.py"},
	{"Jupyter", "JPY_PARENT_PID", NULL, NULL, "!trainprof run -- python3 train.py"},
	{"Slurm", "SLURM_JOB_ID", NULL, NULL, "srun trainprof run -o prof -- python3 train.py"},
	{"SageMaker", "SM_TRAINING_ENV", NULL, not_granted, SAGEMAKER_START},
	{"SageMaker", NULL, "/opt/ml/input/config/resourceconfig.json", not_granted,
	 SAGEMAKER_START},
	{"Azure ML", "AZUREML_RUN_ID", NULL, not_granted,
	 "trainprof run -o outputs/prof -- python3 train.py"},
	{"Vertex AI", "CLOUD_ML_JOB_ID", NULL, not_granted,
	 "trainprof run -o prof -- python3 train.py; cp -r prof /gcs/BUCKET"},
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
	{"Here", NULL, NULL, NULL, "trainprof run -- python3 train.py"},
};

/* Virtual machines that were made from an image of Docker have its file, too. */
static bool is_found(const struct launch_place *e, const struct tp_host *host)
{
	if (e->variable)
		return getenv(e->variable) != NULL;
	return !e->file || (host->in_container && access(e->file, F_OK) == 0);
}

/* True where nobody can grant a permission, so only the way to start is of use. */
static bool is_closed(const struct launch_place *e)
{
	return e->permit && strcmp(e->permit, not_granted) == 0;
}

bool tp_launch_add_line(struct tp_buf *out, const struct tp_host *host)
{
	const struct launch_place *found = places;
	/* A notebook or a job determines how to start; the environment around it determines the
	 * permissions. */
	while (!is_found(found, host) || (!found->permit && found->variable))
		found++;
	if (found->permit)
		tp_buf_printf(out, "%s: %s", found->name, found->permit);
	return found->permit != NULL;
}

void tp_launch_hint(struct tp_buf *out, const struct tp_host *host, const char *remedy)
{
	const struct launch_place *found = places;
	while (!is_found(found, host))
		found++;
	if (!remedy || is_closed(found))
		tp_buf_printf(out, "%s: %s", found->name, found->start);
	else if (!tp_launch_add_line(out, host))
		tp_buf_printf(out, "Here: %s", remedy);
}
