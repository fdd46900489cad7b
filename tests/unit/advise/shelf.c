/* SPDX-License-Identifier: Apache-2.0 */
/* Writes rule files for tests and loads them. */
#include "advise/shelf.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact_id.h"

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
	shelf_put_advice(shelf, name, when, "\"technique\": \"t\"", members);
}

void shelf_put_advice(const struct shelf *shelf, const char *name, const char *when,
		      const char *action, const char *members)
{
	char *path = tp_asprintf("bottlenecks/test/%s.json", name);
	char *text = tp_asprintf(
		"{\"id\": \"test/%s\", \"title\": \"Title of %s\", \"kind\": \"free\",\n"
		" \"needs\": [\"step.count\"], \"when\": [\"%s\"],\n"
		" \"because\": \"{step.count} steps.\",\n"
		" \"do\": [{\"headline\": \"Do %s\", \"text\": \"Do it.\", %s}],\n"
		" \"price\": \"None.\", \"verify\": \"step.count rises.\",\n"
		" \"sources\": [{\"title\": \"T\", \"where\": \"W\", \"checked\": "
		"\"2026-11-20\"}]%s}\n",
		name, name, when, name, action, members);
	shelf_put(shelf, path, text);
	free(text);
	free(path);
}

void shelf_put_changed(const struct shelf *shelf, const char *name, const char *text,
		       const char *from, const char *to)
{
	const char *at = strstr(text, from);
	ck_assert_msg(at != NULL, "'%s' is not there", from);
	char *changed = tp_asprintf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
	shelf_put(shelf, name, changed);
	free(changed);
}

const char shelf_limits[] =
	"{\"limits\": [\n"
	" {\"id\": \"disk\", \"title\": \"The disk is slow\", \"order\": 2,\n"
	"  \"parent\": \"wait\", \"signals\": \"a busy disk\", \"proof\": \"another disk\",\n"
	"  \"look_alikes\": [\"a slow network\"]},\n"
	" {\"id\": \"wait\", \"title\": \"It waits\", \"order\": 1,\n"
	"  \"signals\": \"waits\", \"proof\": \"wait less\", \"look_alikes\": []}]}\n";

const char shelf_sources[] =
	"{\"sources\": [\n"
	" {\"tag\": \"AMPS\", \"title\": \"Paper A\", \"where\": \"a.org\", \"checked\": "
	"\"2026-11-20\"},\n"
	" {\"tag\": \"BOOK\", \"title\": \"Paper B\", \"where\": \"b.org\", \"checked\": "
	"\"2026-11-21\"}]}\n";

const char shelf_fast[] =
	"{\"id\": \"fast\", \"title\": \"Read faster\", \"group\": \"input\",\n"
	" \"relieves\": [\"wait\", \"disk\"],\n"
	" \"component\": \"impl\", \"action\": \"Reorder\",\n"
	" \"mechanism\": \"static; throughout training; uniform\",\n"
	" \"reduces\": \"iteration\", \"kind\": \"free\",\n"
	" \"effects\": [\n"
	"  {\"text\": \"1.5x\", \"hardware\": \"one A100\", \"baseline\": \"reading slowly\", "
	"\"source\": \"AMPS\"},\n"
	"  {\"text\": \"2x\", \"hardware\": \"not stated\", \"baseline\": \"a tape\", "
	"\"source\": \"BOOK\"}],\n"
	" \"needs\": [{\"text\": \"idle CPUs\", \"when\": \"cpu.idle_cpus > 1\"},\n"
	"           {\"text\": \"patience\"}],\n"
	" \"not_when\": [{\"text\": \"all CPUs are busy\", \"when\": \"cpu.idle_cpus < 0.5\"}],\n"
	" \"done_when\": \"loader.workers >= 1\",\n"
	" \"together\": [\"slow\"],\n"
	" \"risk\": {\"level\": \"none\", \"text\": \"the same samples\"},\n"
	" \"effort\": \"flag\",\n"
	" \"how\": {\"pytorch\": \"fast=True\", \"c\": \"fast()\"},\n"
	" \"verify\": \"the wait falls\"}\n";

const char shelf_slow[] = "{\"id\": \"slow\", \"title\": \"Write slower\", \"group\": \"cpu\",\n"
			  " \"relieves\": [\"wait\"],\n"
			  " \"component\": \"O.alg\", \"action\": \"Remove\",\n"
			  " \"mechanism\": \"adaptive; a phase; importance\",\n"
			  " \"reduces\": \"both\", \"kind\": \"semantic\", \"effects\": [],\n"
			  " \"needs\": [], \"not_when\": [],\n"
			  " \"risk\": {\"level\": \"high\", \"text\": \"less is learnt\"},\n"
			  " \"against\": \"fast\", \"effort\": \"refactor\", \"how\": {\"jax\": "
			  "\"slow\"}, \"verify\": \"it is slower\"}\n";

void shelf_refuses(const struct shelf *shelf, const struct shelf_mistake *mistakes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct shelf_mistake *mistake = &mistakes[i];
		struct tp_rulebook *book = NULL;
		struct tp_error err = {0};
		shelf_put_changed(shelf, mistake->file, mistake->text, mistake->from, mistake->to);
		ck_assert_int_eq(shelf_load(shelf, &book, &err), TP_PARSE);
		tp_rulebook_free(book);
		ck_assert_msg(strstr(err.text, mistake->said) != NULL, "'%s' instead of '%s'",
			      err.text, mistake->said);
		shelf_put(shelf, mistake->file, mistake->text);
	}
}

void shelf_put_guide(const struct shelf *shelf)
{
	shelf_put(shelf, "limits.json", shelf_limits);
	shelf_put(shelf, "sources.json", shelf_sources);
	shelf_put(shelf, "techniques/fast.json", shelf_fast);
	shelf_put(shelf, "techniques/slow.json", shelf_slow);
}

enum tp_status shelf_load(const struct shelf *shelf, struct tp_rulebook **out, struct tp_error *err)
{
	const char *path = shelf->path;
	return tp_rulebook_load(out, &path, 1, err);
}

void facts_init(struct tp_quantity *facts)
{
	for (tp_fact_id i = 0; i < tp_n_facts; i++)
		facts[i] = (struct tp_quantity){.missing = "not measured"};
}

void facts_set(struct tp_quantity *facts, tp_fact_id fact, double value)
{
	facts[fact] = (struct tp_quantity){.is_known = true, .value = value, .coverage = 1};
}

void facts_set_range(struct tp_quantity *facts, tp_fact_id fact, double value, double low,
		     double high)
{
	facts_set(facts, fact, value);
	facts[fact].has_interval = true;
	facts[fact].low = low;
	facts[fact].high = high;
}
