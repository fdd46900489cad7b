/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes the records of perf rings (include/uapi/linux/perf_event.h, 6.18). */
#include "perf_decode.h"

#include "collect/machine/kernel_time.h"
#include "perf_regs.h"

#include "trainprof/base/memory.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

/* Fields that sample_id_all appends to every record that is not a sample: TID, TIME, the event's ID
 * if requested, CPU. Samples have the same fields after their header and IP. */
struct id_begin {
	uint32_t pid;
	uint32_t tid;
	uint64_t time_ns;
};

enum { WORD = sizeof(uint64_t), ID_BYTES = sizeof(struct id_begin) + WORD };

static size_t id_bytes(bool has_event)
{
	return has_event ? ID_BYTES + WORD : ID_BYTES;
}

/* The start of a sample. */
struct sample_head {
	struct perf_event_header header;
	uint64_t ip;
	struct id_begin id;
};

struct mmap2_head {
	struct perf_event_header header;
	uint32_t pid;
	uint32_t tid;
	uint64_t address;
	uint64_t size;
	uint64_t file_offset;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint64_t inode;
	uint64_t inode_generation;
	uint32_t protection;
	uint32_t flags;
};

struct comm_head {
	struct perf_event_header header;
	uint32_t pid;
	uint32_t tid;
};

struct task_head {
	struct perf_event_header header;
	uint32_t pid;
	uint32_t parent_pid;
	uint32_t tid;
	uint32_t parent_tid;
	uint64_t time_ns;
};

_Static_assert(sizeof(struct sample_head) == 32, "layout");
_Static_assert(sizeof(struct mmap2_head) == 72, "layout");

/* A position in a record and the number of bytes left after it. */
struct perf_reader {
	const uint8_t *at;
	size_t left;
};

static bool reader_u64(struct perf_reader *reader, uint64_t *out)
{
	if (reader->left < sizeof(*out))
		return false;
	memcpy(out, reader->at, sizeof(*out));
	reader->at += sizeof(*out);
	reader->left -= sizeof(*out);
	return true;
}

/* Returns n bytes in place; NULL if fewer are left. */
static const void *reader_skip(struct perf_reader *reader, uint64_t n)
{
	if (n > reader->left)
		return NULL;
	const void *start = reader->at;
	reader->at += n;
	reader->left -= (size_t)n;
	return start;
}

size_t tp_perf_record_time_offset(uint32_t type, size_t size, bool has_event)
{
	bool is_sample = type == PERF_RECORD_SAMPLE;
	size_t head =
		is_sample ? offsetof(struct sample_head, id) : sizeof(struct perf_event_header);
	size_t id = id_bytes(has_event);
	if (size < head + id)
		return 0;
	return (is_sample ? head : size - id) + offsetof(struct id_begin, time_ns);
}

static void set_id(struct tp_perf_record *out, const void *bytes, bool has_event)
{
	struct id_begin id;
	memcpy(&id, bytes, sizeof(id));
	const uint8_t *at = (const uint8_t *)bytes + sizeof(id);
	out->pid = (pid_t)id.pid;
	out->tid = (pid_t)id.tid;
	out->time_ns = tp_kernel_time_ns(id.time_ns);
	if (has_event) {
		memcpy(&out->event_id, at, sizeof(out->event_id));
		at += WORD;
	}
	memcpy(&out->cpu, at, sizeof(out->cpu));
}

uint64_t tp_perf_user_regs(void)
{
	uint64_t mask = 0;
	for (size_t i = 0; i < TP_ARRAY_LEN(perf_regs); i++)
		mask |= UINT64_C(1) << perf_regs[i].bit;
	return mask;
}

static bool decode_regs(struct tp_perf_sample *out, struct perf_reader *reader)
{
	uint64_t abi;
	if (!reader_u64(reader, &abi))
		return false;
	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return true;
	for (size_t i = 0; i < TP_ARRAY_LEN(perf_regs); i++) {
		uint64_t value;
		if (!reader_u64(reader, &value))
			return false;
		memcpy((char *)&out->regs + perf_regs[i].offset, &value, sizeof(value));
	}
	out->has_regs = abi == PERF_SAMPLE_REGS_ABI_64;
	return true;
}

/* The kernel reserves the requested size and writes after it how much of that it filled. */
static bool decode_stack(struct tp_perf_sample *out, struct perf_reader *reader)
{
	uint64_t reserved;
	uint64_t filled;
	if (!reader_u64(reader, &reserved))
		return false;
	if (reserved == 0)
		return true;
	const void *stack = reader_skip(reader, reserved);
	if (!stack || !reader_u64(reader, &filled) || filled > reserved)
		return false;
	out->stack = filled ? stack : NULL;
	out->stack_bytes = (size_t)filled;
	out->stack_asked = (size_t)reserved;
	return true;
}

static bool decode_sample(struct tp_perf_record *out, const void *bytes, size_t size,
			  const struct tp_perf_layout *layout)
{
	size_t begin = offsetof(struct sample_head, id) + id_bytes(layout->has_event);
	if (size < begin)
		return false;
	const struct sample_head *head = bytes;
	struct tp_perf_sample *sample = &out->of.sample;
	struct perf_reader reader = {.at = (const uint8_t *)bytes + begin, .left = size - begin};
	set_id(out, &head->id, layout->has_event);
	*sample = (struct tp_perf_sample){.ip = head->ip};
	sample->is_kernel = (out->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	if (layout->has_chain) {
		uint64_t n;
		if (!reader_u64(&reader, &n) || n > TP_PERF_MAX_RECORD)
			return false;
		sample->chain = reader_skip(&reader, n * sizeof(uint64_t));
		if (!sample->chain)
			return false;
		sample->n_chain = (size_t)n;
	}
	return !layout->has_stack ||
	       (decode_regs(sample, &reader) && decode_stack(sample, &reader));
}

/* Returns a text that ends inside [start, end of the record's own part). */
static const char *text_at(const void *bytes, size_t start, size_t end)
{
	const char *text = (const char *)bytes + start;
	return start < end && memchr(text, '\0', end - start) ? text : NULL;
}

static bool decode_mapping(struct tp_perf_record *out, const void *bytes, size_t end)
{
	const struct mmap2_head *head = bytes;
	const char *path = text_at(bytes, sizeof(*head), end);
	if (!path)
		return false;
	bool has_build_id = out->misc & PERF_RECORD_MISC_MMAP_BUILD_ID;
	out->pid = (pid_t)head->pid;
	out->tid = (pid_t)head->tid;
	out->of.mapping = (struct tp_mapping){
		.start = head->address,
		.size = head->size,
		.file_offset = head->file_offset,
		.inode = has_build_id ? 0 : head->inode,
		.dev_major = has_build_id ? 0 : head->dev_major,
		.dev_minor = has_build_id ? 0 : head->dev_minor,
		.is_executable = head->protection & PROT_EXEC,
		.path = path,
	};
	return true;
}

static bool decode_comm(struct tp_perf_record *out, const void *bytes, size_t end)
{
	const struct comm_head *head = bytes;
	const char *name = text_at(bytes, sizeof(*head), end);
	if (!name)
		return false;
	out->pid = (pid_t)head->pid;
	out->tid = (pid_t)head->tid;
	out->of.comm.name = name;
	out->of.comm.is_exec = out->misc & PERF_RECORD_MISC_COMM_EXEC;
	return true;
}

static bool decode_task(struct tp_perf_record *out, const void *bytes, size_t end)
{
	const struct task_head *head = bytes;
	if (end < sizeof(*head))
		return false;
	out->pid = (pid_t)head->pid;
	out->tid = (pid_t)head->tid;
	out->of.fork.parent_pid = (pid_t)head->parent_pid;
	out->of.fork.parent_tid = (pid_t)head->parent_tid;
	return true;
}

/* LOST has an id before the number, LOST_SAMPLES has none; the number is the last word of both. */
static bool decode_lost(struct tp_perf_record *out, const void *bytes, size_t end)
{
	if (end < sizeof(struct perf_event_header) + sizeof(uint64_t))
		return false;
	memcpy(&out->of.n_lost, (const char *)bytes + end - sizeof(uint64_t), sizeof(uint64_t));
	return true;
}

bool tp_perf_record_decode(struct tp_perf_record *out, const void *bytes, size_t size,
			   const struct tp_perf_layout *layout)
{
	struct perf_event_header header;
	if (size < sizeof(header))
		return false;
	memcpy(&header, bytes, sizeof(header));
	if (header.size != size || size % sizeof(uint64_t) != 0)
		return false;
	*out = (struct tp_perf_record){.type = header.type, .misc = header.misc};
	if (header.type == PERF_RECORD_SAMPLE)
		return decode_sample(out, bytes, size, layout);
	if (tp_perf_record_time_offset(header.type, size, layout->has_event) == 0)
		return false;
	size_t end = size - id_bytes(layout->has_event); /* of the record without its id fields */
	set_id(out, (const char *)bytes + end, layout->has_event);
	switch (header.type) {
	case PERF_RECORD_MMAP2:
		return decode_mapping(out, bytes, end);
	case PERF_RECORD_COMM:
		return decode_comm(out, bytes, end);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return decode_task(out, bytes, end);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return decode_lost(out, bytes, end);
	case PERF_RECORD_SWITCH_CPU_WIDE: /* additionally contains the other thread */
	case PERF_RECORD_SWITCH:
		out->type = PERF_RECORD_SWITCH;
		out->of.change.is_out = header.misc & PERF_RECORD_MISC_SWITCH_OUT;
		out->of.change.is_preempted = header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
		return true;
	default:
		return true;
	}
}
