/* SPDX-License-Identifier: Apache-2.0 */
/* Reads /proc/kallsyms: symbols have no size there; the next symbol of any kind ends them. */
#include "kernel_symbols.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"
#include "trainprof/base/strtab.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	NAME_MAX_BYTES = 512,
	READ_BYTES = 1 << 16,
	MAX_NAMES = 4 << 20,
	/* The last symbol before a gap must not name the whole gap. */
	FUNCTION_MAX_BYTES = 1 << 20,
	BLOCK_ENTRIES = 256, /* 4 KiB */
};

struct ksym_entry {
	uint64_t start;
	uint32_t name; /* offset in texts; 0 = data or hidden, ends the previous symbol */
};

struct tp_kernel_symbols {
	struct ksym_entry *entries; /* by start */
	size_t n_entries;
	size_t entries_capacity;
	struct tp_buf texts;
	struct kept_file *kept; /* NULL: entries and texts are in memory */
};

/* A kept file. It is read block by block: mapped, its pages would become resident one after the
 * other, and a file that someone truncates would end us by SIGBUS. */
struct kept_file {
	int fd;
	uint64_t texts_at; /* offset in the file */
	uint64_t texts_bytes;
	uint64_t *block_starts; /* start of the first entry of each block */
	size_t n_blocks;
	struct ksym_entry block[BLOCK_ENTRIES];
	size_t block_number;
	size_t n_block; /* 0 = none was read */
	struct tp_strtab names;
};

/* Layout of a kept file: this header, the entries, the texts. */
struct kept_header {
	char magic[8];
	struct tp_kernel_epoch epoch;
	uint64_t n_entries;
	uint64_t texts_bytes;
};

static const char kept_magic[8] = "TPKNAME1";

/* A result of 16 or more means: no hex digit. */
static unsigned hex_digit(char c)
{
	unsigned digit = (unsigned)(unsigned char)c - '0';
	if (digit < 10)
		return digit;
	unsigned letter = ((unsigned)(unsigned char)c | 0x20) - 'a';
	return letter < 6 ? letter + 10 : 16;
}

/* Parses "ffffffff81000000 T _text" or "ffffffffc0000000 t nvme_irq\t[nvme]", without the newline.
 * Hand-written, and in place: for 120000 lines the C library's functions take as long as the kernel
 * takes to print them. */
static void parse_line(struct tp_kernel_symbols *names, const char *line, size_t len)
{
	uint64_t start = 0;
	size_t at = 0;
	for (unsigned digit; at < len && at < 16 && (digit = hex_digit(line[at])) < 16; at++)
		start = start << 4 | digit;
	if (at == 0 || at + 3 >= len || line[at] != ' ' || line[at + 2] != ' ' || start == 0 ||
	    names->n_entries >= MAX_NAMES)
		return;
	char type = line[at + 1];
	struct ksym_entry entry = {.start = start};
	if (type == 't' || type == 'T' || type == 'w' || type == 'W') {
		size_t name_len = len - at - 3;
		if (names->texts.len == 0)
			tp_buf_putc(&names->texts, '\0');
		entry.name = (uint32_t)names->texts.len;
		tp_buf_add(&names->texts, line + at + 3,
			   name_len < NAME_MAX_BYTES ? name_len : NAME_MAX_BYTES);
		char *tab =
			line[len - 1] == ']' ? strchr(names->texts.data + entry.name, '\t') : NULL;
		if (tab)
			*tab = ' ';
		tp_buf_putc(&names->texts, '\0');
	}
	TP_ARRAY_PUSH(names->entries, names->n_entries, names->entries_capacity) = entry;
}

/* Parses all complete lines of a piece of the file; returns their length in bytes. */
static size_t parse_lines(struct tp_kernel_symbols *names, const char *text, size_t size)
{
	size_t at = 0;
	const char *newline;
	while ((newline = memchr(text + at, '\n', size - at))) {
		size_t len = (size_t)(newline - (text + at));
		parse_line(names, text + at, len);
		at += len + 1;
	}
	return at;
}

/* Hidden addresses are all zero: checking the start saves reading 200000 lines. */
static void parse_file(struct tp_kernel_symbols *names, int fd)
{
	char *text = tp_alloc(READ_BYTES);
	size_t kept = 0;
	ssize_t got;
	while ((got = read(fd, text + kept, READ_BYTES - kept)) > 0) {
		size_t size = kept + (size_t)got;
		size_t used = parse_lines(names, text, size);
		if (names->n_entries == 0 && used > 0)
			break;
		kept = size - used;
		if (kept == READ_BYTES)
			break; /* no line is that long */
		memmove(text, text + used, kept);
	}
	if (got == 0 && kept)
		parse_line(names, text, kept);
	free(text);
}

static int compare_entries(const void *a, const void *b)
{
	const struct ksym_entry *left = a;
	const struct ksym_entry *right = b;
	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	/* The alias that is first in the file stays first. */
	return left->name < right->name ? -1 : left->name > right->name;
}

/* The kernel's own symbols are in order; those of modules follow, and have lower addresses: sort
 * those and merge. */
static void sort_entries(struct tp_kernel_symbols *names)
{
	size_t n = names->n_entries;
	size_t n_head = n ? 1 : 0;
	while (n_head < n &&
	       compare_entries(&names->entries[n_head - 1], &names->entries[n_head]) <= 0)
		n_head++;
	if (n_head == n)
		return;
	const struct ksym_entry *head = names->entries;
	const struct ksym_entry *tail = names->entries + n_head;
	qsort(names->entries + n_head, n - n_head, sizeof(*names->entries), compare_entries);
	struct ksym_entry *merged = tp_alloc(n * sizeof(*merged));
	for (size_t i = 0; i < n; i++) {
		bool from_tail = head == names->entries + n_head ||
				 (tail < names->entries + n && compare_entries(tail, head) < 0);
		merged[i] = from_tail ? *tail++ : *head++;
	}
	free(names->entries);
	names->entries = merged;
	names->entries_capacity = n;
}

struct tp_kernel_symbols *tp_kernel_symbols_load(const char *path)
{
	struct tp_kernel_symbols *names = tp_alloc(sizeof(*names));
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		parse_file(names, fd);
		close(fd);
	}
	sort_entries(names);
	return names;
}

static struct kept_header header_of(const struct tp_kernel_symbols *names,
				    const struct tp_kernel_epoch *epoch)
{
	struct kept_header header = {.n_entries = names->n_entries,
				     .texts_bytes = names->texts.len};
	memcpy(header.magic, kept_magic, sizeof(header.magic));
	memcpy(header.epoch.boot_id, epoch->boot_id, sizeof(header.epoch.boot_id));
	header.epoch.modules_hash = epoch->modules_hash;
	return header;
}

/* No fsync: a file that is incomplete after a crash of the machine belongs to an earlier boot. */
void tp_kernel_symbols_save(const struct tp_kernel_symbols *names,
			    const struct tp_kernel_epoch *epoch, const char *file)
{
	if (names->n_entries == 0)
		return;
	struct kept_header header = header_of(names, epoch);
	char *temporary = tp_asprintf("%s.%ld", file, (long)getpid());
	int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0) {
		bool is_whole = tp_file_write_all(fd, &header, sizeof(header)) &&
				tp_file_write_all(fd, names->entries,
						  names->n_entries * sizeof(*names->entries)) &&
				tp_file_write_all(fd, names->texts.data, names->texts.len);
		is_whole = close(fd) == 0 && is_whole;
		if (!is_whole || rename(temporary, file) != 0)
			unlink(temporary);
	}
	free(temporary);
}

static bool read_at(int fd, void *out, size_t size, uint64_t offset)
{
	return pread(fd, out, size, (off_t)offset) == (ssize_t)size;
}

/* The sizes in the header must add up to the file's size, and the last text must be terminated. */
static bool is_good(const struct kept_header *header, int fd, uint64_t size,
		    const struct tp_kernel_epoch *epoch)
{
	char last = 1;
	return memcmp(header->magic, kept_magic, sizeof(header->magic)) == 0 &&
	       memcmp(header->epoch.boot_id, epoch->boot_id, sizeof(epoch->boot_id)) == 0 &&
	       header->epoch.modules_hash == epoch->modules_hash && header->n_entries > 0 &&
	       header->n_entries <= MAX_NAMES && header->texts_bytes > 0 &&
	       header->texts_bytes <= UINT32_MAX &&
	       sizeof(*header) + header->n_entries * sizeof(struct ksym_entry) +
			       header->texts_bytes ==
		       size &&
	       read_at(fd, &last, 1, size - 1) && last == '\0';
}

static uint64_t entry_offset(size_t number)
{
	return sizeof(struct kept_header) + number * sizeof(struct ksym_entry);
}

/* Opens a file that is ours alone; -1 if there is none. */
static int open_kept(const char *file, uint64_t *size)
{
	struct stat st;
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    (st.st_mode & 077) == 0 && st.st_size > 0) {
		*size = (uint64_t)st.st_size;
		return fd;
	}
	close(fd);
	return -1;
}

static void kept_free(struct kept_file *kept)
{
	close(kept->fd);
	free(kept->block_starts);
	tp_strtab_release(&kept->names);
	free(kept);
}

struct tp_kernel_symbols *tp_kernel_symbols_restore(const struct tp_kernel_epoch *epoch,
						    const char *file)
{
	uint64_t size;
	struct kept_header header;
	int fd = open_kept(file, &size);
	if (fd < 0)
		return NULL;
	if (!read_at(fd, &header, sizeof(header), 0) || !is_good(&header, fd, size, epoch)) {
		close(fd);
		return NULL;
	}
	struct kept_file *kept = tp_alloc(sizeof(*kept));
	kept->fd = fd;
	kept->texts_at = size - header.texts_bytes;
	kept->texts_bytes = header.texts_bytes;
	kept->n_blocks = (header.n_entries + BLOCK_ENTRIES - 1) / BLOCK_ENTRIES;
	kept->block_starts = tp_alloc(kept->n_blocks * sizeof(*kept->block_starts));
	tp_strtab_init(&kept->names);
	for (size_t i = 0; i < kept->n_blocks; i++) {
		if (read_at(fd, &kept->block_starts[i], sizeof(*kept->block_starts),
			    entry_offset(i * BLOCK_ENTRIES)))
			continue;
		kept_free(kept);
		return NULL;
	}
	struct tp_kernel_symbols *names = tp_alloc(sizeof(*names));
	names->kept = kept;
	names->n_entries = header.n_entries;
	return names;
}

void tp_kernel_symbols_free(struct tp_kernel_symbols *names)
{
	if (!names)
		return;
	if (names->kept)
		kept_free(names->kept);
	free(names->entries);
	tp_buf_release(&names->texts);
	free(names);
}

bool tp_kernel_symbols_is_empty(const struct tp_kernel_symbols *names)
{
	return names->n_entries == 0;
}

/* Returns NULL if the file can no longer be read. */
static const struct ksym_entry *entry_get(struct tp_kernel_symbols *names, size_t number)
{
	struct kept_file *kept = names->kept;
	if (!kept)
		return &names->entries[number];
	size_t block = number / BLOCK_ENTRIES;
	if (!kept->n_block || kept->block_number != block) {
		size_t first = block * BLOCK_ENTRIES;
		size_t n = names->n_entries - first;
		n = n < BLOCK_ENTRIES ? n : BLOCK_ENTRIES;
		kept->n_block = 0;
		if (!read_at(kept->fd, kept->block, n * sizeof(*kept->block), entry_offset(first)))
			return NULL;
		kept->block_number = block;
		kept->n_block = n;
	}
	return &kept->block[number % BLOCK_ENTRIES];
}

static size_t first_kept_above(struct tp_kernel_symbols *names, uint64_t address)
{
	struct kept_file *kept = names->kept;
	size_t block;
	size_t at;
	TP_FIND_FIRST(block, 0, kept->n_blocks, kept->block_starts[block] > address);
	if (block == 0 || !entry_get(names, (block - 1) * BLOCK_ENTRIES))
		return 0;
	TP_FIND_FIRST(at, 0, kept->n_block, kept->block[at].start > address);
	return (block - 1) * BLOCK_ENTRIES + at;
}

/* Returns the number of the first entry that begins above the address. */
static size_t first_above(struct tp_kernel_symbols *names, uint64_t address)
{
	size_t at;
	if (names->kept)
		return first_kept_above(names, address);
	TP_FIND_FIRST(at, 0, names->n_entries, names->entries[at].start > address);
	return at;
}

/* Returns NULL for data and hidden names. */
static const char *name_get(struct tp_kernel_symbols *names, uint32_t at)
{
	struct kept_file *kept = names->kept;
	char text[NAME_MAX_BYTES + 1];
	if (at == 0)
		return NULL;
	if (!kept)
		return names->texts.data + at;
	if (at >= kept->texts_bytes)
		return NULL;
	uint64_t left = kept->texts_bytes - at;
	size_t size = left < sizeof(text) ? (size_t)left : sizeof(text);
	if (!read_at(kept->fd, text, size, kept->texts_at + at) || !memchr(text, '\0', size))
		return NULL;
	return tp_strtab_text(&kept->names, tp_strtab_intern(&kept->names, text));
}

/* The first of several names of one address is used: moves `at` back to it. */
static bool find_first_alias(struct tp_kernel_symbols *names, size_t *at, struct ksym_entry *out)
{
	const struct ksym_entry *entry = entry_get(names, *at);
	if (!entry)
		return false;
	*out = *entry;
	for (; *at > 0; --*at) {
		entry = entry_get(names, *at - 1);
		if (!entry || entry->start != out->start || entry->name == 0)
			break;
		*out = *entry;
	}
	return true;
}

bool tp_kernel_symbols_find(struct tp_kernel_symbols *names, uint64_t address, const char **name,
			    uint64_t *start, uint64_t *end)
{
	struct ksym_entry found;
	size_t low = first_above(names, address);
	size_t at = low - 1;
	if (low == 0 || !find_first_alias(names, &at, &found))
		return false;
	uint64_t limit = found.start + FUNCTION_MAX_BYTES;
	const struct ksym_entry *next = low < names->n_entries ? entry_get(names, low) : NULL;
	const char *text = address < limit ? name_get(names, found.name) : NULL;
	if (!text)
		return false;
	*name = text;
	*start = found.start;
	*end = next && next->start < limit ? next->start : limit;
	return true;
}
