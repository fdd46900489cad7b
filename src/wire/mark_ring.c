/* SPDX-License-Identifier: Apache-2.0 */
/* The reader's end of the mark ring: creates the file, drains it, trusts nothing in it. */
#include "trainprof/wire/mark_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK_RECORDS = 256, PATIENCE_NS = 1000000000 };

_Static_assert(sizeof(struct tp_mark_ring_header) == TP_MARK_RING_HEADER_BYTES, "layout");
_Static_assert(offsetof(struct tp_mark_ring_header, head) == 64, "layout");
_Static_assert(sizeof(struct tp_mark_record) == TP_MARK_RING_RECORD_BYTES, "layout");
_Static_assert(offsetof(struct tp_mark_record, name) == 32, "layout");

static uint32_t ring_round_up(uint32_t n)
{
	uint32_t size = TP_MARK_RING_MIN_RECORDS;
	while (size < n && size < TP_MARK_RING_MAX_RECORDS)
		size <<= 1;
	return size;
}

static bool ring_read(int fd, void *out, size_t size, off_t offset)
{
	ssize_t got;
	do
		got = pread(fd, out, size, offset);
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)size;
}

int tp_mark_ring_create(struct tp_mark_ring *ring, const char *path, uint32_t n_records)
{
	*ring = (struct tp_mark_ring){.fd = -1, .n_records = ring_round_up(n_records)};
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	struct tp_mark_ring_header header = {
		.magic = TP_MARK_RING_MAGIC,
		.header_bytes = TP_MARK_RING_HEADER_BYTES,
		.record_bytes = TP_MARK_RING_RECORD_BYTES,
		.n_records = ring->n_records,
	};
	off_t size = TP_MARK_RING_HEADER_BYTES + (off_t)ring->n_records * TP_MARK_RING_RECORD_BYTES;
	int failure = posix_fallocate(fd, 0, size);
	if (!failure && pwrite(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
		failure = errno ? errno : EIO;
	ring->block = calloc((size_t)2 * BLOCK_RECORDS, sizeof(*ring->block));
	if (!failure && !ring->block)
		failure = ENOMEM;
	if (failure) {
		free(ring->block);
		ring->block = NULL;
		close(fd);
		unlink(path);
		return failure;
	}
	ring->again = ring->block + BLOCK_RECORDS;
	ring->fd = fd;
	return 0;
}

/* The head as the writers left it. A file that was cut, or a head that runs backwards, ends it. */
static bool ring_head(struct tp_mark_ring *ring, uint64_t *out)
{
	if (ring->fd < 0 || ring->is_damaged)
		return false;
	uint64_t head;
	if (!ring_read(ring->fd, &head, sizeof(head), offsetof(struct tp_mark_ring_header, head)) ||
	    head < ring->next) {
		ring->is_damaged = true;
		return false;
	}
	*out = head;
	return true;
}

static bool mark_is_sane(const struct tp_mark_record *mark)
{
	return mark->kind >= TP_RING_STEP && mark->kind <= TP_RING_PHASE_END && mark->pid &&
	       mark->tid && memchr(mark->name, 0, sizeof(mark->name));
}

static void ring_add_lost(struct tp_mark_ring *ring, uint64_t n)
{
	ring->next += n;
	ring->n_lost += n;
}

static uint64_t ring_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* An unfinished record: wait for its writer, but not for ever. True when it was given up. */
static bool ring_give_up(struct tp_mark_ring *ring, bool is_last, uint64_t head)
{
	uint64_t now_ns = ring_now_ns();
	if (ring->stuck_at != ring->next || !ring->stuck_since_ns) {
		ring->stuck_at = ring->next;
		ring->stuck_since_ns = now_ns;
	}
	if (!is_last && head - ring->next <= ring->n_records / 2 &&
	    now_ns - ring->stuck_since_ns < PATIENCE_NS)
		return false;
	ring->stuck_since_ns = 0;
	ring_add_lost(ring, 1);
	return true;
}

/*
 * Read n records from the slot of `next` on, twice: a record that reads the same twice, whole both
 * times, was written before the first read ended, in whatever order the copy took its words.
 */
static bool ring_read_block(struct tp_mark_ring *ring, size_t n)
{
	off_t at = TP_MARK_RING_HEADER_BYTES +
		   (off_t)(ring->next & (ring->n_records - 1)) * TP_MARK_RING_RECORD_BYTES;
	size_t size = n * sizeof(*ring->block);
	if (ring_read(ring->fd, ring->block, size, at) &&
	    ring_read(ring->fd, ring->again, size, at))
		return true;
	ring->is_damaged = true;
	return false;
}

/* Take what is whole of a block; false when the drain has to stop at an unfinished record. */
static bool ring_drain_block(struct tp_mark_ring *ring, size_t n, uint64_t head, bool is_last,
			     tp_mark_fn *take, void *context)
{
	for (size_t i = 0; i < n; i++) {
		const struct tp_mark_record *mark = &ring->block[i];
		uint64_t whole = (ring->next + 1) << 1;
		if (mark->sequence == whole && memcmp(mark, &ring->again[i], sizeof(*mark)) == 0) {
			if (mark_is_sane(mark)) {
				take(context, mark);
				ring->next++;
				ring->n_taken++;
			} else {
				ring_add_lost(ring, 1);
			}
		} else if (mark->sequence > (whole | 1)) {
			ring_add_lost(ring, 1); /* overwritten by a later turn */
		} else if (!ring_give_up(ring, is_last, head)) {
			return false;
		}
	}
	return true;
}

size_t tp_mark_ring_drain(struct tp_mark_ring *ring, bool is_last, tp_mark_fn *take, void *context)
{
	uint64_t head;
	uint64_t taken_before = ring->n_taken;
	if (!ring_head(ring, &head))
		return 0;
	if (head - ring->next > ring->n_records)
		ring_add_lost(ring, head - ring->next - ring->n_records);
	while (ring->next < head) {
		uint64_t n = ring->n_records - (ring->next & (ring->n_records - 1));
		if (n > head - ring->next)
			n = head - ring->next;
		if (n > BLOCK_RECORDS)
			n = BLOCK_RECORDS;
		if (!ring_read_block(ring, n) ||
		    !ring_drain_block(ring, n, head, is_last, take, context))
			break;
	}
	return ring->n_taken - taken_before;
}

void tp_mark_ring_close(struct tp_mark_ring *ring)
{
	if (ring->fd >= 0)
		close(ring->fd);
	free(ring->block);
	*ring = (struct tp_mark_ring){.fd = -1};
}
