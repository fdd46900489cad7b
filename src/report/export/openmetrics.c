/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of the run as OpenMetrics text for a textfile collector, a push gateway or a CI
 * system. */
#include "formats.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/model/fact.h"

#include <inttypes.h>
#include <string.h>

/* A label's value: line breaks, quotes and backslashes are escaped. */
static void write_label(FILE *out, const char *text)
{
	struct tp_buf valid = {0};
	tp_text_add_safe(&valid, text);
	putc('"', out);
	for (const char *p = tp_buf_text(&valid); *p; p++) {
		if (*p == '\n')
			fputs("\\n", out);
		else if (*p == '"' || *p == '\\')
			fprintf(out, "\\%c", *p);
		else
			putc(*p, out);
	}
	putc('"', out);
	tp_buf_release(&valid);
}

static void write_head(FILE *out, const char *name, const char *help)
{
	fprintf(out, "# TYPE trainprof_%s gauge\n# HELP trainprof_%s ", name, name);
	for (const char *p = help; *p; p++) {
		if (*p == '\\' || *p == '"')
			putc('\\', out);
		putc(*p, out);
	}
	putc('\n', out);
}

/* Whole ns as seconds, without loss. */
static void write_seconds(FILE *out, uint64_t ns)
{
	fprintf(out, "%" PRIu64 ".%09u\n", ns / 1000000000U, (unsigned)(ns % 1000000000U));
}

static void write_parts(FILE *out, const struct tp_profile *profile)
{
	write_head(out, "part_seconds",
		   profile->is_of_steps ? "Time of a part over all steady steps."
					: "Time of a part in the judged window.");
	for (int part = 0; part < TP_N_PARTS && profile->total_ns; part++) {
		fprintf(out, "trainprof_part_seconds{part=\"%s\"} ",
			tp_part_name((enum tp_part)part));
		write_seconds(out, profile->parts[part].time_ns);
	}
	write_head(out, "part_ratio", "Share of a part in that time.");
	for (int part = 0; part < TP_N_PARTS && profile->total_ns; part++)
		if (profile->parts[part].share.is_known)
			fprintf(out, "trainprof_part_ratio{part=\"%s\"} %.9g\n",
				tp_part_name((enum tp_part)part), profile->parts[part].share.value);
}

static void write_steps(FILE *out, const struct tp_profile *profile)
{
	uint64_t n[TP_N_STEP_KINDS] = {0};
	for (size_t i = 0; i < profile->n_steps; i++)
		n[profile->steps[i].kind]++;
	write_head(out, "steps", "Steps that were found, by kind.");
	for (int kind = 0; kind < TP_N_STEP_KINDS && profile->n_steps; kind++)
		fprintf(out, "trainprof_steps{kind=\"%s\"} %" PRIu64 "\n",
			tp_step_kind_name((enum tp_step_kind)kind), n[kind]);
	if (profile->n_untraced)
		fprintf(out, "trainprof_steps{kind=\"untraced\"} %zu\n", profile->n_untraced);
	write_head(out, "step_seconds", "Time of a steady step.");
	if (!profile->step_time.n)
		return;
	const struct {
		const char *name;
		double ns;
	} rows[] = {{"mean", profile->step_time.mean},
		    {"median", profile->step_time.median},
		    {"p95", profile->step_time.p95},
		    {"p99", profile->step_time.p99}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		fprintf(out, "trainprof_step_seconds{of=\"%s\"} %.9g\n", rows[i].name,
			rows[i].ns / 1e9);
}

static void write_findings(FILE *out, const struct tp_findings *findings)
{
	write_head(out, "advice_speedup_ratio", "What a piece of advice could gain, at most.");
	for (size_t i = 0; i < findings->n_fired; i++) {
		const struct tp_finding *finding = &findings->items[i];
		if (!finding->has_gain)
			continue;
		fputs("trainprof_advice_speedup_ratio{rule=", out);
		write_label(out, finding->rule);
		fprintf(out, "} %.9g\n", finding->gain_high);
	}
}

/* Endings of fact names, and their replacements, because OpenMetrics spells out names of units. A
 * gauge must not end in "_count". */
static const struct {
	const char *ending;
	const char *name;
	double divisor;
} units[] = {
	{"_ns", "_seconds", 1e9}, {"_per_s", "_per_second", 1}, {"_hz", "_hertz", 1},
	{"_w", "_watts", 1},      {"_count", "_number", 1},     {"_j", "_joules", 1},
};

/* "step.time_ns" -> "fact_step_time_seconds", and the value in that unit. */
static double fact_name(char *out, size_t size, tp_fact_id fact, double value)
{
	snprintf(out, size, "fact_%s", tp_fact_desc(fact)->name);
	for (char *p = out; *p; p++)
		if (!((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9')))
			*p = '_';
	size_t len = strlen(out);
	for (size_t i = 0; i < TP_ARRAY_LEN(units); i++) {
		size_t n = strlen(units[i].ending);
		if (len > n && strcmp(out + len - n, units[i].ending) == 0) {
			snprintf(out + len - n, size - (len - n), "%s", units[i].name);
			return value / units[i].divisor;
		}
	}
	return value;
}

static void write_facts(FILE *out, const struct tp_profile *profile)
{
	for (tp_fact_id fact = 0; fact < tp_n_facts; fact++) {
		const struct tp_quantity *known = &profile->facts[fact];
		char name[128];
		if (!known->is_known)
			continue;
		double value = fact_name(name, sizeof(name), fact, known->value);
		write_head(out, name, tp_fact_desc(fact)->text);
		fprintf(out, "trainprof_%s %.12g\n", name, value);
	}
}

static enum tp_status openmetrics_write(const struct tp_report *report, FILE *out,
					struct tp_error *err)
{
	const struct tp_run_info *run = &report->profile->trace->run;
	write_head(out, "run_info", "Identifies the run.");
	fputs("trainprof_run_info{id=", out);
	write_label(out, run->id ? run->id : "");
	fputs(",label=", out);
	write_label(out, run->label ? run->label : "");
	if (report->findings && report->findings->verdict) {
		fputs(",verdict=", out);
		write_label(out, report->findings->verdict);
	}
	fputs("} 1\n", out);
	write_parts(out, report->profile);
	write_steps(out, report->profile);
	if (report->findings)
		write_findings(out, report->findings);
	write_facts(out, report->profile);
	fputs("# EOF\n", out);
	return tp_file_check(out, "the export", err);
}

const struct tp_export_format tp_export_openmetrics = {
	.name = "openmetrics",
	.ending = "prom",
	.summary = "figures as gauges",
	.opens = "Prometheus, node_exporter, GitLab",
	.write = openmetrics_write,
};
