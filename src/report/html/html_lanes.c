/* SPDX-License-Identifier: Apache-2.0 */
/* A typical step and the slowest one: the activity of each thread and device from begin to end. */
#include "html.h"

#include "report/export/thread_walk.h"
#include "report/export/weights.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>

enum { LANE_WIDTH = 10000, MAX_LANES = 24 };

/* Colours of a lane: those of parts, then a running thread, one without a CPU, a blocked one. */
enum { CLASS_RUNNING = TP_N_PARTS, CLASS_RUNNABLE, CLASS_BLOCKED, N_CLASSES };

struct html_lane {
	const struct tp_profile *profile;
	uint64_t start_ns;
	uint64_t end_ns;
	struct tp_buf paths[N_CLASSES];
	unsigned drawn_to[N_CLASSES];
	uint64_t known_ns;
};

static void add_interval(struct html_lane *lane, int class, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t from = from_ns > lane->start_ns ? from_ns : lane->start_ns;
	uint64_t to = to_ns < lane->end_ns ? to_ns : lane->end_ns;
	if (to <= from)
		return;
	double scale = (double)LANE_WIDTH / (double)(lane->end_ns - lane->start_ns);
	unsigned left = (unsigned)((double)(from - lane->start_ns) * scale);
	unsigned right = (unsigned)((double)(to - lane->start_ns) * scale + 0.5);
	lane->known_ns += to - from;
	/* Pieces narrower than a line are drawn once for all that fall on it. */
	if (right <= lane->drawn_to[class] && lane->paths[class].len)
		return;
	right = right > left ? right : left + 1;
	lane->drawn_to[class] = right;
	tp_buf_printf(&lane->paths[class], "M%u 0h%uv1h-%uz", left, right - left, right - left);
}

static void add_segment(void *context, const struct tp_export_piece *piece)
{
	static const int classes[TP_N_STATES] = {CLASS_RUNNING, CLASS_RUNNABLE, CLASS_BLOCKED};
	int class = piece->label != TP_N_LABELS ? (int)tp_label_part(piece->label)
						: classes[piece->state];
	add_interval(context, class, piece->start_ns, piece->end_ns);
}

/* Adds nothing for an empty lane. */
static bool flush_lane(struct tp_buf *out, struct html_lane *lane, struct tp_buf *name)
{
	bool is_known = lane->known_ns > 0;
	if (is_known) {
		tp_buf_puts(out, "<div class=\"lane\"><span>");
		tp_html_add_text(out, tp_buf_text(name));
		tp_buf_printf(out,
			      "</span><svg viewBox=\"0 0 %d 1\" preserveAspectRatio=\"none\" "
			      "aria-hidden=\"true\">",
			      LANE_WIDTH);
		for (int class = 0; class < N_CLASSES; class ++)
			if (lane->paths[class].len)
				tp_buf_printf(out, "<path class=\"p%d\" d=\"%s\"/>", class,
					      tp_buf_text(&lane->paths[class]));
		tp_buf_puts(out, "</svg></div>\n");
	}
	for (int class = 0; class < N_CLASSES; class ++)
		tp_buf_release(&lane->paths[class]);
	tp_buf_release(name);
	return is_known;
}

static struct html_lane begin_lane(const struct tp_profile *profile, const struct tp_step *step)
{
	return (struct html_lane){.profile = profile,
				  .start_ns = step->start_ns,
				  .end_ns = step->end_ns};
}

static bool add_thread(struct tp_buf *out, const struct tp_profile *profile,
		       const struct tp_step *step, uint32_t task)
{
	const struct tp_export_weight weight = {.task = task};
	struct html_lane lane = begin_lane(profile, step);
	struct tp_buf name = {0};
	tp_export_walk_thread(profile, task, add_segment, &lane);
	tp_export_add_thread(&name, profile, &weight);
	return flush_lane(out, &lane, &name);
}

static bool add_device(struct tp_buf *out, const struct tp_profile *profile,
		       const struct tp_step *step, uint32_t index)
{
	const struct tp_export_weight weight = {.task = TP_NO_TASK, .device = index};
	const struct tp_device_result *device = &profile->devices[index];
	struct html_lane lane = begin_lane(profile, step);
	struct tp_buf name = {0};
	for (size_t i = 0; i < device->n_pieces; i++)
		add_interval(&lane, (int)tp_label_part(device->pieces[i].label),
			     device->pieces[i].start_ns, device->pieces[i].end_ns);
	tp_export_add_process(&name, profile, &weight);
	tp_buf_puts(&name, ", ");
	tp_export_add_thread(&name, profile, &weight);
	return flush_lane(out, &lane, &name);
}

/* Threads that train and threads that make batches come first. */
static size_t add_threads(struct tp_buf *out, const struct tp_profile *profile,
			  const struct tp_step *step, size_t n)
{
	static const enum tp_thread_role order[] = {TP_THREAD_LOADER, TP_THREAD_COMM,
						    TP_THREAD_TEAM};
	if (profile->main_task != TP_NO_TASK)
		n += add_thread(out, profile, step, profile->main_task);
	for (size_t k = 0; k < TP_ARRAY_LEN(order); k++)
		for (size_t i = 0; i < profile->n_threads && n < MAX_LANES; i++)
			if (profile->threads[i].role == order[k])
				n += add_thread(out, profile, step, profile->threads[i].task);
	return n;
}

static void add_step(struct tp_buf *out, const struct tp_profile *profile, size_t index,
		     const char *what)
{
	const struct tp_step *step = &profile->steps[index];
	size_t n = 0;
	tp_buf_printf(out, "<h3>%s: step %zu, %s, %s</h3>\n<div class=\"lanes\">", what, index + 1,
		      tp_step_kind_text(step->kind),
		      tp_unit_time((double)(step->end_ns - step->start_ns)).text);
	for (uint32_t i = 0; i < profile->n_devices && n < MAX_LANES; i++)
		n += add_device(out, profile, step, i);
	if (profile->timelines)
		add_threads(out, profile, step, n);
	tp_buf_puts(out, "</div>\n");
}

static uint64_t length_of(const struct tp_step *step)
{
	return step->end_ns - step->start_ns;
}

/* The steady step whose time is nearest to the median. */
static size_t find_typical(const struct tp_profile *profile)
{
	size_t best = profile->n_steps;
	double best_ns = 0;
	for (size_t i = 0; i < profile->n_steps; i++) {
		double off_ns = (double)length_of(&profile->steps[i]) - profile->step_time.median;
		off_ns = off_ns < 0 ? -off_ns : off_ns;
		if (profile->steps[i].kind != TP_STEP_STEADY)
			continue;
		if (best == profile->n_steps || off_ns < best_ns) {
			best = i;
			best_ns = off_ns;
		}
	}
	return best;
}

/* The longest step, except those at the start and those cut by an end of the recording. */
static size_t find_longest(const struct tp_profile *profile, size_t typical)
{
	size_t worst = typical;
	for (size_t i = 0; i < profile->n_steps; i++) {
		const struct tp_step *step = &profile->steps[i];
		if (step->kind != TP_STEP_CUT && step->kind != TP_STEP_WARMUP &&
		    length_of(step) > length_of(&profile->steps[worst]))
			worst = i;
	}
	return worst;
}

void tp_html_add_lanes(struct tp_buf *out, const struct tp_report_digest *digest)
{
	const struct tp_profile *profile = digest->profile;
	size_t typical = find_typical(profile);
	if (typical == profile->n_steps || (!profile->timelines && !profile->n_devices))
		return;
	size_t worst = find_longest(profile, typical);
	tp_html_begin_section(out, "lanes", "A typical step and the worst one");
	add_step(out, profile, typical, "Typical");
	if (worst != typical)
		add_step(out, profile, worst, "Worst");
	tp_buf_printf(out,
		      "<ul class=\"legend\"><li><span class=\"key p%d\"></span>on a CPU</li>"
		      "<li><span class=\"key p%d\"></span>waits for a CPU</li>"
		      "<li><span class=\"key p%d\"></span>waits</li></ul></section>\n",
		      CLASS_RUNNING, CLASS_RUNNABLE, CLASS_BLOCKED);
}
