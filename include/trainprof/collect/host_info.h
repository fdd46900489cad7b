/* SPDX-License-Identifier: Apache-2.0 */
/* The machine as trainprof sees it: /proc and /sys below a root that tests can move. */
#ifndef TRAINPROF_COLLECT_HOST_INFO_H
#define TRAINPROF_COLLECT_HOST_INFO_H

#include "trainprof/base/arena.h"
#include "trainprof/model/run_info.h"

#include <stdbool.h>
#include <stddef.h>

/* The value of a setting that cannot be read: stricter than any. */
enum { TP_PARANOID_UNREADABLE = 99 };

/* Rooted at "" for the real machine, at tests/data/hosts/<name> for a recorded one. */
struct tp_host {
	const char *root;
	bool is_live;      /* false for a recorded tree: no system call may be made on its behalf */
	int perf_paranoid; /* kernel.perf_event_paranoid, or TP_PARANOID_UNREADABLE */
	int ptrace_scope;  /* 0 when there is no Yama */
	int perf_max_rate_hz;
	bool in_container;
	const char *cgroup_cpu; /* below root: the group with the tightest CPU quota, else our own
				   group; contains cpu.stat. NULL = none */
	const char *cgroup_memory; /* below root: our own group; NULL when none */
	bool cgroup_is_v2;
	struct tp_host_info info;
	struct tp_arena arena; /* owns the strings */
};

void tp_host_open(struct tp_host *host, const char *root);
void tp_host_close(struct tp_host *host);

/* root + path into out; returns out. */
const char *tp_host_path(const struct tp_host *host, char *out, size_t size, const char *path);

#endif
