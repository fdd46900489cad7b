/* SPDX-License-Identifier: Apache-2.0 */
/* Rule files of a test, in a temporary directory. */
#ifndef TRAINPROF_TESTS_ADVISE_SHELF_H
#define TRAINPROF_TESTS_ADVISE_SHELF_H

#include "advise/rulebook/book.h"

#include "trainprof/model/fact_id.h"

struct shelf {
	char path[64];
};

void shelf_open(struct shelf *shelf);
/* Removes the directory and its content. */
void shelf_close(struct shelf *shelf);
/* Writes a file below the directory; folders are created. */
void shelf_put(const struct shelf *shelf, const char *name, const char *text);
/* Writes a rule "test/NAME" with this condition and these additional members ("" or ", \"x\":
 * 1"). */
void shelf_put_rule(const struct shelf *shelf, const char *name, const char *when,
		    const char *members);
/* The same, with an action named by "technique" or "id" instead of "technique": "t". */
void shelf_put_advice(const struct shelf *shelf, const char *name, const char *when,
		      const char *action, const char *members);
/* Writes a file with one text in it replaced; the text must occur in the file. */
void shelf_put_changed(const struct shelf *shelf, const char *name, const char *text,
		       const char *from, const char *to);
/* A change of one of these files, and the error message of loading. */
struct shelf_mistake {
	const char *file;
	const char *text;
	const char *from;
	const char *to;
	const char *said;
};
/* Checks that loading refuses each change alone, with its message. */
void shelf_refuses(const struct shelf *shelf, const struct shelf_mistake *mistakes, size_t n);
/* Writes two limits ("wait" and below it "disk"), two sources ("AMPS", "BOOK") and two
 * techniques ("fast", which relieves both and cites both, and "slow", which relieves "wait" and
 * cites none). */
void shelf_put_guide(const struct shelf *shelf);
extern const char shelf_limits[];
extern const char shelf_sources[];
extern const char shelf_fast[];
extern const char shelf_slow[];
enum tp_status shelf_load(const struct shelf *shelf, struct tp_rulebook **out,
			  struct tp_error *err);

/* Sets all facts to unknown. */
void facts_init(struct tp_quantity *facts);
void facts_set(struct tp_quantity *facts, tp_fact_id fact, double value);
void facts_set_range(struct tp_quantity *facts, tp_fact_id fact, double value, double low,
		     double high);

#endif
