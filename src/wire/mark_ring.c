/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of the mark ring: creates or opens the file and drains it, without trusting its
 * contents. */
#include "trainprof/wire/mark_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* Takes ownership of the file descriptor if it returns 0. */
static int ring_begin(struct tp_mark_ring *ring, int fd)
{
	ring->block = calloc((size_t)2 * BLOCK_RECORDS, sizeof(*ring->block));
	if (!ring->block)
		return ENOMEM;
	ring->again = ring->block + BLOCK_RECORDS;
	ring->fd = fd;
	return 0;
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
	if (!failure)
		failure = ring_begin(ring, fd);
	if (failure) {
		close(fd);
		unlink(path);
	}
	return failure;
}

/* True if the header that a program wrote describes a ring with checksums whose records lie inside
 * the file. */
static bool header_is_sane(const struct tp_mark_ring_header *header, off_t size)
{
	uint32_t n = header->n_records;
	return header->magic == TP_MARK_RING_MAGIC &&
	       header->header_bytes == TP_MARK_RING_HEADER_BYTES &&
	       header->record_bytes == TP_MARK_RING_RECORD_BYTES &&
	       header->flags == TP_MARK_RING_CHECKSUMS && n >= TP_MARK_RING_MIN_RECORDS &&
	       n <= TP_MARK_RING_MAX_RECORDS && (n & (n - 1)) == 0 &&
	       size >= TP_MARK_RING_HEADER_BYTES + (off_t)n * TP_MARK_RING_RECORD_BYTES;
}

int tp_mark_ring_open(struct tp_mark_ring *ring, const char *path)
{
	struct tp_mark_ring_header header;
	struct stat info;
	*ring = (struct tp_mark_ring){.fd = -1, .has_checksums = true};
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno;
	int failure = EINVAL;
	if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
	    ring_read(fd, &header, sizeof(header), 0) && header_is_sane(&header, info.st_size)) {
		ring->n_records = header.n_records;
		failure = ring_begin(ring, fd);
	}
	if (failure)
		close(fd);
	return failure;
}

/* Reads the head that the writers have stored. A truncated file, or a head that runs backwards,
 * ends the ring. */
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

/* CRC-32 as in zlib and Python; four bits at a time are fast enough for marks. */
static uint32_t crc32_of(const void *data, size_t size)
{
	static const uint32_t table[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
		0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};
	const uint8_t *byte = data;
	uint32_t crc = UINT32_MAX;
	for (size_t i = 0; i < size; i++) {
		crc = (crc >> 4) ^ table[(crc ^ byte[i]) & 15];
		crc = (crc >> 4) ^ table[(crc ^ (uint32_t)(byte[i] >> 4)) & 15];
	}
	return ~crc;
}

static bool checksum_matches(const struct tp_mark_record *mark)
{
	struct tp_mark_record bare = *mark;
	bare.checksum = 0;
	return crc32_of(&bare, sizeof(bare)) == mark->checksum;
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

/* Waits for the writer of an unfinished record, but not forever. Returns true if the record was
 * given up. */
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

/* Reads n records from the slot of `next` on, twice. A record that is the same and complete in both
 * copies was written before the first read ended, in whatever order the copy read its words. */
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

/* Consumes the complete records of a block; returns false if the drain must stop at an unfinished
 * record. */
static bool ring_drain_block(struct tp_mark_ring *ring, size_t n, uint64_t head, bool is_last,
			     tp_mark_fn *take, void *context)
{
	for (size_t i = 0; i < n; i++) {
		const struct tp_mark_record *mark = &ring->block[i];
		uint64_t whole = (ring->next + 1) << 1;
		if (mark->sequence == whole && memcmp(mark, &ring->again[i], sizeof(*mark)) == 0 &&
		    (!ring->has_checksums || checksum_matches(mark))) {
			if (mark_is_sane(mark)) {
				take(context, mark);
				ring->next++;
				ring->n_taken++;
			} else {
				ring_add_lost(ring, 1);
			}
		} else if (mark->sequence > (whole | 1)) {
			ring_add_lost(ring, 1); /* overwritten in a later round */
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
