/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the process, chooses a thread, borrows it, and communicates with the guest thread until
 * the library is loaded. */
#include "trainprof/inject/inject.h"

#include "dyn_symbol.h"
#include "image_map.h"
#include "machine.h"
#include "preflight.h"
#include "remote_call.h"
#include "thread_select.h"
#include "tracee_memory.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/process_memory.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	LIBRARY_MAX = 64 << 20,
	CODE_MAX = 8 << 20,  /* bytes of a C library that are searched */
	PAUSE_NS = 5000000,  /* pause of a held thread that nobody resumes */
	PAUSES = 100,        /* number of pauses while a signal waits for the thread */
	POLL_NS = 1000000,   /* polling interval of the guest and of trainprof */
	GUEST_POLLS = 20000, /* polls until the guest gives up waiting for us */
	SELECT_MS = 5000,    /* time limit for finding a thread */
	PATIENT_MS = 300,    /* time after which a running thread is also accepted */
	SLOW_MAX = 20, /* attempts that may be given up because other programs want the CPUs */
	LOADING_MS = 10000,
};

/* SIGCANCEL and SIGSETXID: a thread that blocks them delays setuid() for good. */
#define LIBC_SIGNALS (UINT64_C(1) << 31 | UINT64_C(1) << 32)

struct attempt {
	const struct tp_inject_config *config;
	pid_t pid;
	int pidfd;
	struct tp_image_map map;
	struct tp_buf library; /* its bytes; empty if it is loaded already */
	struct tp_remote_call remote_call;
	struct tp_remote_call_result borrowed;
	uint64_t stopped_ns;
	unsigned n_tries;
};

static void nap(void)
{
	const struct timespec time = {.tv_nsec = POLL_NS};
	nanosleep(&time, NULL);
}

/* ---- preconditions -------------------------------------------------------------------------- */

static enum tp_status check_needs(const struct attempt *a, struct tp_error *err)
{
	struct tp_image image;
	if (!a->config->needs || tp_image_map_find(&image, &a->map, a->config->needs))
		return TP_OK;
	return tp_fail(err, TP_ABSENT, "pid %d does not use %s", (int)a->pid, a->config->needs);
}

static enum tp_status inspect_process(struct attempt *a, struct tp_error *err)
{
	if (!tp_machine_is_known())
		return tp_fail(err, TP_ABSENT,
			       "joining a running program is not possible on this "
			       "kind of processor");
	enum tp_status status = tp_preflight_process("/proc", a->pid, err);
	if (status == TP_OK)
		status = tp_image_map_read(&a->map, a->pid, err);
	if (status == TP_OK)
		status = check_needs(a, err);
	if (status == TP_OK)
		status = tp_preflight_images(&a->map, a->pid, err);
	return status;
}

/* ---- contents of the block ------------------------------------------------------------------ */

/* Older C libraries have threads and dlopen() in separate libraries. */
static uint64_t find_function(const struct attempt *a, const char *name)
{
	static const char *const libraries[] = {"libpthread", "libdl"};
	struct tp_image image;
	uint64_t found = 0;
	if (tp_image_map_find_libc(&image, &a->map))
		found = tp_dyn_symbol_find(a->pid, image.start, name);
	for (size_t i = 0; i < TP_ARRAY_LEN(libraries) && !found; i++)
		if (tp_image_map_find(&image, &a->map, libraries[i]))
			found = tp_dyn_symbol_find(a->pid, image.start, name);
	return found;
}

static enum tp_status find_functions(struct attempt *a, struct tp_error *err)
{
	struct tp_payload *block = &a->remote_call.block;
	const struct {
		const char *name;
		uint64_t *place;
	} wanted[] = {{"pthread_create", &block->create},
		      {"pthread_detach", &block->detach},
		      {"dlopen", &block->dlopen},
		      {"dlsym", &block->dlsym},
		      {"dlerror", &block->dlerror}};
	for (size_t i = 0; i < TP_ARRAY_LEN(wanted); i++) {
		*wanted[i].place = find_function(a, wanted[i].name);
		if (*wanted[i].place)
			continue;
		(void)tp_fail(err, TP_ABSENT, "pid %d has no %s()", (int)a->pid, wanted[i].name);
		tp_preflight_suggest_run(err);
		return TP_ABSENT;
	}
	return TP_OK;
}

static uint64_t find_signal_return(const struct attempt *a)
{
	struct tp_image image;
	const void *code;
	size_t size;
	uint64_t found = 0;
	const char *name = tp_machine_signal_return(&code, &size);
	bool is_there = name ? tp_image_map_find(&image, &a->map, name)
			     : tp_image_map_find_libc(&image, &a->map);
	size_t n = is_there ? image.code_end - image.code_start : 0;
	if (!n || n > CODE_MAX)
		return 0;
	char *bytes = tp_alloc(n);
	n = tp_process_memory_read_some(a->pid, image.code_start, bytes, n);
	const char *at = memmem(bytes, n, code, size);
	if (at)
		found = image.code_start + (uint64_t)(at - bytes);
	free(bytes);
	return found;
}

static enum tp_status prepare(struct attempt *a, struct tp_error *err)
{
	struct tp_payload *block = &a->remote_call.block;
	struct tp_image image;
	a->remote_call.pid = a->pid;
	a->pidfd = (int)syscall(SYS_pidfd_open, a->pid, 0);
	if (a->pidfd < 0)
		return tp_fail_errno(err, errno, "pid %d: pidfd_open", (int)a->pid);
	enum tp_status status = find_functions(a, err);
	if (status == TP_OK && !tp_image_map_find(&image, &a->map, "memfd:trainprof-agent") &&
	    !tp_image_map_find(&image, &a->map, "libtrainprof-agent"))
		status = tp_file_read(&a->library, a->config->library, LIBRARY_MAX, err);
	if (tp_image_map_find(&image, &a->map, "ld")) {
		a->remote_call.loader_start = image.start;
		a->remote_call.loader_end = image.end;
	}
	a->remote_call.signal_return = find_signal_return(a);
	block->nap[1] = POLL_NS;
	block->patience = GUEST_POLLS;
	block->rest[1] = PAUSE_NS;
	block->rests = PAUSES;
	block->open = ~LIBC_SIGNALS;
	block->created = TP_PAYLOAD_NOT_CREATED;
	block->file = -1;
	snprintf(block->name, sizeof(block->name), "trainprof-agent");
	snprintf(block->symbol, sizeof(block->symbol), "%s", a->config->door);
	return status;
}

/* ---- the borrowed thread -------------------------------------------------------------------- */

/* True if the outcome is final: another thread would not change it. */
static bool is_decided(const struct attempt *a)
{
	return a->borrowed.outcome != TP_REMOTE_CALL_UNSAFE;
}

static bool try_threads(struct attempt *a, const pid_t *tids, size_t n, bool may_run)
{
	a->remote_call.may_run = may_run;
	for (size_t i = 0; i < n; i++) {
		a->remote_call.tid = tids[i];
		a->remote_call.is_patient = a->n_tries++ < SLOW_MAX;
		tp_remote_call_run(&a->borrowed, &a->remote_call);
		a->remote_call.made = a->borrowed.block;
		if (a->borrowed.stopped_ns > a->stopped_ns)
			a->stopped_ns = a->borrowed.stopped_ns;
		if (is_decided(a))
			return true;
	}
	return false;
}

static bool choose(struct attempt *a)
{
	uint64_t begun_ns = tp_clock_now_ns();
	uint64_t passed_ns = 0;
	do {
		struct tp_thread_select found;
		tp_thread_select_find(&found, a->pid);
		if (try_threads(a, found.better, found.n_better, false) ||
		    try_threads(a, found.others, found.n_others, false))
			return true;
		passed_ns = tp_clock_now_ns() - begun_ns;
		if (passed_ns >= PATIENT_MS * TP_NS_PER_MS &&
		    try_threads(a, found.running, found.n_running, true))
			return true;
		nap();
	} while (passed_ns < SELECT_MS * TP_NS_PER_MS && kill(a->pid, 0) == 0);
	return false;
}

static enum tp_status remote_call(struct attempt *a, struct tp_error *err)
{
	if (!choose(a)) {
		(void)tp_fail(err, TP_BUSY, "pid %d has no thread that can be held for a moment",
			      (int)a->pid);
		tp_preflight_suggest_run(err);
		return TP_BUSY;
	}
	const struct tp_remote_call_result *got = &a->borrowed;
	switch (got->outcome) {
	case TP_REMOTE_CALL_DONE:
	case TP_REMOTE_CALL_DETACHED:
		return TP_OK;
	case TP_REMOTE_CALL_DENIED:
		(void)tp_fail(err, TP_DENIED, "pid %d may not be traced", (int)a->pid);
		tp_error_next(err, "sudo trainprof attach --gpu-trace=windows %d", (int)a->pid);
		return TP_DENIED;
	default:
		(void)tp_fail(err, TP_BUSY, "pid %d could not be joined: %s", (int)a->pid,
			      got->error ? tp_errno_text(got->error) : "the helper ended early");
		tp_preflight_suggest_run(err);
		return TP_BUSY;
	}
}

/* ---- the guest thread ----------------------------------------------------------------------- */

static bool read_block(const struct attempt *a, struct tp_payload *out)
{
	return tp_process_memory_read(a->pid, a->borrowed.block + TP_PAYLOAD_AT, out, sizeof(*out));
}

static bool order(const struct attempt *a, uint32_t what)
{
	return tp_tracee_memory_write(a->pid, a->borrowed.block + TP_PAYLOAD_AT + TP_PAYLOAD_ORDER,
				      &what, sizeof(what));
}

/* Waits until the guest is past `phase`. */
static enum tp_status wait_after_phase(const struct attempt *a, uint32_t phase,
				       struct tp_payload *out, struct tp_error *err)
{
	uint64_t until_ns = tp_clock_now_ns() + LOADING_MS * TP_NS_PER_MS;
	while (read_block(a, out)) {
		if (out->phase > phase)
			return TP_OK;
		if (out->created > 0)
			return tp_fail(err, TP_IO, "pid %d cannot create a thread: %s", (int)a->pid,
				       tp_errno_text(out->created));
		if (tp_clock_now_ns() >= until_ns)
			return tp_fail(err, TP_BUSY, "pid %d has not loaded the agent in 10 s",
				       (int)a->pid);
		nap();
	}
	return tp_fail(err, TP_TARGET, "pid %d has ended", (int)a->pid);
}

static int copy_descriptor(const struct attempt *a, int fd)
{
	return (int)syscall(SYS_pidfd_getfd, a->pidfd, fd, 0);
}

/* Fills the guest's memfd; its path contains the number of the descriptor. */
static enum tp_status fill_memfd(struct attempt *a, struct tp_payload *block, struct tp_error *err)
{
	/* A thread that was detached inside the code may stay there for a long time. */
	block->given = a->borrowed.outcome == TP_REMOTE_CALL_DONE ? TP_PAYLOAD_BYTES : 0;
	snprintf(block->path, sizeof(block->path), "%s", a->config->soname);
	if (a->library.len) {
		int fd = block->file < 0 ? -1 : copy_descriptor(a, block->file);
		if (fd < 0)
			return tp_fail(err, TP_IO, "pid %d: no file in memory: %s", (int)a->pid,
				       tp_errno_text(block->file < 0 ? -block->file : errno));
		bool is_whole = tp_file_write_all(fd, tp_buf_text(&a->library), a->library.len);
		int failure = errno;
		close(fd);
		if (!is_whole)
			return tp_fail_errno(err, failure, "pid %d: file in memory", (int)a->pid);
		snprintf(block->path, sizeof(block->path), "/proc/self/fd/%d", block->file);
	}
	if (tp_tracee_memory_write(a->pid, a->borrowed.block + TP_PAYLOAD_AT + TP_PAYLOAD_PATH,
				   block->path, sizeof(block->path) + sizeof(block->given)) &&
	    order(a, TP_PAYLOAD_ORDER_LOAD))
		return TP_OK;
	return tp_fail(err, TP_TARGET, "pid %d has ended", (int)a->pid);
}

static enum tp_status refused_by_agent(const struct attempt *a, int returned, struct tp_error *err)
{
	switch (-returned) {
	case EBUSY:
		(void)tp_fail(err, TP_BUSY, "another trainprof traces the GPU work of pid %d",
			      (int)a->pid);
		tp_error_next(err, "pgrep -af trainprof");
		return TP_BUSY;
	case ECANCELED:
		(void)tp_fail(err, TP_DENIED, "pid %d has TRAINPROF_GPU=0 in its environment",
			      (int)a->pid);
		tp_preflight_suggest_run(err);
		return TP_DENIED;
	default:
		return tp_fail_errno(err, -returned, "the agent cannot start in pid %d",
				     (int)a->pid);
	}
}

static enum tp_status finish(const struct attempt *a, struct tp_injection *out,
			     const struct tp_payload *block, struct tp_error *err)
{
	char reason[160];
	if (block->phase == TP_PAYLOAD_PHASE_FAILED) {
		tp_tracee_memory_read_text(a->pid, block->reason, reason, sizeof(reason));
		return tp_fail(err, TP_IO, "pid %d: %s", (int)a->pid, reason);
	}
	if (block->returned < 0)
		return refused_by_agent(a, block->returned, err);
	*out = (struct tp_injection){
		.fd = copy_descriptor(a, block->returned),
		.stopped_ns = a->stopped_ns,
		.n_tries = a->n_tries,
		.was_there = !a->library.len,
	};
	if (out->fd < 0)
		return tp_fail_errno(err, errno, "pid %d: pidfd_getfd", (int)a->pid);
	return TP_OK;
}

static enum tp_status join_guest(struct attempt *a, struct tp_injection *out, struct tp_error *err)
{
	struct tp_payload block;
	enum tp_status status = wait_after_phase(a, TP_PAYLOAD_PHASE_NONE, &block, err);
	if (status == TP_OK)
		status = fill_memfd(a, &block, err);
	if (status == TP_OK)
		status = wait_after_phase(a, TP_PAYLOAD_PHASE_WAITING, &block, err);
	if (status == TP_OK)
		status = finish(a, out, &block, err);
	if (status != TP_OK)
		order(a, TP_PAYLOAD_ORDER_LEAVE);
	return status;
}

enum tp_status tp_inject(struct tp_injection *out, pid_t pid, const struct tp_inject_config *config,
			 struct tp_error *err)
{
	struct attempt a = {.config = config, .pid = pid, .pidfd = -1};
	enum tp_status status = inspect_process(&a, err);
	if (status == TP_OK)
		status = prepare(&a, err);
	if (status == TP_OK)
		status = remote_call(&a, err);
	if (status == TP_OK)
		status = join_guest(&a, out, err);
	if (a.pidfd >= 0)
		close(a.pidfd);
	tp_image_map_release(&a.map);
	tp_buf_release(&a.library);
	return status;
}
