/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the trace of a rank in the format of the PyTorch profiler. */
#include "ruletrace.h"

#include <stdio.h>

enum { TRAINER = 1000 /* process, and its thread */, FIRST_US = 1000000 };

struct output {
	struct tp_buf *out;
	long correlation;
	bool has_events;
	bool is_foreign;
};

static void put_event(struct output *o, const char *category, const char *name, long process,
		      long thread, long start_us, long length_us)
{
	tp_buf_printf(o->out,
		      "%s{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %ld, "
		      "\"tid\": %ld, \"ts\": %ld, \"dur\": %ld",
		      o->has_events ? ",\n" : "", o->is_foreign ? "work" : category, name, process,
		      thread, start_us, length_us);
	o->has_events = true;
}

static void put_thread_event(struct output *o, const char *category, const char *name,
			     long start_us, long length_us)
{
	put_event(o, category, name, TRAINER, TRAINER, start_us, length_us);
	tp_buf_putc(o->out, '}');
}

static void put_launch(struct output *o, const struct ruletrace_event *event, long shift_us)
{
	const char *name = event->kind == RULETRACE_COPY ? "cudaMemcpyAsync" : "cudaLaunchKernel";
	put_event(o, "cuda_runtime", name, TRAINER, TRAINER, event->by_us + shift_us,
		  event->by_length_us);
	tp_buf_printf(o->out, ", \"args\": {\"correlation\": %ld}}", o->correlation);
}

static void put_device_event(struct output *o, const struct ruletrace_event *event, long shift_us)
{
	o->correlation++;
	if (event->is_linked)
		put_launch(o, event, shift_us);
	put_event(o, event->kind == RULETRACE_COPY ? "gpu_memcpy" : "kernel", event->name,
		  event->device, event->stream, event->from_us + shift_us, event->length_us);
	tp_buf_printf(o->out, ", \"args\": {\"device\": %ld, \"stream\": %ld", event->device,
		      event->stream);
	if (event->is_linked)
		tp_buf_printf(o->out, ", \"correlation\": %ld", o->correlation);
	if (event->bytes)
		tp_buf_printf(o->out, ", \"bytes\": %ld", event->bytes);
	for (const char *p = event->args ? event->args : ""; *p; p++) {
		if (p == event->args)
			tp_buf_puts(o->out, ", ");
		tp_buf_putc(o->out, (char)(*p == '\'' ? '"' : *p));
	}
	tp_buf_puts(o->out, "}}");
}

static void put_one(struct output *o, const struct ruletrace_event *event, long shift_us)
{
	static const char *const categories[] = {[RULETRACE_OP] = "cpu_op",
						 [RULETRACE_CALL] = "cuda_runtime",
						 [RULETRACE_RANGE] = "user_annotation",
						 [RULETRACE_PYTHON] = "python_function"};
	if (event->kind >= RULETRACE_KERNEL)
		put_device_event(o, event, shift_us);
	else
		put_thread_event(o, categories[event->kind], event->name, event->from_us + shift_us,
				 event->length_us);
}

static void put_step(struct output *o, const struct ruletrace_scene *scene, size_t rank, long step)
{
	long start_us = FIRST_US + step * scene->step_us;
	if (scene->is_marked) {
		char name[40];
		snprintf(name, sizeof(name), "ProfilerStep#%ld", step);
		put_thread_event(o, "user_annotation", name, start_us, scene->step_us);
	}
	for (size_t i = 0; i < scene->ranks[rank].n_events; i++) {
		const struct ruletrace_event *event = &scene->ranks[rank].events[i];
		for (long k = 0; k < event->times; k++)
			put_one(o, event, start_us + k * event->every_us);
	}
}

static void put_head(struct tp_buf *out, const struct ruletrace_scene *scene, size_t rank)
{
	if (scene->is_foreign) {
		tp_buf_puts(out, "{\"traceEvents\": [\n");
		return;
	}
	tp_buf_printf(out,
		      "{\"schemaVersion\": 1,\n\"distributedInfo\": {\"backend\": \"nccl\", "
		      "\"rank\": %zu, \"world_size\": %ld},\n",
		      rank, scene->n_ranks);
	if (scene->capability)
		tp_buf_printf(out,
			      "\"deviceProperties\": [{\"id\": 0, \"name\": \"Test device\", "
			      "\"totalGlobalMem\": 1073741824, \"computeMajor\": %ld, "
			      "\"computeMinor\": %ld, \"numSms\": 8}],\n",
			      scene->capability / 10, scene->capability % 10);
	tp_buf_puts(out, "\"traceEvents\": [\n");
}

void ruletrace_kineto(struct tp_buf *out, const struct ruletrace_scene *scene, size_t rank)
{
	struct output o = {.out = out, .is_foreign = scene->is_foreign};
	put_head(out, scene, rank);
	for (long i = 0; i < scene->steps; i++)
		put_step(&o, scene, rank, i);
	for (long i = 0; i < scene->malformed; i++) {
		/* No length: the recorder was stopped while it wrote. */
		put_event(&o, "kernel", "lost", 0, 7, FIRST_US, 0);
		out->len -= sizeof("0") - 1;
		tp_buf_puts(out, "null}");
	}
	if (scene->is_cut)
		tp_buf_puts(out, ",\n{\"ph\": \"X\", \"cat\": \"ker");
	else
		tp_buf_puts(out, "\n]}\n");
}
