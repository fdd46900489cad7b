/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the steps of the JSON report: how they were found, their number, and how they went. */
#include "document.h"
#include "report/digest/step_counts.h"

/* Means over groups of neighbouring steps; with one step per group the numbers are exact. */
static void write_column(struct tp_json_writer *w, const char *key,
			 const struct tp_profile *profile, size_t bucket, int part)
{
	tp_json_write_key(w, key);
	tp_json_open(w, '[');
	w->is_flat = true;
	for (size_t i = 0; i < profile->n_steps; i += bucket) {
		uint64_t sum = 0;
		size_t n = 0;
		for (; n < bucket && i + n < profile->n_steps; n++) {
			const struct tp_step *step = &profile->steps[i + n];
			sum += part < 0 ? step->end_ns - step->start_ns : step->part_ns[part];
		}
		tp_json_write_uint(w, sum / n);
	}
	tp_json_close(w, ']');
	w->is_flat = false;
}

static void write_kinds(struct tp_json_writer *w, const struct tp_profile *profile)
{
	tp_json_write_key(w, "kinds");
	tp_json_open(w, '[');
	w->is_flat = true;
	for (size_t i = 0; i < profile->n_steps; i++)
		tp_json_write_string(w, tp_step_kind_name(profile->steps[i].kind));
	tp_json_close(w, ']');
	w->is_flat = false;
}

/* Parts of a step are known from the samples in it: fewer than these are no data. */
enum { SAMPLES_MIN = 20 };

static size_t count_between(const struct tp_sample *samples, size_t n, uint32_t task,
			    uint64_t start_ns, uint64_t end_ns)
{
	size_t count = 0;
	for (size_t i = 0; i < n; i++)
		count += samples[i].task == task && samples[i].time_ns >= start_ns &&
			 samples[i].time_ns < end_ns;
	return count;
}

/* The number of steps that have SAMPLES_MIN samples of the main thread together, on average; 1 for
 * an imported trace, whose spans are exact. */
static size_t steps_with_samples(const struct tp_report_document *doc)
{
	const struct tp_trace *trace = doc->digest->trace;
	const struct tp_profile *profile = doc->digest->profile;
	uint64_t start_ns = profile->steps[0].start_ns;
	uint64_t end_ns = profile->steps[profile->n_steps - 1].end_ns;
	size_t n = count_between(trace->samples, trace->n_samples, profile->trainer, start_ns,
				 end_ns) +
		   count_between(trace->leavings, trace->n_leavings, profile->trainer, start_ns,
				 end_ns);
	return n ? (SAMPLES_MIN * profile->n_steps + n - 1) / n : 1;
}

static size_t bucket_of(const struct tp_report_document *doc)
{
	size_t n = doc->digest->profile->n_steps;
	size_t max = doc->max_series ? doc->max_series : 1;
	size_t shortest = (n + max - 1) / max;
	size_t bucket = steps_with_samples(doc);
	if (bucket > n)
		bucket = n;
	return bucket > shortest ? bucket : shortest;
}

static void write_starts(struct tp_json_writer *w, const struct tp_profile *profile, size_t bucket)
{
	tp_json_write_key(w, "start_ns");
	tp_json_open(w, '[');
	w->is_flat = true;
	for (size_t i = 0; i < profile->n_steps; i += bucket)
		tp_json_write_uint(w, profile->steps[i].start_ns);
	tp_json_close(w, ']');
	w->is_flat = false;
}

/* Start, duration and kind of each step are exact, whatever the number of samples in it is. */
static void write_each(struct tp_report_document *doc)
{
	const struct tp_profile *profile = doc->digest->profile;
	if (profile->n_steps > doc->max_series)
		return;
	tp_json_write_key(doc->w, "each");
	tp_json_open(doc->w, '{');
	write_starts(doc->w, profile, 1);
	write_column(doc->w, "duration_ns", profile, 1, -1);
	write_kinds(doc->w, profile);
	tp_json_close(doc->w, '}');
}

static void write_series(struct tp_report_document *doc)
{
	struct tp_json_writer *w = doc->w;
	const struct tp_profile *profile = doc->digest->profile;
	size_t bucket = bucket_of(doc);
	tp_json_write_key(w, "series");
	tp_json_open(w, '{');
	tp_json_put_uint(w, "bucket", bucket);
	write_starts(w, profile, bucket);
	write_column(w, "duration_ns", profile, bucket, -1);
	tp_json_write_key(w, "parts_ns");
	tp_json_open(w, '{');
	for (int p = 0; p < TP_N_PARTS; p++)
		write_column(w, tp_part_name((enum tp_part)p), profile, bucket, p);
	tp_json_close(w, '}');
	if (bucket == 1)
		write_kinds(w, profile);
	tp_json_close(w, '}');
}

/* The time that a part lasts longer in this step than in a steady one. */
static double added_ns(const struct tp_profile *profile, const struct tp_step *step, int part)
{
	double share = profile->total_ns
			       ? (double)profile->parts[part].time_ns / (double)profile->total_ns
			       : 0;
	return (double)step->part_ns[part] - share * profile->step_time.mean;
}

static void write_slow_steps(struct tp_report_document *doc)
{
	struct tp_json_writer *w = doc->w;
	const struct tp_profile *profile = doc->digest->profile;
	size_t n = 0;
	tp_json_write_key(w, "outliers");
	tp_json_open(w, '[');
	for (size_t i = 0; i < profile->n_steps; i++) {
		const struct tp_step *step = &profile->steps[i];
		if (step->kind != TP_STEP_SLOW)
			continue;
		if (n++ >= doc->max_outliers) {
			doc->cut_outliers++;
			continue;
		}
		int cause = 0;
		for (int p = 1; p < TP_N_PARTS; p++)
			if (added_ns(profile, step, p) > added_ns(profile, step, cause))
				cause = p;
		tp_json_open(w, '{');
		tp_json_put_uint(w, "index", i);
		tp_json_put_uint(w, "duration_ns", step->end_ns - step->start_ns);
		tp_json_put_string(w, "cause", tp_part_name((enum tp_part)cause));
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}

/* Their sum is total_count. */
static void write_step_counts(struct tp_json_writer *w, const struct tp_profile *profile)
{
	uint64_t counts[TP_N_STEP_KINDS];
	tp_report_count_steps(profile, counts);
	tp_json_put_uint(w, "count", profile->n_steady);
	tp_json_put_uint(w, "total_count", tp_profile_all_steps(profile));
	tp_json_put_uint(w, "excluded_warmup", counts[TP_STEP_WARMUP]);
	tp_json_write_key(w, "by_kind");
	tp_json_open(w, '{');
	for (int kind = 0; kind < TP_N_STEP_KINDS; kind++)
		tp_json_put_uint(w, tp_step_kind_name((enum tp_step_kind)kind), counts[kind]);
	tp_json_put_uint(w, "untraced", profile->n_untraced);
	tp_json_close(w, '}');
	if (tp_report_step_rate(profile) > 0)
		tp_json_put_number(w, "steps_per_s", tp_report_step_rate(profile));
	if (tp_report_sample_rate(profile) > 0)
		tp_json_put_number(w, "samples_per_s", tp_report_sample_rate(profile));
}

void tp_report_json_steps(struct tp_report_document *doc)
{
	struct tp_json_writer *w = doc->w;
	const struct tp_profile *profile = doc->digest->profile;
	tp_json_write_key(w, "steps");
	tp_json_open(w, '{');
	tp_json_put_string(w, "found_by", tp_steps_found_by_name(profile->steps_found_by));
	tp_json_put_number(w, "confidence_ratio", profile->steps_confidence);
	if (profile->n_steps)
		tp_json_put_string(w, "count_is",
				   profile->steps_are_part    ? "at_least"
				   : profile->steps_are_about ? "about"
							      : "exact");
	tp_report_json_text(w, "reason", profile->steps_reason);
	if (profile->steps_next)
		tp_report_json_text(w, "next", profile->steps_next);
	tp_report_json_loop(w, profile);
	write_step_counts(w, profile);
	if (profile->step_time.n)
		tp_report_json_stat(w, "duration_ns", &profile->step_time);
	if (profile->n_steps) {
		write_each(doc);
		write_series(doc);
		write_slow_steps(doc);
	}
	tp_json_close(w, '}');
}
