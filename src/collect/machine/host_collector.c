/* Collector "host": machine-wide counters every two seconds, and at start and stop. */
#include "collect/registry.h"

#include "host_file.h"
#include "host_stat.h"
#include "page_fault_cost.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/collect/collector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

/* A device or interface: is it real hardware, and where did its counter begin? */
struct part {
	char name[32];
	bool is_counted;
	uint64_t first_busy_ns;
};

struct hostload {
	struct tp_collector base;
	const struct tp_host *host;
	struct tp_sink *sink;
	struct tp_cpulist allowed;
	uint64_t ticks_hz;
	uint64_t page_bytes;
	struct tp_buf text;
	struct part *disks;
	size_t n_disks;
	size_t disks_capacity;
	bool has_net_hardware;
	uint64_t n_gauges;
};

static bool read_text(struct hostload *self, const char *path)
{
	return tp_hostfile_read(&self->text, self->host, path);
}

static bool exists(const struct tp_host *host, const char *directory, const char *name,
		   const char *file)
{
	char path[PATH_SIZE];
	snprintf(path, sizeof(path), "%s/%s/%s", directory, name, file);
	return tp_hostfile_exists(host, path);
}

static void put(struct hostload *self, enum tp_metric metric, uint64_t now_ns, double value)
{
	tp_sink_gauge(self->sink, metric, TP_NO_TASK, now_ns, value);
	self->n_gauges++;
}

static void put_cpu(struct hostload *self, uint64_t now_ns)
{
	struct tp_hoststat_cpu cpu;
	if (!read_text(self, "/proc/stat") ||
	    !tp_hoststat_cpu(&cpu, self->text.data, &self->allowed, self->ticks_hz))
		return;
	put(self, TP_METRIC_CPU_BUSY, now_ns, (double)cpu.busy_ns);
	put(self, TP_METRIC_CPU_IDLE, now_ns, (double)cpu.idle_ns);
	put(self, TP_METRIC_CPU_STEAL, now_ns, (double)cpu.steal_ns);
}

/* Our group's pressure where version 2 tells it: a machine shared with others stalls for reasons
 * that are not ours. */
static bool read_pressure(struct hostload *self, const char *resource,
			  struct tp_hoststat_pressure *out)
{
	char path[PATH_SIZE];
	if (self->host->cgroup_memory) {
		snprintf(path, sizeof(path), "%s/%s.pressure", self->host->cgroup_memory, resource);
		if (read_text(self, path) && tp_hoststat_pressure(out, self->text.data))
			return true;
	}
	snprintf(path, sizeof(path), "/proc/pressure/%s", resource);
	return read_text(self, path) && tp_hoststat_pressure(out, self->text.data);
}

static void put_pressure(struct hostload *self, uint64_t now_ns)
{
	struct tp_hoststat_pressure pressure;
	if (read_pressure(self, "cpu", &pressure))
		put(self, TP_METRIC_PSI_CPU, now_ns, (double)pressure.some_ns);
	if (read_pressure(self, "memory", &pressure)) {
		put(self, TP_METRIC_PSI_MEM_SOME, now_ns, (double)pressure.some_ns);
		put(self, TP_METRIC_PSI_MEM_FULL, now_ns, (double)pressure.full_ns);
	}
	if (read_pressure(self, "io", &pressure)) {
		put(self, TP_METRIC_PSI_IO_SOME, now_ns, (double)pressure.some_ns);
		put(self, TP_METRIC_PSI_IO_FULL, now_ns, (double)pressure.full_ns);
	}
}

static void put_throttling(struct hostload *self, uint64_t now_ns)
{
	struct tp_hoststat_throttle throttle;
	char path[PATH_SIZE];
	if (!self->host->cgroup_cpu)
		return;
	snprintf(path, sizeof(path), "%s/cpu.stat", self->host->cgroup_cpu);
	if (!read_text(self, path) || !tp_hoststat_throttle(&throttle, self->text.data))
		return;
	put(self, TP_METRIC_CG_PERIODS, now_ns, (double)throttle.periods);
	put(self, TP_METRIC_CG_THROTTLES, now_ns, (double)throttle.throttled_periods);
	put(self, TP_METRIC_CG_THROTTLED, now_ns, (double)throttle.throttled_ns);
}

/* Partitions are not in /sys/block; mapped, striped and loop devices have no "device" there. Both
 * would count the same bytes again. */
static struct part *find_disk(struct hostload *self, const struct tp_hoststat_disk *disk)
{
	for (size_t i = 0; i < self->n_disks; i++) {
		if (strcmp(self->disks[i].name, disk->name) == 0)
			return &self->disks[i];
	}
	struct part new = {.is_counted = exists(self->host, "/sys/block", disk->name, "device"),
			   .first_busy_ns = disk->busy_ns};
	snprintf(new.name, sizeof(new.name), "%s", disk->name);
	TP_ARRAY_PUSH(self->disks, self->n_disks, self->disks_capacity) = new;
	return &self->disks[self->n_disks - 1];
}

static void put_disks(struct hostload *self, uint64_t now_ns)
{
	struct tp_hoststat_disk disk;
	struct tp_hoststat_disk sum = {0};
	bool found = false;
	if (!read_text(self, "/proc/diskstats"))
		return;
	for (const char *at = self->text.data; tp_hoststat_disk_next(&disk, &at);) {
		const struct part *part = find_disk(self, &disk);
		if (!part->is_counted)
			continue;
		/* Since the start of the run: the busiest since boot may be another one. */
		uint64_t busy_ns = disk.busy_ns - part->first_busy_ns;
		found = true;
		sum.read_bytes += disk.read_bytes;
		sum.write_bytes += disk.write_bytes;
		sum.reads += disk.reads;
		sum.busy_ns = busy_ns > sum.busy_ns ? busy_ns : sum.busy_ns;
	}
	if (!found)
		return;
	put(self, TP_METRIC_DISK_READ, now_ns, (double)sum.read_bytes);
	put(self, TP_METRIC_DISK_WRITE, now_ns, (double)sum.write_bytes);
	put(self, TP_METRIC_DISK_READS, now_ns, (double)sum.reads);
	put(self, TP_METRIC_DISK_BUSY, now_ns, (double)sum.busy_ns);
}

/* Bridges, bonds and virtual pairs repeat what the hardware carries. A container has only virtual
 * ones: there all but the loopback count. */
static bool counts_net(const struct hostload *self, const char *name)
{
	return strcmp(name, "lo") != 0 &&
	       (!self->has_net_hardware || exists(self->host, "/sys/class/net", name, "device"));
}

static void find_net_hardware(struct hostload *self)
{
	struct tp_hoststat_net net;
	if (!read_text(self, "/proc/net/dev"))
		return;
	for (const char *at = self->text.data; tp_hoststat_net_next(&net, &at);)
		self->has_net_hardware |= exists(self->host, "/sys/class/net", net.name, "device");
}

static void put_net(struct hostload *self, uint64_t now_ns)
{
	struct tp_hoststat_net net;
	uint64_t bytes = 0;
	bool found = false;
	if (!read_text(self, "/proc/net/dev"))
		return;
	for (const char *at = self->text.data; tp_hoststat_net_next(&net, &at);) {
		if (!counts_net(self, net.name))
			continue;
		found = true;
		bytes += net.bytes;
	}
	if (found)
		put(self, TP_METRIC_NET_BYTES, now_ns, (double)bytes);
}

static void put_memory(struct hostload *self, uint64_t now_ns)
{
	uint64_t value;
	if (read_text(self, "/proc/meminfo") &&
	    tp_hoststat_field(&value, self->text.data, "MemAvailable:"))
		put(self, TP_METRIC_MEM_AVAILABLE, now_ns, (double)value * 1024);
	if (!read_text(self, "/proc/vmstat"))
		return;
	if (tp_hoststat_field(&value, self->text.data, "pswpin"))
		put(self, TP_METRIC_SWAP_IN, now_ns, (double)(value * self->page_bytes));
	if (tp_hoststat_field(&value, self->text.data, "pswpout"))
		put(self, TP_METRIC_SWAP_OUT, now_ns, (double)(value * self->page_bytes));
}

static void put_all(struct hostload *self, uint64_t now_ns)
{
	put_cpu(self, now_ns);
	put_pressure(self, now_ns);
	put_throttling(self, now_ns);
	put_disks(self, now_ns);
	put_net(self, now_ns);
	put_memory(self, now_ns);
}

static void hostload_probe(const struct tp_host *host, struct tp_availability *out)
{
	char text[256];
	memset(out, 0, sizeof(*out));
	if (!tp_hostfile_line(host, "/proc/stat", text, sizeof(text))) {
		out->presence = TP_PRESENCE_NO_PERMISSION;
		snprintf(out->reason, sizeof(out->reason), "/proc/stat cannot be read");
		snprintf(out->remedy, sizeof(out->remedy), "mount /proc");
		return;
	}
	/* The file is there but refuses to be read when pressure is off. */
	if (!tp_hostfile_line(host, "/proc/pressure/cpu", text, sizeof(text))) {
		out->presence = TP_PRESENCE_DEGRADED;
		snprintf(out->reason, sizeof(out->reason),
			 "no pressure figures: the kernel runs without PSI");
		snprintf(out->remedy, sizeof(out->remedy), "boot with psi=1");
	}
}

static enum tp_status hostload_open(struct tp_collector **out,
				    const struct tp_collect_context *context, struct tp_error *err)
{
	(void)err;
	struct hostload *self = tp_alloc(sizeof(*self));
	self->base.type = &tp_host_collector;
	hostload_probe(context->host, &self->base.availability);
	self->host = context->host;
	self->sink = context->sink;
	self->ticks_hz = (uint64_t)sysconf(_SC_CLK_TCK);
	self->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	tp_hostfile_allowed(&self->allowed, context->host);
	find_net_hardware(self);
	*out = &self->base;
	return TP_OK;
}

static enum tp_status hostload_start(struct tp_collector *base, pid_t target, struct tp_error *err)
{
	struct hostload *self = (struct hostload *)base;
	(void)target;
	(void)err;
	uint64_t now_ns = tp_clock_now_ns();
	put(self, TP_METRIC_NUMA_NODES, now_ns, self->host->info.n_numa_nodes);
	if (self->host->info.quota_cpus > 0)
		put(self, TP_METRIC_CG_QUOTA, now_ns, self->host->info.quota_cpus);
	put(self, TP_METRIC_SELF_FAULT_COST, now_ns, tp_faultcost_ns());
	put_all(self, now_ns);
	return TP_OK;
}

static enum tp_status hostload_sample(struct tp_collector *base, uint64_t now_ns,
				      struct tp_error *err)
{
	(void)err;
	put_all((struct hostload *)base, now_ns);
	return TP_OK;
}

/* Exact readings at both ends of what is measured. */
static void hostload_pause(struct tp_collector *base, bool is_paused, uint64_t now_ns)
{
	(void)is_paused;
	put_all((struct hostload *)base, now_ns);
}

static enum tp_status hostload_stop(struct tp_collector *base, uint64_t now_ns,
				    struct tp_error *err)
{
	struct hostload *self = (struct hostload *)base;
	(void)err;
	put_all(self, now_ns);
	tp_sink_source(self->sink, base->type->name, base->type->summary, &base->availability,
		       self->n_gauges, 0);
	return TP_OK;
}

static void hostload_close(struct tp_collector *base)
{
	struct hostload *self = (struct hostload *)base;
	tp_buf_release(&self->text);
	free(self->disks);
	free(self);
}

const struct tp_collector_type tp_host_collector = {
	.name = "host",
	.summary = "load, pressure, throttling, disks and network of the machine",
	.gains = "whether something outside the program slows it down",
	.probe = hostload_probe,
	.open = hostload_open,
	.start = hostload_start,
	.sample = hostload_sample,
	.pause = hostload_pause,
	.stop = hostload_stop,
	.close = hostload_close,
	.period_ns = 2 * TP_NS_PER_S,
};
