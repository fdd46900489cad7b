/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the bytes of an ELF file: from a descriptor with pread, or from memory.
 *
 * Descriptors are scarce if the limit is low (64 in some containers), so a pool closes the least
 * recently used one and reopens it on demand, only if it is still the same file.
 *
 * Tables are searched by many small reads that are near each other, so the pool keeps blocks that
 * were read.
 */
#ifndef TRAINPROF_SRC_STACK_ELF_ELF_SOURCE_H
#define TRAINPROF_SRC_STACK_ELF_ELF_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct tp_elf_source;

struct tp_elf_block;

struct tp_elf_source_pool {
	struct tp_elf_block *blocks; /* NULL until the first small read */
	struct tp_elf_source **open; /* sources that have an open descriptor */
	size_t n_open;
	size_t max_open;
	uint64_t clock; /* number of uses so far */
};

struct tp_elf_source {
	struct tp_elf_source_pool *pool;
	const uint8_t *bytes; /* memory, or NULL for a file */
	uint64_t size;
	int fd; /* -1 while closed */
	uint64_t last_use;
	char *paths[2]; /* paths to reopen the file; NULL = none */
	struct stat identity;
};

/* max_open 0: a quarter of the descriptor limit, between 8 and 512. */
void tp_elf_source_pool_init(struct tp_elf_source_pool *pool, size_t max_open);
void tp_elf_source_pool_release(struct tp_elf_source_pool *pool);

void tp_elf_source_init_memory(struct tp_elf_source *source, const void *bytes, size_t size);
/* Takes ownership of `fd`. `path` is the path it was opened with, `plain_path` another name; both
 * may be NULL. */
void tp_elf_source_init_file(struct tp_elf_source *source, struct tp_elf_source_pool *pool, int fd,
			     const struct stat *st, const char *path, const char *plain_path);
void tp_elf_source_release(struct tp_elf_source *source);

/* Reads up to `size` bytes at `offset`; returns how many were read, 0 on any failure. */
size_t tp_elf_source_read_some(struct tp_elf_source *source, uint64_t offset, void *out,
			       size_t size);
/* Reads all bytes or fails. */
bool tp_elf_source_read(struct tp_elf_source *source, uint64_t offset, void *out, size_t size);

/* Opens a regular file for reading and never a device or a pipe. Returns -1 on failure. */
int tp_elf_source_open_regular(const char *path, struct stat *st);

#endif
