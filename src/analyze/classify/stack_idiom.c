/* SPDX-License-Identifier: Apache-2.0 */
/* Matches idioms against stacks. Names are matched once per function. Then each stack is walked
 * from its innermost frame outwards; each variant advances when its next frame is found. If several
 * variants match, the most specific one wins. */
#include "stack_idiom.h"

#include "idiom_line.h"
#include "pattern_tables.h"
#include "source_text.h"

#include "trainprof/base/cxx_name.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME = 512, MAX_OWN = 16 };

/* The patterns that match a frame. */
struct hit_list {
	uint32_t at; /* index in the pool */
	uint32_t n;
};

/* Degrees to which the user's line fits the code of a variant. */
enum line_fit {
	LINE_FITS_NOT,
	LINE_FITS,
	LINE_FITS_AMONG_CALLS, /* some of the line's time may be that of other calls */
};

struct matcher {
	const struct tp_idiom_patterns *rows;
	const struct tp_trace *trace;
	struct tp_source_text source;
	struct hit_list *by_frame; /* heap, by frame */
	uint16_t *pool;            /* heap; indices of globs */
	size_t n_pool;
	size_t pool_capacity;
	struct tp_map by_file; /* place and string -> list in the pool */
	struct tp_map by_name; /* place, file and function -> frame that has the list */
	uint16_t *progress;    /* heap, by variant */
	uint16_t *touched;     /* heap; variants with progress, or forbidden */
	size_t n_touched;
	bool *is_touched;
	bool *is_forbidden;
	struct tp_map by_mention; /* variant and path -> whether the file contains the text */
	struct tp_map by_line;    /* frame of user code -> first of n_ways in line_fits */
	uint8_t *line_fits;       /* heap; enum line_fit */
	size_t n_fits;
	size_t fits_capacity;
};

/* ---- patterns that match a frame ---- */

static struct hit_list hits_of_place(struct matcher *m, const struct tp_glob_subject *subject,
				     uint32_t string)
{
	uint64_t key = (uint64_t)subject->place << 32 | string;
	uint64_t packed;
	if (tp_map_get(&m->by_file, key, &packed))
		return (struct hit_list){(uint32_t)(packed >> 32), (uint32_t)packed};
	char where[MAX_NAME];
	struct hit_list list = {.at = (uint32_t)m->n_pool};
	tp_pattern_lower(where, sizeof(where), subject->where);
	for (size_t i = 0; i < m->rows->n_globs; i++) {
		if (!tp_frame_glob_fits_file(&m->rows->globs[i].frame, subject->place, where))
			continue;
		TP_ARRAY_PUSH(m->pool, m->n_pool, m->pool_capacity) = (uint16_t)i;
		list.n++;
	}
	tp_map_set(&m->by_file, key, (uint64_t)list.at << 32 | list.n);
	return list;
}

static struct hit_list match_frame(struct matcher *m, uint32_t id, bool is_own)
{
	const struct tp_frame *frame = &m->trace->frames[id];
	struct tp_glob_subject subject = tp_glob_subject_of(m->trace, frame, is_own);
	struct hit_list list = {0};
	/* Stripped libraries have functions without names, which only their library tells apart. */
	bool is_nameless = !subject.function[0] && subject.place != TP_GLOB_NATIVE;
	if (subject.place == TP_N_GLOB_PLACES || is_nameless)
		return list;
	uint32_t string = subject.place == TP_GLOB_NATIVE    ? frame->module
			  : subject.place == TP_GLOB_LIBRARY ? frame->file
							     : 0;
	uint64_t key = tp_hash_mix((uint64_t)string << 32 | frame->symbol, subject.place);
	uint64_t twin;
	if (tp_map_get(&m->by_name, key, &twin))
		return m->by_frame[twin];
	struct hit_list near = hits_of_place(m, &subject, string);
	char plain[MAX_NAME];
	char function[MAX_NAME];
	bool is_cxx = near.n && subject.place == TP_GLOB_NATIVE &&
		      tp_cxx_name_demangle(plain, sizeof(plain), subject.function);
	tp_pattern_lower(function, sizeof(function), is_cxx ? plain : subject.function);
	list.at = (uint32_t)m->n_pool;
	for (uint32_t i = 0; i < near.n; i++) {
		assert(m->pool && near.at + i < m->n_pool);
		uint16_t glob = m->pool[near.at + i];
		if (!tp_frame_glob_fits_function(&m->rows->globs[glob].frame, function))
			continue;
		TP_ARRAY_PUSH(m->pool, m->n_pool, m->pool_capacity) = glob;
		list.n++;
	}
	tp_map_set(&m->by_name, key, id);
	return list;
}

/* ---- one stack ---- */

struct stack_walk {
	uint16_t work;
	bool has_python;       /* a Python function is further in than the frame */
	bool has_library;      /* a Python library function is further in than the user's line */
	uint32_t own[MAX_OWN]; /* frames: lines of user code, from the innermost out */
	size_t n_own;
};

static void touch(struct matcher *m, uint16_t way)
{
	if (!m->is_touched[way])
		m->touched[m->n_touched++] = way;
	m->is_touched[way] = true;
}

/* Later positions first, because one frame matches only one pattern of a variant. The globs of a
 * variant are stored in order. */
static void advance(struct matcher *m, struct stack_walk *walk, struct hit_list list)
{
	assert(m->pool || !list.n);
	for (uint32_t i = list.n; i-- > 0;) {
		const struct tp_idiom_glob *glob = &m->rows->globs[m->pool[list.at + i]];
		if (glob->use == TP_IDIOM_GLOB_WORK ||
		    (glob->use == TP_IDIOM_GLOB_NOT_CALLER && walk->has_python))
			continue;
		if (glob->use != TP_IDIOM_GLOB_STACK) {
			touch(m, glob->owner);
			m->is_forbidden[glob->owner] = true;
		} else if (m->progress[glob->owner] == glob->position) {
			touch(m, glob->owner);
			m->progress[glob->owner]++;
		}
	}
	for (uint32_t i = 0; walk->work == TP_NO_IDIOM && i < list.n; i++) {
		const struct tp_idiom_glob *glob = &m->rows->globs[m->pool[list.at + i]];
		if (glob->use == TP_IDIOM_GLOB_WORK)
			walk->work = glob->owner;
	}
}

static bool file_holds(struct matcher *m, uint32_t path, size_t way)
{
	const char **texts = m->rows->ways[way].mentions;
	uint64_t holds = !texts;
	uint64_t key = (uint64_t)way << 32 | path;
	if (!texts || tp_map_get(&m->by_mention, key, &holds))
		return holds;
	for (; *texts && !holds; texts++)
		holds = tp_source_text_holds(&m->source, path, *texts);
	tp_map_set(&m->by_mention, key, holds);
	return holds;
}

static bool fits_loop(struct matcher *m, const struct tp_frame *frame,
		      const struct tp_idiom_way *way)
{
	struct tp_source_text *source = &m->source;
	if (way->is_in_loop && !tp_source_text_is_in_loop(source, frame->file, frame->line))
		return false;
	if (way->is_by_index && !tp_source_text_is_by_index(source, frame->file, frame->line))
		return false;
	return !way->is_poll || tp_source_text_is_poll(source, frame->file, frame->line);
}

/* `text` is the line as it is written, `code` the same in small letters. */
static enum line_fit fit_of_line(struct matcher *m, const struct tp_frame *frame, const char *text,
				 const char *code, size_t index)
{
	const struct tp_idiom_way *way = &m->rows->ways[index];
	bool fits = tp_idiom_line_fits(way, text, code);
	if (!fits || (way->is_growth && !tp_idiom_line_is_growth(code)) ||
	    !file_holds(m, frame->file, index) || !fits_loop(m, frame, way))
		return LINE_FITS_NOT;
	return way->code && way->is_direct && tp_idiom_line_has_others(way, code)
		       ? LINE_FITS_AMONG_CALLS
		       : LINE_FITS;
}

static const uint8_t *fits_of_line(struct matcher *m, uint32_t own)
{
	uint64_t at;
	if (tp_map_get(&m->by_line, own, &at))
		return m->line_fits + at;
	const struct tp_frame *frame = &m->trace->frames[own];
	char code[MAX_NAME];
	const char *text = tp_source_text_line(&m->source, frame->file, frame->line);
	tp_pattern_lower(code, sizeof(code), text);
	at = m->n_fits;
	for (size_t way = 0; way < m->rows->n_ways; way++)
		TP_ARRAY_PUSH(m->line_fits, m->n_fits, m->fits_capacity) =
			(uint8_t)fit_of_line(m, frame, text, code, way);
	tp_map_set(&m->by_line, own, at);
	return m->line_fits + at;
}

static bool is_better(const struct tp_idiom_patterns *rows, size_t way, size_t than)
{
	return than == rows->n_ways || rows->ways[way].n_literal > rows->ways[than].n_literal;
}

/* The innermost line of user code has to fit, or one of those that called it. Sets *place to it. */
static enum line_fit fit_on_stack(struct matcher *m, const struct stack_walk *walk, size_t index,
				  uint32_t *place)
{
	const struct tp_idiom_way *way = &m->rows->ways[index];
	size_t n = way->is_caller ? walk->n_own : walk->n_own > 0;
	if (way->is_direct && walk->has_library)
		return LINE_FITS_NOT;
	for (size_t i = way->is_caller; i < n; i++) {
		enum line_fit fit = (enum line_fit)fits_of_line(m, walk->own[i])[index];
		*place = walk->own[i];
		if (fit != LINE_FITS_NOT)
			return fit;
	}
	return LINE_FITS_NOT;
}

static void set_idiom(struct matcher *m, const struct stack_walk *walk,
		      struct tp_stack_reading *reading)
{
	const struct tp_idiom_patterns *rows = m->rows;
	enum line_fit best_fit = LINE_FITS;
	size_t best = rows->n_ways;
	for (size_t i = 0; i < rows->n_ways; i++) {
		const struct tp_idiom_way *way = &rows->ways[i];
		if (m->progress[i] < way->n_frames || m->is_forbidden[i] ||
		    rows->idioms[way->idiom].is_replaced)
			continue;
		bool reads_source = way->code || way->mentions || way->is_in_loop ||
				    way->is_by_index || way->is_poll;
		uint32_t place = reading->own;
		enum line_fit fit = reads_source ? fit_on_stack(m, walk, i, &place) : LINE_FITS;
		if (fit == LINE_FITS_NOT || !is_better(rows, i, best))
			continue;
		best = i;
		best_fit = fit;
		reading->place = place;
	}
	if (best == rows->n_ways)
		return;
	reading->idiom = rows->ways[best].idiom;
	reading->is_shared = best_fit == LINE_FITS_AMONG_CALLS;
}

static void reset_ways(struct matcher *m)
{
	for (size_t i = 0; i < m->n_touched; i++) {
		m->progress[m->touched[i]] = 0;
		m->is_touched[m->touched[i]] = false;
		m->is_forbidden[m->touched[i]] = false;
	}
	m->n_touched = 0;
}

static struct tp_stack_reading read_stack(struct matcher *m, const struct tp_stack *stack,
					  const uint8_t *flags)
{
	struct tp_stack_reading reading = {.idiom = TP_NO_IDIOM, .work = TP_NO_IDIOM};
	struct stack_walk walk = {.work = TP_NO_IDIOM};
	for (uint32_t i = 0; i < stack->n_frames; i++) {
		uint32_t id = stack->frames[i];
		const struct tp_frame *frame = &m->trace->frames[id];
		bool is_python = frame->kind == TP_FRAME_PYTHON;
		bool is_own = is_python && frame->line && flags[id] & TP_FRAME_IS_OWN;
		if (is_own && !reading.own)
			reading.own = reading.place = id;
		if (is_own && walk.n_own < MAX_OWN)
			walk.own[walk.n_own++] = id;
		walk.has_library |= is_python && !reading.own;
		advance(m, &walk, m->by_frame[id]);
		walk.has_python |= is_python;
		/* Outer frames of a forked process belong to its parent. */
		if (flags[id] & TP_FRAME_IS_ENTRY)
			break;
	}
	reading.work = walk.work;
	set_idiom(m, &walk, &reading);
	reset_ways(m);
	return reading;
}

static void matcher_open(struct matcher *m, const struct tp_idiom_patterns *rows,
			 const struct tp_trace *trace)
{
	*m = (struct matcher){.rows = rows, .trace = trace, .source = {.trace = trace}};
	m->by_frame = tp_alloc((trace->n_frames + 1) * sizeof(*m->by_frame));
	m->progress = tp_alloc((rows->n_ways + 1) * sizeof(*m->progress));
	m->touched = tp_alloc((rows->n_ways + 1) * sizeof(*m->touched));
	m->is_touched = tp_alloc((rows->n_ways + 1) * sizeof(*m->is_touched));
	m->is_forbidden = tp_alloc((rows->n_ways + 1) * sizeof(*m->is_forbidden));
}

static void matcher_close(struct matcher *m)
{
	tp_source_text_release(&m->source);
	tp_map_release(&m->by_file);
	tp_map_release(&m->by_name);
	tp_map_release(&m->by_line);
	tp_map_release(&m->by_mention);
	free(m->by_frame);
	free(m->pool);
	free(m->progress);
	free(m->touched);
	free(m->is_touched);
	free(m->is_forbidden);
	free(m->line_fits);
}

struct tp_stack_reading *tp_stack_idiom_build(const struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	struct tp_stack_reading *readings =
		tp_arena_array(analysis->arena, trace->n_stacks + 1, sizeof(*readings));
	struct matcher m;
	matcher_open(&m, &analysis->patterns->idioms, trace);
	for (uint32_t i = 1; i < trace->n_frames; i++)
		m.by_frame[i] = match_frame(&m, i, analysis->frame_flags[i] & TP_FRAME_IS_OWN);
	readings[0] = (struct tp_stack_reading){.idiom = TP_NO_IDIOM, .work = TP_NO_IDIOM};
	for (size_t i = 1; i < trace->n_stacks; i++)
		readings[i] = read_stack(&m, &trace->stacks[i], analysis->frame_flags);
	matcher_close(&m);
	return readings;
}

/* ---- examples ---- */

enum { MAX_EXAMPLE_FRAMES = 64 };

static bool fits_text(const struct tp_idiom_way *way, const struct tp_idiom_example *example)
{
	char lower[MAX_NAME];
	bool is_held = !way->mentions;
	for (size_t i = 0; way->mentions && way->mentions[i]; i++)
		is_held |= strstr(example->mentions, way->mentions[i]) != NULL;
	tp_pattern_lower(lower, sizeof(lower), example->code);
	return is_held && tp_idiom_line_fits(way, example->code, lower) &&
	       (!way->is_growth || tp_idiom_line_is_growth(lower));
}

/* The same walk over the frames of an example. */
static bool way_fits(const struct tp_idiom_patterns *rows, size_t index,
		     const struct tp_glob_subject *frames, size_t n,
		     const struct tp_idiom_example *example)
{
	const struct tp_idiom_way *way = &rows->ways[index];
	size_t progress = 0;
	bool has_library = false;
	bool has_own = false;
	bool has_python = false;
	for (size_t i = 0; i < n; i++) {
		bool is_met = false;
		has_own |= frames[i].place == TP_GLOB_OWN;
		has_library |= frames[i].place == TP_GLOB_LIBRARY && !has_own;
		for (size_t k = 0; k < rows->n_globs; k++) {
			const struct tp_idiom_glob *glob = &rows->globs[k];
			bool is_next = glob->use == TP_IDIOM_GLOB_STACK &&
				       glob->position == progress && !is_met;
			if (glob->use == TP_IDIOM_GLOB_WORK || glob->owner != index ||
			    (glob->use == TP_IDIOM_GLOB_STACK && !is_next) ||
			    (glob->use == TP_IDIOM_GLOB_NOT_CALLER && has_python) ||
			    !tp_frame_glob_fits(&glob->frame, &frames[i]))
				continue;
			if (glob->use != TP_IDIOM_GLOB_STACK)
				return false;
			is_met = true;
		}
		progress += is_met;
		has_python |= frames[i].place == TP_GLOB_OWN || frames[i].place == TP_GLOB_LIBRARY;
	}
	if (progress < way->n_frames || (way->is_direct && has_library) ||
	    (way->is_in_loop && !example->is_in_loop) ||
	    (way->is_by_index && !example->is_by_index) || (way->is_poll && !example->is_poll))
		return false;
	return (has_own || (!way->mentions && !way->code)) && fits_text(way, example);
}

static size_t idiom_of_example(const struct tp_idiom_patterns *rows,
			       const struct tp_idiom_example *example, const char **bad)
{
	struct tp_glob_subject frames[MAX_EXAMPLE_FRAMES];
	char *texts[MAX_EXAMPLE_FRAMES];
	size_t n = 0;
	size_t best = rows->n_ways;
	*bad = NULL;
	for (; example->frames[n] && n < MAX_EXAMPLE_FRAMES; n++) {
		texts[n] = tp_strdup(example->frames[n]);
		if (!tp_glob_subject_parse(&frames[n], texts[n]))
			*bad = example->frames[n];
	}
	for (size_t way = 0; !*bad && way < rows->n_ways; way++)
		if (!rows->idioms[rows->ways[way].idiom].is_replaced &&
		    is_better(rows, way, best) && way_fits(rows, way, frames, n, example))
			best = way;
	for (size_t i = 0; i < n; i++)
		free(texts[i]);
	return best < rows->n_ways ? rows->ways[best].idiom : TP_NO_IDIOM;
}

enum tp_status tp_idioms_check(const struct tp_idiom_patterns *rows, struct tp_error *err)
{
	for (size_t i = 0; i < rows->n_idioms; i++) {
		const struct tp_idiom_row *idiom = &rows->idioms[i];
		for (size_t k = 0; k < idiom->n_examples && !idiom->is_replaced; k++) {
			const struct tp_idiom_example *example = &idiom->examples[k];
			const char *bad;
			size_t found = idiom_of_example(rows, example, &bad);
			if (bad)
				return tp_fail(err, TP_PARSE, "%s:%u: no frame: '%.80s'",
					       idiom->file, example->line, bad);
			if ((found == i) == example->fits)
				continue;
			return tp_fail(err, TP_PARSE, "%s:%u: the example is taken for %s",
				       idiom->file, example->line,
				       found == TP_NO_IDIOM ? "nothing" : rows->idioms[found].id);
		}
	}
	return TP_OK;
}
