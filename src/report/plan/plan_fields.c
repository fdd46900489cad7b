/* Says what a plan says, line by line. */
#include "plan_fields.h"

#include "trainprof/report/units.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct lines {
	struct tp_arena *arena;
	struct tp_move_field *items;
	size_t n;
	const char *label; /* of the last line */
};

__attribute__((format(printf, 3, 4))) static void put(struct lines *lines, const char *label,
						      const char *format, ...)
{
	if (lines->n == TP_MOVE_FIELDS_MOST)
		return;
	struct tp_buf text = {0};
	va_list args;
	va_start(args, format);
	tp_buf_vprintf(&text, format, args);
	va_end(args);
	bool goes_on = lines->label && strcmp(lines->label, label) == 0;
	lines->items[lines->n++] =
		(struct tp_move_field){.label = goes_on ? "" : label,
				       .text = tp_arena_strdup(lines->arena, tp_buf_text(&text))};
	lines->label = label;
	tp_buf_release(&text);
}

static const struct tp_finding *member(const struct tp_report_plan *plan,
				       const struct tp_move *move, size_t i)
{
	return &plan->findings->items[move->advice[i]];
}

/* ---- what to do ---- */

static void put_how(struct lines *lines, const char *label, const struct tp_deed *deed)
{
	static const struct {
		const char *name;
		const char *word;
	} words[] = {{"pytorch", "PyTorch"}, {"jax", "JAX"}, {"tensorflow", "TF"}, {"c", "C, MPI"}};
	/* Where one framework was seen, the guide's line is about this run; an example may be of
	 * another. */
	if (deed->example && deed->n_how != 1) {
		put(lines, label, "%s", deed->example);
		return;
	}
	for (size_t i = 0; i < deed->n_how; i++)
		for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
			if (strcmp(words[k].name, deed->how[i].framework) == 0)
				put(lines, label, "%s: %s", words[k].word, deed->how[i].text);
}

static void put_deeds(struct lines *lines, const struct tp_move *move)
{
	static const char *const labels[TP_N_DEED_ROLES] = {"do", "with", "room"};
	static const char *const before[TP_N_DEED_ROLES] = {"", "", "if memory does not suffice: "};
	for (int role = 0; role < TP_N_DEED_ROLES; role++) {
		for (size_t i = 0; i < move->n_deeds; i++) {
			const struct tp_deed *deed = &move->deeds[i];
			if ((int)deed->role != role)
				continue;
			put(lines, labels[role], "%s%s%s%s%s", before[role], deed->text,
			    role ? " (trainprof guide " : "", role ? deed->technique : "",
			    role ? ")" : "");
			if (role != TP_DEED_OPENER)
				put_how(lines, labels[role], deed);
		}
	}
}

static bool is_deed(const struct tp_move *move, const char *technique)
{
	for (size_t i = 0; i < move->n_deeds; i++)
		if (strcmp(move->deeds[i].technique, technique) == 0)
			return true;
	return false;
}

/* Other actions of the same rules. */
static void put_others(struct lines *lines, const struct tp_report_plan *plan,
		       const struct tp_move *move)
{
	for (size_t i = 0; i < move->n_advice; i++) {
		const struct tp_finding *finding = member(plan, move, i);
		for (size_t k = 0; k < finding->n_actions; k++)
			if (!is_deed(move, finding->actions[k].technique))
				put(lines, "or", "%s", finding->actions[k].text);
	}
}

/* ---- what it costs ---- */

static void put_price(struct lines *lines, const struct tp_report_plan *plan,
		      const struct tp_move *move)
{
	for (size_t i = 0; i < move->n_advice; i++) {
		const struct tp_finding *finding = member(plan, move, i);
		const char *price = finding->price ? finding->price : "check the model's quality";
		bool is_told = false;
		for (size_t k = 0; k < i; k++) {
			const char *before = member(plan, move, k)->price;
			is_told |= before && strcmp(before, price) == 0;
		}
		if (finding->kind == TP_ADVICE_SEMANTIC)
			put(lines, "price", "changes the training: %s", price);
		else if (!is_told && finding->price)
			put(lines, "price", "%s", price);
	}
}

static void put_yardstick(struct lines *lines, const char *label, const char *before,
			  const struct tp_yardstick *yardstick)
{
	put(lines, label, "%s%s (trainprof guide %s).", before, yardstick->title,
	    yardstick->technique);
	for (size_t i = 0; i < yardstick->n_reported; i++) {
		const struct tp_reported *reported = &yardstick->reported[i];
		put(lines, label, "%s Hardware: %s; against: %s. %s (checked %s)", reported->text,
		    reported->hardware, reported->baseline, reported->source.title,
		    reported->source.checked);
	}
}

/* Its rate stands below the last step, once for all, unless it is another one. */
static void put_against(struct lines *lines, const struct tp_course *course,
			const struct tp_yardstick *against)
{
	if (!against)
		return;
	if (strcmp(against->technique, course->yardstick->technique) == 0)
		put(lines, "against", "It has to beat what is below: %s.", against->title);
	else
		put_yardstick(lines, "against", "It has to beat: ", against);
}

/* ---- what to check ---- */

bool tp_move_rate(const struct tp_report_plan *plan, size_t i, struct tp_move_rate *out)
{
	const struct tp_course *course = &plan->findings->course;
	const struct tp_bound *bound = &course->moves[i].so_far;
	if (!(course->step_ns > 0) || !bound->is_known)
		return false;
	for (size_t k = 0; k <= i; k++)
		for (size_t t = 0; t < course->moves[k].n_targets; t++)
			if (course->moves[k].targets[t].is_of_loop)
				return false;
	double now = 1e9 / course->step_ns;
	*out = (struct tp_move_rate){now, now * bound->low, now * bound->high};
	return true;
}

static void put_target(struct lines *lines, const struct tp_target *target, double step_ns)
{
	const char *name = tp_fact_desc(target->fact)->name;
	const char *whole = target->is_of_loop ? "loop" : "step";
	if (step_ns > 0 && !target->is_of_loop)
		put(lines, "check", "%s: %s (%s of a step) now; after it %s to %s of a step", name,
		    tp_unit_percent(target->now).text, tp_unit_time(target->now * step_ns).text,
		    tp_unit_time(target->best * step_ns).text,
		    tp_unit_time(target->worst * step_ns).text);
	else
		put(lines, "check", "%s: %s now; after it %s to %s of today's %s", name,
		    tp_unit_percent(target->now).text, tp_unit_percent(target->best).text,
		    tp_unit_percent(target->worst).text, whole);
}

static void put_checks(struct lines *lines, const struct tp_report_plan *plan, size_t i)
{
	const struct tp_course *course = &plan->findings->course;
	const struct tp_move *move = &course->moves[i];
	struct tp_move_rate rate;
	for (size_t k = 0; k < move->n_targets; k++)
		put_target(lines, &move->targets[k], course->step_ns);
	if (tp_move_rate(plan, i, &rate))
		put(lines, "check",
		    "steps a second: %s as measured; %s to %s with all steps so far",
		    tp_unit_number(rate.now).text, tp_unit_number(rate.low).text,
		    tp_unit_number(rate.high).text);
	for (size_t k = 0; k < move->n_advice; k++)
		if (member(plan, move, k)->verify)
			put(lines, "check", "%s", member(plan, move, k)->verify);
}

/* ---- what it gains ---- */

static void put_gain(struct lines *lines, const struct tp_move *move)
{
	const struct tp_bound *gain = &move->gain;
	if (gain->is_known)
		put(lines, "gain", "%s alone, surely between %.2f and %.2f",
		    tp_unit_factor(gain->value).text, gain->low, gain->high);
	else
		put(lines, "gain", "not measured");
}

static void put_bound(struct lines *lines, const struct tp_move *move, size_t i)
{
	const struct tp_bound *bound = &move->so_far;
	if (!bound->is_known)
		put(lines, "so far", "not measured");
	else if (i && !move->adds && move->gain.is_known)
		put(lines, "so far", "%s (%.2f to %.2f): no more than without this step",
		    tp_unit_factor(bound->value).text, bound->low, bound->high);
	else
		put(lines, "so far", "%s (%.2f to %.2f)", tp_unit_factor(bound->value).text,
		    bound->low, bound->high);
}

static void put_stop(struct lines *lines, const struct tp_move *move)
{
	if (!move->then_limit)
		return;
	if (move->then_steps_per_s > 0)
		put(lines, "stop", "when %s limits: it allows no more than %s steps/s",
		    move->then_limit, tp_unit_number(move->then_steps_per_s).text);
	else
		put(lines, "stop", "when %s limits; its rate is not measured", move->then_limit);
}

/* ---- all of it ---- */

const char *tp_move_headline(const struct tp_report_plan *plan, size_t i)
{
	const struct tp_move *move = &plan->findings->course.moves[i];
	const struct tp_finding *finding = member(plan, move, 0);
	/* A headline is that of the first action. */
	bool is_first = !move->n_deeds ||
			(finding->n_actions &&
			 strcmp(finding->actions[0].technique, move->deeds[0].technique) == 0);
	return is_first ? finding->headline : move->deeds[0].text;
}

const char *tp_move_title(struct tp_arena *arena, const struct tp_report_plan *plan, size_t i)
{
	return tp_arena_printf(arena, "%zu. %s", i + 1, tp_move_headline(plan, i));
}

size_t tp_move_fields(struct tp_arena *arena, const struct tp_report_plan *plan, size_t i,
		      struct tp_move_field *out)
{
	const struct tp_move *move = &plan->findings->course.moves[i];
	struct lines lines = {.arena = arena, .items = out};
	for (size_t k = 0; k < move->n_advice; k++)
		put(&lines, "because", "%s", member(plan, move, k)->because);
	if (move->stage)
		put(&lines, "order", "%u, %s", move->order, move->stage);
	put_gain(&lines, move);
	put_deeds(&lines, move);
	put_others(&lines, plan, move);
	put_price(&lines, plan, move);
	put_against(&lines, &plan->findings->course, move->against);
	put_checks(&lines, plan, i);
	put_bound(&lines, move, i);
	put_stop(&lines, move);
	return lines.n;
}

static void put_wanted(struct lines *lines, const struct tp_report_plan *plan)
{
	const struct tp_findings *findings = plan->findings;
	if (findings->n_not_judged)
		put(lines, "missing", "%s not judged%s",
		    tp_unit_counted(findings->n_not_judged, "rule").text,
		    findings->n_wanted ? ". Facts that would tell most:"
				       : "; what is lacking would hardly change this plan.");
	for (size_t i = 0; i < findings->n_wanted; i++) {
		tp_fact_id fact = findings->wanted[i].fact;
		const char *why = plan->facts[fact].missing;
		put(lines, "missing", "%s, %s%s%s", tp_fact_desc(fact)->name,
		    tp_fact_desc(fact)->text, why ? ": " : "", why ? why : "");
	}
}

size_t tp_plan_fields(struct tp_arena *arena, const struct tp_report_plan *plan,
		      struct tp_move_field *out)
{
	const struct tp_course *course = &plan->findings->course;
	struct lines lines = {.arena = arena, .items = out};
	if (course->n_moves)
		put(&lines, "after", "Measure again after each step: the next one may be another.");
	if (course->yardstick)
		put_yardstick(&lines, "fewer",
			      "Steps that are not made are not judged: no fact tells the loss. "
			      "What needs fewer of them (trainprof guide iterations) has to beat: ",
			      course->yardstick);
	put_wanted(&lines, plan);
	return lines.n;
}
