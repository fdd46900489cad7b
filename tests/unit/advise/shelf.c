/* Writes rule files for tests and loads them. */
#include "advise/shelf.h"

#include "trainprof/base/memory.h"

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void shelf_open(struct shelf *shelf)
{
	snprintf(shelf->path, sizeof(shelf->path), "/tmp/trainprof-shelf-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(shelf->path));
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	(void)status;
	(void)kind;
	(void)walk;
	return remove(path);
}

void shelf_close(struct shelf *shelf)
{
	nftw(shelf->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void shelf_put(const struct shelf *shelf, const char *name, const char *text)
{
	char *path = tp_asprintf("%s/%s", shelf->path, name);
	for (char *slash = strchr(path + strlen(shelf->path) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	ck_assert_int_eq(fclose(file), 0);
	free(path);
}

void shelf_put_rule(const struct shelf *shelf, const char *name, const char *when,
		    const char *members)
{
	char *path = tp_asprintf("bottlenecks/test/%s.json", name);
	char *text = tp_asprintf(
		"{\"id\": \"test/%s\", \"title\": \"Title of %s\", \"kind\": \"free\",\n"
		" \"needs\": [\"step.count\"], \"when\": [\"%s\"],\n"
		" \"because\": \"{step.count} steps.\",\n"
		" \"do\": [{\"headline\": \"Do %s\", \"text\": \"Do it.\", \"technique\": "
		"\"t\"}],\n"
		" \"price\": \"None.\", \"verify\": \"step.count rises.\",\n"
		" \"sources\": [{\"title\": \"T\", \"where\": \"W\", \"checked\": "
		"\"2026-11-20\"}]%s}\n",
		name, name, when, name, members);
	shelf_put(shelf, path, text);
	free(text);
	free(path);
}

enum tp_status shelf_load(const struct shelf *shelf, struct tp_rulebook **out, struct tp_error *err)
{
	const char *path = shelf->path;
	return tp_rulebook_load(out, &path, 1, err);
}

void facts_init(struct tp_quantity facts[TP_N_FACTS])
{
	for (int i = 0; i < TP_N_FACTS; i++)
		facts[i] = (struct tp_quantity){.missing = "not measured"};
}

void facts_set(struct tp_quantity facts[TP_N_FACTS], enum tp_fact fact, double value)
{
	facts[fact] = (struct tp_quantity){.is_known = true, .value = value, .coverage = 1};
}

void facts_set_range(struct tp_quantity facts[TP_N_FACTS], enum tp_fact fact, double value,
		     double low, double high)
{
	facts_set(facts, fact, value);
	facts[fact].has_interval = true;
	facts[fact].low = low;
	facts[fact].high = high;
}
