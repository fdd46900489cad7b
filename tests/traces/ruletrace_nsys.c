/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the trace of a rank as the SQL of an export of nsys, with the columns that are read. */
#include "ruletrace.h"

#include <stdio.h>
#include <string.h>

enum { TRAINER = 1000 /* process, and its thread */, FIRST_US = 1000000, US = 1000 };
enum { RANGE = 59 /* NvtxPushPopRange */ };

static const long long process = 1LL << 48 | (long long)TRAINER << 24;

static const char schema[] =
	"CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT UNIQUE);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, "
	"streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, "
	"streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind "
	"INTEGER, srcKind INTEGER, dstKind INTEGER);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, "
	"correlationId INTEGER, nameId INTEGER);"
	"CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, "
	"globalTid INTEGER);"
	"CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, computeMajor INTEGER, computeMinor "
	"INTEGER);"
	"CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);";

struct output {
	struct tp_buf *out;
	long correlation;
};

static void put_name(struct output *o, const char *name)
{
	tp_buf_printf(o->out, "INSERT OR IGNORE INTO StringIds (value) VALUES ('%s');\n", name);
}

static void put_call(struct output *o, const char *name, long start_us, long length_us,
		     long correlation)
{
	put_name(o, name);
	tp_buf_printf(o->out,
		      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT %ld, %ld, %lld, %ld, id FROM "
		      "StringIds WHERE value = '%s';\n",
		      start_us * US, (start_us + length_us) * US, process | TRAINER, correlation,
		      name);
}

/* PyTorch's operators are ranges with a number: "aten::mm, op_id = 3". */
static void put_range(struct output *o, const char *name, const char *ending, long start_us,
		      long length_us)
{
	tp_buf_printf(o->out, "INSERT INTO NVTX_EVENTS VALUES (%ld, %ld, %d, '%s%s', %lld);\n",
		      start_us * US, (start_us + length_us) * US, RANGE, name, ending,
		      process | TRAINER);
}

static void put_kernel(struct output *o, const struct ruletrace_event *event, long start_us)
{
	put_name(o, event->name);
	tp_buf_printf(
		o->out,
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT %ld, %ld, %ld, %ld, %ld, %lld, "
		"id FROM StringIds WHERE value = '%s';\n",
		start_us * US, (start_us + event->length_us) * US, event->device, event->stream,
		o->correlation, process, event->name);
}

/* "Memcpy HtoD (Pageable -> Device)": ENUM_CUDA_MEMCPY_OPER, ENUM_CUDA_MEM_KIND. */
static void put_copy(struct output *o, const struct ruletrace_event *event, long start_us)
{
	int way = strstr(event->name, "HtoD") ? 1 : strstr(event->name, "DtoH") ? 2 : 8;
	int host = strstr(event->name, "Pageable") ? 0 : 1;
	tp_buf_printf(o->out,
		      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (%ld, %ld, %ld, %ld, %ld, "
		      "%lld, %ld, %d, %d, %d);\n",
		      start_us * US, (start_us + event->length_us) * US, event->device,
		      event->stream, o->correlation, process, event->bytes, way,
		      way == 1 ? host : 2, way == 2 ? host : 2);
}

static void put_one(struct output *o, const struct ruletrace_event *event, long shift_us)
{
	long start_us = event->from_us + shift_us;
	bool is_copy = event->kind == RULETRACE_COPY;
	o->correlation++;
	switch (event->kind) {
	case RULETRACE_OP:
		put_range(o, event->name, ", op_id = 3", start_us, event->length_us);
		return;
	case RULETRACE_CALL:
		put_call(o, event->name, start_us, event->length_us, o->correlation);
		return;
	case RULETRACE_KERNEL:
	case RULETRACE_COPY:
		if (event->is_linked)
			put_call(o, is_copy ? "cudaMemcpyAsync_v3020" : "cudaLaunchKernel_v7000",
				 event->by_us + shift_us, event->by_length_us, o->correlation);
		if (is_copy)
			put_copy(o, event, start_us);
		else
			put_kernel(o, event, start_us);
		return;
	default:
		put_range(o, event->name, "", start_us, event->length_us);
		return;
	}
}

void ruletrace_nsys(struct tp_buf *out, const struct ruletrace_scene *scene, size_t rank)
{
	struct output o = {.out = out};
	const struct ruletrace_rank *events = &scene->ranks[rank];
	tp_buf_printf(out, "BEGIN;\n%s\n", schema);
	tp_buf_printf(
		out,
		"INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', "
		"'RANK=\"%zu\"'), ('PROCESS_0:ENVIRONMENT_VARIABLE', 'WORLD_SIZE=\"%ld\"');\n",
		rank, scene->n_ranks);
	if (scene->capability)
		tp_buf_printf(out, "INSERT INTO TARGET_INFO_GPU VALUES (0, 'Test', %ld, %ld);\n",
			      scene->capability / 10, scene->capability % 10);
	for (long step = 0; step < scene->steps; step++) {
		long start_us = FIRST_US + step * scene->step_us;
		char name[40];
		snprintf(name, sizeof(name), "step %ld", step);
		if (scene->is_marked)
			put_range(&o, name, "", start_us, scene->step_us);
		for (size_t i = 0; i < events->n_events; i++)
			for (long k = 0; k < events->events[i].times; k++)
				put_one(&o, &events->events[i],
					start_us + k * events->events[i].every_us);
	}
	tp_buf_puts(out, "COMMIT;\n");
}
