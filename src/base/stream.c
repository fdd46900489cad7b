/* SPDX-License-Identifier: Apache-2.0 */
/* Reads, hashes and unpacks a file in a thread of its own, a few blocks ahead of the reader. */
#include "trainprof/base/stream.h"

#include "gzip.h"
#include "trainprof/base/sha256.h"

#include "trainprof/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Four blocks fit into a second-level cache, where the reader then finds them. */
enum { BLOCK_BYTES = 256 << 10, N_BLOCKS = 4 };

struct block {
	unsigned char *bytes;
	size_t size;
};

/* Blocks [n_emptied, n_filled) hold bytes; `lock` protects the counts, the flags and the sizes.
 * Other members that the thread writes are read by others only after `is_over`. */
struct ring {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct block blocks[N_BLOCKS];
	unsigned n_filled;
	unsigned n_emptied;
	bool is_over;     /* the last filled block is the last one of the file */
	bool is_unwanted; /* the thread may exit */
};

struct tp_stream {
	/* The source of compressed bytes; `first` holds those that were read to detect the
	 * format. */
	tp_stream_source source;
	void *context;
	unsigned char first[TP_GZIP_MAGIC_BYTES];
	size_t n_first;
	size_t first_used;
	struct tp_gzip *gzip; /* NULL = not compressed */

	int fd; /* -1 = reads from another reader */
	int read_error;
	struct tp_sha256 hash;
	char hex[TP_SHA256_HEX];

	struct ring *ring;       /* NULL = no thread */
	const unsigned char *at; /* position in the block being read */
	size_t left;
	bool has_block;

	unsigned char *head; /* bytes that were peeked at and not read yet */
	size_t head_len;
	size_t head_used;
};

/* ---- sources: file or other reader, first bytes, gzip ---- */

static size_t file_read(void *context, void *out, size_t size)
{
	struct tp_stream *stream = context;
	char *at = out;
	size_t left = size;
	while (left && !stream->read_error) {
		ssize_t n = read(stream->fd, at, left);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			stream->read_error = errno;
		if (n <= 0)
			break;
		at += n;
		left -= (size_t)n;
	}
	tp_sha256_add(&stream->hash, out, size - left);
	return size - left;
}

static size_t packed_read(void *context, void *out, size_t size)
{
	struct tp_stream *stream = context;
	size_t n = stream->n_first - stream->first_used;
	if (!n)
		return stream->source(stream->context, out, size);
	n = n < size ? n : size;
	memcpy(out, stream->first + stream->first_used, n);
	stream->first_used += n;
	return n + stream->source(stream->context, (char *)out + n, size - n);
}

static size_t unpacked_read(struct tp_stream *stream, void *out, size_t size)
{
	return stream->gzip ? tp_gzip_read(stream->gzip, out, size)
			    : packed_read(stream, out, size);
}

/* ---- the thread ---- */

static bool ring_wait_for_room(struct ring *ring)
{
	pthread_mutex_lock(&ring->lock);
	while (ring->n_filled - ring->n_emptied == N_BLOCKS && !ring->is_unwanted)
		pthread_cond_wait(&ring->changed, &ring->lock);
	bool is_wanted = !ring->is_unwanted;
	pthread_mutex_unlock(&ring->lock);
	return is_wanted;
}

static void *ring_fill(void *argument)
{
	struct tp_stream *stream = argument;
	struct ring *ring = stream->ring;
	bool is_over = false;
	while (!is_over && ring_wait_for_room(ring)) {
		struct block *block = &ring->blocks[ring->n_filled % N_BLOCKS];
		size_t size = unpacked_read(stream, block->bytes, BLOCK_BYTES);
		is_over = size < BLOCK_BYTES;
		pthread_mutex_lock(&ring->lock);
		block->size = size;
		ring->n_filled++;
		ring->is_over = is_over;
		pthread_cond_signal(&ring->changed);
		pthread_mutex_unlock(&ring->lock);
	}
	return NULL;
}

/* Signals are handled by the program's other threads. */
static int thread_start(struct tp_stream *stream)
{
	sigset_t all;
	sigset_t before;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	int error = pthread_create(&stream->ring->thread, NULL, ring_fill, stream);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

static void ring_free(struct ring *ring)
{
	pthread_mutex_destroy(&ring->lock);
	pthread_cond_destroy(&ring->changed);
	for (size_t i = 0; i < N_BLOCKS; i++)
		free(ring->blocks[i].bytes);
	free(ring);
}

/* Without permission for more threads the reader does all the work. */
static void ring_start(struct tp_stream *stream)
{
	struct ring *ring = tp_alloc(sizeof(*ring));
	pthread_mutex_init(&ring->lock, NULL);
	pthread_cond_init(&ring->changed, NULL);
	for (size_t i = 0; i < N_BLOCKS; i++)
		ring->blocks[i].bytes = tp_alloc(BLOCK_BYTES);
	stream->ring = ring;
	if (thread_start(stream) != 0) {
		stream->ring = NULL;
		ring_free(ring);
	}
}

static void ring_stop(struct ring *ring)
{
	pthread_mutex_lock(&ring->lock);
	ring->is_unwanted = true;
	pthread_cond_signal(&ring->changed);
	pthread_mutex_unlock(&ring->lock);
	pthread_join(ring->thread, NULL);
	ring_free(ring);
}

/* Returns the block that was read and gets the next one; false at the end. */
static bool ring_advance(struct tp_stream *stream)
{
	struct ring *ring = stream->ring;
	pthread_mutex_lock(&ring->lock);
	if (stream->has_block) {
		ring->n_emptied++;
		pthread_cond_signal(&ring->changed);
	}
	while (ring->n_filled == ring->n_emptied && !ring->is_over)
		pthread_cond_wait(&ring->changed, &ring->lock);
	stream->has_block = ring->n_filled != ring->n_emptied;
	if (stream->has_block) {
		const struct block *block = &ring->blocks[ring->n_emptied % N_BLOCKS];
		stream->at = block->bytes;
		stream->left = block->size;
	}
	pthread_mutex_unlock(&ring->lock);
	return stream->has_block;
}

static size_t ring_read(struct tp_stream *stream, unsigned char *out, size_t size)
{
	size_t left = size;
	while (left) {
		if (!stream->left && !ring_advance(stream))
			break;
		size_t n = stream->left < left ? stream->left : left;
		memcpy(out, stream->at, n);
		stream->at += n;
		stream->left -= n;
		out += n;
		left -= n;
	}
	return size - left;
}

/* ---- public functions ---- */

static struct tp_stream *stream_new(tp_stream_source source, void *context, int fd)
{
	struct tp_stream *stream = tp_alloc(sizeof(*stream));
	stream->source = source;
	stream->context = context ? context : stream;
	stream->fd = fd;
	tp_sha256_init(&stream->hash);
	stream->n_first = source(stream->context, stream->first, sizeof(stream->first));
	if (tp_gzip_detect(stream->first, stream->n_first))
		stream->gzip = tp_gzip_new(packed_read, stream);
	return stream;
}

enum tp_status tp_stream_open(struct tp_stream **out, const char *path, struct tp_error *err)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return tp_fail_errno(err, errno, "cannot read '%s'", path);
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		close(fd);
		return tp_fail(err, TP_PARSE, "'%s' is a directory", path);
	}
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	struct tp_stream *stream = stream_new(file_read, NULL, fd);
	if (stream->read_error && !stream->n_first) {
		int error = stream->read_error;
		tp_stream_close(stream);
		return tp_fail_errno(err, error, "cannot read '%s'", path);
	}
	ring_start(stream);
	*out = stream;
	return TP_OK;
}

struct tp_stream *tp_stream_from_source(tp_stream_source source, void *context)
{
	return stream_new(source, context, -1);
}

void tp_stream_close(struct tp_stream *stream)
{
	if (!stream)
		return;
	if (stream->ring)
		ring_stop(stream->ring);
	if (stream->fd >= 0)
		close(stream->fd);
	tp_gzip_free(stream->gzip);
	free(stream->head);
	free(stream);
}

static size_t read_on(struct tp_stream *stream, void *out, size_t size)
{
	return stream->ring ? ring_read(stream, out, size) : unpacked_read(stream, out, size);
}

bool tp_stream_is_packed(const struct tp_stream *stream)
{
	return stream->gzip != NULL;
}

size_t tp_stream_peek(struct tp_stream *stream, const unsigned char **head)
{
	if (!stream->head) {
		stream->head = tp_alloc(TP_STREAM_HEAD_BYTES);
		stream->head_len = read_on(stream, stream->head, TP_STREAM_HEAD_BYTES);
	}
	*head = stream->head;
	return stream->head_len;
}

size_t tp_stream_read(struct tp_stream *stream, void *out, size_t size)
{
	size_t n = stream->head_len - stream->head_used;
	if (!n)
		return read_on(stream, out, size);
	n = n < size ? n : size;
	memcpy(out, stream->head + stream->head_used, n);
	stream->head_used += n;
	return n + read_on(stream, (char *)out + n, size - n);
}

enum tp_stream_end tp_stream_ending(const struct tp_stream *stream, const char **why)
{
	static const char *const reasons[] = {
		[TP_STREAM_CUT] = "its gzip data is truncated",
		[TP_STREAM_DAMAGED] = "its gzip data is damaged",
		[TP_STREAM_UNREADABLE] = "reading it failed in the middle",
	};
	enum tp_stream_end ending = stream->gzip ? tp_gzip_ending(stream->gzip) : TP_STREAM_WHOLE;
	if (stream->read_error)
		ending = TP_STREAM_UNREADABLE;
	if (why)
		*why = ending == TP_STREAM_WHOLE ? NULL : reasons[ending];
	return ending;
}

/* Compressed bytes after the last member belong to the file too. */
static void drain(struct tp_stream *stream)
{
	unsigned char *scrap = tp_alloc(BLOCK_BYTES);
	while (tp_stream_read(stream, scrap, BLOCK_BYTES) == BLOCK_BYTES)
		;
	while (packed_read(stream, scrap, BLOCK_BYTES) == BLOCK_BYTES)
		;
	free(scrap);
}

const char *tp_stream_sha256(struct tp_stream *stream)
{
	if (stream->fd >= 0 && !stream->hex[0]) {
		drain(stream);
		tp_sha256_hex(&stream->hash, stream->hex);
	}
	return stream->hex;
}
