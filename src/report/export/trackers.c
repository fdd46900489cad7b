/* SPDX-License-Identifier: Apache-2.0 */
/* Figures in the formats of experiment trackers: requests of MLflow's runs/log-batch, which holds
 * at most 1000 metrics; rows for wandb.log(). Nothing is sent. */
#include "formats.h"

#include "json_stream.h"

#include "trainprof/base/file.h"
#include "trainprof/model/fact.h"

#include <inttypes.h>

/* Limit of one request, from MLflow's REST documentation. */
enum { BATCH_METRICS = 1000 };

static bool is_whole(const struct tp_step *step)
{
	return step->kind != TP_STEP_CUT;
}

struct batches {
	FILE *out;
	size_t n; /* metrics in the open request */
	bool has_request;
};

static void begin_metric(struct batches *b)
{
	if (b->has_request && b->n < BATCH_METRICS) {
		fputs(",\n", b->out);
	} else {
		fputs(b->has_request ? "]},\n{\"metrics\":[\n" : "{\"metrics\":[\n", b->out);
		b->has_request = true;
		b->n = 0;
	}
	b->n++;
}

static void write_metric(struct batches *b, const char *name, const char *ending, double value,
			 uint64_t wall_ns, size_t step)
{
	begin_metric(b);
	fprintf(b->out,
		"{\"key\":\"trainprof/%s%s\",\"value\":%.12g,\"timestamp\":%" PRIu64
		",\"step\":%zu}",
		name, ending, value, wall_ns / 1000000U, step);
}

static void write_step_metrics(struct batches *b, const struct tp_profile *profile, size_t index)
{
	const struct tp_step *step = &profile->steps[index];
	uint64_t wall_ns = profile->trace->run.started_wall_ns + step->end_ns;
	write_metric(b, "step", "_seconds", (double)(step->end_ns - step->start_ns) / 1e9, wall_ns,
		     index + 1);
	for (int part = 0; part < TP_N_PARTS; part++)
		write_metric(b, tp_part_name((enum tp_part)part), "_seconds",
			     (double)step->part_ns[part] / 1e9, wall_ns, index + 1);
}

static enum tp_status write_requests(const struct tp_report *report, FILE *out,
				     struct tp_error *err)
{
	const struct tp_profile *profile = report->profile;
	struct batches b = {.out = out};
	putc('[', out);
	for (size_t i = 0; i < profile->n_steps; i++)
		if (is_whole(&profile->steps[i]))
			write_step_metrics(&b, profile, i);
	for (tp_fact_id fact = 0; fact < tp_n_facts; fact++)
		if (profile->facts[fact].is_known)
			write_metric(&b, tp_fact_desc(fact)->name, "", profile->facts[fact].value,
				     profile->trace->run.started_wall_ns, 0);
	fputs(b.has_request ? "]}]\n" : "]\n", out);
	return tp_file_check(out, "the export", err);
}

static void write_row(FILE *out, const struct tp_step *step, size_t number)
{
	fprintf(out, "{\"_step\":%zu,\"trainprof/kind\":\"%s\",\"trainprof/step_seconds\":%.12g",
		number, tp_step_kind_name(step->kind),
		(double)(step->end_ns - step->start_ns) / 1e9);
	for (int part = 0; part < TP_N_PARTS; part++)
		fprintf(out, ",\"trainprof/%s_seconds\":%.12g", tp_part_name((enum tp_part)part),
			(double)step->part_ns[part] / 1e9);
	putc('}', out);
}

static enum tp_status write_history(const struct tp_report *report, FILE *out, struct tp_error *err)
{
	const struct tp_profile *profile = report->profile;
	bool is_next = false;
	fputs("{\"history\":[", out);
	for (size_t i = 0; i < profile->n_steps; i++) {
		if (!is_whole(&profile->steps[i]))
			continue;
		fputs(is_next ? ",\n" : "\n", out);
		is_next = true;
		write_row(out, &profile->steps[i], i + 1);
	}
	fputs("],\n\"summary\":{", out);
	is_next = false;
	for (tp_fact_id fact = 0; fact < tp_n_facts; fact++) {
		if (!profile->facts[fact].is_known)
			continue;
		fprintf(out, "%s\"trainprof/%s\":%.12g", is_next ? ",\n" : "\n",
			tp_fact_desc(fact)->name, profile->facts[fact].value);
		is_next = true;
	}
	fputs("}}\n", out);
	return tp_file_check(out, "the export", err);
}

const struct tp_export_format tp_export_mlflow = {
	.name = "mlflow",
	.ending = "json",
	.summary = "requests for runs/log-batch",
	.opens = "MLflow",
	.write = write_requests,
};

const struct tp_export_format tp_export_wandb = {
	.name = "wandb",
	.ending = "json",
	.summary = "rows for wandb.log()",
	.opens = "Weights & Biases",
	.write = write_history,
};
