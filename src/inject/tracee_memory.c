/* Copies to and from the memory of another process. */
#include "tracee_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096 };

bool tp_remotemem_read(pid_t pid, uint64_t address, void *out, size_t size)
{
	struct iovec local = {.iov_base = out, .iov_len = size};
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): an address there, not here */
	struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
	return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/* By this way and not process_vm_writev(), because what is written may be code: the kernel then
 * sees to the instruction cache. */
bool tp_remotemem_write(pid_t pid, uint64_t address, const void *bytes, size_t size)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t done = pwrite(fd, bytes, size, (off_t)address);
	int failure = errno;
	close(fd);
	errno = failure;
	return done == (ssize_t)size;
}

size_t tp_remotemem_read_some(pid_t pid, uint64_t address, void *out, size_t size)
{
	size_t n_done = 0;
	/* A call that meets a hole within one piece copies nothing of it. */
	while (n_done < size) {
		size_t n = PAGE - (address + n_done) % PAGE;
		n = n < size - n_done ? n : size - n_done;
		if (!tp_remotemem_read(pid, address + n_done, (char *)out + n_done, n))
			break;
		n_done += n;
	}
	return n_done;
}

void tp_remotemem_read_text(pid_t pid, uint64_t address, char *out, size_t size)
{
	size_t n = address ? tp_remotemem_read_some(pid, address, out, size - 1) : 0;
	out[n] = '\0';
}
