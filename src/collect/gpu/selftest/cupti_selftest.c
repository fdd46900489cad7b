/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a child process initialise CUDA with the agent, and reads the result. */
#include "cupti_selftest.h"

#include "collect/gpu/common/cuda_init.h"
#include "collect/gpu/trace/agent_path.h"
#include "collect/gpu/trace/agent_state.h"
#include "collect/gpu/trace/gpu_ring_reader.h"
#include "collect/machine/availability.h"
#include "collect/process/child_wait.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/wire/gpu_faults.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define POLL_NS      (20 * TP_NS_PER_MS)
#define KILL_WAIT_NS TP_NS_PER_S /* a process that hangs in the driver does not die from it */

enum { NO_DRIVER = 64, NO_CUDA = 65, PATH_SIZE = 512 };

/* ---- child ---------------------------------------------------------------------------------- */

/* Results of CUDA are below 1000 and do not fit into an exit status of one byte. */
static _Noreturn void child_run(const char *agent, const char *directory)
{
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (nowhere >= 0) {
		dup2(nowhere, STDOUT_FILENO);
		dup2(nowhere, STDERR_FILENO);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setenv("CUDA_INJECTION64_PATH", agent, 1); /* NOLINT(concurrency-mt-unsafe): one thread */
	setenv(TP_GPU_RINGS_ENV, directory, 1);    /* NOLINT(concurrency-mt-unsafe) */
	unsetenv(TP_GPU_ENV);                      /* NOLINT(concurrency-mt-unsafe) */
	int result = tp_cuda_init();
	if (result != 0)
		_exit(result == TP_CUDA_NO_DRIVER ? NO_DRIVER : NO_CUDA);
	for (;;)
		pause();
}

/* ---- ring ----------------------------------------------------------------------------------- */

/* Finds the only ring; false: not there yet. */
static bool find_ring(const char *directory, char *out, size_t size)
{
	bool is_found = false;
	DIR *dir = opendir(directory);
	const struct dirent *entry;
	while (dir && !is_found && (entry = readdir(dir))) { /* NOLINT(concurrency-mt-unsafe) */
		is_found = strncmp(entry->d_name, TP_GPU_RING_PREFIX,
				   sizeof(TP_GPU_RING_PREFIX) - 1) == 0;
		if (is_found)
			snprintf(out, size, "%s/%s", directory, entry->d_name);
	}
	if (dir)
		closedir(dir);
	return is_found;
}

static bool is_decided(uint32_t state)
{
	return state == TP_GPU_STATE_OPEN || state == TP_GPU_STATE_BACKOFF ||
	       state >= TP_GPU_STATE_NO_CUPTI;
}

/* Waits until the agent has a result, the child has ended, or the time is over. */
static bool wait_for_ring(const char *directory, pid_t pid, double seconds,
			  struct tp_gpu_ring_header *out, int *status)
{
	char path[PATH_SIZE];
	uint64_t until_ns = tp_clock_now_ns() + (uint64_t)(seconds * 1e9);
	bool has_ended = false;
	bool is_known = false;
	while (!has_ended && !is_known && tp_clock_now_ns() < until_ns) {
		struct tp_gpu_ring_reader file;
		nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
		has_ended = waitpid(pid, status, WNOHANG) == pid;
		if (!find_ring(directory, path, sizeof(path)) ||
		    tp_gpu_ring_reader_open(&file, path, NULL) != TP_OK)
			continue;
		*out = file.header;
		is_known = is_decided(file.header.state);
		tp_gpu_ring_reader_close(&file);
	}
	if (!has_ended) {
		kill(pid, SIGKILL);
		(void)tp_child_wait(pid, KILL_WAIT_NS, status);
	}
	return is_known;
}

/* ---- result --------------------------------------------------------------------------------- */

static void set_row(struct tp_gpu_selftest_row *row, enum tp_presence presence, const char *reason,
		    const char *remedy)
{
	row->availability.presence = presence;
	snprintf(row->availability.reason, sizeof(row->availability.reason), "%.119s", reason);
	snprintf(row->availability.remedy, sizeof(row->availability.remedy), "%.119s", remedy);
}

static void report_ring(struct tp_gpu_selftest_row *row, const struct tp_gpu_ring_header *header)
{
	char version[24];
	char reason[120];
	const struct tp_gpu_fault *stops =
		tp_gpu_fault_find(TP_GPU_FAULT_STOPS, header->cupti_version,
				  header->driver_version);
	const struct tp_gpu_fault *misleads =
		tp_gpu_fault_find(TP_GPU_FAULT_WRONG_DATA, header->cupti_version,
				  header->driver_version);
	if (header->cupti_version)
		snprintf(row->text, sizeof(row->text), "CUPTI %s of %.100s, driver for CUDA %u.%u",
			 tp_gpu_cupti_name(header->cupti_version, version, sizeof(version)),
			 header->library, header->driver_version / 1000,
			 header->driver_version % 1000 / 10);
	enum tp_presence presence = tp_agent_state_explain(header, reason, sizeof(reason));
	if (header->state == TP_GPU_STATE_NO_CUPTI)
		set_row(row, presence, "none was found where programs look for it",
			"TRAINPROF_CUPTI=/path/of/libcupti.so trainprof run …");
	else if (header->state != TP_GPU_STATE_OPEN)
		set_row(row, presence, reason, stops && stops->remedy ? stops->remedy : "");
	else if (misleads)
		set_row(row, TP_PRESENCE_DEGRADED, misleads->text,
			misleads->remedy ? misleads->remedy : "");
}

/* If there is no ring, the child's exit status says why. */
static void report_exit(struct tp_gpu_selftest_row *row, int status, double seconds)
{
	char reason[120];
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	if (code == NO_DRIVER) {
		set_row(row, TP_PRESENCE_NO_LIBRARY, "libcuda.so.1 cannot be loaded",
			"in a container: NVIDIA_DRIVER_CAPABILITIES=compute,utility");
	} else if (code == NO_CUDA) {
		set_row(row, TP_PRESENCE_NO_DEVICE, "CUDA does not start (cuInit)", "nvidia-smi");
	} else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) {
		snprintf(reason, sizeof(reason), "CUDA died of signal %d", WTERMSIG(status));
		set_row(row, TP_PRESENCE_NO_DEVICE, reason, "TRAINPROF_GPU=0 trainprof run …");
	} else {
		snprintf(reason, sizeof(reason), "nothing was known after %.0f s", seconds);
		set_row(row, TP_PRESENCE_NO_DEVICE, reason, "sudo nvidia-smi -pm 1");
	}
}

static void remove_directory(const char *directory)
{
	char path[PATH_SIZE];
	while (find_ring(directory, path, sizeof(path)) && unlink(path) == 0)
		;
	rmdir(directory);
}

static void test_in_directory(struct tp_gpu_selftest_row *row, const char *agent,
			      const char *directory, double seconds)
{
	struct tp_gpu_ring_header header;
	int status = 0;
	pid_t pid = fork();
	if (pid == 0)
		child_run(agent, directory);
	if (pid < 0)
		set_row(row, TP_PRESENCE_NO_DEVICE, tp_errno_text(errno), "");
	else if (wait_for_ring(directory, pid, seconds, &header, &status))
		report_ring(row, &header);
	else
		report_exit(row, status, seconds);
}

void tp_cupti_selftest(struct tp_gpu_selftest_row *row, double seconds)
{
	char directory[] = "/tmp/trainprof-try-XXXXXX";
	const char *wish = getenv(TP_GPU_ENV); /* NOLINT(concurrency-mt-unsafe) */
	char *agent = tp_agent_path();
	*row = (struct tp_gpu_selftest_row){.name = "cupti-try"};
	snprintf(row->text, sizeof(row->text), "CUPTI, as programs have it");
	if (wish && strcmp(wish, "0") == 0) {
		set_row(row, TP_PRESENCE_OFF, "switched off by TRAINPROF_GPU=0", "");
	} else if (!agent) {
		set_row(row, TP_PRESENCE_NO_LIBRARY, TP_AGENT_LIBRARY " is not where trainprof is",
			TP_AGENT_ENV "=/path/of/" TP_AGENT_LIBRARY " trainprof run …");
	} else if (!mkdtemp(directory)) {
		set_row(row, TP_PRESENCE_NO_DEVICE, "no directory can be made in /tmp", "");
	} else {
		test_in_directory(row, agent, directory, seconds);
		remove_directory(directory);
	}
	free(agent);
}
