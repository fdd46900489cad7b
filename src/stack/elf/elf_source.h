/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of an ELF file: a descriptor read with pread, or memory.
 *
 * Descriptors are few where the limit is low (64 in some containers), so a pool closes the one used
 * longest ago and opens it again on demand, only if it is still the same file.
 */
#ifndef TRAINPROF_SRC_STACK_ELF_ELF_SOURCE_H
#define TRAINPROF_SRC_STACK_ELF_ELF_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct tp_elf_source;

struct tp_elf_source_pool {
	struct tp_elf_source **open; /* those that hold a descriptor */
	size_t n_open;
	size_t max_open;
	uint64_t clock; /* counts uses */
};

struct tp_elf_source {
	struct tp_elf_source_pool *pool;
	const uint8_t *bytes; /* memory, or NULL for a file */
	uint64_t size;
	int fd; /* -1 while closed */
	uint64_t last_use;
	char *paths[2]; /* where to find it again; NULL = nowhere */
	struct stat identity;
};

/* max_open 0: a quarter of the descriptor limit, between 8 and 512. */
void tp_elf_source_pool_init(struct tp_elf_source_pool *pool, size_t max_open);
void tp_elf_source_pool_release(struct tp_elf_source_pool *pool);

void tp_elf_source_init_memory(struct tp_elf_source *source, const void *bytes, size_t size);
/* Takes `fd`. `path` is how it was opened, `plain_path` another name; both may be NULL. */
void tp_elf_source_init_file(struct tp_elf_source *source, struct tp_elf_source_pool *pool, int fd,
			     const struct stat *st, const char *path, const char *plain_path);
void tp_elf_source_release(struct tp_elf_source *source);

/* Read up to `size` bytes at `offset`; returns how many there were, 0 on any failure. */
size_t tp_elf_source_read_some(struct tp_elf_source *source, uint64_t offset, void *out,
			       size_t size);
/* All or nothing. */
bool tp_elf_source_read(struct tp_elf_source *source, uint64_t offset, void *out, size_t size);

/* Open a regular file for reading, nothing else: no device, no pipe is touched. -1 on failure. */
int tp_elf_source_open_regular(const char *path, struct stat *st);

#endif
