/* SPDX-License-Identifier: Apache-2.0 */
/* Fills numbers into sentences; '.' is the decimal point in every locale. */
#include "sentence.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum format {
	FORMAT_UNIT, /* the format that the unit suggests */
	FORMAT_PERCENT,
	FORMAT_COUNT,
	FORMAT_NUMBER,
	FORMAT_TIME,
	FORMAT_BYTES,
	FORMAT_RATE,
	FORMAT_BYTE_RATE,
};

/* A word in braces that is not a number, and the member of struct tp_sentence_words with its
 * text. */
struct sentence_term {
	const char *name;
	size_t offset;
};

struct sentence_part {
	const char *literal; /* text before the placeholder */
	const struct tp_expr *expr;
	enum format format;
	const char *one;                  /* word after a number that is written "1"; NULL = none */
	const char *many;                 /* word after any other number */
	const struct sentence_term *term; /* {whole} and similar words, or NULL */
	bool is_beside;                   /* {beside} */
	bool is_settings;                 /* {settings} */
};

struct tp_sentence {
	const char *written;
	struct sentence_part *pieces;
	size_t n_pieces;
};

/* ---- numbers ---- */

static void add_grouped(struct tp_buf *out, double whole)
{
	char digits[32];
	size_t n = 0;
	do {
		digits[n++] = (char)('0' + (int)fmod(whole, 10));
		whole = floor(whole / 10);
	} while (whole >= 1 && n < sizeof(digits));
	while (n--) {
		tp_buf_putc(out, digits[n]);
		if (n && n % 3 == 0)
			tp_buf_putc(out, ',');
	}
}

/* Rounded half away from zero, thousands grouped: 1,201 and 0.4 and -3. */
static void add_fixed(struct tp_buf *out, double value, int decimals)
{
	double power = decimals == 2 ? 100 : decimals == 1 ? 10 : 1;
	double scaled = round(fmin(fabs(value), 1e15) * power);
	if (value < 0 && scaled > 0)
		tp_buf_putc(out, '-');
	add_grouped(out, floor(scaled / power));
	if (decimals) {
		tp_buf_putc(out, '.');
		double rest = fmod(scaled, power);
		if (decimals == 2)
			tp_buf_putc(out, (char)('0' + (int)(rest / 10)));
		tp_buf_putc(out, (char)('0' + (int)fmod(rest, 10)));
	}
}

/* At most three digits: 0.4, 3.1, 31, 984. */
static void add_short(struct tp_buf *out, double value)
{
	bool is_whole = fabs(value - round(value)) < 1e-9;
	add_fixed(out, value, is_whole || fabs(value) >= 9.95 ? 0 : 1);
}

static void add_percent(struct tp_buf *out, double ratio)
{
	double percent = ratio * 100;
	add_fixed(out, percent, percent != 0 && fabs(percent) < 0.95 ? 1 : 0);
	tp_buf_puts(out, " %");
}

static void add_scaled(struct tp_buf *out, double value, double step, const char *const *units,
		       int n)
{
	int unit = 0;
	while (unit + 1 < n && fabs(value) >= step * 0.9995) {
		value /= step;
		unit++;
	}
	add_fixed(out, value, unit == 0 || fabs(value) >= 99.95 ? 0 : 1);
	tp_buf_putc(out, ' ');
	tp_buf_puts(out, units[unit]);
}

static void add_time(struct tp_buf *out, double ns)
{
	static const char *const units[] = {"ns", "µs", "ms", "s"};
	add_scaled(out, ns, 1000, units, 4);
}

static void add_bytes(struct tp_buf *out, double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	add_scaled(out, bytes, 1024, units, 5);
}

static enum format format_of_unit(const struct tp_dimension *dimension)
{
	if (dimension->time < 0)
		return dimension->bytes ? FORMAT_BYTE_RATE : FORMAT_RATE;
	if (dimension->time > 0)
		return FORMAT_TIME;
	if (dimension->bytes)
		return FORMAT_BYTES;
	return dimension->is_ratio ? FORMAT_PERCENT : FORMAT_NUMBER;
}

static void add_number(struct tp_buf *out, double value, enum format format)
{
	switch (format) {
	case FORMAT_PERCENT:
		add_percent(out, value);
		break;
	case FORMAT_COUNT:
		add_fixed(out, value, 0);
		break;
	case FORMAT_TIME:
		add_time(out, value);
		break;
	case FORMAT_BYTES:
		add_bytes(out, value);
		break;
	case FORMAT_RATE:
		add_short(out, value * 1e9);
		tp_buf_puts(out, "/s");
		break;
	case FORMAT_BYTE_RATE:
		add_bytes(out, value * 1e9);
		tp_buf_puts(out, "/s");
		break;
	default:
		add_short(out, value);
		break;
	}
}

/* ---- sentences ---- */

static enum tp_status format_find(const char *name, const struct tp_expr_scope *place,
				  enum format *out, struct tp_error *err)
{
	static const char *const names[] = {"percent", "count", "number", "time", "bytes", "rate"};
	for (size_t i = 0; i < TP_ARRAY_LEN(names); i++) {
		if (strcmp(name, names[i]) == 0) {
			*out = (enum format)(FORMAT_PERCENT + (int)i);
			return TP_OK;
		}
	}
	return tp_fail(err, TP_PARSE,
		       "%s:%u: no format '%s'; there are percent count number time bytes rate",
		       place->file, place->line, name);
}

/* Parses the text after the second bar: "worker|workers". */
static enum tp_status words_parse(struct sentence_part *part, char *words,
				  const struct tp_expr_scope *place, struct tp_error *err)
{
	char *bar = strchr(words, '|');
	if (!bar || bar == words || !bar[1] || strchr(bar + 1, '|'))
		return tp_fail(err, TP_PARSE,
			       "%s:%u: a format takes two words, singular and plural, not '%s'",
			       place->file, place->line, words);
	*bar = '\0';
	part->one = tp_arena_strdup(place->arena, words);
	part->many = tp_arena_strdup(place->arena, bar + 1);
	return TP_OK;
}

static enum tp_status format_parse(struct sentence_part *part, char *text,
				   const struct tp_expr_scope *place, struct tp_error *err)
{
	char *bar = strchr(text, '|');
	if (bar)
		*bar = '\0';
	enum tp_status status = TP_OK;
	if (*text || !bar) /* "{cpu.idle_cpus||CPU|CPUs}": the format that the unit suggests */
		status = format_find(text, place, &part->format, err);
	if (!status && bar)
		status = words_parse(part, bar + 1, place, err);
	return status;
}

/* NULL = no such word. */
static const struct sentence_term *term_find(const char *name)
{
	static const struct sentence_term terms[] = {
		{"whole", offsetof(struct tp_sentence_words, whole)},
		{"others", offsetof(struct tp_sentence_words, others)},
		{"others_cpus", offsetof(struct tp_sentence_words, others_cpus)},
	};
	for (size_t i = 0; i < TP_ARRAY_LEN(terms); i++)
		if (strcmp(name, terms[i].name) == 0)
			return &terms[i];
	return NULL;
}

static enum tp_status part_parse(struct sentence_part *part, char *inside,
				 const struct tp_expr_scope *place, struct tp_error *err)
{
	part->is_beside = strcmp(inside, "beside") == 0;
	part->is_settings = strcmp(inside, "settings") == 0;
	part->term = term_find(inside);
	if (part->term || part->is_beside || part->is_settings)
		return TP_OK;
	enum tp_status status = TP_OK;
	char *bar = strchr(inside, '|');
	if (bar) {
		*bar = '\0';
		status = format_parse(part, bar + 1, place, err);
	}
	if (!status)
		status = tp_expr_parse(&part->expr, inside, TP_EXPR_NUMBER, place, err);
	if (!status && part->format == FORMAT_UNIT)
		part->format = format_of_unit(tp_expr_dimension(part->expr));
	return status;
}

enum tp_status tp_sentence_parse(const struct tp_sentence **out, const char *text,
				 const struct tp_expr_scope *place, struct tp_error *err)
{
	size_t n_max = 1;
	for (const char *p = text; *p; p++)
		n_max += *p == '{';
	struct tp_sentence *words = tp_arena_alloc(place->arena, sizeof(*words));
	words->written = tp_arena_strdup(place->arena, text);
	words->pieces = tp_arena_array(place->arena, n_max, sizeof(*words->pieces));
	for (const char *at = text; *at;) {
		struct sentence_part *part = &words->pieces[words->n_pieces++];
		size_t len = strcspn(at, "{}");
		part->literal = tp_arena_strndup(place->arena, at, len);
		at += len;
		if (!*at)
			break;
		const char *end = strchr(at, '}');
		if (*at == '}' || !end || memchr(at + 1, '{', (size_t)(end - at - 1)))
			return tp_fail(err, TP_PARSE, "%s:%u: unmatched brace in \"%.80s\"",
				       place->file, place->line, text);
		char *inside = tp_arena_strndup(place->arena, at + 1, (size_t)(end - at - 1));
		enum tp_status status = part_parse(part, inside, place, err);
		if (status)
			return status;
		at = end + 1;
	}
	*out = words;
	return TP_OK;
}

const char *tp_sentence_written(const struct tp_sentence *words)
{
	return words ? words->written : NULL;
}

static const char *number_word(enum format format)
{
	switch (format) {
	case FORMAT_PERCENT:
		return "N %";
	case FORMAT_TIME:
		return "N ms";
	case FORMAT_BYTES:
		return "N MiB";
	case FORMAT_RATE:
		return "N/s";
	case FORMAT_BYTE_RATE:
		return "N MiB/s";
	default:
		return "N";
	}
}

void tp_sentence_describe(const struct tp_sentence *words, struct tp_buf *out)
{
	for (size_t i = 0; words && i < words->n_pieces; i++) {
		const struct sentence_part *part = &words->pieces[i];
		tp_buf_puts(out, part->literal);
		if (part->term)
			tp_buf_puts(out,
				    strcmp(part->term->name, "whole") == 0 ? "each step" : "…");
		if (part->expr)
			tp_buf_puts(out, number_word(part->format));
		if (part->expr && part->many)
			tp_buf_printf(out, " %s", part->many);
	}
}

void tp_sentence_facts(const struct tp_sentence *words, bool used[TP_MAX_FACTS])
{
	for (size_t i = 0; words && i < words->n_pieces; i++)
		tp_expr_facts(words->pieces[i].expr, false, used);
}

/* The words agree with the written number, not with the number before rounding: "1 worker" for
 * 0.99. */
static void add_part(struct tp_buf *out, const struct sentence_part *part, double value)
{
	size_t from = out->len;
	add_number(out, value, part->format);
	if (!part->one)
		return;
	bool is_one = strcmp(tp_buf_text(out) + from, "1") == 0;
	tp_buf_putc(out, ' ');
	tp_buf_puts(out, is_one ? part->one : part->many);
}

/* ---- the largest other part ---- */

/* Names of the parts in sentences. */
static const struct {
	const char *fact;
	const char *stem; /* of the fact's name, and of the names of shares of it */
	const char *name;
} shares[] = {
	{"step.compute_ratio", "step.compute_", "compute"},
	{"step.communication_ratio", "step.communication_", "communication"},
	{"step.memory_ratio", "step.memory_", "moving memory"},
	{"step.dataloader_ratio", "step.dataloader_", "waiting for data"},
	{"step.host_ratio", "step.host_", "other work of the CPU"},
	{"step.idle_ratio", "step.idle_", "waiting"},
};

/* A share that is rounded to "0 %" is not shown. */
static const double min_share = 0.005;

static bool is_about(const struct tp_sentence *words, const char *stem)
{
	bool used[TP_MAX_FACTS] = {0};
	tp_sentence_facts(words, used);
	for (tp_fact_id i = 0; i < tp_n_facts; i++)
		if (used[i] && strncmp(tp_fact_desc(i)->name, stem, strlen(stem)) == 0)
			return true;
	return false;
}

static double share_of(const struct tp_quantity *facts, const char *name)
{
	tp_fact_id fact = tp_fact_find(name);
	return fact < tp_n_facts && facts[fact].is_known ? facts[fact].value : 0;
}

/* Appends "; compute 12 %": the share of computing if it is large enough and the sentence is not
 * about it, else the largest of the other parts that the sentence is not about. */
static void add_beside(struct tp_buf *out, const struct tp_sentence *words,
		       const struct tp_quantity *facts)
{
	size_t best = 0;
	double largest = 0;
	for (size_t i = 0; i < TP_ARRAY_LEN(shares); i++) {
		double share = share_of(facts, shares[i].fact);
		if (share < min_share || share <= largest || is_about(words, shares[i].stem))
			continue;
		best = i;
		largest = share;
		if (i == 0)
			break;
	}
	if (largest <= 0)
		return;
	double runnable = share_of(facts, "step.idle_runnable_ratio");
	bool lacks_cpu =
		strcmp(shares[best].fact, "step.idle_ratio") == 0 && 2 * runnable > largest;
	tp_buf_printf(out, "; %s ", lacks_cpu ? "waiting for a CPU" : shares[best].name);
	add_number(out, lacks_cpu ? runnable : largest, FORMAT_PERCENT);
}

static const char *term_text(const struct tp_sentence_words *terms,
			     const struct sentence_term *term)
{
	const char *text;
	memcpy(&text, (const char *)terms + term->offset, sizeof(text));
	return text ? text : "";
}

/* ---- settings ---- */

/* Settings from the loader object itself; facts that do not come from it are guesses from
 * processes. */
static const struct {
	const char *fact;
	const char *name;
	bool is_flag;
} settings[] = {
	{"loader.persistent_workers", "persistent_workers", true},
	{"loader.workers", "num_workers", false},
	{"loader.prefetch_factor", "prefetch_factor", false},
};

/* Appends " Set now: persistent_workers=False, num_workers=2, prefetch_factor=2.", or nothing. */
static void add_settings(struct tp_buf *out, const struct tp_quantity *facts)
{
	const char *before = " Set now: ";
	for (size_t i = 0; i < TP_ARRAY_LEN(settings); i++) {
		const struct tp_quantity *fact = &facts[tp_fact_find(settings[i].fact)];
		if (i == 0 && !fact->is_known)
			return;
		if (!fact->is_known)
			continue;
		tp_buf_printf(out, "%s%s=", before, settings[i].name);
		if (settings[i].is_flag)
			tp_buf_puts(out, fact->value > 0 ? "True" : "False");
		else
			add_fixed(out, fact->value, 0);
		before = ", ";
	}
	tp_buf_putc(out, '.');
}

const char *tp_sentence_fill(const struct tp_sentence *words, const struct tp_quantity *facts,
			     const struct tp_sentence_words *terms, struct tp_arena *arena)
{
	if (!words)
		return NULL;
	struct tp_buf out = {0};
	const char *result = NULL;
	for (size_t i = 0; i < words->n_pieces; i++) {
		const struct sentence_part *part = &words->pieces[i];
		tp_buf_puts(&out, part->literal);
		if (part->term)
			tp_buf_puts(&out, term_text(terms, part->term));
		if (part->is_beside)
			add_beside(&out, words, facts);
		if (part->is_settings)
			add_settings(&out, facts);
		if (!part->expr)
			continue;
		struct tp_number number = tp_expr_number(part->expr, facts);
		if (!number.is_known)
			goto out;
		add_part(&out, part, number.value);
	}
	result = tp_arena_strdup(arena, tp_buf_text(&out));
out:
	tp_buf_release(&out);
	return result;
}
