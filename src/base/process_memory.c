/* SPDX-License-Identifier: Apache-2.0 */
/* Reads another process's memory without stopping it. */
#include "trainprof/base/process_memory.h"

#include <errno.h>
#include <sys/uio.h>

enum {
	PAGE = TP_PROCESS_MEMORY_PAGE,
	MAX_PAGES = TP_PROCESS_MEMORY_MAX_PAGES,
	MAX_RANGES = TP_PROCESS_MEMORY_MAX_RANGES,
};

static struct iovec range_there(uint64_t address, size_t size)
{
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): the other process's address */
	return (struct iovec){.iov_base = (void *)(uintptr_t)address, .iov_len = size};
}

bool tp_process_memory_read(pid_t pid, uint64_t address, void *out, size_t size)
{
	const struct tp_process_range range = {address, out, size};
	return tp_process_memory_read_ranges(pid, &range, 1) == 1;
}

/* Arguments of one system call. The kernel looks a page up for each remote range, which costs 0.4
 * us, as much as copying the whole page. Consecutive ranges on one page are therefore passed as one
 * range, and the gaps between them are copied to a scratch buffer. */
struct vector_read {
	struct iovec here[2 * MAX_RANGES];
	struct iovec there[MAX_RANGES];
	size_t n_here;
	size_t n_there;
	size_t n_bytes;
	char waste[PAGE];
};

static bool is_in_page_of(const struct iovec *there, uint64_t address, size_t size)
{
	uint64_t begin = (uintptr_t)there->iov_base;
	uint64_t end = begin + there->iov_len;
	return address >= end && size > 0 && address / PAGE == begin / PAGE &&
	       (address + size - 1) / PAGE == begin / PAGE;
}

static void add_output(struct vector_read *vectors, void *out, size_t size)
{
	vectors->here[vectors->n_here++] = (struct iovec){.iov_base = out, .iov_len = size};
	vectors->n_bytes += size;
}

static void add_range(struct vector_read *vectors, const struct tp_process_range *range)
{
	struct iovec *last = vectors->n_there ? &vectors->there[vectors->n_there - 1] : NULL;
	if (last && is_in_page_of(last, range->address, range->size)) {
		uint64_t end = (uintptr_t)last->iov_base + last->iov_len;
		if (range->address > end)
			add_output(vectors, vectors->waste, (size_t)(range->address - end));
		last->iov_len += (size_t)(range->address - end) + range->size;
	} else {
		vectors->there[vectors->n_there++] = range_there(range->address, range->size);
	}
	add_output(vectors, range->out, range->size);
}

/* Reads at most MAX_RANGES ranges. */
static size_t read_few_ranges(pid_t pid, const struct tp_process_range *ranges, size_t n)
{
	struct vector_read vectors;
	size_t ends[MAX_RANGES];
	vectors.n_here = vectors.n_there = vectors.n_bytes = 0;
	for (size_t i = 0; i < n; i++) {
		add_range(&vectors, &ranges[i]);
		ends[i] = vectors.n_bytes;
	}
	ssize_t n_bytes = process_vm_readv(pid, vectors.here, vectors.n_here, vectors.there,
					   vectors.n_there, 0);
	if (n_bytes < 0)
		return 0;
	size_t n_whole = 0;
	while (n_whole < n && ends[n_whole] <= (size_t)n_bytes)
		n_whole++;
	if (n_whole < n)
		errno = EFAULT;
	return n_whole;
}

size_t tp_process_memory_read_ranges(pid_t pid, const struct tp_process_range *ranges, size_t n)
{
	size_t n_done = 0;
	while (n_done < n) {
		size_t n_now = n - n_done < MAX_RANGES ? n - n_done : MAX_RANGES;
		size_t n_whole = read_few_ranges(pid, ranges + n_done, n_now);
		n_done += n_whole;
		if (n_whole < n_now)
			break;
	}
	return n_done;
}

/* Splits the first `bytes` of the range at page borders, up to MAX_PAGES pieces; returns their
 * number. Each page gets its own iovec, because a transfer ends at an incomplete iovec and the
 * pages before the hole are needed. */
static size_t split_pages(uint64_t address, size_t size, size_t bytes, struct iovec *out)
{
	size_t n = 0;
	uint64_t end = address + size;
	if (end < address)
		return 0;
	for (uint64_t at = address; at < end && n < MAX_PAGES; n++) {
		size_t left = PAGE - at % PAGE;
		left = left < end - at ? left : end - at;
		out[n] = range_there(at, left < bytes ? left : bytes);
		at += left;
	}
	return n;
}

size_t tp_process_memory_read_some(pid_t pid, uint64_t address, void *out, size_t size)
{
	struct iovec there[MAX_PAGES];
	size_t n_done = 0;
	while (n_done < size) {
		struct iovec here = {.iov_base = (char *)out + n_done, .iov_len = size - n_done};
		size_t n_there = split_pages(address + n_done, size - n_done, PAGE, there);
		size_t n_wanted = (size_t)MAX_PAGES * PAGE - (address + n_done) % PAGE;
		errno = EFAULT;
		ssize_t n = process_vm_readv(pid, &here, 1, there, n_there, 0);
		n_done += n > 0 ? (size_t)n : 0;
		if (n < (ssize_t)n_wanted)
			break;
	}
	return n_done;
}

void tp_process_memory_touch(pid_t pid, uint64_t address, size_t size)
{
	char bytes[MAX_PAGES];
	struct iovec here = {.iov_base = bytes, .iov_len = sizeof(bytes)};
	struct iovec there[MAX_PAGES];
	(void)process_vm_readv(pid, &here, 1, there, split_pages(address, size, 1, there), 0);
}
