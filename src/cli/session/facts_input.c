/* SPDX-License-Identifier: Apache-2.0 */
/* Reads facts from a file or from stdin. */
#include "facts_input.h"

#include "trainprof/base/file.h"
#include "trainprof/base/json.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* A pipe or a terminal: tp_file_read() takes regular files only. */
static enum tp_status read_stdin(struct tp_buf *out, struct tp_error *err)
{
	char piece[4096];
	ssize_t n;
	while ((n = read(STDIN_FILENO, piece, sizeof(piece))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return tp_fail_errno(err, errno, "cannot read stdin");
		tp_buf_add(out, piece, (size_t)n);
		if (out->len > TP_JSON_MAX_BYTES)
			break; /* the parser refuses it as too large */
	}
	return TP_OK;
}

enum tp_status tp_facts_input_read(struct tp_fact_file *out, const char *path, struct tp_error *err)
{
	bool is_stdin = strcmp(path, "-") == 0;
	struct tp_json_doc *doc = NULL;
	struct tp_buf text = {0};
	enum tp_status status = is_stdin ? read_stdin(&text, err)
					 : tp_file_read(&text, path, TP_JSON_MAX_BYTES, err);
	if (status == TP_OK)
		status = tp_json_parse(&doc, tp_buf_text(&text), text.len,
				       is_stdin ? "stdin" : path, err);
	if (status == TP_OK)
		status = tp_fact_file_read(out, doc, err);
	tp_json_free(doc);
	tp_buf_release(&text);
	return status;
}
