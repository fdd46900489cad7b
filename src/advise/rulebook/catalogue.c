/* SPDX-License-Identifier: Apache-2.0 */
/* Loads limits, sources, pages and techniques. */
#include "catalogue.h"

#include "listing.h"
#include "technique.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Reads one item of a list and stores it in its place. */
typedef void (*reader)(struct tp_rulebook *book, struct tp_json_form *form,
		       const struct tp_json *item);

/* ---- limits.json ---- */

static struct tp_limit *limit_place(struct tp_rulebook *book, const char *id)
{
	struct tp_catalogue *catalogue = &book->catalogue;
	for (size_t i = 0; i < catalogue->n_limits; i++)
		if (strcmp(catalogue->limits[i].id, id) == 0)
			return &catalogue->limits[i];
	TP_ARRAY_PUSH(catalogue->limits, catalogue->n_limits, book->limits_capacity) =
		(struct tp_limit){0};
	return &catalogue->limits[catalogue->n_limits - 1];
}

static void read_limit(struct tp_rulebook *book, struct tp_json_form *form,
		       const struct tp_json *item)
{
	static const char *const keys[] = {"id",      "title", "order",       "parent",
					   "signals", "proof", "look_alikes", NULL};
	uint64_t order = 0;
	struct tp_limit limit = {.path = tp_arena_strdup(form->arena, tp_json_name(form->doc)),
				 .line = tp_json_line(item)};
	tp_json_form_check_keys(form, item, "a limit", keys);
	limit.id = tp_json_form_text(form, item, "id", true);
	limit.title = tp_json_form_short_text(form, item, "title", true, TP_TECHNIQUE_TITLE);
	limit.parent_name = tp_json_form_text(form, item, "parent", false);
	limit.signals = tp_json_form_short_text(form, item, "signals", true, TP_TECHNIQUE_TEXT);
	limit.proof = tp_json_form_short_text(form, item, "proof", true, TP_TECHNIQUE_TEXT);
	limit.look_alikes = tp_json_form_names(form, item, "look_alikes", &limit.n_look_alikes);
	if (!tp_json_uint(tp_json_get(item, "order"), &order) || !order || order > 100)
		tp_json_form_fail(form, item, "'order' is a whole number from 1 to 100");
	limit.order = (unsigned)order;
	if (!form->status)
		*limit_place(book, limit.id) = limit;
}

/* ---- sources.json ---- */

static struct tp_reference *reference_place(struct tp_rulebook *book, const char *tag)
{
	struct tp_catalogue *catalogue = &book->catalogue;
	for (size_t i = 0; i < catalogue->n_references; i++)
		if (strcmp(catalogue->references[i].tag, tag) == 0)
			return &catalogue->references[i];
	TP_ARRAY_PUSH(catalogue->references, catalogue->n_references, book->references_capacity) =
		(struct tp_reference){0};
	return &catalogue->references[catalogue->n_references - 1];
}

static void read_reference(struct tp_rulebook *book, struct tp_json_form *form,
			   const struct tp_json *item)
{
	static const char *const keys[] = {"tag", "title", "where", "checked", NULL};
	struct tp_reference reference = {.path = tp_arena_strdup(form->arena,
								 tp_json_name(form->doc)),
					 .line = tp_json_line(item)};
	tp_json_form_check_keys(form, item, "a source", keys);
	reference.tag = tp_json_form_text(form, item, "tag", true);
	reference.title = tp_json_form_short_text(form, item, "title", true, TP_TECHNIQUE_TEXT);
	reference.where = tp_json_form_short_text(form, item, "where", true, TP_TECHNIQUE_TEXT);
	reference.checked = tp_json_form_date(form, item, "checked");
	if (!form->status)
		*reference_place(book, reference.tag) = reference;
}

/* ---- pages.json ---- */

static struct tp_guide_text *text_place(struct tp_rulebook *book, const char *id)
{
	struct tp_catalogue *catalogue = &book->catalogue;
	for (size_t i = 0; i < catalogue->n_texts; i++)
		if (strcmp(catalogue->texts[i].id, id) == 0)
			return &catalogue->texts[i];
	TP_ARRAY_PUSH(catalogue->texts, catalogue->n_texts, book->texts_capacity) =
		(struct tp_guide_text){0};
	return &catalogue->texts[catalogue->n_texts - 1];
}

static const char *read_paragraphs(struct tp_json_form *form, const struct tp_json *object)
{
	size_t n;
	const char **lines = tp_json_form_names(form, object, "text", &n);
	struct tp_buf all = {0};
	for (size_t i = 0; i < n && !form->status; i++)
		tp_buf_printf(&all, "%s\n", lines[i]);
	const char *text = tp_arena_strdup(form->arena, tp_buf_text(&all));
	tp_buf_release(&all);
	return text;
}

static void read_sections(struct tp_json_form *form, const struct tp_json *item,
			  struct tp_guide_text *out)
{
	static const char *const keys[] = {"heading", "text", NULL};
	size_t n;
	const struct tp_json *list = tp_json_form_list(form, item, "sections", false, &n);
	out->sections = tp_arena_array(form->arena, n + 1, sizeof(*out->sections));
	out->sections[out->n_sections++] =
		(struct tp_guide_section){.text = read_paragraphs(form, item)};
	if (!list)
		return;
	TP_JSON_EACH (part, list) {
		tp_json_form_check_keys(form, part, "a section", keys);
		out->sections[out->n_sections++] =
			(struct tp_guide_section){.heading = tp_json_form_text(form, part,
									       "heading", true),
						  .text = read_paragraphs(form, part)};
	}
}

static void read_text(struct tp_rulebook *book, struct tp_json_form *form,
		      const struct tp_json *item)
{
	static const char *const keys[] = {"id",    "title", "text",  "sections",
					   "steps", "list",  "cites", NULL};
	static const char *const lists[] = {"none", "limits", "techniques", NULL};
	struct tp_guide_text text = {.path = tp_arena_strdup(form->arena, tp_json_name(form->doc)),
				     .line = tp_json_line(item)};
	tp_json_form_check_keys(form, item, "a page", keys);
	text.id = tp_json_form_text(form, item, "id", true);
	text.title = tp_json_form_short_text(form, item, "title", true, TP_TECHNIQUE_TITLE);
	read_sections(form, item, &text);
	text.steps = tp_json_form_names(form, item, "steps", &text.n_steps);
	text.list = (enum tp_guide_list)tp_json_form_choice(form, item, "list", lists,
							    TP_GUIDE_LIST_NONE);
	text.cites_names = tp_json_form_names(form, item, "cites", &text.n_cites);
	if (!form->status)
		*text_place(book, text.id) = text;
}

/* ---- lists in general ---- */

/* Two items with one name in one file: one of them would be lost without notice. */
static void check_duplicate(struct tp_json_form *form, const struct tp_json *list, const char *key,
			    const struct tp_json *item)
{
	const char *name = tp_json_string(tp_json_get(item, key));
	TP_JSON_EACH (other, list) {
		if (other == item)
			return;
		const char *before = tp_json_string(tp_json_get(other, key));
		if (name && before && strcmp(name, before) == 0)
			tp_json_form_fail(form, item, "'%s' is there already, on line %u", name,
					  tp_json_line(other));
	}
}

/* The file contains one list; each item is read separately. TP_ABSENT if there is no such file. */
static enum tp_status list_load(struct tp_rulebook *book, const char *path, const char *list_key,
				const char *key, reader read, struct tp_error *err)
{
	const char *const keys[] = {list_key, NULL};
	struct tp_json_doc *doc = NULL;
	enum tp_status status = tp_json_load(&doc, path, err);
	if (status)
		return status == TP_ABSENT ? status : tp_lenient_skip(book, status, err);
	struct tp_json_form whole = {.doc = doc, .err = err};
	const struct tp_json *list = tp_json_get(tp_json_root(doc), list_key);
	tp_json_form_check_keys(&whole, tp_json_root(doc), path, keys);
	if (tp_json_type(list) != TP_JSON_ARRAY)
		tp_json_form_fail(&whole, tp_json_root(doc), "'%s' is a list", list_key);
	status = tp_lenient_skip(book, whole.status, err);
	const struct tp_json *item = whole.status ? NULL : tp_json_first(list);
	for (; item && !status; item = tp_json_after(item)) {
		struct tp_json_form form = {.doc = doc,
					    .thresholds = &book->thresholds,
					    .arena = &book->arena,
					    .err = err};
		check_duplicate(&form, list, key, item);
		read(book, &form, item);
		status = tp_lenient_skip(book, form.status, err);
	}
	tp_json_free(doc);
	return status;
}

/* ---- techniques/ ---- */

static enum tp_status technique_load(struct tp_rulebook *book, const char *path, const char *id,
				     struct tp_error *err)
{
	struct tp_catalogue *catalogue = &book->catalogue;
	struct tp_json_doc *doc = NULL;
	struct tp_technique technique;
	enum tp_status status = tp_json_load(&doc, path, err);
	if (!status)
		status = tp_technique_read(&technique, doc, id, &book->thresholds, &book->arena,
					   err);
	tp_json_free(doc);
	if (status)
		return tp_lenient_skip(book, status, err);
	for (size_t i = 0; i < catalogue->n_techniques; i++) {
		if (strcmp(catalogue->techniques[i].id, id) == 0) {
			catalogue->techniques[i] = technique;
			return TP_OK;
		}
	}
	TP_ARRAY_PUSH(catalogue->techniques, catalogue->n_techniques, book->techniques_capacity) =
		technique;
	return TP_OK;
}

static enum tp_status techniques_load(struct tp_rulebook *book, const char *folder, size_t *n,
				      struct tp_error *err)
{
	struct tp_listing files = {0};
	enum tp_status status = tp_listing_read(&files, folder, err);
	if (status == TP_ABSENT)
		status = TP_OK;
	for (int i = 0; i < files.n && !status; i++) {
		char *id = tp_listing_basename(&files, i);
		if (!id)
			continue;
		char *path = tp_asprintf("%s/%s.json", folder, id);
		status = technique_load(book, path, id, err);
		++*n;
		free(path);
		free(id);
	}
	tp_listing_release(&files);
	return status;
}

enum tp_status tp_catalogue_load(struct tp_rulebook *book, const char *directory, size_t *n,
				 struct tp_error *err)
{
	char *limits = tp_asprintf("%s/limits.json", directory);
	char *sources = tp_asprintf("%s/sources.json", directory);
	char *pages = tp_asprintf("%s/pages.json", directory);
	char *techniques = tp_asprintf("%s/techniques", directory);
	*n = 0;
	enum tp_status status = list_load(book, limits, "limits", "id", read_limit, err);
	*n += status != TP_ABSENT;
	if (!status || status == TP_ABSENT)
		status = list_load(book, sources, "sources", "tag", read_reference, err);
	*n += status != TP_ABSENT;
	if (!status || status == TP_ABSENT)
		status = list_load(book, pages, "pages", "id", read_text, err);
	*n += status != TP_ABSENT;
	if (!status || status == TP_ABSENT)
		status = techniques_load(book, techniques, n, err);
	free(limits);
	free(sources);
	free(pages);
	free(techniques);
	return status;
}
