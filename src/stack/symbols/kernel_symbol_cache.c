/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses where the kernel's names are kept between runs, and how long they are valid. */
#include "kernel_symbol_cache.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/file.h"
#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MODULES_MAX_BYTES = 1 << 20 };

/* Reads the epoch of the running kernel. Returns false if /proc does not show it. */
static bool epoch_read(struct tp_kernel_epoch *out)
{
	struct tp_buf modules = {0};
	*out = (struct tp_kernel_epoch){0};
	if (tp_file_peek("/proc/sys/kernel/random/boot_id", out->boot_id, sizeof(out->boot_id)) <=
	    0)
		return false;
	/* The file is absent if the kernel has no modules. */
	if (tp_file_read(&modules, "/proc/modules", MODULES_MAX_BYTES, NULL) == TP_OK)
		out->modules_hash = tp_hash_bytes(tp_buf_text(&modules), modules.len);
	tp_buf_release(&modules);
	return true;
}

static bool is_ours(const char *directory)
{
	struct stat st;
	return stat(directory, &st) == 0 && st.st_uid == geteuid();
}

/* Returns the path of the kept names, following the XDG base directory specification. NULL if the
 * user has no such folder or if it belongs to another user: under sudo no file of root must be
 * created there. */
static char *cache_file(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"); /* NOLINT(concurrency-mt-unsafe): nobody */
	const char *home = getenv("HOME");            /* NOLINT(concurrency-mt-unsafe): sets any */
	if (cache && cache[0] == '/')
		return is_ours(cache) ? tp_asprintf("%s/trainprof/kernel-names", cache) : NULL;
	if (home && home[0] == '/' && is_ours(home))
		return tp_asprintf("%s/.cache/trainprof/kernel-names", home);
	return NULL;
}

/* Creates the last two directories of a path if they are missing. */
static void make_parents(const char *file)
{
	char *parent = tp_strdup(file);
	*strrchr(parent, '/') = '\0';
	char *slash = strrchr(parent, '/');
	*slash = '\0';
	mkdir(parent, 0700);
	*slash = '/';
	mkdir(parent, 0700);
	free(parent);
}

struct tp_kernel_symbols *tp_kernel_symbol_cache_load(void)
{
	struct tp_kernel_epoch epoch;
	char *file = epoch_read(&epoch) ? cache_file() : NULL;
	struct tp_kernel_symbols *names = file ? tp_kernel_symbols_restore(&epoch, file) : NULL;
	if (!names) {
		names = tp_kernel_symbols_load("/proc/kallsyms");
		if (file && !tp_kernel_symbols_is_empty(names)) {
			make_parents(file);
			tp_kernel_symbols_save(names, &epoch, file);
		}
	}
	free(file);
	return names;
}
