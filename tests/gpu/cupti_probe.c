/* SPDX-License-Identifier: Apache-2.0 */
/* Uses CUPTI inside a program as a tool would, one state at a time, and counts the delivered
 * records. */
#include "cupti_probe.h"

#include "agent/agent.h"
#include "agent/cupti/call_names.h"
#include "agent/cupti/cupti_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	KINDS = 64,
	GRAPH_TRACE = 51, /* CUPTI_ACTIVITY_KIND_GRAPH_TRACE of cupti_activity.h, CUDA 13.0U1 */
	BUFFERS = 128,
	LINKS = 1 << 20, /* number of recent links that are kept */
};

#define BUFFER_BYTES ((size_t)2 << 20)

struct kind_count {
	uint64_t n;
	uint64_t n_untimed;
	uint64_t n_unlinked;
	uint64_t least_bytes; /* smallest distance from one record to the next in a buffer */
	uint64_t most_bytes;
};

/* Start times of the call and of the kernel with that link; the first one to arrive is kept for the
 * other. */
struct link {
	uint32_t link;
	uint64_t call_ns;
	uint64_t kernel_ns;
};

static struct {
	pthread_mutex_t lock;
	struct tp_cupti_library lib;
	struct tp_call_names calls;
	cupti_subscriber subscriber;
	bool is_loaded;
	bool is_finalized;
	bool is_registered;
	bool is_asked;    /* a buffer was requested: before that some versions hang in a flush */
	uint64_t enabled; /* one bit per enabled kind */
	bool records_calls;
	uint8_t *pool; /* BUFFERS of BUFFER_BYTES each */
	bool is_lent[BUFFERS];
	struct kind_count kinds[KINDS];
	struct link links[LINKS];
	uint64_t n_pairs; /* pairs of a call and its kernel */
	uint64_t n_early; /* pairs in which the kernel began before the call */
	uint64_t most_early_ns;
	uint64_t n_lost;
	uint64_t n_refused; /* buffers that were requested while all were in use */
} probe = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- callbacks of CUPTI --------------------------------------------------------------------- */

static void on_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = NULL;
	*size = BUFFER_BYTES;
	*max_records = 0;
	pthread_mutex_lock(&probe.lock);
	probe.is_asked = true;
	for (size_t i = 0; i < BUFFERS && !*buffer; i++)
		if (!probe.is_lent[i]) {
			probe.is_lent[i] = true;
			*buffer = probe.pool + i * BUFFER_BYTES;
		}
	if (!*buffer) {
		probe.n_refused++;
		*size = 0;
	}
	pthread_mutex_unlock(&probe.lock);
}

static void count_pair(struct link *pair)
{
	if (!pair->call_ns || !pair->kernel_ns)
		return;
	probe.n_pairs++;
	if (pair->kernel_ns < pair->call_ns) {
		uint64_t early_ns = pair->call_ns - pair->kernel_ns;
		probe.n_early++;
		if (early_ns > probe.most_early_ns)
			probe.most_early_ns = early_ns;
	}
}

static void remember(uint32_t link, uint64_t call_ns, uint64_t kernel_ns)
{
	struct link *pair = &probe.links[link % LINKS];
	if (pair->link != link)
		*pair = (struct link){.link = link};
	if (call_ns)
		pair->call_ns = call_ns;
	if (kernel_ns)
		pair->kernel_ns = kernel_ns;
	count_pair(pair);
}

static void count_times(struct kind_count *kind, uint64_t start, uint64_t end, uint32_t link)
{
	kind->n_untimed += !start || !end || end < start;
	kind->n_unlinked += !link;
}

static void count(const struct cupti_record *record)
{
	const void *any = record;
	const struct cupti_kernel *kernel = any;
	const struct cupti_call *call = any;
	const struct cupti_memcpy *copy = any;
	struct kind_count *kind = &probe.kinds[record->kind % KINDS];
	kind->n++;
	switch (record->kind) {
	case CUPTI_CONCURRENT_KERNEL:
		count_times(kind, kernel->start, kernel->end, kernel->correlation);
		if (kernel->correlation && kernel->start && !kernel->graph)
			remember(kernel->correlation, 0, kernel->start);
		break;
	case CUPTI_DRIVER:
	case CUPTI_RUNTIME:
		count_times(kind, call->start, call->end, call->correlation);
		if (call->correlation && call->start)
			remember(call->correlation, call->start, 0);
		break;
	case CUPTI_MEMCPY:
		count_times(kind, copy->start, copy->end, copy->correlation);
		break;
	default:
		break;
	}
}

static void count_bytes(const struct cupti_record *from, const struct cupti_record *to)
{
	struct kind_count *kind = &probe.kinds[from->kind % KINDS];
	uint64_t bytes = (uint64_t)((const uint8_t *)to - (const uint8_t *)from);
	if (!kind->least_bytes || bytes < kind->least_bytes)
		kind->least_bytes = bytes;
	if (bytes > kind->most_bytes)
		kind->most_bytes = bytes;
}

static void on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	struct cupti_record *record = NULL;
	const struct cupti_record *before = NULL;
	size_t n_lost = 0;
	(void)size;
	if (!buffer)
		return;
	while (probe.lib.get_next_record(buffer, valid, &record) == CUPTI_OK) {
		pthread_mutex_lock(&probe.lock);
		if (before)
			count_bytes(before, record);
		count(record);
		pthread_mutex_unlock(&probe.lock);
		before = record;
	}
	if (probe.lib.get_num_dropped(context, stream, &n_lost) != CUPTI_OK)
		n_lost = 0;
	pthread_mutex_lock(&probe.lock);
	probe.n_lost += n_lost;
	probe.is_lent[(size_t)(buffer - probe.pool) / BUFFER_BYTES] = false;
	pthread_mutex_unlock(&probe.lock);
}

static void on_call(void *context, int domain, uint32_t cbid, const void *data)
{
	(void)context;
	(void)domain;
	(void)cbid;
	(void)data;
}

/* ---- states --------------------------------------------------------------------------------- */

static uint32_t no_id(void *context, const char *name)
{
	(void)context;
	(void)name;
	return 1;
}

static void limit_device_buffers(void)
{
	const char *limit = secure_getenv(PROBE_LIMIT_ENV);
	size_t value = limit ? strtoul(limit, NULL, 10) : 0;
	size_t size = sizeof(value);
	if (value && probe.lib.set_attribute)
		probe.lib.set_attribute(CUPTI_DEVICE_BUFFER_POOL_LIMIT, &size, &value);
}

static int load(void)
{
	if (probe.is_loaded)
		return 0;
	probe.pool = mmap(NULL, BUFFERS * BUFFER_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (probe.pool == MAP_FAILED || !tp_cupti_library_load(&probe.lib) ||
	    !tp_cupti_library_start(&probe.lib))
		return -1;
	tp_call_names_load(&probe.calls, &probe.lib, no_id, NULL);
	limit_device_buffers();
	probe.is_loaded = true;
	return 0;
}

static int subscribe(void)
{
	int result = 0;
	if (!probe.subscriber)
		result = probe.lib.subscribe(&probe.subscriber, on_call, NULL);
	if (!result && !probe.is_registered) {
		result = probe.lib.register_callbacks(on_request, on_complete);
		probe.is_registered = !result;
	}
	return result;
}

/* Only those calls that start work on the device or wait for it, if CUPTI can choose. */
static int switch_recorded_calls(uint8_t is_on)
{
	int failure = 0;
	if (!probe.lib.enable_driver_call || !probe.lib.enable_runtime_call)
		return -1;
	for (uint32_t cbid = 1; cbid < TP_CALL_NAMES_MAX; cbid++) {
		if (tp_call_names_is_recorded(probe.calls.does[CUPTI_DOMAIN_DRIVER][cbid]))
			failure |= probe.lib.enable_driver_call(cbid, is_on);
		if (tp_call_names_is_recorded(probe.calls.does[CUPTI_DOMAIN_RUNTIME][cbid]))
			failure |= probe.lib.enable_runtime_call(cbid, is_on);
	}
	probe.records_calls = is_on;
	return failure;
}

/* Enables exactly these kinds; pending buffers are flushed first. */
static int enable_exactly(uint64_t kinds, bool records_calls)
{
	int failure = 0;
	if (probe.is_asked)
		probe.lib.flush_all(0);
	for (int kind = 0; kind < KINDS; kind++) {
		bool was = probe.enabled >> kind & 1;
		bool is = kinds >> kind & 1;
		int result = 0;
		if (was != is)
			result = is ? probe.lib.enable(kind) : probe.lib.disable(kind);
		failure = failure ? failure : result;
	}
	probe.enabled = kinds;
	if (records_calls != probe.records_calls) {
		int result = switch_recorded_calls(records_calls);
		failure = failure ? failure : result;
	}
	return failure;
}

static int unsubscribe(void)
{
	cupti_subscriber subscriber = probe.subscriber;
	int failure = enable_exactly(0, false);
	probe.subscriber = NULL;
	return subscriber ? probe.lib.unsubscribe(subscriber) : failure;
}

static int finalize(void)
{
	void *library = dlopen(probe.lib.path, RTLD_LAZY | RTLD_NOLOAD);
	void *symbol = library ? dlsym(library, "cuptiFinalize") : NULL;
	int (*call)(void) = NULL;
	memcpy(&call, &symbol, sizeof(call));
	if (!call)
		return -1;
	unsubscribe();
	probe.is_finalized = true;
	return call();
}

#define KIND(kind) (UINT64_C(1) << (kind))
#define WORK_KINDS                                                                                 \
	(KIND(CUPTI_CONCURRENT_KERNEL) | KIND(CUPTI_MEMCPY) | KIND(CUPTI_MEMCPY2) |                \
	 KIND(CUPTI_MEMSET) | KIND(CUPTI_SYNCHRONIZATION) | KIND(CUPTI_OVERHEAD))

static const struct {
	const char *name;
	bool is_subscribed;
	uint64_t kinds;
	bool records_calls;
} modes[] = {
	{"load", false, 0, false},
	{"subscribe", true, 0, false},
	{"kernels", true, KIND(CUPTI_CONCURRENT_KERNEL), false},
	{"calls", true, WORK_KINDS, true},
	{"all", true, WORK_KINDS | KIND(CUPTI_DRIVER) | KIND(CUPTI_RUNTIME), false},
	{"graphs", true, KIND(GRAPH_TRACE), false},
	{"disable", true, 0, false},
	{"unsubscribe", false, 0, false},
};

__attribute__((visibility("default"))) probe_mode_fn probe_mode;
int probe_mode(const char *mode)
{
	if (probe.is_finalized || load() != 0)
		return -1;
	if (strcmp(mode, "finalize") == 0)
		return finalize();
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(modes[i].name, mode) != 0)
			continue;
		if (!modes[i].is_subscribed)
			return probe.subscriber ? unsubscribe() : 0;
		int result = subscribe();
		return result ? result : enable_exactly(modes[i].kinds, modes[i].records_calls);
	}
	return -1;
}

/* ---- the end -------------------------------------------------------------------------------- */

static void write_kind(FILE *out, uint32_t number, const struct kind_count *kind)
{
	fprintf(out,
		"{\"kind\": %u, \"records\": %llu, \"untimed\": %llu, \"unlinked\": %llu, "
		"\"least_bytes\": %llu, \"most_bytes\": %llu}",
		number, (unsigned long long)kind->n, (unsigned long long)kind->n_untimed,
		(unsigned long long)kind->n_unlinked, (unsigned long long)kind->least_bytes,
		(unsigned long long)kind->most_bytes);
}

static void write_counts(FILE *out)
{
	const char *between = "";
	fprintf(out, "{\"library\": \"%s\", \"cupti_version\": %u, \"driver_version\": %u, ",
		probe.lib.path, probe.lib.version, probe.lib.driver_version);
	fprintf(out,
		"\"pairs\": %llu, \"early\": %llu, \"most_early_ns\": %llu, \"lost\": %llu, "
		"\"refused\": %llu, \"kinds\": [",
		(unsigned long long)probe.n_pairs, (unsigned long long)probe.n_early,
		(unsigned long long)probe.most_early_ns, (unsigned long long)probe.n_lost,
		(unsigned long long)probe.n_refused);
	for (uint32_t i = 0; i < KINDS; i++)
		if (probe.kinds[i].n) {
			fputs(between, out);
			write_kind(out, i, &probe.kinds[i]);
			between = ", ";
		}
	fputs("]}\n", out);
}

static void end(void)
{
	const char *path = secure_getenv(PROBE_COUNTS_ENV);
	if (probe.is_asked && !probe.is_finalized)
		probe.lib.flush_all(CUPTI_FLUSH_FORCED);
	FILE *out = path ? fopen(path, "w") : NULL;
	if (!out)
		return;
	write_counts(out);
	fclose(out);
}

/* NVIDIA's names. NOLINTNEXTLINE(readability-identifier-naming) */
__attribute__((visibility("default"))) int InitializeInjection(void)
{
	const char *mode = secure_getenv(PROBE_MODE_ENV);
	static bool is_begun;
	if (!is_begun) {
		is_begun = true;
		atexit(end);
		if (mode)
			probe_mode(mode);
	}
	return 1;
}
