/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the sections of --full about devices, kernels and ranks. */
#include "device_tables.h"

#include "report/digest/job_notes.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <stdlib.h>
#include <string.h>

enum {
	N_KERNELS_SHOWN = 20,
	N_COLLECTIVES_SHOWN = 10,
	COLUMN_PARTS = 10,
	COLUMN_OWN = 18,
	COLUMN_AFTER = 30,
	COLUMN_KERNEL = 41,
	NARROW_BELOW = 64,
};

/* Means of kernels also differ because of their sizes: a smaller slowdown is not reported. */
static const double NOTABLE_SLOWDOWN = 1.05;

/* "own     compute 57 %, …", wrapped to the right of its name. */
static void print_named(struct tp_page *page, const char *name, const struct tp_buf *text)
{
	if (!text->len)
		return;
	tp_page_addf(page, TP_PAINT_DIM, "    %s ", name);
	tp_page_column(page, COLUMN_PARTS + 2);
	tp_page_wrap(page, COLUMN_PARTS + 2, TP_PAINT_NONE, tp_buf_text(text), 0);
}

/* Prints text that ends before a column; printf() would count the "µ" of a unit as two columns. */
static void print_right(struct tp_page *page, size_t column, const char *text)
{
	size_t width = tp_text_width(text);
	tp_page_column(page, column > width ? column - width : 0);
	tp_page_add(page, TP_PAINT_NONE, text);
}

static double ratio(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* ---- the job ------------------------------------------------------------------------------- */

static void print_job_row(struct tp_page *page, const char *name, const uint64_t *own_ns,
			  uint64_t after_ns, uint64_t window_ns)
{
	tp_page_addf(page, TP_PAINT_NONE, "  %s ", name);
	tp_page_column(page, COLUMN_OWN);
	if (own_ns)
		tp_page_addf(page, TP_PAINT_NONE, "%8s",
			     tp_unit_percent(ratio(*own_ns, window_ns)).text);
	tp_page_column(page, COLUMN_AFTER);
	tp_page_addf(page, TP_PAINT_NONE, "%8s", tp_unit_percent(ratio(after_ns, window_ns)).text);
	tp_page_end(page);
}

/* Time that a rank waits for a late rank is attributed to the late rank. */
static void print_job(struct tp_page *page, const struct tp_report_digest *digest)
{
	const struct tp_report_job *job = &digest->job;
	if (job->n_ranks < 2)
		return;
	tp_page_add_section(page, "Ranks joined");
	if (digest->profile->not_joined) {
		tp_page_add(page, TP_PAINT_NONE, "  not joined: ");
		tp_page_wrap(page, 4, TP_PAINT_NONE, digest->profile->not_joined, 0);
		return;
	}
	tp_page_column(page, COLUMN_OWN);
	tp_page_add(page, TP_PAINT_DIM, "     own");
	tp_page_column(page, COLUMN_AFTER);
	tp_page_add(page, TP_PAINT_DIM, "   waits split by cause");
	tp_page_end(page);
	for (int p = 0; p < TP_N_PARTS; p++)
		if (job->own_ns[p] || job->after_ns[p])
			print_job_row(page, tp_part_name((enum tp_part)p), &job->own_ns[p],
				      job->after_ns[p], job->window_ns);
	if (job->not_captured_ns)
		print_job_row(page, tp_report_after_words(TP_N_PARTS), NULL, job->not_captured_ns,
			      job->window_ns);
}

/* ---- devices ------------------------------------------------------------------------------- */

void tp_report_add_shares(struct tp_buf *out, const uint64_t *times_ns, int n, uint64_t whole_ns,
			  const char *(*name_of)(int))
{
	size_t before = out->len;
	for (int i = 0; i < n; i++)
		if (times_ns[i])
			tp_buf_printf(out, "%s%s %s", out->len > before ? ", " : "", name_of(i),
				      tp_unit_percent(ratio(times_ns[i], whole_ns)).text);
}

static const char *gap_name(int cause)
{
	return tp_gap_cause_name((enum tp_gap_cause)cause);
}

static void print_device_title(struct tp_page *page, const struct tp_profile *profile, size_t index)
{
	const struct tp_device_result *device = &profile->devices[index];
	const struct tp_device_info *info = tp_report_device_info(profile, index);
	struct tp_buf text = {0};
	tp_report_add_device(&text, profile, index);
	tp_page_addf(page, TP_PAINT_NONE, "  %s", tp_buf_text(&text));
	if (info && info->name)
		tp_page_addf(page, TP_PAINT_NONE, ", %s", info->name);
	tp_buf_clear(&text);
	if (device->span_ns)
		tp_buf_printf(&text, "busy %s of %s",
			      tp_unit_percent(ratio(device->busy_ns, device->span_ns)).text,
			      tp_unit_time((double)device->span_ns).text);
	else
		tp_buf_puts(&text, "no device");
	tp_page_right(page, TP_PAINT_NONE, tp_buf_text(&text));
	tp_buf_release(&text);
}

static void add_ops(struct tp_buf *out, const struct tp_device_result *device)
{
	static const char *const nouns[TP_N_OP_CLASSES][2] = {{"compute kernel", "compute kernels"},
							      {"collective", "collectives"},
							      {"copy or fill", "copies and fills"}};
	for (int c = 0; c < TP_N_OP_CLASSES; c++)
		if (device->n_ops[c])
			tp_buf_printf(out, "%s%s %s %s", out->len ? ", " : "",
				      tp_unit_count(device->n_ops[c]).text,
				      nouns[c][device->n_ops[c] != 1],
				      tp_unit_time((double)device->union_ns[c]).text);
	if (device->n_unlinked)
		tp_buf_printf(out, ", %s without a known launch",
			      tp_unit_count(device->n_unlinked).text);
}

static void add_exposed(struct tp_buf *out, const struct tp_device_result *device)
{
	if (device->union_ns[TP_OP_COMMUNICATION])
		tp_buf_printf(out, "communication %s, beside compute %s",
			      tp_unit_time((double)device->exposed_communication_ns).text,
			      tp_unit_time((double)device->overlap_ns).text);
	if (device->union_ns[TP_OP_COPY])
		tp_buf_printf(out, "%scopies %s", out->len ? "; " : "",
			      tp_unit_time((double)device->exposed_copy_ns).text);
}

/* The median would need a sorted copy; the least, the mean and the most do not. */
static void add_steps(struct tp_buf *out, const struct tp_device_result *device)
{
	uint64_t least = UINT64_MAX;
	uint64_t most = 0;
	uint64_t sum = 0;
	for (uint64_t i = 0; i < device->n_steps; i++) {
		least = device->ops_per_step[i] < least ? device->ops_per_step[i] : least;
		most = device->ops_per_step[i] > most ? device->ops_per_step[i] : most;
		sum += device->step_ns[i];
	}
	if (!device->n_steps)
		return;
	tp_buf_printf(out, "%s of %s mean, %s", tp_unit_counted(device->n_steps, "step").text,
		      tp_unit_time((double)sum / (double)device->n_steps).text,
		      tp_unit_count(least).text);
	if (most > least)
		tp_buf_printf(out, " to %s", tp_unit_count(most).text);
	tp_buf_puts(out, " launches each");
}

/* Adds nothing for a device that is alone or not late. */
static void add_caused(struct tp_buf *out, const struct tp_device_result *device)
{
	if (device->wait_caused_ns)
		tp_buf_printf(out, "the others waited %s for it",
			      tp_unit_time((double)device->wait_caused_ns).text);
}

static bool has_moved_time(const struct tp_device_result *device)
{
	return memcmp(device->own_ns, device->after_ns, sizeof(device->own_ns)) != 0;
}

static void print_device(struct tp_page *page, const struct tp_profile *profile, size_t index)
{
	const struct tp_device_result *device = &profile->devices[index];
	uint64_t after[TP_N_PARTS + 1];
	struct tp_buf text = {0};
	print_device_title(page, profile, index);
	add_ops(&text, device);
	print_named(page, "work", &text);
	tp_buf_clear(&text);
	add_exposed(&text, device);
	print_named(page, "exposed", &text);
	tp_buf_clear(&text);
	tp_report_add_shares(&text, device->own_ns, TP_N_PARTS, device->window_ns,
			     tp_report_after_words);
	print_named(page, "own", &text);
	tp_buf_clear(&text);
	tp_report_after(device, after);
	if (has_moved_time(device))
		tp_report_add_shares(&text, after, TP_N_PARTS + 1, device->window_ns,
				     tp_report_after_words);
	print_named(page, "after", &text);
	tp_buf_clear(&text);
	tp_report_add_shares(&text, device->gap_ns, TP_N_GAP_CAUSES, device->window_ns, gap_name);
	print_named(page, "idle by", &text);
	tp_buf_clear(&text);
	add_steps(&text, device);
	print_named(page, "steps", &text);
	tp_buf_clear(&text);
	add_caused(&text, device);
	print_named(page, "late", &text);
	tp_buf_release(&text);
}

static void print_devices(struct tp_page *page, const struct tp_report_digest *digest)
{
	size_t n = digest->profile->n_devices;
	size_t *order = tp_alloc(n * sizeof(*order));
	tp_report_order_devices(order, digest->profile);
	tp_page_add_section(page, "Devices");
	for (size_t i = 0; i < n; i++)
		print_device(page, digest->profile, order[i]);
	free(order);
}

/* ---- kernels ------------------------------------------------------------------------------- */

static void print_kernel(struct tp_page *page, const struct tp_report_digest *digest,
			 const struct tp_kernel_result *kernel, uint64_t all_ns)
{
	bool is_narrow = page->style->width < NARROW_BELOW;
	print_right(page, 9, tp_unit_time((double)kernel->time_ns).text);
	print_right(page, 16, tp_unit_percent(ratio(kernel->time_ns, all_ns)).text);
	if (!is_narrow) {
		print_right(page, 25, tp_unit_count(kernel->n).text);
		tp_page_addf(page, TP_PAINT_NONE, "  %.13s", kernel->family);
	}
	tp_page_add(page, TP_PAINT_NONE, "  ");
	tp_page_column(page, is_narrow ? 0 : COLUMN_KERNEL);
	tp_page_add(page, TP_PAINT_NONE, tp_trace_string(digest->trace, kernel->name));
	tp_page_end(page);
	if (!kernel->overlapped_ns || kernel->slowdown < NOTABLE_SLOWDOWN)
		return;
	struct tp_buf text = {0};
	tp_buf_printf(&text, "%s of it beside communication, there %s as long",
		      tp_unit_percent(ratio(kernel->overlapped_ns, kernel->time_ns)).text,
		      tp_unit_factor(kernel->slowdown).text);
	tp_page_column(page, is_narrow ? 4 : COLUMN_KERNEL);
	tp_page_wrap(page, is_narrow ? 4 : COLUMN_KERNEL, TP_PAINT_DIM, tp_buf_text(&text), 2);
	tp_buf_release(&text);
}

static void print_kernels(struct tp_page *page, const struct tp_report_digest *digest)
{
	const struct tp_profile *profile = digest->profile;
	uint64_t all_ns = 0;
	if (!profile->n_kernels)
		return;
	for (size_t i = 0; i < profile->n_kernels; i++)
		all_ns += profile->kernels[i].time_ns;
	tp_page_add_section(page, "Kernels and copies (time, share, count, family, name)");
	for (size_t i = 0; i < profile->n_kernels && i < N_KERNELS_SHOWN; i++)
		print_kernel(page, digest, &profile->kernels[i], all_ns);
	if (profile->n_kernels > N_KERNELS_SHOWN) {
		tp_page_addf(page, TP_PAINT_DIM, "  and %zu more",
			     profile->n_kernels - N_KERNELS_SHOWN);
		tp_page_end(page);
	}
}

/* ---- ranks that wait for each other -------------------------------------------------------- */

uint64_t tp_report_collective_wait(const struct tp_profile *profile, size_t collective)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < profile->n_devices; i++)
		sum += profile->collectives[collective].wait_ns[i];
	return sum;
}

size_t tp_report_top_collectives(const struct tp_profile *profile, size_t *out, size_t most)
{
	size_t n = 0;
	for (size_t i = 0; i < profile->n_collectives; i++) {
		uint64_t wait_ns = tp_report_collective_wait(profile, i);
		size_t at = n < most ? n++ : most;
		for (; at && tp_report_collective_wait(profile, out[at - 1]) < wait_ns; at--)
			if (at < most)
				out[at] = out[at - 1];
		if (at < most)
			out[at] = i;
	}
	return n;
}

static void print_collective(struct tp_page *page, const struct tp_report_digest *digest,
			     size_t index)
{
	const struct tp_collective_result *collective = &digest->profile->collectives[index];
	const char *name = tp_trace_string(digest->trace, collective->name);
	const char *group = tp_trace_string(digest->trace, collective->group);
	uint64_t wait_ns = tp_report_collective_wait(digest->profile, index);
	struct tp_buf text = {0};
	tp_report_add_device(&text, digest->profile, collective->late);
	tp_buf_printf(&text, " came %s after the first of %u, all waited %s; ",
		      tp_unit_time((double)collective->arrival_spread_ns).text,
		      collective->n_members, tp_unit_time((double)wait_ns).text);
	tp_buf_printf(&text, "transfer %s; ", tp_unit_time((double)collective->transfer_ns).text);
	/* Without parameters, which are the same for all. */
	tp_buf_add(&text, name, strcspn(name, "("));
	if (*group)
		tp_buf_printf(&text, ", group %s", group);
	tp_page_column(page, 2);
	tp_page_wrap(page, 4, TP_PAINT_NONE, tp_buf_text(&text), 3);
	tp_buf_release(&text);
}

static void print_collectives(struct tp_page *page, const struct tp_report_digest *digest)
{
	size_t worst[N_COLLECTIVES_SHOWN];
	size_t n = tp_report_top_collectives(digest->profile, worst, N_COLLECTIVES_SHOWN);
	if (!n)
		return;
	tp_page_end(page);
	tp_page_addf(page, TP_PAINT_BOLD, "Collectives with the longest waits, %zu of %zu", n,
		     digest->profile->n_collectives);
	tp_page_end(page);
	for (size_t i = 0; i < n; i++)
		print_collective(page, digest, worst[i]);
}

static void print_blamed(struct tp_page *page, const struct tp_report_digest *digest, size_t device)
{
	const struct tp_profile *profile = digest->profile;
	uint64_t total_ns = 0;
	struct tp_buf text = {0};
	for (size_t i = 0; i < profile->n_blames; i++) {
		const struct tp_blame_result *blame = &profile->blames[i];
		if (blame->device != device)
			continue;
		total_ns += blame->time_ns;
		tp_buf_printf(&text, "%s%s.%s %s", text.len ? ", " : "",
			      tp_part_name(tp_label_part(blame->label)),
			      tp_label_name(blame->label),
			      tp_unit_time((double)blame->time_ns).text);
	}
	struct tp_buf name = {0};
	tp_report_add_device(&name, profile, device);
	tp_page_addf(page, TP_PAINT_NONE, "  %s  %s  ", tp_buf_text(&name),
		     tp_unit_time((double)total_ns).text);
	tp_page_wrap(page, 4, TP_PAINT_NONE, tp_buf_text(&text), 0);
	tp_buf_release(&name);
	tp_buf_release(&text);
}

/* True for the first row of a device. Rows are sorted by time, so devices come in the order of
 * their largest row. */
static bool is_first_blame(const struct tp_profile *profile, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (profile->blames[i].device == profile->blames[index].device)
			return false;
	return true;
}

static void print_blames(struct tp_page *page, const struct tp_report_digest *digest)
{
	if (!digest->profile->n_blames)
		return;
	tp_page_add_section(page, "Which rank made others wait, and what it did meanwhile");
	for (size_t i = 0; i < digest->profile->n_blames; i++)
		if (is_first_blame(digest->profile, i))
			print_blamed(page, digest, digest->profile->blames[i].device);
}

void tp_report_device_tables(struct tp_page *page, const struct tp_report_digest *digest)
{
	if (!digest->has_devices)
		return;
	print_job(page, digest);
	print_devices(page, digest);
	print_kernels(page, digest);
	print_collectives(page, digest);
	print_blames(page, digest);
}

/* ---- files --------------------------------------------------------------------------------- */

/* The sums of the tool that wrote the file beside those of what was read. */
static void add_maker_sums(struct tp_buf *out, const struct tp_rank_info *rank)
{
	const struct {
		const char *name;
		uint64_t written_ns;
		uint64_t read_ns;
	} rows[] = {
		{"computing", rank->maker_computing_ns, rank->read_computing_ns},
		{"communication", rank->maker_communication_ns, rank->read_communication_ns},
		{"not overlapped", rank->maker_exposed_ns, rank->read_exposed_ns},
	};
	bool is_first = true;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!rows[i].written_ns)
			continue;
		tp_buf_printf(out, "%s%s %s (%s)", is_first ? "; its own sums (ours): " : ", ",
			      rows[i].name, tp_unit_time((double)rows[i].written_ns).text,
			      tp_unit_time((double)rows[i].read_ns).text);
		is_first = false;
	}
}

void tp_report_add_kept(struct tp_buf *out, const struct tp_rank_info *rank)
{
	tp_buf_printf(out, "%s, %s kept", tp_unit_counted(rank->n_events, "event").text,
		      tp_unit_count(rank->n_kept).text);
	if (rank->n_skipped)
		tp_buf_printf(out, ", %s malformed", tp_unit_count(rank->n_skipped).text);
	if (rank->n_skipped && rank->skipped_because)
		tp_buf_printf(out, " (%s)", rank->skipped_because);
	if (rank->is_cut)
		tp_buf_puts(out, ", cut at its end");
	add_maker_sums(out, rank);
}

static void print_file(struct tp_page *page, const struct tp_run_info *run, size_t index)
{
	const struct tp_rank_info *rank = &run->ranks[index];
	struct tp_buf text = {0};
	if (!index || !tp_report_is_same_file(rank, rank - 1)) {
		tp_buf_printf(&text, "%s (%s)", tp_report_known(rank->path),
			      tp_report_known(rank->format));
		tp_page_column(page, 2);
		tp_page_wrap(page, 4, TP_PAINT_NONE, tp_buf_text(&text), 0);
		tp_page_column(page, 4);
		tp_page_add(page, TP_PAINT_DIM, "SHA-256 ");
		tp_page_wrap(page, 4, TP_PAINT_NONE, tp_report_known(rank->sha256), 0);
	}
	tp_buf_clear(&text);
	tp_buf_printf(&text, "rank %lld", (long long)tp_report_rank_number(run, (uint32_t)index));
	if (rank->n_ranks)
		tp_buf_printf(&text, " of %u", rank->n_ranks);
	if (rank->member)
		tp_buf_printf(&text, ", %s", rank->member);
	tp_buf_puts(&text, ": ");
	tp_report_add_kept(&text, rank);
	tp_page_column(page, 4);
	tp_page_wrap(page, 6, TP_PAINT_NONE, tp_buf_text(&text), 0);
	tp_buf_release(&text);
}

void tp_report_file_table(struct tp_page *page, const struct tp_report_digest *digest)
{
	if (!digest->run->n_ranks)
		return;
	tp_page_add_section(page, "Files");
	for (size_t i = 0; i < digest->run->n_ranks; i++)
		print_file(page, digest->run, i);
}
