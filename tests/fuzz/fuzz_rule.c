/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the parsers of rules, techniques and thresholds; the parsed ones are judged. */
#include "advise/judge/judge.h"
#include "advise/rulebook/book.h"
#include "advise/rulebook/contradiction.h"
#include "advise/rulebook/technique.h"

#include "trainprof/model/fact_id.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void judge(const struct tp_rulebook *book, const struct tp_rule *rule)
{
	struct tp_arena arena = {0};
	struct tp_quantity facts[TP_MAX_FACTS];
	for (int known = 0; known < 2; known++) {
		for (tp_fact_id i = 0; i < tp_n_facts; i++)
			facts[i] = (struct tp_quantity){.is_known = known,
							.value = 0.3,
							.coverage = 1,
							.missing = "fuzz"};
		struct tp_rule_context context = {.book = book,
						  .facts = facts,
						  .terms.whole = "each step",
						  .basis = tp_gain_input_of_facts(facts),
						  .arena = &arena};
		struct tp_gain gain;
		struct tp_finding finding = tp_judge_rule(&context, rule, &gain);
		if (gain.is_known &&
		    !(gain.low >= 1 && gain.low <= gain.value && gain.value <= gain.high))
			abort();
		if (finding.state == TP_FINDING_FIRED && (!finding.because || !finding.headline))
			abort();
	}
	tp_arena_release(&arena);
	struct tp_buf problems = {0};
	tp_rule_check_conflicts(book, rule, &problems);
	tp_buf_release(&problems);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tp_rulebook book = {0};
	struct tp_json_doc *doc = NULL;
	struct tp_error err;
	struct tp_rule rule;
	struct tp_technique technique;
	if (size > 65536 || tp_json_parse(&doc, (const char *)data, size, "fuzz.json", &err))
		return 0;
	const struct tp_json *list = tp_json_get(tp_json_root(doc), "thresholds");
	if (tp_thresholds_read(&book.thresholds, doc, list, &book.arena, &err))
		goto out;
	const char *id = tp_json_string(tp_json_get(tp_json_root(doc), "id"));
	if (!tp_rule_read(&rule, doc, id ? id : "", &book.thresholds, &book.arena, &err))
		judge(&book, &rule);
	if (!tp_technique_read(&technique, doc, id ? id : "", &book.thresholds, &book.arena,
			       &err) &&
	    (technique.group >= TP_N_GROUPS || technique.risk >= TP_N_RISKS ||
	     technique.effort >= TP_N_EFFORTS || !technique.verify))
		abort();
out:
	tp_json_free(doc);
	tp_thresholds_release(&book.thresholds);
	tp_arena_release(&book.arena);
	return 0;
}
