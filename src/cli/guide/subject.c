/* SPDX-License-Identifier: Apache-2.0 */
/* Judges a recording or facts written by hand. */
#include "subject.h"

#include "cli/session/facts_input.h"
#include "cli/session/recording_read.h"
#include "cli/session/recordings.h"
#include "cli/session/rules_dir.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* True for a separate file that is not named like a trace; JSON in a recording belongs to the
 * recording. */
static bool is_facts(const char *word)
{
	struct stat info;
	if (!word)
		return false;
	if (strcmp(word, "-") == 0)
		return true;
	if (stat(word, &info) != 0 || !S_ISREG(info.st_mode))
		return false;
	size_t len = strlen(word);
	bool is_json = len > 5 && strcmp(word + len - 5, ".json") == 0;
	return !tp_recording_holds(word) && (is_json || !tp_recordings_is_trace_file(word));
}

static enum tp_status open_facts(struct tp_subject *judged, const char *word,
				 const struct tp_subject_options *options, struct tp_error *err)
{
	enum tp_status status = tp_facts_input_read(&judged->file, word, err);
	judged->is_facts = status == TP_OK;
	if (status == TP_OK)
		status = tp_rules_dir_rulebook(&judged->facts_book, options->rules,
					       options->is_lenient, err);
	if (status != TP_OK)
		return status;
	tp_advise_facts(&judged->facts_findings, judged->facts_book, judged->file.facts);
	judged->subject = judged->file.name ? judged->file.name : word;
	judged->book = judged->facts_book;
	judged->facts = judged->file.facts;
	judged->findings = &judged->facts_findings;
	return TP_OK;
}

static void name_recording(struct tp_subject *judged)
{
	const char *label = judged->reading.trace.run.label;
	if (label && *label)
		tp_buf_printf(&judged->subject_text, "%s, recorded in ", label);
	tp_buf_puts(&judged->subject_text, judged->reading.directory);
	judged->subject = tp_buf_text(&judged->subject_text);
}

static enum tp_status open_recording(struct tp_subject *judged, const char *word,
				     const struct tp_subject_options *options, struct tp_error *err)
{
	const struct tp_analysis_session_options how = {
		.rules = *options->rules,
		.is_lenient = options->is_lenient,
	};
	enum tp_status status = tp_recording_read(&judged->reading, options->cli, word, &how, err);
	if (status != TP_OK)
		return status;
	if (!judged->reading.has_findings) {
		if (err)
			*err = judged->reading.no_rules;
		return judged->reading.no_rules.status;
	}
	name_recording(judged);
	judged->book = judged->reading.book;
	judged->facts = judged->reading.profile.facts;
	judged->findings = &judged->reading.findings;
	return TP_OK;
}

enum tp_status tp_subject_open(struct tp_subject *judged, const char *word,
			       const struct tp_subject_options *options, struct tp_error *err)
{
	*judged = (struct tp_subject){0};
	enum tp_status status = is_facts(word) ? open_facts(judged, word, options, err)
					       : open_recording(judged, word, options, err);
	if (status != TP_OK)
		tp_subject_close(judged);
	return status;
}

void tp_subject_close(struct tp_subject *judged)
{
	tp_findings_release(&judged->facts_findings);
	if (judged->facts_book)
		tp_rulebook_free(judged->facts_book);
	if (judged->is_facts)
		tp_fact_file_release(&judged->file);
	else
		tp_analysis_session_close(&judged->reading);
	tp_buf_release(&judged->subject_text);
	*judged = (struct tp_subject){0};
}
