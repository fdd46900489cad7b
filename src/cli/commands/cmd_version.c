/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof version: prints the version, and with -v the build options. */
#include "cli/options/command.h"

#include "cli/session/install_dir.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "trainprof/base/json.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/version.h"
#include "trainprof/report/report.h"
#include "trainprof/store/recording.h"

#include <stdlib.h>
#include <unistd.h>

struct version_options {
	bool is_json;
	bool is_tutorial;
};

static const struct tp_option options[] = {{.name = "json",
					    .type = TP_OPTION_FLAG,
					    .text = "as JSON, with libraries",
					    .offset = offsetof(struct version_options, is_json)},
					   {.name = "tutorial",
					    .type = TP_OPTION_FLAG,
					    .text = "print where the files of the tutorials are",
					    .offset =
						    offsetof(struct version_options, is_tutorial)},
					   TP_OPTION_END};

static bool has_trainer(const char *path)
{
	char *inside = tp_asprintf("%s/train.py", path);
	bool is_there = access(inside, R_OK) == 0;
	free(inside);
	return is_there;
}

/* The folder next to this very program, which `command -v` does not find through a link or a shim
 * of pyenv. */
static int print_example_folder(void)
{
	char *path = tp_install_dir_find("tutorial", "docs/tutorial", has_trainer);
	if (!path) {
		tp_message_print("install the whole archive or package",
				 "the files of the tutorials are not installed");
		return TP_EXIT_BAD;
	}
	struct tp_buf text = {0};
	tp_buf_printf(&text, "%s\n", path);
	free(path);
	return tp_output_buf(&text);
}

static int version_exec(const struct tp_cli *cli, const void *opts, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	const struct version_options *o = opts;
	if (o->is_tutorial)
		return print_example_folder();
	struct tp_buf text = {0};
	if (o->is_json) {
		struct tp_json_writer w = {0};
		tp_json_open(&w, '{');
		tp_json_put_string(&w, "name", "trainprof");
		tp_json_put_string(&w, "version", tp_version());
		tp_json_put_string(&w, "commit", tp_commit());
		tp_json_put_string(&w, "recording", tp_store_format());
		tp_json_put_string(&w, "report", TP_REPORT_SCHEMA);
		tp_json_write_key(&w, "built_with");
		tp_json_open(&w, '[');
		for (const char *const *item = tp_build_info(); *item; item++)
			tp_json_write_string(&w, *item);
		tp_json_close(&w, ']');
		tp_json_close(&w, '}');
		tp_buf_puts(&text, tp_buf_text(&w.out));
		tp_json_writer_release(&w);
	} else {
		tp_buf_printf(&text, "trainprof %s (%s)\n", tp_version(), tp_commit());
		tp_buf_printf(&text, "writes %s and %s, reads 1.x of both\n", tp_store_format(),
			      TP_REPORT_SCHEMA);
		if (cli->verbosity)
			for (const char *const *item = tp_build_info(); *item; item++)
				tp_buf_printf(&text, "  %s\n", *item);
	}
	return tp_output_buf(&text);
}

const struct tp_command tp_cmd_version = {
	.name = "version",
	.group = "Other",
	.synopsis = "[--json | --tutorial]",
	.summary = "version; with -v what it was built with",
	.intro = "Print version, commit, and the formats that are written and read; with -v or "
		 "--json\n"
		 "also the libraries.",
	.options = options,
	.storage_size = sizeof(struct version_options),
	.exec = version_exec,
};
