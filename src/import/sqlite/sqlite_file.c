/* SPDX-License-Identifier: Apache-2.0 */
/* Gives SQLite access to files through a VFS for each file. */
#include "sqlite_file.h"

#if TP_HAVE_SQLITE

#include "trainprof/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER_BYTES = 100, VFS_NAME_MAX = 40 };

struct tp_sqlite_file {
	sqlite3_vfs vfs;
	char way[VFS_NAME_MAX];
	int fd;
	uint64_t size_bytes; /* of complete pages */
	const char *damage;
};

/* SQLite allocates one for each open file. */
struct opened {
	sqlite3_file base; /* must be first */
	const struct tp_sqlite_file *file;
};

/* ---- I/O methods: sqlite.org/c3ref/io_methods.html, read 2026-11-22 ------------------------ */

static int file_close(sqlite3_file *base)
{
	(void)base; /* the descriptor belongs to tp_sqlite_file_close() */
	return SQLITE_OK;
}

static int file_read(sqlite3_file *base, void *out, int size, sqlite3_int64 offset)
{
	const struct tp_sqlite_file *file = ((struct opened *)base)->file;
	char *at = out;
	if (offset < 0 || (uint64_t)offset + (uint64_t)size > file->size_bytes) {
		memset(out, 0, (size_t)size);
		return SQLITE_IOERR_SHORT_READ; /* means "no such page", not a failure */
	}
	while (size > 0) {
		ssize_t n = pread(file->fd, at, (size_t)size, offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return SQLITE_IOERR_READ; /* the file has become shorter */
		at += n;
		offset += n;
		size -= (int)n;
	}
	return SQLITE_OK;
}

static int file_write(sqlite3_file *base, const void *bytes, int size, sqlite3_int64 offset)
{
	(void)base;
	(void)bytes;
	(void)size;
	(void)offset;
	return SQLITE_READONLY;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
	(void)base;
	(void)size;
	return SQLITE_READONLY;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size)
{
	*size = (sqlite3_int64)((struct opened *)base)->file->size_bytes;
	return SQLITE_OK;
}

/* Sync, lock and unlock. */
static int file_nothing(sqlite3_file *base, int how)
{
	(void)base;
	(void)how;
	return SQLITE_OK;
}

static int file_reserved(sqlite3_file *base, int *is_reserved)
{
	(void)base;
	*is_reserved = 0;
	return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int what, void *argument)
{
	(void)base;
	(void)what;
	(void)argument;
	return SQLITE_NOTFOUND;
}

static int file_block_size(sqlite3_file *base)
{
	(void)base;
	return 0;
}

static int file_traits(sqlite3_file *base)
{
	(void)base;
	return SQLITE_IOCAP_IMMUTABLE;
}

static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_nothing,
	.xFileSize = file_size,
	.xLock = file_nothing,
	.xUnlock = file_nothing,
	.xCheckReservedLock = file_reserved,
	.xFileControl = file_control,
	.xSectorSize = file_block_size,
	.xDeviceCharacteristics = file_traits,
};

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *out, int flags,
		    int *out_flags)
{
	struct opened *opened = (struct opened *)out;
	opened->base.pMethods = NULL;
	if (!name || !(flags & SQLITE_OPEN_MAIN_DB))
		return SQLITE_CANTOPEN;
	opened->base.pMethods = &methods;
	opened->file = vfs->pAppData;
	if (out_flags)
		*out_flags = SQLITE_OPEN_READONLY;
	return SQLITE_OK;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int what, int *answer)
{
	(void)vfs;
	(void)name;
	(void)what;
	*answer = 0; /* no journal, no log */
	return SQLITE_OK;
}

static int vfs_full_name(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
	(void)vfs;
	snprintf(out, (size_t)size, "%s", name);
	return SQLITE_OK;
}

/* ---- opening ------------------------------------------------------------------------------- */

/* Counts complete pages, and detects that there are fewer than in the header. Source:
 * sqlite.org/fileformat.html, 1.3 "The Database Header", read 2026-11-22. */
static void pages_count(struct tp_sqlite_file *file)
{
	unsigned char header[HEADER_BYTES];
	if (pread(file->fd, header, sizeof(header), 0) != HEADER_BYTES)
		return;
	uint64_t page = (uint64_t)header[16] << 8 | header[17];
	uint64_t n_pages = 0;
	if (page == 1)
		page = 65536;
	if (page < 512 || page & (page - 1))
		return;
	for (int i = 28; i < 32; i++)
		n_pages = n_pages << 8 | header[i];
	/* Otherwise an old SQLite, which does not update the number, was the last writer. */
	bool is_valid = memcmp(header + 24, header + 92, 4) == 0;
	if ((is_valid && n_pages * page > file->size_bytes) || file->size_bytes % page)
		file->damage = "the file ends before its last page";
	file->size_bytes -= file->size_bytes % page;
}

/* A converter of texts leaves the header, which is ASCII, and writes this in place of other bytes.
 */
static void check_text(struct tp_sqlite_file *file)
{
	static const char replaced[] = "\xef\xbf\xbd";
	enum { FIRST_PAGE = 4096 };
	char page[FIRST_PAGE];
	ssize_t size = file->damage ? pread(file->fd, page, sizeof(page), 0) : 0;
	if (size > 0 && memmem(page, (size_t)size, replaced, strlen(replaced)))
		file->damage = "it was copied as text";
}

/* A log next to the file holds data that the file lacks: it is being written, or its writer
 * died. */
static void check_log(struct tp_sqlite_file *file, const char *path)
{
	static const char *const endings[] = {"-wal", "-journal"};
	for (size_t i = 0; i < TP_ARRAY_LEN(endings); i++) {
		struct stat st;
		char *name = tp_asprintf("%s%s", path, endings[i]);
		if (!stat(name, &st) && st.st_size > 0 && !file->damage)
			file->damage = "a log of unfinished writing lies beside the file";
		free(name);
	}
}

enum tp_status tp_sqlite_file_open(struct tp_sqlite_file **out, const char *path,
				   struct tp_error *err)
{
	struct stat st;
	const sqlite3_vfs *usual = sqlite3_initialize() ? NULL : sqlite3_vfs_find(NULL);
	if (!usual)
		return tp_fail(err, TP_IO, "SQLite does not start");
	/* Do not block on a FIFO. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return tp_fail_errno(err, errno, "%s", path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return tp_fail(err, TP_IO, "%s is not a regular file", path);
	}
	struct tp_sqlite_file *file = tp_alloc(sizeof(*file));
	file->fd = fd;
	file->size_bytes = (uint64_t)st.st_size;
	pages_count(file);
	check_text(file);
	check_log(file, path);
	snprintf(file->way, sizeof(file->way), "trainprof-%p", (void *)file);
	file->vfs = *usual; /* for clock and random numbers */
	file->vfs.szOsFile = sizeof(struct opened);
	file->vfs.pNext = NULL;
	file->vfs.zName = file->way;
	file->vfs.pAppData = file;
	file->vfs.xOpen = vfs_open;
	file->vfs.xAccess = vfs_access;
	file->vfs.xFullPathname = vfs_full_name;
	sqlite3_vfs_register(&file->vfs, 0);
	*out = file;
	return TP_OK;
}

void tp_sqlite_file_close(struct tp_sqlite_file *file)
{
	if (!file)
		return;
	sqlite3_vfs_unregister(&file->vfs);
	close(file->fd);
	free(file);
}

const char *tp_sqlite_file_vfs(const struct tp_sqlite_file *file)
{
	return file->way;
}

uint64_t tp_sqlite_file_size(const struct tp_sqlite_file *file)
{
	return file->size_bytes;
}

const char *tp_sqlite_file_error(const struct tp_sqlite_file *file)
{
	return file->damage;
}

#endif
