/* SPDX-License-Identifier: Apache-2.0 */
/* Names the lines of a Python program where the time is spent. */
#ifndef TRAINPROF_SRC_REPORT_DIGEST_SOURCE_LINES_H
#define TRAINPROF_SRC_REPORT_DIGEST_SOURCE_LINES_H

#include "digest.h"

/* Append "train.py:88 in main()". */
void tp_report_add_place(struct tp_buf *out, const struct tp_trace *trace,
			 const struct tp_line_result *line);

/* Append the one or two lines that hold most of the time, as many as fit into `columns` (0: all);
 * nothing if none holds a notable share: "Most time: train.py:88 in main(), 62 % of each step
 * (dataloader), mostly data.py:31 in load(); next :93, 30 % (compute)." */
void tp_report_add_top_lines(struct tp_buf *out, const struct tp_report_digest *digest,
			     size_t columns);

/* The same lines one by one, largest first: at most `most` into `out`, borrowed; returns how many.
 */
size_t tp_report_top_lines(const struct tp_line_result **out, size_t most,
			   const struct tp_profile *profile);
/* The same of the innermost lines of the user's own; those of the loop if none is notable. */
size_t tp_report_top_own_lines(const struct tp_line_result **out, size_t most,
			       const struct tp_profile *profile);
/* The line's share of the step or window, over all parts. */
double tp_report_line_share(const struct tp_profile *profile, const struct tp_line_result *line);
/* Append "62 %  train.py:88 in main(), dataloader, mostly data.py:7 in load()". */
void tp_report_add_line_share(struct tp_buf *out, const struct tp_profile *profile,
			      const struct tp_line_result *line);

/* Append "the loop in main() at train.py:88–95"; nothing if it is not known. */
void tp_report_add_loop(struct tp_buf *out, const struct tp_profile *profile);

/* The part of the step that a rule's evidence is about; TP_N_PARTS if it is about none. */
enum tp_part tp_report_evidence_part(const struct tp_finding *finding);

/* Append the place that a piece of advice is about, by the part of its evidence: "train.py:88 in
 * main() holds 62 % of each step (dataloader.prep)"; nothing if no line is known. */
void tp_report_add_evidence_line(struct tp_buf *out, const struct tp_profile *profile,
				 const struct tp_finding *finding);

#endif
