/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks folded into lines, "outermost;...;innermost ns", the input of scripts for flame graphs. */
#include "formats.h"

#include "stack_names.h"

#include "trainprof/base/file.h"

#include <inttypes.h>

/* A name must not contain the format's separator. */
static void write_name(FILE *out, const char *name)
{
	for (const char *p = name; *p; p++)
		putc(*p == ';' ? ':' : *p, out);
}

static enum tp_status collapsed_write(const struct tp_report *report, FILE *out,
				      struct tp_error *err)
{
	struct tp_export_weights weights;
	struct tp_export_names names;
	tp_export_weights_build(&weights, report->profile, false);
	tp_export_names_init(&names, report->profile);
	for (size_t i = 0; i < weights.n; i++) {
		tp_export_names_of(&names, &weights.items[i]);
		for (size_t k = 0; k < names.n; k++) {
			if (k)
				putc(';', out);
			write_name(out, tp_export_names_text(&names, names.ids[k]));
		}
		fprintf(out, " %" PRIu64 "\n", weights.items[i].time_ns);
	}
	tp_export_names_release(&names);
	tp_export_weights_release(&weights);
	return tp_file_check(out, "the export", err);
}

const struct tp_export_format tp_export_collapsed = {
	.name = "collapsed",
	.ending = "folded",
	.summary = "stacks, a line each, in ns",
	.opens = "flamegraph.pl, inferno, speedscope",
	.write = collapsed_write,
};
