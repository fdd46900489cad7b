/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof completion: prints a script that completes commands, options and their values. */
#include "cli/options/command.h"

#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "trainprof/base/buf.h"

#include <string.h>

static const struct tp_option options[] = {TP_OPTION_END};

/* ---- bash ---------------------------------------------------------------------------------- */

static void bash_options(struct tp_buf *out, const struct tp_option *option)
{
	for (; option->name; option++) {
		if (option->letter)
			tp_buf_printf(out, " -%c", option->letter);
		tp_buf_printf(out, " --%s%s", option->name,
			      option->value && !option->bare ? "=" : "");
	}
}

static void bash_choices(struct tp_buf *out, const struct tp_option *option)
{
	for (; option->name; option++) {
		if (!option->choices)
			continue;
		tp_buf_printf(out, "\t--%s=*)\n\t\tCOMPREPLY=($(compgen -W '", option->name);
		for (size_t i = 0; option->choices[i]; i++)
			tp_buf_printf(out, "%s%s", i ? " " : "", option->choices[i]);
		tp_buf_puts(out, "' -- \"${cur#*=}\"))\n\t\treturn ;;\n");
	}
}

static void write_bash(struct tp_buf *out, const struct tp_command_table *table)
{
	const struct tp_command *const *commands = table->commands;
	tp_buf_puts(out, "# bash completion for trainprof; made by: trainprof completion bash\n"
			 "_trainprof() {\n"
			 "\tlocal cur=${COMP_LINE:0:COMP_POINT}\n"
			 "\tcur=${cur##*[[:space:]]}\n"
			 "\tlocal verb='' word options=''\n"
			 "\tfor word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
			 "\t\tcase $word in -*) ;; *) verb=$word; break ;; esac\n"
			 "\tdone\n"
			 "\tcase $cur in\n");
	bash_choices(out, table->global_options);
	for (size_t i = 0; commands[i]; i++)
		bash_choices(out, commands[i]->options);
	tp_buf_puts(out, "\tesac\n\tcase $verb in\n\t'')\n\t\tCOMPREPLY=($(compgen -W '");
	for (size_t i = 0; commands[i]; i++)
		tp_buf_printf(out, "%s ", commands[i]->name);
	bash_options(out, table->global_options);
	tp_buf_puts(out, "' -- \"$cur\"))\n\t\treturn ;;\n");
	for (size_t i = 0; commands[i]; i++) {
		tp_buf_printf(out, "\t%s) options='", commands[i]->name);
		bash_options(out, commands[i]->options);
		bash_options(out, table->global_options);
		tp_buf_puts(out, "' ;;\n");
	}
	tp_buf_puts(out, "\tesac\n"
			 "\tcase $cur in\n"
			 "\t-*)\n"
			 "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
			 "\t\t[[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace ;;\n"
			 "\t*) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
			 "\tesac\n"
			 "}\n"
			 "complete -o filenames -F _trainprof trainprof\n");
}

/* ---- zsh and fish -------------------------------------------------------------------------- */

/* Text in single quotes; in zsh's specifications brackets and colons also have a meaning. */
static void add_quoted(struct tp_buf *out, const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'')
			tp_buf_puts(out, "'\\''");
		else if (strchr(special, *text))
			tp_buf_printf(out, "\\%c", *text);
		else
			tp_buf_putc(out, *text);
	}
}

static void zsh_options(struct tp_buf *out, const struct tp_option *option)
{
	for (; option->name; option++) {
		tp_buf_printf(out, " \\\n\t\t\t'--%s%s[", option->name,
			      option->value && !option->bare ? "=" : "");
		add_quoted(out, option->text, "[]:\\");
		tp_buf_putc(out, ']');
		if (option->choices) {
			tp_buf_printf(out, ":%s:(", option->value);
			for (size_t i = 0; option->choices[i]; i++)
				tp_buf_printf(out, "%s%s", i ? " " : "", option->choices[i]);
			tp_buf_putc(out, ')');
		} else if (option->value) {
			tp_buf_printf(out, ":%s:_files", option->value);
		}
		tp_buf_putc(out, '\'');
	}
}

static void write_zsh(struct tp_buf *out, const struct tp_command_table *table)
{
	const struct tp_command *const *commands = table->commands;
	tp_buf_puts(out, "#compdef trainprof\n"
			 "# zsh completion for trainprof; made by: trainprof completion zsh\n"
			 "_trainprof() {\n"
			 "\tlocal -a verbs=(\n");
	for (size_t i = 0; commands[i]; i++) {
		tp_buf_printf(out, "\t\t'%s:", commands[i]->name);
		add_quoted(out, commands[i]->summary, ":\\");
		tp_buf_puts(out, "'\n");
	}
	tp_buf_puts(out, "\t)\n"
			 "\tif (( CURRENT == 2 )); then\n"
			 "\t\t_describe command verbs\n"
			 "\t\treturn\n"
			 "\tfi\n"
			 "\tcase $words[2] in\n");
	for (size_t i = 0; commands[i]; i++) {
		tp_buf_printf(out, "\t%s)\n\t\t_arguments", commands[i]->name);
		zsh_options(out, commands[i]->options);
		zsh_options(out, table->global_options);
		tp_buf_puts(out, " \\\n\t\t\t'*:file:_files' ;;\n");
	}
	tp_buf_puts(out, "\tesac\n}\n_trainprof \"$@\"\n");
}

static void fish_options(struct tp_buf *out, const char *condition, const struct tp_option *option)
{
	for (; option->name; option++) {
		tp_buf_printf(out, "complete -c trainprof %s -l %s", condition, option->name);
		if (option->letter)
			tp_buf_printf(out, " -s %c", option->letter);
		if (option->value)
			tp_buf_puts(out, " -r");
		if (option->choices) {
			tp_buf_puts(out, " -f -a '");
			for (size_t i = 0; option->choices[i]; i++)
				tp_buf_printf(out, "%s%s", i ? " " : "", option->choices[i]);
			tp_buf_putc(out, '\'');
		}
		tp_buf_puts(out, " -d '");
		add_quoted(out, option->text, "\\");
		tp_buf_puts(out, "'\n");
	}
}

static void write_fish(struct tp_buf *out, const struct tp_command_table *table)
{
	const struct tp_command *const *commands = table->commands;
	tp_buf_puts(out, "# fish completion for trainprof; made by: trainprof completion fish\n");
	for (size_t i = 0; commands[i]; i++) {
		tp_buf_printf(out, "complete -c trainprof -f -n __fish_use_subcommand -a %s -d '",
			      commands[i]->name);
		add_quoted(out, commands[i]->summary, "\\");
		tp_buf_puts(out, "'\n");
	}
	fish_options(out, "", table->global_options);
	for (size_t i = 0; commands[i]; i++) {
		char condition[100];
		snprintf(condition, sizeof(condition), "-n '__fish_seen_subcommand_from %s'",
			 commands[i]->name);
		fish_options(out, condition, commands[i]->options);
	}
}

static int completion_exec(const struct tp_cli *cli, const void *opts, int argc, char **argv)
{
	(void)opts;
	static const struct {
		const char *name;
		void (*write)(struct tp_buf *out, const struct tp_command_table *table);
	} shells[] = {{"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}};
	for (size_t i = 0; argc && i < sizeof(shells) / sizeof(shells[0]); i++) {
		if (strcmp(shells[i].name, argv[0]) != 0)
			continue;
		struct tp_buf out = {0};
		shells[i].write(&out, cli->table);
		return tp_output_buf(&out);
	}
	tp_message_print("trainprof completion bash",
			 "completion needs a shell: bash, zsh or fish");
	return TP_EXIT_USAGE;
}

const struct tp_command tp_cmd_completion = {
	.name = "completion",
	.group = "Other",
	.synopsis = "bash|zsh|fish",
	.summary = "print a script that completes commands and options",
	.intro = "Print a completion script for a shell.",
	.examples = "  source <(trainprof completion bash)",
	.options = options,
	.max_words = 1,
	.exec = completion_exec,
};
