/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A double of libnvidia-ml.so.1 that returns the values in the file $NVML_SCRIPT, and has no GPU
 * without it. A line is "[at SECONDS] [gpu N] KEY VALUE [BYTES]"; seconds count from init, and of
 * the lines that match the last one applies ("process" lines add up):
 *
 *   devices N, name TEXT, minor N, awake PERCENT, total/used/reserved BYTES, power MILLIWATT,
 *   power_limit/power_default MILLIWATT, link_generation/link_width N (and …_max),
 *   capability N (90 for 9.0),
 *   clock/clock_max MHZ, reasons MASK, gpm 0|1, gpm_ID VALUE
 *   energy/field_ID START, energy_rate/field_ID_rate PER_SECOND, field_ID_bits 32|64
 *   process PID BYTES: PID is a number or a file that contains one; BYTES "-" = not available
 *   fail_SYMBOL RESULT: result of the call (0 = it works), sleep_SYMBOL SECONDS: its duration,
 *   hold_SYMBOL FILE: it waits until that file is gone
 *
 * nvmlDoubleAdvance(SECONDS) advances the clock at once.
 *
 * NVML_DOUBLE_AGE: 2 all symbols, 1 those of old drivers only, 0 one needed symbol is missing.
 */
#include "collect/gpu/nvml/nvml_abi.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef NVML_DOUBLE_AGE
#define NVML_DOUBLE_AGE 2
#endif

enum { MOST_LINES = 512, MOST_GPUS = 16, WORD = 128 };

struct line {
	double at_s;
	int gpu; /* -1 = all */
	char key[WORD];
	char value[WORD];
	char bytes[WORD];
};

static struct line lines[MOST_LINES];
static size_t n_lines;
static double started_s;
static pthread_once_t once = PTHREAD_ONCE_INIT;

struct nvml_device {
	int number;
};

static struct nvml_device gpus[MOST_GPUS];

static double ahead_s; /* added to the clock; one thread sets it, before other threads call */

static double clock_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9 + ahead_s;
}

void nvmlDoubleAdvance(double seconds);
void nvmlDoubleAdvance(double seconds)
{
	ahead_s += seconds;
}

static void parse(char *text)
{
	struct line line = {.gpu = -1};
	char *rest = NULL;
	char *word = strtok_r(text, " \n", &rest);
	while (word && (strcmp(word, "at") == 0 || strcmp(word, "gpu") == 0)) {
		const char *number = strtok_r(NULL, " \n", &rest);
		if (*word == 'a')
			line.at_s = atof(number ? number : "0");
		else
			line.gpu = atoi(number ? number : "0");
		word = strtok_r(NULL, " \n", &rest);
	}
	if (!word || *word == '#' || n_lines == MOST_LINES)
		return;
	snprintf(line.key, sizeof(line.key), "%s", word);
	bool is_text = strcmp(word, "name") == 0;
	const char *value = strtok_r(NULL, is_text ? "\n" : " \n", &rest);
	const char *bytes = strtok_r(NULL, " \n", &rest);
	snprintf(line.value, sizeof(line.value), "%s", value ? value : "");
	snprintf(line.bytes, sizeof(line.bytes), "%s", bytes ? bytes : "-");
	lines[n_lines++] = line;
}

static void read_script(void)
{
	const char *path = getenv("NVML_SCRIPT");
	FILE *file = path ? fopen(path, "r") : NULL;
	char text[3 * WORD];
	while (file && fgets(text, sizeof(text), file))
		parse(text);
	if (file)
		fclose(file);
	started_s = clock_s();
	for (int i = 0; i < MOST_GPUS; i++)
		gpus[i].number = i;
}

static double elapsed_s(void)
{
	return clock_s() - started_s;
}

static bool fits(const struct line *line, const char *key, int gpu, double now_s)
{
	return line->at_s <= now_s && (line->gpu < 0 || line->gpu == gpu) &&
	       strcmp(line->key, key) == 0;
}

static const char *find(const char *key, int gpu)
{
	const char *found = NULL;
	double now_s = elapsed_s();
	for (size_t i = 0; i < n_lines; i++)
		if (fits(&lines[i], key, gpu, now_s))
			found = lines[i].value;
	return found;
}

static double number(const char *key, int gpu, double otherwise)
{
	const char *text = find(key, gpu);
	return text ? strtod(text, NULL) : otherwise;
}

static double counter(const char *key, int gpu)
{
	char rate[WORD];
	snprintf(rate, sizeof(rate), "%s_rate", key);
	return number(key, gpu, 0) + number(rate, gpu, 0) * elapsed_s();
}

static void nap(double seconds)
{
	struct timespec time = {.tv_sec = (time_t)seconds,
				.tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
	if (seconds > 0)
		nanosleep(&time, NULL);
}

/* The common beginning of every call; a key that is not in the script is not supported, as on other
 * hardware. */
static int begin(const char *symbol, int gpu, const char *needed)
{
	char key[WORD];
	pthread_once(&once, read_script);
	snprintf(key, sizeof(key), "sleep_%s", symbol);
	nap(number(key, gpu, 0));
	snprintf(key, sizeof(key), "hold_%s", symbol);
	for (const char *held = find(key, gpu); held && access(held, F_OK) == 0;)
		nap(0.005);
	snprintf(key, sizeof(key), "fail_%s", symbol);
	int result = (int)number(key, gpu, 0);
	return result || !needed || find(needed, gpu) ? result : NVML_NOT_SUPPORTED;
}

#define CALL(symbol, gpu, needed, body, ...)                                                       \
	int symbol(__VA_ARGS__);                                                                   \
	int symbol(__VA_ARGS__)                                                                    \
	{                                                                                          \
		int result = begin(#symbol, gpu, needed);                                          \
		if (result == NVML_SUCCESS) {                                                      \
			body;                                                                      \
		}                                                                                  \
		return result;                                                                     \
	}

CALL(nvmlInit_v2, -1, NULL, (void)0, void)
#if NVML_DOUBLE_AGE > 0
CALL(nvmlShutdown, -1, NULL, (void)0, void)
#endif
CALL(nvmlDeviceGetCount_v2, -1, NULL, *out = (unsigned)number("devices", -1, 0), unsigned *out)
CALL(nvmlDeviceGetHandleByIndex_v2, (int)i, NULL, *out = &gpus[i], unsigned i, nvml_device *out)
CALL(nvmlDeviceGetName, d->number, "name", snprintf(out, size, "%s", find("name", d->number)),
     nvml_device d, char *out, unsigned size)
CALL(nvmlDeviceGetMinorNumber, d->number, NULL,
     *out = (unsigned)number("minor", d->number, d->number), nvml_device d, unsigned *out)
CALL(nvmlSystemGetDriverVersion, -1, NULL, snprintf(out, size, "580.0"), char *out, unsigned size)
CALL(nvmlDeviceGetUtilizationRates, d->number, "awake",
     *out = (struct nvml_utilization){.gpu = (unsigned)number("awake", d->number, 0)},
     nvml_device d, struct nvml_utilization *out)
CALL(nvmlDeviceGetPowerUsage, d->number, "power", *out = (unsigned)number("power", d->number, 0),
     nvml_device d, unsigned *out)
CALL(nvmlDeviceGetTotalEnergyConsumption, d->number, "energy",
     *out = (unsigned long long)counter("energy", d->number), nvml_device d,
     unsigned long long *out)
#define UNSIGNED(symbol, key)                                                                      \
	CALL(symbol, d->number, key, *out = (unsigned)number(key, d->number, 0), nvml_device d,    \
	     unsigned *out)

UNSIGNED(nvmlDeviceGetEnforcedPowerLimit, "power_limit")
UNSIGNED(nvmlDeviceGetPowerManagementDefaultLimit, "power_default")
UNSIGNED(nvmlDeviceGetCurrPcieLinkGeneration, "link_generation")
UNSIGNED(nvmlDeviceGetCurrPcieLinkWidth, "link_width")
UNSIGNED(nvmlDeviceGetMaxPcieLinkGeneration, "link_generation_max")
UNSIGNED(nvmlDeviceGetMaxPcieLinkWidth, "link_width_max")
CALL(nvmlDeviceGetCudaComputeCapability, d->number, "capability",
     *major = (int)number("capability", d->number, 0) / 10;
     *minor = (int)number("capability", d->number, 0) % 10, nvml_device d, int *major, int *minor)
CALL(nvmlDeviceGetClockInfo, d->number, "clock",
     *out = type == NVML_CLOCK_SM ? (unsigned)number("clock", d->number, 0) : 1, nvml_device d,
     int type, unsigned *out)
CALL(nvmlDeviceGetMaxClockInfo, d->number, "clock_max",
     *out = type == NVML_CLOCK_SM ? (unsigned)number("clock_max", d->number, 0) : 1, nvml_device d,
     int type, unsigned *out)

/* ---- memory and processes ------------------------------------------------------------------ */

static unsigned long long bytes_of(const char *key, int gpu)
{
	return (unsigned long long)number(key, gpu, 0);
}

static void fill_memory(int gpu, struct nvml_memory *out)
{
	out->total = bytes_of("total", gpu);
	out->used = bytes_of("used", gpu) + bytes_of("reserved", gpu);
	out->free = out->total - out->used;
}

CALL(nvmlDeviceGetMemoryInfo, d->number, "total", fill_memory(d->number, out), nvml_device d,
     struct nvml_memory *out)

static unsigned pid_of(const char *word)
{
	if (*word >= '0' && *word <= '9')
		return (unsigned)strtoul(word, NULL, 10);
	FILE *file = fopen(word, "r");
	unsigned pid = 0;
	if (file && fscanf(file, "%u", &pid) != 1)
		pid = 0;
	if (file)
		fclose(file);
	return pid;
}

/* Entries of either layout, `size` apart. */
static int fill_processes(int gpu, unsigned *n, void *out, size_t size)
{
	unsigned room = *n;
	double now_s = elapsed_s();
	*n = 0;
	for (size_t i = 0; i < n_lines; i++) {
		struct nvml_process_v1 process = {.used_bytes = NVML_NOT_AVAILABLE};
		if (!fits(&lines[i], "process", gpu, now_s))
			continue;
		process.pid = pid_of(lines[i].value);
		if (strcmp(lines[i].bytes, "-") != 0)
			process.used_bytes = strtoull(lines[i].bytes, NULL, 10);
		if (process.pid && (*n)++ < room)
			memcpy((char *)out + (*n - 1) * size, &process, sizeof(process));
	}
	return *n > room ? NVML_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

CALL(nvmlDeviceGetComputeRunningProcesses, d->number, NULL,
     return fill_processes(d->number, n, out, sizeof(*out)), nvml_device d, unsigned *n,
     struct nvml_process_v1 *out)

#if NVML_DOUBLE_AGE > 1

static int check_memory(int gpu, struct nvml_memory_v2 *out)
{
	if (out->version != (sizeof(*out) | 2u << 24))
		return NVML_INVALID_ARGUMENT;
	out->total = bytes_of("total", gpu);
	out->reserved = bytes_of("reserved", gpu);
	out->used = bytes_of("used", gpu);
	out->free = out->total - out->used - out->reserved;
	return NVML_SUCCESS;
}

CALL(nvmlDeviceGetMemoryInfo_v2, d->number, "total", return check_memory(d->number, out),
     nvml_device d, struct nvml_memory_v2 *out)
CALL(nvmlDeviceGetComputeRunningProcesses_v3, d->number, NULL,
     return fill_processes(d->number, n, out, sizeof(*out)), nvml_device d, unsigned *n,
     struct nvml_process *out)
CALL(nvmlDeviceGetCurrentClocksEventReasons, d->number, "reasons",
     *out = strtoull(find("reasons", d->number), NULL, 0), nvml_device d, unsigned long long *out)

/* ---- fields -------------------------------------------------------------------------------- */

static void fill_field(int gpu, struct nvml_field *field)
{
	char key[WORD];
	snprintf(key, sizeof(key), "field_%u", field->id);
	field->result = find(key, gpu) ? NVML_SUCCESS : NVML_NOT_SUPPORTED;
	if (field->result != NVML_SUCCESS)
		return;
	unsigned long long value = (unsigned long long)counter(key, gpu);
	strcat(key, "_bits");
	int bits = (int)number(key, gpu, 64);
	field->type = bits == 32 ? NVML_TYPE_UINT : NVML_TYPE_ULONGLONG;
	if (bits == 32)
		field->value.as_uint = (unsigned)value;
	else
		field->value.as_ulonglong = value;
}

static void fill_fields(int gpu, int n, struct nvml_field *fields)
{
	for (int i = 0; i < n; i++)
		fill_field(gpu, &fields[i]);
}

CALL(nvmlDeviceGetFieldValues, d->number, NULL, fill_fields(d->number, n, fields), nvml_device d,
     int n, struct nvml_field *fields)

/* ---- GPM: a sample is the number of its device and its time -------------------------------- */

struct sample {
	int gpu;
	double at_s;
};

static int check_support(int gpu, struct nvml_gpm_support *out)
{
	out->is_supported = number("gpm", gpu, 0) != 0;
	return out->version == 1 ? NVML_SUCCESS : NVML_INVALID_ARGUMENT;
}

static int fill_gpm(struct nvml_gpm_query *query)
{
	const struct sample *from = query->from;
	const struct sample *to = query->to;
	/* The header requires at least 100 ms between two samples of one device, in order. */
	if (query->version != 1 || from->gpu != to->gpu || to->at_s - from->at_s < 0.1)
		return NVML_INVALID_ARGUMENT;
	for (unsigned i = 0; i < query->n; i++) {
		char key[WORD];
		snprintf(key, sizeof(key), "gpm_%u", query->metrics[i].id);
		query->metrics[i].result = find(key, to->gpu) ? NVML_SUCCESS : NVML_NOT_SUPPORTED;
		query->metrics[i].value = number(key, to->gpu, 0);
	}
	return NVML_SUCCESS;
}

CALL(nvmlGpmQueryDeviceSupport, d->number, NULL, return check_support(d->number, out),
     nvml_device d, struct nvml_gpm_support *out)
CALL(nvmlGpmSampleAlloc, -1, NULL, *out = calloc(1, sizeof(struct sample)), nvml_gpm_sample *out)
CALL(nvmlGpmSampleFree, -1, NULL, free(sample), nvml_gpm_sample sample)
CALL(nvmlGpmSampleGet, d->number, NULL,
     *(struct sample *)sample = ((struct sample){d->number, clock_s()}), nvml_device d,
     nvml_gpm_sample sample)
CALL(nvmlGpmMetricsGet, -1, NULL, return fill_gpm(query), struct nvml_gpm_query *query)

#else

CALL(nvmlDeviceGetCurrentClocksThrottleReasons, d->number, "reasons",
     *out = strtoull(find("reasons", d->number), NULL, 0), nvml_device d, unsigned long long *out)

#endif
