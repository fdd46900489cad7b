/* The driver's readings as a second witness of what was traced. */
#include "driver_crosscheck.h"

#include "analyze/thresholds.h"
#include "trainprof/model/fact.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Readings of one kind, over all GPUs. */
struct readings {
	size_t n;
	double sum;
	double squares;
};

struct witness {
	const struct tp_rank_analysis *ranks;
	uint64_t from_ns;         /* of the first work; before it nothing was traced */
	struct tp_intervals busy; /* of all devices, one behind the other; heap */
	struct readings all;
	struct readings inside;
	struct readings traced; /* share of device work in the spans of `inside` */
};

static void add(struct readings *readings, double value)
{
	readings->n++;
	readings->sum += value;
	readings->squares += value * value;
}

static double mean_of(const struct readings *readings)
{
	return readings->n ? readings->sum / (double)readings->n : 0;
}

static double variance_of_mean(const struct readings *readings)
{
	double n = (double)readings->n;
	double rest = readings->squares - n * mean_of(readings) * mean_of(readings);
	return n > 1 && rest > 0 ? rest / (n - 1) / n : 0;
}

static bool differ(const struct readings *a, const struct readings *b)
{
	double apart = fabs(mean_of(a) - mean_of(b));
	return a->n >= TP_READINGS_LEAST && b->n >= TP_READINGS_LEAST &&
	       apart > TP_DRIVER_DIFFERS_MUCH &&
	       apart > TP_DRIVER_CHANCE * sqrt(variance_of_mean(a) + variance_of_mean(b));
}

/* Which device of CUDA is which of NVML's nobody tells: only a single one is sure. */
static const struct tp_device_work *only_device(const struct tp_rank_analysis *ranks)
{
	const struct tp_device_work *found = NULL;
	for (size_t i = 0; i < ranks->n_devices; i++) {
		if (!ranks->devices[i].n_ops)
			continue;
		if (found)
			return NULL;
		found = &ranks->devices[i];
	}
	return found;
}

static void look(struct witness *witness, enum tp_metric metric, uint32_t track, uint64_t span_ns,
		 bool has_device)
{
	const struct tp_rank_analysis *ranks = witness->ranks;
	size_t n;
	const struct tp_gauge *readings = tp_trace_gauges(ranks->trace, metric, track, &n);
	for (size_t i = 0; i < n; i++) {
		uint64_t end_ns = readings[i].time_ns;
		if (end_ns < witness->from_ns + span_ns)
			continue;
		add(&witness->all, readings[i].value);
		if (tp_intervals_covered(&ranks->untraced, end_ns - span_ns, end_ns))
			continue;
		add(&witness->inside, readings[i].value);
		if (has_device)
			add(&witness->traced,
			    (double)tp_intervals_covered(&witness->busy, end_ns - span_ns, end_ns) /
				    (double)span_ns);
	}
}

/* Many programs open the nodes of all devices; those that they do not use are read no more. */
static bool is_used(const struct witness *witness, enum tp_metric metric, uint32_t track)
{
	const struct tp_trace *trace = witness->ranks->trace;
	size_t n;
	const struct tp_gauge *readings = tp_trace_gauges(trace, metric, track, &n);
	return trace->tracks[track].device >= 0 && trace->tracks[track].number == TP_TRACK_WHOLE &&
	       n && readings[n - 1].time_ns >= witness->from_ns;
}

static void look_at_gpus(struct witness *witness, enum tp_metric metric, uint64_t span_ns)
{
	const struct tp_trace *trace = witness->ranks->trace;
	size_t n_gpus = 0;
	witness->all = witness->inside = witness->traced = (struct readings){0};
	for (uint32_t i = 0; i < trace->n_tracks; i++)
		n_gpus += is_used(witness, metric, i);
	for (uint32_t i = 0; i < trace->n_tracks; i++)
		if (is_used(witness, metric, i))
			look(witness, metric, i, span_ns,
			     n_gpus == 1 && only_device(witness->ranks));
}

static void set_fact(const struct witness *witness, enum tp_fact fact,
		     const struct readings *readings)
{
	struct tp_profile *profile = witness->ranks->profile;
	if (readings->n < TP_READINGS_LEAST) {
		tp_profile_miss(profile, fact,
				readings->n < witness->inside.n
					? "which of several GPUs was traced is not known"
					: "too few readings of the driver lie in windows");
		return;
	}
	double half = 1.96 * sqrt(variance_of_mean(readings));
	tp_profile_set(profile, fact, mean_of(readings), TP_ORIGIN_SAMPLED, 1);
	profile->facts[fact].n = readings->n;
	profile->facts[fact].has_interval = true;
	profile->facts[fact].low = fmax(0, mean_of(readings) - half);
	profile->facts[fact].high = fmin(1, mean_of(readings) + half);
}

static void warn_unlike(const struct witness *witness, const char *what)
{
	char text[160];
	if (!differ(&witness->inside, &witness->all))
		return;
	snprintf(text, sizeof(text), "%s was %.0f %% while the GPU was traced, %.0f %% in all",
		 what, 100 * mean_of(&witness->inside), 100 * mean_of(&witness->all));
	tp_profile_warn(witness->ranks->profile, "windows-unlike-run", text,
			"the parts are of the windows", NULL);
}

static void warn_contradicted(const struct witness *witness)
{
	char text[160];
	double awake = mean_of(&witness->inside);
	double traced = mean_of(&witness->traced);
	if (!differ(&witness->inside, &witness->traced))
		return;
	snprintf(text, sizeof(text),
		 "the driver saw the GPU awake for %.0f %% of what was traced, kernels were told "
		 "for "
		 "%.0f %%",
		 100 * awake, 100 * traced);
	tp_profile_warn(witness->ranks->profile, "witness-disagrees", text,
			awake > traced ? "work may be missing, or be of another program"
				       : "the driver's readings are coarse, or times are wrong",
			NULL);
}

static void begin(struct witness *witness, const struct tp_rank_analysis *ranks)
{
	*witness = (struct witness){.ranks = ranks, .from_ns = tp_ranks_first_work(ranks)};
	const struct tp_device_work *device = only_device(ranks);
	/* The driver calls a GPU awake for its kernels, not for copies. */
	for (size_t i = 0; device && i < device->n_ops; i++)
		if (device->ops[i].class != TP_OP_COPY)
			tp_intervals_add(&witness->busy, device->ops[i].start_ns,
					 device->ops[i].end_ns);
	tp_intervals_unite(&witness->busy);
}

void tp_witness_compare(const struct tp_rank_analysis *ranks)
{
	struct witness witness;
	if (!ranks->shut.n)
		return;
	begin(&witness, ranks);
	if (witness.from_ns != UINT64_MAX) {
		look_at_gpus(&witness, TP_METRIC_GPU_AWAKE, TP_GPU_AWAKE_NS);
		set_fact(&witness, TP_FACT_WINDOWS_AWAKE, &witness.inside);
		set_fact(&witness, TP_FACT_WINDOWS_KERNELS, &witness.traced);
		warn_unlike(&witness, "the GPU's time awake");
		warn_contradicted(&witness);
		look_at_gpus(&witness, TP_METRIC_GPU_SM_ACTIVE, TP_GPM_READING_NS);
		set_fact(&witness, TP_FACT_WINDOWS_SM_ACTIVE, &witness.inside);
		warn_unlike(&witness, "the activity of its multiprocessors");
	}
	free(witness.busy.items);
}
