/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the program's own marks ("trainprof/mark.h") from their ring. */
#include "registry.h"

#include "collect/machine/availability.h"
#include "collect/machine/kernel_time.h"
#include "collect/machine/stage_clock.h"
#include "collect/process/task_tree.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/collect/collector.h"
#include "trainprof/collect/env.h"
#include "trainprof/wire/mark_folder.h"
#include "trainprof/wire/mark_ring.h"

#include <stdlib.h>
#include <string.h>

/* A mark of an unknown thread waits this long for the record of the thread's creation. */
#define BIRTH_TIMEOUT_NS TP_NS_PER_S
/* A program may write any pid. */
enum { OFFSETS_MAX = 1024 };

static const char name[] = "marks";
static const char damage[] = "the program damaged the file of marks";
static const char outside[] = "marks with times outside of the run";

struct marks {
	struct tp_collector base;
	const struct tp_collect_context *context;
	struct tp_mark_ring ring;
	struct tp_mark_folder folder; /* for Python processes */
	char *path;
	struct tp_mark_record *waiting;
	size_t n_waiting;
	size_t waiting_capacity;
	struct tp_map offsets; /* by pid: added to the times of its marks */
	uint64_t opened_ns;
	uint64_t n_put;
	uint64_t n_outside; /* with a time at which there was no program */
	uint64_t n_outside_reported;
	uint64_t n_lost_reported;
	uint64_t n_refused_reported;
	uint64_t reported_ns; /* time up to which losses are reported */
};

static struct marks *marks_of(struct tp_collector *self)
{
	return (struct marks *)self; /* its first member */
}

static void marks_probe(const struct tp_host *host, struct tp_availability *out)
{
	(void)host;
	*out = (struct tp_availability){.presence = TP_PRESENCE_PRESENT};
}

static enum tp_status marks_open(struct tp_collector **out,
				 const struct tp_collect_context *context, struct tp_error *err)
{
	const char *path = context->config->marks_path;
	if (!path)
		return tp_fail(err, TP_ABSENT,
			       context->config->is_attaching
				       ? "the program was not started by trainprof run"
				       : "no file for marks");
	struct marks *marks = tp_alloc(sizeof(*marks));
	int failure = tp_mark_ring_create(&marks->ring, path, TP_MARK_RING_RECORDS);
	if (failure) {
		free(marks);
		return tp_fail(err, TP_IO, "cannot create '%s': %s", path, tp_errno_text(failure));
	}
	(void)tp_mark_folder_open(&marks->folder, path); /* on failure (no memory) there are none */
	marks->context = context;
	marks->path = tp_strdup(path);
	marks->opened_ns = marks->reported_ns = tp_clock_now_ns();
	*out = &marks->base;
	return TP_OK;
}

static enum tp_status marks_child_env(struct tp_collector *self, struct tp_env *env,
				      struct tp_error *err)
{
	(void)err;
	const struct marks *marks = marks_of(self);
	tp_env_set(env, TP_MARK_RING_ENV, marks->path);
	const char *python_path = marks->context->config->python_path;
	if (python_path)
		tp_env_set(env, "PYTHONPATH", python_path);
	return TP_OK;
}

static enum tp_mark_kind kind_of(uint16_t kind)
{
	switch (kind) {
	case TP_RING_STEP:
		return TP_MARK_STEP;
	case TP_RING_STEP_END:
		return TP_MARK_STEP_END;
	case TP_RING_PHASE_BEGIN:
		return TP_MARK_PHASE_BEGIN;
	default:
		return TP_MARK_PHASE_END; /* the ring returns valid kinds only */
	}
}

/* Returns false if the thread is unknown and may still become known. */
static bool mark_emit(struct marks *marks, const struct tp_mark_record *record, uint64_t now_ns)
{
	struct tp_sink *sink = marks->context->sink;
	struct tp_mark mark = {.kind = kind_of(record->kind), .time_ns = record->time_ns};
	mark.task = tp_task_tree_task_at(marks->context->tree, (pid_t)record->tid,
					 (pid_t)record->pid, record->time_ns);
	if (mark.task == TP_NO_TASK && now_ns < record->time_ns + BIRTH_TIMEOUT_NS)
		return false;
	mark.name = tp_sink_string(sink, record->name);
	tp_sink_mark(sink, &mark);
	marks->n_put++;
	return true;
}

/* Reads it once for each process; it is 0 if the process has ended before that. */
static uint64_t offset_of(struct marks *marks, uint32_t pid)
{
	uint64_t offset_ns = 0;
	int64_t read_ns;
	if (tp_map_get(&marks->offsets, pid, &offset_ns))
		return offset_ns;
	if (marks->offsets.n == OFFSETS_MAX)
		tp_map_release(&marks->offsets);
	(void)tp_process_time_offset(marks->context->host, (pid_t)pid, &read_ns);
	tp_map_set(&marks->offsets, pid, (uint64_t)read_ns);
	return (uint64_t)read_ns;
}

static void marks_on_record(void *context, const struct tp_mark_record *record)
{
	struct marks *marks = context;
	struct tp_mark_record ours = *record;
	ours.time_ns += offset_of(marks, record->pid);
	if (ours.time_ns < marks->opened_ns || ours.time_ns > tp_clock_now_ns())
		marks->n_outside++;
	else
		TP_ARRAY_PUSH(marks->waiting, marks->n_waiting, marks->waiting_capacity) = ours;
}

/* Appends all new records to those that wait, then emits all that are complete, in the order of the
 * ring. */
static void marks_drain(struct marks *marks, uint64_t now_ns, bool is_last)
{
	tp_mark_ring_drain(&marks->ring, is_last, marks_on_record, marks);
	tp_mark_folder_drain(&marks->folder, is_last, marks_on_record, marks);
	size_t n_kept = 0;
	for (size_t i = 0; i < marks->n_waiting; i++)
		if (!mark_emit(marks, &marks->waiting[i], is_last ? UINT64_MAX : now_ns))
			marks->waiting[n_kept++] = marks->waiting[i];
	marks->n_waiting = n_kept;
	uint64_t n_lost = marks->ring.n_lost + marks->folder.n_lost;
	if (n_lost > marks->n_lost_reported)
		tp_sink_gap(marks->context->sink, name, "marks came faster than they were read",
			    marks->reported_ns, now_ns, n_lost - marks->n_lost_reported);
	if (marks->n_outside > marks->n_outside_reported)
		tp_sink_gap(marks->context->sink, name, outside, marks->reported_ns, now_ns,
			    marks->n_outside - marks->n_outside_reported);
	if (marks->folder.n_refused > marks->n_refused_reported)
		tp_sink_gap(marks->context->sink, name,
			    "marks of a Python process could not be read", marks->reported_ns,
			    now_ns, 0);
	marks->n_lost_reported = n_lost;
	marks->n_outside_reported = marks->n_outside;
	marks->n_refused_reported = marks->folder.n_refused;
	marks->reported_ns = now_ns;
}

static enum tp_status marks_sample(struct tp_collector *self, uint64_t now_ns, struct tp_error *err)
{
	struct marks *marks = marks_of(self);
	marks_drain(marks, now_ns, false);
	if (marks->ring.is_damaged)
		return tp_fail(err, TP_PARSE, "%s", damage);
	return TP_OK;
}

/* Reading continues: marks cost next to nothing, and a step that began earlier is needed later. */
static void marks_pause(struct tp_collector *self, bool is_paused, uint64_t now_ns)
{
	(void)self;
	(void)is_paused;
	(void)now_ns;
}

static enum tp_status marks_stop(struct tp_collector *self, uint64_t now_ns, struct tp_error *err)
{
	(void)err;
	struct marks *marks = marks_of(self);
	uint64_t reported_ns = marks->reported_ns;
	bool was_damaged = marks->ring.is_damaged;
	marks_drain(marks, now_ns, true);
	if (marks->ring.is_damaged && !was_damaged) { /* shortly before the end */
		tp_availability_degrade(&self->availability, "stopped early: %s", damage);
		tp_sink_gap(marks->context->sink, name, damage, reported_ns, now_ns, 0);
	}
	tp_sink_source(marks->context->sink, name, self->type->summary, &self->availability,
		       marks->n_put, marks->n_lost_reported + marks->n_outside);
	return TP_OK;
}

static void marks_close(struct tp_collector *self)
{
	struct marks *marks = marks_of(self);
	tp_mark_ring_close(&marks->ring);
	tp_mark_folder_close(&marks->folder);
	tp_map_release(&marks->offsets);
	free(marks->waiting);
	free(marks->path);
	free(marks);
}

const struct tp_collector_type tp_marks_collector = {
	.name = name,
	.summary = "step marks that your program sets",
	.gains = "exact times of steps and phases",
	.probe = marks_probe,
	.open = marks_open,
	.child_env = marks_child_env,
	.sample = marks_sample,
	.pause = marks_pause,
	.stop = marks_stop,
	.stage = TP_STAGE_RINGS,
	.close = marks_close,
	.period_ns = 100 * TP_NS_PER_MS,
};
