/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the process's own cost from /proc. */
#include "selfcost.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static long resident_pages(void)
{
	long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");
	if (file && fscanf(file, "%*d %ld", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return pages;
}

/* "tid (name) S ... utime stime": fields 14 and 15; names here hold no parenthesis. */
static int read_thread(const char *tid, char name[32], double *cpu_s)
{
	char path[64];
	unsigned long user = 0;
	unsigned long system = 0;
	snprintf(path, sizeof(path), "/proc/self/task/%.20s/stat", tid);
	FILE *file = fopen(path, "r");
	int n = file ? fscanf(file,
			      "%*d (%31[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
			      name, &user, &system)
		     : 0;
	if (file)
		fclose(file);
	*cpu_s = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
	return n == 3;
}

void selfcost_read(char out[SELFCOST_TEXT])
{
	size_t used =
		(size_t)snprintf(out, SELFCOST_TEXT, "\"resident_bytes\": %ld, \"threads\": [",
				 resident_pages() * sysconf(_SC_PAGESIZE));
	const char *between = "";
	DIR *directory = opendir("/proc/self/task");
	for (struct dirent *entry; directory && (entry = readdir(directory));) {
		char name[32] = "";
		double cpu_s;
		/* Room for the longest entry and the end. */
		if (*entry->d_name == '.' || used + 100 > SELFCOST_TEXT ||
		    !read_thread(entry->d_name, name, &cpu_s))
			continue;
		used += (size_t)snprintf(out + used, SELFCOST_TEXT - used,
					 "%s{\"name\": \"%s\", \"cpu_s\": %.2f}", between, name,
					 cpu_s);
		between = ", ";
	}
	if (directory)
		closedir(directory);
	snprintf(out + used, SELFCOST_TEXT - used, "]");
}
