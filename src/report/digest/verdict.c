/* SPDX-License-Identifier: Apache-2.0 */
/* Names the bottleneck of a run. Rules decide, except for traces of devices: their parts are exact
 * and few steps are normal, so the largest part is named, with the largest loss. */
#include "verdict.h"

#include "trainprof/model/verdict_words.h"
#include "trainprof/report/units.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* The words before "takes 39 % of each step". */
static const struct {
	const char *what;
	const char *of_device; /* the same for a device; NULL = the same words */
} shares[TP_N_PARTS] = {
	[TP_PART_COMPUTE] = {"compute", NULL},
	[TP_PART_COMMUNICATION] = {"communication", NULL},
	[TP_PART_MEMORY] = {"moving memory", "copying memory"},
	[TP_PART_DATALOADER] = {"waiting for data", NULL},
	[TP_PART_HOST] = {"CPU work around the computation", "waiting for the CPU side"},
	[TP_PART_IDLE] = {"waiting", "idling"},
};

bool tp_report_capture_is_short(const struct tp_findings *findings)
{
	return findings && findings->verdict && strcmp(findings->verdict, "capture_lacks") == 0;
}

/* True if a rule found that ranks wait for each other's work. The parts have every wait at what the
 * late rank did, so they do not show it. */
static bool is_of_slow_ranks(const struct tp_findings *findings)
{
	return findings && findings->verdict_cause &&
	       strcmp(findings->verdict_cause, "uneven_ranks") == 0;
}

/* True if a rule found that what the host did is unknown for most of the time: the largest known
 * part then says little about the limit. */
static bool is_mostly_unknown(const struct tp_findings *findings)
{
	return findings && findings->verdict_cause &&
	       strcmp(findings->verdict_cause, "mostly_unknown") == 0;
}

bool tp_report_is_start_up(const struct tp_findings *findings)
{
	return findings && findings->verdict && strcmp(findings->verdict, "startup_only") == 0;
}

/* True if the parts of devices decide: there are some, and neither too many records are lost, nor
 * only the start was recorded, nor most of the time is unknown. */
static bool is_of_devices(const struct tp_report *report)
{
	const struct tp_findings *findings = report->findings;
	bool is_doubted = findings && findings->verdict &&
			  (strcmp(findings->verdict, "records_lost") == 0 ||
			   tp_report_is_start_up(findings) || tp_report_capture_is_short(findings));
	return report->profile->n_devices && report->profile->total_ns && !is_doubted &&
	       !is_of_slow_ranks(findings) && !is_mostly_unknown(findings);
}

/* Appends the analysis' warning about a capture that cannot be judged, and the command to type. */
static void add_capture_warning(struct tp_buf *out, const struct tp_profile *profile)
{
	for (size_t i = 0; i < profile->n_warnings; i++) {
		const struct tp_warning *warning = &profile->warnings[i];
		bool is_lost = strcmp(warning->id, "device-side-lost") == 0;
		if (!is_lost && strcmp(warning->id, "unknown-maker") != 0)
			continue;
		bool is_sentence = out->len && out->data[out->len - 1] == '.';
		tp_buf_printf(out, "%s %s.", is_sentence ? " In detail:" : ":", warning->text);
		if (is_lost && warning->remedy)
			tp_buf_printf(out, " Capture again: %s", warning->remedy);
	}
}

static enum tp_part largest_part(const struct tp_profile *profile)
{
	int largest = TP_PART_COMPUTE;
	for (int i = 0; i < TP_N_PARTS; i++)
		if (profile->parts[i].time_ns > profile->parts[largest].time_ns &&
		    (i != TP_PART_IDLE || !profile->is_idle_unknown))
			largest = i;
	return (enum tp_part)largest;
}

static bool has_device_work(const struct tp_profile *profile)
{
	for (size_t i = 0; i < profile->n_devices; i++)
		if (profile->devices[i].span_ns)
			return true;
	return false;
}

static void add_transfers(struct tp_buf *out, const struct tp_transfers *transfers)
{
	double span = (double)transfers->span_ns;
	tp_buf_puts(out, "The trace holds communication only: what else a step does is unknown.");
	if (transfers->late_rank >= 0)
		tp_buf_printf(out,
			      " Rank %lld was last in %llu of %llu operations, and the others "
			      "waited %s for it (%s of the time)",
			      (long long)transfers->late_rank,
			      (unsigned long long)transfers->n_late,
			      (unsigned long long)transfers->n_waits,
			      tp_unit_time((double)transfers->late_ns).text,
			      tp_unit_percent((double)transfers->late_ns / span).text);
	else
		tp_buf_puts(out, " No rank was late");
	tp_buf_printf(out, "; transfers take %s.",
		      tp_unit_percent((double)transfers->sent_ns / span).text);
}

static const struct tp_verdict_words *words_of(const struct tp_report *report)
{
	const struct tp_profile *profile = report->profile;
	if (profile->transfers.cause)
		return tp_verdict_words_find(profile->transfers.cause);
	if (is_of_devices(report))
		return tp_verdict_words_of_part(largest_part(profile), has_device_work(profile));
	return report->findings ? tp_verdict_words_find(report->findings->verdict_cause) : NULL;
}

const char *tp_report_verdict_id(const struct tp_report *report)
{
	if (is_of_devices(report) || report->profile->transfers.cause)
		return words_of(report)->id;
	return report->findings && report->findings->verdict ? report->findings->verdict : "none";
}

const char *tp_report_verdict_cause(const struct tp_report *report)
{
	const struct tp_verdict_words *words = words_of(report);
	return words ? words->cause : NULL;
}

const char *tp_report_verdict_title(const struct tp_report *report)
{
	if (is_of_devices(report) || report->profile->transfers.cause)
		return words_of(report)->title;
	bool has_verdict = report->findings && report->findings->verdict_title;
	return has_verdict ? report->findings->verdict_title : "No verdict";
}

static struct tp_unit_text share(const struct tp_profile *profile, enum tp_part part)
{
	return tp_unit_percent((double)profile->parts[part].time_ns / (double)profile->total_ns);
}

static void add_name(struct tp_buf *out, const struct tp_profile *profile, enum tp_part part)
{
	const char *of_device = has_device_work(profile) ? shares[part].of_device : NULL;
	tp_buf_puts(out, of_device ? of_device : shares[part].what);
}

/* Appends "71 % of each step; compute 8.4 %.", without the words of the title. */
static void add_shares(struct tp_buf *out, const struct tp_profile *profile, enum tp_part limit)
{
	tp_buf_printf(out, "%s of %s", share(profile, limit).text,
		      profile->is_of_steps ? "each step" : "the measured time");
	enum tp_part other = limit == TP_PART_COMPUTE ? profile->largest_loss : TP_PART_COMPUTE;
	if (other < TP_N_PARTS && profile->parts[other].time_ns) {
		tp_buf_puts(out, "; ");
		add_name(out, profile, other);
		tp_buf_printf(out, " %s", share(profile, other).text);
	}
	if (profile->is_idle_unknown && profile->parts[TP_PART_IDLE].time_ns)
		tp_buf_printf(out, "; unknown %s", share(profile, TP_PART_IDLE).text);
	tp_buf_putc(out, '.');
}

void tp_report_add_limit(struct tp_buf *out, const struct tp_profile *profile, enum tp_part limit)
{
	size_t start = out->len;
	add_name(out, profile, limit);
	out->data[start] = (char)toupper((unsigned char)out->data[start]);
	tp_buf_puts(out, " takes ");
	add_shares(out, profile, limit);
}

void tp_report_add_verdict(struct tp_buf *out, const struct tp_report *report)
{
	const struct tp_findings *findings = report->findings;
	if (is_of_devices(report)) {
		add_shares(out, report->profile, largest_part(report->profile));
	} else if (report->profile->transfers.span_ns) {
		add_transfers(out, &report->profile->transfers);
	} else if (findings && findings->verdict_title) {
		tp_buf_puts(out, findings->verdict_sentence ? findings->verdict_sentence : "");
		if (tp_report_capture_is_short(findings))
			add_capture_warning(out, report->profile);
	} else if (findings) {
		tp_buf_puts(out, "Too little was measured for any rule to judge.");
	} else {
		tp_buf_printf(out, "No rules were applied%s%s.",
			      report->no_findings_because ? ": " : "",
			      report->no_findings_because ? report->no_findings_because : "");
	}
}
