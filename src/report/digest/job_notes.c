/* SPDX-License-Identifier: Apache-2.0 */
/* Describes devices and ranks in sentences. */
#include "job_notes.h"

#include "trainprof/model/fact.h"

#include <ctype.h>
#include <string.h>

/* Below these ratios a number gives a reader nothing to act on: our choice. */
static const double NOTABLE_RATIO = 0.05; /* of work in collectives or copies, or with weak names */
static const double NOTABLE_WAIT_RATIO = 0.01; /* of windows, in waits for a late rank */
/* A smaller cause of the waits for a rank is not listed after the largest one. */
static const double NOTABLE_CAUSE_RATIO = 0.1;

enum { CAUSES_SHOWN = 2 };

/* ---- the late rank ---- */

/* Time by the cause of waiting: a part, or TP_N_PARTS for time that was not captured. */
struct blame_share {
	int part;
	uint64_t time_ns;
};

static int blame_part(const struct tp_blame_result *blame)
{
	return blame->label == TP_LABEL_COMMUNICATION_UNCAPTURED ? TP_N_PARTS
								 : (int)tp_label_part(blame->label);
}

/* Sums the causes of one device, largest first; returns the number of rows. `total_ns` is their
 * sum. */
static size_t sum_blame(const struct tp_profile *profile, uint32_t device,
			struct blame_share rows[TP_N_PARTS + 1], uint64_t *total_ns)
{
	uint64_t sums[TP_N_PARTS + 1] = {0};
	size_t n = 0;
	*total_ns = 0;
	for (size_t i = 0; i < profile->n_blames; i++)
		if (profile->blames[i].device == device)
			sums[blame_part(&profile->blames[i])] += profile->blames[i].time_ns;
	for (int p = 0; p <= TP_N_PARTS; p++) {
		if (!sums[p])
			continue;
		*total_ns += sums[p];
		size_t at = n++;
		for (; at && rows[at - 1].time_ns < sums[p]; at--)
			rows[at] = rows[at - 1];
		rows[at] = (struct blame_share){p, sums[p]};
	}
	return n;
}

static double ratio(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static size_t latest_device(const struct tp_profile *profile)
{
	size_t latest = 0;
	for (size_t i = 1; i < profile->n_devices; i++)
		if (profile->devices[i].wait_caused_ns > profile->devices[latest].wait_caused_ns)
			latest = i;
	return latest;
}

static void add_function_time(struct tp_buf *out, const struct tp_profile *profile, size_t device)
{
	struct blame_share rows[TP_N_PARTS + 1];
	uint64_t total_ns;
	size_t n = sum_blame(profile, (uint32_t)device, rows, &total_ns);
	for (size_t i = 0; i < n && i < CAUSES_SHOWN; i++) {
		double share = ratio(rows[i].time_ns, total_ns);
		if (i && share < NOTABLE_CAUSE_RATIO)
			break;
		tp_buf_printf(out, "%s%s %s", i ? ", " : ": ", tp_report_after_words(rows[i].part),
			      tp_unit_percent(share).text);
	}
}

static void add_ranks(struct tp_buf *out, const struct tp_report_digest *digest)
{
	const struct tp_profile *profile = digest->profile;
	uint64_t all_ns = digest->job.wait_caused_ns;
	if (digest->job.n_ranks > 1 && profile->not_joined) {
		tp_buf_printf(out, "Ranks are judged each for itself: %s", profile->not_joined);
		return;
	}
	if (ratio(all_ns, digest->job.window_ns) < NOTABLE_WAIT_RATIO)
		return;
	size_t late = latest_device(profile);
	uint64_t caused_ns = profile->devices[late].wait_caused_ns;
	struct tp_buf name = {0};
	tp_report_add_device(&name, profile, late);
	tp_buf_printf(out, "R%s made the others wait %s, %s of waits", tp_buf_text(&name) + 1,
		      tp_unit_time((double)caused_ns).text,
		      tp_unit_percent(ratio(caused_ns, all_ns)).text);
	tp_buf_release(&name);
	add_function_time(out, profile, late);
}

/* ---- how devices spend their time ---- */

static double busy_ratio(const struct tp_profile *profile, size_t device)
{
	return ratio(profile->devices[device].window_busy_ns, profile->devices[device].window_ns);
}

static void add_busy(struct tp_buf *out, const struct tp_report_digest *digest)
{
	const struct tp_profile *profile = digest->profile;
	const struct tp_quantity *mean = &profile->facts[TP_FACT_DEVICE_BUSY];
	size_t least = 0;
	double busy = mean->is_known ? mean->value
				     : ratio(digest->job.window_busy_ns, digest->job.window_ns);
	for (size_t i = 1; i < profile->n_devices; i++)
		if (busy_ratio(profile, i) < busy_ratio(profile, least))
			least = i;
	if (profile->n_devices == 1) {
		tp_buf_printf(out, "Device busy %s", tp_unit_percent(busy).text);
		return;
	}
	tp_buf_printf(out, "%zu devices busy %s (least: ", profile->n_devices,
		      tp_unit_percent(busy).text);
	tp_report_add_device(out, profile, least);
	tp_buf_printf(out, ", %s)", tp_unit_percent(busy_ratio(profile, least)).text);
}

/* Words for readers; other causes have the name that JSON uses. */
static const char *gap_words(enum tp_gap_cause cause)
{
	switch (cause) {
	case TP_GAP_DATALOADER:
		return "data loading";
	case TP_GAP_HOST:
		return "CPU side";
	case TP_GAP_ALLOC:
		return "memory allocation";
	case TP_GAP_UNKNOWN:
		return "cause unknown";
	default:
		return tp_gap_cause_name(cause);
	}
}

/* Appends the causes of device idle time, largest first. */
static void add_gaps(struct tp_buf *out, const struct tp_report_job *job)
{
	uint64_t total_ns = 0;
	for (int c = 0; c < TP_N_GAP_CAUSES; c++)
		total_ns += job->gap_ns[c];
	uint64_t left[TP_N_GAP_CAUSES];
	memcpy(left, job->gap_ns, sizeof(left));
	for (int shown = 0; shown < CAUSES_SHOWN; shown++) {
		int largest = 0;
		for (int c = 1; c < TP_N_GAP_CAUSES; c++)
			if (left[c] > left[largest])
				largest = c;
		if (ratio(left[largest], total_ns) < NOTABLE_RATIO)
			return;
		tp_buf_printf(out, "%s%s %s",
			      shown ? ", " : ", idle: ", gap_words((enum tp_gap_cause)largest),
			      tp_unit_percent(ratio(left[largest], total_ns)).text);
		left[largest] = 0;
	}
}

static void add_work(struct tp_buf *out, const struct tp_report_digest *digest)
{
	const struct tp_profile *profile = digest->profile;
	const struct tp_quantity *ops = &profile->facts[TP_FACT_DEVICE_OPS];
	if (ops->is_known && ops->value >= 0.5 && profile->is_of_steps &&
	    (profile->n_devices == 1 || digest->lines_each > 1))
		tp_buf_printf(out, "; %s launch%s per step",
			      tp_unit_count((uint64_t)(ops->value + 0.5)).text,
			      ops->value < 1.5 ? "" : "es");
	if (profile->micro_batches > 1)
		tp_buf_printf(out, ", %zu micro-batches", profile->micro_batches);
}

static void add_devices(struct tp_buf *out, const struct tp_report_digest *digest)
{
	if (!digest->job.span_ns) {
		tp_buf_puts(out, "No device was busy: only the threads are judged");
		return;
	}
	add_busy(out, digest);
	if (digest->profile->is_idle_unknown)
		tp_buf_puts(out, "; the host was not recorded: why it idles is unknown");
	else
		add_gaps(out, &digest->job);
	add_work(out, digest);
}

/* ---- overlapped work ---- */

static void add_hidden(struct tp_buf *out, const struct tp_report_digest *digest)
{
	const struct tp_report_job *job = &digest->job;
	const struct {
		const char *name;
		uint64_t time_ns;
		uint64_t exposed_ns;
	} rows[] = {{"communication", job->union_ns[TP_OP_COMMUNICATION],
		     job->exposed_communication_ns},
		    {"copies", job->union_ns[TP_OP_COPY], job->exposed_copy_ns}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (ratio(rows[i].time_ns, job->span_ns) < NOTABLE_RATIO)
			continue;
		double mean_ns = (double)rows[i].time_ns / (double)digest->profile->n_devices;
		tp_buf_printf(out, "%s%s %s%s, %s overlapped", out->len ? "; " : "", rows[i].name,
			      tp_unit_time(mean_ns).text,
			      digest->profile->n_devices > 1 ? " per device" : "",
			      tp_unit_percent(1 - ratio(rows[i].exposed_ns, rows[i].time_ns)).text);
	}
	if (out->len)
		out->data[0] = (char)toupper((unsigned char)out->data[0]);
}

/* ---- reliability of the names ---- */

static void add_evidence(struct tp_buf *out, const struct tp_report_digest *digest)
{
	const struct tp_quantity *facts = digest->profile->facts;
	const struct tp_quantity *weak = &facts[TP_FACT_KERNEL_WEAK];
	const struct tp_quantity *unlinked = &facts[TP_FACT_DEVICE_UNLINKED];
	const struct tp_quantity *cut = &facts[TP_FACT_TRACE_CUT];
	if (cut->is_known && cut->value > 0)
		tp_buf_puts(out, "A file ends in the middle: what follows is not judged");
	if (weak->is_known && weak->value > NOTABLE_RATIO)
		tp_buf_printf(out, "%s%s of the kernel time is in kernels whose names say little",
			      out->len ? "; " : "", tp_unit_percent(weak->value).text);
	/* Without a host there are no calls, and the line above says so. */
	if (unlinked->is_known && unlinked->value > NOTABLE_RATIO &&
	    !digest->profile->is_idle_unknown)
		tp_buf_printf(out, "%s%s of the device work has no known launching call",
			      out->len ? "; " : "", tp_unit_percent(unlinked->value).text);
}

/* Steps of which the trace has one, so that their cost is not known. */
static void add_single(struct tp_buf *out, const struct tp_report_digest *digest)
{
	const struct tp_profile *profile = digest->profile;
	for (size_t i = 0; i < profile->n_warnings; i++)
		if (strcmp(profile->warnings[i].id, "single-special-step") == 0)
			tp_buf_printf(out, "%s%s", out->len ? "; " : "", profile->warnings[i].text);
	if (!out->len)
		return;
	out->data[0] = (char)toupper((unsigned char)out->data[0]);
	tp_buf_puts(out, ": not judged");
}

void tp_report_add_job_note(struct tp_buf *out, const struct tp_report_digest *digest, int i)
{
	static void (*const notes[TP_JOB_NOTES_MAX])(struct tp_buf *,
						     const struct tp_report_digest *) = {
		add_ranks, add_devices, add_hidden, add_evidence, add_single};
	struct tp_buf text = {0};
	if (digest->has_devices)
		notes[i](&text, digest);
	tp_buf_puts(out, tp_buf_text(&text));
	tp_buf_release(&text);
}
