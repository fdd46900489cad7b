/*
 * Joins ranks: matches their collectives, aligns their clocks by the ends of those, and gives each
 * exposed wait to what the late rank does at that instant (docs/internals.md#ranks-joined).
 */
#include "rankwork.h"
#include "stats.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NO_COLLECTIVE = UINT32_MAX };

/* Clocks that differ by less are one clock: ends of a collective on one host differ by 1 to 7 us.
 */
static const double SAME_CLOCK_NS = 50000;

/* A collective kernel of one device. */
struct part_taken {
	uint32_t device;
	uint32_t talk; /* index */
};

struct collective {
	size_t first; /* in parts */
	size_t n;
	uint32_t group;
	uint32_t late;       /* device */
	uint64_t arrival_ns; /* of the late one, on the clock of the reference */
};

/* offset = base + slope * (time - middle), of a rank's clock against the reference. */
struct clock {
	bool is_known;
	double base_ns;
	double slope;
	double middle_ns;
};

/* A communication kernel of a device, and how far it and those before it reach. */
struct talk {
	uint32_t op;
	uint32_t collective;
	uint64_t reach_ns;
};

struct talks {
	struct talk *items; /* by start */
	size_t n;
	size_t capacity;
};

struct join {
	struct tp_rank_analysis *analysis;
	struct part_taken *parts;
	size_t n_parts;
	size_t parts_capacity;
	struct collective *items;
	size_t n;
	size_t capacity;
	struct talks *talks;  /* by device */
	struct clock *clocks; /* by rank */
	uint64_t *blame_ns;   /* by device and label */
	uint64_t *caused_ns;  /* by device */
};

/* ---- matching ---- */

/* The talks of one device in one communicator, by start. */
struct member {
	uint32_t device;
	uint32_t *talks;
	size_t n;
	size_t capacity;
};

static const struct tp_op *op_of(const struct join *join, uint32_t device, uint32_t talk)
{
	return &join->analysis->devices[device].ops[join->talks[device].items[talk].op];
}

static const struct tp_detail *detail_of(const struct join *join, uint32_t device, uint32_t talk)
{
	return &join->analysis->trace->details[op_of(join, device, talk)->detail];
}

static struct member *find_members(const struct join *join, uint32_t group, size_t *n_out)
{
	struct member *members = NULL;
	size_t capacity = 0;
	*n_out = 0;
	for (uint32_t d = 0; d < join->analysis->n_devices; d++) {
		struct member member = {.device = d};
		for (uint32_t i = 0; i < join->talks[d].n; i++)
			if (detail_of(join, d, i)->group == group)
				TP_ARRAY_PUSH(member.talks, member.n, member.capacity) = i;
		if (member.n)
			TP_ARRAY_PUSH(members, *n_out, capacity) = member;
	}
	return members;
}

static bool have_sequences(const struct join *join, const struct member *members, size_t n)
{
	for (size_t m = 0; m < n; m++)
		for (size_t i = 0; i < members[m].n; i++)
			if (!detail_of(join, members[m].device, members[m].talks[i])->sequence)
				return false;
	return true;
}

static void not_joined(struct join *join, const char *why, uint32_t group)
{
	struct tp_profile *profile = join->analysis->profile;
	const char *name = tp_trace_string(join->analysis->trace, group);
	if (!profile->not_joined)
		profile->not_joined = tp_arena_printf(&profile->arena, "%s%s%s", why,
						      *name ? " of communicator " : "", name);
}

/* What has to agree for two kernels to be the same collective, as far as it is known. */
static bool are_same(const struct join *join, const struct part_taken *a,
		     const struct part_taken *b)
{
	const struct tp_detail *x = detail_of(join, a->device, a->talk);
	const struct tp_detail *y = detail_of(join, b->device, b->talk);
	return (!x->op || !y->op || x->op == y->op) && (!x->type || !y->type || x->type == y->type);
}

/* Parts [first, n_parts) become a collective, unless they contradict each other. */
static bool add_collective(struct join *join, size_t first, uint32_t group)
{
	for (size_t i = first + 1; i < join->n_parts; i++) {
		if (are_same(join, &join->parts[first], &join->parts[i]))
			continue;
		join->n_parts = first;
		return false;
	}
	for (size_t i = first; i < join->n_parts; i++)
		join->talks[join->parts[i].device].items[join->parts[i].talk].collective =
			(uint32_t)join->n;
	TP_ARRAY_PUSH(join->items, join->n, join->capacity) =
		(struct collective){.first = first, .n = join->n_parts - first, .group = group};
	return true;
}

static void match_by_order(struct join *join, const struct member *members, size_t n,
			   uint32_t group)
{
	for (size_t m = 1; m < n; m++) {
		if (members[m].n != members[0].n) {
			not_joined(join, "ranks have different numbers of collectives", group);
			return;
		}
	}
	for (size_t i = 0; i < members[0].n; i++) {
		size_t first = join->n_parts;
		for (size_t m = 0; m < n; m++)
			TP_ARRAY_PUSH(join->parts, join->n_parts, join->parts_capacity) =
				(struct part_taken){members[m].device, members[m].talks[i]};
		if (!add_collective(join, first, group)) {
			not_joined(join, "the collectives of ranks differ in kind", group);
			return;
		}
	}
}

/* Those that at least two members have. */
static void match_by_sequence(struct join *join, const struct member *members, size_t n,
			      uint32_t group)
{
	size_t *next = tp_alloc(n * sizeof(*next));
	for (;;) {
		uint32_t lowest = UINT32_MAX;
		for (size_t m = 0; m < n; m++) {
			if (next[m] == members[m].n)
				continue;
			uint32_t sequence =
				detail_of(join, members[m].device, members[m].talks[next[m]])
					->sequence;
			lowest = sequence < lowest ? sequence : lowest;
		}
		if (lowest == UINT32_MAX)
			break;
		size_t first = join->n_parts;
		for (size_t m = 0; m < n; m++) {
			if (next[m] == members[m].n)
				continue;
			uint32_t talk = members[m].talks[next[m]];
			if (detail_of(join, members[m].device, talk)->sequence != lowest)
				continue;
			next[m]++;
			TP_ARRAY_PUSH(join->parts, join->n_parts, join->parts_capacity) =
				(struct part_taken){members[m].device, talk};
		}
		if (join->n_parts - first < 2)
			join->n_parts = first;
		else if (!add_collective(join, first, group))
			not_joined(join, "the collectives of ranks differ in kind", group);
	}
	free(next);
}

static void match_group(struct join *join, uint32_t group)
{
	size_t n;
	struct member *members = find_members(join, group, &n);
	if (n > 1 && have_sequences(join, members, n))
		match_by_sequence(join, members, n, group);
	else if (n > 1)
		match_by_order(join, members, n, group);
	for (size_t m = 0; m < n; m++)
		free(members[m].talks);
	free(members);
}

static void match_all(struct join *join)
{
	struct tp_map seen = {0};
	for (uint32_t d = 0; d < join->analysis->n_devices; d++) {
		for (uint32_t i = 0; i < join->talks[d].n; i++) {
			uint32_t group = detail_of(join, d, i)->group;
			if (tp_map_get(&seen, group, NULL))
				continue;
			tp_map_set(&seen, group, 1);
			match_group(join, group);
		}
	}
	tp_map_release(&seen);
}

/* ---- clocks ---- */

static double offset_at(const struct clock *clock, uint64_t time_ns)
{
	return clock->base_ns + clock->slope * ((double)time_ns - clock->middle_ns);
}

/* A rank's time on the clock of the reference. */
static uint64_t aligned(const struct join *join, uint32_t rank, uint64_t time_ns)
{
	double offset = offset_at(&join->clocks[rank], time_ns);
	int64_t whole = (int64_t)(offset < 0 ? offset - 0.5 : offset + 0.5);
	return whole > 0 && (uint64_t)whole > time_ns ? 0 : time_ns - (uint64_t)whole;
}

/* When a rank's collective ended, and how much later than by a clock that is known. */
struct pair {
	double time_ns;
	double difference_ns;
};

static int pair_order(const void *a, const void *b)
{
	double x = ((const struct pair *)a)->time_ns;
	double y = ((const struct pair *)b)->time_ns;
	return (x > y) - (x < y);
}

static size_t collect_pairs(const struct join *join, uint32_t rank, struct pair *out)
{
	const struct tp_device_work *devices = join->analysis->devices;
	size_t n = 0;
	for (size_t i = 0; i < join->n; i++) {
		const struct part_taken *own = NULL;
		const struct part_taken *other = NULL;
		for (size_t k = 0; k < join->items[i].n; k++) {
			const struct part_taken *part = &join->parts[join->items[i].first + k];
			if (devices[part->device].rank == rank)
				own = part;
			else if (!other && join->clocks[devices[part->device].rank].is_known)
				other = part;
		}
		if (!own || !other)
			continue;
		uint64_t end_ns = op_of(join, own->device, own->talk)->end_ns;
		uint64_t there_ns = aligned(join, devices[other->device].rank,
					    op_of(join, other->device, other->talk)->end_ns);
		out[n++] = (struct pair){(double)end_ns, (double)end_ns - (double)there_ns};
	}
	qsort(out, n, sizeof(*out), pair_order);
	return n;
}

static double median_difference(const struct pair *pairs, size_t n)
{
	double *scratch = tp_alloc(n * sizeof(*scratch));
	for (size_t i = 0; i < n; i++)
		scratch[i] = pairs[i].difference_ns;
	double median = tp_stats_median(scratch, n);
	free(scratch);
	return median;
}

/* The median, and where that moves the line through the medians of the first and the last third. */
static void fit_clock(struct clock *clock, const struct pair *pairs, size_t n)
{
	enum { LINE_LEAST = 12 };
	clock->is_known = true;
	clock->base_ns = median_difference(pairs, n);
	size_t third = n / 3;
	if (n >= LINE_LEAST) {
		double drift = median_difference(pairs + n - third, third) -
			       median_difference(pairs, third);
		double span_ns = pairs[n - 1 - third / 2].time_ns - pairs[third / 2].time_ns;
		clock->slope = fabs(drift) > SAME_CLOCK_NS && span_ns > 0 ? drift / span_ns : 0;
		clock->middle_ns = pairs[n / 2].time_ns;
	}
	if (fpclassify(clock->slope) == FP_ZERO && fabs(clock->base_ns) < SAME_CLOCK_NS)
		clock->base_ns = 0;
}

/* From the first rank on, each rank that shares collectives with one whose clock is known. */
static void align_clocks(struct join *join)
{
	size_t n_ranks = join->analysis->n_ranks;
	struct pair *pairs = tp_alloc((join->n + 1) * sizeof(*pairs));
	for (uint32_t root = 0; root < n_ranks; root++) {
		if (join->clocks[root].is_known)
			continue;
		join->clocks[root].is_known = true;
		bool is_changed = true;
		while (is_changed) {
			is_changed = false;
			for (uint32_t rank = 0; rank < n_ranks; rank++) {
				if (join->clocks[rank].is_known)
					continue;
				size_t n = collect_pairs(join, rank, pairs);
				if (!n)
					continue;
				fit_clock(&join->clocks[rank], pairs, n);
				is_changed = true;
			}
		}
	}
	free(pairs);
}

static void find_late(struct join *join)
{
	const struct tp_device_work *devices = join->analysis->devices;
	for (size_t i = 0; i < join->n; i++) {
		struct collective *collective = &join->items[i];
		for (size_t k = 0; k < collective->n; k++) {
			const struct part_taken *part = &join->parts[collective->first + k];
			uint64_t start_ns =
				aligned(join, devices[part->device].rank,
					op_of(join, part->device, part->talk)->start_ns);
			if (k && start_ns <= collective->arrival_ns)
				continue;
			collective->arrival_ns = start_ns;
			collective->late = part->device;
		}
	}
}

/* ---- handing over ---- */

/* Whose wait it is. */
struct waiter {
	uint64_t *after_ns; /* by label: of the window that the wait lies in */
	bool is_own;        /* not blamed on anybody */
};

static void give(struct join *join, const struct waiter *waiter, uint32_t device,
		 enum tp_label label, uint64_t length_ns)
{
	waiter->after_ns[label] += length_ns;
	if (!waiter->is_own)
		join->blame_ns[device * TP_N_LABELS + label] += length_ns;
}

static size_t piece_at(const struct tp_device_work *device, uint64_t time_ns)
{
	size_t low = 0;
	size_t high = device->n_pieces;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (device->pieces[middle].end_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* One instant's journey: on whose clock, and how often it was handed on. */
struct wait {
	const struct waiter *waiter;
	uint32_t device;
	uint32_t depth;
};

static void hand_over(struct join *join, const struct wait *wait, uint64_t start_ns,
		      uint64_t end_ns);

/* The late rank's doing during [start, end) of the waiting one. */
static void hand_on(struct join *join, const struct wait *wait, const struct collective *collective,
		    uint64_t start_ns, uint64_t end_ns)
{
	struct tp_rank_analysis *analysis = join->analysis;
	uint32_t from = analysis->devices[wait->device].rank;
	uint32_t to = analysis->devices[collective->late].rank;
	struct waiter waiter = {.after_ns = wait->waiter->after_ns};
	if (wait->depth > analysis->n_devices) {
		give(join, wait->waiter, wait->device, TP_LABEL_COMMUNICATION_WAIT,
		     end_ns - start_ns);
		return;
	}
	/* Lengths must stay whole: one shift for all of it. */
	uint64_t there_ns = start_ns;
	if (from != to) {
		uint64_t reference_ns = aligned(join, from, start_ns);
		double back = offset_at(&join->clocks[to], reference_ns);
		there_ns = (uint64_t)((int64_t)reference_ns +
				      (int64_t)(back < 0 ? back - 0.5 : back + 0.5));
	}
	struct wait next = {&waiter, collective->late, wait->depth + 1};
	hand_over(join, &next, there_ns, there_ns + (end_ns - start_ns));
}

/* The first talk that may reach beyond a time. */
static size_t talk_at(const struct talks *talks, uint64_t time_ns)
{
	size_t low = 0;
	size_t high = talks->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (talks->items[middle].reach_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* [start, end) of one talk: what is a wait for others goes on, the rest is its own. */
static void split_talk(struct join *join, const struct wait *wait, const struct talk *talk,
		       uint64_t start_ns, uint64_t end_ns)
{
	const struct tp_device_work *device = &join->analysis->devices[wait->device];
	if (talk->collective == NO_COLLECTIVE) {
		give(join, wait->waiter, wait->device, TP_LABEL_COMMUNICATION_COLLECTIVE,
		     end_ns - start_ns);
		return;
	}
	const struct collective *collective = &join->items[talk->collective];
	const struct tp_op *op = &device->ops[talk->op];
	uint64_t here_ns = aligned(join, device->rank, op->start_ns);
	uint64_t arrival_ns = op->start_ns + (collective->arrival_ns - here_ns);
	uint64_t wait_end_ns = least(arrival_ns, end_ns);
	if (collective->late != wait->device && wait_end_ns > start_ns) {
		hand_on(join, wait, collective, start_ns, wait_end_ns);
		start_ns = wait_end_ns;
	}
	give(join, wait->waiter, wait->device, TP_LABEL_COMMUNICATION_TRANSFER, end_ns - start_ns);
}

/* A stretch in which the device communicates and does nothing that comes first. */
static void split(struct join *join, const struct wait *wait, uint64_t start_ns, uint64_t end_ns)
{
	const struct tp_device_work *device = &join->analysis->devices[wait->device];
	const struct talks *talks = &join->talks[wait->device];
	uint64_t at_ns = start_ns;
	for (size_t i = talk_at(talks, start_ns); i < talks->n && at_ns < end_ns; i++) {
		const struct tp_op *op = &device->ops[talks->items[i].op];
		if (op->start_ns >= end_ns)
			break;
		if (op->end_ns <= at_ns || op->start_ns > at_ns)
			continue;
		uint64_t until_ns = least(op->end_ns, end_ns);
		split_talk(join, wait, &talks->items[i], at_ns, until_ns);
		at_ns = until_ns;
	}
	if (at_ns < end_ns) /* a thread communicates, not the device */
		give(join, wait->waiter, wait->device, TP_LABEL_COMMUNICATION_COLLECTIVE,
		     end_ns - at_ns);
}

/* What a device does during [start, end) of its own clock, for whoever waits. */
static void hand_over(struct join *join, const struct wait *wait, uint64_t start_ns,
		      uint64_t end_ns)
{
	const struct tp_device_work *device = &join->analysis->devices[wait->device];
	uint64_t at_ns = start_ns;
	for (size_t i = piece_at(device, start_ns); at_ns < end_ns; i++) {
		const struct tp_rank_piece *piece =
			i < device->n_pieces ? &device->pieces[i] : NULL;
		uint64_t next_ns = piece ? least(piece->start_ns, end_ns) : end_ns;
		if (next_ns > at_ns)
			give(join, wait->waiter, wait->device, TP_LABEL_COMMUNICATION_UNCAPTURED,
			     next_ns - at_ns);
		at_ns = next_ns > at_ns ? next_ns : at_ns;
		if (!piece || at_ns >= end_ns)
			break;
		uint64_t until_ns = least(piece->end_ns, end_ns);
		if (piece->label == TP_LABEL_COMMUNICATION_COLLECTIVE)
			split(join, wait, at_ns, until_ns);
		else
			give(join, wait->waiter, wait->device, piece->label, until_ns - at_ns);
		at_ns = until_ns;
	}
}

static void hand_over_all(struct join *join)
{
	struct tp_rank_analysis *analysis = join->analysis;
	for (uint32_t d = 0; d < analysis->n_devices; d++) {
		struct tp_device_work *device = &analysis->devices[d];
		device->after_ns = tp_alloc((device->n_windows + 1) * sizeof(*device->after_ns));
		for (size_t i = 0; i < device->n_pieces; i++) {
			const struct tp_rank_piece *piece = &device->pieces[i];
			struct waiter own = {device->after_ns[piece->window], true};
			struct wait wait = {&own, d, 0};
			hand_over(join, &wait, piece->start_ns, piece->end_ns);
		}
	}
}

/* ---- results ---- */

static int collective_order(const void *a, const void *b)
{
	const struct tp_collective_result *x = a;
	const struct tp_collective_result *y = b;
	return (x->arrival_ns > y->arrival_ns) - (x->arrival_ns < y->arrival_ns);
}

static void describe(struct join *join, const struct collective *collective,
		     struct tp_collective_result *out)
{
	struct tp_rank_analysis *analysis = join->analysis;
	uint64_t first_start = UINT64_MAX;
	uint64_t first_end = UINT64_MAX;
	uint64_t last_end = 0;
	uint64_t *waits = tp_arena_array(analysis->arena, analysis->n_devices, sizeof(*waits));
	for (size_t k = 0; k < collective->n; k++) {
		const struct part_taken *part = &join->parts[collective->first + k];
		const struct tp_device_work *device = &analysis->devices[part->device];
		const struct tp_op *op = op_of(join, part->device, part->talk);
		uint64_t start_ns = aligned(join, device->rank, op->start_ns);
		uint64_t end_ns = aligned(join, device->rank, op->end_ns);
		first_start = least(first_start, start_ns);
		first_end = least(first_end, end_ns);
		last_end = end_ns > last_end ? end_ns : last_end;
		waits[part->device] = collective->arrival_ns - start_ns;
		join->caused_ns[collective->late] += waits[part->device];
		if (part->device == collective->late)
			out->name = op->name;
	}
	out->group = collective->group;
	out->late = collective->late;
	out->n_members = (uint32_t)collective->n;
	out->arrival_ns = collective->arrival_ns;
	out->arrival_spread_ns = collective->arrival_ns - first_start;
	out->end_spread_ns = last_end - first_end;
	out->transfer_ns = last_end > out->arrival_ns ? last_end - out->arrival_ns : 0;
	out->wait_ns = waits;
}

static int blame_order(const void *a, const void *b)
{
	const struct tp_blame_result *x = a;
	const struct tp_blame_result *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns > y->time_ns ? -1 : 1;
	return x->device != y->device ? (x->device > y->device) - (x->device < y->device)
				      : (int)x->label - (int)y->label;
}

static void give_results(struct join *join)
{
	struct tp_rank_analysis *analysis = join->analysis;
	struct tp_profile *profile = analysis->profile;
	profile->collectives =
		tp_arena_array(analysis->arena, join->n, sizeof(*profile->collectives));
	profile->n_collectives = join->n;
	for (size_t i = 0; i < join->n; i++)
		describe(join, &join->items[i], &profile->collectives[i]);
	qsort(profile->collectives, join->n, sizeof(*profile->collectives), collective_order);
	size_t n = analysis->n_devices * TP_N_LABELS;
	profile->blames = tp_arena_array(analysis->arena, n, sizeof(*profile->blames));
	for (size_t i = 0; i < n; i++)
		if (join->blame_ns[i])
			profile->blames[profile->n_blames++] = (struct tp_blame_result){
				.device = (uint32_t)(i / TP_N_LABELS),
				.label = (enum tp_label)(i % TP_N_LABELS),
				.time_ns = join->blame_ns[i],
			};
	qsort(profile->blames, profile->n_blames, sizeof(*profile->blames), blame_order);
	for (size_t i = 0; i < analysis->n_devices; i++)
		analysis->devices[i].wait_caused_ns = join->caused_ns[i];
}

static void list_talks(struct talks *talks, const struct tp_device_work *device)
{
	uint64_t reach_ns = 0;
	for (size_t i = 0; i < device->n_ops; i++) {
		const struct tp_op *op = &device->ops[i];
		if (op->class != TP_OP_COMMUNICATION || op->end_ns <= op->start_ns)
			continue;
		reach_ns = op->end_ns > reach_ns ? op->end_ns : reach_ns;
		TP_ARRAY_PUSH(talks->items, talks->n, talks->capacity) =
			(struct talk){(uint32_t)i, NO_COLLECTIVE, reach_ns};
	}
}

static void join_init(struct join *join, struct tp_rank_analysis *analysis)
{
	size_t n = analysis->n_devices;
	*join = (struct join){.analysis = analysis};
	join->talks = tp_alloc(n * sizeof(*join->talks));
	for (size_t d = 0; d < n; d++)
		list_talks(&join->talks[d], &analysis->devices[d]);
	join->clocks = tp_alloc((analysis->n_ranks + 1) * sizeof(*join->clocks));
	join->blame_ns = tp_alloc(n * TP_N_LABELS * sizeof(*join->blame_ns));
	join->caused_ns = tp_alloc(n * sizeof(*join->caused_ns));
}

static void join_release(struct join *join)
{
	for (size_t d = 0; d < join->analysis->n_devices; d++)
		free(join->talks[d].items);
	free(join->talks);
	free(join->clocks);
	free(join->blame_ns);
	free(join->caused_ns);
	free(join->parts);
	free(join->items);
}

void tp_ranks_join(struct tp_rank_analysis *analysis)
{
	size_t n_pieces = 0;
	for (size_t i = 0; i < analysis->n_devices; i++)
		n_pieces += analysis->devices[i].n_pieces;
	if (!n_pieces)
		return;
	struct join join;
	join_init(&join, analysis);
	match_all(&join);
	if (join.n) {
		align_clocks(&join);
		find_late(&join);
		hand_over_all(&join);
		give_results(&join);
	}
	join_release(&join);
}
