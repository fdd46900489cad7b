/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a GPU ring without trusting its contents. */
#include "gpu_ring_reader.h"

#include "trainprof/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Limits far above the agent's own sizes, which are in gpu_ring.h. */
enum {
	BLOCK_EVENTS = 1024,
	EVENT_BYTES_MAX = 1024,
	HEADER_BYTES_MAX = 1 << 20,
	EVENTS_MAX = 1 << 24,
	NAME_BYTES_MAX = 1 << 26,
	PLACES_MAX = 1 << 16, /* a place is a 16-bit number */
	CLOCKS_MAX = 1 << 16,
	PAIRS_AT_ONCE = 256,
};

static bool file_read(const struct tp_gpu_ring_reader *file, void *out, size_t size,
		      uint64_t offset)
{
	ssize_t got;
	do
		got = pread(file->fd, out, size, (off_t)offset);
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)size;
}

/* Writes aligned words; the kernel copies 8-byte words whole. A failed write is repeated by the
 * next call, because the whole value is written each time. */
static void file_write(const struct tp_gpu_ring_reader *file, const void *bytes, size_t size,
		       size_t offset)
{
	ssize_t done = pwrite(file->fd, bytes, size, (off_t)offset);
	(void)done;
}

/* ---- header --------------------------------------------------------------------------------- */

static bool is_power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

static bool has_valid_sizes(const struct tp_gpu_ring_header *h)
{
	return h->header_bytes >= sizeof(*h) && h->header_bytes <= HEADER_BYTES_MAX &&
	       h->event_bytes >= sizeof(struct tp_gpu_event) && h->event_bytes <= EVENT_BYTES_MAX &&
	       is_power_of_two(h->n_events) && h->n_events <= EVENTS_MAX &&
	       h->names_bytes <= NAME_BYTES_MAX && h->n_places_most <= PLACES_MAX &&
	       is_power_of_two(h->n_clocks) && h->n_clocks <= CLOCKS_MAX &&
	       h->clocks_at >= h->header_bytes && h->places_at >= h->header_bytes &&
	       h->names_at >= h->header_bytes && h->events_at >= h->header_bytes;
}

static void terminate_strings(struct tp_gpu_ring_header *header)
{
	header->owner[sizeof(header->owner) - 1] = '\0';
	header->failed_call[sizeof(header->failed_call) - 1] = '\0';
	header->library[sizeof(header->library) - 1] = '\0';
}

static enum tp_status check_header(const struct tp_gpu_ring_reader *file, const char *path,
				   struct tp_error *err)
{
	const struct tp_gpu_ring_header *header = &file->header;
	if (!header->magic)
		return tp_fail(err, TP_ABSENT, "'%s' has no contents yet", path);
	if (header->magic != TP_GPU_RING_MAGIC)
		return tp_fail(err, TP_PARSE, "'%s' is no ring of a GPU agent", path);
	if (header->major != TP_GPU_RING_MAJOR)
		return tp_fail(err, TP_VERSION,
			       "the GPU agent writes version %u.%u of its ring, known is %d",
			       header->major, header->minor, TP_GPU_RING_MAJOR);
	if (!has_valid_sizes(header))
		return tp_fail(err, TP_PARSE, "'%s' is damaged: sizes in its head make no sense",
			       path);
	return TP_OK;
}

enum tp_status tp_gpu_ring_reader_open(struct tp_gpu_ring_reader *out, const char *path,
				       struct tp_error *err)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0) {
		*out = (struct tp_gpu_ring_reader){.fd = -1};
		return tp_fail(err, TP_IO, "cannot open '%s': %s", path, tp_errno_text(errno));
	}
	return tp_gpu_ring_reader_open_fd(out, fd, path, err);
}

enum tp_status tp_gpu_ring_reader_open_fd(struct tp_gpu_ring_reader *out, int fd, const char *path,
					  struct tp_error *err)
{
	enum tp_status status;
	*out = (struct tp_gpu_ring_reader){.fd = fd};
	if (!file_read(out, &out->header, sizeof(out->header), 0))
		status = tp_fail(err, TP_ABSENT, "'%s' has no contents yet", path);
	else
		status = check_header(out, path, err);
	if (status) {
		close(out->fd);
		*out = (struct tp_gpu_ring_reader){.fd = -1};
		return status;
	}
	terminate_strings(&out->header);
	out->tail = out->header.tail;
	out->head = out->tail;
	out->block = tp_alloc((size_t)BLOCK_EVENTS * out->header.event_bytes);
	return TP_OK;
}

void tp_gpu_ring_reader_close(struct tp_gpu_ring_reader *file)
{
	if (file->fd >= 0)
		close(file->fd);
	tp_gpu_clocks_release(&file->clocks);
	free(file->names);
	free(file->places);
	free(file->block);
	*file = (struct tp_gpu_ring_reader){.fd = -1};
}

/* ---- contents ------------------------------------------------------------------------------- */

/* Updates only counts, states and texts: sizes stay as they were checked. */
static bool read_header(struct tp_gpu_ring_reader *file)
{
	struct tp_gpu_ring_header now;
	uint64_t head;
	/* Read before the counts of the tables, so that the tables contain everything its events
	 * use. */
	if (!file_read(file, &head, sizeof(head), offsetof(struct tp_gpu_ring_header, head)) ||
	    !file_read(file, &now, sizeof(now), 0))
		return false;
	if (head < file->head || head - file->tail > file->header.n_events ||
	    now.n_name_bytes > file->header.names_bytes || now.n_name_bytes < file->n_names ||
	    now.n_places > file->header.n_places_most || now.n_places < file->n_places ||
	    now.n_clock_pairs < file->n_pairs)
		return false;
	struct tp_gpu_ring_header was = file->header;
	file->header = now;
	memcpy(&file->header, &was, offsetof(struct tp_gpu_ring_header, heartbeat_ns));
	terminate_strings(&file->header);
	file->head = head;
	return true;
}

/* Reads the new part of a table that only grows. */
static bool read_table(const struct tp_gpu_ring_reader *file, void **table, size_t old_bytes,
		       size_t new_bytes, uint64_t at)
{
	if (new_bytes == old_bytes)
		return true;
	*table = tp_realloc(*table, new_bytes);
	return file_read(file, (char *)*table + old_bytes, new_bytes - old_bytes, at + old_bytes);
}

static bool read_tables(struct tp_gpu_ring_reader *file)
{
	const struct tp_gpu_ring_header *header = &file->header;
	void *names = file->names;
	void *places = file->places;
	size_t place = sizeof(*file->places);
	bool are_read =
		read_table(file, &names, file->n_names, header->n_name_bytes, header->names_at) &&
		read_table(file, &places, file->n_places * place, header->n_places * place,
			   header->places_at);
	file->names = names;
	file->places = places;
	if (!are_read)
		return false;
	file->n_names = header->n_name_bytes;
	file->n_places = header->n_places;
	return true;
}

/* Skips pairs that may have been overwritten meanwhile; of very many, reads only the newest. */
static bool read_clocks(struct tp_gpu_ring_reader *file)
{
	const struct tp_gpu_ring_header *header = &file->header;
	struct tp_gpu_clock pairs[PAIRS_AT_ONCE];
	uint64_t until = header->n_clock_pairs;
	uint64_t most = header->n_clocks < PAIRS_AT_ONCE ? header->n_clocks : PAIRS_AT_ONCE;
	uint64_t from = until - file->n_pairs > most ? until - most : file->n_pairs;
	for (uint64_t i = from; i < until; i++)
		if (!file_read(file, &pairs[i - from], sizeof(pairs[0]),
			       header->clocks_at + (i & (header->n_clocks - 1)) * sizeof(pairs[0])))
			return false;
	uint64_t now;
	if (!file_read(file, &now, sizeof(now),
		       offsetof(struct tp_gpu_ring_header, n_clock_pairs)) ||
	    now < until)
		return false;
	for (uint64_t i = from; i < until; i++)
		if (now - i < header->n_clocks)
			tp_gpu_clocks_add(&file->clocks, &pairs[i - from]);
	file->n_pairs = until;
	return true;
}

bool tp_gpu_ring_reader_refresh(struct tp_gpu_ring_reader *file)
{
	if (file->is_damaged || file->fd < 0)
		return false;
	file->is_damaged = !read_header(file) || !read_tables(file) || !read_clocks(file);
	if (file->is_damaged)
		file->head = file->tail;
	return !file->is_damaged;
}

size_t tp_gpu_ring_reader_drain(struct tp_gpu_ring_reader *file, size_t most, tp_gpu_event_fn *take,
				void *context)
{
	const struct tp_gpu_ring_header *header = &file->header;
	size_t bytes = header->event_bytes;
	size_t n_taken = 0;
	while (n_taken < most && file->tail < file->head) {
		uint64_t slot = file->tail & (header->n_events - 1);
		uint64_t n = file->head - file->tail;
		n = n < header->n_events - slot ? n : header->n_events - slot;
		n = n < BLOCK_EVENTS ? n : BLOCK_EVENTS;
		n = n < most - n_taken ? n : most - n_taken;
		if (!file_read(file, file->block, n * bytes, header->events_at + slot * bytes)) {
			file->is_damaged = true;
			file->head = file->tail;
			break;
		}
		for (size_t i = 0; i < n; i++) {
			struct tp_gpu_event event;
			memcpy(&event, file->block + i * bytes, sizeof(event));
			take(context, &event);
		}
		file->tail += n;
		n_taken += n;
	}
	if (n_taken)
		file_write(file, &file->tail, sizeof(file->tail),
			   offsetof(struct tp_gpu_ring_header, tail));
	return n_taken;
}

uint64_t tp_gpu_ring_reader_n_left(const struct tp_gpu_ring_reader *file)
{
	return file->head - file->tail;
}

const char *tp_gpu_ring_reader_name(const struct tp_gpu_ring_reader *file, uint32_t id,
				    size_t *length)
{
	uint32_t n;
	*length = 0;
	uint64_t at = id ? (uint64_t)(id - 1) * 8 : UINT64_MAX;
	if (!id || at + sizeof(n) > file->n_names)
		return NULL;
	memcpy(&n, file->names + at, sizeof(n));
	if (!n || n > TP_GPU_NAME_MAX || at + sizeof(n) + n > file->n_names)
		return NULL;
	*length = n;
	return file->names + at + sizeof(n);
}

const struct tp_gpu_place *tp_gpu_ring_reader_place(const struct tp_gpu_ring_reader *file,
						    uint32_t place)
{
	return place && place <= file->n_places ? &file->places[place - 1] : NULL;
}

void tp_gpu_ring_reader_request(const struct tp_gpu_ring_reader *file, enum tp_gpu_request wanted)
{
	uint32_t word = wanted;
	if (file->fd >= 0)
		file_write(file, &word, sizeof(word), offsetof(struct tp_gpu_ring_header, wanted));
}

void tp_gpu_ring_reader_mark_alive(const struct tp_gpu_ring_reader *file, uint64_t now_ns)
{
	if (file->fd >= 0)
		file_write(file, &now_ns, sizeof(now_ns),
			   offsetof(struct tp_gpu_ring_header, reader_ns));
}

void tp_gpu_ring_reader_free_events(const struct tp_gpu_ring_reader *file)
{
	const struct tp_gpu_ring_header *header = &file->header;
	/* Memory that cannot be freed stays until the program ends. */
	int failed = fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			       header->events_at, (off_t)header->n_events * header->event_bytes);
	(void)failed;
}
