/* SPDX-License-Identifier: Apache-2.0 */
/* Matches NCCL's calls with its kernels. */
#include "nccl_match.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"
#include "trainprof/model/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ITEMS_MAX = 4096,   /* calls per thread whose kernels may still arrive */
	WAITING_MAX = 1024, /* launches inside calls that have not ended */
	LINKS_MAX = 1 << 16,
	COMMUNICATORS_MAX = 1 << 12, /* communicators that are distinguished */
};

/* A call, or the calls of one communicator in a group. */
struct nccl_item {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t detail;
	bool is_launched;
	bool is_taken;
};

struct nccl_thread {
	struct nccl_item *items; /* heap, ordered by their ends */
	size_t n;
	size_t capacity;
	uint64_t n_dropped;      /* items removed before items[0] */
	unsigned n_open;         /* open ranges */
	unsigned depth;          /* nesting depth of groups */
	struct tp_detail *group; /* heap: the open group so far, by communicator */
	size_t n_group;
	size_t group_capacity;
};

struct communicator {
	uint32_t name;
	uint32_t peers_name;
	uint32_t n_ranks;
	uint32_t n_calls;
};

struct launch {
	size_t thread;
	uint32_t link;
	uint64_t time_ns;
};

struct tp_nccl_match {
	struct tp_sink *sink;
	uint32_t rank;
	bool is_used;
	bool is_broken; /* the order of collectives is lost */
	struct nccl_thread *threads;
	size_t n_threads;
	size_t threads_capacity;
	struct tp_map numbers; /* hash of a communicator -> index into the next member */
	struct communicator *communicators;
	size_t n_communicators;
	size_t communicators_capacity;
	struct launch *waiting;
	size_t n_waiting;
	size_t waiting_capacity;
	struct tp_map links; /* -> thread << 32 | ordinal of the item within the thread */
};

struct tp_nccl_match *tp_nccl_match_new(struct tp_sink *sink, uint32_t rank)
{
	struct tp_nccl_match *match = tp_alloc(sizeof(*match));
	match->sink = sink;
	match->rank = rank;
	return match;
}

void tp_nccl_match_free(struct tp_nccl_match *match)
{
	if (!match)
		return;
	for (size_t i = 0; i < match->n_threads; i++) {
		free(match->threads[i].items);
		free(match->threads[i].group);
	}
	free(match->threads);
	free(match->communicators);
	free(match->waiting);
	tp_map_release(&match->numbers);
	tp_map_release(&match->links);
	free(match);
}

bool tp_nccl_match_is_used(const struct tp_nccl_match *match)
{
	return match->is_used;
}

/* ---- communicators -------------------------------------------------------------------------- */

static struct communicator *communicator_of(struct tp_nccl_match *match, uint64_t hash)
{
	uint64_t at;
	char name[80];
	if (match->n_communicators >= COMMUNICATORS_MAX && !tp_map_get(&match->numbers, hash, NULL))
		hash = 0;
	if (tp_map_get(&match->numbers, hash, &at))
		return &match->communicators[at];
	tp_map_set(&match->numbers, hash, match->n_communicators);
	struct communicator *out = &TP_ARRAY_PUSH(match->communicators, match->n_communicators,
						  match->communicators_capacity);
	*out = (struct communicator){0};
	if (hash) {
		snprintf(name, sizeof(name), "%016llx", (unsigned long long)hash);
		out->name = tp_sink_string(match->sink, name);
	}
	/* Separate for each process: another process receives what this one sends, at other
	 * times. */
	snprintf(name, sizeof(name), "%016llx: sends and receives of process %u",
		 (unsigned long long)hash, match->rank);
	out->peers_name = tp_sink_string(match->sink, name);
	return out;
}

uint32_t tp_nccl_match_call(struct tp_nccl_match *match, const struct tp_nccl_call *call)
{
	struct communicator *communicator = communicator_of(match, call->communicator);
	match->is_used = true;
	if (call->kind == TP_NCCL_COMMUNICATOR) {
		communicator->n_ranks = call->n_ranks;
		return 0;
	}
	struct tp_detail detail = {
		.bytes = call->bytes,
		.op = tp_sink_string(match->sink, call->op),
		.group = communicator->peers_name,
		.n_ranks = communicator->n_ranks,
	};
	if (call->kind == TP_NCCL_COLLECTIVE) {
		detail.group = communicator->name;
		communicator->n_calls++;
		/* Communicators without a hash cannot be distinguished. */
		detail.sequence =
			match->is_broken || !communicator->name ? 0 : communicator->n_calls;
	}
	return tp_sink_detail(match->sink, &detail);
}

/* ---- calls and launches --------------------------------------------------------------------- */

static struct nccl_thread *thread_of(struct tp_nccl_match *match, size_t number)
{
	while (match->n_threads <= number)
		TP_ARRAY_PUSH(match->threads, match->n_threads, match->threads_capacity) =
			(struct nccl_thread){0};
	return &match->threads[number];
}

static void link_to(struct tp_nccl_match *match, uint32_t link, size_t thread, size_t item)
{
	if (match->links.n >= LINKS_MAX)
		tp_map_release(&match->links);
	match->threads[thread].items[item].is_launched = true;
	tp_map_set(&match->links, link,
		   (uint64_t)thread << 32 | (uint32_t)(match->threads[thread].n_dropped + item));
}

/* Links the waiting launches that were made during the item; each item of a group gets one. */
static void link_waiting(struct tp_nccl_match *match, size_t number, size_t item)
{
	const struct nccl_item *added = &match->threads[number].items[item];
	size_t n_kept = 0;
	bool is_linked = false;
	for (size_t i = 0; i < match->n_waiting; i++) {
		struct launch *launch = &match->waiting[i];
		bool is_in = launch->thread == number && launch->time_ns >= added->start_ns &&
			     launch->time_ns < added->end_ns;
		if (is_in && !is_linked)
			link_to(match, launch->link, number, item);
		else
			match->waiting[n_kept++] = *launch;
		is_linked |= is_in;
	}
	match->n_waiting = n_kept;
}

static void add_item(struct tp_nccl_match *match, size_t number, const struct nccl_item *item)
{
	struct nccl_thread *thread = &match->threads[number];
	if (thread->n == ITEMS_MAX) {
		memmove(thread->items, thread->items + ITEMS_MAX / 2,
			(thread->n -= ITEMS_MAX / 2) * sizeof(*item));
		thread->n_dropped += ITEMS_MAX / 2;
	}
	TP_ARRAY_PUSH(thread->items, thread->n, thread->capacity) = *item;
	link_waiting(match, number, thread->n - 1);
}

static void add_to_group(struct nccl_thread *thread, const struct tp_detail *detail)
{
	for (size_t i = 0; i < thread->n_group; i++) {
		if (thread->group[i].group == detail->group) {
			thread->group[i].bytes += detail->bytes;
			return;
		}
	}
	TP_ARRAY_PUSH(thread->group, thread->n_group, thread->group_capacity) = *detail;
}

static void end_group(struct tp_nccl_match *match, size_t number, uint64_t start_ns,
		      uint64_t end_ns)
{
	struct nccl_thread *thread = &match->threads[number];
	if (thread->depth && --thread->depth)
		return;
	for (size_t i = 0; i < thread->n_group; i++) {
		struct nccl_item item = {.start_ns = start_ns, .end_ns = end_ns};
		item.detail = tp_sink_detail(match->sink, &thread->group[i]);
		add_item(match, number, &item);
	}
	thread->n_group = 0;
}

void tp_nccl_match_begin(struct tp_nccl_match *match, size_t number)
{
	thread_of(match, number)->n_open++;
}

/* Drops the launches of a thread that belong to no call. */
static void drop_waiting(struct tp_nccl_match *match, size_t number)
{
	size_t n_kept = 0;
	for (size_t i = 0; i < match->n_waiting; i++)
		if (match->waiting[i].thread != number)
			match->waiting[n_kept++] = match->waiting[i];
	match->n_waiting = n_kept;
}

void tp_nccl_match_end(struct tp_nccl_match *match, size_t number, uint32_t detail,
		       enum tp_nccl_group group, uint64_t start_ns, uint64_t end_ns)
{
	struct nccl_thread *thread = thread_of(match, number);
	struct tp_detail known;
	if (group == TP_NCCL_GROUP_START)
		thread->depth++;
	else if (group == TP_NCCL_GROUP_END)
		end_group(match, number, start_ns, end_ns);
	if (detail && thread->depth) {
		tp_sink_detail_get(match->sink, detail, &known);
		add_to_group(thread, &known);
	} else if (detail) {
		const struct nccl_item item = {start_ns, end_ns, detail, false, false};
		add_item(match, number, &item);
	}
	if (thread->n_open && --thread->n_open == 0)
		drop_waiting(match, number);
}

/* Returns the first item that ends after that time; n if there is none. */
static size_t find_item(const struct nccl_thread *thread, uint64_t time_ns)
{
	size_t at;
	TP_FIND_FIRST(at, 0, thread->n, thread->items[at].end_ns > time_ns);
	return at;
}

void tp_nccl_match_launch(struct tp_nccl_match *match, size_t number, uint32_t link,
			  uint64_t time_ns)
{
	if (!link || number >= match->n_threads)
		return;
	const struct nccl_thread *thread = &match->threads[number];
	for (size_t i = find_item(thread, time_ns);
	     i < thread->n && thread->items[i].start_ns <= time_ns; i++) {
		/* Each item of a group gets one. */
		bool is_last = i + 1 == thread->n ||
			       thread->items[i + 1].start_ns != thread->items[i].start_ns;
		if (is_last || !thread->items[i].is_launched) {
			link_to(match, link, number, i);
			return;
		}
	}
	if (thread->n_open && match->n_waiting < WAITING_MAX)
		TP_ARRAY_PUSH(match->waiting, match->n_waiting, match->waiting_capacity) =
			(struct launch){number, link, time_ns};
}

bool tp_nccl_match_find(struct tp_nccl_match *match, uint32_t link, uint32_t *detail)
{
	uint64_t at;
	if (!tp_map_get(&match->links, link, &at))
		return false;
	tp_map_remove(&match->links, link);
	struct nccl_thread *thread = &match->threads[at >> 32];
	uint32_t i = (uint32_t)at - (uint32_t)thread->n_dropped;
	*detail = 0;
	if (i < thread->n && !thread->items[i].is_taken) {
		*detail = thread->items[i].detail;
		thread->items[i].is_taken = true;
	}
	return true;
}

void tp_nccl_match_reset(struct tp_nccl_match *match)
{
	for (size_t i = 0; i < match->n_threads; i++) {
		match->threads[i].n_open = 0;
		match->threads[i].depth = 0;
		match->threads[i].n_group = 0;
	}
	match->n_waiting = 0;
	match->is_broken = true;
}
