/* Writes the pages of the guide as Markdown. */
#include "guide.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

static enum tp_status write_file(const char *directory, const char *name, const struct tp_buf *text,
				 struct tp_error *err)
{
	char *path = tp_asprintf("%s/%s.md", directory, name);
	enum tp_status status = tp_file_write(path, text->data, text->len, err);
	free(path);
	return status;
}

/* Topics of trainprof itself are elsewhere in docs/; rules and metrics are the guide's. */
static bool is_written(const struct tp_rulebook *book, struct tp_guide_place place)
{
	const char *name = tp_guide_name(book, place);
	return place.kind != TP_GUIDE_TOPIC || place.index < tp_rulebook_catalogue(book)->n_texts ||
	       strcmp(name, "rules") == 0 || strcmp(name, "metrics") == 0;
}

static enum tp_status write_page(const struct tp_rulebook *book, const char *directory,
				 struct tp_guide_place place, struct tp_buf *index,
				 struct tp_error *err)
{
	const char *name = tp_guide_name(book, place);
	struct tp_sheet sheet;
	struct tp_buf text = {0};
	tp_guide_make(&sheet, book, place);
	tp_sheet_markdown(&sheet, &text);
	enum tp_status status = write_file(directory, name, &text, err);
	if (place.kind == TP_GUIDE_TOPIC)
		tp_buf_printf(index, "- [%s](%s.md): %s\n", name, name,
			      tp_guide_title(book, place));
	tp_buf_release(&text);
	tp_sheet_release(&sheet);
	return status;
}

enum tp_status tp_guide_write(const struct tp_rulebook *book, const char *directory,
			      struct tp_error *err)
{
	struct tp_buf index = {0};
	enum tp_status status = TP_OK;
	tp_buf_puts(&index,
		    "# Guide\n\nWhat may limit a training run, and what relieves it: the "
		    "pages of `trainprof guide`, written by `make pages` from `rules/`.\n\n");
	for (int kind = TP_GUIDE_TOPIC; kind <= TP_GUIDE_TECHNIQUE; kind++) {
		size_t n = tp_guide_count(book, (enum tp_guide_kind)kind);
		for (size_t i = 0; i < n && !status; i++) {
			struct tp_guide_place place = {(enum tp_guide_kind)kind, i};
			if (is_written(book, place))
				status = write_page(book, directory, place, &index, err);
		}
	}
	if (!status)
		status = write_file(directory, "README", &index, err);
	tp_buf_release(&index);
	return status;
}
