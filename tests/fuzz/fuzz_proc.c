/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the parsers of /proc and of control groups: any text, no crash, bounded work. */
#include "collect/machine/cpu_list.h"
#include "collect/machine/host_stat.h"
#include "collect/offcpu/wait_cause.h"
#include "collect/process/procfs.h"
#include "collect/process/procfs_stat.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse_lines(const char *text)
{
	struct tp_host_stat_disk disk;
	struct tp_host_stat_net net;
	for (const char *at = text; tp_host_stat_disk_next(&disk, &at);)
		continue;
	for (const char *at = text; tp_host_stat_net_next(&net, &at);)
		continue;
}

static void parse_host(const char *text)
{
	struct tp_cpu_list list;
	struct tp_host_stat_cpu cpu;
	struct tp_host_stat_pressure pressure;
	struct tp_host_stat_throttle throttle;
	if (!tp_cpu_list_parse(&list, text))
		tp_cpu_list_parse(&list, "0-3");
	tp_host_stat_cpu(&cpu, text, &list, 100);
	tp_host_stat_pressure(&pressure, text);
	tp_host_stat_throttle(&throttle, text);
	parse_lines(text);
}

static void parse_process(const char *text)
{
	struct tp_procfs_stat stat;
	struct tp_procfs_schedstat schedstat;
	struct tp_wait_facts facts = {.state = 'S', .link = text, .wchan = text};
	tp_procfs_stat_parse(&stat, text);
	tp_procfs_schedstat(&schedstat, text);
	facts.call.number = -1;
	facts.has_call = tp_procfs_syscall(&facts.call, text);
	facts.row = tp_syscall_find(TP_SYSCALL_X86_64, facts.call.number);
	tp_wait_cause_classify(&facts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	parse_host(text);
	parse_process(text);
	free(text);
	return 0;
}
