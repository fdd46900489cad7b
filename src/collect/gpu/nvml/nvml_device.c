/* SPDX-License-Identifier: Apache-2.0 */
/* Reads everything that NVML reports about one device. */
#include "nvml_device.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MIB = 1048576;

/* True for results after which no call will succeed any more. */
static bool is_lost(int result)
{
	return result == NVML_GPU_IS_LOST || result == NVML_RESET_REQUIRED;
}

/* True if a call succeeded; remembers if the device is gone. */
static bool is_success(struct tp_nvml_device *device, int result)
{
	if (is_lost(result))
		device->is_lost = true;
	return result == NVML_SUCCESS;
}

/* ---- opening ------------------------------------------------------------------------------- */

static void open_gpm(struct tp_nvml_device *device, const struct tp_nvml_library *library)
{
	struct nvml_gpm_support support = {.version = 1};
	if (!library->gpm_support || !library->gpm_alloc || !library->gpm_free ||
	    !library->gpm_sample || !library->gpm_metrics ||
	    library->gpm_support(device->handle, &support) != NVML_SUCCESS || !support.is_supported)
		return;
	int n = 0;
	while (n < TP_NVML_GPM_SAMPLES && library->gpm_alloc(&device->samples[n]) == NVML_SUCCESS)
		n++;
	device->has_gpm = n == TP_NVML_GPM_SAMPLES;
	while (!device->has_gpm && n)
		library->gpm_free(device->samples[--n]);
}

int tp_nvml_device_open(struct tp_nvml_device *out, const struct tp_nvml_library *library,
			unsigned index)
{
	*out = (struct tp_nvml_device){.minor = -1};
	unsigned minor;
	int result = library->device(index, &out->handle);
	if (!is_success(out, result))
		return result;
	if (!library->name || library->name(out->handle, out->name, sizeof(out->name)))
		out->name[0] = '\0';
	if (library->minor && library->minor(out->handle, &minor) == NVML_SUCCESS)
		out->minor = (int)minor;
	open_gpm(out, library);
	return NVML_SUCCESS;
}

void tp_nvml_device_close(struct tp_nvml_device *device, const struct tp_nvml_library *library)
{
	for (int i = 0; device->has_gpm && i < TP_NVML_GPM_SAMPLES; i++)
		library->gpm_free(device->samples[i]);
	device->has_gpm = false;
}

/* ---- counters ------------------------------------------------------------------------------ */

/* A 64-bit counter that fell was reset to zero: its previous value is added, and what it counted
 * between the last reading and the reset is lost, so growth is a lower bound. A 32-bit counter has
 * wrapped. */
static double counter_add(struct tp_nvml_counter *counter, uint64_t now, bool is_narrow)
{
	if (counter->is_seen && now < counter->last)
		counter->before += is_narrow ? 4294967296.0 : (double)counter->last;
	counter->is_seen = true;
	counter->last = now;
	return counter->before + (double)now;
}

static const struct {
	unsigned id;
	enum tp_metric metric;
	bool may_wrap_unseen; /* in 32 bits, between two readings */
} fields[TP_NVML_N_FIELDS] = {
	{NVML_FIELD_POWER_CAPPED, TP_METRIC_GPU_POWER_CAPPED, false}, /* ns: at most every 4.3 s */
	{NVML_FIELD_HEAT_CAPPED, TP_METRIC_GPU_HEAT_CAPPED, false},
	{NVML_FIELD_PCIE_TX, TP_METRIC_GPU_PCIE_TX, true}, /* 4 GiB: several times per second */
	{NVML_FIELD_PCIE_RX, TP_METRIC_GPU_PCIE_RX, true},
};

/* Reads the value of a field that holds a count; false if it does not. */
static bool field_count(const struct nvml_field *field, uint64_t *out, bool *is_narrow)
{
	*is_narrow = field->type == NVML_TYPE_UINT;
	switch (field->type) {
	case NVML_TYPE_UINT:
		*out = field->value.as_uint;
		return true;
	case NVML_TYPE_ULONG:
		*out = field->value.as_ulong;
		return true;
	case NVML_TYPE_ULONGLONG:
		*out = field->value.as_ulonglong;
		return true;
	default:
		return false;
	}
}

static void read_fields(struct tp_nvml_device *device, const struct tp_nvml_library *library,
			struct tp_nvml_reading *out)
{
	struct nvml_field asked[TP_NVML_N_FIELDS] = {{0}};
	for (size_t i = 0; i < TP_NVML_N_FIELDS; i++)
		asked[i] = (struct nvml_field){.id = fields[i].id, .result = NVML_NOT_SUPPORTED};
	if (!library->fields ||
	    !is_success(device, library->fields(device->handle, TP_NVML_N_FIELDS, asked)))
		return;
	for (size_t i = 0; i < TP_NVML_N_FIELDS; i++) {
		struct tp_nvml_counter *counter = &device->fields[i];
		uint64_t count;
		bool is_narrow;
		if (!is_success(device, asked[i].result) ||
		    !field_count(&asked[i], &count, &is_narrow))
			continue;
		/* A 64-bit counter that falls is really a 32-bit counter. */
		if (fields[i].may_wrap_unseen &&
		    (is_narrow || (counter->is_seen && count < counter->last)))
			counter->is_broken = true;
		if (!counter->is_broken)
			*tp_nvml_value(out, fields[i].metric) =
				counter_add(counter, count, is_narrow);
	}
}

/* ---- levels -------------------------------------------------------------------------------- */

static void read_memory(struct tp_nvml_device *device, const struct tp_nvml_library *library,
			struct tp_nvml_reading *out)
{
	struct nvml_memory_v2 memory = {.version = sizeof(memory) | 2u << 24};
	struct nvml_memory older;
	if (library->memory_v2 && is_success(device, library->memory_v2(device->handle, &memory))) {
		out->free_bytes = (double)memory.free;
		*tp_nvml_value(out, TP_METRIC_GPU_MEM_TOTAL) = (double)memory.total;
		/* Sources disagree whether "used" includes the reserved memory; this difference
		 * does not depend on it. */
		*tp_nvml_value(out, TP_METRIC_GPU_MEM_USED) =
			(double)memory.total - (double)memory.free - (double)memory.reserved;
	} else if (library->memory && is_success(device, library->memory(device->handle, &older))) {
		out->free_bytes = (double)older.free;
		*tp_nvml_value(out, TP_METRIC_GPU_MEM_TOTAL) = (double)older.total;
		*tp_nvml_value(out, TP_METRIC_GPU_MEM_USED) = (double)older.used;
	}
}

static void read_energy(struct tp_nvml_device *device, const struct tp_nvml_library *library,
			struct tp_nvml_reading *out)
{
	unsigned milliwatts;
	unsigned long long millijoules;
	if (library->power && is_success(device, library->power(device->handle, &milliwatts)))
		*tp_nvml_value(out, TP_METRIC_GPU_POWER) = milliwatts * 1e-3;
	if (library->energy && is_success(device, library->energy(device->handle, &millijoules)))
		*tp_nvml_value(out, TP_METRIC_GPU_ENERGY) =
			counter_add(&device->energy, millijoules, false) * 1e-3;
}

static void read_clocks(struct tp_nvml_device *device, const struct tp_nvml_library *library,
			struct tp_nvml_reading *out)
{
	unsigned mhz;
	unsigned long long mask;
	if (library->clock &&
	    is_success(device, library->clock(device->handle, NVML_CLOCK_SM, &mhz)))
		*tp_nvml_value(out, TP_METRIC_GPU_CLOCK) = mhz * 1e6;
	if (library->clock_max &&
	    is_success(device, library->clock_max(device->handle, NVML_CLOCK_SM, &mhz)))
		*tp_nvml_value(out, TP_METRIC_GPU_CLOCK_MAX) = mhz * 1e6;
	if (!library->reasons || !is_success(device, library->reasons(device->handle, &mask)))
		return;
	const unsigned long long heat = NVML_REASON_SW_THERMAL | NVML_REASON_HW_THERMAL;
	const unsigned long long hardware =
		NVML_REASON_HW_SLOWDOWN | NVML_REASON_HW_THERMAL | NVML_REASON_HW_POWER_BRAKE;
	*tp_nvml_value(out, TP_METRIC_GPU_IS_CAPPED) = (mask & NVML_REASON_POWER_CAP) != 0;
	*tp_nvml_value(out, TP_METRIC_GPU_IS_HOT) = (mask & heat) != 0;
	*tp_nvml_value(out, TP_METRIC_GPU_IS_SLOWED) = (mask & hardware) != 0;
}

static void read_limits(struct tp_nvml_device *device, const struct tp_nvml_library *library,
			struct tp_nvml_reading *out)
{
	unsigned milliwatts;
	if (library->power_limit &&
	    is_success(device, library->power_limit(device->handle, &milliwatts)))
		*tp_nvml_value(out, TP_METRIC_GPU_POWER_LIMIT) = milliwatts * 1e-3;
	if (library->power_default &&
	    is_success(device, library->power_default(device->handle, &milliwatts)))
		*tp_nvml_value(out, TP_METRIC_GPU_POWER_DEFAULT) = milliwatts * 1e-3;
}

static void read_capability(struct tp_nvml_device *device, const struct tp_nvml_library *library,
			    struct tp_nvml_reading *out)
{
	int major;
	int minor;
	if (library->capability &&
	    is_success(device, library->capability(device->handle, &major, &minor)))
		*tp_nvml_value(out, TP_METRIC_GPU_CAPABILITY) = 10 * major + minor;
}

/* Bytes per second and lane of each generation in one direction, without encoding overhead: 2.5 and
 * 5 GT/s with 8b/10b, 8 to 32 with 128b/130b, 64 in flits of 256 bytes with 236 of data (PCI
 * Express 1.0 to 6.0). */
static const double lane_bytes_per_s[] = {0, 0.25e9, 0.5e9, 0.98462e9, 1.9692e9, 3.9385e9, 7.375e9};

static double link_rate(unsigned generation, unsigned width)
{
	return generation && generation < TP_ARRAY_LEN(lane_bytes_per_s) && width
		       ? lane_bytes_per_s[generation] * width
		       : NAN;
}

/* An idle link uses a lower generation, so of a momentary level only the peak is meaningful. */
static void read_link(struct tp_nvml_device *device, const struct tp_nvml_library *library,
		      struct tp_nvml_reading *out)
{
	unsigned generation;
	unsigned width;
	if (library->link_generation && library->link_width &&
	    is_success(device, library->link_generation(device->handle, &generation)) &&
	    is_success(device, library->link_width(device->handle, &width)))
		*tp_nvml_value(out, TP_METRIC_GPU_PCIE_LINK) = link_rate(generation, width);
	if (library->link_generation_max && library->link_width_max &&
	    is_success(device, library->link_generation_max(device->handle, &generation)) &&
	    is_success(device, library->link_width_max(device->handle, &width)))
		*tp_nvml_value(out, TP_METRIC_GPU_PCIE_LINK_MAX) = link_rate(generation, width);
}

void tp_nvml_device_read(struct tp_nvml_device *device, const struct tp_nvml_library *library,
			 struct tp_nvml_reading *out)
{
	struct nvml_utilization utilization;
	for (size_t i = 0; i < TP_N_GPU_METRICS; i++)
		out->values[i] = NAN;
	out->free_bytes = NAN;
	if (device->is_lost)
		return;
	if (library->utilization &&
	    is_success(device, library->utilization(device->handle, &utilization)))
		*tp_nvml_value(out, TP_METRIC_GPU_AWAKE) = utilization.gpu * 0.01;
	read_memory(device, library, out);
	read_energy(device, library, out);
	read_clocks(device, library, out);
	read_limits(device, library, out);
	read_link(device, library, out);
	read_capability(device, library, out);
	read_fields(device, library, out);
}

/* ---- GPM ----------------------------------------------------------------------------------- */

static const struct {
	unsigned id;
	enum tp_metric metric;
	double scale;
} gpm[] = {
	{NVML_GPM_SM, TP_METRIC_GPU_SM_ACTIVE, 0.01},
	{NVML_GPM_OCCUPANCY, TP_METRIC_GPU_OCCUPANCY, 0.01},
	{NVML_GPM_TENSOR, TP_METRIC_GPU_TENSOR, 0.01},
	{NVML_GPM_DRAM, TP_METRIC_GPU_DRAM, 0.01},
	{NVML_GPM_PCIE_TX, TP_METRIC_GPU_PCIE_TX_RATE, MIB},
	{NVML_GPM_PCIE_RX, TP_METRIC_GPU_PCIE_RX_RATE, MIB},
	{NVML_GPM_NVLINK_RX, TP_METRIC_GPU_NVLINK_RX, MIB},
	{NVML_GPM_NVLINK_TX, TP_METRIC_GPU_NVLINK_TX, MIB},
};

static void read_gpm_sample(struct tp_nvml_device *device, const struct tp_nvml_library *library,
			    nvml_gpm_sample from, nvml_gpm_sample to, struct tp_nvml_reading *out)
{
	struct nvml_gpm_query *query = tp_alloc(sizeof(*query));
	query->version = 1;
	query->n = TP_ARRAY_LEN(gpm);
	query->from = from;
	query->to = to;
	for (size_t i = 0; i < TP_ARRAY_LEN(gpm); i++) {
		query->metrics[i].id = gpm[i].id;
		query->metrics[i].result = NVML_NOT_SUPPORTED;
	}
	bool is_good = is_success(device, library->gpm_metrics(query));
	for (size_t i = 0; is_good && i < TP_ARRAY_LEN(gpm); i++)
		if (query->metrics[i].result == NVML_SUCCESS && isfinite(query->metrics[i].value))
			*tp_nvml_value(out, gpm[i].metric) = query->metrics[i].value * gpm[i].scale;
	free(query);
}

void tp_nvml_device_read_gpm(struct tp_nvml_device *device, const struct tp_nvml_library *library,
			     struct tp_nvml_reading *out)
{
	if (!device->has_gpm || device->is_lost)
		return;
	nvml_gpm_sample now = device->samples[device->next];
	nvml_gpm_sample before = device->samples[!device->next];
	bool is_good = is_success(device, library->gpm_sample(device->handle, now));
	if (is_good && device->has_before)
		read_gpm_sample(device, library, before, now, out);
	device->has_before = is_good; /* otherwise the next pair would span time without samples */
	device->next = !device->next;
}
