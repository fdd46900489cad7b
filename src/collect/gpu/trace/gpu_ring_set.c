/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and drains the rings of GPU agents. */
#include "gpu_ring_set.h"

#include "collect/process/procfs_stat.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/collect/collector.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define TP_LOG_DOMAIN "collect"
#include "trainprof/base/log.h"

/* The size of a process's ring with all its tables. */
#define RING_BYTES (UINT64_C(33) << 20)

enum { PROCESSES_MIN = 4 };

enum { DETACH_TRIES = 400 }; /* waits of 5 ms */

#define DIRECTORY_PREFIX "trainprof-gpu-"

/* ---- the directory -------------------------------------------------------------------------- */

static void remove_directory(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) /* NOLINT(concurrency-mt-unsafe): one thread's */
		if (tp_text_starts_with(entry->d_name, TP_GPU_RING_PREFIX))
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(path);
}

/* Opens and locks the directory; negative if another profiler has locked it. A pid alone is not
 * enough: containers may share /dev/shm but not pids. */
static int lock_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* True for a directory of ours whose profiler has died. */
static bool is_stale(const char *path, const char *name)
{
	struct stat about;
	char *end;
	long pid = strtol(name + strlen(DIRECTORY_PREFIX), &end, 10);
	if (*end != '-' || pid <= 0 || pid > INT32_MAX || kill((pid_t)pid, 0) == 0 ||
	    errno != ESRCH || lstat(path, &about) != 0 || !S_ISDIR(about.st_mode) ||
	    about.st_uid != geteuid())
		return false;
	int fd = lock_directory(path);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void remove_stale(const char *parent)
{
	DIR *dir = opendir(parent);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) { /* NOLINT(concurrency-mt-unsafe): one thread's */
		if (!tp_text_starts_with(entry->d_name, DIRECTORY_PREFIX))
			continue;
		char *path = tp_asprintf("%s/%s", parent, entry->d_name);
		if (is_stale(path, entry->d_name))
			remove_directory(path);
		free(path);
	}
	if (dir)
		closedir(dir);
}

/* Counts device nodes: /dev/nvidia0, but not /dev/nvidiactl. */
static unsigned n_devices(void)
{
	unsigned n = 0;
	DIR *dir = opendir("/dev");
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) /* NOLINT(concurrency-mt-unsafe): one thread's */
		n += tp_text_starts_with(entry->d_name, "nvidia") &&
		     entry->d_name[strlen("nvidia")] >= '0' &&
		     entry->d_name[strlen("nvidia")] <= '9';
	if (dir)
		closedir(dir);
	return n;
}

uint64_t tp_gpu_ring_set_room(unsigned n_gpus)
{
	return 2 * RING_BYTES * (n_gpus > PROCESSES_MIN ? n_gpus : PROCESSES_MIN);
}

static const char *choose_parent(void)
{
	struct statvfs about;
	if (statvfs("/dev/shm", &about) == 0 && access("/dev/shm", W_OK | X_OK) == 0 &&
	    (uint64_t)about.f_bavail * about.f_frsize >= tp_gpu_ring_set_room(n_devices()))
		return "/dev/shm";
	return "/tmp";
}

void tp_gpu_ring_set_init(struct tp_gpu_ring_set *out, const struct tp_collect_context *context,
			  const char *source)
{
	*out = (struct tp_gpu_ring_set){.context = context, .source = source, .lock_fd = -1};
	tp_gpu_demangler_open(&out->demangler);
}

enum tp_status tp_gpu_ring_set_open(struct tp_gpu_ring_set *out, const char *parent,
				    const struct tp_collect_context *context, const char *source,
				    struct tp_error *err)
{
	tp_gpu_ring_set_init(out, context, source);
	parent = parent ? parent : choose_parent();
	remove_stale(parent);
	out->directory = tp_asprintf("%s/" DIRECTORY_PREFIX "%d-XXXXXX", parent, (int)getpid());
	if (!mkdtemp(out->directory)) {
		int failure = errno;
		free(out->directory);
		out->directory = NULL;
		tp_gpu_demangler_close(&out->demangler);
		return tp_fail(err, TP_IO, "no directory for GPU events in %s: %s", parent,
			       tp_errno_text(failure));
	}
	out->lock_fd = lock_directory(out->directory);
	return TP_OK;
}

static void ring_free(struct tp_gpu_ring *ring)
{
	tp_gpu_decoder_free(ring->decoder);
	tp_gpu_ring_reader_close(&ring->file);
	free(ring);
}

void tp_gpu_ring_set_close(struct tp_gpu_ring_set *rings)
{
	for (size_t i = 0; i < rings->n; i++)
		ring_free(rings->items[i]);
	if (rings->directory) {
		remove_directory(rings->directory);
		if (rings->lock_fd >= 0)
			close(rings->lock_fd);
	}
	tp_gpu_demangler_close(&rings->demangler);
	free(rings->items);
	free(rings->directory);
	*rings = (struct tp_gpu_ring_set){0};
}

/* ---- new rings ------------------------------------------------------------------------------ */

static bool is_ring_name(const char *name)
{
	return tp_text_starts_with(name, TP_GPU_RING_PREFIX) &&
	       strlen(name) < sizeof(((struct tp_gpu_ring *)0)->name) &&
	       strstr(name, TP_GPU_RING_SUFFIX);
}

/* Returns the errno at the end of the name of a ring that could not be created; otherwise 0. */
static int failure_of(const char *name)
{
	const char *suffix = strstr(name, TP_GPU_RING_SUFFIX) + strlen(TP_GPU_RING_SUFFIX);
	return *suffix ? (int)strtol(suffix + 1, NULL, 10) : 0;
}

static bool is_known(const struct tp_gpu_ring_set *rings, const char *name)
{
	for (size_t i = 0; i < rings->n; i++)
		if (strcmp(rings->items[i]->name, name) == 0)
			return true;
	return false;
}

static void decoder_begin(struct tp_gpu_ring_set *rings, struct tp_gpu_ring *ring, pid_t pid)
{
	const struct tp_gpu_decoder_config config = {
		.sink = rings->context->sink,
		.tree = rings->context->tree,
		.demangler = &rings->demangler,
		.file = &ring->file,
		.source = rings->source,
		.rank = (uint32_t)rings->n,
		.pid = pid,
		.progress = rings->progress,
		.is_spent = &rings->is_spent,
	};
	ring->decoder = tp_gpu_decoder_new(&config);
	if (rings->wanted != TP_GPU_REQUEST_DEFAULT)
		tp_gpu_ring_reader_request(&ring->file, rings->wanted);
}

/* A ring that has no contents yet is tried again. */
static void ring_add(struct tp_gpu_ring_set *rings, const char *name)
{
	struct tp_gpu_ring *ring = tp_alloc(sizeof(*ring));
	char *path = tp_asprintf("%s/%s", rings->directory, name);
	snprintf(ring->name, sizeof(ring->name), "%.*s", (int)sizeof(ring->name) - 1, name);
	int failure = failure_of(name);
	ring->file.fd = -1;
	ring->has_no_file = failure != 0;
	enum tp_status status = failure ? tp_fail(&ring->why, TP_IO, "no file for GPU events: %s",
						  tp_errno_text(failure))
					: tp_gpu_ring_reader_open(&ring->file, path, &ring->why);
	free(path);
	if (status == TP_ABSENT || rings->n >= TP_RANKS_MAX) {
		rings->n_too_many += status != TP_ABSENT;
		tp_gpu_ring_reader_close(&ring->file);
		free(ring);
		return;
	}
	if (status == TP_OK)
		decoder_begin(rings, ring, (pid_t)ring->file.header.pid);
	else
		tp_info("%s", ring->why.text);
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	TP_ARRAY_PUSH(rings->items, rings->n, rings->capacity) = ring;
}

enum tp_status tp_gpu_ring_set_add_fd(struct tp_gpu_ring_set *rings, int fd, pid_t pid,
				      struct tp_error *err)
{
	struct tp_gpu_ring *ring = tp_alloc(sizeof(*ring));
	ring->joined = pid;
	snprintf(ring->name, sizeof(ring->name), "pid %d", (int)pid);
	enum tp_status status = tp_gpu_ring_reader_open_fd(&ring->file, fd, ring->name, err);
	if (status == TP_OK && rings->n >= TP_RANKS_MAX)
		status = tp_fail(err, TP_BUSY, "more processes than can be distinguished");
	if (status != TP_OK) {
		ring_free(ring);
		return status;
	}
	decoder_begin(rings, ring, pid);
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	TP_ARRAY_PUSH(rings->items, rings->n, rings->capacity) = ring;
	return TP_OK;
}

static void find_new_rings(struct tp_gpu_ring_set *rings)
{
	DIR *dir = rings->directory ? opendir(rings->directory) : NULL;
	const struct dirent *entry;
	rings->n_too_many = 0;
	while (dir && (entry = readdir(dir))) /* NOLINT(concurrency-mt-unsafe): one thread's */
		if (is_ring_name(entry->d_name) && !is_known(rings, entry->d_name))
			ring_add(rings, entry->d_name);
	if (dir)
		closedir(dir);
}

/* ---- draining ------------------------------------------------------------------------------- */

static uint64_t ring_drain(struct tp_gpu_ring *ring, uint64_t now_ns, size_t most)
{
	if (!ring->decoder)
		return 0;
	tp_gpu_ring_reader_mark_alive(&ring->file, now_ns);
	tp_gpu_decoder_begin(ring->decoder, now_ns);
	if (tp_gpu_ring_reader_refresh(&ring->file))
		tp_gpu_ring_reader_drain(&ring->file, most, tp_gpu_decoder_event, ring->decoder);
	tp_gpu_decoder_end(ring->decoder);
	return tp_gpu_ring_reader_n_left(&ring->file);
}

uint64_t tp_gpu_ring_set_drain(struct tp_gpu_ring_set *rings, uint64_t now_ns, size_t most)
{
	uint64_t n_left = 0;
	find_new_rings(rings);
	for (size_t i = 0; i < rings->n; i++)
		n_left += ring_drain(rings->items[i], now_ns, most);
	return n_left;
}

void tp_gpu_ring_set_request(struct tp_gpu_ring_set *rings, enum tp_gpu_request wanted)
{
	rings->wanted = wanted;
	for (size_t i = 0; i < rings->n; i++)
		if (rings->items[i]->decoder)
			tp_gpu_ring_reader_request(&rings->items[i]->file, wanted);
}

/* ---- detach --------------------------------------------------------------------------------- */

static bool has_ended(const struct tp_gpu_ring_set *rings, const struct tp_gpu_ring *ring)
{
	return !tp_procfs_stat_is_alive(rings->context->host, ring->joined, 0);
}

static bool has_detached(const struct tp_gpu_ring_set *rings, struct tp_gpu_ring *ring)
{
	return !ring->joined || !tp_gpu_ring_reader_refresh(&ring->file) ||
	       ring->file.header.state == TP_GPU_STATE_FINISHED ||
	       ring->file.header.state >= TP_GPU_STATE_NO_CUPTI || has_ended(rings, ring);
}

static bool have_all_detached(const struct tp_gpu_ring_set *rings)
{
	for (size_t i = 0; i < rings->n; i++)
		if (!has_detached(rings, rings->items[i]))
			return false;
	return true;
}

void tp_gpu_ring_set_detach(struct tp_gpu_ring_set *rings, uint64_t now_ns)
{
	const struct timespec nap = {.tv_nsec = 5000000};
	tp_gpu_ring_set_request(rings, TP_GPU_REQUEST_LEAVE);
	for (int i = 0; i < DETACH_TRIES && !have_all_detached(rings); i++)
		nanosleep(&nap, NULL);
	tp_gpu_ring_set_drain(rings, now_ns, SIZE_MAX);
	for (size_t i = 0; i < rings->n; i++)
		if (rings->items[i]->joined &&
		    rings->items[i]->file.header.state == TP_GPU_STATE_FINISHED)
			tp_gpu_ring_reader_free_events(&rings->items[i]->file);
}
