/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes facts written by hand; the parsed facts are judged by the shipped rules. */
#include "trainprof/advise/advise.h"
#include "trainprof/advise/fact_file.h"

#include "trainprof/base/json.h"
#include "trainprof/model/fact_id.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct tp_rulebook *the_book(void)
{
	static struct tp_rulebook *book;
	const char *directory = "rules";
	if (!book && tp_rulebook_load(&book, &directory, 1, NULL))
		abort();
	return book;
}

static void check_findings(const struct tp_findings *findings)
{
	for (size_t i = 0; i < findings->n_items; i++) {
		const struct tp_finding *finding = &findings->items[i];
		if (finding->has_gain &&
		    !(finding->gain_low >= 1 && finding->gain_low <= finding->gain_value &&
		      finding->gain_value <= finding->gain_high))
			abort();
		if (finding->state == TP_FINDING_FIRED && (!finding->because || !finding->headline))
			abort();
	}
	if (findings->has_combined &&
	    !(findings->combined_low >= 1 && findings->combined_low <= findings->combined_high))
		abort();
	/* Every wanted fact is one that a rule lacks. */
	for (size_t i = 0; i < findings->n_wanted; i++)
		if (findings->wanted[i].fact >= tp_n_facts)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tp_json_doc *doc = NULL;
	struct tp_fact_file file;
	struct tp_findings findings;
	struct tp_error err;
	if (size > 65536 || tp_json_parse(&doc, (const char *)data, size, "fuzz.json", &err))
		return 0;
	if (tp_fact_file_read(&file, doc, &err) == TP_OK) {
		tp_advise_facts(&findings, the_book(), file.facts);
		check_findings(&findings);
		tp_findings_release(&findings);
		tp_fact_file_release(&file);
	}
	tp_json_free(doc);
	return 0;
}
