/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subscribes, enables and disables kinds of records, and takes the buffers that CUPTI has filled.
 */
#include "cupti_session.h"

#include "exit_guard.h"

#include "agent/nvtx/nvtx_ranges.h"
#include "agent/ring/host_clock.h"

#include "trainprof/wire/gpu_faults.h"

#include <stdio.h>
#include <string.h>

enum {
	BATCH = 64,          /* records decoded per locked section */
	CACHE_LINE = 64,     /* size on most processors; elsewhere prefetching is merely slower */
	CLOCK_TRIES = 5,     /* clock readings of which the tightest is recorded */
	DEVICE_BUFFERS = 16, /* at most, each of 3.2 MB: GPU memory belongs to the program */
	FIRST_DEVICE_BUFFERS = 1,
};

/* CUPTI's callbacks carry no context. Set once, before the first callback. */
static struct tp_cupti_session *current;

static const struct {
	int kind;
	bool is_needed;
	uint8_t event; /* the event that represents it in the ring */
} kinds[] = {
	{CUPTI_CONCURRENT_KERNEL, true, TP_GPU_EVENT_KERNEL},
	{CUPTI_MEMCPY, false, TP_GPU_EVENT_COPY},
	{CUPTI_MEMCPY2, false, TP_GPU_EVENT_PEER},
	{CUPTI_MEMSET, false, TP_GPU_EVENT_SET},
	{CUPTI_SYNCHRONIZATION, false, TP_GPU_EVENT_SYNC},
	{CUPTI_OVERHEAD, false, TP_GPU_EVENT_OVERHEAD},
	{CUPTI_RUNTIME, false, TP_GPU_EVENT_CALL},
	{CUPTI_DRIVER, false, TP_GPU_EVENT_CALL},
};

enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

void tp_cupti_session_init(struct tp_cupti_session *session, struct tp_ring_writer *ring)
{
	session->ring = ring;
	pthread_mutex_init(&session->lock, NULL);
	tp_cupti_decoder_init(&session->decoder, ring);
	__atomic_store_n(&current, session, __ATOMIC_RELEASE);
}

/* ---- callbacks of CUPTI --------------------------------------------------------------------- */

/* Runs in the thread that launches a kernel: no lock and no system call. */
static void on_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	struct tp_cupti_session *session = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
	*max_records = 0;
	*size = TP_BUFFER_POOL_BYTES;
	*buffer = tp_buffer_pool_get(&session->pool);
	__atomic_fetch_add(&session->n_requested, 1, __ATOMIC_RELAXED);
	if (*buffer)
		return;
	if (tp_ring_writer_is_ours(session->ring))
		__atomic_fetch_add(&session->ring->header->n_scratch, 1, __ATOMIC_RELAXED);
	if (!session->may_refuse)
		*buffer = tp_buffer_pool_get_extra(&session->pool);
	*size = *buffer ? TP_BUFFER_POOL_SPARE_BYTES : 0;
}

/* Asks CUPTI for records without holding our lock, because CUPTI has locks of its own. Returns the
 * number; *result says why there are no more. */
static size_t next_records(struct tp_cupti_session *session, uint8_t *buffer, size_t valid,
			   struct cupti_record *batch[BATCH], struct cupti_record **last,
			   int *result)
{
	size_t n = 0;
	*result = CUPTI_OK;
	while (n < BATCH) {
		*result = session->lib.get_next_record(buffer, valid, last);
		if (*result != CUPTI_OK)
			break;
		/* The rest of the record is prefetched before it is decoded. */
		for (size_t at = CACHE_LINE; at < sizeof(struct cupti_kernel); at += CACHE_LINE)
			__builtin_prefetch((const char *)*last + at);
		batch[n++] = *last;
	}
	return n;
}

static void decode_buffer(struct tp_cupti_session *session, uint8_t *buffer, size_t valid)
{
	struct cupti_record *batch[BATCH];
	struct cupti_record *last = NULL;
	int result;
	pthread_mutex_lock(&session->lock);
	tp_cupti_decode_begin(&session->decoder);
	pthread_mutex_unlock(&session->lock);
	do {
		size_t n = next_records(session, buffer, valid, batch, &last, &result);
		pthread_mutex_lock(&session->lock);
		for (size_t i = 0; i < n; i++)
			tp_cupti_decode(&session->decoder, batch[i]);
		/* Nothing says how many records follow one that CUPTI cannot parse. */
		if (result != CUPTI_OK && result != CUPTI_LIMIT_REACHED)
			session->ring->header->n_lost++;
		tp_ring_writer_publish(session->ring);
		pthread_mutex_unlock(&session->lock);
	} while (result == CUPTI_OK);
}

static void on_complete(void *cuda_context, uint32_t stream, uint8_t *buffer, size_t size,
			size_t valid)
{
	struct tp_cupti_session *session = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
	size_t n_dropped = 0;
	(void)size;
	if (!tp_ring_writer_is_ours(session->ring))
		return;
	uint64_t begun_ns = tp_host_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	/* Ranges are emitted before the calls inside them, so that a reader knows the range when
	 * its calls arrive. */
	if (session->has_ranges)
		tp_nvtx_ranges_drain(tp_host_clock_ns(CLOCK_MONOTONIC), false);
	bool is_ours = buffer && tp_buffer_pool_owns(&session->pool, buffer);
	if (is_ours && valid)
		decode_buffer(session, buffer, valid);
	if (session->lib.get_num_dropped(cuda_context, stream, &n_dropped) != CUPTI_OK)
		n_dropped = 0;
	if (is_ours)
		tp_buffer_pool_release(&session->pool, buffer);
	else if (buffer)
		tp_buffer_pool_release_extra(&session->pool, buffer);
	__atomic_fetch_add(&session->n_returned, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&session->lock);
	session->ring->header->n_lost += n_dropped;
	session->ring->header->n_buffers++;
	session->ring->header->cost_ns += tp_host_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns;
	pthread_mutex_unlock(&session->lock);
}

/* Called twice per launch, and only while launches are watched. */
static void on_call(void *context, int domain, uint32_t cbid, const void *data)
{
	struct tp_cupti_session *session = context;
	(void)domain;
	(void)cbid;
	(void)data;
	__atomic_fetch_add(&session->n_called, 1, __ATOMIC_RELAXED);
}

/* ---- open ----------------------------------------------------------------------------------- */

/* True if another tool has CUPTI, either exclusively or shared in a way that excludes us. */
static bool is_in_use(int result)
{
	return result == CUPTI_IN_USE || result == CUPTI_NOT_COMPATIBLE;
}

static enum tp_gpu_state reject(struct tp_cupti_session *session, const char *call, int result)
{
	enum tp_gpu_state state = is_in_use(result) ? TP_GPU_STATE_IN_USE : TP_GPU_STATE_FAILED;
	struct tp_gpu_ring_header *header = session->ring->header;
	snprintf(header->failed_call, sizeof(header->failed_call), "%s", call);
	header->error = result;
	return state;
}

static enum tp_gpu_state subscribe(struct tp_cupti_session *session)
{
	char other[CUPTI_NAME_BYTES] = "";
	struct cupti_subscriber_params params = {
		.size = sizeof(params),
		.own_name = "trainprof",
		.other_name = other,
		.other_name_bytes = sizeof(other),
	};
	int result;
	if (session->lib.subscribe_v2)
		result = session->lib.subscribe_v2(&session->subscriber, on_call, session, &params);
	else
		result = session->lib.subscribe(&session->subscriber, on_call, session);
	if (result == CUPTI_OK)
		return TP_GPU_STATE_OPEN;
	session->subscriber = NULL;
	other[sizeof(other) - 1] = '\0';
	memcpy(session->ring->header->owner, other, sizeof(other));
	return reject(session, session->lib.subscribe_v2 ? "cuptiSubscribe_v2" : "cuptiSubscribe",
		      result);
}

static bool has_fault(const struct tp_cupti_session *session, enum tp_gpu_fault_kind kind)
{
	const struct tp_cupti_library *lib = &session->lib;
	return tp_gpu_fault_find(kind, lib->version, lib->driver_version) != NULL;
}

/* Sets optional attributes; whether one is refused depends on the version and the environment. */
static void set_attributes(struct tp_cupti_session *session)
{
	static const struct {
		int attribute;
		size_t value;
	} values[] = {{CUPTI_DEVICE_BUFFER_POOL_LIMIT, DEVICE_BUFFERS},
		      {CUPTI_DEVICE_BUFFER_PRE_ALLOCATE, FIRST_DEVICE_BUFFERS}};
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]) && session->lib.set_attribute;
	     i++) {
		size_t size = sizeof(values[i].value);
		size_t value = values[i].value;
		session->lib.set_attribute(values[i].attribute, &size, &value);
	}
	bool tells_tids = session->lib.set_thread_id_type &&
			  session->lib.set_thread_id_type(CUPTI_THREAD_ID_SYSTEM) == CUPTI_OK;
	session->may_refuse = !has_fault(session, TP_GPU_FAULT_NO_NULL);
	/* Buffers of the previous window may be decoded at this moment. */
	pthread_mutex_lock(&session->lock);
	session->decoder.thread_flag = tells_tids ? 0 : TP_GPU_FLAG_PTHREAD;
	pthread_mutex_unlock(&session->lock);
	/* Otherwise CUPTI records every query of an event that is not complete yet. */
	if (session->lib.enable_all_syncs)
		session->lib.enable_all_syncs(0);
}

/* CUPTI does not promise that a name stays at the address where it was returned. */
static uint32_t name_id(void *context, const char *name)
{
	tp_name_table_mark_stale(context);
	return tp_name_table_id(context, name);
}

static int switch_call(struct tp_cupti_session *session, int domain, uint32_t cbid, uint8_t is_on)
{
	return domain == CUPTI_DOMAIN_DRIVER ? session->lib.enable_driver_call(cbid, is_on)
					     : session->lib.enable_runtime_call(cbid, is_on);
}

/* Enables or disables all recorded calls of a domain; returns false at the first refusal. */
static bool switch_calls(struct tp_cupti_session *session, int domain, uint8_t is_on)
{
	for (uint32_t cbid = 1; cbid < TP_CALL_NAMES_MAX; cbid++)
		if (tp_call_names_is_recorded(session->decoder.calls.does[domain][cbid]) &&
		    switch_call(session, domain, cbid, is_on) != CUPTI_OK)
			return false;
	return true;
}

static bool filter_calls(struct tp_cupti_session *session, int domain)
{
	bool is_able = !has_fault(session, TP_GPU_FAULT_NO_FILTER) &&
		       session->lib.enable_driver_call && session->lib.enable_runtime_call;
	if (!is_able)
		return false;
	if (!switch_calls(session, domain, 1)) {
		switch_calls(session, domain, 0);
		return false;
	}
	session->filtered |= 1u << domain;
	return true;
}

static int switch_on(struct tp_cupti_session *session, size_t row)
{
	int kind = kinds[row].kind;
	if (kind == CUPTI_RUNTIME && filter_calls(session, CUPTI_DOMAIN_RUNTIME))
		return CUPTI_OK;
	if (kind == CUPTI_DRIVER && filter_calls(session, CUPTI_DOMAIN_DRIVER))
		return CUPTI_OK;
	int result = session->lib.enable(kind);
	if (result == CUPTI_OK)
		session->kinds |= 1u << row;
	return result;
}

static enum tp_gpu_state switch_all_on(struct tp_cupti_session *session)
{
	uint64_t collected = 0;
	for (size_t row = 0; row < N_KINDS; row++) {
		tp_exit_guard_checkpoint();
		int result = switch_on(session, row);
		if (result == CUPTI_OK)
			collected |= 1ull << kinds[row].event;
		else if (kinds[row].is_needed || is_in_use(result))
			return reject(session, "cuptiActivityEnable", result);
	}
	session->ring->header->kinds |= collected;
	return TP_GPU_STATE_OPEN;
}

/* Emits the first or last event of a window. */
static void emit_window(struct tp_cupti_session *session, uint8_t type)
{
	struct tp_gpu_event event = {
		.type = type,
		.flags = TP_GPU_FLAG_HOST_CLOCK,
		.id = session->ring->header->n_windows,
		.t0 = tp_host_clock_ns(CLOCK_MONOTONIC),
	};
	pthread_mutex_lock(&session->lock);
	tp_ring_writer_append(session->ring, &event, 1);
	tp_ring_writer_publish(session->ring);
	pthread_mutex_unlock(&session->lock);
}

/* Does everything except enabling records. */
static enum tp_gpu_state prepare(struct tp_cupti_session *session)
{
	enum tp_gpu_state state = subscribe(session);
	tp_exit_guard_checkpoint();
	if (state != TP_GPU_STATE_OPEN)
		return state;
	set_attributes(session);
	tp_exit_guard_checkpoint();
	if (!tp_cupti_session_emit_clock(session))
		return is_in_use(session->ring->header->error) ? TP_GPU_STATE_IN_USE
							       : TP_GPU_STATE_FAILED;
	if (!session->has_names)
		tp_call_names_load(&session->decoder.calls, &session->lib, name_id,
				   &session->decoder.names);
	session->has_names = true;
	int result = session->lib.register_callbacks(on_request, on_complete);
	return result == CUPTI_OK ? TP_GPU_STATE_OPEN
				  : reject(session, "cuptiActivityRegisterCallbacks", result);
}

enum tp_gpu_state tp_cupti_session_open(struct tp_cupti_session *session)
{
	int failure = tp_ring_writer_reserve(session->ring);
	if (!failure && !session->pool.memory)
		failure = tp_buffer_pool_init(&session->pool);
	if (failure) {
		session->ring->header->error = failure;
		return TP_GPU_STATE_NO_ROOM;
	}
	enum tp_gpu_state state = prepare(session);
	if (state == TP_GPU_STATE_OPEN) {
		session->ring->header->n_windows++;
		emit_window(session, TP_GPU_EVENT_OPEN);
		state = switch_all_on(session);
		if (state != TP_GPU_STATE_OPEN)
			tp_cupti_session_pause(session);
	}
	if (state != TP_GPU_STATE_OPEN)
		tp_cupti_session_release(session);
	return state;
}

/* ---- while open ----------------------------------------------------------------------------- */

void tp_cupti_session_flush(struct tp_cupti_session *session, bool force)
{
	/* Before the first request there is nothing to flush, and CUPTI has been seen to hang. */
	if (__atomic_load_n(&session->n_requested, __ATOMIC_RELAXED))
		session->lib.flush_all(force ? CUPTI_FLUSH_FORCED : 0);
}

bool tp_cupti_session_emit_clock(struct tp_cupti_session *session)
{
	struct tp_gpu_clock best = {.error_ns = UINT32_MAX};
	for (int i = 0; i < CLOCK_TRIES; i++) {
		uint64_t cupti_ns = 0;
		uint64_t before_ns = tp_host_clock_ns(CLOCK_MONOTONIC);
		int result = session->lib.get_timestamp(&cupti_ns);
		uint64_t half_ns = (tp_host_clock_ns(CLOCK_MONOTONIC) - before_ns) / 2;
		if (result != CUPTI_OK) {
			reject(session, "cuptiGetTimestamp", result);
			return false;
		}
		if (half_ns < best.error_ns)
			best = (struct tp_gpu_clock){.host_ns = before_ns + half_ns,
						     .cupti_ns = cupti_ns,
						     .error_ns = (uint32_t)half_ns};
	}
	tp_ring_writer_add_clock(session->ring, &best);
	return true;
}

bool tp_cupti_session_watch(struct tp_cupti_session *session, bool is_on)
{
	if (!session->lib.enable_callback || !session->subscriber)
		return false;
	bool is_watched = false;
	for (int domain = CUPTI_DOMAIN_DRIVER; domain <= CUPTI_DOMAIN_RUNTIME; domain++)
		for (uint32_t cbid = 1; cbid < TP_CALL_NAMES_MAX; cbid++) {
			uint8_t does = session->decoder.calls.does[domain][cbid];
			if ((does == TP_GPU_CALL_LAUNCH || does == TP_GPU_CALL_GRAPH_LAUNCH) &&
			    session->lib.enable_callback(is_on, session->subscriber, domain,
							 cbid) == CUPTI_OK)
				is_watched = true;
		}
	return is_watched;
}

/* ---- close ---------------------------------------------------------------------------------- */

void tp_cupti_session_pause(struct tp_cupti_session *session)
{
	for (size_t row = 0; row < N_KINDS; row++)
		if (session->kinds & 1u << row)
			session->lib.disable(kinds[row].kind);
	for (int domain = CUPTI_DOMAIN_DRIVER; domain <= CUPTI_DOMAIN_RUNTIME; domain++)
		if (session->filtered & 1u << domain)
			switch_calls(session, domain, 0);
	session->kinds = 0;
	session->filtered = 0;
	emit_window(session, TP_GPU_EVENT_CLOSE);
}

void tp_cupti_session_release(struct tp_cupti_session *session)
{
	if (session->subscriber)
		session->lib.unsubscribe(session->subscriber);
	session->subscriber = NULL;
}
