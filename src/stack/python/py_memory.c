/* SPDX-License-Identifier: Apache-2.0 */
/* Reads another process's memory without stopping it. */
#include "py_memory.h"

#include "trainprof/base/clock.h"

#include <errno.h>
#include <string.h>

static size_t process_read(struct tp_py_memory *self, const struct tp_process_range *ranges,
			   size_t n)
{
	size_t n_whole = tp_process_memory_read_ranges(self->pid, ranges, n);
	if (n_whole < n)
		self->error = errno;
	self->n_calls += n_whole / TP_PROCESS_MEMORY_MAX_RANGES +
			 (n_whole < n || n_whole % TP_PROCESS_MEMORY_MAX_RANGES > 0);
	return n_whole;
}

void tp_py_memory_init_process(struct tp_py_memory *self, pid_t pid)
{
	*self = (struct tp_py_memory){.read = process_read, .has_clock = true, .pid = pid};
}

uint64_t tp_py_memory_now_ns(const struct tp_py_memory *self)
{
	if (self->time_ns)
		return *self->time_ns;
	return self->has_clock ? tp_clock_now_ns() : 0;
}

bool tp_py_memory_get(struct tp_py_memory *self, uint64_t address, void *out, size_t size)
{
	struct tp_process_range piece = {address, out, size};
	return self->read(self, &piece, 1) == 1;
}

bool tp_py_memory_get_u64(struct tp_py_memory *self, uint64_t address, uint64_t *out)
{
	return tp_py_memory_get(self, address, out, sizeof(*out));
}

void tp_py_memory_expect(struct tp_py_memory *self, const struct tp_process_range *ranges, size_t n,
			 size_t n_last)
{
	if (self->expect)
		self->expect(self, ranges, n, n_last);
}

void tp_py_memory_read_each(struct tp_py_memory *self, const struct tp_process_range *ranges,
			    size_t n, bool *is_read)
{
	for (size_t at = 0; at < n;) {
		size_t n_read = self->read(self, ranges + at, n - at);
		for (size_t i = 0; i < n_read; i++)
			is_read[at++] = true;
		if (at < n)
			is_read[at++] = false;
	}
}

/* By insertion: there are some ten of them. */
void tp_py_memory_sort(struct tp_process_range *ranges, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		const struct tp_process_range range = ranges[i];
		size_t at = i;
		for (; at > 0 && ranges[at - 1].address > range.address; at--)
			ranges[at] = ranges[at - 1];
		ranges[at] = range;
	}
}

uint64_t tp_py_memory_u64(const uint8_t *at)
{
	uint64_t value;
	memcpy(&value, at, sizeof(value));
	return value;
}

uint32_t tp_py_memory_u32(const uint8_t *at)
{
	uint32_t value;
	memcpy(&value, at, sizeof(value));
	return value;
}
