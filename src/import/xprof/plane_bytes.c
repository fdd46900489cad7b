/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps a plane in memory, or in a temporary file if it is large. */
#include "plane_bytes.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A plane above MEMORY_MAX goes to a file; what was read of its mapping is dropped in pieces. */
enum { MEMORY_MAX = 40 << 20, DROP_BYTES = 8 << 20, CHUNK = 1 << 20 };

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- the file ---- */

/* Opens a file that vanishes with its descriptor. */
static int file_open(void)
{
	const char *folder = getenv("TMPDIR"); /* NOLINT(concurrency-mt-unsafe): nobody sets it */
	folder = folder && *folder ? folder : "/tmp";
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 || errno == ENOENT || errno == EACCES)
		return fd;
	char *path = tp_asprintf("%s/trainprof-plane-XXXXXX", folder);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		(void)unlink(path);
	free(path);
	return fd;
}

static bool file_write(int fd, const char *bytes, size_t size, size_t at)
{
	while (size) {
		ssize_t n = pwrite(fd, bytes, size, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		at += (size_t)n;
		size -= (size_t)n;
	}
	return true;
}

static void memory_reserve(struct tp_plane_bytes *bytes, size_t size)
{
	if (size <= bytes->capacity)
		return;
	while (bytes->capacity < size)
		bytes->capacity = bytes->capacity ? 2 * bytes->capacity : CHUNK;
	if (size <= MEMORY_MAX && bytes->capacity > MEMORY_MAX)
		bytes->capacity = MEMORY_MAX;
	bytes->memory = tp_realloc(bytes->memory, bytes->capacity);
}

/* Gives up the file: what it has of this plane goes to memory. Returns false if a part of it could
 * not be read back. */
static bool file_give_up(struct tp_plane_bytes *bytes)
{
	size_t n = 0;
	bytes->has_no_file = true;
	memory_reserve(bytes, bytes->len + CHUNK);
	while (bytes->fd >= 0 && n < bytes->len) {
		ssize_t got = pread(bytes->fd, bytes->memory + n, bytes->len - n, (off_t)n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	if (bytes->fd >= 0)
		close(bytes->fd);
	bytes->fd = -1;
	bool is_whole = n == bytes->len;
	bytes->len = n;
	return is_whole;
}

/* Moves what was read so far to the file. */
static bool file_begin(struct tp_plane_bytes *bytes)
{
	if (bytes->fd < 0)
		bytes->fd = file_open();
	if (bytes->fd < 0 || !file_write(bytes->fd, bytes->memory, bytes->len, 0)) {
		/* Memory still has all of it. */
		if (bytes->fd >= 0)
			close(bytes->fd);
		bytes->fd = -1;
		bytes->has_no_file = true;
		return false;
	}
	bytes->capacity = CHUNK;
	bytes->memory = tp_realloc(bytes->memory, bytes->capacity);
	return true;
}

static bool file_map(struct tp_plane_bytes *bytes)
{
	void *map = mmap(NULL, bytes->len, PROT_READ, MAP_PRIVATE, bytes->fd, 0);
	if (map == MAP_FAILED)
		return false;
	bytes->map = map;
	bytes->map_size = bytes->len;
	bytes->drop_next = bytes->map + DROP_BYTES;
	return true;
}

/* ---- a plane ---- */

static void plane_clear(struct tp_plane_bytes *bytes)
{
	if (bytes->map)
		munmap(bytes->map, bytes->map_size);
	if (bytes->fd >= 0 && ftruncate(bytes->fd, 0) != 0) {
		close(bytes->fd);
		bytes->fd = -1;
	}
	bytes->map = NULL;
	bytes->map_size = 0;
	bytes->drop_next = NULL;
	bytes->n_dropped = 0;
	bytes->len = 0;
}

/* Reads a chunk to memory or to the file. Returns false at the end of the stream. */
static bool chunk_read(struct tp_plane_bytes *bytes, struct tp_stream *stream, size_t wanted,
		       bool *is_in_file)
{
	if (!*is_in_file && !bytes->has_no_file && bytes->len + wanted > MEMORY_MAX)
		*is_in_file = file_begin(bytes);
	if (!*is_in_file) {
		memory_reserve(bytes, bytes->len + wanted);
		size_t n = tp_stream_read(stream, bytes->memory + bytes->len, wanted);
		bytes->len += n;
		return n == wanted;
	}
	/* The memory is free now, and holds a chunk. */
	size_t n = tp_stream_read(stream, bytes->memory, wanted);
	if (file_write(bytes->fd, bytes->memory, n, bytes->len)) {
		bytes->len += n;
		return n == wanted;
	}
	char *chunk = tp_alloc(n + 1);
	memcpy(chunk, bytes->memory, n);
	bool is_whole = file_give_up(bytes);
	memcpy(bytes->memory + bytes->len, chunk, n);
	free(chunk);
	bytes->len += n;
	*is_in_file = false;
	return is_whole && n == wanted;
}

bool tp_plane_bytes_read(struct tp_plane_bytes *bytes, struct tp_stream *stream, uint64_t len,
			 struct tp_protobuf *out)
{
	bool is_in_file = false;
	bool is_whole = true;
	plane_clear(bytes);
	while (is_whole && len) {
		size_t wanted = len < CHUNK ? (size_t)len : CHUNK;
		is_whole = chunk_read(bytes, stream, wanted, &is_in_file);
		len -= wanted;
	}
	if (is_in_file && !file_map(bytes))
		is_whole &= file_give_up(bytes);
	*out = (struct tp_protobuf){bytes->map ? bytes->map : (const unsigned char *)bytes->memory,
				    bytes->len};
	return is_whole;
}

void tp_plane_bytes_drop(struct tp_plane_bytes *bytes, const unsigned char *at)
{
	if (!bytes->map || at < bytes->drop_next)
		return;
	size_t end = (size_t)(at - bytes->map) / page_size() * page_size();
	(void)madvise(bytes->map + bytes->n_dropped, end - bytes->n_dropped, MADV_DONTNEED);
	bytes->n_dropped = end;
	bytes->drop_next = at + DROP_BYTES;
}

void tp_plane_bytes_release(struct tp_plane_bytes *bytes)
{
	plane_clear(bytes);
	if (bytes->fd >= 0)
		close(bytes->fd);
	free(bytes->memory);
	*bytes = TP_PLANE_BYTES_INIT;
}
