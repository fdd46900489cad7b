/* SPDX-License-Identifier: Apache-2.0 */
/* Finds threads by the names and numbers of a trace. */
#include "thread_map.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/span.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tp_thread_map_init(struct tp_thread_map *map, struct tp_rank_writer *writer)
{
	*map = (struct tp_thread_map){.writer = writer, .next_number = -1};
}

void tp_thread_map_release(struct tp_thread_map *map)
{
	for (size_t i = 0; i < map->n_items; i++)
		free(map->items[i].open);
	free(map->items);
	tp_map_release(&map->ids);
	tp_map_release(&map->numbers);
	tp_buf_release(&map->scratch);
	*map = (struct tp_thread_map){0};
}

/* A number, quoted or not, is that number: 25738 and "25738" are one thread. */
static int64_t number_of(struct tp_thread_map *map, const struct tp_json_slice *piece)
{
	int64_t number = 0;
	if (tp_json_slice_integer(piece, &number) || piece->type == TP_JSON_SLICE_NONE)
		return number;
	/* Other texts are identifiers as well: "stream 7", "PyTorch Profiler". */
	size_t len;
	const char *text = tp_json_slice_text(piece, &map->scratch, &len);
	return INT64_MIN + tp_rank_writer_string(map->writer, text, len);
}

static bool is_thread(const struct tp_thread *thread, int64_t process, int64_t number)
{
	return thread->tid == number && thread->pid == process;
}

static struct tp_thread *find_by_numbers(struct tp_thread_map *map, const struct tp_json_slice *pid,
					 const struct tp_json_slice *tid)
{
	int64_t process = number_of(map, pid);
	int64_t number = number_of(map, tid);
	uint32_t *recent =
		&map->recent[((uint64_t)process * 5 + (uint64_t)number) % TP_THREADS_RECENT];
	if (*recent < map->n_items && is_thread(&map->items[*recent], process, number))
		return &map->items[*recent];
	uint64_t hash = tp_hash_mix((uint64_t)process, (uint64_t)number);
	uint64_t head = 0;
	(void)tp_map_get(&map->ids, hash, &head);
	for (uint32_t i = (uint32_t)head; i; i = map->items[i - 1].next) {
		struct tp_thread *thread = &map->items[i - 1];
		if (is_thread(thread, process, number)) {
			*recent = i - 1;
			return thread;
		}
	}
	if (map->n_items >= TP_TRACKS_MAX)
		return NULL;
	TP_ARRAY_PUSH(map->items, map->n_items, map->items_capacity) = (struct tp_thread){
		.pid = process, .tid = number, .track = TP_NO_TRACK, .next = (uint32_t)head};
	tp_map_set(&map->ids, hash, map->n_items);
	*recent = (uint32_t)map->n_items - 1;
	return &map->items[*recent];
}

/* Returns the text of a short number as a number, for comparisons; 0 for anything else. */
static uint64_t digits_of(const struct tp_json_slice *piece)
{
	uint64_t bytes;
	if (piece->type != TP_JSON_SLICE_WORD || piece->len > sizeof(bytes))
		return 0;
	memcpy(&bytes, piece->text, sizeof(bytes)); /* slices have slack */
	return le64toh(bytes) << (64 - 8 * piece->len);
}

struct tp_thread *tp_thread_map_find(struct tp_thread_map *map, const struct tp_json_slice *pid,
				     const struct tp_json_slice *tid)
{
	uint64_t process = digits_of(pid);
	uint64_t number = digits_of(tid);
	if (!process || !number)
		return find_by_numbers(map, pid, tid);
	uint64_t mixed = (process ^ number >> 3) * UINT64_C(0x9e3779b97f4a7c15);
	struct tp_thread_digits *digits = &map->digits[mixed >> 59];
	if (digits->pid == process && digits->tid == number)
		return &map->items[digits->index];
	struct tp_thread *thread = find_by_numbers(map, pid, tid);
	if (thread)
		*digits =
			(struct tp_thread_digits){process, number, (uint32_t)(thread - map->items)};
	return thread;
}

/* Returns the thread's own number if it has one that is still free, otherwise the next free
 * negative one. */
static int64_t number_reserve(struct tp_thread_map *map, const struct tp_thread *thread)
{
	int64_t number = thread->tid;
	while (number < TP_THREAD_TEXT || tp_map_get(&map->numbers, (uint64_t)number, NULL))
		number = map->next_number--;
	tp_map_set(&map->numbers, (uint64_t)number, 0);
	return number;
}

/* Names a thread whose track has another number. */
static void name_by_origin(struct tp_thread_map *map, const struct tp_thread *thread,
			   uint16_t track)
{
	char text[64];
	if (thread->tid < TP_THREAD_TEXT) {
		tp_rank_writer_name_track(map->writer, track, (uint32_t)(thread->tid - INT64_MIN));
		return;
	}
	int n = snprintf(text, sizeof(text), "thread %lld of another process",
			 (long long)thread->tid);
	if (thread->pid >= TP_THREAD_TEXT)
		n = snprintf(text, sizeof(text), "thread %lld of process %lld",
			     (long long)thread->tid, (long long)thread->pid);
	tp_rank_writer_name_track(map->writer, track,
				  tp_rank_writer_string(map->writer, text, (size_t)n));
}

uint16_t tp_thread_map_track(struct tp_thread_map *map, struct tp_thread *thread)
{
	if (thread->track != TP_NO_TRACK)
		return thread->track;
	int64_t number = number_reserve(map, thread);
	thread->track = tp_rank_writer_track(map->writer, TP_TRACK_THREAD, number);
	if (number != thread->tid && thread->track != TP_NO_TRACK)
		name_by_origin(map, thread, thread->track);
	return thread->track;
}

void tp_thread_map_name_lanes(const struct tp_thread_map *map, const struct tp_map *process_names)
{
	for (size_t i = 0; i < map->n_items; i++) {
		const struct tp_thread *thread = &map->items[i];
		uint64_t process = 0;
		(void)tp_map_get(process_names, (uint64_t)thread->pid, &process);
		if (thread->track == TP_NO_TRACK || (!process && !thread->name))
			continue;
		tp_rank_writer_name_track(map->writer, thread->track,
					  tp_rank_writer_join(map->writer, (uint32_t)process, '/',
							      thread->name));
	}
}

void tp_thread_map_skip_open(const struct tp_thread_map *map)
{
	for (size_t i = 0; i < map->n_items; i++)
		for (size_t k = 0; k < map->items[i].n_open; k++)
			tp_rank_writer_skip(map->writer, "a begin without an end");
}

int64_t tp_thread_map_main_pid(const struct tp_thread_map *map)
{
	struct tp_map counts = {0};
	uint64_t most = 0;
	int64_t pid = 0;
	for (size_t i = 0; i < map->n_items; i++) {
		const struct tp_thread *thread = &map->items[i];
		uint64_t n = 0;
		if (thread->pid < TP_THREAD_TEXT)
			continue;
		(void)tp_map_get(&counts, (uint64_t)thread->pid, &n);
		n += thread->n_spans;
		tp_map_set(&counts, (uint64_t)thread->pid, n);
		if (n > most) {
			most = n;
			pid = thread->pid;
		}
	}
	tp_map_release(&counts);
	return pid > 0 ? pid : 0;
}
