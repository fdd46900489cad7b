/* SPDX-License-Identifier: Apache-2.0 */
/* The formulas for top-down slots on each kind of CPU. */
#include "pmu_topdown.h"

#include "collect/machine/host_file.h"
#include "pmu_libpfm.h"

#include "trainprof/base/memory.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTS_TOLERANCE 0.05

/* The CPU model numbers from /proc/cpuinfo; x86 only. */
struct cpu_model {
	char vendor[32];
	unsigned family;
	unsigned model;
};

static bool read_model(const struct tp_host *host, struct cpu_model *out)
{
	char text[64];
	memset(out, 0, sizeof(*out));
	if (!tp_host_file_field(host, "/proc/cpuinfo", "vendor_id", out->vendor,
				sizeof(out->vendor)) ||
	    !tp_host_file_field(host, "/proc/cpuinfo", "cpu family", text, sizeof(text)))
		return false;
	out->family = (unsigned)strtoul(text, NULL, 10);
	if (!tp_host_file_field(host, "/proc/cpuinfo", "model", text, sizeof(text)))
		return false;
	out->model = (unsigned)strtoul(text, NULL, 10);
	return true;
}

/* Returns the event of the kernel's alias on this PMU, else the generic event. */
static struct tp_pmu_event alias_or_generic(const struct tp_host *host,
					    const struct tp_core_pmu *pmu, const char *x86,
					    const char *arm, uint64_t generic)
{
	struct tp_pmu_event event;
	if (tp_pmu_event_alias_find(&event, host, pmu, x86) ||
	    tp_pmu_event_alias_find(&event, host, pmu, arm))
		return event;
	return (struct tp_pmu_event){.type = PERF_TYPE_HARDWARE, .config = generic};
}

/* Events of the last-level cache. The generic cache events count it only on Intel: on AMD they
 * count the second level, on ARM the first. AMD since Zen 3: ls_any_fills_from_sys (0x44), fills
 * from beyond the core's second level (0x5e) and from beyond its third (0x5c). */
static bool find_llc(struct tp_pmu_event *refs, struct tp_pmu_event *misses,
		     const struct tp_host *host, const struct tp_core_pmu *pmu)
{
	struct cpu_model cpu;
	if (!read_model(host, &cpu))
		return tp_pmu_event_alias_find(refs, host, pmu, "ll_cache_rd") &&
		       tp_pmu_event_alias_find(misses, host, pmu, "ll_cache_miss_rd");
	if (strcmp(cpu.vendor, "GenuineIntel") == 0)
		return tp_pmu_event_alias_find(refs, host, pmu, "cache-references") &&
		       tp_pmu_event_alias_find(misses, host, pmu, "cache-misses");
	if (strcmp(cpu.vendor, "AuthenticAMD") != 0 || (cpu.family != 0x19 && cpu.family != 0x1a))
		return false;
	*refs = (struct tp_pmu_event){.type = pmu->type, .config = 0x5e44};
	*misses = (struct tp_pmu_event){.type = pmu->type, .config = 0x5c44};
	return true;
}

size_t tp_pmu_topdown_basic(struct tp_pmu_event *out, const struct tp_host *host,
			    const struct tp_core_pmu *pmu)
{
	out[TP_BASIC_CYCLES] =
		alias_or_generic(host, pmu, "cpu-cycles", "cpu_cycles", PERF_COUNT_HW_CPU_CYCLES);
	out[TP_BASIC_INSTRUCTIONS] = alias_or_generic(host, pmu, "instructions", "inst_retired",
						      PERF_COUNT_HW_INSTRUCTIONS);
	return find_llc(&out[TP_BASIC_LLC_REFS], &out[TP_BASIC_LLC_MISSES], host, pmu) ? TP_N_BASIC
										       : 2;
}

static void topdown_init(struct tp_pmu_topdown *out, const char *name)
{
	memset(out, 0, sizeof(*out));
	out->name = name;
	out->memory_count = TP_PMU_TOPDOWN_NONE;
	out->memory_numerator = TP_PMU_TOPDOWN_NONE;
	out->memory_denominator = TP_PMU_TOPDOWN_NONE;
	out->parts[0] = TP_PMU_TOPDOWN_NONE;
}

static int add_event(struct tp_pmu_topdown *recipe, struct tp_pmu_event event)
{
	recipe->events[recipe->n] = event;
	return (int)recipe->n++;
}

static int add_alias(struct tp_pmu_topdown *recipe, const struct tp_host *host,
		     const struct tp_core_pmu *pmu, const char *alias)
{
	struct tp_pmu_event event;
	if (!tp_pmu_event_alias_find(&event, host, pmu, alias))
		return TP_PMU_TOPDOWN_NONE;
	return add_event(recipe, event);
}

/* Intel since Ice Lake: the kernel converts the metrics register to counts of slots. `slots` must
 * lead the group. Memory-bound since Sapphire Rapids. Linux: arch/x86/events/intel/core.c. */
static bool find_intel_metrics(struct tp_pmu_topdown *out, const struct tp_host *host,
			       const struct tp_core_pmu *pmu)
{
	static const char *const parts[] = {"topdown-retiring", "topdown-bad-spec",
					    "topdown-fe-bound", "topdown-be-bound"};
	topdown_init(out, "Intel top-down metrics");
	if (add_alias(out, host, pmu, "slots") != 0)
		return false;
	out->slots[0] = 1;
	for (int i = 0; i < 4; i++) {
		out->parts[i] = add_alias(out, host, pmu, parts[i]);
		if (out->parts[i] < 0)
			return false;
	}
	out->backend[out->parts[3]] = 1;
	out->memory_count = add_alias(out, host, pmu, "topdown-mem-bound");
	return true;
}

/* Counters of one thread are meaningless for a core that two threads share. */
static bool has_smt(const struct tp_host *host)
{
	char text[8];
	return tp_host_file_line(host, "/sys/devices/system/cpu/smt/active", text, sizeof(text)) &&
	       text[0] == '1';
}

/* Intel from Sandy Bridge to Cascade Lake: slots that are neither issued nor lost to the front end
 * or to recovery are back-end bound. The kernel's aliases have scales. */
static bool find_intel_bubbles(struct tp_pmu_topdown *out, const struct tp_host *host,
			       const struct tp_core_pmu *pmu)
{
	static const char *const taken[] = {"topdown-fetch-bubbles", "topdown-slots-issued",
					    "topdown-recovery-bubbles"};
	topdown_init(out, "Intel top-down bubbles");
	if (add_alias(out, host, pmu, "topdown-total-slots") != 0)
		return false;
	out->slots[0] = tp_pmu_event_alias_scale(host, pmu, "topdown-total-slots");
	out->backend[0] = out->slots[0];
	for (size_t i = 0; i < TP_ARRAY_LEN(taken); i++) {
		int at = add_alias(out, host, pmu, taken[i]);
		if (at < 0)
			return false;
		out->backend[at] = -tp_pmu_event_alias_scale(host, pmu, taken[i]);
	}
	return true;
}

/* Returns an event by libpfm4's name, or by its number if libpfm4 is missing or too old. */
static struct tp_pmu_event named_or_raw(const struct tp_core_pmu *pmu, const char *name,
					uint64_t raw)
{
	struct tp_pmu_event event;
	if (name && tp_pmu_libpfm_encode(&event, name, NULL) == TP_OK)
		return event;
	return (struct tp_pmu_event){.type = pmu->type, .config = raw};
}

/*
 * AMD Zen 4 and Zen 5. Linux: tools/perf/pmu-events/arch/x86/amdzen4 and amdzen5, pipeline.json:
 * slots = 6 or 8 x ls_not_halted_cyc, back end = de_no_dispatch_per_slot.backend_stalls, memory =
 * back end x ex_no_retire.load_not_complete / ex_no_retire.not_complete.
 */
static bool find_amd(struct tp_pmu_topdown *out, const struct cpu_model *cpu,
		     const struct tp_core_pmu *pmu)
{
	const unsigned model = cpu->model;
	/* Family 19h is Zen 3, 3+ and 4; these are the models of Zen 4
	 * (arch/x86/kernel/cpu/amd.c). */
	bool is_zen4 = cpu->family == 0x19 &&
		       ((model >= 0x10 && model <= 0x1f) || (model >= 0x60 && model <= 0x7f) ||
			(model >= 0xa0 && model <= 0xaf));
	bool is_zen5 = cpu->family == 0x1a;
	if (!is_zen4 && !is_zen5)
		return false;
	topdown_init(out, is_zen4 ? "AMD Zen 4 dispatch slots" : "AMD Zen 5 dispatch slots");
	int cycles = add_event(
		out,
		named_or_raw(pmu, is_zen4 ? "amd64_fam19h_zen4::CYCLES_NOT_IN_HALT" : NULL, 0x76));
	int stalls = add_event(
		out,
		named_or_raw(pmu, is_zen4 ? "amd64_fam19h_zen4::DISPATCH_STALLS_1:BE_STALLS" : NULL,
			     0x100001ea0));
	out->memory_numerator = add_event(out, named_or_raw(pmu, NULL, 0xa2d6));
	out->memory_denominator = add_event(out, named_or_raw(pmu, NULL, 0x02d6));
	out->slots[cycles] = is_zen4 ? 6 : 8;
	out->backend[stalls] = 1;
	return true;
}

/* ARMv8.4 PMU: "ARM top-down methodology", stall_slot_backend over slots x cycles; memory from the
 * share of back-end stall cycles that wait for memory. */
static bool find_arm(struct tp_pmu_topdown *out, const struct tp_host *host,
		     const struct tp_core_pmu *pmu)
{
	uint64_t width;
	topdown_init(out, "ARM stall slots");
	if (!tp_pmu_event_alias_cap(&width, host, pmu, "slots") || width == 0)
		return false;
	int cycles = add_alias(out, host, pmu, "cpu_cycles");
	int stalls = add_alias(out, host, pmu, "stall_slot_backend");
	if (cycles < 0 || stalls < 0)
		return false;
	out->slots[cycles] = (double)width;
	out->backend[stalls] = 1;
	size_t n = out->n;
	out->memory_numerator = add_alias(out, host, pmu, "stall_backend_mem");
	out->memory_denominator = add_alias(out, host, pmu, "stall_backend");
	if (out->memory_numerator < 0 || out->memory_denominator < 0) {
		out->memory_numerator = TP_PMU_TOPDOWN_NONE;
		out->n = n;
	}
	return true;
}

bool tp_pmu_topdown_find(struct tp_pmu_topdown *out, const struct tp_host *host,
			 const struct tp_core_pmu *pmu, char *why, size_t size)
{
	struct tp_pmu_topdown found;
	struct cpu_model cpu;
	bool is_x86 = read_model(host, &cpu);
	bool good = find_intel_metrics(&found, host, pmu);
	if (!good && find_intel_bubbles(&found, host, pmu)) {
		if (has_smt(host)) {
			snprintf(why, size,
				 "top-down counters of this CPU need SMT off: its threads share "
				 "them");
			return false;
		}
		good = true;
	}
	if (!good && is_x86 && strcmp(cpu.vendor, "AuthenticAMD") == 0)
		good = find_amd(&found, &cpu, pmu);
	if (!good && !is_x86)
		good = find_arm(&found, host, pmu);
	if (good)
		*out = found;
	else
		snprintf(why, size, "this CPU has no top-down counters that are known");
	return good;
}

static double weighted_sum(const double *weights, const double *counts, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += weights[i] * counts[i];
	return sum;
}

static double memory_bound(const struct tp_pmu_topdown *recipe, const double *counts,
			   double backend)
{
	if (recipe->memory_count >= 0)
		return counts[recipe->memory_count];
	if (recipe->memory_numerator < 0 || recipe->memory_denominator < 0)
		return (double)NAN;
	double denominator = counts[recipe->memory_denominator];
	if (denominator <= 0)
		return 0;
	double ratio = counts[recipe->memory_numerator] / denominator;
	return backend * (ratio < 1 ? ratio : 1);
}

bool tp_pmu_topdown_compute(struct tp_pmu_topdown_slots *out, const struct tp_pmu_topdown *recipe,
			    const double *counts)
{
	struct tp_pmu_topdown_slots result;
	result.slots = weighted_sum(recipe->slots, counts, recipe->n);
	result.backend = fmax(weighted_sum(recipe->backend, counts, recipe->n), 0);
	result.memory = memory_bound(recipe, counts, result.backend);
	if (!(result.slots > 0) || result.backend > result.slots * (1 + PARTS_TOLERANCE))
		return false;
	if (recipe->parts[0] >= 0) {
		double parts = 0;
		for (int i = 0; i < 4; i++)
			parts += counts[recipe->parts[i]];
		if (fabs(parts / result.slots - 1) > PARTS_TOLERANCE)
			return false;
	}
	*out = result;
	return true;
}
