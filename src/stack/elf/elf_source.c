/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the bytes of an ELF file from a descriptor or from memory. */
#include "elf_source.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	POOL_MIN = 8,
	POOL_MAX = 512,
	BLOCK_BYTES = 4096,
	N_BLOCKS = 256, /* of the 5,300 small reads of a run of PyTorch they leave 1,500 */
};

/* A part of a file; `source` NULL = unused. */
struct tp_elf_block {
	const struct tp_elf_source *source;
	uint64_t number;
	size_t size; /* less at the end of the file */
	uint8_t bytes[BLOCK_BYTES];
};

void tp_elf_source_pool_init(struct tp_elf_source_pool *pool, size_t max_open)
{
	*pool = (struct tp_elf_source_pool){.max_open = max_open};
	if (max_open > 0)
		return;
	struct rlimit limit;
	pool->max_open = POOL_MAX;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 4 < POOL_MAX)
		pool->max_open = limit.rlim_cur / 4;
	if (pool->max_open < POOL_MIN)
		pool->max_open = POOL_MIN;
}

void tp_elf_source_pool_release(struct tp_elf_source_pool *pool)
{
	free(pool->open);
	free(pool->blocks);
	*pool = (struct tp_elf_source_pool){0};
}

static void pool_remove(struct tp_elf_source_pool *pool, size_t at)
{
	pool->open[at] = pool->open[--pool->n_open];
}

static void pool_close_oldest(struct tp_elf_source_pool *pool)
{
	size_t oldest = 0;
	for (size_t i = 1; i < pool->n_open; i++) {
		if (pool->open[i]->last_use < pool->open[oldest]->last_use)
			oldest = i;
	}
	struct tp_elf_source *source = pool->open[oldest];
	close(source->fd);
	source->fd = -1;
	pool_remove(pool, oldest);
}

static void pool_add(struct tp_elf_source *source, int fd)
{
	struct tp_elf_source_pool *pool = source->pool;
	if (!pool->open)
		pool->open = tp_alloc(pool->max_open * sizeof(void *));
	while (pool->n_open >= pool->max_open)
		pool_close_oldest(pool);
	source->fd = fd;
	source->last_use = ++pool->clock;
	pool->open[pool->n_open++] = source;
}

void tp_elf_source_init_memory(struct tp_elf_source *source, const void *bytes, size_t size)
{
	*source = (struct tp_elf_source){.bytes = bytes, .size = size, .fd = -1};
}

void tp_elf_source_init_file(struct tp_elf_source *source, struct tp_elf_source_pool *pool, int fd,
			     const struct stat *st, const char *path, const char *plain_path)
{
	*source = (struct tp_elf_source){
		.pool = pool,
		.size = (uint64_t)st->st_size,
		.fd = -1,
		.paths = {tp_strdup(path), tp_strdup(plain_path)},
		.identity = *st,
	};
	pool_add(source, fd);
}

void tp_elf_source_release(struct tp_elf_source *source)
{
	for (size_t i = 0; source->pool && i < source->pool->n_open; i++) {
		if (source->pool->open[i] != source)
			continue;
		pool_remove(source->pool, i);
		close(source->fd);
		break;
	}
	for (size_t i = 0; source->pool && source->pool->blocks && i < N_BLOCKS; i++)
		if (source->pool->blocks[i].source == source)
			source->pool->blocks[i].source = NULL;
	free(source->paths[0]);
	free(source->paths[1]);
	*source = (struct tp_elf_source){.fd = -1};
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* O_PATH first: opening a device or a pipe for reading can have side effects or block. */
int tp_elf_source_open_regular(const char *path, struct stat *st)
{
	int handle = open(path, O_PATH | O_CLOEXEC);
	if (handle < 0)
		return -1;
	int fd = -1;
	if (fstat(handle, st) == 0 && S_ISREG(st->st_mode)) {
		char link[40];
		snprintf(link, sizeof(link), "/proc/self/fd/%d", handle);
		fd = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	}
	close(handle);
	return fd;
}

static bool source_reopen(struct tp_elf_source *source)
{
	for (size_t i = 0; i < 2; i++) {
		struct stat st;
		if (!source->paths[i])
			continue;
		int fd = tp_elf_source_open_regular(source->paths[i], &st);
		if (fd < 0)
			continue;
		if (same_file(&st, &source->identity)) {
			pool_add(source, fd);
			return true;
		}
		close(fd);
	}
	return false;
}

static size_t read_memory(const struct tp_elf_source *source, uint64_t offset, void *out,
			  size_t size)
{
	if (offset >= source->size)
		return 0;
	if (size > source->size - offset)
		size = (size_t)(source->size - offset);
	memcpy(out, source->bytes + offset, size);
	return size;
}

/* Sets `is_end` if the file ends before all was read. */
static size_t read_file(struct tp_elf_source *source, uint64_t offset, void *out, size_t size,
			bool *is_end)
{
	*is_end = false;
	if (source->fd < 0 && !source_reopen(source))
		return 0;
	source->last_use = ++source->pool->clock;
	size_t done = 0;
	while (done < size) {
		ssize_t n =
			pread(source->fd, (char *)out + done, size - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		*is_end = n == 0;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

/* A part that could not be read is kept only if the file ends before it. */
static const struct tp_elf_block *block_of(struct tp_elf_source *source, uint64_t number)
{
	struct tp_elf_source_pool *pool = source->pool;
	if (!pool->blocks)
		pool->blocks = tp_alloc(N_BLOCKS * sizeof(*pool->blocks));
	struct tp_elf_block *block =
		&pool->blocks[tp_hash_mix((uintptr_t)source, number) % (uint64_t)N_BLOCKS];
	if (block->source == source && block->number == number)
		return block;
	bool is_end;
	block->size = read_file(source, number * BLOCK_BYTES, block->bytes, BLOCK_BYTES, &is_end);
	block->source = block->size == BLOCK_BYTES || is_end ? source : NULL;
	block->number = number;
	return block;
}

static size_t read_blocks(struct tp_elf_source *source, uint64_t offset, void *out, size_t size)
{
	size_t done = 0;
	while (done < size) {
		const struct tp_elf_block *block = block_of(source, (offset + done) / BLOCK_BYTES);
		size_t at = (size_t)((offset + done) % BLOCK_BYTES);
		size_t n = block->size > at ? block->size - at : 0;
		n = n < size - done ? n : size - done;
		if (n == 0)
			break;
		memcpy((char *)out + done, block->bytes + at, n);
		done += n;
	}
	return done;
}

size_t tp_elf_source_read_some(struct tp_elf_source *source, uint64_t offset, void *out,
			       size_t size)
{
	if (source->bytes)
		return read_memory(source, offset, out, size);
	if (!source->pool || offset > INT64_MAX - size)
		return 0;
	bool is_end;
	return size < BLOCK_BYTES ? read_blocks(source, offset, out, size)
				  : read_file(source, offset, out, size, &is_end);
}

bool tp_elf_source_read(struct tp_elf_source *source, uint64_t offset, void *out, size_t size)
{
	return tp_elf_source_read_some(source, offset, out, size) == size;
}
