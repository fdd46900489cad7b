/* Reads another process's memory without stopping it. */
#include "py_memory.h"

#include "trainprof/base/clock.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

enum { MAX_PIECES_A_CALL = 256 }; /* the kernel takes 1024 */

static size_t read_some(struct tp_pymem *self, const struct tp_pymem_piece *pieces, size_t n)
{
	struct iovec local[MAX_PIECES_A_CALL];
	struct iovec remote[MAX_PIECES_A_CALL];
	for (size_t i = 0; i < n; i++) {
		/* The address is the other process's. */
		local[i] = (struct iovec){pieces[i].out, pieces[i].size};
		remote[i] = (struct iovec){(void *)(uintptr_t)pieces[i].address, pieces[i].size};
	}
	self->n_calls++;
	ssize_t got = process_vm_readv(self->pid, local, n, remote, n, 0);
	if (got < 0) {
		self->error = errno;
		return 0;
	}
	size_t n_whole = 0;
	for (size_t left = (size_t)got; n_whole < n && left >= pieces[n_whole].size; n_whole++)
		left -= pieces[n_whole].size;
	if (n_whole < n)
		self->error = EFAULT;
	return n_whole;
}

static size_t process_read(struct tp_pymem *self, const struct tp_pymem_piece *pieces, size_t n)
{
	size_t n_done = 0;
	while (n_done < n) {
		size_t n_now = n - n_done < MAX_PIECES_A_CALL ? n - n_done : MAX_PIECES_A_CALL;
		size_t n_whole = read_some(self, pieces + n_done, n_now);
		n_done += n_whole;
		if (n_whole < n_now)
			break;
	}
	return n_done;
}

void tp_pymem_init_process(struct tp_pymem *self, pid_t pid)
{
	*self = (struct tp_pymem){.read = process_read, .has_clock = true, .pid = pid};
}

uint64_t tp_pymem_now_ns(const struct tp_pymem *self)
{
	return self->has_clock ? tp_clock_now_ns() : 0;
}

bool tp_pymem_get(struct tp_pymem *self, uint64_t address, void *out, size_t size)
{
	struct tp_pymem_piece piece = {address, out, size};
	return self->read(self, &piece, 1) == 1;
}

bool tp_pymem_get_u64(struct tp_pymem *self, uint64_t address, uint64_t *out)
{
	return tp_pymem_get(self, address, out, sizeof(*out));
}

uint64_t tp_pymem_u64(const uint8_t *at)
{
	uint64_t value;
	memcpy(&value, at, sizeof(value));
	return value;
}

uint32_t tp_pymem_u32(const uint8_t *at)
{
	uint32_t value;
	memcpy(&value, at, sizeof(value));
	return value;
}
