/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof advise: judges facts that were written by hand. */
#include "cli/options/command.h"

#include "cli/session/analysis_session.h"
#include "cli/session/facts_input.h"
#include "cli/session/rules_dir.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

#include "trainprof/advise/advise.h"
#include "trainprof/base/json.h"
#include "trainprof/report/facts_advice.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct advise_options {
	const char *format;
	bool is_json;
	uint64_t most;
	bool wants_template;
	bool wants_schema;
	struct tp_words rules;
	bool is_lenient;
};

static const char *const format_choices[] = {"text", "json", NULL};
static const struct advise_options defaults = {.format = "text", .most = 3};

#define AT(member) .offset = offsetof(struct advise_options, member)

static const struct tp_option options[] = {
	{.name = "format",
	 .type = TP_OPTION_CHOICE,
	 .value = "WHAT",
	 .text = "text, json",
	 .otherwise = "text",
	 .choices = format_choices,
	 AT(format)},
	{.name = "json", .type = TP_OPTION_FLAG, .text = "same as --format=json", AT(is_json)},
	{.letter = 'n',
	 .name = "most",
	 .type = TP_OPTION_COUNT,
	 .value = "N",
	 .text = "print at most N pieces of advice",
	 .otherwise = "3",
	 AT(most)},
	{.name = "template",
	 .type = TP_OPTION_FLAG,
	 .text = "print a file to start from, of all topics or one",
	 AT(wants_template)},
	{.name = "schema",
	 .type = TP_OPTION_FLAG,
	 .text = "print the JSON Schema of such files",
	 AT(wants_schema)},
	{TP_OPTION_RULES, AT(rules)},
	{TP_OPTION_LENIENT, AT(is_lenient)},
	TP_OPTION_END};

static int print_template(const struct advise_options *o, const char *topic)
{
	struct tp_error err = {0};
	struct tp_rulebook *book = NULL;
	struct tp_buf text = {0};
	enum tp_status status = tp_rules_dir_rulebook(&book, &o->rules, o->is_lenient, &err);
	if (status == TP_OK)
		status = tp_fact_file_template(&text, book, topic, &err);
	tp_rulebook_free(book);
	if (status == TP_OK)
		return tp_output_buf(&text);
	tp_buf_release(&text);
	return tp_message_error_status(NULL, &err);
}

static int print_schema(void)
{
	struct tp_buf text = {0};
	tp_fact_file_schema(&text);
	return tp_output_buf(&text);
}

static int print_advice(const struct tp_cli *cli, const struct advise_options *o,
			const struct tp_report_advice *advice)
{
	if (o->is_json || strcmp(o->format, "json") == 0) {
		struct tp_json_writer w = {0};
		tp_report_advice_json(&w, advice);
		return tp_output_buf(&w.out);
	}
	struct tp_report_style style = tp_terminal_style(cli, STDOUT_FILENO);
	struct tp_page page;
	tp_page_init(&page, &style);
	tp_report_advice_text(&page, advice);
	int status = tp_output_page(&page);
	tp_page_release(&page);
	return status;
}

static int judge(const struct tp_cli *cli, const struct advise_options *o,
		 const struct tp_rulebook *book, const struct tp_fact_file *file)
{
	struct tp_findings findings;
	tp_advise_facts(&findings, book, file->facts);
	const struct tp_report_advice advice = {
		.name = file->name,
		.facts = file->facts,
		.n_given = file->n_given,
		.findings = &findings,
		.max_advice = (size_t)o->most,
	};
	int status = print_advice(cli, o, &advice);
	if (status == TP_EXIT_OK && !findings.verdict && !findings.n_fired)
		status = TP_EXIT_UNDECIDED;
	tp_findings_release(&findings);
	return status;
}

static int advise_exec(const struct tp_cli *cli, const void *opts, int argc, char **argv)
{
	const struct advise_options *o = opts;
	struct tp_error err = {0};
	struct tp_fact_file file;
	struct tp_rulebook *book = NULL;
	if (o->wants_schema)
		return print_schema();
	if (o->wants_template)
		return print_template(o, argc ? argv[0] : NULL);
	if (!argc) {
		tp_message_print("trainprof advise --template > facts.json",
				 "advise needs a file of facts, or - for stdin");
		return TP_EXIT_USAGE;
	}
	if (tp_facts_input_read(&file, argv[0], &err) != TP_OK) {
		if (err.status == TP_ABSENT)
			tp_error_next_word(&err, "trainprof advise --template > ", argv[0], "");
		return tp_message_error_status(NULL, &err);
	}
	int status;
	if (tp_rules_dir_rulebook(&book, &o->rules, o->is_lenient, &err) == TP_OK)
		status = judge(cli, o, book, &file);
	else
		status = tp_message_error_status(NULL, &err);
	tp_rulebook_free(book);
	tp_fact_file_release(&file);
	return status;
}

const struct tp_command tp_cmd_advise = {
	.name = "advise",
	.group = "Read",
	.synopsis = "[options] FACTS.json|-|--template [TOPIC]",
	.summary = "judge facts that were written by hand",
	.intro = "Get advice from figures that you enter, for jobs that trainprof cannot measure.\n"
		 "--template prints a file to fill in: all facts that rules ask for, or those of "
		 "one\n"
		 "topic. null means unknown; advise says which value to find out next.",
	.examples = "  trainprof advise --template input > facts.json\n"
		    "  trainprof advise facts.json\n"
		    "  trainprof advise --json - < facts.json",
	.ending = "Exit status: 3 when nothing follows from the facts, 4 when the file is wrong.",
	.options = options,
	.storage_size = sizeof(struct advise_options),
	.defaults = &defaults,
	.max_words = 1,
	.exec = advise_exec,
};
