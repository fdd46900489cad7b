/* Writes lines of Python programs into the JSON report. */
#include "document.h"

/* Whole paths: what reads a document has no other way to tell two files of one name apart. */
static void write_line(struct tp_json_writer *w, const struct tp_profile *profile,
		       const struct tp_line_result *line)
{
	tp_json_open(w, '{');
	tp_json_put_string(w, "part", tp_part_name(line->part));
	tp_json_put_string(w, "label", tp_label_name(line->label));
	tp_json_put_string(w, "of", line->is_own ? "own" : "loop");
	tp_json_put_string(w, "file", tp_trace_string(profile->trace, line->file));
	tp_json_put_uint(w, "line", line->line);
	tp_json_put_string(w, "function", tp_trace_string(profile->trace, line->symbol));
	tp_json_put_uint(w, "time_ns", line->time_ns);
	tp_json_close(w, '}');
}

void tp_report_json_lines(struct tp_json_writer *w, const struct tp_profile *profile)
{
	if (!profile->n_lines)
		return;
	tp_json_write_key(w, "lines");
	tp_json_open(w, '[');
	for (size_t i = 0; i < profile->n_lines; i++)
		write_line(w, profile, &profile->lines[i]);
	tp_json_close(w, ']');
}

void tp_report_json_loop(struct tp_json_writer *w, const struct tp_profile *profile)
{
	const struct tp_source_loop *loop = &profile->loop;
	if (!loop->is_known)
		return;
	tp_json_write_key(w, "loop");
	tp_json_open(w, '{');
	tp_json_put_string(w, "file", tp_trace_string(profile->trace, loop->file));
	tp_json_put_string(w, "function", tp_trace_string(profile->trace, loop->symbol));
	if (loop->first_line) {
		tp_json_put_uint(w, "first_line", loop->first_line);
		tp_json_put_uint(w, "last_line", loop->last_line);
	}
	tp_json_close(w, '}');
}
