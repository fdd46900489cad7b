/* Reads another process's memory page by page. */
#include "remote_memory.h"

#include <sys/uio.h>

/*
 * The first `bytes` of each page's part of the range. One piece a page: a transfer ends at a piece
 * that is not whole, and the pages below the hole are wanted.
 */
static size_t split(uint64_t address, size_t size, size_t bytes, struct iovec *pieces)
{
	size_t n = 0;
	uint64_t end = address + size;
	if (end < address)
		return 0;
	for (uint64_t at = address; at < end && n < TP_REMOTE_MAX_PAGES; n++) {
		uint64_t next = (at | (TP_REMOTE_PAGE - 1)) + 1;
		next = next < end ? next : end;
		pieces[n].iov_base = (void *)(uintptr_t)at;
		pieces[n].iov_len = next - at < bytes ? next - at : bytes;
		at = next;
	}
	return n;
}

size_t tp_remote_read(pid_t pid, uint64_t address, void *out, size_t size)
{
	struct iovec pieces[TP_REMOTE_MAX_PAGES];
	struct iovec local = {.iov_base = out, .iov_len = size};
	size_t n = split(address, size, TP_REMOTE_PAGE, pieces);
	ssize_t got = process_vm_readv(pid, &local, 1, pieces, n, 0);
	return got > 0 ? (size_t)got : 0;
}

void tp_remote_touch(pid_t pid, uint64_t address, size_t size)
{
	char bytes[TP_REMOTE_MAX_PAGES];
	struct iovec pieces[TP_REMOTE_MAX_PAGES];
	struct iovec local = {.iov_base = bytes, .iov_len = sizeof(bytes)};
	(void)process_vm_readv(pid, &local, 1, pieces, split(address, size, 1, pieces), 0);
}
