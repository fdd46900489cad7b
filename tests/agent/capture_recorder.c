/* SPDX-License-Identifier: Apache-2.0 */
/* The agent, built for tests with one addition: the data that CUPTI delivers is also written,
 * unchanged, into the file $TRAINPROF_CAPTURE (see capture.h), 16 MiB at most. Linked with
 * --wrap=tp_cupti_library_load, so that the first read of a buffer passes through here, and with
 * --wrap=tp_cupti_library_start, after which CUPTI's version is known. */
#include "capture.h"

#include "agent/cupti/cupti_library.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MOST_BYTES = 16 << 20, KNOWN = 1 << 12, MOST_CALLS = 1024, DOMAINS = 3 };

static struct {
	pthread_mutex_t lock;
	struct tp_cupti_library real;
	int fd;
	size_t n_bytes;
	const char *names[KNOWN]; /* written pointers, by a hash of their value */
	bool calls[DOMAINS][MOST_CALLS];
} recorder = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the linker's names */
bool __real_tp_cupti_library_load(struct tp_cupti_library *out);
bool __wrap_tp_cupti_library_load(struct tp_cupti_library *out);
bool __real_tp_cupti_library_start(struct tp_cupti_library *lib);
bool __wrap_tp_cupti_library_start(struct tp_cupti_library *lib);
/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming) */

/* Writes a part completely or not at all: after a failed one no other part is written. */
static void write_part(enum capture_kind kind, const void *fixed, size_t fixed_bytes,
		       const void *rest, size_t rest_bytes)
{
	static char zeros[8];
	size_t bytes = fixed_bytes + rest_bytes;
	struct capture_part part = {.kind = kind, .bytes = (uint32_t)bytes};
	struct iovec pieces[] = {{&part, sizeof(part)},
				 {(void *)(uintptr_t)fixed, fixed_bytes},
				 {(void *)(uintptr_t)rest, rest_bytes},
				 {zeros, capture_padded(bytes) - bytes}};
	size_t whole = sizeof(part) + capture_padded(bytes);
	if (recorder.fd < 0)
		return;
	if (recorder.n_bytes + whole > MOST_BYTES ||
	    writev(recorder.fd, pieces, 4) != (ssize_t)whole) {
		close(recorder.fd);
		recorder.fd = -1;
	}
	recorder.n_bytes += whole;
}

static void write_name(const char *name)
{
	uint64_t at = (uintptr_t)name;
	const char **known = &recorder.names[(at * UINT64_C(0x9e3779b97f4a7c15)) >> 52];
	if (!name || *known == name)
		return;
	*known = name;
	write_part(CAPTURE_NAME, &at, sizeof(at), name, strlen(name));
}

static void write_call(uint32_t domain, uint32_t cbid)
{
	const uint32_t numbers[2] = {domain, cbid};
	const char *name = NULL;
	if (cbid >= MOST_CALLS || recorder.calls[domain][cbid])
		return;
	recorder.calls[domain][cbid] = true;
	if (recorder.real.get_callback_name((int)domain, cbid, &name) == CUPTI_OK && name)
		write_part(CAPTURE_CALL, numbers, sizeof(numbers), name, strlen(name));
}

static void write_pointees(const struct cupti_record *record)
{
	const void *any = record;
	const struct cupti_kernel *kernel = any;
	const struct cupti_call *call = any;
	if (record->kind == CUPTI_CONCURRENT_KERNEL || record->kind == CUPTI_KERNEL)
		write_name(kernel->name);
	else if (record->kind == CUPTI_RUNTIME)
		write_call(CUPTI_DOMAIN_RUNTIME, call->cbid);
	else if (record->kind == CUPTI_DRIVER)
		write_call(CUPTI_DOMAIN_DRIVER, call->cbid);
}

static void write_buffer(uint8_t *buffer, size_t valid)
{
	struct cupti_record *record = NULL;
	pthread_mutex_lock(&recorder.lock);
	while (recorder.real.get_next_record(buffer, valid, &record) == CUPTI_OK)
		write_pointees(record);
	write_part(CAPTURE_BUFFER, buffer, valid, NULL, 0);
	pthread_mutex_unlock(&recorder.lock);
}

static int next_record(uint8_t *buffer, size_t valid, struct cupti_record **record)
{
	if (!*record)
		write_buffer(buffer, valid);
	return recorder.real.get_next_record(buffer, valid, record);
}

static void begin_file(uint32_t version)
{
	const uint64_t magic = CAPTURE_MAGIC;
	const char *path = getenv("TRAINPROF_CAPTURE");
	recorder.fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	if (recorder.fd >= 0 && write(recorder.fd, &magic, sizeof(magic)) == sizeof(magic))
		write_part(CAPTURE_VERSION, &version, sizeof(version), NULL, 0);
}

bool __wrap_tp_cupti_library_load(struct tp_cupti_library *out)
{
	bool is_found = __real_tp_cupti_library_load(out);
	recorder.real = *out;
	out->get_next_record = next_record;
	return is_found;
}

bool __wrap_tp_cupti_library_start(struct tp_cupti_library *lib)
{
	bool is_started = __real_tp_cupti_library_start(lib);
	if (is_started)
		begin_file(lib->version);
	return is_started;
}
