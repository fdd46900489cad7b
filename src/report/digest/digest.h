/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about a report that several writers share: order and whole percents of the parts, sentences
 * about how the run ended. */
#ifndef TRAINPROF_SRC_REPORT_DIGEST_DIGEST_H
#define TRAINPROF_SRC_REPORT_DIGEST_DIGEST_H

#include "job.h"

#include "trainprof/base/buf.h"
#include "trainprof/report/report.h"
#include "trainprof/report/units.h"

struct tp_report_digest {
	const struct tp_report *report; /* borrowed, like all below */
	const struct tp_profile *profile;
	const struct tp_trace *trace;
	const struct tp_run_info *run;
	const char *program;            /* as it was typed */
	enum tp_part order[TP_N_PARTS]; /* shown parts, largest first */
	size_t n_shown;
	unsigned percent[TP_N_PARTS]; /* by part, as sentences round them */
	struct tp_report_job job;     /* all zero without devices */
	double divisor;               /* steps covered by the total; 1 without steps */
	double mean_ns;               /* mean of a step, or of the window */
	struct tp_unit_scale scale;
	uint64_t n_lost;
	size_t lines_each; /* maximum lines of one text of advice */
	size_t max_advice; /* maximum pieces of advice */
	size_t max_notes;  /* maximum sentences about devices */
	bool is_import;    /* the trace was written by another tool */
	bool has_devices;
	bool has_step_line;   /* print steps by kind and their times, if a line is free */
	bool is_judgeable;    /* the parts have a basis and are shown */
	bool is_footer_short; /* how it was measured takes fewest lines */
	bool is_hang;         /* the parts are shown as well, but no work was seen */
};

void tp_report_digest_make(struct tp_report_digest *out, const struct tp_report *report);

/* Append what was measured: "./train --epochs 1", "worker0.pt.trace.json.gz (kineto)". */
void tp_report_add_subject(struct tp_buf *out, const struct tp_report_digest *digest);
/* The level of detail of a run's extent, lower for lines with little room. */
enum tp_extent_detail {
	TP_EXTENT_STEPS,       /* "61.2 s, 984 steps" */
	TP_EXTENT_STEP_RATE,   /* "61.2 s, 984 steps, 19.8 steps/s" */
	TP_EXTENT_SAMPLE_RATE, /* "61.2 s, 984 steps, 19.8 steps/s (634 samples/s)" */
	TP_EXTENT_ALL,         /* with the number of processes */
};
void tp_report_add_extent(struct tp_buf *out, const struct tp_report_digest *digest,
			  enum tp_extent_detail detail);
/* Append "./train exited 0", "./train was killed by SIGSEGV". */
void tp_report_add_end(struct tp_buf *out, const struct tp_report_digest *digest);
/* Append "Not measured: CPU counters (none in this virtual machine); 4 rules unjudged", for imports
 * "Not seen: stacks"; nothing if all was measured and judged. */
void tp_report_add_missing(struct tp_buf *out, const struct tp_report_digest *digest,
			   bool with_reasons);
/* Append what was measured with less detail than requested, "switch records off above 20000/s per
 * CPU for 71 % of the run; 49.5 of 99 samples per second"; nothing if no detail was reduced. */
void tp_report_add_reduced(struct tp_buf *out, const struct tp_report_digest *digest);
/* Append "the program was stopped by a signal for 3.0 s"; nothing if no time was left out. */
void tp_report_add_stops(struct tp_buf *out, const struct tp_report_digest *digest);
/* Append "0.8 % (0.4–1.3)", or "unknown", and the cost of GPU tracing. */
void tp_report_add_overhead(struct tp_buf *out, const struct tp_report_digest *digest);
/* Append " and GPU tracing 1.2 %", how much slower the program's steps were by it: not CPU time of
 * trainprof, like the overhead; nothing if it is not known. */
void tp_report_add_tracing_cost(struct tp_buf *out, const struct tp_report_digest *digest);

/* Append which files a trace came from, how to identify them and which parts of them were not
 * kept. */
void tp_report_add_origin(struct tp_buf *out, const struct tp_report_digest *digest);

/* Append "; next limit: compute, 22 steps/s"; nothing if no limit is known. */
void tp_report_add_next_limit(struct tp_buf *out, const struct tp_findings *findings);

/* Writes "SIGSEGV" into `out` (at least 16 bytes) and returns `out`. */
const char *tp_report_signal_name(int number, char *out, size_t size);

/* Number of pieces of shown advice: items[0..n). 0 without findings. */
size_t tp_report_n_advice(const struct tp_report *report);

#endif
