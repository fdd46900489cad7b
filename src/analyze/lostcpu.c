/* Collects what was sampled at the moment a CPU was lost, and asks the neighbours first. */
#include "lostcpu.h"

enum {
	NEAR = 20,  /* parts of a sampling period: how near a sample has to be */
	FAR = 32,   /* pieces to look through for samples on one side */
	AROUND = 2, /* samples on each side that have to agree */
};

static const struct tp_segment *piece_at(const struct tp_lostcpu *self, size_t at)
{
	return at < self->timeline->n ? &self->timeline->segments[at] : NULL;
}

/* Whether it was sampled itself, on a CPU, and the sample says where it was. */
static bool is_seen(const struct tp_lostcpu *self, const struct tp_segment *piece)
{
	if (!piece || piece->state != TP_STATE_ON_CPU || piece->sample == NO_SAMPLE ||
	    piece->is_inferred)
		return false;
	uint32_t stack = self->analysis->trace->samples[piece->sample].stack;
	return !self->needs_python || self->analysis->classes[stack].has_python;
}

static enum tp_phase phase_of(const struct tp_lostcpu *self, uint32_t sample)
{
	return self->analysis->classes[self->analysis->trace->samples[sample].stack].phase;
}

static uint64_t distance(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns;
}

static bool is_lost(const struct tp_lostcpu *self, size_t at)
{
	const struct tp_segment *piece = piece_at(self, at);
	const struct tp_segment *run = at > 0 ? piece_at(self, at - 1) : NULL;
	return piece->state == TP_STATE_RUNNABLE && run && run->state == TP_STATE_ON_CPU &&
	       run->end_ns == piece->start_ns;
}

/* The sample next to it, before or after; NO_SAMPLE when none is near enough. */
static uint32_t near_sample(const struct tp_lostcpu *self, size_t at)
{
	const struct tp_trace *trace = self->analysis->trace;
	const struct tp_segment *piece = piece_at(self, at);
	const struct tp_segment *sides[] = {piece_at(self, at - 1), piece_at(self, at + 1)};
	const uint64_t borders_ns[] = {piece->start_ns, piece->end_ns};
	double rate_hz = trace->run.sample_rate_hz;
	uint64_t best_ns = rate_hz > 0 ? (uint64_t)(1e9 / rate_hz / NEAR) : 0;
	uint32_t best = NO_SAMPLE;
	for (int i = 0; i < 2; i++) {
		if (!is_seen(self, sides[i]))
			continue;
		uint64_t ns = distance(trace->samples[sides[i]->sample].time_ns, borders_ns[i]);
		if (ns <= best_ns) {
			best_ns = ns;
			best = sides[i]->sample;
		}
	}
	return best;
}

/* Of the stay that ended there; samples cut it into pieces. */
static uint64_t stay_ns(const struct tp_lostcpu *self, size_t at)
{
	uint64_t end_ns = piece_at(self, at)->start_ns;
	uint64_t start_ns = end_ns;
	for (size_t i = at; i > 0; i--) {
		const struct tp_segment *piece = piece_at(self, i - 1);
		if (piece->state != TP_STATE_ON_CPU || piece->end_ns != start_ns)
			break;
		start_ns = piece->start_ns;
	}
	return end_ns - start_ns;
}

void tp_lostcpu_build(struct tp_lostcpu *self, const struct tp_analysis *analysis,
		      const struct tp_timeline *timeline, bool needs_python)
{
	*self = (struct tp_lostcpu){.analysis = analysis,
				    .timeline = timeline,
				    .needs_python = needs_python};
	for (size_t i = 0; i < timeline->n; i++) {
		uint32_t sample = is_lost(self, i) ? near_sample(self, i) : NO_SAMPLE;
		if (sample != NO_SAMPLE)
			tp_strata_add(&self->seen, TP_STAY_RUNS_PREEMPTED,
				      timeline->segments[i].start_ns, stay_ns(self, i), sample);
	}
}

void tp_lostcpu_release(struct tp_lostcpu *self)
{
	tp_strata_release(&self->seen);
}

/* How many samples in a row, going that way, are of this phase, as far as is looked. */
static int n_agreeing(const struct tp_lostcpu *self, size_t at, int way, enum tp_phase phase)
{
	int n = 0;
	for (size_t i = 1; i <= FAR && n < AROUND; i++) {
		if (way < 0 && i > at)
			break;
		const struct tp_segment *piece = piece_at(self, way < 0 ? at - i : at + i);
		if (!piece)
			break;
		if (is_seen(self, piece) && phase_of(self, piece->sample) != phase)
			return 0;
		n += is_seen(self, piece);
	}
	return n;
}

enum tp_phase tp_lostcpu_phase(const struct tp_lostcpu *self, size_t at, enum tp_phase before)
{
	if (!is_lost(self, at))
		return before;
	uint32_t sample = near_sample(self, at);
	if (sample != NO_SAMPLE)
		return phase_of(self, sample);
	if (n_agreeing(self, at, -1, before) == AROUND && n_agreeing(self, at, 1, before) == AROUND)
		return before;
	sample = tp_strata_like(&self->seen, TP_STAY_RUNS_PREEMPTED,
				self->timeline->segments[at].start_ns, stay_ns(self, at));
	return sample == NO_SAMPLE ? before : phase_of(self, sample);
}
