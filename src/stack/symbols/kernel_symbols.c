/* SPDX-License-Identifier: Apache-2.0 */
/* Reads /proc/kallsyms: symbols have no size there; the next symbol of any kind ends them. */
#include "kernel_symbols.h"

#include "stack/elf/first_above.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	NAME_MAX_BYTES = 512,
	READ_BYTES = 1 << 16,
	MAX_NAMES = 4 << 20,
	/* The last symbol before a gap must not name the whole gap. */
	FUNCTION_MAX_BYTES = 1 << 20,
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
	void *kept; /* a kept file, mapped: contains entries and texts */
	size_t kept_bytes;
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

/* The sizes in the header must add up to the file's size, and the last text must be terminated. */
static bool is_good(const char *file, size_t size, const struct tp_kernel_epoch *epoch)
{
	struct kept_header header;
	if (size < sizeof(header))
		return false;
	memcpy(&header, file, sizeof(header));
	return memcmp(header.magic, kept_magic, sizeof(header.magic)) == 0 &&
	       memcmp(header.epoch.boot_id, epoch->boot_id, sizeof(epoch->boot_id)) == 0 &&
	       header.epoch.modules_hash == epoch->modules_hash && header.n_entries > 0 &&
	       header.n_entries <= MAX_NAMES && header.texts_bytes > 0 &&
	       header.texts_bytes <= UINT32_MAX &&
	       sizeof(header) + header.n_entries * sizeof(struct ksym_entry) + header.texts_bytes ==
		       size &&
	       file[size - 1] == '\0';
}

struct tp_kernel_symbols *tp_kernel_symbols_restore(const struct tp_kernel_epoch *epoch,
						    const char *file)
{
	struct tp_kernel_symbols *names = NULL;
	struct stat st;
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & 077) != 0 || st.st_size <= 0)
		goto out;
	size_t size = (size_t)st.st_size;
	char *kept = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (kept == MAP_FAILED)
		goto out;
	if (!is_good(kept, size, epoch)) {
		munmap(kept, size);
		goto out;
	}
	struct kept_header header;
	memcpy(&header, kept, sizeof(header));
	names = tp_alloc(sizeof(*names));
	names->kept = kept;
	names->kept_bytes = size;
	names->entries = (struct ksym_entry *)(void *)(kept + sizeof(header));
	names->n_entries = header.n_entries;
	names->texts.data = kept + size - header.texts_bytes;
	names->texts.len = header.texts_bytes;
out:
	if (fd >= 0)
		close(fd);
	return names;
}

void tp_kernel_symbols_free(struct tp_kernel_symbols *names)
{
	if (!names)
		return;
	if (names->kept) {
		munmap(names->kept, names->kept_bytes);
	} else {
		free(names->entries);
		tp_buf_release(&names->texts);
	}
	free(names);
}

bool tp_kernel_symbols_is_empty(const struct tp_kernel_symbols *names)
{
	return names->n_entries == 0;
}

bool tp_kernel_symbols_find(const struct tp_kernel_symbols *names, uint64_t address,
			    const char **name, uint64_t *start, uint64_t *end)
{
	size_t low = tp_first_above(names->entries, names->n_entries, sizeof(struct ksym_entry),
				    offsetof(struct ksym_entry, start), address);
	if (low == 0)
		return false;
	size_t at = low - 1;
	uint64_t limit = names->entries[at].start + FUNCTION_MAX_BYTES;
	uint64_t next = low < names->n_entries ? names->entries[low].start : limit;
	while (at > 0 && names->entries[at - 1].start == names->entries[at].start &&
	       names->entries[at - 1].name != 0)
		at--;
	if (names->entries[at].name == 0 || names->entries[at].name >= names->texts.len ||
	    address >= limit)
		return false;
	*name = names->texts.data + names->entries[at].name;
	*start = names->entries[at].start;
	*end = next < limit ? next : limit;
	return true;
}
