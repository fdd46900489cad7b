/* SPDX-License-Identifier: Apache-2.0 */
/* Collector "host": machine-wide counters every two seconds, and at start and stop. */
#include "collect/registry.h"

#include "host_file.h"
#include "host_stat.h"
#include "page_fault_cost.h"
#include "stage_clock.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/collect/collector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

/* A device or interface: whether it is hardware, and the start value of its counter. */
struct host_part {
	char name[32];
	bool is_counted;
	uint64_t first_busy_ns;
};

struct host_collector {
	struct tp_collector base;
	const struct tp_host *host;
	struct tp_sink *sink;
	struct tp_cpu_list allowed;
	uint64_t ticks_hz;
	uint64_t page_bytes;
	struct tp_buf text;
	struct host_part *disks;
	size_t n_disks;
	size_t disks_capacity;
	bool has_net_hardware;
	uint64_t n_gauges;
};

static bool read_text(struct host_collector *self, const char *path)
{
	return tp_host_file_read(&self->text, self->host, path);
}

static bool exists(const struct tp_host *host, const char *directory, const char *name,
		   const char *file)
{
	char path[PATH_SIZE];
	snprintf(path, sizeof(path), "%s/%s/%s", directory, name, file);
	return tp_host_file_exists(host, path);
}

static void emit_gauge(struct host_collector *self, enum tp_metric metric, uint64_t now_ns,
		       double value)
{
	tp_sink_gauge(self->sink, metric, TP_NO_TASK, now_ns, value);
	self->n_gauges++;
}

static void emit_cpu(struct host_collector *self, uint64_t now_ns)
{
	struct tp_host_stat_cpu cpu;
	if (!read_text(self, "/proc/stat") ||
	    !tp_host_stat_cpu(&cpu, self->text.data, &self->allowed, self->ticks_hz))
		return;
	emit_gauge(self, TP_METRIC_CPU_BUSY, now_ns, (double)cpu.busy_ns);
	emit_gauge(self, TP_METRIC_CPU_IDLE, now_ns, (double)cpu.idle_ns);
	emit_gauge(self, TP_METRIC_CPU_STEAL, now_ns, (double)cpu.steal_ns);
}

/* Uses our control group's pressure if version 2 provides it: a shared machine stalls for reasons
 * that have nothing to do with the target. */
static bool read_pressure(struct host_collector *self, const char *resource,
			  struct tp_host_stat_pressure *out)
{
	char path[PATH_SIZE];
	if (self->host->cgroup_memory) {
		snprintf(path, sizeof(path), "%s/%s.pressure", self->host->cgroup_memory, resource);
		if (read_text(self, path) && tp_host_stat_pressure(out, self->text.data))
			return true;
	}
	snprintf(path, sizeof(path), "/proc/pressure/%s", resource);
	return read_text(self, path) && tp_host_stat_pressure(out, self->text.data);
}

static void emit_pressure(struct host_collector *self, uint64_t now_ns)
{
	struct tp_host_stat_pressure pressure;
	if (read_pressure(self, "cpu", &pressure))
		emit_gauge(self, TP_METRIC_PSI_CPU, now_ns, (double)pressure.some_ns);
	if (read_pressure(self, "memory", &pressure)) {
		emit_gauge(self, TP_METRIC_PSI_MEM_SOME, now_ns, (double)pressure.some_ns);
		emit_gauge(self, TP_METRIC_PSI_MEM_FULL, now_ns, (double)pressure.full_ns);
	}
	if (read_pressure(self, "io", &pressure)) {
		emit_gauge(self, TP_METRIC_PSI_IO_SOME, now_ns, (double)pressure.some_ns);
		emit_gauge(self, TP_METRIC_PSI_IO_FULL, now_ns, (double)pressure.full_ns);
	}
}

static void emit_throttling(struct host_collector *self, uint64_t now_ns)
{
	struct tp_host_stat_throttle throttle;
	char path[PATH_SIZE];
	if (!self->host->cgroup_cpu)
		return;
	snprintf(path, sizeof(path), "%s/cpu.stat", self->host->cgroup_cpu);
	if (!read_text(self, path) || !tp_host_stat_throttle(&throttle, self->text.data))
		return;
	emit_gauge(self, TP_METRIC_CG_PERIODS, now_ns, (double)throttle.periods);
	emit_gauge(self, TP_METRIC_CG_THROTTLES, now_ns, (double)throttle.throttled_periods);
	emit_gauge(self, TP_METRIC_CG_THROTTLED, now_ns, (double)throttle.throttled_ns);
}

/* Partitions are not in /sys/block; mapped, striped and loop devices have no "device" there. Both
 * would count the same bytes twice. */
static struct host_part *find_disk(struct host_collector *self,
				   const struct tp_host_stat_disk *disk)
{
	for (size_t i = 0; i < self->n_disks; i++) {
		if (strcmp(self->disks[i].name, disk->name) == 0)
			return &self->disks[i];
	}
	struct host_part new = {.is_counted =
					exists(self->host, "/sys/block", disk->name, "device"),
				.first_busy_ns = disk->busy_ns};
	snprintf(new.name, sizeof(new.name), "%s", disk->name);
	TP_ARRAY_PUSH(self->disks, self->n_disks, self->disks_capacity) = new;
	return &self->disks[self->n_disks - 1];
}

static void emit_disks(struct host_collector *self, uint64_t now_ns)
{
	struct tp_host_stat_disk disk;
	struct tp_host_stat_disk sum = {0};
	bool found = false;
	if (!read_text(self, "/proc/diskstats"))
		return;
	for (const char *at = self->text.data; tp_host_stat_disk_next(&disk, &at);) {
		const struct host_part *part = find_disk(self, &disk);
		if (!part->is_counted)
			continue;
		/* Since the start of the run, because the busiest disk since boot may be another
		 * one. */
		uint64_t busy_ns = disk.busy_ns - part->first_busy_ns;
		found = true;
		sum.read_bytes += disk.read_bytes;
		sum.write_bytes += disk.write_bytes;
		sum.reads += disk.reads;
		sum.busy_ns = busy_ns > sum.busy_ns ? busy_ns : sum.busy_ns;
	}
	if (!found)
		return;
	emit_gauge(self, TP_METRIC_DISK_READ, now_ns, (double)sum.read_bytes);
	emit_gauge(self, TP_METRIC_DISK_WRITE, now_ns, (double)sum.write_bytes);
	emit_gauge(self, TP_METRIC_DISK_READS, now_ns, (double)sum.reads);
	emit_gauge(self, TP_METRIC_DISK_BUSY, now_ns, (double)sum.busy_ns);
}

/* Bridges, bonds and virtual pairs repeat the traffic of the hardware. A container has only virtual
 * ones: there all except the loopback count. */
static bool counts_net(const struct host_collector *self, const char *name)
{
	return strcmp(name, "lo") != 0 &&
	       (!self->has_net_hardware || exists(self->host, "/sys/class/net", name, "device"));
}

static void find_net_hardware(struct host_collector *self)
{
	struct tp_host_stat_net net;
	if (!read_text(self, "/proc/net/dev"))
		return;
	for (const char *at = self->text.data; tp_host_stat_net_next(&net, &at);)
		self->has_net_hardware |= exists(self->host, "/sys/class/net", net.name, "device");
}

static void emit_net(struct host_collector *self, uint64_t now_ns)
{
	struct tp_host_stat_net net;
	uint64_t bytes = 0;
	bool found = false;
	if (!read_text(self, "/proc/net/dev"))
		return;
	for (const char *at = self->text.data; tp_host_stat_net_next(&net, &at);) {
		if (!counts_net(self, net.name))
			continue;
		found = true;
		bytes += net.bytes;
	}
	if (found)
		emit_gauge(self, TP_METRIC_NET_BYTES, now_ns, (double)bytes);
}

static void emit_memory(struct host_collector *self, uint64_t now_ns)
{
	uint64_t value;
	if (read_text(self, "/proc/meminfo") &&
	    tp_host_stat_field(&value, self->text.data, "MemAvailable:"))
		emit_gauge(self, TP_METRIC_MEM_AVAILABLE, now_ns, (double)value * 1024);
	if (!read_text(self, "/proc/vmstat"))
		return;
	if (tp_host_stat_field(&value, self->text.data, "pswpin"))
		emit_gauge(self, TP_METRIC_SWAP_IN, now_ns, (double)(value * self->page_bytes));
	if (tp_host_stat_field(&value, self->text.data, "pswpout"))
		emit_gauge(self, TP_METRIC_SWAP_OUT, now_ns, (double)(value * self->page_bytes));
}

static void emit_all(struct host_collector *self, uint64_t now_ns)
{
	emit_cpu(self, now_ns);
	emit_pressure(self, now_ns);
	emit_throttling(self, now_ns);
	emit_disks(self, now_ns);
	emit_net(self, now_ns);
	emit_memory(self, now_ns);
}

static void host_collector_probe(const struct tp_host *host, struct tp_availability *out)
{
	char text[256];
	memset(out, 0, sizeof(*out));
	if (!tp_host_file_line(host, "/proc/stat", text, sizeof(text))) {
		out->presence = TP_PRESENCE_NO_PERMISSION;
		snprintf(out->reason, sizeof(out->reason), "/proc/stat cannot be read");
		snprintf(out->remedy, sizeof(out->remedy), "mount /proc");
		return;
	}
	/* The file exists but cannot be read if pressure accounting is disabled. */
	if (!tp_host_file_line(host, "/proc/pressure/cpu", text, sizeof(text))) {
		out->presence = TP_PRESENCE_DEGRADED;
		snprintf(out->reason, sizeof(out->reason),
			 "no pressure figures: the kernel runs without PSI");
		snprintf(out->remedy, sizeof(out->remedy), "boot with psi=1");
	}
}

static enum tp_status host_collector_open(struct tp_collector **out,
					  const struct tp_collect_context *context,
					  struct tp_error *err)
{
	(void)err;
	struct host_collector *self = tp_alloc(sizeof(*self));
	self->base.type = &tp_host_collector;
	host_collector_probe(context->host, &self->base.availability);
	self->host = context->host;
	self->sink = context->sink;
	self->ticks_hz = (uint64_t)sysconf(_SC_CLK_TCK);
	self->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	tp_host_file_allowed(&self->allowed, context->host);
	find_net_hardware(self);
	*out = &self->base;
	return TP_OK;
}

static enum tp_status host_collector_start(struct tp_collector *base, pid_t target,
					   struct tp_error *err)
{
	struct host_collector *self = (struct host_collector *)base;
	(void)target;
	(void)err;
	uint64_t now_ns = tp_clock_now_ns();
	emit_gauge(self, TP_METRIC_NUMA_NODES, now_ns, self->host->info.n_numa_nodes);
	if (self->host->info.quota_cpus > 0)
		emit_gauge(self, TP_METRIC_CG_QUOTA, now_ns, self->host->info.quota_cpus);
	emit_gauge(self, TP_METRIC_SELF_FAULT_COST, now_ns, tp_page_fault_cost_ns());
	emit_all(self, now_ns);
	return TP_OK;
}

static enum tp_status host_collector_sample(struct tp_collector *base, uint64_t now_ns,
					    struct tp_error *err)
{
	(void)err;
	emit_all((struct host_collector *)base, now_ns);
	return TP_OK;
}

/* Takes exact readings at both ends of the measured time. */
static void host_collector_pause(struct tp_collector *base, bool is_paused, uint64_t now_ns)
{
	(void)is_paused;
	emit_all((struct host_collector *)base, now_ns);
}

static enum tp_status host_collector_stop(struct tp_collector *base, uint64_t now_ns,
					  struct tp_error *err)
{
	struct host_collector *self = (struct host_collector *)base;
	(void)err;
	emit_all(self, now_ns);
	tp_sink_source(self->sink, base->type->name, base->type->summary, &base->availability,
		       self->n_gauges, 0);
	return TP_OK;
}

static void host_collector_close(struct tp_collector *base)
{
	struct host_collector *self = (struct host_collector *)base;
	tp_buf_release(&self->text);
	free(self->disks);
	free(self);
}

const struct tp_collector_type tp_host_collector = {
	.name = "host",
	.summary = "system load: CPU pressure, throttling, disks and network",
	.gains = "whether something outside the program slows it down",
	.probe = host_collector_probe,
	.open = host_collector_open,
	.start = host_collector_start,
	.sample = host_collector_sample,
	.pause = host_collector_pause,
	.stop = host_collector_stop,
	.stage = TP_STAGE_PROC,
	.close = host_collector_close,
	.period_ns = 2 * TP_NS_PER_S,
};
