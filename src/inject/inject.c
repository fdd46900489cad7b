/* Looks, chooses a thread, has it borrowed, and talks with the guest until the library is in. */
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
	LIBRARY_MOST = 64 << 20,
	CODE_MOST = 8 << 20, /* of a C library, looked through */
	REST_NS = 5000000,   /* of a held thread for which nobody comes */
	RESTS = 100,         /* of one for which a signal waits */
	NAP_NS = 1000000,    /* of the guest, and of ours */
	GUEST_NAPS = 20000,  /* until it gives up waiting for us */
	CHOOSING_MS = 5000,  /* until there must be a thread */
	PATIENT_MS = 300,    /* until one that runs is taken, too */
	SLOW_MOST = 20,      /* tries that are given up because CPUs are wanted by others */
	LOADING_MS = 10000,
};

/* SIGCANCEL and SIGSETXID: a thread that blocks them holds setuid() up for good. */
#define C_LIBRARYS_SIGNALS (UINT64_C(1) << 31 | UINT64_C(1) << 32)

struct attempt {
	const struct tp_inject_config *config;
	pid_t pid;
	int pidfd;
	struct tp_imagemap map;
	struct tp_buf library; /* its bytes; empty where it is there already */
	struct tp_borrow borrow;
	struct tp_borrowed borrowed;
	uint64_t stopped_ns;
	unsigned n_tries;
};

static void nap(void)
{
	const struct timespec time = {.tv_nsec = NAP_NS};
	nanosleep(&time, NULL);
}

/* ---- may it be done? ------------------------------------------------------------------------ */

static enum tp_status check_needs(const struct attempt *a, struct tp_error *err)
{
	struct tp_image image;
	if (!a->config->needs || tp_imagemap_find(&image, &a->map, a->config->needs))
		return TP_OK;
	return tp_fail(err, TP_ABSENT, "pid %d does not use %s", (int)a->pid, a->config->needs);
}

static enum tp_status look(struct attempt *a, struct tp_error *err)
{
	if (!tp_machine_is_known())
		return tp_fail(err, TP_ABSENT,
			       "joining a running program is not possible on this "
			       "kind of processor");
	enum tp_status status = tp_restraint_of_process("/proc", a->pid, err);
	if (status == TP_OK)
		status = tp_imagemap_read(&a->map, a->pid, err);
	if (status == TP_OK)
		status = check_needs(a, err);
	if (status == TP_OK)
		status = tp_restraint_of_images(&a->map, a->pid, err);
	return status;
}

/* ---- what the block is told ----------------------------------------------------------------- */

/* Older C libraries have threads and dlopen() in libraries of their own. */
static uint64_t find_function(const struct attempt *a, const char *name)
{
	static const char *const libraries[] = {"libpthread", "libdl"};
	struct tp_image image;
	uint64_t found = 0;
	if (tp_imagemap_find_libc(&image, &a->map))
		found = tp_dynsym_find(a->pid, image.start, name);
	for (size_t i = 0; i < TP_ARRAY_LEN(libraries) && !found; i++)
		if (tp_imagemap_find(&image, &a->map, libraries[i]))
			found = tp_dynsym_find(a->pid, image.start, name);
	return found;
}

static enum tp_status find_functions(struct attempt *a, struct tp_error *err)
{
	struct tp_block *block = &a->borrow.block;
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
		tp_restraint_next_run(err);
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
	bool is_there = name ? tp_imagemap_find(&image, &a->map, name)
			     : tp_imagemap_find_libc(&image, &a->map);
	size_t n = is_there ? image.code_end - image.code_start : 0;
	if (!n || n > CODE_MOST)
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
	struct tp_block *block = &a->borrow.block;
	struct tp_image image;
	a->borrow.pid = a->pid;
	a->pidfd = (int)syscall(SYS_pidfd_open, a->pid, 0);
	if (a->pidfd < 0)
		return tp_fail_errno(err, errno, "pid %d: pidfd_open", (int)a->pid);
	enum tp_status status = find_functions(a, err);
	if (status == TP_OK && !tp_imagemap_find(&image, &a->map, "memfd:trainprof-agent") &&
	    !tp_imagemap_find(&image, &a->map, "libtrainprof-agent"))
		status = tp_file_read(&a->library, a->config->library, LIBRARY_MOST, err);
	if (tp_imagemap_find(&image, &a->map, "ld")) {
		a->borrow.loader_start = image.start;
		a->borrow.loader_end = image.end;
	}
	a->borrow.signal_return = find_signal_return(a);
	block->nap[1] = NAP_NS;
	block->patience = GUEST_NAPS;
	block->rest[1] = REST_NS;
	block->rests = RESTS;
	block->open = ~C_LIBRARYS_SIGNALS;
	block->created = TP_CREATED_NOT;
	block->file = -1;
	snprintf(block->name, sizeof(block->name), "trainprof-agent");
	snprintf(block->symbol, sizeof(block->symbol), "%s", a->config->door);
	return status;
}

/* ---- a thread ------------------------------------------------------------------------------- */

/* Not to be repeated with another thread. */
static bool is_decided(const struct attempt *a)
{
	return a->borrowed.outcome != TP_BORROW_UNFIT;
}

static bool try_threads(struct attempt *a, const pid_t *tids, size_t n, bool may_run)
{
	a->borrow.may_run = may_run;
	for (size_t i = 0; i < n; i++) {
		a->borrow.tid = tids[i];
		a->borrow.is_patient = a->n_tries++ < SLOW_MOST;
		tp_borrow_thread(&a->borrowed, &a->borrow);
		a->borrow.made = a->borrowed.block;
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
		struct tp_candidates found;
		tp_candidates_find(&found, a->pid);
		if (try_threads(a, found.better, found.n_better, false) ||
		    try_threads(a, found.others, found.n_others, false))
			return true;
		passed_ns = tp_clock_now_ns() - begun_ns;
		if (passed_ns >= PATIENT_MS * TP_NS_PER_MS &&
		    try_threads(a, found.running, found.n_running, true))
			return true;
		nap();
	} while (passed_ns < CHOOSING_MS * TP_NS_PER_MS && kill(a->pid, 0) == 0);
	return false;
}

static enum tp_status borrow(struct attempt *a, struct tp_error *err)
{
	if (!choose(a)) {
		(void)tp_fail(err, TP_BUSY, "pid %d has no thread that can be held for a moment",
			      (int)a->pid);
		tp_restraint_next_run(err);
		return TP_BUSY;
	}
	const struct tp_borrowed *got = &a->borrowed;
	switch (got->outcome) {
	case TP_BORROW_DONE:
	case TP_BORROW_ALONE:
		return TP_OK;
	case TP_BORROW_DENIED:
		(void)tp_fail(err, TP_DENIED, "pid %d may not be traced", (int)a->pid);
		tp_error_next(err, "sudo trainprof attach --gpu-trace=windows %d", (int)a->pid);
		return TP_DENIED;
	default:
		(void)tp_fail(err, TP_BUSY, "pid %d could not be joined: %s", (int)a->pid,
			      got->error ? tp_errno_text(got->error) : "the helper ended early");
		tp_restraint_next_run(err);
		return TP_BUSY;
	}
}

/* ---- the guest ------------------------------------------------------------------------------ */

static bool read_block(const struct attempt *a, struct tp_block *out)
{
	return tp_process_memory_read(a->pid, a->borrowed.block + TP_BLOCK_AT, out, sizeof(*out));
}

static bool order(const struct attempt *a, uint32_t what)
{
	return tp_remotemem_write(a->pid, a->borrowed.block + TP_BLOCK_AT + TP_BLOCK_ORDER, &what,
				  sizeof(what));
}

/* Until it is further than `phase`. */
static enum tp_status wait_behind(const struct attempt *a, uint32_t phase, struct tp_block *out,
				  struct tp_error *err)
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

static int take_descriptor(const struct attempt *a, int fd)
{
	return (int)syscall(SYS_pidfd_getfd, a->pidfd, fd, 0);
}

/* Fill the guest's memfd; its number is the path. */
static enum tp_status hand_over(struct attempt *a, struct tp_block *block, struct tp_error *err)
{
	/* A thread that was let go in the code may be there for long. */
	block->given = a->borrowed.outcome == TP_BORROW_DONE ? TP_BLOCK_BYTES : 0;
	snprintf(block->path, sizeof(block->path), "%s", a->config->soname);
	if (a->library.len) {
		int fd = block->file < 0 ? -1 : take_descriptor(a, block->file);
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
	if (tp_remotemem_write(a->pid, a->borrowed.block + TP_BLOCK_AT + TP_BLOCK_PATH, block->path,
			       sizeof(block->path) + sizeof(block->given)) &&
	    order(a, TP_ORDER_LOAD))
		return TP_OK;
	return tp_fail(err, TP_TARGET, "pid %d has ended", (int)a->pid);
}

static enum tp_status refused_by_door(const struct attempt *a, int returned, struct tp_error *err)
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
		tp_restraint_next_run(err);
		return TP_DENIED;
	default:
		return tp_fail_errno(err, -returned, "the agent cannot start in pid %d",
				     (int)a->pid);
	}
}

static enum tp_status finish(const struct attempt *a, struct tp_injection *out,
			     const struct tp_block *block, struct tp_error *err)
{
	char reason[160];
	if (block->phase == TP_PHASE_FAILED) {
		tp_remotemem_read_text(a->pid, block->reason, reason, sizeof(reason));
		return tp_fail(err, TP_IO, "pid %d: %s", (int)a->pid, reason);
	}
	if (block->returned < 0)
		return refused_by_door(a, block->returned, err);
	*out = (struct tp_injection){
		.fd = take_descriptor(a, block->returned),
		.stopped_ns = a->stopped_ns,
		.n_tries = a->n_tries,
		.was_there = !a->library.len,
	};
	if (out->fd < 0)
		return tp_fail_errno(err, errno, "pid %d: pidfd_getfd", (int)a->pid);
	return TP_OK;
}

static enum tp_status meet_guest(struct attempt *a, struct tp_injection *out, struct tp_error *err)
{
	struct tp_block block;
	enum tp_status status = wait_behind(a, TP_PHASE_NONE, &block, err);
	if (status == TP_OK)
		status = hand_over(a, &block, err);
	if (status == TP_OK)
		status = wait_behind(a, TP_PHASE_WAITING, &block, err);
	if (status == TP_OK)
		status = finish(a, out, &block, err);
	if (status != TP_OK)
		order(a, TP_ORDER_LEAVE);
	return status;
}

enum tp_status tp_inject(struct tp_injection *out, pid_t pid, const struct tp_inject_config *config,
			 struct tp_error *err)
{
	struct attempt a = {.config = config, .pid = pid, .pidfd = -1};
	enum tp_status status = look(&a, err);
	if (status == TP_OK)
		status = prepare(&a, err);
	if (status == TP_OK)
		status = borrow(&a, err);
	if (status == TP_OK)
		status = meet_guest(&a, out, err);
	if (a.pidfd >= 0)
		close(a.pidfd);
	tp_imagemap_release(&a.map);
	tp_buf_release(&a.library);
	return status;
}
