/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a recording: the directory, its blocks, and the final manifest. */
#include "trainprof/store/recording.h"

#include "encoder.h"
#include "folder.h"
#include "layout.h"
#include "manifest.h"
#include "wire_num.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	STACKS_LIMIT = 16 << 20, /* bytes of memory: 50,000 stacks of 64 frames */
	HELD_MAX = 4 << 20,      /* bytes of blocks that wait for room on the disk */
};

/* Data that waits while the disk is full: the blocks that did not fit, and all definitions made
 * since, since records that come later refer to them. Everything else is lost and counted. */
struct held {
	struct tp_buf blocks; /* whole blocks; empty: the disk is not full */
	uint64_t n_blocks;
	uint64_t n_records;
	uint64_t first_ns; /* time of the first record that waits */
	uint64_t from_ns;  /* the time up to which no record is lost */
	uint64_t until_ns; /* the latest time of a lost record */
	uint64_t n_lost;
};

struct tp_store {
	struct tp_sink sink; /* must be first: the sink's put converts it back to the store */
	struct tp_encoder encoder;
	char *directory;
	int directory_fd;
	int records_fd;
	int next_fd; /* file of the last manifest; its space is allocated at the beginning */
	uint64_t max_bytes;
	struct tp_store_result ledger;
	struct held held;
	bool waits_for_room;
	struct tp_error stop; /* why recording ended early */
};

/* ---- stopping ------------------------------------------------------------------------------ */

/* Data in memory is lost; the data on disk stays complete. */
static void store_stop(struct tp_store *store)
{
	const struct held *held = &store->held;
	bool has_time = held->n_blocks || store->encoder.has_time;
	uint64_t first_ns = held->n_blocks ? held->first_ns : store->encoder.first_ns;
	store->ledger.has_stopped = true;
	store->ledger.n_lost = held->n_records + held->n_lost + store->encoder.n_records;
	store->ledger.stopped_because = store->stop.text;
	if (has_time && (first_ns < store->ledger.until_ns || !store->ledger.n_blocks))
		store->ledger.until_ns = first_ns;
	tp_buf_release(&store->held.blocks);
}

static bool fits_limit(struct tp_store *store, size_t size)
{
	uint64_t there = store->ledger.n_bytes + store->held.blocks.len;
	if (there + size <= store->max_bytes)
		return true;
	(void)tp_fail(&store->stop, TP_IO, "size limit of %llu bytes reached",
		      (unsigned long long)store->max_bytes);
	return false;
}

/* Returns 0, or the error, which store->stop then explains. */
static int append(struct tp_store *store, const void *bytes, size_t size)
{
	if (tp_file_write_all(store->records_fd, bytes, size)) {
		store->ledger.n_bytes += size;
		return 0;
	}
	int error = errno;
	/* Remove an incomplete block. If even this fails, the checksum reveals it. */
	off_t whole = (off_t)store->ledger.n_bytes;
	if (ftruncate(store->records_fd, whole) != 0 ||
	    lseek(store->records_fd, whole, SEEK_SET) != whole)
		error = errno ? errno : error;
	(void)tp_fail_errno(&store->stop, error, "%s", "");
	return error;
}

/* ---- a full disk ---------------------------------------------------------------------------- */

static bool is_holding(const struct tp_store *store)
{
	return store->held.blocks.len != 0;
}

/* Keeps the encoder's block in memory, finished. */
static void hold_block(struct tp_store *store)
{
	struct held *held = &store->held;
	struct tp_encoder *encoder = &store->encoder;
	if (held->blocks.len + encoder->used > HELD_MAX) {
		store_stop(store);
		return;
	}
	if (!is_holding(store)) {
		uint64_t known_ns = store->ledger.until_ns;
		held->first_ns = encoder->has_time ? encoder->first_ns : known_ns;
		held->from_ns = encoder->last_ns > known_ns ? encoder->last_ns : known_ns;
		held->until_ns = held->from_ns;
	}
	tp_buf_add(&held->blocks, encoder->bytes, encoder->used);
	held->n_blocks++;
	held->n_records += encoder->n_records;
	tp_encoder_clear(encoder);
}

/* Returns the times of a record that is no definition. */
static bool record_times(const struct tp_record *record, uint64_t *start_ns, uint64_t *end_ns)
{
	switch (record->kind) {
	case TP_RECORD_RUN:
		*start_ns = record->of.run.start_ns;
		*end_ns = record->of.run.end_ns;
		return true;
	case TP_RECORD_SPAN:
		*start_ns = record->of.span.start_ns;
		*end_ns = record->of.span.end_ns;
		return true;
	case TP_RECORD_SAMPLE:
		*start_ns = *end_ns = record->of.sample.time_ns;
		return true;
	case TP_RECORD_GAUGE:
		*start_ns = *end_ns = record->of.gauge.time_ns;
		return true;
	case TP_RECORD_MARK:
		*start_ns = *end_ns = record->of.mark.time_ns;
		/* Phases have to stay pairs, and a setting holds from now on. */
		return record->of.mark.kind != TP_MARK_PHASE_BEGIN &&
		       record->of.mark.kind != TP_MARK_PHASE_END &&
		       record->of.mark.kind != TP_MARK_SETTING;
	default:
		return false;
	}
}

/* Counts the record as lost, unless it is a definition or from before the disk was full. */
static bool is_lost(struct held *held, const struct tp_record *record)
{
	uint64_t start_ns;
	uint64_t end_ns;
	if (!record_times(record, &start_ns, &end_ns) || start_ns < held->from_ns)
		return false;
	held->n_lost++;
	if (end_ns > held->until_ns)
		held->until_ns = end_ns;
	return true;
}

/* Tries again to write what waits. The times of lost records become a gap. */
static void write_held(struct tp_store *store)
{
	struct held held = store->held;
	if (append(store, held.blocks.data, held.blocks.len) != 0)
		return;
	store->held = (struct held){0};
	store->ledger.n_blocks += held.n_blocks;
	store->ledger.n_records += held.n_records;
	if (held.from_ns > store->ledger.until_ns)
		store->ledger.until_ns = held.from_ns;
	if (held.n_lost)
		tp_sink_gap(&store->sink, TP_STOP_SOURCE, tp_stop_kind_text(TP_STOP_DISK_FULL),
			    held.from_ns, held.until_ns, held.n_lost);
	tp_buf_release(&held.blocks);
}

/* ---- blocks --------------------------------------------------------------------------------- */

static void store_write_block(struct tp_store *store)
{
	struct tp_encoder *encoder = &store->encoder;
	if (!encoder->n_records || store->ledger.has_stopped)
		return;
	tp_encoder_finish_block(encoder);
	if (!fits_limit(store, encoder->used)) {
		store_stop(store);
		return;
	}
	if (is_holding(store)) {
		hold_block(store);
		return;
	}
	int error = append(store, encoder->bytes, encoder->used);
	if (store->waits_for_room && (error == ENOSPC || error == EDQUOT)) {
		hold_block(store);
		return;
	}
	if (error) {
		store_stop(store);
		return;
	}
	store->ledger.n_blocks++;
	store->ledger.n_records += encoder->n_records;
	if (encoder->has_time && encoder->last_ns > store->ledger.until_ns)
		store->ledger.until_ns = encoder->last_ns;
	tp_encoder_clear(encoder);
}

static void store_put(struct tp_sink *sink, const struct tp_record *record)
{
	struct tp_store *store = (struct tp_store *)(void *)sink;
	if (store->ledger.has_stopped) {
		store->ledger.n_lost++;
		return;
	}
	if (is_holding(store) && is_lost(&store->held, record))
		return;
	tp_encoder_add(&store->encoder, record);
	if (tp_encoder_is_full(&store->encoder))
		store_write_block(store);
}

static const struct tp_sink_type store_sink_type = {.name = "recording", .put = store_put};

struct tp_sink *tp_store_sink(struct tp_store *store)
{
	return &store->sink;
}

void tp_store_flush(struct tp_store *store)
{
	if (is_holding(store))
		write_held(store);
	/* A short block of definitions would wait as long as a whole one. */
	if (!is_holding(store))
		store_write_block(store);
}

void tp_store_wait_for_room(struct tp_store *store)
{
	store->waits_for_room = true;
}

void tp_store_end(struct tp_store *store)
{
	tp_store_flush(store);
	if (is_holding(store))
		store_stop(store);
}

const char *tp_store_format(void)
{
	return LAYOUT_WRITTEN;
}

char *tp_store_find(const struct tp_store *store, const char *path)
{
	return tp_folder_find(path, store->directory_fd);
}

uint64_t tp_store_size(const struct tp_store *store)
{
	return store->ledger.n_bytes;
}

bool tp_store_has_stopped(const struct tp_store *store, uint64_t *until_ns, struct tp_error *err)
{
	if (!store->ledger.has_stopped)
		return false;
	*until_ns = store->ledger.until_ns;
	if (err)
		*err = store->stop;
	return true;
}

/* ---- beginning ----------------------------------------------------------------------------- */

/* Splits "a/b/" into "b" and its parent: "a", "/" or "." */
static void split_path(const char *path, char **parent, char **name)
{
	size_t len = strlen(path);
	while (len > 1 && path[len - 1] == '/')
		len--;
	size_t start = len;
	while (start > 0 && path[start - 1] != '/')
		start--;
	*name = tp_strndup(path + start, len - start);
	while (start > 1 && path[start - 1] == '/')
		start--;
	*parent = start ? tp_strndup(path, start) : tp_strdup(".");
}

static enum tp_status fail_existing(const char *directory, struct tp_error *err)
{
	struct tp_arena arena = {0};
	struct tp_run_info run;
	struct tp_store_result ledger;
	if (tp_manifest_load(&run, &ledger, &arena, directory, NULL) == TP_OK) {
		char date[32];
		tp_clock_format_utc(run.started_wall_ns, date, sizeof(date));
		(void)tp_fail(err, TP_EXISTS, "'%s' exists and is a recording of %.10s", directory,
			      date);
		tp_error_next(err, "choose another -o, or add --force");
	} else {
		(void)tp_fail(err, TP_EXISTS, "'%s' exists and is not a recording", directory);
		tp_error_next(err, "choose another -o");
	}
	tp_arena_release(&arena);
	return TP_EXISTS;
}

static enum tp_status fail_write(const char *directory, int error, struct tp_error *err)
{
	char *parent;
	char *name;
	split_path(directory, &parent, &name);
	enum tp_status status = tp_fail_errno(err, error, "cannot write in '%s'", parent);
	if (error == EMFILE) /* no other folder would help */
		goto out;
	/* In a folder that was removed, and in /proc, nothing can be made. */
	if (error == ENOENT && access(parent, F_OK) != 0)
		tp_error_next_word(err, "mkdir -p ", parent, "");
	else if (strcmp(parent, "/tmp") == 0)
		tp_error_next(err, "choose another -o");
	else
		tp_error_next_word(err, "trainprof run -o /tmp/", name, " -- …");
out:
	free(parent);
	free(name);
	return status;
}

static enum tp_status make_directory(struct tp_store *store, struct tp_error *err)
{
	if (mkdir(store->directory, 0700) != 0) {
		int error = errno;
		return error == EEXIST ? fail_existing(store->directory, err)
				       : fail_write(store->directory, error, err);
	}
	store->directory_fd = open(store->directory, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (store->directory_fd < 0)
		return fail_write(store->directory, errno, err);
	return TP_OK;
}

static int make_file(const struct tp_store *store, const char *name)
{
	return openat(store->directory_fd, name,
		      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* A file above the process's size limit would raise SIGXFSZ: stop before. */
static uint64_t limit_of_process(uint64_t max_bytes)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	    limit.rlim_cur < max_bytes)
		return limit.rlim_cur;
	return max_bytes;
}

/* Creates a file with allocated space. If the file system cannot allocate, the file is used
 * without. */
static int make_reserved(const struct tp_store *store, const char *name, uint64_t size)
{
	int fd = make_file(store, name);
	if (fd < 0 || fallocate(fd, 0, 0, (off_t)limit_of_process(size)) == 0 ||
	    errno == EOPNOTSUPP)
		return fd;
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

static bool write_first_manifest(const struct tp_store *store, const struct tp_run_info *run)
{
	struct tp_buf text = {0};
	struct tp_run_info begun = *run;
	begun.end = TP_END_UNKNOWN;
	tp_manifest_write(&text, &begun, &store->ledger);
	int fd = make_file(store, LAYOUT_MANIFEST);
	bool good = fd >= 0 && tp_file_write_all(fd, text.data, text.len);
	int error = errno;
	if (fd >= 0 && close(fd) != 0 && good) {
		good = false;
		error = errno;
	}
	tp_buf_release(&text);
	errno = error;
	return good;
}

static bool write_header(struct tp_store *store, const struct tp_run_info *run)
{
	static const char magic[8] = LAYOUT_MAGIC;
	unsigned char header[HEADER_BYTES] = {0};
	bool has_id = run->id && strncmp(run->id, "r-", 2) == 0;
	memcpy(header + HEADER_MAGIC, magic, sizeof(magic));
	tp_put_u16(header + HEADER_MAJOR, LAYOUT_MAJOR);
	tp_put_u16(header + HEADER_MINOR, LAYOUT_MINOR);
	tp_put_u32(header + HEADER_CLOCK, LAYOUT_CLOCK_MONOTONIC);
	tp_put_u64(header + HEADER_TICK_NS, 1);
	tp_put_u64(header + HEADER_RUN_ID, has_id ? strtoull(run->id + 2, NULL, 16) : 0);
	tp_put_u64(header + HEADER_CREATED_NS, tp_clock_now_ns());
	tp_put_u64(header + HEADER_CREATED_WALL, tp_clock_wall_ns());
	tp_put_u32(header + HEADER_PID, (uint32_t)getpid());
	tp_put_u32(header + HEADER_CRC,
		   tp_checksum_add(&store->encoder.checksum, 0, header, HEADER_CRC));
	if (!tp_file_write_all(store->records_fd, header, sizeof(header)))
		return false;
	store->ledger.n_bytes = sizeof(header);
	return true;
}

static enum tp_status make_files(struct tp_store *store, const struct tp_run_info *run,
				 struct tp_error *err)
{
	int reserve_fd = -1;
	bool good = write_first_manifest(store, run) &&
		    (store->records_fd = make_file(store, LAYOUT_RECORDS)) >= 0 &&
		    write_header(store, run) &&
		    (store->next_fd = make_reserved(store, LAYOUT_NEXT_MANIFEST,
						    LAYOUT_NEXT_MANIFEST_BYTES)) >= 0 &&
		    (reserve_fd = make_reserved(store, LAYOUT_RESERVE, LAYOUT_RESERVE_BYTES)) >= 0;
	int error = errno;
	if (reserve_fd >= 0)
		close(reserve_fd);
	return good ? TP_OK : fail_write(store->directory, error, err);
}

static void store_free(struct tp_store *store)
{
	if (store->records_fd >= 0)
		close(store->records_fd);
	if (store->next_fd >= 0)
		close(store->next_fd);
	if (store->directory_fd >= 0)
		close(store->directory_fd);
	tp_encoder_release(&store->encoder);
	tp_sink_release(&store->sink);
	tp_buf_release(&store->held.blocks);
	free(store->directory);
	free(store);
}

static void remove_all(const struct tp_store *store)
{
	static const char *const names[] = {LAYOUT_MANIFEST, LAYOUT_RECORDS, LAYOUT_NEXT_MANIFEST,
					    LAYOUT_RESERVE};
	for (size_t i = 0; i < TP_ARRAY_LEN(names); i++)
		unlinkat(store->directory_fd, names[i], 0);
	rmdir(store->directory);
}

enum tp_status tp_store_create(struct tp_store **out, const char *directory,
			       const struct tp_run_info *run, uint64_t max_bytes,
			       struct tp_error *err)
{
	struct tp_store *store = tp_alloc(sizeof(*store));
	store->directory = tp_strdup(directory);
	store->directory_fd = -1;
	store->records_fd = -1;
	store->next_fd = -1;
	store->max_bytes = limit_of_process(max_bytes);
	tp_sink_init(&store->sink, &store_sink_type);
	store->sink.stacks_limit = STACKS_LIMIT;
	tp_encoder_init(&store->encoder);
	enum tp_status status = make_directory(store, err);
	if (!status) {
		status = make_files(store, run, err);
		if (status)
			remove_all(store);
	}
	if (status)
		store_free(store);
	else
		*out = store;
	return status;
}

/* ---- ending -------------------------------------------------------------------------------- */

/* Writes into the space allocated at the beginning, then replaces the first manifest in a single
 * step. */
static enum tp_status write_last_manifest(struct tp_store *store, const struct tp_run_info *run,
					  struct tp_error *err)
{
	struct tp_buf text = {0};
	tp_manifest_write(&text, run, &store->ledger);
	bool good = tp_file_write_all(store->next_fd, text.data, text.len) &&
		    ftruncate(store->next_fd, (off_t)text.len) == 0 &&
		    renameat(store->directory_fd, LAYOUT_NEXT_MANIFEST, store->directory_fd,
			     LAYOUT_MANIFEST) == 0;
	int error = errno;
	tp_buf_release(&text);
	if (good)
		return TP_OK;
	unlinkat(store->directory_fd, LAYOUT_NEXT_MANIFEST, 0);
	return tp_fail_errno(err, error, "cannot write '%s/" LAYOUT_MANIFEST "'", store->directory);
}

enum tp_status tp_store_finish(struct tp_store *store, const struct tp_run_info *run,
			       struct tp_error *err)
{
	tp_store_end(store);
	unlinkat(store->directory_fd, LAYOUT_RESERVE, 0);
	store->ledger.is_closed = true;
	enum tp_status status = write_last_manifest(store, run, err);
	store_free(store);
	return status;
}
