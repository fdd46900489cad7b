/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks: a training program reports where its steps and phases begin and end.
 *
 * 	for (;;) {
 * 		trainprof_step();                  one step ends here, the next begins
 * 		trainprof_phase_begin("forward");
 * 		...
 * 		trainprof_phase_end();
 * 	}
 * 	trainprof_step_end();                      optional: the last step ends here
 *
 * Header-only, for C (C11 or gnu99) and C++, needs nothing but libc. Outside `trainprof run` a call
 * costs one load and one branch. It never prints, blocks, allocates or changes errno; any failure
 * turns marks off. Any thread may emit marks; after fork() the child's marks carry its own ids.
 *
 * Phases nest, separately for each thread. Common names have a meaning: dataloader, forward,
 * backward, optimizer, communication, checkpoint, logging, evaluation. Names longer than 31 bytes
 * are truncated. A step belongs to the thread that calls trainprof_step().
 *
 * Define TRAINPROF_MARKS_OFF before the include to compile every call to nothing.
 *
 * The variable TRAINPROF_MARKS holds the path of the ring that trainprof created; its layout is
 * described in "trainprof/wire/mark_ring.h" and repeated here so that this file is self-contained.
 */
#ifndef TRAINPROF_MARK_H
#define TRAINPROF_MARK_H

#ifdef TRAINPROF_MARKS_OFF

#define trainprof_step()            ((void)0)
#define trainprof_step_end()        ((void)0)
#define trainprof_phase_begin(name) ((void)(name))
#define trainprof_phase_end()       ((void)0)
#define trainprof_marks_on()        (0)

#else

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#define TRAINPROF_MARK_CAST(type, value) (reinterpret_cast<type>(value))
#define TRAINPROF_MARK_INT(type, value)  (static_cast<type>(value))
#else
#define TRAINPROF_MARK_CAST(type, value) ((type)(value))
#define TRAINPROF_MARK_INT(type, value)  ((type)(value))
/* Strict -std=c11 hides these two functions; elsewhere the declarations are repeated. */
extern long syscall(long number, ...);
extern int clock_gettime(int clock, struct timespec *out);
#ifndef CLOCK_MONOTONIC
#define CLOCK_MONOTONIC 1
#endif
#endif
#ifndef O_CLOEXEC
#define O_CLOEXEC 0
#endif

enum {
	TRAINPROF_MARK_STEP = 1,
	TRAINPROF_MARK_STEP_END = 2,
	TRAINPROF_MARK_PHASE_BEGIN = 3,
	TRAINPROF_MARK_PHASE_END = 4
};

/* "TPMARKS1", read as a little-endian number. */
#define TRAINPROF_RING_MAGIC       UINT64_C(0x31534b52414d5054)
#define TRAINPROF_RING_HEADER      128 /* bytes before the first record */
#define TRAINPROF_RING_RECORD      64  /* bytes */
#define TRAINPROF_RING_MAX_RECORDS (1u << 20)

struct trainprof_ring_header {
	uint64_t magic;
	uint32_t header_bytes;
	uint32_t record_bytes;
	uint32_t n_records; /* a power of two */
	uint32_t reserved[11];
	uint64_t head; /* records claimed so far, on its own cache line */
	uint64_t reserved2[7];
};

/* 0 = not opened yet, 1 = marks are off, else the address of the mapped ring. One per linked
 * object. */
__attribute__((weak, visibility("hidden"))) uintptr_t trainprof_mark_ring = 0;
__attribute__((weak, visibility("hidden"))) __thread unsigned trainprof_mark_depth = 0;

#define TRAINPROF_RING_OFF TRAINPROF_MARK_INT(uintptr_t, 1)

static inline uintptr_t trainprof_mark_map(void)
{
	const char *path = getenv("TRAINPROF_MARKS"); /* NOLINT(concurrency-mt-unsafe): read once */
	if (!path || !*path)
		return TRAINPROF_RING_OFF;
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return TRAINPROF_RING_OFF;
	uintptr_t ring = TRAINPROF_RING_OFF;
	off_t end = lseek(fd, 0, SEEK_END);
	if (end > TRAINPROF_RING_HEADER &&
	    end <= TRAINPROF_RING_HEADER + TRAINPROF_MARK_INT(off_t, TRAINPROF_RING_MAX_RECORDS) *
						   TRAINPROF_RING_RECORD) {
		size_t size = TRAINPROF_MARK_INT(size_t, end);
		void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (map != MAP_FAILED) {
			const struct trainprof_ring_header *h =
				TRAINPROF_MARK_CAST(const struct trainprof_ring_header *, map);
			uint32_t n = h->n_records;
			if (h->magic == TRAINPROF_RING_MAGIC &&
			    h->header_bytes == TRAINPROF_RING_HEADER &&
			    h->record_bytes == TRAINPROF_RING_RECORD && n && (n & (n - 1)) == 0 &&
			    n <= (size - TRAINPROF_RING_HEADER) / TRAINPROF_RING_RECORD)
				ring = TRAINPROF_MARK_CAST(uintptr_t, map);
			else
				munmap(map, size);
		}
	}
	close(fd);
	return ring;
}

/* Opens the ring. Threads that arrive at the same time each map it and keep the first result: a
 * lock would stay held in the child of a concurrent fork(). The mappings of the others stay,
 * unused. */
static __attribute__((noinline, unused)) uintptr_t trainprof_mark_open(void)
{
	int kept_errno = errno;
	uintptr_t ring = trainprof_mark_map();
	uintptr_t unknown = 0;
	if (!__atomic_compare_exchange_n(&trainprof_mark_ring, &unknown, ring, 0, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		ring = unknown;
	errno = kept_errno;
	return ring;
}

/* Writes one record. Its slot is claimed by adding to the head. If another thread still writes the
 * slot, a whole ring ago, the mark is lost, which the reader sees and counts. The sequence word is
 * twice the claim plus two once the record is complete, and one more while it is being written. */
static __attribute__((noinline, unused)) void trainprof_mark_write(uintptr_t ring, unsigned kind,
								   unsigned depth, const char *name)
{
	struct timespec now;
	if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
		return;
	struct trainprof_ring_header *h = TRAINPROF_MARK_CAST(struct trainprof_ring_header *, ring);
	uint64_t claim = __atomic_fetch_add(&h->head, 1, __ATOMIC_RELAXED);
	uint64_t slot = claim & (h->n_records - 1);
	uint64_t *word =
		TRAINPROF_MARK_CAST(uint64_t *, ring + TRAINPROF_RING_HEADER +
							TRAINPROF_MARK_INT(uintptr_t, slot) *
								TRAINPROF_RING_RECORD);
	uint64_t whole = (claim + 1) << 1;
	uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED);
	if ((old & 1) || old >= whole ||
	    !__atomic_compare_exchange_n(word, &old, whole | 1, 0, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return;

	uint64_t text[4] = {0, 0, 0, 0};
	for (size_t i = 0; name && i < sizeof(text) - 1 && name[i]; i++)
		memcpy(TRAINPROF_MARK_CAST(char *, text) + i, name + i, 1);
	uint64_t pid = TRAINPROF_MARK_INT(uint32_t, getpid());
	uint64_t tid = TRAINPROF_MARK_INT(uint32_t, syscall(SYS_gettid));
	uint64_t time_ns = TRAINPROF_MARK_INT(uint64_t, now.tv_sec) * 1000000000u +
			   TRAINPROF_MARK_INT(uint64_t, now.tv_nsec);
	uint64_t what = TRAINPROF_MARK_INT(uint64_t, kind) | (depth & 0xffffu) << 16;
	/* Release order: no reader sees one of these words before it sees the slot as being
	 * written. */
	__atomic_store_n(word + 1, time_ns, __ATOMIC_RELEASE);
	__atomic_store_n(word + 2, pid | tid << 32, __ATOMIC_RELEASE);
	__atomic_store_n(word + 3, what, __ATOMIC_RELEASE);
	for (int i = 0; i < 4; i++)
		__atomic_store_n(word + 4 + i, text[i], __ATOMIC_RELEASE);
	__atomic_store_n(word, whole, __ATOMIC_RELEASE);
}

static inline uintptr_t trainprof_mark_ring_get(void)
{
	uintptr_t ring = __atomic_load_n(&trainprof_mark_ring, __ATOMIC_ACQUIRE);
	return ring ? ring : trainprof_mark_open();
}

/* True if marks are recorded; for programs whose marks are costly to prepare. */
static inline int trainprof_marks_on(void)
{
	return trainprof_mark_ring_get() != TRAINPROF_RING_OFF;
}

/* Called at the top of the training loop: the current step ends and the next one begins. */
static inline void trainprof_step(void)
{
	uintptr_t ring = trainprof_mark_ring_get();
	if (ring != TRAINPROF_RING_OFF)
		trainprof_mark_write(ring, TRAINPROF_MARK_STEP, trainprof_mark_depth, NULL);
}

/* Ends the current step without beginning another: after the loop, or before an evaluation. */
static inline void trainprof_step_end(void)
{
	uintptr_t ring = trainprof_mark_ring_get();
	if (ring != TRAINPROF_RING_OFF)
		trainprof_mark_write(ring, TRAINPROF_MARK_STEP_END, trainprof_mark_depth, NULL);
}

static inline void trainprof_phase_begin(const char *name)
{
	uintptr_t ring = trainprof_mark_ring_get();
	if (ring != TRAINPROF_RING_OFF)
		trainprof_mark_write(ring, TRAINPROF_MARK_PHASE_BEGIN, trainprof_mark_depth++,
				     name);
}

/* Ends the innermost phase of this thread; does nothing without one. */
static inline void trainprof_phase_end(void)
{
	uintptr_t ring = trainprof_mark_ring_get();
	if (ring != TRAINPROF_RING_OFF && trainprof_mark_depth > 0)
		trainprof_mark_write(ring, TRAINPROF_MARK_PHASE_END, --trainprof_mark_depth, NULL);
}

#ifdef __cplusplus
}
#endif
#endif
#endif
