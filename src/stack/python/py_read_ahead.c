/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers the order of reads, and combines many into one system call. */
#include "py_read_ahead.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
	N_LOG = 2048,        /* reads that are remembered */
	N_SLOTS = 2 * N_LOG, /* slots of the hash table over the log */
	AHEAD_MAX = 48,      /* maximum number of ranges read ahead per call */
	AHEAD_MIN = 6,       /* the same where most of what was read ahead was not used */
	SEARCH_MAX = 64, /* reads of an earlier round among which an unexpected one is searched */
	AHEAD_BYTES = 8192, /* maximum bytes of them all */
	ENTRY_BYTES = 1024, /* larger ranges are read only on demand */
	SKIPS_MAX = 24,     /* this many of the ranges read ahead may be skipped */
	BATCHES = 2,        /* of ranges that were said to be read soon */
	EXPECTED_MAX = BATCHES * TP_PY_MEMORY_EXPECT_MAX,
	EXPECTED_BYTES = BATCHES * TP_PY_MEMORY_EXPECT_BYTES,
};

#define NO_PLACE UINT64_MAX
/* Address in the log that stands for ranges that were expected; its size is the number of the
 * batch. */
#define EXPECTATION UINT64_MAX

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

/* A range that was said to be read soon, and its bytes. */
struct expected {
	uint64_t address;
	uint32_t size;
	uint32_t at;
	bool is_left_out; /* could not be read, or another batch has replaced it */
};

struct tp_py_read_log {
	struct read_entry entries[N_LOG]; /* a ring */
	uint64_t n;              /* number of reads ever logged; the number of the next one */
	uint64_t slots[N_SLOTS]; /* by hash: number of the read + 1 */
	struct read_ahead ahead[AHEAD_MAX];
	size_t n_ahead;
	size_t next;     /* index in `ahead` of the first range that was neither used nor skipped */
	size_t n_wanted; /* how many to read ahead */
	uint64_t round_begin; /* number of the first read of this round */
	uint64_t place; /* number of the read in an earlier round that is expected next; NO_PLACE */
	uint8_t bytes[AHEAD_BYTES];
	struct expected expected[EXPECTED_MAX];
	size_t batch_ends[BATCHES]; /* index in `expected` after the last range of each */
	size_t n_batches;
	size_t n_last; /* of the newest batch */
	size_t n_expected;
	size_t expected_used; /* bytes */
	uint8_t expected_bytes[EXPECTED_BYTES];
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

static bool is_same(const struct read_entry *entry, const struct tp_process_range *range)
{
	return entry->address == range->address && entry->size == range->size;
}

/* Finds a read in earlier rounds. */
static bool find(struct tp_py_read_log *log, const struct tp_process_range *range, uint64_t *number)
{
	uint64_t slot = *slot_of(log, range->address, range->size);
	if (slot == 0 || slot > log->round_begin || !is_kept(log, slot - 1))
		return false;
	*number = slot - 1;
	return is_same(entry_of(log, slot - 1), range);
}

/* Finds a read in the rest of the round that this one is like. */
static bool find_in_rest(const struct tp_py_read_log *log, const struct tp_process_range *range,
			 uint64_t *number)
{
	for (uint64_t i = log->place; i - log->place < SEARCH_MAX && i < log->round_begin; i++) {
		*number = i;
		if (is_same(entry_of(log, i), range))
			return true;
		if (entry_of(log, i)->is_last)
			return false;
	}
	return false;
}

/* A range that a round reads several times is found where it was read first. */
static void remember(struct tp_py_read_log *log, const struct tp_process_range *range)
{
	uint64_t *slot = slot_of(log, range->address, range->size);
	bool is_again = *slot > log->round_begin && is_same(entry_of(log, *slot - 1), range);
	log->entries[log->n % N_LOG] =
		(struct read_entry){.address = range->address, .size = (uint32_t)range->size};
	log->n++;
	if (!is_again || !is_kept(log, *slot - 1))
		*slot = log->n;
}

/* Read `number` of an earlier round was made again: the one after it is expected. */
static void set_place(struct tp_py_read_log *log, uint64_t number)
{
	log->place = entry_of(log, number)->is_last ? NO_PLACE : number + 1;
}

static void add_range(struct tp_py_read_log *log, struct tp_process_range range)
{
	TP_ARRAY_PUSH(log->ranges, log->n_ranges, log->ranges_capacity) = range;
}

/* Plans the reads that came after read `number` in the previous round, up to the end of that
 * round, or to what was expected there: that makes a call of its own. */
static void plan_ahead(struct tp_py_read_log *log, uint64_t number)
{
	size_t used = 0;
	log->n_ahead = log->next = 0;
	while (log->n_ahead < log->n_wanted && is_kept(log, number) &&
	       !entry_of(log, number)->is_last && ++number < log->round_begin) {
		const struct read_entry *entry = entry_of(log, number);
		if (entry->address == EXPECTATION || entry->size > ENTRY_BYTES ||
		    used + entry->size > AHEAD_BYTES)
			break;
		log->ahead[log->n_ahead++] =
			(struct read_ahead){entry->address, entry->size, (uint32_t)used, number};
		add_range(log, (struct tp_process_range){entry->address, log->bytes + used,
							 entry->size});
		used += entry->size;
	}
}

/* Finds the logged read after which reading ahead continues: the same one, or the expected one if
 * another object has replaced its object (for example a number that was counted up). */
static bool find_place(struct tp_py_read_log *log, const struct tp_process_range *ranges, size_t n,
		       uint64_t *number)
{
	const struct tp_process_range *last = &ranges[n - 1];
	bool is_known = log->place != NO_PLACE && is_kept(log, log->place);
	if (is_known && find_in_rest(log, last, number))
		return true;
	bool is_replaced = is_known && n == 1 && log->place < log->round_begin &&
			   entry_of(log, log->place)->size == last->size;
	*number = log->place;
	return is_replaced || find(log, last, number);
}

/* Where little of what was read ahead is used, less is. */
static void update_limit(struct tp_py_read_log *log)
{
	if (log->n_ahead == 0)
		return;
	bool is_useful = log->next * 2 >= log->n_ahead;
	log->n_wanted = is_useful ? log->n_wanted * 2 : log->n_wanted / 2;
	log->n_wanted = log->n_wanted < AHEAD_MIN   ? AHEAD_MIN
			: log->n_wanted > AHEAD_MAX ? AHEAD_MAX
						    : log->n_wanted;
}

/* Plans what comes after this read, as it did in an earlier round. What was read ahead so far would
 * be older than it. */
static void plan_after(struct tp_py_read_log *log, const struct tp_process_range *ranges, size_t n)
{
	uint64_t number;
	bool has_place = find_place(log, ranges, n, &number);
	update_limit(log);
	log->place = NO_PLACE;
	log->n_ahead = log->next = 0;
	if (!has_place)
		return;
	set_place(log, number);
	plan_ahead(log, number);
}

static void drop_expected(struct tp_py_read_log *log)
{
	log->n_expected = log->expected_used = log->n_batches = log->n_last = 0;
}

/* The words that show whether others are valid would be older than what is read next. */
static void leave_out_last(struct tp_py_read_log *log)
{
	for (size_t i = log->n_expected - log->n_last; i < log->n_expected; i++)
		log->expected[i].is_left_out = true;
	log->n_last = 0;
}

static void add_expected(struct tp_py_read_log *log, const struct tp_process_range *range)
{
	size_t used = log->expected_used;
	log->expected[log->n_expected++] =
		(struct expected){range->address, (uint32_t)range->size, (uint32_t)used, false};
	add_range(log, (struct tp_process_range){range->address, log->expected_bytes + used,
						 range->size});
	log->expected_used += range->size;
}

/* Reads the `n` expected ranges, without those that cannot be read, and those that are likely to
 * follow. */
static void read_expected(struct tp_py_read_ahead *self, size_t n)
{
	struct tp_py_read_log *log = self->log;
	struct expected *batch = &log->expected[log->n_expected - n];
	size_t done = 0;
	while (done < log->n_ranges) {
		done += self->below->read(self->below, log->ranges + done, log->n_ranges - done);
		self->mem.error = self->below->error;
		if (done >= n)
			break;
		batch[done++].is_left_out = true;
	}
	log->n_ahead = done - n;
}

static bool fits(const struct tp_process_range *ranges, size_t n)
{
	size_t bytes = 0;
	for (size_t i = 0; i < n; i++)
		bytes += ranges[i].size;
	return n <= TP_PY_MEMORY_EXPECT_MAX && bytes <= TP_PY_MEMORY_EXPECT_BYTES;
}

static void expect_ranges(struct tp_py_memory *mem, const struct tp_process_range *ranges, size_t n,
			  size_t n_last)
{
	struct tp_py_read_ahead *self = (struct tp_py_read_ahead *)mem; /* its first member */
	struct tp_py_read_log *log = self->log;
	if (n == 0 || log->n_batches == BATCHES)
		drop_expected(log);
	if (n == 0 || !fits(ranges, n))
		return;
	const struct tp_process_range mark = {.address = EXPECTATION, .size = log->n_batches};
	leave_out_last(log);
	log->n_ranges = 0;
	for (size_t i = 0; i < n; i++)
		add_expected(log, &ranges[i]);
	log->n_last = n_last;
	log->batch_ends[log->n_batches++] = log->n_expected;
	plan_after(log, &mark, 1);
	remember(log, &mark);
	read_expected(self, n);
}

/* Finds the last of these that contains the range: a range may have been read twice. */
static const struct expected *find_expected(const struct tp_py_read_log *log, size_t from,
					    size_t end, const struct tp_process_range *range)
{
	for (size_t i = end; i > from; i--) {
		const struct expected *expected = &log->expected[i - 1];
		uint64_t inside = range->address - expected->address;
		if (!expected->is_left_out && range->address >= expected->address &&
		    inside <= expected->size && range->size <= expected->size - inside)
			return expected;
	}
	return NULL;
}

/* Returns the ranges if one batch has them all; the newest one that has. */
static bool use_expected(const struct tp_py_read_log *log, const struct tp_process_range *ranges,
			 size_t n)
{
	for (size_t batch = log->n_batches; batch > 0; batch--) {
		size_t from = batch > 1 ? log->batch_ends[batch - 2] : 0;
		size_t n_found = 0;
		for (; n_found < n; n_found++) {
			const struct tp_process_range *range = &ranges[n_found];
			const struct expected *expected =
				find_expected(log, from, log->batch_ends[batch - 1], range);
			if (!expected)
				break;
			memcpy(range->out,
			       log->expected_bytes + expected->at +
				       (range->address - expected->address),
			       range->size);
		}
		if (n_found == n)
			return true;
	}
	return false;
}

/* Reads the ranges from memory, together with those that are likely to follow. */
static size_t read_now(struct tp_py_read_ahead *self, const struct tp_process_range *ranges,
		       size_t n)
{
	struct tp_py_read_log *log = self->log;
	log->n_ranges = 0;
	for (size_t i = 0; i < n; i++)
		add_range(log, ranges[i]);
	plan_after(log, ranges, n);
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
		set_place(log, ahead->number);
		return true;
	}
	return false;
}

static size_t read_ranges(struct tp_py_memory *mem, const struct tp_process_range *ranges, size_t n)
{
	struct tp_py_read_ahead *self = (struct tp_py_read_ahead *)mem; /* its first member */
	size_t n_done = 0;
	if (use_expected(self->log, ranges, n))
		return n;
	leave_out_last(self->log);
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
	self->mem.expect = expect_ranges;
	self->log = tp_alloc(sizeof(*self->log));
	self->log->place = NO_PLACE;
	self->log->n_wanted = AHEAD_MAX;
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
	drop_expected(log);
	if (log->n > 0)
		log->entries[(log->n - 1) % N_LOG].is_last = true;
	log->round_begin = log->n;
	log->place = NO_PLACE;
	log->n_wanted = AHEAD_MAX;
}
