/* SPDX-License-Identifier: Apache-2.0 */
/* Describes the work of loading by the innermost functions that are known. */
#include "work_lines.h"

#include "source_lines.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/model/fact.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 8, N_LINES_NAMED = 3 };

/* minimum share of the work for a name to be shown */
static const double min_work_share = 0.03;
/* minimum share of a part's time that a named cause removes, to be the cause of that part */
static const double min_cause_share = 0.5;
/* minimum share of the step for loading to be the bottleneck, or for a part to need a cause */
static const double min_limit_share = 0.2;

struct name_time {
	const char *name;
	uint64_t ns;
};

static int by_time(const void *a, const void *b)
{
	const struct name_time *x = a;
	const struct name_time *y = b;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Sums that work by name; returns a heap array, sorted by time. */
static struct name_time *sum_names(const struct tp_profile *profile, enum tp_work_of of, size_t *n)
{
	struct name_time *names = tp_alloc((profile->n_works + 1) * sizeof(*names));
	*n = 0;
	for (size_t i = 0; i < profile->n_works; i++) {
		const struct tp_work_result *work = &profile->works[i];
		size_t at = 0;
		while (at < *n && strcmp(names[at].name, work->name) != 0)
			at++;
		if (work->of != of)
			continue;
		names[at].name = work->name;
		names[at].ns += work->time_ns;
		*n += at == *n;
	}
	qsort(names, *n, sizeof(*names), by_time);
	return names;
}

static double part_share(const struct tp_profile *profile, enum tp_part part)
{
	return profile->total_ns ? (double)profile->parts[part].time_ns / (double)profile->total_ns
				 : 0;
}

void tp_report_add_loading_work(struct tp_buf *out, const struct tp_report_digest *digest,
				size_t columns)
{
	const struct tp_profile *profile = digest->profile;
	bool is_slow = part_share(profile, TP_PART_DATALOADER) >= min_limit_share;
	bool is_loading = is_slow && profile->work_ns[TP_WORK_OF_LOADING];
	enum tp_work_of of = is_loading ? TP_WORK_OF_LOADING : TP_WORK_OF_TASKS;
	uint64_t all_ns = profile->work_ns[of];
	if (!digest->is_judgeable || !all_ns)
		return;
	/* Beside workers of tasks, "workers" would be ambiguous. */
	bool is_of_workers = !is_loading || (profile->n_workers && !profile->n_task_workers);
	size_t n;
	struct name_time *names = sum_names(profile, of, &n);
	size_t begin = out->len;
	tp_buf_puts(out, is_of_workers ? "Workers: " : "Loading: ");
	size_t shown = 0;
	for (size_t i = 0; i < n && shown < MAX_NAMES; i++) {
		double share = (double)names[i].ns / (double)all_ns;
		size_t len = out->len;
		if (share < min_work_share)
			break;
		tp_buf_printf(out, "%s%s %s", shown ? ", " : "", names[i].name,
			      tp_unit_percent(share).text);
		if (columns && shown && tp_text_width(out->data + begin) > columns) {
			out->data[len] = '\0';
			out->len = len;
			break;
		}
		shown++;
	}
	/* "other" alone is no information. */
	if (shown == 0 || (shown == 1 && strcmp(names[0].name, "other") == 0)) {
		out->data[begin] = '\0';
		out->len = begin;
	}
	free(names);
}

/* True if some advice has a cause for a part that takes `share`: an estimate names it (workers,
 * quota, settings), a bound names only the part. What the code does may concern another part. */
static bool has_cause(const struct tp_report *report, double share)
{
	size_t n = tp_report_n_advice(report);
	for (size_t i = 0; i < n; i++) {
		const struct tp_finding *finding = &report->findings->items[i];
		bool is_cause = finding->is_cause
					? 1 - 1 / finding->gain_high >= min_cause_share * share
					: tp_gain_is_estimate(finding->gain_low);
		if (is_cause || !finding->has_gain)
			return true;
	}
	return false;
}

void tp_report_add_unknown_cause(struct tp_buf *out, const struct tp_report_digest *digest,
				 size_t columns)
{
	const struct tp_profile *profile = digest->profile;
	const struct tp_line_result *lines[N_LINES_NAMED];
	double loading = part_share(profile, TP_PART_DATALOADER);
	double host = part_share(profile, TP_PART_HOST);
	double share = loading > host ? loading : host;
	if (!digest->is_judgeable || !digest->report->findings || share < min_limit_share ||
	    has_cause(digest->report, share))
		return;
	size_t n = tp_report_top_own_lines(lines, N_LINES_NAMED, profile);
	if (!n)
		return;
	size_t begin = out->len;
	tp_buf_puts(out, "Cause not recognised. Most time:");
	for (size_t i = 0; i < n; i++) {
		size_t len = out->len;
		tp_buf_printf(out, "%s %s:%u", i ? "," : "",
			      tp_text_base_name(tp_trace_string(profile->trace, lines[i]->file)),
			      lines[i]->line);
		tp_buf_printf(out, " %s",
			      tp_unit_percent(tp_report_line_share(profile, lines[i])).text);
		if (i && columns && tp_text_width(out->data + begin) >= columns) {
			out->data[len] = '\0';
			out->len = len;
			break;
		}
	}
	tp_buf_putc(out, '.');
}
