/* SPDX-License-Identifier: Apache-2.0 */
/* Stores preemptions by group and by the powers of two of the run and the wait. */
#include "preemption_model.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"

#include <stdlib.h>

enum {
	MIN_LENGTH = 10, /* power of two: lengths of about a microsecond and less are equal */
	N_LENGTHS = 24,
	OTHER_GROUP = 3, /* distance of another group, in powers of two */
	MAX_DISTANCE = 2 * N_LENGTHS + OTHER_GROUP,
};

struct known {
	uint64_t time_ns;
	enum tp_phase phase;
};

/* In time order; on the heap. */
struct tp_preemption_model_cell {
	struct known *items;
	size_t n;
	size_t capacity;
};

static int length_of(uint64_t ns)
{
	int length = 0;
	while ((ns >>= 1) >= UINT64_C(1) << MIN_LENGTH && length < N_LENGTHS - 1)
		length++;
	return length;
}

static size_t cell_at(int group, int stay, int wait)
{
	return ((size_t)group * N_LENGTHS + (size_t)stay) * N_LENGTHS + (size_t)wait;
}

void tp_preemption_model_add(struct tp_preemption_model *self, const struct tp_preemption_key *loss,
			     enum tp_phase phase)
{
	size_t n_cells = cell_at(TP_N_PREEMPTION_GROUPS, 0, 0);
	if (!self->cells)
		self->cells = tp_alloc(n_cells * sizeof(*self->cells));
	struct tp_preemption_model_cell *cell =
		&self->cells[cell_at(loss->group, length_of(loss->stay_ns),
				     length_of(loss->wait_ns))];
	TP_ARRAY_PUSH(cell->items, cell->n, cell->capacity) = (struct known){loss->time_ns, phase};
	self->n[loss->group]++;
}

static uint64_t distance_ns(const struct known *known, uint64_t time_ns)
{
	return known->time_ns > time_ns ? known->time_ns - time_ns : time_ns - known->time_ns;
}

/* Either may be NULL. */
static const struct known *closer_of(const struct known *a, const struct known *b, uint64_t time_ns)
{
	if (!a || !b)
		return a ? a : b;
	return distance_ns(a, time_ns) <= distance_ns(b, time_ns) ? a : b;
}

static const struct known *nearest_in(const struct tp_preemption_model *self, int group, int stay,
				      int wait, uint64_t time_ns)
{
	if (stay < 0 || stay >= N_LENGTHS || wait < 0 || wait >= N_LENGTHS)
		return NULL;
	const struct tp_preemption_model_cell *cell = &self->cells[cell_at(group, stay, wait)];
	size_t at;
	TP_FIND_FIRST(at, 0, cell->n, cell->items[at].time_ns >= time_ns);
	return closer_of(at > 0 ? &cell->items[at - 1] : NULL,
			 at < cell->n ? &cell->items[at] : NULL, time_ns);
}

/* Returns the nearest in time within one group, at this distance in powers of two. */
static const struct known *nearest_at(const struct tp_preemption_model *self, int group,
				      const struct tp_preemption_key *loss, int away)
{
	int stay = length_of(loss->stay_ns);
	int wait = length_of(loss->wait_ns);
	const struct known *found = NULL;
	for (int of_stay = -away; of_stay <= away; of_stay++) {
		int of_wait = away - abs(of_stay);
		found = closer_of(found,
				  nearest_in(self, group, stay + of_stay, wait - of_wait,
					     loss->time_ns),
				  loss->time_ns);
		found = closer_of(found,
				  nearest_in(self, group, stay + of_stay, wait + of_wait,
					     loss->time_ns),
				  loss->time_ns);
	}
	return found;
}

/* Powers of two of seconds: the behaviour of a program may change within a minute. */
static int age_of(uint64_t ns)
{
	int age = 0;
	while ((ns >>= 1) >= TP_NS_PER_S)
		age++;
	return age;
}

/* The best match so far. */
struct match {
	const struct known *known;
	int unlike;
};

static void use_if_better(struct match *best, const struct known *known,
			  const struct tp_preemption_key *loss, int away)
{
	if (!known)
		return;
	int unlike = away + age_of(distance_ns(known, loss->time_ns));
	if (!best->known || unlike < best->unlike ||
	    (unlike == best->unlike && closer_of(best->known, known, loss->time_ns) == known))
		*best = (struct match){known, unlike};
}

bool tp_preemption_model_find(const struct tp_preemption_model *self,
			      const struct tp_preemption_key *loss, enum tp_phase *out)
{
	struct match best = {.unlike = MAX_DISTANCE};
	for (int away = 0; self->cells && away <= best.unlike && away < MAX_DISTANCE; away++) {
		for (int group = 0; group < TP_N_PREEMPTION_GROUPS; group++) {
			int left = group == loss->group ? away : away - OTHER_GROUP;
			if (left >= 0 && self->n[group])
				use_if_better(&best, nearest_at(self, group, loss, left), loss,
					      away);
		}
	}
	if (best.known)
		*out = best.known->phase;
	return best.known != NULL;
}

void tp_preemption_model_release(struct tp_preemption_model *self)
{
	for (size_t i = 0; self->cells && i < cell_at(TP_N_PREEMPTION_GROUPS, 0, 0); i++)
		free(self->cells[i].items);
	free(self->cells);
	*self = (struct tp_preemption_model){0};
}
