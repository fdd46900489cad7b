/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers the order of reads, and combines many into one system call. */
#include "py_read_ahead.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
	N_LOG = 1024,        /* reads that are remembered */
	N_SLOTS = 2 * N_LOG, /* slots of the hash table over the log */
	AHEAD_MAX = 24,      /* maximum number of ranges read ahead per call */
	AHEAD_BYTES = 8192,  /* maximum bytes of them all */
	ENTRY_BYTES = 1024,  /* larger ranges are read only on demand */
	SKIPS_MAX = 24,      /* this many of the ranges read ahead may be skipped */
};

struct read_entry {
	uint64_t address;
	uint32_t size;
	bool is_last; /* last read of its round */
};

/* A range that was read ahead and not used yet. */
struct read_ahead {
	uint64_t address;
	uint32_t size;
	uint32_t at; /* byte offset */
	uint64_t number;
};

struct tp_py_read_log {
	struct read_entry entries[N_LOG]; /* a ring */
	uint64_t n;              /* number of reads ever logged; the number of the next one */
	uint64_t slots[N_SLOTS]; /* by hash: number of the read + 1 */
	struct read_ahead ahead[AHEAD_MAX];
	size_t n_ahead;
	size_t next; /* index in `ahead` of the first range that was neither used nor skipped */
	uint8_t bytes[AHEAD_BYTES];
	struct tp_process_range *ranges;
	size_t n_ranges;
	size_t ranges_capacity;
};

static uint64_t *slot_of(struct tp_py_read_log *log, uint64_t address, size_t size)
{
	return &log->slots[tp_hash_mix(address, size) % (uint64_t)N_SLOTS];
}

static const struct read_entry *entry_of(const struct tp_py_read_log *log, uint64_t number)
{
	return &log->entries[number % N_LOG];
}

/* Returns true if the read is still in the log, together with all that may have followed it. */
static bool is_kept(const struct tp_py_read_log *log, uint64_t number)
{
	return number < log->n && log->n - number <= N_LOG - AHEAD_MAX;
}

static bool find(struct tp_py_read_log *log, uint64_t address, size_t size, uint64_t *number)
{
	uint64_t slot = *slot_of(log, address, size);
	if (slot == 0 || !is_kept(log, slot - 1))
		return false;
	const struct read_entry *entry = entry_of(log, slot - 1);
	*number = slot - 1;
	return entry->address == address && entry->size == size;
}

static void remember(struct tp_py_read_log *log, const struct tp_process_range *range)
{
	log->entries[log->n % N_LOG] =
		(struct read_entry){.address = range->address, .size = (uint32_t)range->size};
	*slot_of(log, range->address, range->size) = ++log->n;
}

static void add_range(struct tp_py_read_log *log, struct tp_process_range range)
{
	TP_ARRAY_PUSH(log->ranges, log->n_ranges, log->ranges_capacity) = range;
}

/* Plans the reads that came after read `number` in the previous round, up to the end of that
 * round. */
static void plan_ahead(struct tp_py_read_log *log, uint64_t number)
{
	size_t used = 0;
	log->n_ahead = log->next = 0;
	while (log->n_ahead < AHEAD_MAX && is_kept(log, number) &&
	       !entry_of(log, number)->is_last && ++number < log->n) {
		const struct read_entry *entry = entry_of(log, number);
		if (entry->size > ENTRY_BYTES || used + entry->size > AHEAD_BYTES)
			break;
		log->ahead[log->n_ahead++] =
			(struct read_ahead){entry->address, entry->size, (uint32_t)used, number};
		add_range(log, (struct tp_process_range){entry->address, log->bytes + used,
							 entry->size});
		used += entry->size;
	}
}

/* Finds the logged read after which reading ahead continues: the expected one if another object has
 * replaced its object (for example a number that was counted up), otherwise an earlier read of the
 * same range. */
static bool find_place(struct tp_py_read_log *log, const struct tp_process_range *first,
		       const struct tp_process_range *last, uint64_t *number)
{
	bool is_replaced = first == last && log->next < log->n_ahead &&
			   log->ahead[log->next].size == first->size;
	if (!is_replaced)
		return find(log, last->address, last->size, number);
	*number = log->ahead[log->next].number;
	return is_kept(log, *number);
}

/* Reads the ranges from memory, together with those that are likely to follow. */
static size_t read_now(struct tp_py_read_ahead *self, const struct tp_process_range *ranges,
		       size_t n)
{
	struct tp_py_read_log *log = self->log;
	uint64_t number;
	bool has_place = find_place(log, ranges, ranges + n - 1, &number);
	log->n_ranges = log->n_ahead = log->next = 0;
	for (size_t i = 0; i < n; i++)
		add_range(log, ranges[i]);
	if (has_place)
		plan_ahead(log, number);
	size_t n_read = self->below->read(self->below, log->ranges, log->n_ranges);
	self->mem.error = self->below->error;
	log->n_ahead = n_read > n ? n_read - n : 0;
	return n_read < n ? n_read : n;
}

/* Returns a range from those that were read ahead, if it is there. */
static bool use_ahead(struct tp_py_read_log *log, const struct tp_process_range *range)
{
	for (size_t i = log->next; i < log->n_ahead && i < log->next + SKIPS_MAX; i++) {
		const struct read_ahead *ahead = &log->ahead[i];
		if (ahead->address != range->address || ahead->size != range->size)
			continue;
		memcpy(range->out, log->bytes + ahead->at, ahead->size);
		log->next = i + 1;
		return true;
	}
	return false;
}

static size_t read_ranges(struct tp_py_memory *mem, const struct tp_process_range *ranges, size_t n)
{
	struct tp_py_read_ahead *self = (struct tp_py_read_ahead *)mem; /* its first member */
	size_t n_done = 0;
	while (n_done < n && use_ahead(self->log, &ranges[n_done]))
		n_done++;
	if (n_done < n)
		n_done += read_now(self, ranges + n_done, n - n_done);
	for (size_t i = 0; i < n_done; i++)
		remember(self->log, &ranges[i]);
	return n_done;
}

void tp_py_read_ahead_init(struct tp_py_read_ahead *self, struct tp_py_memory *below)
{
	*self = (struct tp_py_read_ahead){.mem = *below, .below = below};
	self->mem.read = read_ranges;
	self->log = tp_alloc(sizeof(*self->log));
}

void tp_py_read_ahead_release(struct tp_py_read_ahead *self)
{
	if (self->log)
		free(self->log->ranges);
	free(self->log);
	self->log = NULL;
}

void tp_py_read_ahead_begin(struct tp_py_read_ahead *self)
{
	struct tp_py_read_log *log = self->log;
	log->n_ahead = log->next = 0;
	if (log->n > 0)
		log->entries[(log->n - 1) % N_LOG].is_last = true;
}
