/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the cases inside rules. */
#include "advise/rulebook/book.h"
#include "advise/rulebook/rule_case.h"
#include "judge.h"
#include "other_names.h"

#include <math.h>
#include <string.h>

/* Speed-ups in cases are written with two decimals. */
static const double gain_tolerance = 0.006;

struct test_run {
	const struct tp_rulebook *book;
	FILE *out;
};

__attribute__((format(printf, 4, 5))) static void test_fail(const struct test_run *test_run,
							    const struct tp_rule *rule,
							    const struct tp_rule_case *test,
							    const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fprintf(test_run->out, "%s:%u: ", rule->path, test->line);
	vfprintf(test_run->out, format, args);
	fputc('\n', test_run->out);
	va_end(args);
}

static bool actions_match(const struct test_run *test_run, const struct tp_rule *rule,
			  const struct tp_rule_case *test, const struct tp_finding *finding)
{
	if (!test->techniques)
		return true;
	bool same = test->n_techniques == finding->n_actions;
	for (size_t i = 0; same && i < finding->n_actions; i++)
		same = strcmp(test->techniques[i], finding->actions[i].technique) == 0;
	if (same)
		return true;
	struct tp_buf got = {0};
	for (size_t i = 0; i < finding->n_actions; i++)
		tp_buf_printf(&got, " %s", finding->actions[i].technique);
	test_fail(test_run, rule, test, "the case expects other actions than%s",
		  finding->n_actions ? tp_buf_text(&got) : " none");
	tp_buf_release(&got);
	return false;
}

static bool case_passes(const struct test_run *test_run, const struct tp_rule *rule,
			const struct tp_rule_case *test, struct tp_arena *arena)
{
	static const char *const words[] = {"to fire", "to stay quiet", "not to be judged"};
	static const enum tp_finding_state states[] = {TP_FINDING_FIRED, TP_FINDING_QUIET,
						       TP_FINDING_NOT_JUDGED};
	const struct tp_quantity *facts = tp_rule_case_facts(test, arena);
	struct tp_rule_context context = {
		.book = test_run->book,
		.facts = facts,
		.terms = {.whole = tp_rule_context_whole(test_run->book, facts),
			  .others = TP_OTHER_PROGRAMS_UNKNOWN},
		.basis = tp_gain_input_of_facts(facts),
		.arena = arena,
	};
	struct tp_gain gain;
	struct tp_finding finding = tp_judge_rule(&context, rule, &gain);
	const char *why =
		finding.not_judged_because ? finding.not_judged_because : finding.quiet_because;
	if (finding.state != states[test->expected]) {
		test_fail(test_run, rule, test, "the case expects the rule %s, but it is %s%s%s",
			  words[test->expected], tp_finding_state_name(finding.state),
			  why ? ": " : "", why ? why : "");
		return false;
	}
	if (finding.state == TP_FINDING_FIRED && rule->because &&
	    !tp_sentence_fill(rule->because, facts, &context.terms, arena)) {
		test_fail(test_run, rule, test, "a number of its sentence is not known");
		return false;
	}
	if (test->has_level && test->level != finding.level) {
		test_fail(test_run, rule, test, "the case expects level %s, but it is %s",
			  tp_finding_level_name(test->level), tp_finding_level_name(finding.level));
		return false;
	}
	if (test->gain > 0 && (!gain.is_known || fabs(gain.value - test->gain) > gain_tolerance)) {
		test_fail(test_run, rule, test, "the case expects a gain of %.2f, but it is %.2f",
			  test->gain, gain.is_known ? gain.value : 0);
		return false;
	}
	return actions_match(test_run, rule, test, &finding);
}

enum tp_status tp_rulebook_test(const struct tp_rulebook *book, const char *id, FILE *out,
				struct tp_rule_test_result *result, struct tp_error *err)
{
	struct test_run test_run = {.book = book, .out = out};
	const char *nearest = id ? tp_rulebook_nearest(book, id) : NULL;
	if (id && !tp_rulebook_find(book, id))
		return tp_fail(err, TP_ABSENT, "there is no rule '%s'%s%s", id,
			       nearest ? "; nearest: " : "", nearest ? nearest : "");
	*result = (struct tp_rule_test_result){0};
	for (size_t i = 0; i < book->n_rules; i++) {
		const struct tp_rule *rule = &book->rules[i];
		if (id && strcmp(rule->id, id) != 0)
			continue;
		struct tp_arena arena = {0};
		for (size_t k = 0; k < rule->n_cases; k++) {
			if (case_passes(&test_run, rule, &rule->cases[k], &arena))
				result->n_passed++;
			else
				result->n_failed++;
		}
		tp_arena_release(&arena);
	}
	return TP_OK;
}
