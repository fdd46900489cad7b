/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the traces written for rules. */
#include "ruletrace.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_MOST = 64 << 10, WORDS_MOST = 32 };

struct parser {
	struct ruletrace *out;
	unsigned line;
	char *words[WORDS_MOST];
	size_t n_words;
	size_t at;
	const char *wrong; /* the error in this line */
};

/* ---- words ---- */

/* Splits at spaces; text in quotes is one word. */
static void cut_words(struct parser *p, char *text)
{
	p->n_words = p->at = 0;
	while (*(text += strspn(text, " \t")) && *text != '#' && p->n_words < WORDS_MOST) {
		bool is_quoted = *text == '"';
		text += is_quoted;
		p->words[p->n_words++] = text;
		text += strcspn(text, is_quoted ? "\"" : " \t");
		if (!*text)
			break;
		*text++ = '\0';
	}
}

static const char *word(struct parser *p)
{
	if (p->at < p->n_words)
		return p->words[p->at++];
	p->wrong = "a word is missing";
	return "";
}

static long number(struct parser *p)
{
	const char *text = word(p);
	char *end;
	long value = strtol(text, &end, 10);
	if (!*text || *end || value < 0)
		p->wrong = "a number is missing";
	return value;
}

static const char *kept(struct parser *p, const char *text)
{
	return tp_arena_strdup(&p->out->arena, text);
}

static bool take(struct parser *p, const char *keyword)
{
	if (p->at == p->n_words || strcmp(p->words[p->at], keyword) != 0)
		return false;
	p->at++;
	return true;
}

/* ---- lines ---- */

static struct ruletrace_scene *scene_begin(struct parser *p, bool fires)
{
	struct ruletrace *out = p->out;
	struct ruletrace_scene scene = {.line = p->line,
					.fires = fires,
					.steps = 20,
					.step_us = 10000,
					.is_marked = true,
					.n_ranks = 1};
	if (fires)
		scene.level = kept(p, word(p));
	if (p->at < p->n_words)
		scene.because = kept(p, word(p));
	TP_ARRAY_PUSH(out->scenes, out->n_scenes, out->capacity) = scene;
	return &out->scenes[out->n_scenes - 1];
}

static struct ruletrace_event *event_begin(struct ruletrace_scene *scene)
{
	if (!scene->n_seen)
		TP_ARRAY_PUSH(scene->ranks, scene->n_seen, scene->capacity) =
			(struct ruletrace_rank){0};
	struct ruletrace_rank *rank = &scene->ranks[scene->n_seen - 1];
	TP_ARRAY_PUSH(rank->events, rank->n_events, rank->capacity) =
		(struct ruletrace_event){.stream = 7, .times = 1};
	return &rank->events[rank->n_events - 1];
}

static void read_event(struct parser *p, struct ruletrace_scene *scene, enum ruletrace_kind kind)
{
	struct ruletrace_event *event = event_begin(scene);
	event->kind = kind;
	event->name = kept(p, word(p));
	event->from_us = number(p);
	event->length_us = number(p);
	while (p->at < p->n_words && !p->wrong) {
		if (take(p, "by")) {
			event->is_linked = true;
			event->by_us = number(p);
			event->by_length_us = number(p);
		} else if (take(p, "device")) {
			event->device = number(p);
		} else if (take(p, "stream")) {
			event->stream = number(p);
		} else if (take(p, "bytes")) {
			event->bytes = number(p);
		} else if (take(p, "args")) {
			event->args = kept(p, word(p));
		} else if (take(p, "times")) {
			event->times = number(p);
			event->every_us = take(p, "every") ? number(p) : 0;
		} else {
			p->wrong = "an unknown word";
		}
	}
}

static bool read_setting(struct parser *p, struct ruletrace_scene *scene)
{
	if (take(p, "steps")) {
		scene->steps = number(p);
		scene->step_us = take(p, "of") ? number(p) : scene->step_us;
	} else if (take(p, "unmarked")) {
		scene->is_marked = false;
	} else if (take(p, "cut")) {
		scene->is_cut = true;
	} else if (take(p, "foreign")) {
		scene->is_foreign = true;
	} else if (take(p, "nsys")) {
		scene->is_nsys_too = true;
	} else if (take(p, "malformed")) {
		scene->malformed = number(p);
	} else if (take(p, "capability")) {
		scene->capability = number(p);
	} else if (take(p, "ranks")) {
		scene->n_ranks = number(p);
	} else if (take(p, "rank")) {
		TP_ARRAY_PUSH(scene->ranks, scene->n_seen, scene->capacity) =
			(struct ruletrace_rank){0};
	} else {
		return false;
	}
	return true;
}

static void read_fact(struct parser *p, struct ruletrace_scene *scene)
{
	const char *name = kept(p, word(p));
	TP_ARRAY_PUSH(scene->facts, scene->n_facts, scene->facts_capacity) =
		(struct ruletrace_fact){name, strtod(word(p), NULL)};
}

static void read_line(struct parser *p)
{
	static const char *const kinds[] = {"op", "call", "range", "python", "kernel", "copy"};
	_Static_assert(TP_ARRAY_LEN(kinds) == RULETRACE_N_KINDS, "a name for each");
	struct ruletrace *out = p->out;
	if (take(p, "fires") || take(p, "quiet")) {
		(void)scene_begin(p, strcmp(p->words[0], "fires") == 0);
		return;
	}
	if (!out->n_scenes) {
		p->wrong = "neither 'fires' nor 'quiet' comes first";
		return;
	}
	struct ruletrace_scene *scene = &out->scenes[out->n_scenes - 1];
	if (take(p, "fact")) {
		read_fact(p, scene);
		return;
	}
	for (int kind = 0; kind < RULETRACE_N_KINDS; kind++) {
		if (take(p, kinds[kind])) {
			read_event(p, scene, (enum ruletrace_kind)kind);
			return;
		}
	}
	if (!read_setting(p, scene))
		p->wrong = "an unknown word";
}

enum tp_status ruletrace_load(struct ruletrace *out, const char *path, struct tp_error *err)
{
	struct tp_buf text = {0};
	struct parser p = {.out = out};
	*out = (struct ruletrace){.path = path};
	enum tp_status status = tp_file_read(&text, path, FILE_MOST, err);
	char *rest = text.data;
	for (char *line; status == TP_OK && (line = strsep(&rest, "\n"));) {
		p.line++;
		cut_words(&p, line);
		if (!p.n_words)
			continue;
		read_line(&p);
		if (!p.wrong && p.at < p.n_words)
			p.wrong = "too many words";
		if (p.wrong)
			status = tp_fail(err, TP_PARSE, "%s:%u: %s", path, p.line, p.wrong);
	}
	tp_buf_release(&text);
	return status;
}

void ruletrace_release(struct ruletrace *trace)
{
	for (size_t i = 0; i < trace->n_scenes; i++) {
		struct ruletrace_scene *scene = &trace->scenes[i];
		for (size_t k = 0; k < scene->n_seen; k++)
			free(scene->ranks[k].events);
		free(scene->ranks);
		free(scene->facts);
	}
	free(trace->scenes);
	tp_arena_release(&trace->arena);
}
