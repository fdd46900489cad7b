/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says what limits a run. Rules do, but for traces of devices: their parts are exact and small
 * numbers of steps are the rule, so what analysis calls the largest loss is named.
 */
#include "verdict.h"

#include "trainprof/report/units.h"

#include <stddef.h>
#include <string.h>

/* Words of rules/bottlenecks/run; `what` goes before "39 % of each step". */
static const struct {
	const char *id;
	const char *title;
	const char *what;
	const char *of_device; /* where devices work: what they do; NULL = the same */
} limits[TP_N_PARTS] = {
	[TP_PART_COMPUTE] = {"compute_bound", "COMPUTE-BOUND", "Compute takes", NULL},
	[TP_PART_COMMUNICATION] = {"communication_bound", "COMMUNICATION-BOUND",
				   "Communication takes", NULL},
	[TP_PART_MEMORY] = {"memory_bound", "MEMORY-BOUND", "Handling memory takes", NULL},
	[TP_PART_DATALOADER] = {"dataloader_bound", "DATALOADER-BOUND", "Waiting for data takes",
				NULL},
	[TP_PART_HOST] = {"host_bound", "HOST-BOUND", "Work around the math takes",
			  "Waiting for the host takes"},
	[TP_PART_IDLE] = {"idle_bound", "IDLE-BOUND", "The trainer stands still",
			  "Standing still takes"},
};

bool tp_report_capture_is_short(const struct tp_findings *findings)
{
	return findings && findings->verdict && strcmp(findings->verdict, "capture_lacks") == 0;
}

/* Devices speak for themselves, unless too much of what was recorded is not there, or was seen at
 * the start only. */
static bool is_of_devices(const struct tp_report *report)
{
	const struct tp_findings *findings = report->findings;
	bool is_doubted = findings && findings->verdict &&
			  (strcmp(findings->verdict, "records_lost") == 0 ||
			   strcmp(findings->verdict, "startup_only") == 0 ||
			   tp_report_capture_is_short(findings));
	return report->profile->n_devices && report->profile->total_ns && !is_doubted;
}

/* What analysis says of a capture that cannot be judged, and what to type. */
static void add_capture_warning(struct tp_buf *out, const struct tp_profile *profile)
{
	for (size_t i = 0; i < profile->n_warnings; i++) {
		const struct tp_warning *warning = &profile->warnings[i];
		bool is_lost = strcmp(warning->id, "device-side-lost") == 0;
		if (!is_lost && strcmp(warning->id, "unknown-maker") != 0)
			continue;
		tp_buf_printf(out, ": %s.", warning->text);
		if (is_lost && warning->remedy)
			tp_buf_printf(out, " Capture again: %s", warning->remedy);
	}
}

static enum tp_part limit_of(const struct tp_profile *profile)
{
	return profile->largest_loss < TP_N_PARTS ? profile->largest_loss : TP_PART_COMPUTE;
}

const char *tp_report_verdict_id(const struct tp_report *report)
{
	if (is_of_devices(report))
		return limits[limit_of(report->profile)].id;
	return report->findings && report->findings->verdict ? report->findings->verdict : "none";
}

const char *tp_report_verdict_title(const struct tp_report *report)
{
	if (is_of_devices(report))
		return limits[limit_of(report->profile)].title;
	bool has_verdict = report->findings && report->findings->verdict_title;
	return has_verdict ? report->findings->verdict_title : "No verdict";
}

static struct tp_unit_text share(const struct tp_profile *profile, enum tp_part part)
{
	return tp_unit_percent((double)profile->parts[part].time_ns / (double)profile->total_ns);
}

static bool has_device_work(const struct tp_profile *profile)
{
	for (size_t i = 0; i < profile->n_devices; i++)
		if (profile->devices[i].span_ns)
			return true;
	return false;
}

/* What a device does not do, it waits for; threads do work. */
static const char *limit_text(const struct tp_profile *profile, enum tp_part limit)
{
	bool is_waited_for = limits[limit].of_device && has_device_work(profile);
	return is_waited_for ? limits[limit].of_device : limits[limit].what;
}

void tp_report_add_limit(struct tp_buf *out, const struct tp_profile *profile, enum tp_part limit)
{
	tp_buf_printf(out, "%s %s of %s", limit_text(profile, limit), share(profile, limit).text,
		      profile->is_of_steps ? "each step" : "the time measured");
	if (limit != TP_PART_COMPUTE)
		tp_buf_printf(out, "; compute takes %s", share(profile, TP_PART_COMPUTE).text);
	tp_buf_putc(out, '.');
}

void tp_report_add_verdict(struct tp_buf *out, const struct tp_report *report)
{
	const struct tp_findings *findings = report->findings;
	if (is_of_devices(report)) {
		tp_report_add_limit(out, report->profile, limit_of(report->profile));
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
