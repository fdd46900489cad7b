/* SPDX-License-Identifier: Apache-2.0 */
/* Fills in examples. */
#include "example.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/model/capture_words.h"
#include "trainprof/model/fact.h"

#include <math.h>
#include <string.h>

/* The command of an import is trainprof's own: the command of the program is not known. */
static bool has_command(const struct tp_rule_context *context)
{
	return context->run && context->run->n_command && context->run->mode != TP_MODE_IMPORT;
}

static void add_command(struct tp_buf *out, const struct tp_rule_context *context)
{
	if (has_command(context))
		tp_run_info_add_command(out, context->run, "");
	else
		tp_buf_puts(out, "YOUR_COMMAND");
}

static void add_cpus(struct tp_buf *out, const struct tp_rule_context *context, double fewer)
{
	const struct tp_quantity *cpus = &context->facts[TP_FACT_CPU_ALLOWED];
	if (cpus->is_known)
		tp_buf_printf(out, "%.0f", fmax(1, floor(cpus->value) - fewer));
	else
		tp_buf_putc(out, 'N');
}

static void add_pids(struct tp_buf *out, const struct tp_rule_context *context)
{
	tp_buf_puts(out, context->pids ? context->pids
				       : "PID   (ps -eo pid,pcpu,comm --sort=-pcpu lists them)");
}

static size_t add_token(struct tp_buf *out, const struct tp_rule_context *context, const char *at)
{
	size_t len;
	enum tp_capture_need need = tp_capture_need_of(at, &len);
	if (need != TP_CAPTURE_NEEDS) {
		tp_buf_puts(out, tp_capture_words(context->run, need));
		return len;
	}
	static const char *const tokens[] = {TP_EXAMPLE_COMMAND, "%CPUS", "%FEWER", "%PIDS"};
	size_t which = 0;
	while (which < TP_ARRAY_LEN(tokens) &&
	       strncmp(at, tokens[which], strlen(tokens[which])) != 0)
		which++;
	if (which == TP_ARRAY_LEN(tokens)) {
		tp_buf_putc(out, *at);
		return 1;
	}
	if (which == 0)
		add_command(out, context);
	else if (which == 3)
		add_pids(out, context);
	else
		add_cpus(out, context, which == 2);
	return strlen(tokens[which]);
}

static const char *fill(const struct tp_rule_context *context, const char *example)
{
	if (!example)
		return NULL;
	struct tp_buf out = {0};
	for (const char *at = example; *at;)
		at += add_token(&out, context, at);
	const char *text = tp_arena_strdup(context->arena, tp_buf_text(&out));
	tp_buf_release(&out);
	return text;
}

const char *tp_example_prefix(const struct tp_rule_context *context,
			      const struct tp_rule_action *action)
{
	if (!action->can_apply)
		return NULL;
	size_t len = strlen(action->example) - strlen(TP_EXAMPLE_COMMAND);
	return fill(context, tp_arena_strndup(context->arena, action->example, len));
}

const char *tp_example_of(const struct tp_rule_context *context,
			  const struct tp_rule_action *action)
{
	const char *prefix = tp_example_prefix(context, action);
	if (!prefix || !has_command(context))
		return fill(context, action->example);
	struct tp_buf out = {0};
	tp_run_info_add_command(&out, context->run, prefix);
	const char *text = tp_arena_strdup(context->arena, tp_buf_text(&out));
	tp_buf_release(&out);
	return text;
}
