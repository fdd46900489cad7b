/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libcuda.so.1 without a GPU on which NVIDIA's own libcupti starts. CUPTI asks the driver for
 * tables of functions (cuGetExportTable); here each function in them does nothing and returns 0.
 * Nothing can be launched, so CUPTI delivers records of NVTX marks only: visible are the calls that
 * it accepts, and how programs end while it is loaded. cuInit() loads the tool that
 * $CUDA_INJECTION64_PATH names, as NVIDIA's driver does.
 *
 *   NULL_DRIVER_VERSION   result of cuDriverGetVersion; 13000 unless set
 *   NULL_DRIVER_INIT      result of cuInit, after the tool was loaded
 *   NULL_DRIVER_FAILS     result of every request for a table
 *   NULL_DRIVER_LACKS     beginnings of the ids of tables that it does not have, in hexadecimal,
 *                         separated by commas: a request for one of them fails
 *   NULL_DRIVER_SLOW_MS   duration of each request
 *   NULL_DRIVER_HOLD      a file: after NULL_DRIVER_HOLD_AT (10) tables were requested, the file
 *                         FILE.held is created, and requests wait for as long as FILE exists
 *
 * CUPTI 13.2 and later call function 66 of the core table if that table is long enough to have one,
 * so here it is not.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	ID_BYTES = 16,
	N_ENTRIES = 512,
	CORE_ENTRIES = 66,
	CLEARED_BYTES = 8192,
	NOT_FOUND = 500, /* CUDA_ERROR_NOT_FOUND */
};

typedef long entry_fn(void);

struct table {
	size_t bytes; /* including the size word itself */
	entry_fn *entries[N_ENTRIES];
};

/* An object that the driver returns to CUPTI, which calls its methods. */
struct tool_object {
	entry_fn **methods;
	void *members[N_ENTRIES];
};

static const unsigned char core_id[ID_BYTES] = {0x7c, 0xb6, 0x3f, 0x9b, 0x9c, 0xa4, 0x8e, 0x42,
						0xa4, 0x84, 0xbe, 0xb6, 0x6e, 0x6a, 0xed, 0x7f};
static const unsigned char object_id[ID_BYTES] = {0x41, 0xae, 0x71, 0x7d, 0xa9, 0xeb, 0xa6, 0x4f,
						  0x99, 0x9b, 0xe3, 0xc2, 0x7f, 0x3c, 0x14, 0x0f};
static const unsigned char list_id[ID_BYTES] = {0x2c, 0x8e, 0x0a, 0xd8, 0x07, 0x10, 0xab, 0x4e,
						0x90, 0xdd, 0x54, 0x71, 0x9f, 0xe5, 0xf7, 0x4b};

static struct table core, object, list, other;
static entry_fn *methods[N_ENTRIES];
static struct tool_object tool = {.methods = methods};

/* CUPTI reads results from its stack that a function which does nothing has not written: leftovers
 * of an earlier call. This function makes them zeros. */
__attribute__((noinline)) static void clear_stack(void)
{
	volatile char below[CLEARED_BYTES];
	for (size_t i = 0; i < sizeof(below); i++)
		below[i] = 0;
}

static long do_nothing(void)
{
	clear_stack();
	return 0;
}

static long get_object(void)
{
	return (long)(intptr_t)&tool;
}

/* No tool is attached to the driver. */
static long list_tools(size_t *n, void **tools)
{
	*n = 0;
	*tools = NULL;
	return 0;
}

static void fill(struct table *table, size_t n_told)
{
	table->bytes = sizeof(table->bytes) + n_told * sizeof(table->entries[0]);
	for (size_t i = 0; i < N_ENTRIES; i++)
		table->entries[i] = do_nothing;
}

__attribute__((constructor)) static void fill_all(void)
{
	long (*lister)(size_t *, void **) = list_tools;
	fill(&core, CORE_ENTRIES);
	fill(&object, N_ENTRIES);
	fill(&list, N_ENTRIES);
	fill(&other, N_ENTRIES);
	object.entries[0] = get_object;
	memcpy(&list.entries[0], &lister, sizeof(lister));
	for (size_t i = 0; i < N_ENTRIES; i++)
		methods[i] = do_nothing;
}

static int number(const char *name, int otherwise)
{
	const char *text = getenv(name);
	return text ? (int)strtol(text, NULL, 10) : otherwise;
}

static void nap_ms(long ms)
{
	const struct timespec nap = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
	nanosleep(&nap, NULL);
}

static void hold(void)
{
	static int n_requests;
	char held[512];
	const char *file = getenv("NULL_DRIVER_HOLD");
	int at = number("NULL_DRIVER_HOLD_AT", 10);
	if (!file || __atomic_add_fetch(&n_requests, 1, __ATOMIC_RELAXED) < at)
		return;
	snprintf(held, sizeof(held), "%s.held", file);
	int fd = open(held, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	while (access(file, F_OK) == 0)
		nap_ms(1);
}

static bool lacks(const unsigned char id[ID_BYTES])
{
	char text[2 * ID_BYTES + 1];
	const char *next = getenv("NULL_DRIVER_LACKS");
	for (size_t i = 0; i < ID_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
	while (next && *next) {
		size_t length = strcspn(next, ",");
		if (length && strncmp(next, text, length) == 0)
			return true;
		next += length + (next[length] == ',');
	}
	return false;
}

#define SHOWN __attribute__((visibility("default")))

int cuGetExportTable(const void **out, const unsigned char id[ID_BYTES]);
SHOWN int cuGetExportTable(const void **out, const unsigned char id[ID_BYTES])
{
	static const struct {
		const unsigned char *id;
		const struct table *table;
	} special[] = {{core_id, &core}, {object_id, &object}, {list_id, &list}};
	int result = number("NULL_DRIVER_FAILS", 0);
	nap_ms(number("NULL_DRIVER_SLOW_MS", 0));
	hold();
	clear_stack();
	if (result)
		return result;
	if (lacks(id))
		return NOT_FOUND;
	*out = &other;
	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++)
		if (memcmp(id, special[i].id, ID_BYTES) == 0)
			*out = special[i].table;
	return 0;
}

static void load_tool(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	void *symbol = library ? dlsym(library, "InitializeInjection") : NULL;
	int (*begin)(void) = NULL;
	memcpy(&begin, &symbol, sizeof(begin));
	if (begin)
		begin();
}

int cuInit(unsigned flags);
SHOWN int cuInit(unsigned flags)
{
	static bool is_done;
	(void)flags;
	if (!__atomic_exchange_n(&is_done, true, __ATOMIC_ACQ_REL))
		load_tool();
	return number("NULL_DRIVER_INIT", 0);
}

int cuDriverGetVersion(int *out);
SHOWN int cuDriverGetVersion(int *out)
{
	*out = number("NULL_DRIVER_VERSION", 13000);
	return 0;
}

int cuDeviceGetCount(int *out);
SHOWN int cuDeviceGetCount(int *out)
{
	*out = 0;
	return 0;
}

int cuDeviceGet(int *out, int ordinal);
SHOWN int cuDeviceGet(int *out, int ordinal)
{
	*out = ordinal;
	return 0;
}

int cuDeviceGetAttribute(int *out, int attribute, int device);
SHOWN int cuDeviceGetAttribute(int *out, int attribute, int device)
{
	(void)attribute;
	(void)device;
	*out = 0;
	return 0;
}

int cuDeviceGetPCIBusId(char *out, int size, int device);
SHOWN int cuDeviceGetPCIBusId(char *out, int size, int device)
{
	snprintf(out, (size_t)size, "0000:%02x:00.0", (unsigned)device & 0xffu);
	return 0;
}
