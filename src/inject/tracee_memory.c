/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the memory of another process, and reads strings from it. */
#include "tracee_memory.h"

#include "trainprof/base/process_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Uses /proc/PID/mem instead of process_vm_writev(), because the written bytes may be code: the
 * kernel then keeps the instruction cache coherent. */
bool tp_tracee_memory_write(pid_t pid, uint64_t address, const void *bytes, size_t size)
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

void tp_tracee_memory_read_text(pid_t pid, uint64_t address, char *out, size_t size)
{
	size_t n = address ? tp_process_memory_read_some(pid, address, out, size - 1) : 0;
	out[n] = '\0';
}
