/* SPDX-License-Identifier: Apache-2.0 */
/* A program whose GPU is traced in windows: steps of 100 ms, of which the device works 50, and
 * which are longer while they are traced. */
#ifndef TRAINPROF_TESTS_UNIT_ANALYZE_WINDOWSCENE_H
#define TRAINPROF_TESTS_UNIT_ANALYZE_WINDOWSCENE_H

#include "livescene.h"

#include "trainprof/base/clock.h"
#include "trainprof/model/fact_id.h"

struct windows {
	struct live live;
	unsigned n_steps;
	unsigned first;  /* step of the first window */
	unsigned each;   /* steps from one window to the next; 0 = only one window */
	unsigned length; /* steps in a window */
	unsigned step_ms;
	unsigned traced_ms;  /* length of a step in a window */
	unsigned warm_steps; /* number of first steps, some of them longer by warm_ms, or by six
				times that */
	unsigned warm_ms;
	unsigned open_ms; /* added to the first step of a window */
	unsigned
		busy_ms; /* device time per step in the first window; more_ms is added per window */
	unsigned more_ms;
	uint64_t end_ns; /* end of the scene */
};

static inline bool windows_is_traced(const struct windows *w, unsigned step)
{
	if (step < w->first)
		return false;
	unsigned into = w->each ? (step - w->first) % w->each : step - w->first;
	return into < w->length;
}

static inline void windows_put_step(struct windows *w, uint64_t at_ns, unsigned window)
{
	struct live *live = &w->live;
	uint64_t busy_ns = (w->busy_ms + window * w->more_ms) * MS;
	scene_detailed(&live->scene, live->thread, at_ns + MS, at_ns + 2 * MS, live->stream,
		       TP_SPAN_KERNEL, SCENE_GEMM, at_ns + 2 * MS, at_ns + 2 * MS + busy_ns, NULL);
}

static inline void windows_gap(struct windows *w, uint64_t from_ns, uint64_t to_ns)
{
	tp_sink_gap(&w->live.scene.builder.sink, "cupti", TP_GAP_BETWEEN_WINDOWS, from_ns, to_ns,
		    0);
}

/* Adds everything that was recorded; the caller may add more before windows_judge(). */
static inline void windows_fill(struct windows *w)
{
	struct tp_sink *sink = &w->live.scene.builder.sink;
	uint64_t at_ns = BEGIN;
	uint64_t shut_ns = 0;
	unsigned window = 0;
	bool was_traced = false;
	live_init(&w->live);
	for (unsigned i = 0; i < w->n_steps; i++) {
		bool is_traced = windows_is_traced(w, i);
		uint64_t length_ns = (is_traced ? w->traced_ms : w->step_ms) * MS;
		if (i < w->warm_steps)
			length_ns += (i % 7 ? i % 3 == 0 : 6) * w->warm_ms * MS;
		tp_sink_mark(sink, &(struct tp_mark){.kind = TP_MARK_STEP, .time_ns = at_ns});
		for (unsigned k = 1; k < 10; k++)
			live_sample(&w->live, at_ns + k * 10 * MS, w->live.trains);
		if (is_traced && !was_traced) {
			length_ns += w->open_ms * MS;
			if (shut_ns)
				windows_gap(w, shut_ns, at_ns);
		} else if (!is_traced && was_traced) {
			window++;
			shut_ns = at_ns;
		}
		if (is_traced)
			windows_put_step(w, at_ns, window);
		was_traced = is_traced;
		at_ns += length_ns;
	}
	live_run(&w->live, BEGIN, at_ns);
	w->end_ns = at_ns;
	w->live.scene.run.ended_ns = at_ns;
	if (!was_traced)
		windows_gap(w, shut_ns, at_ns);
}

static inline void windows_judge(struct windows *w)
{
	scene_judge(&w->live.scene);
}

static inline const struct tp_quantity *windows_fact(const struct windows *w, tp_fact_id fact)
{
	return &w->live.scene.profile.facts[fact];
}

/* Returns the value of a fact, which must be known. */
static inline double windows_known(const struct windows *w, tp_fact_id fact)
{
	const struct tp_quantity *found = windows_fact(w, fact);
	ck_assert_msg(found->is_known, "%s: %s", tp_fact_desc(fact)->name,
		      found->missing ? found->missing : "");
	return found->value;
}

static inline const char *windows_warning(const struct windows *w, const char *id)
{
	const struct tp_profile *profile = &w->live.scene.profile;
	for (size_t i = 0; i < profile->n_warnings; i++)
		if (strcmp(profile->warnings[i].id, id) == 0)
			return profile->warnings[i].text;
	return NULL;
}

#endif
