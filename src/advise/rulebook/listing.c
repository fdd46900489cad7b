/* SPDX-License-Identifier: Apache-2.0 */
/* Lists folders of rules. */
#include "listing.h"

#include "trainprof/base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void tp_listing_release(struct tp_listing *listing)
{
	for (int i = 0; i < listing->n; i++)
		free(listing->items[i]);
	free(listing->items);
	*listing = (struct tp_listing){0};
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Compares bytes: alphasort() would depend on the locale. */
static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

enum tp_status tp_listing_read(struct tp_listing *out, const char *path, struct tp_error *err)
{
	int n = scandir(path, &out->items, is_visible, compare_names);
	if (n >= 0) {
		out->n = n;
		return TP_OK;
	}
	int cause = errno;
	enum tp_status status = tp_fail_errno(err, cause, "%s", path);
	return cause == ENOTDIR ? TP_ABSENT : status;
}

char *tp_listing_basename(const struct tp_listing *listing, int i)
{
	const char *name = listing->items[i]->d_name;
	size_t len = strlen(name);
	if (len <= 5 || strcmp(name + len - 5, ".json") != 0)
		return NULL;
	return tp_strndup(name, len - 5);
}
