/* SPDX-License-Identifier: Apache-2.0 */
/* Creates the ring's file and appends to it. */
#include "ring_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	MAX_EXECS = 1000, /* execs of one process; after these it is not traced any more */
	MAX_TRIES = 100,  /* tries of a call that signals interrupt */
	CLOCKS_BYTES = TP_GPU_RING_CLOCKS * (int)sizeof(struct tp_gpu_clock),
	PLACES_BYTES = TP_GPU_RING_PLACES * (int)sizeof(struct tp_gpu_place),
	CLOCKS_AT = TP_GPU_RING_HEADER_BYTES,
	PLACES_AT = CLOCKS_AT + CLOCKS_BYTES,
	NAMES_AT = PLACES_AT + PLACES_BYTES,
	EVENTS_AT = NAMES_AT + TP_GPU_RING_NAME_BYTES,
};
_Static_assert(EVENTS_AT % PAGE == 0 && NAMES_AT % 8 == 0 && PLACES_AT % 8 == 0, "layout");

static size_t file_bytes(uint64_t n_events)
{
	return EVENTS_AT + n_events * sizeof(struct tp_gpu_event);
}

/* Reads field 22 of /proc/self/stat; field 2 is a name in brackets that may contain anything. */
static uint64_t start_ticks(void)
{
	char text[1024];
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return 0;
	text[got] = '\0';
	const char *at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

static int open_new(char path[PAGE], const char *directory, uint64_t ticks)
{
	for (int n = 0; n < MAX_EXECS; n++) {
		int length =
			snprintf(path, PAGE, "%s/" TP_GPU_RING_PREFIX "%d-%llu-%d%s", directory,
				 (int)getpid(), (unsigned long long)ticks, n, TP_GPU_RING_SUFFIX);
		if (length >= PAGE) {
			errno = ENAMETOOLONG;
			return -1;
		}
		int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

/* fork() and other ways of copying memory give the child a page of zeros here (MADV_WIPEONFORK). No
 * handler has to run, and none would run if a program makes the system call itself. */
static uint32_t *make_flag(void)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return NULL;
	if (madvise(page, PAGE, MADV_WIPEONFORK) != 0) {
		munmap(page, PAGE);
		return NULL; /* Linux before 4.14: do not trace, rather than write in another
				process's name */
	}
	*(uint32_t *)page = 1;
	return page;
}

static void fill_header(struct tp_gpu_ring_header *header, uint32_t n_events, uint64_t ticks)
{
	header->major = TP_GPU_RING_MAJOR;
	header->minor = TP_GPU_RING_MINOR;
	header->header_bytes = TP_GPU_RING_HEADER_BYTES;
	header->event_bytes = sizeof(struct tp_gpu_event);
	header->n_events = n_events;
	header->events_at = EVENTS_AT;
	header->names_at = NAMES_AT;
	header->names_bytes = TP_GPU_RING_NAME_BYTES;
	header->places_at = PLACES_AT;
	header->n_places_most = TP_GPU_RING_PLACES;
	header->clocks_at = CLOCKS_AT;
	header->n_clocks = TP_GPU_RING_CLOCKS;
	header->pid = (uint32_t)getpid();
	header->start_ticks = ticks;
	__atomic_store_n(&header->magic, TP_GPU_RING_MAGIC, __ATOMIC_RELEASE);
}

/* Returns false if the program has closed our descriptor; its number may now belong to another
 * file. */
static bool has_file(const struct tp_ring_writer *ring)
{
	struct stat now;
	return fstat(ring->fd, &now) == 0 && now.st_dev == ring->device &&
	       now.st_ino == ring->inode;
}

/* Growing a file beyond the program's RLIMIT_FSIZE would raise SIGXFSZ in the program. */
static bool can_grow_to(size_t bytes)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= bytes;
}

/* A memfd has no file system of its own, and so no limit. */
static bool is_free(int fd, uint64_t bytes)
{
	struct statvfs about;
	return fstatvfs(fd, &about) != 0 || !about.f_blocks ||
	       (uint64_t)about.f_bavail * about.f_frsize >= bytes;
}

/* Reserves disk space in advance, because a full disk would raise SIGBUS in the program. Older
 * kernels abort the call at any signal without progress, and the program may have timers that send
 * many. As much as the whole ring takes is left to the program, whose data loading workers share
 * memory in /dev/shm and die of SIGBUS where that is full; other processes may allocate a ring at
 * the same time. */
static int allocate(int fd, size_t bytes, size_t whole_bytes)
{
	int failure = is_free(fd, 2 * (uint64_t)whole_bytes) ? EINTR : ENOSPC;
	for (int i = 0; failure == EINTR && i < MAX_TRIES; i++)
		failure = posix_fallocate(fd, 0, (off_t)bytes);
	return failure || is_free(fd, whole_bytes) ? failure : ENOSPC;
}

/* The reader would otherwise take this for a program that never started CUDA. */
static void leave_reason(const char *path, int failure)
{
	char reason[PAGE + 16];
	snprintf(reason, sizeof(reason), "%s.%d", path, failure);
	if (rename(path, reason) != 0)
		unlink(path);
}

int tp_ring_writer_create(struct tp_ring_writer *out, const char *directory, uint32_t n_events)
{
	uint64_t ticks = start_ticks();
	char path[PAGE];
	struct stat about = {0};
	struct tp_ring_writer ring = {
		.fd = directory ? open_new(path, directory, ticks)
				: (int)syscall(SYS_memfd_create, "trainprof-gpu", MFD_CLOEXEC),
		.n_events = n_events,
		.is_nameless = !directory,
	};
	if (ring.fd < 0 || fstat(ring.fd, &about) != 0)
		return errno;
	ring.device = about.st_dev;
	ring.inode = about.st_ino;
	int failure = EFBIG;
	if (can_grow_to(file_bytes(n_events)))
		failure = allocate(ring.fd, EVENTS_AT, file_bytes(n_events));
	char *map = MAP_FAILED;
	if (!failure) {
		map = mmap(NULL, file_bytes(n_events), PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd,
			   0);
		failure = map == MAP_FAILED ? errno : 0;
	}
	if (!failure) {
		ring.is_ours = make_flag();
		failure = ring.is_ours ? 0 : ENOSYS;
	}
	if (failure) {
		if (map != MAP_FAILED)
			munmap(map, file_bytes(n_events));
		(void)!ftruncate(ring.fd, 0);
		close(ring.fd);
		if (directory)
			leave_reason(path, failure);
		return failure;
	}
	madvise(map, file_bytes(n_events), MADV_DONTFORK);
	ring.header = (struct tp_gpu_ring_header *)(void *)map;
	ring.clocks = (struct tp_gpu_clock *)(void *)(map + CLOCKS_AT);
	ring.places = (struct tp_gpu_place *)(void *)(map + PLACES_AT);
	ring.names = map + NAMES_AT;
	ring.events = (struct tp_gpu_event *)(void *)(map + EVENTS_AT);
	fill_header(ring.header, n_events, ticks);
	*out = ring;
	return 0;
}

/* Faults all pages in now, when time does not matter: one page fault per page is half of an event's
 * cost. Before Linux 5.14 the faults come one by one. */
static void map_events(const struct tp_ring_writer *ring)
{
#ifdef MADV_POPULATE_WRITE
	madvise(ring->events, ring->n_events * sizeof(*ring->events), MADV_POPULATE_WRITE);
#else
	(void)ring;
#endif
}

int tp_ring_writer_reserve(struct tp_ring_writer *ring)
{
	if (ring->fd < 0)
		return 0;
	if (!has_file(ring))
		return EBADF;
	size_t bytes = file_bytes(ring->n_events);
	int failure = allocate(ring->fd, bytes, bytes);
	if (failure && !ring->is_nameless)
		(void)!ftruncate(ring->fd, EVENTS_AT);
	if (failure)
		return failure;
	map_events(ring);
	if (ring->is_nameless)
		return 0;
	close(ring->fd);
	ring->fd = -1;
	return 0;
}

int tp_ring_writer_reset(struct tp_ring_writer *ring)
{
	struct tp_gpu_ring_header *header = ring->header;
	if (!has_file(ring))
		return EBADF;
	size_t counts = offsetof(struct tp_gpu_ring_header, owner) -
			offsetof(struct tp_gpu_ring_header, n_dropped);
	memset(header->n_dropped, 0, counts);
	header->cost_ns = 0;
	header->error = 0;
	header->owner[0] = '\0';
	header->wanted = TP_GPU_REQUEST_DEFAULT;
	header->tail = ring->tail = ring->head;
	ring->n_gone = 0;
	tp_ring_writer_publish(ring);
	tp_ring_writer_set_state(ring, TP_GPU_STATE_STARTING);
	return 0;
}

bool tp_ring_writer_is_ours(const struct tp_ring_writer *ring)
{
	return ring->is_ours && __atomic_load_n(ring->is_ours, __ATOMIC_RELAXED);
}

/* ---- events --------------------------------------------------------------------------------- */

/* An invalid tail is treated as a full ring. */
static bool fits(const struct tp_ring_writer *ring, size_t n)
{
	uint64_t used = ring->head - ring->tail;
	return used <= ring->n_events && n <= ring->n_events - used;
}

static bool has_room(struct tp_ring_writer *ring, size_t n)
{
	if (fits(ring, n))
		return true;
	ring->tail = __atomic_load_n(&ring->header->tail, __ATOMIC_ACQUIRE);
	return fits(ring, n);
}

static void append(struct tp_ring_writer *ring, const struct tp_gpu_event *event)
{
	ring->events[ring->head++ & (ring->n_events - 1)] = *event;
}

static void drop(struct tp_ring_writer *ring, const struct tp_gpu_event *events, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t *count = &ring->header->n_dropped[events[i].type % TP_GPU_EVENT_TYPES];
		__atomic_store_n(count, *count + 1, __ATOMIC_RELAXED);
	}
	ring->n_gone += n;
}

/* After a loss, the first event that fits is preceded by its size. */
static void append_lost(struct tp_ring_writer *ring, const struct tp_gpu_event *next)
{
	struct tp_gpu_event loss = {
		.type = TP_GPU_EVENT_LOST,
		.flags = next->flags & TP_GPU_FLAG_HOST_CLOCK,
		.t0 = next->t0,
		.x = ring->n_gone,
	};
	append(ring, &loss);
	ring->n_gone = 0;
}

void tp_ring_writer_append(struct tp_ring_writer *ring, const struct tp_gpu_event *events, size_t n)
{
	if (!has_room(ring, n + (ring->n_gone > 0))) {
		drop(ring, events, n);
		return;
	}
	if (ring->n_gone)
		append_lost(ring, events);
	for (size_t i = 0; i < n; i++)
		append(ring, &events[i]);
}

void tp_ring_writer_add_lost(struct tp_ring_writer *ring, uint64_t n)
{
	uint64_t *count = &ring->header->n_dropped[TP_GPU_EVENT_PUSH];
	__atomic_store_n(count, *count + n, __ATOMIC_RELAXED);
	ring->n_gone += n;
}

void tp_ring_writer_publish(struct tp_ring_writer *ring)
{
	__atomic_store_n(&ring->header->head, ring->head, __ATOMIC_RELEASE);
}

/* ---- tables --------------------------------------------------------------------------------- */

uint32_t tp_ring_writer_add_name(struct tp_ring_writer *ring, const char *text, size_t length)
{
	struct tp_gpu_ring_header *header = ring->header;
	uint32_t at = header->n_name_bytes;
	if (length > TP_GPU_NAME_MAX)
		length = TP_GPU_NAME_MAX;
	size_t size = (sizeof(struct tp_gpu_name) + length + 1 + 7) & ~(size_t)7;
	if (size > header->names_bytes - at) {
		__atomic_fetch_add(&header->n_unnamed, 1, __ATOMIC_RELAXED);
		return 0;
	}
	struct tp_gpu_name *name = (struct tp_gpu_name *)(void *)(ring->names + at);
	name->length = (uint32_t)length;
	memcpy(name->text, text, length);
	name->text[length] = '\0';
	__atomic_store_n(&header->n_name_bytes, at + (uint32_t)size, __ATOMIC_RELEASE);
	return at / 8 + 1;
}

const char *tp_ring_writer_name(const struct tp_ring_writer *ring, uint32_t id)
{
	const void *name = ring->names + (size_t)(id - 1) * 8;
	return ((const struct tp_gpu_name *)name)->text;
}

uint16_t tp_ring_writer_add_place(struct tp_ring_writer *ring, uint32_t device, uint32_t context,
				  uint32_t stream)
{
	struct tp_gpu_ring_header *header = ring->header;
	uint32_t n = header->n_places;
	if (n == header->n_places_most)
		return 0;
	ring->places[n] = (struct tp_gpu_place){device, context, stream, 0};
	__atomic_store_n(&header->n_places, n + 1, __ATOMIC_RELEASE);
	return (uint16_t)(n + 1);
}

void tp_ring_writer_add_clock(struct tp_ring_writer *ring, const struct tp_gpu_clock *pair)
{
	struct tp_gpu_ring_header *header = ring->header;
	uint64_t n = header->n_clock_pairs;
	ring->clocks[n & (header->n_clocks - 1)] = *pair;
	__atomic_store_n(&header->n_clock_pairs, n + 1, __ATOMIC_RELEASE);
}

void tp_ring_writer_set_state(struct tp_ring_writer *ring, enum tp_gpu_state state)
{
	__atomic_store_n(&ring->header->state, state, __ATOMIC_RELEASE);
}

enum tp_gpu_state tp_ring_writer_state(const struct tp_ring_writer *ring)
{
	return __atomic_load_n(&ring->header->state, __ATOMIC_RELAXED);
}

void tp_ring_writer_close(struct tp_ring_writer *ring)
{
	if (ring->fd >= 0)
		close(ring->fd);
	if (ring->header)
		munmap(ring->header, file_bytes(ring->n_events));
	if (ring->is_ours)
		munmap(ring->is_ours, PAGE);
	*ring = (struct tp_ring_writer){.fd = -1};
}
