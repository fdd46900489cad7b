/* Tells a sink what a GPU agent saw. */
#include "gputell.h"

#include "gpufile.h"
#include "gpuname.h"
#include "tree.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/clock.h"
#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"
#include "trainprof/model/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	RANGES_MOST = 256,    /* open in a thread; of more the outermost are forgotten */
	STARTED_MOST = 4096,  /* open ranges that any thread may end */
	CALLS_MOST = 1 << 16, /* calls whose waits may still come */
	WAITS_MOST = 1024,    /* waits whose calls have not come yet */
	LEN_LONG = 1000,      /* ns in the unit of long durations */
};

/* A time that is further ahead is no time: clocks of one machine agree by less. */
#define AHEAD_MOST_NS TP_NS_PER_S

struct range {
	uint32_t name; /* of the sink */
	uint32_t domain;
	uint64_t start_ns;
};

struct thread {
	uint32_t tid;
	uint32_t track;
	bool has_task;        /* told already, or none to be had */
	struct range *ranges; /* open ones, the innermost last; heap */
	size_t n_ranges;
	size_t ranges_capacity;
};

/* A wait that CUPTI told before its call. */
struct wait {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t link;
	uint32_t sync;
};

struct started {
	uint64_t number;
	uint64_t start_ns;
	uint32_t name;
};

struct tp_gpu_teller {
	struct tp_gpu_teller_config config;
	struct tp_gpu_told told;
	uint64_t now_ns;
	uint64_t before_ns;       /* of the drain before */
	struct tp_map names;      /* ids of the ring, with their use above -> strings of the sink */
	struct tp_map places;     /* -> track + 1; 0: there is none */
	struct tp_map thread_ids; /* tid -> place in threads */
	struct thread *threads;
	size_t n_threads;
	size_t threads_capacity;
	struct tp_map calls; /* link -> place in threads; SAYS_SO: it needs no wait of its own */
	struct wait *waits;
	size_t n_waits;
	size_t waits_capacity;
	uint64_t closed_ns; /* since then nothing is collected; 0 = something is */
	struct started *started;
	size_t n_started;
	size_t started_capacity;
};

static const uint64_t SAYS_SO = UINT64_MAX;

struct tp_gpu_teller *tp_gpu_teller_new(const struct tp_gpu_teller_config *config)
{
	struct tp_gpu_teller *teller = tp_alloc(sizeof(*teller));
	teller->config = *config;
	return teller;
}

void tp_gpu_teller_free(struct tp_gpu_teller *teller)
{
	if (!teller)
		return;
	for (size_t i = 0; i < teller->n_threads; i++)
		free(teller->threads[i].ranges);
	tp_map_release(&teller->names);
	tp_map_release(&teller->places);
	tp_map_release(&teller->thread_ids);
	tp_map_release(&teller->calls);
	free(teller->threads);
	free(teller->waits);
	free(teller->started);
	free(teller);
}

const struct tp_gpu_told *tp_gpu_teller_told(const struct tp_gpu_teller *teller)
{
	return &teller->told;
}

/* ---- names ---------------------------------------------------------------------------------- */

enum use { OF_KERNEL, OF_CALL, OF_RANGE, OF_COPY, OF_SET, N_USES };

static void make_name(struct tp_buf *out, const struct tp_gpu_teller *teller, enum use use,
		      uint32_t id, unsigned call)
{
	size_t length = 0;
	const char *name = use == OF_COPY || use == OF_SET
				   ? NULL
				   : tp_gpu_file_name(teller->config.file, id, &length);
	if (use == OF_COPY)
		tp_gpu_name_copy(out, id);
	else if (use == OF_SET)
		tp_gpu_name_set(out, id);
	else if (use == OF_CALL)
		tp_gpu_name_call(out, name, length, call);
	else if (!name)
		tp_buf_puts(out,
			    use == OF_KERNEL ? "kernel without a name" : "range without a name");
	else if (use == OF_KERNEL)
		tp_gpu_name_kernel(out, teller->config.demangler, name, length);
	else
		tp_buf_add(out, name, length);
}

/* Names are never changed once they are in the ring, so that each is made once. */
static uint32_t name_of(struct tp_gpu_teller *teller, enum use use, uint32_t id, unsigned call)
{
	uint64_t key = ((uint64_t)id << 16 | (call & 0xff)) * N_USES + use;
	uint64_t known;
	if (tp_map_get(&teller->names, key, &known))
		return (uint32_t)known;
	struct tp_buf text = {0};
	make_name(&text, teller, use, id, call);
	known = tp_sink_string(teller->config.sink, tp_buf_text(&text));
	tp_buf_release(&text);
	tp_map_set(&teller->names, key, known);
	return (uint32_t)known;
}

/* ---- tracks --------------------------------------------------------------------------------- */

static void tell_thread(struct tp_gpu_teller *teller, struct thread *thread, uint64_t time_ns)
{
	const struct tp_gpu_teller_config *config = &teller->config;
	struct tp_track track = {.id = thread->track,
				 .rank = config->rank,
				 .device = TP_TRACK_THREAD,
				 .number = thread->tid};
	uint32_t task = tp_tree_task_at(config->tree, (pid_t)thread->tid, config->pid, time_ns);
	const struct tp_tree_task *alive = tp_tree_find(config->tree, (pid_t)thread->tid);
	thread->has_task |= task != TP_NO_TASK;
	track.task_plus_1 = task == TP_NO_TASK ? 0 : task + 1;
	if (alive && alive->info.id == task)
		track.name = alive->info.comm;
	tp_sink_track(config->sink, &track);
}

/* NULL: there are too many. */
static struct thread *thread_of(struct tp_gpu_teller *teller, uint32_t tid, unsigned flags,
				uint64_t time_ns)
{
	bool is_tid = !(flags & TP_GPU_FLAG_PTHREAD);
	uint64_t key = (uint64_t)tid << 1 | is_tid;
	uint64_t at;
	if (tp_map_get(&teller->thread_ids, key, &at))
		return &teller->threads[at];
	uint32_t track = tp_sink_new_track(teller->config.sink);
	if (track >= TP_TRACKS_MOST)
		return NULL;
	tp_map_set(&teller->thread_ids, key, teller->n_threads);
	struct thread *thread =
		&TP_ARRAY_PUSH(teller->threads, teller->n_threads, teller->threads_capacity);
	*thread = (struct thread){.tid = tid, .track = track};
	tell_thread(teller, thread, is_tid ? time_ns : 0);
	thread->has_task |= !is_tid;
	return thread;
}

/* TP_TRACKS_MOST: there is no such place, or there are too many. */
static uint32_t stream_of(struct tp_gpu_teller *teller, uint16_t id)
{
	uint64_t known;
	if (tp_map_get(&teller->places, id, &known))
		return (uint32_t)known;
	const struct tp_gpu_place *place = tp_gpu_file_place(teller->config.file, id);
	uint32_t track = place && place->device <= INT32_MAX
				 ? tp_sink_new_track(teller->config.sink)
				 : (uint32_t)TP_TRACKS_MOST;
	/* Of a place that cannot be nothing is remembered: its entry may still come. */
	if (track >= TP_TRACKS_MOST)
		return TP_TRACKS_MOST;
	char name[32];
	snprintf(name, sizeof(name), "stream %u", place->stream);
	tp_map_set(&teller->places, id, track);
	tp_sink_track(teller->config.sink,
		      &(struct tp_track){.id = track,
					 .rank = teller->config.rank,
					 .device = (int32_t)place->device,
					 .number = place->stream,
					 .name = tp_sink_string(teller->config.sink, name)});
	return track;
}

/* ---- spans ---------------------------------------------------------------------------------- */

static bool times_of(const struct tp_gpu_teller *teller, const struct tp_gpu_event *event,
		     uint64_t *start_ns, uint64_t *end_ns)
{
	uint64_t length_ns = event->dur;
	if (event->flags & TP_GPU_FLAG_LONG)
		length_ns *= LEN_LONG;
	if (event->flags & TP_GPU_FLAG_HOST_CLOCK)
		*start_ns = event->t0;
	else if (!tp_gpu_clocks_host(&teller->config.file->clocks, event->t0, start_ns))
		return false;
	*end_ns = *start_ns + length_ns;
	/* A record may not come before its end; one whose clock was set since may seem to. */
	return *start_ns && *end_ns >= *start_ns && *end_ns <= teller->now_ns + AHEAD_MOST_NS;
}

static void put_span(struct tp_gpu_teller *teller, uint32_t track, enum tp_span_kind kind,
		     uint32_t name, uint64_t start_ns, uint64_t end_ns, uint32_t link,
		     uint32_t detail)
{
	tp_sink_span(teller->config.sink, &(struct tp_span){.start_ns = start_ns,
							    .end_ns = end_ns,
							    .name = name,
							    .link = link,
							    .detail = detail,
							    .track = (uint16_t)track,
							    .kind = (uint8_t)kind});
	teller->told.n_spans++;
}

static void take_device_work(struct tp_gpu_teller *teller, const struct tp_gpu_event *event)
{
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t track = stream_of(teller, event->place);
	if (track >= TP_TRACKS_MOST || !times_of(teller, event, &start_ns, &end_ns)) {
		teller->told.n_unplaced++;
		return;
	}
	struct tp_detail detail = {0};
	enum tp_span_kind kind = TP_SPAN_COPY;
	enum use use = OF_COPY;
	if (event->type == TP_GPU_EVENT_KERNEL) {
		kind = TP_SPAN_KERNEL;
		use = OF_KERNEL;
		detail.blocks = event->x & UINT32_MAX;
		detail.threads = event->x >> 32 & UINT16_MAX;
	} else {
		detail.bytes = event->x;
	}
	if (event->type == TP_GPU_EVENT_SET) {
		kind = TP_SPAN_SET;
		use = OF_SET;
	}
	put_span(teller, track, kind, name_of(teller, use, event->id, 0), start_ns, end_ns,
		 event->link, tp_sink_detail(teller->config.sink, &detail));
}

/* Waits come with the link of the call in which they are: which thread waits is known by that. */
static void note_call(struct tp_gpu_teller *teller, const struct tp_gpu_event *event,
		      const struct thread *thread)
{
	unsigned call = event->place;
	if (!event->link || call == TP_GPU_CALL_LAUNCH || call == TP_GPU_CALL_GRAPH_LAUNCH)
		return;
	if (teller->calls.n >= CALLS_MOST)
		tp_map_release(&teller->calls);
	tp_map_set(&teller->calls, event->link,
		   call == TP_GPU_CALL_SYNC ? SAYS_SO : (uint64_t)(thread - teller->threads));
}

static void take_call(struct tp_gpu_teller *teller, const struct tp_gpu_event *event)
{
	uint64_t start_ns;
	uint64_t end_ns;
	struct thread *thread = NULL;
	if (event->place == TP_GPU_CALL_QUERY)
		return;
	if (times_of(teller, event, &start_ns, &end_ns))
		thread = thread_of(teller, (uint32_t)event->x, event->flags, start_ns);
	if (!thread) {
		teller->told.n_unplaced++;
		return;
	}
	put_span(teller, thread->track, TP_SPAN_CALL,
		 name_of(teller, OF_CALL, event->id, event->place), start_ns, end_ns, event->link,
		 0);
	note_call(teller, event, thread);
}

/* False while its call is not known. */
static bool put_wait(struct tp_gpu_teller *teller, const struct wait *wait)
{
	uint64_t at;
	if (!tp_map_get(&teller->calls, wait->link, &at))
		return false;
	if (at != SAYS_SO && at < teller->n_threads)
		put_span(teller, teller->threads[at].track, TP_SPAN_CALL,
			 tp_sink_string(teller->config.sink, tp_gpu_name_wait(wait->sync)),
			 wait->start_ns, wait->end_ns, 0, 0);
	return true;
}

static void take_wait(struct tp_gpu_teller *teller, const struct tp_gpu_event *event)
{
	struct wait wait = {.link = event->link, .sync = event->id};
	if (!tp_gpu_name_wait(event->id) || !event->link)
		return;
	if (!times_of(teller, event, &wait.start_ns, &wait.end_ns)) {
		teller->told.n_unplaced++;
		return;
	}
	if (!put_wait(teller, &wait) && teller->n_waits < WAITS_MOST)
		TP_ARRAY_PUSH(teller->waits, teller->n_waits, teller->waits_capacity) = wait;
}

static void take_overhead(struct tp_gpu_teller *teller, const struct tp_gpu_event *event)
{
	uint64_t start_ns;
	uint64_t end_ns;
	const char *name = tp_gpu_name_overhead(event->id);
	if (!times_of(teller, event, &start_ns, &end_ns))
		return;
	if (!name && event->id != TP_GPU_OVERHEAD_QUEUE_FULL && event->id)
		teller->told.cupti_ns += end_ns - start_ns;
	struct thread *thread =
		name && event->x ? thread_of(teller, (uint32_t)event->x, event->flags, start_ns)
				 : NULL;
	if (thread)
		put_span(teller, thread->track, TP_SPAN_ANNOTATION,
			 tp_sink_string(teller->config.sink, name), start_ns, end_ns, 0, 0);
}

/* ---- NVTX ----------------------------------------------------------------------------------- */

static void take_push(struct tp_gpu_teller *teller, const struct tp_gpu_event *event)
{
	struct thread *thread = thread_of(teller, (uint32_t)event->x, event->flags, event->t0);
	if (!thread)
		return;
	if (thread->n_ranges == RANGES_MOST)
		memmove(thread->ranges, thread->ranges + 1,
			--thread->n_ranges * sizeof(*thread->ranges));
	TP_ARRAY_PUSH(thread->ranges, thread->n_ranges, thread->ranges_capacity) =
		(struct range){.name = name_of(teller, OF_RANGE, event->id, 0),
			       .domain = (uint32_t)(event->x >> 32),
			       .start_ns = event->t0};
}

static void take_pop(struct tp_gpu_teller *teller, const struct tp_gpu_event *event)
{
	struct thread *thread = thread_of(teller, (uint32_t)event->x, event->flags, event->t0);
	size_t at = thread ? thread->n_ranges : 0;
	while (at && thread->ranges[at - 1].domain != (uint32_t)(event->x >> 32))
		at--;
	if (!at)
		return;
	struct range range = thread->ranges[--at];
	memmove(&thread->ranges[at], &thread->ranges[at + 1],
		(thread->n_ranges-- - at - 1) * sizeof(range));
	if (event->t0 >= range.start_ns && event->t0 <= teller->now_ns + AHEAD_MOST_NS)
		put_span(teller, thread->track, TP_SPAN_ANNOTATION, range.name, range.start_ns,
			 event->t0, 0, 0);
}

static void take_start(struct tp_gpu_teller *teller, const struct tp_gpu_event *event)
{
	if (teller->n_started < STARTED_MOST)
		TP_ARRAY_PUSH(teller->started, teller->n_started, teller->started_capacity) =
			(struct started){.number = event->x,
					 .start_ns = event->t0,
					 .name = name_of(teller, OF_RANGE, event->id, 0)};
}

/* Nobody tells in which thread it began: it stands with the first one of the process. */
static void take_end(struct tp_gpu_teller *teller, const struct tp_gpu_event *event)
{
	size_t at = teller->n_started;
	while (at && teller->started[at - 1].number != event->x)
		at--;
	if (!at)
		return;
	struct started range = teller->started[at - 1];
	teller->started[at - 1] = teller->started[--teller->n_started];
	struct thread *thread = thread_of(teller, (uint32_t)teller->config.pid, 0, range.start_ns);
	if (thread && event->t0 >= range.start_ns && event->t0 <= teller->now_ns + AHEAD_MOST_NS)
		put_span(teller, thread->track, TP_SPAN_ANNOTATION, range.name, range.start_ns,
			 event->t0, 0, 0);
}

/* ---- all events ----------------------------------------------------------------------------- */

/* Which of the ranges that are open their ends were among what was dropped? Nobody knows. */
static void take_loss(struct tp_gpu_teller *teller, const struct tp_gpu_event *event)
{
	uint64_t until_ns = event->t0 <= teller->now_ns ? event->t0 : teller->now_ns;
	uint64_t from_ns = teller->before_ns < until_ns ? teller->before_ns : until_ns;
	teller->told.n_lost += event->x;
	for (size_t i = 0; i < teller->n_threads; i++)
		teller->threads[i].n_ranges = 0;
	teller->n_started = 0;
	tp_sink_gap(teller->config.sink, teller->config.source,
		    "GPU events came faster than they were read", from_ns, until_ns, event->x);
}

/* Of the time before the first OPEN nothing needs to be said: CUDA had not started. */
static void take_open(struct tp_gpu_teller *teller, const struct tp_gpu_event *event)
{
	if (teller->closed_ns && event->t0 > teller->closed_ns && event->t0 <= teller->now_ns)
		tp_sink_gap(teller->config.sink, teller->config.source,
			    "the GPU was not traced between windows", teller->closed_ns, event->t0,
			    0);
	teller->closed_ns = 0;
}

static void take_close(struct tp_gpu_teller *teller, const struct tp_gpu_event *event)
{
	if (event->t0 <= teller->now_ns)
		teller->closed_ns = event->t0;
}

void tp_gpu_teller_finish(struct tp_gpu_teller *teller, uint64_t now_ns)
{
	if (teller->closed_ns && now_ns > teller->closed_ns)
		tp_sink_gap(teller->config.sink, teller->config.source,
			    "the GPU was not traced between windows", teller->closed_ns, now_ns, 0);
	teller->closed_ns = 0;
}

void tp_gpu_teller_begin(struct tp_gpu_teller *teller, uint64_t now_ns)
{
	teller->before_ns = teller->now_ns ? teller->now_ns : now_ns;
	teller->now_ns = now_ns;
}

void tp_gpu_teller_take(void *context, const struct tp_gpu_event *event)
{
	struct tp_gpu_teller *teller = context;
	static void (*const takers[TP_GPU_EVENT_TYPES])(struct tp_gpu_teller *,
							const struct tp_gpu_event *) = {
		[TP_GPU_EVENT_KERNEL] = take_device_work, [TP_GPU_EVENT_COPY] = take_device_work,
		[TP_GPU_EVENT_SET] = take_device_work,    [TP_GPU_EVENT_CALL] = take_call,
		[TP_GPU_EVENT_SYNC] = take_wait,          [TP_GPU_EVENT_OVERHEAD] = take_overhead,
		[TP_GPU_EVENT_PUSH] = take_push,          [TP_GPU_EVENT_POP] = take_pop,
		[TP_GPU_EVENT_START] = take_start,        [TP_GPU_EVENT_END] = take_end,
		[TP_GPU_EVENT_LOST] = take_loss,          [TP_GPU_EVENT_OPEN] = take_open,
		[TP_GPU_EVENT_CLOSE] = take_close,
	};
	teller->told.n_events++;
	if (event->type == TP_GPU_EVENT_NONE || event->type > TP_GPU_EVENT_PAYLOAD)
		teller->told.n_unknown++;
	else if (takers[event->type])
		takers[event->type](teller, event);
}

void tp_gpu_teller_end(struct tp_gpu_teller *teller)
{
	size_t n_kept = 0;
	for (size_t i = 0; i < teller->n_waits; i++)
		if (!put_wait(teller, &teller->waits[i]))
			teller->waits[n_kept++] = teller->waits[i];
	/* A call that never comes was lost: the oldest wait no longer. */
	if (n_kept == WAITS_MOST)
		memmove(teller->waits, teller->waits + WAITS_MOST / 2,
			(n_kept = WAITS_MOST / 2) * sizeof(*teller->waits));
	teller->n_waits = n_kept;
	for (size_t i = 0; i < teller->n_threads; i++)
		if (!teller->threads[i].has_task)
			tell_thread(teller, &teller->threads[i], teller->now_ns);
}
