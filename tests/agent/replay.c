/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the events that the agent decodes from captured buffers, as text.
 *
 * 	replay events CUPTI FILE    the events of a capture, with that library's iterator;
 * 	                            "-": with our own table of lengths
 * 	replay lengths CUPTI        compares our table with that library: prints its version and
 * 	                            the differences
 * 	replay versions             the versions in the table
 * 	replay synthesise VERSION   writes a synthetic capture to stdout
 */
#include "capture.h"
#include "strides.h"
#include "synthesis.h"

#include "agent/cupti/cupti_decode.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_NAMES = 1 << 14, RING_EVENTS = 1 << 18, RECORD_MOST = 1024 };

struct name {
	uint64_t at; /* address in the process that was captured */
	char *text;
};

static struct tp_ring_writer ring;
static struct tp_cupti_decoder decoder;
static struct name names[MOST_NAMES];
static size_t n_names;
static uint32_t version; /* of the capture */
static int (*real_next)(uint8_t *, size_t, struct cupti_record **);

static int next_record(uint8_t *buffer, size_t valid, struct cupti_record **record)
{
	return real_next ? real_next(buffer, valid, record)
			 : stride_next(version, buffer, valid, record);
}

/* ---- output --------------------------------------------------------------------------------- */

static const char *type_name(uint8_t type)
{
	static const char *const types[TP_GPU_EVENT_TYPES] = {
		[TP_GPU_EVENT_KERNEL] = "KERNEL", [TP_GPU_EVENT_COPY] = "COPY",
		[TP_GPU_EVENT_SET] = "SET",       [TP_GPU_EVENT_CALL] = "CALL",
		[TP_GPU_EVENT_SYNC] = "SYNC",     [TP_GPU_EVENT_OVERHEAD] = "OVERHEAD",
		[TP_GPU_EVENT_LOST] = "LOST",     [TP_GPU_EVENT_NODE] = "NODE",
		[TP_GPU_EVENT_PEER] = "PEER",
	};
	return type < TP_GPU_EVENT_TYPES && types[type] ? types[type] : "?";
}

static void print_event(const struct tp_gpu_event *event)
{
	bool has_name = event->type == TP_GPU_EVENT_KERNEL || event->type == TP_GPU_EVENT_CALL;
	printf("%s t0=%llu dur=%u flags=%u link=%u x=%#llx", type_name(event->type),
	       (unsigned long long)event->t0, event->dur, event->flags, event->link,
	       (unsigned long long)event->x);
	if (event->type == TP_GPU_EVENT_CALL) {
		printf(" call=%u", event->place);
	} else if (event->place) {
		const struct tp_gpu_place *place = &ring.places[event->place - 1];
		printf(" at=%d.%d.%d", (int)place->device, (int)place->context, (int)place->stream);
	}
	if (has_name)
		printf(" %s\n", event->id ? tp_ring_writer_name(&ring, event->id) : "-");
	else
		printf(" id=%#x\n", event->id);
}

static void print_events(void)
{
	struct tp_gpu_ring_header *header = ring.header;
	tp_ring_writer_publish(&ring);
	for (uint64_t i = header->tail; i < header->head; i++)
		print_event(&ring.events[i & (header->n_events - 1)]);
	header->tail = header->head;
}

static void print_counts(void)
{
	const struct tp_gpu_ring_header *header = ring.header;
	printf("records %llu untimed %llu unknown %llu ignored %llu\n",
	       (unsigned long long)header->n_records, (unsigned long long)header->n_untimed,
	       (unsigned long long)header->n_unknown, (unsigned long long)header->n_ignored);
}

/* ---- a capture ------------------------------------------------------------------------------ */

static char *copy_text(const uint8_t *bytes, size_t n)
{
	char *text = calloc(1, n + 1);
	if (!text)
		abort();
	memcpy(text, bytes, n);
	return text;
}

static void read_name(const uint8_t *bytes, size_t n)
{
	uint64_t at;
	if (n < sizeof(at))
		return;
	memcpy(&at, bytes, sizeof(at));
	size_t i = 0;
	while (i < n_names && names[i].at != at)
		i++;
	if (i == MOST_NAMES)
		return;
	free(names[i].text);
	names[i] = (struct name){at, copy_text(bytes + sizeof(at), n - sizeof(at))};
	n_names += i == n_names;
}

static void read_call(const uint8_t *bytes, size_t n)
{
	uint32_t numbers[2];
	if (n < sizeof(numbers))
		return;
	memcpy(numbers, bytes, sizeof(numbers));
	if (numbers[0] >= TP_CALL_NAMES_DOMAINS || numbers[1] >= TP_CALL_NAMES_MAX)
		return;
	char *text = copy_text(bytes + sizeof(numbers), n - sizeof(numbers));
	uint8_t class = tp_call_names_class(text);
	decoder.calls.does[numbers[0]][numbers[1]] = class;
	tp_name_table_mark_stale(&decoder.names);
	if (tp_call_names_is_recorded(class))
		decoder.calls.name[numbers[0]][numbers[1]] = tp_name_table_id(&decoder.names, text);
	free(text);
}

/* Replaces the pointer by the name that it pointed to there; a kernel record is long enough to hold
 * the pointer. */
static void patch_name(struct cupti_record *record)
{
	void *any = record;
	struct cupti_kernel *kernel = any;
	if (record->kind != CUPTI_KERNEL && record->kind != CUPTI_CONCURRENT_KERNEL)
		return;
	uint64_t at = (uintptr_t)kernel->name;
	kernel->name = NULL;
	for (size_t i = 0; at && i < n_names; i++)
		if (names[i].at == at)
			kernel->name = names[i].text;
}

static void read_buffer(const uint8_t *bytes, size_t n)
{
	struct cupti_record *record = NULL;
	uint8_t *buffer = aligned_alloc(8, capture_padded(n) + RECORD_MOST);
	if (!buffer)
		abort();
	memset(buffer, 0, capture_padded(n) + RECORD_MOST);
	memcpy(buffer, bytes, n);
	tp_cupti_decode_begin(&decoder);
	while (next_record(buffer, n, &record) == CUPTI_OK) {
		patch_name(record);
		tp_cupti_decode(&decoder, record);
	}
	print_events();
	free(buffer);
}

static void read_part(uint32_t kind, const uint8_t *bytes, size_t n)
{
	switch (kind) {
	case CAPTURE_VERSION:
		memcpy(&version, bytes, n < sizeof(version) ? n : sizeof(version));
		break;
	case CAPTURE_NAME:
		read_name(bytes, n);
		break;
	case CAPTURE_CALL:
		read_call(bytes, n);
		break;
	case CAPTURE_BUFFER:
		read_buffer(bytes, n);
		break;
	default:
		break;
	}
}

/* Returns false if the input is no capture. */
static bool read_capture(const uint8_t *bytes, size_t size)
{
	struct capture_part part;
	uint64_t magic;
	size_t at = sizeof(magic);
	if (size < sizeof(magic))
		return false;
	memcpy(&magic, bytes, sizeof(magic));
	while (magic == CAPTURE_MAGIC && at + sizeof(part) <= size) {
		memcpy(&part, bytes + at, sizeof(part));
		at += sizeof(part);
		if (part.bytes > size - at)
			break; /* truncated here */
		read_part(part.kind, bytes + at, part.bytes);
		at += capture_padded(part.bytes);
	}
	return magic == CAPTURE_MAGIC;
}

static uint8_t *read_whole(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	if (!file || fseek(file, 0, SEEK_END) != 0)
		return NULL;
	*size = (size_t)ftell(file);
	rewind(file);
	uint8_t *bytes = calloc(1, *size + 1);
	size_t got = bytes ? fread(bytes, 1, *size, file) : 0;
	fclose(file);
	return got == *size ? bytes : NULL;
}

static int print_capture(const char *path)
{
	char directory[] = "/tmp/trainprof-replay-XXXXXX";
	char ring_path[128];
	size_t size;
	uint8_t *bytes = read_whole(path, &size);
	if (!bytes || !mkdtemp(directory) ||
	    tp_ring_writer_create(&ring, directory, RING_EVENTS) != 0 ||
	    tp_ring_writer_reserve(&ring) != 0)
		return 2;
	tp_cupti_decoder_init(&decoder, &ring);
	bool is_one = read_capture(bytes, size);
	print_counts();
	snprintf(ring_path, sizeof(ring_path), "%s/" TP_GPU_RING_PREFIX "%d-%llu-0%s", directory,
		 (int)getpid(), (unsigned long long)ring.header->start_ticks, TP_GPU_RING_SUFFIX);
	unlink(ring_path);
	rmdir(directory);
	free(bytes);
	return is_one ? 0 : 1;
}

/* ---- a library ------------------------------------------------------------------------------ */

/* Returns false if the file is no such library. */
static bool open_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *symbol = library ? dlsym(library, "cuptiActivityGetNextRecord") : NULL;
	memcpy(&real_next, &symbol, sizeof(symbol));
	symbol = library ? dlsym(library, "cuptiGetVersion") : NULL;
	int (*get_version)(uint32_t *) = NULL;
	memcpy(&get_version, &symbol, sizeof(symbol));
	return real_next && get_version && get_version(&version) == CUPTI_OK;
}

/* Returns the library's stride for a record of that kind, from a buffer in which each 8 bytes could
 * begin one. */
static size_t real_length(uint32_t kind)
{
	static uint8_t buffer[4 * RECORD_MOST] __attribute__((aligned(8)));
	struct cupti_record *record = NULL;
	memset(buffer, 0, sizeof(buffer));
	for (size_t at = 0; at < sizeof(buffer); at += 8)
		memcpy(buffer + at, &kind, sizeof(kind));
	if (real_next(buffer, sizeof(buffer), &record) != CUPTI_OK)
		return 0;
	const uint8_t *first = (const uint8_t *)record;
	if (real_next(buffer, sizeof(buffer), &record) != CUPTI_OK)
		return 0;
	return (size_t)((const uint8_t *)record - first);
}

static int compare_lengths(void)
{
	static const uint32_t kinds[] = {
		CUPTI_MEMCPY,  CUPTI_MEMSET,          CUPTI_KERNEL,
		CUPTI_DRIVER,  CUPTI_RUNTIME,         CUPTI_CONCURRENT_KERNEL,
		CUPTI_MEMCPY2, CUPTI_SYNCHRONIZATION, CUPTI_OVERHEAD,
	};
	int n_wrong = 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t theirs = real_length(kinds[i]);
		if (theirs == stride_of(version, kinds[i]))
			continue;
		fprintf(stderr, "CUPTI %u: kind %u has %zu bytes, not %zu\n", version, kinds[i],
			theirs, stride_of(version, kinds[i]));
		n_wrong++;
	}
	printf("lengths of CUPTI %u\n", version);
	return n_wrong ? 1 : 0;
}

static int print_versions(void)
{
	for (size_t i = 0; stride_version(i); i++)
		printf("%u\n", stride_version(i));
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	if (strcmp(what, "versions") == 0)
		return print_versions();
	if (strcmp(what, "synthesise") == 0 && argc == 3) {
		synthesise_capture(stdout, (uint32_t)strtoul(argv[2], NULL, 10));
		return 0;
	}
	if (argc < 3 || (strcmp(argv[2], "-") != 0 && !open_library(argv[2])))
		return 2;
	if (strcmp(what, "lengths") == 0)
		return real_next ? compare_lengths() : 2;
	return strcmp(what, "events") == 0 && argc == 4 ? print_capture(argv[3]) : 2;
}
