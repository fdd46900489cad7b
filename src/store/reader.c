/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a recording, up to its end or to the first damage. */
#include "trainprof/store/recording.h"

#include "checksum.h"
#include "decoder.h"
#include "layout.h"
#include "manifest.h"
#include "wire_num.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/version.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct store_reader {
	int fd;
	char *path;
	struct tp_checksum checksum;
	struct tp_decoder decoder;
	unsigned char *block; /* header and payload of the block being read */
	size_t block_capacity;
	uint32_t n_blocks;
	bool is_damaged; /* damaged before the end of the file */
	pid_t writer;    /* known after the header was read */
};

enum read_result { READ_WHOLE, READ_SHORT, READ_FAILED };

static enum read_result read_full(int fd, unsigned char *out, size_t size)
{
	while (size) {
		ssize_t got = read(fd, out, size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return READ_FAILED;
		if (got == 0)
			return READ_SHORT;
		out += got;
		size -= (size_t)got;
	}
	return READ_WHOLE;
}

static enum tp_status check_version(const struct store_reader *reader, const unsigned char *header,
				    struct tp_error *err)
{
	static const char magic[8] = LAYOUT_MAGIC;
	if (memcmp(header + HEADER_MAGIC, magic, sizeof(magic)) != 0)
		return tp_fail(err, TP_PARSE, "'%s' is not a file of trainprof records",
			       reader->path);
	unsigned major = tp_get_u16(header + HEADER_MAJOR);
	if (major == LAYOUT_MAJOR)
		return TP_OK;
	(void)tp_fail(err, TP_VERSION,
		      "'%s' is recording format %u.%u; this trainprof %s reads %d.x", reader->path,
		      major, (unsigned)tp_get_u16(header + HEADER_MINOR), tp_version(),
		      LAYOUT_MAJOR);
	tp_error_next(err, "update trainprof");
	return TP_VERSION;
}

/* Reads the header of the file. A file that ends inside its header is empty, but no error. */
static enum tp_status read_header(struct store_reader *reader, const struct tp_run_info *run,
				  struct tp_error *err)
{
	unsigned char header[HEADER_BYTES];
	enum read_result result = read_full(reader->fd, header, sizeof(header));
	if (result == READ_FAILED)
		return tp_fail_errno(err, errno, "cannot read '%s'", reader->path);
	if (result == READ_SHORT) {
		reader->is_damaged = true;
		return TP_OK;
	}
	enum tp_status status = check_version(reader, header, err);
	if (status)
		return status;
	if (tp_get_u32(header + HEADER_CRC) !=
		    tp_checksum_add(&reader->checksum, 0, header, HEADER_CRC) ||
	    tp_get_u32(header + HEADER_CLOCK) != LAYOUT_CLOCK_MONOTONIC ||
	    tp_get_u64(header + HEADER_TICK_NS) != 1)
		return tp_fail(err, TP_PARSE, "'%s' has a damaged header", reader->path);
	reader->writer = (pid_t)tp_get_u32(header + HEADER_PID);
	uint64_t id = tp_get_u64(header + HEADER_RUN_ID);
	if (id && run->id && strncmp(run->id, "r-", 2) == 0 &&
	    id != strtoull(run->id + 2, NULL, 16))
		return tp_fail(err, TP_PARSE, "'%s' belongs to another run than its manifest",
			       reader->path);
	return TP_OK;
}

/* Returns room for a header and a payload, without allocating the maximum for a small recording. */
static unsigned char *block_room(struct store_reader *reader, size_t payload)
{
	reader->block = tp_array_grow(reader->block, BLOCK_HEADER_BYTES + payload,
				      &reader->block_capacity, 1);
	return reader->block;
}

/* Returns false at the end of the file and at the first damage. */
static bool read_block(struct store_reader *reader)
{
	unsigned char *p = block_room(reader, 0);
	ssize_t first = read(reader->fd, p, 1);
	if (first == 0)
		return false;
	reader->is_damaged = true;
	if (first != 1 || read_full(reader->fd, p + 1, BLOCK_HEADER_BYTES - 1) != READ_WHOLE ||
	    tp_get_u32(p + BLOCK_TAG) != LAYOUT_BLOCK_TAG ||
	    tp_get_u32(p + BLOCK_NUMBER) != reader->n_blocks)
		return false;
	size_t len = tp_get_u32(p + BLOCK_LENGTH);
	if (len > LAYOUT_BLOCK_MAX)
		return false;
	p = block_room(reader, len);
	unsigned char *payload = p + BLOCK_HEADER_BYTES;
	if (read_full(reader->fd, payload, len) != READ_WHOLE)
		return false;
	uint32_t crc = tp_checksum_add(&reader->checksum, 0, p, BLOCK_CRC);
	if (tp_checksum_add(&reader->checksum, crc, payload, len) != tp_get_u32(p + BLOCK_CRC))
		return false;
	uint64_t n_before = reader->decoder.n_met;
	if (!tp_decoder_add(&reader->decoder, payload, len, tp_get_u64(p + BLOCK_BASE_NS)) ||
	    reader->decoder.n_met - n_before != tp_get_u32(p + BLOCK_N_RECORDS))
		return false;
	reader->n_blocks++;
	reader->is_damaged = false;
	return true;
}

static enum tp_status open_records(struct store_reader *reader, struct tp_error *err)
{
	struct stat st;
	reader->fd = open(reader->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (reader->fd < 0 || fstat(reader->fd, &st) != 0)
		return tp_fail_errno(err, errno, "cannot open '%s'", reader->path);
	if (!S_ISREG(st.st_mode))
		return tp_fail(err, TP_PARSE, "'%s' is not a regular file", reader->path);
	return TP_OK;
}

/* If recording stopped early, a gap up to the end records that for the analysis. */
static void add_stop_gap(struct tp_sink *sink, const struct tp_run_info *run,
			 const struct tp_store_result *ledger)
{
	const char *reason = ledger->stopped_because ? ledger->stopped_because : "";
	uint64_t end_ns = run->ended_ns > ledger->until_ns ? run->ended_ns : ledger->until_ns;
	tp_sink_gap(sink, "recording", reason, ledger->until_ns, end_ns, ledger->n_lost);
}

static void reader_init(struct store_reader *reader, struct tp_sink *sink, const char *directory)
{
	*reader = (struct store_reader){.fd = -1};
	tp_checksum_init(&reader->checksum);
	tp_decoder_init(&reader->decoder, sink);
	reader->path = tp_asprintf("%s/" LAYOUT_RECORDS, directory);
}

static void reader_release(struct store_reader *reader)
{
	if (reader->fd >= 0)
		close(reader->fd);
	free(reader->block);
	free(reader->path);
	tp_decoder_release(&reader->decoder);
}

enum tp_status tp_store_load(struct tp_trace *out, const char *directory, struct tp_error *err)
{
	struct tp_arena arena = {0};
	struct tp_run_info run;
	struct tp_store_result ledger;
	struct tp_trace_builder builder;
	struct store_reader reader;
	tp_trace_builder_init(&builder);
	reader_init(&reader, &builder.sink, directory);

	enum tp_status status = tp_manifest_load(&run, &ledger, &arena, directory, err);
	if (!status)
		status = open_records(&reader, err);
	if (!status)
		status = read_header(&reader, &run, err);
	if (status)
		goto out;
	while (!reader.is_damaged && read_block(&reader))
		;
	if (ledger.has_stopped)
		add_stop_gap(&builder.sink, &run, &ledger);
	tp_trace_build(out, &builder, &run);
	out->n_dropped += reader.decoder.n_refused;
	out->is_partial =
		reader.is_damaged || !ledger.is_closed || reader.n_blocks != ledger.n_blocks;
out:
	reader_release(&reader);
	tp_trace_builder_release(&builder);
	tp_arena_release(&arena);
	return status;
}

enum tp_status tp_store_load_info(struct tp_run_info *out, bool *is_closed, struct tp_arena *arena,
				  const char *directory, struct tp_error *err)
{
	struct tp_store_result ledger;
	enum tp_status status = tp_manifest_load(out, &ledger, arena, directory, err);
	if (is_closed)
		*is_closed = status == TP_OK && ledger.is_closed;
	return status;
}

/* ---- following a recording while it is written ----------------------------------------------- */

struct tp_follow {
	struct store_reader reader;
	struct tp_arena arena;
	struct tp_run_info run;
	char *directory;
	int writer_fd;        /* pidfd; -1 if the process had exited, or the kernel has none */
	bool is_known_by_pid; /* the kernel has no pidfds (before 5.3): a reused pid is not noticed
			       */
};

static bool is_closed(const struct tp_follow *follow)
{
	struct tp_arena arena = {0};
	struct tp_run_info run;
	struct tp_store_result ledger;
	bool closed = tp_manifest_load(&run, &ledger, &arena, follow->directory, NULL) == TP_OK &&
		      ledger.is_closed;
	tp_arena_release(&arena);
	return closed;
}

bool tp_follow_has_ended(const struct tp_follow *follow)
{
	if (follow->is_known_by_pid)
		return (kill(follow->reader.writer, 0) != 0 && errno == ESRCH) || is_closed(follow);
	struct pollfd end = {.fd = follow->writer_fd, .events = POLLIN};
	return follow->writer_fd < 0 || poll(&end, 1, 0) > 0 || is_closed(follow);
}

static enum tp_status fail_ended(const struct tp_follow *follow, struct tp_error *err)
{
	(void)tp_fail(err, TP_EXISTS, "'%s' is no longer being written", follow->directory);
	tp_error_next_word(err, "trainprof report ", follow->directory, "");
	return TP_EXISTS;
}

static enum tp_status fail_invalid(const struct tp_follow *follow, struct tp_error *err)
{
	(void)tp_fail(err, TP_PARSE, "'%s' is damaged", follow->reader.path);
	tp_error_next_word(err, "trainprof report ", follow->directory,
			   "   (what comes before the damage)");
	return TP_PARSE;
}

enum tp_status tp_follow_open(struct tp_follow **out, const char *directory, struct tp_sink *sink,
			      struct tp_error *err)
{
	struct tp_follow *follow = tp_alloc(sizeof(*follow));
	struct tp_store_result ledger;
	reader_init(&follow->reader, sink, directory);
	follow->directory = tp_strdup(directory);
	follow->writer_fd = -1;
	enum tp_status status =
		tp_manifest_load(&follow->run, &ledger, &follow->arena, directory, err);
	if (!status)
		status = open_records(&follow->reader, err);
	if (!status)
		status = read_header(&follow->reader, &follow->run, err);
	if (!status && follow->reader.writer > 0) {
		follow->writer_fd = (int)syscall(SYS_pidfd_open, follow->reader.writer, 0);
		follow->is_known_by_pid = follow->writer_fd < 0 && errno == ENOSYS;
	}
	if (!status && (ledger.is_closed || tp_follow_has_ended(follow)))
		status = fail_ended(follow, err);
	if (status)
		tp_follow_close(follow);
	else
		*out = follow;
	return status;
}

const struct tp_run_info *tp_follow_run(const struct tp_follow *follow)
{
	return &follow->run;
}

/* A block that is incomplete at the end of the file is being written now: the next call reads it.
 * Damage is an error only within the size that the file had before the call: the file may have
 * grown meanwhile, and later bytes may be incomplete. */
enum tp_status tp_follow_read(struct tp_follow *follow, struct tp_error *err)
{
	struct store_reader *reader = &follow->reader;
	struct stat before;
	if (fstat(reader->fd, &before) != 0)
		return tp_fail_errno(err, errno, "cannot read '%s'", reader->path);
	off_t whole;
	do
		whole = lseek(reader->fd, 0, SEEK_CUR);
	while (whole >= 0 && !reader->is_damaged && read_block(reader));
	off_t at = lseek(reader->fd, 0, SEEK_CUR);
	if (whole < 0 || at < 0)
		return tp_fail_errno(err, errno, "cannot read '%s'", reader->path);
	if (reader->is_damaged && at < before.st_size)
		return fail_invalid(follow, err);
	reader->is_damaged = false;
	if (lseek(reader->fd, whole, SEEK_SET) != whole)
		return tp_fail_errno(err, errno, "cannot read '%s'", reader->path);
	return TP_OK;
}

void tp_follow_close(struct tp_follow *follow)
{
	if (!follow)
		return;
	reader_release(&follow->reader);
	if (follow->writer_fd >= 0)
		close(follow->writer_fd);
	tp_arena_release(&follow->arena);
	free(follow->directory);
	free(follow);
}
