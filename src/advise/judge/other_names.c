/* SPDX-License-Identifier: Apache-2.0 */
/* Groups other programs by name, and names those groups that use at least a tenth of the CPU time
 * that all of them use. */
#include "other_names.h"

#include "trainprof/base/buf.h"
#include "trainprof/model/fact.h"

#include <string.h>

enum { NAMED_MAX = 2, LISTED_MAX = 3, PIDS_MAX = 8, COLUMNS_MAX = 26 };

#define SHARE_MIN 0.1
#define CPUS_MIN  0.05 /* printed as 0.1 */

/* The processes of one name. */
struct other_group {
	const struct tp_other_program *largest;
	double cpus;
	unsigned n;
};

struct other_groups {
	struct other_group items[LISTED_MAX];
	size_t n; /* sorted by CPUs, only groups that are large enough */
};

/* The largest group that is not yet in `out`. */
static struct other_group next_group(const struct tp_profile *profile,
				     const struct other_groups *out)
{
	struct other_group best = {0};
	for (size_t i = 0; i < profile->n_others; i++) {
		struct other_group group = {.largest = &profile->others[i]};
		bool is_new = true;
		for (size_t k = 0; k < out->n; k++)
			is_new &= strcmp(out->items[k].largest->comm, group.largest->comm) != 0;
		for (size_t k = 0; is_new && k < profile->n_others; k++) {
			if (strcmp(profile->others[k].comm, group.largest->comm) != 0)
				continue;
			is_new = k >= i; /* an earlier process stands for the whole group */
			group.cpus += profile->others[k].cpus;
			group.n++;
		}
		if (is_new && group.cpus > best.cpus)
			best = group;
	}
	return best;
}

static struct other_groups find_groups(const struct tp_profile *profile)
{
	struct other_groups out = {0};
	double all = profile->facts[TP_FACT_CPU_OTHERS].value;
	while (out.n < LISTED_MAX) {
		struct other_group group = next_group(profile, &out);
		if (!group.largest || group.cpus < CPUS_MIN || group.cpus < SHARE_MIN * all)
			break;
		out.items[out.n++] = group;
	}
	return out;
}

static void add_group(struct tp_buf *out, const struct other_group *group)
{
	tp_buf_puts(out, group->largest->comm);
	if (group->n == 1)
		tp_buf_printf(out, " (pid %d)", (int)group->largest->pid);
	else
		tp_buf_printf(out, " (%u processes)", group->n);
}

static const char *finish(struct tp_buf *out, struct tp_arena *arena)
{
	const char *text = tp_arena_strdup(arena, tp_buf_text(out));
	tp_buf_release(out);
	return text;
}

const char *tp_other_programs_names(const struct tp_profile *profile, struct tp_arena *arena)
{
	struct tp_buf out = {0};
	struct other_groups groups = find_groups(profile);
	if (!groups.n)
		return TP_OTHER_PROGRAMS_UNKNOWN;
	for (size_t i = 0; i < groups.n && i < NAMED_MAX; i++) {
		tp_buf_puts(&out, i ? " and " : "");
		add_group(&out, &groups.items[i]);
	}
	return finish(&out, arena);
}

const char *tp_other_programs_cpus(const struct tp_profile *profile, struct tp_arena *arena)
{
	struct tp_buf out = {0};
	struct other_groups groups = find_groups(profile);
	for (size_t i = 0; i < groups.n; i++) {
		const char *comm = groups.items[i].largest->comm;
		if (i && out.len + strlen(comm) + strlen(",  1.0") > COLUMNS_MAX)
			break;
		tp_buf_printf(&out, "%s%s %.1f", i ? ", " : ": ", comm, groups.items[i].cpus);
	}
	return finish(&out, arena);
}

const char *tp_other_programs_pids(const struct tp_profile *profile, struct tp_arena *arena)
{
	struct tp_buf out = {0};
	struct other_groups groups = find_groups(profile);
	size_t n = 0;
	for (size_t i = 0; i < groups.n; i++)
		for (size_t k = 0; k < profile->n_others && n < PIDS_MAX; k++)
			if (strcmp(profile->others[k].comm, groups.items[i].largest->comm) == 0)
				tp_buf_printf(&out, "%s%d", n++ ? " " : "",
					      (int)profile->others[k].pid);
	const char *pids = finish(&out, arena);
	return n ? pids : NULL;
}
