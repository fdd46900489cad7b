/* SPDX-License-Identifier: Apache-2.0 */
/* Classifies frames, marks, files, programs and threads by their names: parses the rows for them
 * and matches them. */
#include "frame_class.h"

#include "pattern_row.h"
#include "pattern_tables.h"

#include "trainprof/base/cxx_name.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <ctype.h>
#include <string.h>

static const char *const phase_names[] = {"none",       "compute", "dataloader", "communication",
					  "checkpoint", "logging", "host",       "evaluation",
					  "compile",    "gc",      "import"};
static const char *const leaf_names[] = {"none",        "math",  "spin",   "copy",
					 "alloc",       "fault", "read",   "open",
					 "write",       "net",   "decode", "pickle",
					 "interpreter", "lock",  "kernel", "caller"};
/* Extends enum tp_thread_role. */
enum { ROOT_HELPER = TP_THREAD_COMM + 1, ROOT_TASKS, ROOT_FORK_SERVER, ROOT_FETCH };
static const char *const root_names[] = {"none",   "main",          "team",
					 "loader", "communication", "helper",
					 "tasks",  "fork_server",   "fetch"};
static const char *const file_names[] = {"unknown", "data", "checkpoint", "log"};
static const char *const row_keys[] = {"module",   "symbol",      "mark",    "file",  "program",
				       "thread",   "phase",       "leaf",    "root",  "kind",
				       "launcher", "interpreter", "because", "verbs", "nouns"};

const char *tp_phase_name(enum tp_phase phase)
{
	return phase_names[phase];
}

enum tp_status tp_frame_class_read(const struct tp_pattern_row *row, struct tp_frame_class *out,
				   struct tp_error *err)
{
	unsigned phase = out->phase;
	unsigned root = TP_THREAD_OTHER;
	const struct {
		const char *key;
		const char *const *names;
		size_t n;
		unsigned *word;
	} words[] = {{"phase", phase_names, TP_ARRAY_LEN(phase_names), &phase},
		     {"leaf", leaf_names, TP_ARRAY_LEN(leaf_names), &out->leaf},
		     {"root", root_names, TP_ARRAY_LEN(root_names), &root}};
	enum tp_status status = TP_OK;
	for (size_t i = 0; !status && i < TP_ARRAY_LEN(words); i++)
		status = tp_pattern_row_word(row, words[i].key, words[i].names, words[i].n,
					     words[i].word, err);
	out->phase = (enum tp_phase)phase;
	out->is_loader_root = root == TP_THREAD_LOADER;
	out->is_team_root = root == TP_THREAD_TEAM;
	out->is_comm_root = root == TP_THREAD_COMM;
	out->is_helper_root = root == ROOT_HELPER;
	out->is_task_root = root == ROOT_TASKS;
	out->is_fork_server = root == ROOT_FORK_SERVER;
	out->is_fetch_root = root == ROOT_FETCH;
	return status;
}

enum tp_status tp_frame_pattern_read(struct tp_frame_patterns *out,
				     const struct tp_pattern_row *row, struct tp_error *err)
{
	struct tp_frame_pattern pattern = {0};
	const struct {
		const char *key;
		const char ***list;
	} lists[] = {{"module", &pattern.module},   {"symbol", &pattern.symbol},
		     {"mark", &pattern.mark},       {"file", &pattern.file},
		     {"program", &pattern.program}, {"thread", &pattern.thread},
		     {"verbs", &pattern.verbs},     {"nouns", &pattern.nouns}};
	unsigned kind = TP_FILE_UNKNOWN;
	enum tp_status status =
		tp_pattern_row_check_keys(row, row_keys, TP_ARRAY_LEN(row_keys), err);
	for (size_t i = 0; !status && i < TP_ARRAY_LEN(lists); i++)
		status = tp_pattern_row_globs(row, lists[i].key, lists[i].list, err);
	if (!status)
		status = tp_frame_class_read(row, &pattern.says, err);
	if (!status)
		status = tp_pattern_row_word(row, "kind", file_names, TP_ARRAY_LEN(file_names),
					     &kind, err);
	if (!status)
		status = tp_pattern_row_bool(row, "launcher", &pattern.is_launcher, err);
	if (!status)
		status = tp_pattern_row_bool(row, "interpreter", &pattern.is_interpreter, err);
	if (!status && !pattern.verbs != !pattern.nouns)
		status = tp_pattern_row_fail(row, row->json, "missing key",
					     pattern.verbs ? "nouns" : "verbs", NULL, err);
	if (status)
		return status;
	pattern.gives_phase = tp_pattern_row_has(row, "phase");
	pattern.file_kind = (enum tp_file_kind)kind;
	TP_ARRAY_PUSH(out->items, out->n_items, out->capacity) = pattern;
	return TP_OK;
}

static bool is_word_of(const char *word, size_t len, const char *const *words)
{
	for (; len && *words; words++) {
		size_t n = strlen(*words);
		if (strncmp(word, *words, n) == 0 && (len == n || (len == n + 1 && word[n] == 's')))
			return true;
	}
	return false;
}

/* Returns true if the name contains a verb and a noun of the lists as two different words: sample()
 * draws from a distribution more often than it loads a sample. Words are separated by any
 * characters that are not letters and must match completely, so that "thread" does not match
 * "read"; a plural s is allowed. */
static bool has_words(const char *name, const char *const *verbs, const char *const *nouns)
{
	size_t n_verbs = 0;
	size_t n_nouns = 0;
	size_t n_either = 0;
	for (const char *p = name; *p;) {
		size_t len = strspn(p, "abcdefghijklmnopqrstuvwxyz");
		bool is_verb = is_word_of(p, len, verbs);
		bool is_noun = is_word_of(p, len, nouns);
		n_verbs += is_verb;
		n_nouns += is_noun;
		n_either += is_verb || is_noun;
		p += len;
		p += *p != '\0' && len == 0;
	}
	return n_verbs && n_nouns && n_either > 1;
}

enum { MAX_MATCHED = 512 };

/* Writes the text, or only its part after the last slash, to out in lower case. */
static const char *prepare(const char *text, bool is_path, char out[MAX_MATCHED])
{
	const char *slash = is_path ? strrchr(text, '/') : NULL;
	if (slash && slash[1])
		text = slash + 1;
	return tp_pattern_lower(out, MAX_MATCHED, text);
}

/* Converts to lower case, with a space before a capital that begins a word: "nextBatch" -> "next
 * batch". */
static void split_words(const char *symbol, char out[2 * MAX_MATCHED])
{
	size_t n = 0;
	for (size_t i = 0; symbol[i] && n + 2 < (size_t)2 * MAX_MATCHED; i++) {
		bool begins = i && isupper((unsigned char)symbol[i]) &&
			      islower((unsigned char)symbol[i - 1]);
		if (begins)
			out[n++] = ' ';
		out[n++] = (char)tolower((unsigned char)symbol[i]);
	}
	out[n] = '\0';
}

/* A symbol in lower case: as recorded, and for a C++ function the name without types. */
struct symbol_names {
	char raw[MAX_MATCHED];
	char plain[MAX_MATCHED]; /* "dataloader::next" */
	const char *last;        /* "next" */
	char words[2 * MAX_MATCHED];
};

static void name_symbol(struct symbol_names *names, const char *symbol)
{
	char plain[MAX_MATCHED];
	bool is_cxx = tp_cxx_name_demangle(plain, sizeof(plain), symbol);
	prepare(symbol, false, names->raw);
	prepare(is_cxx ? plain : symbol, false, names->plain);
	split_words(is_cxx ? plain : symbol, names->words);
	const char *colon = strrchr(names->plain, ':');
	names->last = colon ? colon + 1 : names->plain;
}

/* A function with a DataLoader parameter is no loader, so types are ignored. Globs without
 * wildcards and scopes, which are names of C functions, and mangled names match the symbol as
 * recorded. */
static bool any_symbol(const char *const *globs, const struct symbol_names *names)
{
	for (; *globs; globs++) {
		if (!tp_pattern_may_match(*globs, names->raw) &&
		    !tp_pattern_may_match(*globs, names->plain) &&
		    !tp_pattern_may_match(*globs, names->last))
			continue;
		bool is_plain = strpbrk(*globs, "*?") || strstr(*globs, "::");
		bool is_raw = !is_plain || tp_text_starts_with(*globs, "_z");
		if (is_raw ? tp_text_glob(*globs, names->raw)
			   : tp_text_glob(*globs, names->plain) ||
				     tp_text_glob(*globs, names->last))
			return true;
	}
	return false;
}

static bool fits_names(const struct tp_frame_pattern *row, const struct symbol_names *names)
{
	return (!row->symbol || any_symbol(row->symbol, names)) &&
	       (!row->verbs || has_words(names->words, row->verbs, row->nouns));
}

static void add_row(struct tp_frame_class *sum, bool *has_phase, const struct tp_frame_pattern *row)
{
	if (!*has_phase)
		sum->phase = row->says.phase;
	*has_phase |= row->gives_phase;
	if (!sum->leaf)
		sum->leaf = row->says.leaf;
	sum->is_loader_root |= row->says.is_loader_root;
	sum->is_team_root |= row->says.is_team_root;
	sum->is_comm_root |= row->says.is_comm_root;
	sum->is_helper_root |= row->says.is_helper_root;
	sum->is_task_root |= row->says.is_task_root;
	sum->is_fork_server |= row->says.is_fork_server;
	sum->is_fetch_root |= row->says.is_fetch_root;
}

struct tp_frame_class tp_patterns_frame(const struct tp_patterns *patterns, const char *module,
					const char *symbol)
{
	struct tp_frame_class result = {0};
	bool has_phase = false;
	char module_name[MAX_MATCHED];
	struct symbol_names names;
	prepare(module, true, module_name);
	name_symbol(&names, symbol);
	for (size_t i = 0; i < patterns->frames.n_items; i++) {
		const struct tp_frame_pattern *row = &patterns->frames.items[i];
		if (!row->module && !row->symbol && !row->verbs)
			continue;
		if ((!row->module || tp_pattern_any_glob(row->module, module_name)) &&
		    fits_names(row, &names))
			add_row(&result, &has_phase, row);
	}
	return result;
}

struct tp_frame_class tp_patterns_words(const struct tp_patterns *patterns, const char *symbol,
					bool *gives_phase)
{
	struct tp_frame_class result = {0};
	struct symbol_names names = {0};
	prepare(symbol, false, names.plain);
	split_words(symbol, names.words);
	const char *dot = strrchr(names.plain, '.');
	names.last = dot ? dot + 1 : names.plain;
	*gives_phase = false;
	for (size_t i = 0; i < patterns->frames.n_items; i++) {
		const struct tp_frame_pattern *row = &patterns->frames.items[i];
		if (!row->module && (row->symbol || row->verbs) && fits_names(row, &names))
			add_row(&result, gives_phase, row);
	}
	result.leaf = TP_LEAF_NONE;
	return result;
}

enum tp_phase tp_patterns_mark(const struct tp_patterns *patterns, const char *mark)
{
	char name[MAX_MATCHED];
	prepare(mark, false, name);
	for (size_t i = 0; i < patterns->frames.n_items; i++)
		if (patterns->frames.items[i].mark &&
		    tp_pattern_any_glob(patterns->frames.items[i].mark, name))
			return patterns->frames.items[i].says.phase;
	return TP_PHASE_NONE;
}

enum tp_file_kind tp_patterns_file(const struct tp_patterns *patterns, const char *path)
{
	char name[MAX_MATCHED];
	prepare(path, false, name);
	for (size_t i = 0; i < patterns->frames.n_items; i++)
		if (patterns->frames.items[i].file &&
		    tp_pattern_any_glob(patterns->frames.items[i].file, name))
			return patterns->frames.items[i].file_kind;
	return TP_FILE_UNKNOWN;
}

bool tp_patterns_is_launcher(const struct tp_patterns *patterns, const char *program)
{
	char name[MAX_MATCHED];
	prepare(program, true, name);
	for (size_t i = 0; i < patterns->frames.n_items; i++)
		if (patterns->frames.items[i].program && patterns->frames.items[i].is_launcher &&
		    tp_pattern_any_glob(patterns->frames.items[i].program, name))
			return true;
	return false;
}

bool tp_patterns_is_interpreter(const struct tp_patterns *patterns, const char *program)
{
	char name[MAX_MATCHED];
	prepare(program, true, name);
	for (size_t i = 0; i < patterns->frames.n_items; i++)
		if (patterns->frames.items[i].program && patterns->frames.items[i].is_interpreter &&
		    tp_pattern_any_glob(patterns->frames.items[i].program, name))
			return true;
	return false;
}

static enum tp_thread_role role_of(const struct tp_frame_class *says)
{
	if (says->is_loader_root)
		return TP_THREAD_LOADER;
	if (says->is_team_root)
		return TP_THREAD_TEAM;
	return says->is_comm_root ? TP_THREAD_COMM : TP_THREAD_OTHER;
}

enum tp_thread_role tp_patterns_thread(const struct tp_patterns *patterns, const char *comm)
{
	char name[MAX_MATCHED];
	prepare(comm, false, name);
	for (size_t i = 0; i < patterns->frames.n_items; i++)
		if (patterns->frames.items[i].thread &&
		    tp_pattern_any_glob(patterns->frames.items[i].thread, name))
			return role_of(&patterns->frames.items[i].says);
	return TP_THREAD_OTHER;
}
