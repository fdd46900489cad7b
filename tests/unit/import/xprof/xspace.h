/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the messages of an XSpace, innermost first, as buffers that the caller releases, and
 * imports them. */
#ifndef TRAINPROF_TESTS_UNIT_IMPORT_XPROF_XSPACE_H
#define TRAINPROF_TESTS_UNIT_IMPORT_XPROF_XSPACE_H

#include "import/imported.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/memory.h"

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline void put_varint(struct tp_buf *out, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		tp_buf_putc(out, (char)(value | 0x80));
	tp_buf_putc(out, (char)value);
}

static inline void put_number(struct tp_buf *out, uint32_t field, uint64_t value)
{
	put_varint(out, (uint64_t)field << 3);
	put_varint(out, value);
}

static inline void put_bytes(struct tp_buf *out, uint32_t field, const void *bytes, size_t size)
{
	put_varint(out, (uint64_t)field << 3 | 2);
	put_varint(out, size);
	tp_buf_add(out, bytes, size);
}

static inline void put_text(struct tp_buf *out, uint32_t field, const char *text)
{
	put_bytes(out, field, text, strlen(text));
}

/* Releases the message. */
static inline void put_message(struct tp_buf *out, uint32_t field, struct tp_buf *message)
{
	put_bytes(out, field, tp_buf_text(message), message->len);
	tp_buf_release(message);
}

/* Writes a statistic with the number of its name: a text, or a number if `text` is NULL. */
static inline void put_stat(struct tp_buf *out, uint32_t field, uint64_t name, const char *text,
			    uint64_t number)
{
	struct tp_buf stat = {0};
	put_number(&stat, 1, name);
	if (text)
		put_text(&stat, 5, text);
	else
		put_number(&stat, 3, number);
	put_message(out, field, &stat);
}

/* Writes an event with the number of its name, at an offset; its statistics are in `stats`, which
 * is released and may be NULL. */
static inline void put_event(struct tp_buf *line, uint64_t name, uint64_t offset_ps,
			     uint64_t duration_ps, struct tp_buf *stats)
{
	struct tp_buf event = {0};
	put_number(&event, 1, name);
	put_number(&event, 2, offset_ps);
	put_number(&event, 3, duration_ps);
	if (stats) {
		tp_buf_add(&event, tp_buf_text(stats), stats->len);
		tp_buf_release(stats);
	}
	put_message(line, 4, &event);
}

static inline void put_line_head(struct tp_buf *line, uint64_t id, const char *name,
				 uint64_t timestamp_ns)
{
	put_number(line, 1, id);
	put_text(line, 2, name);
	put_number(line, 3, timestamp_ns);
}

/* Writes an entry of the table of event names (4) or of statistics names (5). `stats` as above. */
static inline void put_name(struct tp_buf *plane, uint32_t field, uint64_t id, const char *name,
			    struct tp_buf *stats)
{
	struct tp_buf meta = {0};
	struct tp_buf entry = {0};
	put_number(&meta, 1, id);
	put_text(&meta, 2, name);
	if (stats) {
		tp_buf_add(&meta, tp_buf_text(stats), stats->len);
		tp_buf_release(stats);
	}
	put_number(&entry, 1, id);
	put_message(&entry, 2, &meta);
	put_message(plane, field, &entry);
}

/* ---- scenes ---- */

/* Numbers of the names of statistics in the scenes below. */
enum {
	STAT_CORRELATION = 1,
	STAT_MEMCPY,
	STAT_KERNEL,
	STAT_STEP,
	STAT_HLO_OP,
	STAT_CATEGORY,
	STAT_VENDOR,
	STAT_PROCESS
};

static inline void put_stat_names(struct tp_buf *plane)
{
	static const char *const names[] = {"correlation_id", "memcpy_details", "kernel_details",
					    "step_num",       "hlo_op",         "hlo_category",
					    "device_vendor",  "process_id"};
	for (size_t i = 0; i < TP_ARRAY_LEN(names); i++)
		put_name(plane, 5, i + 1, names[i], NULL);
}

/* A GPU with a kernel, a copy and a line that sums them up. */
static inline void put_gpu(struct tp_buf *space)
{
	struct tp_buf plane = {0};
	struct tp_buf line = {0};
	struct tp_buf stats = {0};
	put_number(&plane, 1, 3);
	put_text(&plane, 2, "/device:GPU:2");
	put_line_head(&line, 17, "Stream #17(Compute)", 1000);
	put_stat(&stats, 4, STAT_CORRELATION, NULL, 9);
	put_stat(&stats, 4, STAT_KERNEL, "regs:38 grid:160,2,1 block:128,1,1", 0);
	put_event(&line, 1, 2000999, 5000002, &stats); /* to 7,001,001 ps */
	put_message(&plane, 3, &line);
	put_line_head(&line, 18, "Stream #18(MemcpyH2D)", 1000);
	put_stat(&stats, 4, STAT_MEMCPY, "size:112 dest:4 async:0", 0);
	put_event(&line, 2, 0, 1000000, &stats);
	put_message(&plane, 3, &line);
	put_line_head(&line, 99, "XLA Modules", 1000);
	put_event(&line, 1, 0, 9000000, NULL);
	put_message(&plane, 3, &line);
	put_name(&plane, 4, 1, "fusion_12", NULL);
	put_name(&plane, 4, 2, "MemcpyH2D", NULL);
	put_stat_names(&plane);
	put_stat(&plane, 6, STAT_VENDOR, "Nvidia", 0);
	put_message(space, 1, &plane);
}

static inline void put_host(struct tp_buf *space)
{
	struct tp_buf plane = {0};
	struct tp_buf line = {0};
	struct tp_buf stats = {0};
	put_text(&plane, 2, "/host:CPU");
	put_line_head(&line, 77, "python3", 5000);
	put_event(&line, 1, 0, 90000000, NULL);
	put_event(&line, 2, 1000000, 2000000, NULL); /* inside of it */
	put_stat(&stats, 4, STAT_STEP, NULL, 41);
	put_event(&line, 3, 2000000, 50000000, &stats);
	put_event(&line, 4, 3000000, 0, NULL); /* an instant */
	put_message(&plane, 3, &line);
	put_line_head(&line, 78, "tf_data_iterator_get_next/78", 5000);
	put_event(&line, 5, 4000000, 7000000, NULL);
	put_event(&line, 6, 4100000, 6000000, NULL);
	put_event(&line, 9, 4100000, 6000000, NULL);
	put_message(&plane, 3, &line);
	put_line_head(&line, 79, "Host Threads/79", 5000);
	put_stat(&stats, 4, STAT_CORRELATION, NULL, 9);
	put_stat(&stats, 4, STAT_HLO_OP, "fusion.12", 0);
	put_event(&line, 7, 100000, 20000, &stats);
	put_message(&plane, 3, &line);
	put_line_head(&line, 80, "tf_XLAEigen/80", 5000);
	put_stat(&stats, 4, STAT_HLO_OP, "dot.3", 0);
	put_event(&line, 8, 100000, 20000, &stats);
	put_event(&line, 9, 500000, 20000, NULL);
	put_message(&plane, 3, &line);
	put_name(&plane, 4, 1, "$train.py:12 main", NULL);
	put_name(&plane, 4, 2, "$train.py:40 batch", NULL);
	put_name(&plane, 4, 3, "train", NULL);
	put_name(&plane, 4, 4, "MemoryAllocation", NULL);
	put_name(&plane, 4, 5, "IteratorGetNextOp::DoCompute", NULL);
	put_name(&plane, 4, 6, "Iterator::Root", NULL);
	put_name(&plane, 4, 7, "cuLaunchKernel", NULL);
	put_name(&plane, 4, 8, "dot.3", NULL);
	put_text(&stats, 4, "MatMul");
	put_name(&plane, 4, 9, "dense/MatMul:MatMul", &stats);
	put_stat_names(&plane);
	put_stat(&plane, 6, STAT_PROCESS, NULL, 4711);
	put_message(space, 1, &plane);
}

/* A thread of XLA's pool and one of tf.data's, with an operator and marks around pieces of work. */
static inline void put_pools(struct tp_buf *space)
{
	struct tp_buf plane = {0};
	struct tp_buf line = {0};
	struct tp_buf stats = {0};
	static const char *const threads[] = {"tf_XLAEigen/91", "tf_data_private_threadpool/92"};
	put_text(&plane, 2, "/host:CPU");
	for (size_t i = 0; i < TP_ARRAY_LEN(threads); i++) {
		put_line_head(&line, 91 + i, threads[i], 5000);
		put_event(&line, 2, 100000, 0, NULL);
		put_stat(&stats, 4, STAT_HLO_OP, "dot.3", 0);
		put_event(&line, 3, 310000, 90000, &stats);
		put_event(&line, 1, 300000, 0, NULL);
		put_event(&line, 2, 900000, 0, NULL);
		put_event(&line, 1, 950000, 0, NULL);
		put_message(&plane, 3, &line);
	}
	put_name(&plane, 4, 1, "ThreadpoolListener::StartRegion", NULL);
	put_name(&plane, 4, 2, "ThreadpoolListener::StopRegion", NULL);
	put_name(&plane, 4, 3, "dot.3", NULL);
	put_stat_names(&plane);
	put_message(space, 1, &plane);
}

/* ---- results ---- */

/* Returns the span with that name; fails if there is none. */
static inline size_t place_of(const struct imported *in, const char *name)
{
	for (size_t i = 0; i < in->n_spans; i++)
		if (strcmp(imported_name(in, i), name) == 0)
			return i;
	ck_abort_msg("no span '%s'", name);
	return 0;
}

static inline bool has_span(const struct imported *in, const char *name)
{
	for (size_t i = 0; i < in->n_spans; i++)
		if (strcmp(imported_name(in, i), name) == 0)
			return true;
	return false;
}

static inline void import_space(struct imported *in, struct tp_buf *space)
{
	imported_bytes(in, tp_buf_text(space), space->len, NULL);
	tp_buf_release(space);
}

#endif
