/* SPDX-License-Identifier: Apache-2.0 */
/* Queries NVML in a separate thread. */
#include "nvml_thread.h"

#include "nvml_process.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUND_NS     TP_NS_PER_S
#define GPM_ROUND_NS (TP_NS_PER_S / 2) /* if a used device supports GPM */
#define END_WAIT_NS  (TP_NS_PER_S / 4)

/* Readings kept for a caller that does not fetch them: minutes on a machine with eight GPUs. */
enum { READINGS_MAX = 4096, DEVICES_MAX = 64 };

struct tp_nvml_thread {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* signals is_ending and has_ended */
	char *root;

	/* Protected by the lock. */
	bool is_ending;
	bool has_ended; /* the thread accesses nothing any more except this */
	bool is_left;   /* nobody waits any more: the thread frees everything */
	struct tp_nvml_update news;
	size_t readings_capacity;
	pid_t *pids;
	size_t n_pids;
	bool has_new_pids;
	bool asks_all;
	char (*names)[NVML_NAME_BYTES]; /* written once, before the first reading */

	/* Used only by the thread. */
	struct tp_host host;
	struct tp_nvml_library library;
	struct tp_nvml_process owner;
	struct tp_nvml_device *devices;
	unsigned n_devices;
	bool was_listed; /* NVML has listed the target: from then on device nodes are ignored */
	bool uses_gpm;
	bool reads_all; /* value of asks_all in this round */
};

static void thread_free(struct tp_nvml_thread *watch)
{
	tp_nvml_process_release(&watch->owner);
	tp_nvml_library_close(&watch->library);
	pthread_cond_destroy(&watch->changed);
	pthread_mutex_destroy(&watch->lock);
	free(watch->news.readings);
	free(watch->pids);
	free(watch->names);
	free(watch->devices);
	free(watch->root);
	free(watch);
}

/* ---- thread -------------------------------------------------------------------------------- */

/* Records that the thread is inside NVML until the next call with false. */
static void mark_waiting(struct tp_nvml_thread *watch, bool is_waiting)
{
	uint64_t now_ns = tp_clock_now_ns();
	pthread_mutex_lock(&watch->lock);
	watch->news.waits_since_ns = is_waiting ? now_ns : 0;
	pthread_mutex_unlock(&watch->lock);
}

static void set_failed(struct tp_nvml_thread *watch, int result)
{
	pthread_mutex_lock(&watch->lock);
	watch->news.state = TP_NVML_FAILED;
	tp_nvml_explain(&watch->news.why, result);
	pthread_mutex_unlock(&watch->lock);
}

/* A device that cannot be opened keeps its index and reports nothing. */
static bool open_devices(struct tp_nvml_thread *watch)
{
	unsigned n = 0;
	int result = watch->library.init();
	if (result == NVML_SUCCESS)
		result = watch->library.count(&n);
	if (result != NVML_SUCCESS) {
		set_failed(watch, result);
		return false;
	}
	n = n < DEVICES_MAX ? n : DEVICES_MAX;
	watch->devices = tp_alloc((n + 1) * sizeof(*watch->devices));
	char(*names)[NVML_NAME_BYTES] = tp_alloc((n + 1) * sizeof(*names));
	for (unsigned i = 0; i < n; i++) {
		struct tp_nvml_device *device = &watch->devices[i];
		if (tp_nvml_device_open(device, &watch->library, i) != NVML_SUCCESS)
			device->is_lost = true;
		memcpy(names[i], device->name, NVML_NAME_BYTES);
		names[i][NVML_NAME_BYTES - 1] = '\0';
	}
	watch->n_devices = n;
	pthread_mutex_lock(&watch->lock);
	watch->names = names;
	watch->news.n_devices = n;
	watch->news.state = TP_NVML_RUNNING;
	pthread_mutex_unlock(&watch->lock);
	return true;
}

static void copy_pids(struct tp_nvml_thread *watch)
{
	pid_t *pids = NULL;
	size_t n = 0;
	pthread_mutex_lock(&watch->lock);
	bool is_new = watch->has_new_pids;
	watch->reads_all = watch->asks_all;
	if (is_new) {
		pids = watch->pids;
		n = watch->n_pids;
		watch->pids = NULL;
		watch->has_new_pids = false;
	}
	pthread_mutex_unlock(&watch->lock);
	if (is_new)
		tp_nvml_process_set_pids(&watch->owner, pids, n);
	free(pids);
}

static void queue_reading(struct tp_nvml_thread *watch, const struct tp_nvml_reading *reading)
{
	pthread_mutex_lock(&watch->lock);
	struct tp_nvml_update *news = &watch->news;
	if (news->n_readings < READINGS_MAX)
		TP_ARRAY_PUSH(news->readings, news->n_readings, watch->readings_capacity) =
			*reading;
	else
		news->n_lost++;
	pthread_mutex_unlock(&watch->lock);
}

/* If NVML lists the target on one device, its lists are trusted for all. */
static void find_listed(struct tp_nvml_thread *watch, struct tp_nvml_reading *readings)
{
	for (unsigned i = 0; i < watch->n_devices; i++) {
		struct tp_nvml_reading *reading = &readings[i];
		for (size_t k = 0; k < TP_N_GPU_METRICS; k++)
			reading->values[k] = NAN;
		tp_nvml_process_read(&watch->owner, &watch->devices[i], &watch->library, reading);
		if (*tp_nvml_value(reading, TP_METRIC_GPU_IS_LISTED) > 0)
			watch->was_listed = true;
	}
}

static bool is_used(struct tp_nvml_thread *watch, unsigned i, struct tp_nvml_reading *reading,
		    uint64_t now_ns)
{
	if (watch->devices[i].is_lost)
		return false;
	if (watch->reads_all || *tp_nvml_value(reading, TP_METRIC_GPU_IS_LISTED) > 0)
		return true;
	return !watch->was_listed &&
	       tp_nvml_process_holds(&watch->owner, &watch->devices[i], now_ns);
}

static void read_device(struct tp_nvml_thread *watch, unsigned i, struct tp_nvml_reading *reading)
{
	struct tp_nvml_device *device = &watch->devices[i];
	struct tp_nvml_reading of_processes = *reading;
	tp_nvml_device_read(device, &watch->library, reading);
	for (size_t k = 0; k < TP_N_GPU_METRICS; k++)
		if (isnan(reading->values[k]))
			reading->values[k] = of_processes.values[k];
	if (isnan(*tp_nvml_value(reading, TP_METRIC_GPU_IS_LISTED)))
		*tp_nvml_value(reading, TP_METRIC_GPU_IS_LISTED) = 0;
	tp_nvml_device_read_gpm(device, &watch->library, reading);
	reading->device = i;
	/* After the calls: they return current values, no matter how late they started. */
	reading->time_ns = tp_clock_now_ns();
	watch->uses_gpm |= device->has_gpm;
	if (!device->is_lost)
		queue_reading(watch, reading);
}

static void read_gpm_only(struct tp_nvml_thread *watch, const bool *used)
{
	for (unsigned i = 0; i < watch->n_devices; i++) {
		struct tp_nvml_device *device = &watch->devices[i];
		struct tp_nvml_reading reading = {.device = i, .free_bytes = NAN};
		if (!used[i] || !device->has_gpm || device->is_lost)
			continue;
		for (size_t k = 0; k < TP_N_GPU_METRICS; k++)
			reading.values[k] = NAN;
		tp_nvml_device_read_gpm(device, &watch->library, &reading);
		reading.time_ns = tp_clock_now_ns();
		queue_reading(watch, &reading);
	}
}

static void count_lost_devices(struct tp_nvml_thread *watch)
{
	unsigned n = 0;
	for (unsigned i = 0; i < watch->n_devices; i++)
		n += watch->devices[i].is_lost;
	pthread_mutex_lock(&watch->lock);
	watch->news.n_lost_devices = n;
	pthread_mutex_unlock(&watch->lock);
}

/* `used` is kept between rounds: between two full rounds only GPM is queried. */
static void read_round(struct tp_nvml_thread *watch, bool *used, bool is_whole)
{
	static const struct tp_nvml_reading none;
	mark_waiting(watch, true);
	if (!is_whole) {
		read_gpm_only(watch, used);
	} else {
		struct tp_nvml_reading *readings = tp_alloc((watch->n_devices + 1) * sizeof(none));
		uint64_t now_ns = tp_clock_now_ns();
		watch->uses_gpm = false;
		copy_pids(watch);
		find_listed(watch, readings);
		for (unsigned i = 0; i < watch->n_devices; i++) {
			used[i] = is_used(watch, i, &readings[i], now_ns);
			if (used[i])
				read_device(watch, i, &readings[i]);
		}
		free(readings);
	}
	count_lost_devices(watch);
	mark_waiting(watch, false);
}

static struct timespec time_of(uint64_t at_ns)
{
	return (struct timespec){.tv_sec = (time_t)(at_ns / TP_NS_PER_S),
				 .tv_nsec = (long)(at_ns % TP_NS_PER_S)};
}

/* Returns false when the thread must end. */
static bool pause_until(struct tp_nvml_thread *watch, uint64_t at_ns)
{
	struct timespec at = time_of(at_ns);
	pthread_mutex_lock(&watch->lock);
	int result = 0;
	while (!watch->is_ending && result == 0)
		result = pthread_cond_timedwait(&watch->changed, &watch->lock, &at);
	bool goes_on = !watch->is_ending;
	pthread_mutex_unlock(&watch->lock);
	return goes_on;
}

static void run_rounds(struct tp_nvml_thread *watch)
{
	bool used[DEVICES_MAX] = {false};
	uint64_t whole_ns = tp_clock_now_ns();
	uint64_t next_ns = whole_ns;
	while (pause_until(watch, next_ns)) {
		uint64_t now_ns = tp_clock_now_ns();
		bool is_whole = now_ns >= whole_ns;
		read_round(watch, used, is_whole);
		if (is_whole)
			whole_ns = now_ns + ROUND_NS;
		next_ns = watch->uses_gpm && now_ns + GPM_ROUND_NS < whole_ns
				  ? now_ns + GPM_ROUND_NS
				  : whole_ns;
	}
}

static void *thread_run(void *context)
{
	struct tp_nvml_thread *watch = context;
	mark_waiting(watch, true);
	bool is_open = open_devices(watch);
	mark_waiting(watch, false);
	if (is_open) {
		run_rounds(watch);
		for (unsigned i = 0; i < watch->n_devices; i++)
			tp_nvml_device_close(&watch->devices[i], &watch->library);
	}
	if (is_open)
		watch->library.shutdown();
	pthread_mutex_lock(&watch->lock);
	bool is_left = watch->is_left;
	watch->has_ended = true;
	pthread_cond_broadcast(&watch->changed);
	pthread_mutex_unlock(&watch->lock);
	if (is_left)
		thread_free(watch);
	return NULL;
}

/* ---- caller -------------------------------------------------------------------------------- */

static int start_thread(struct tp_nvml_thread *watch)
{
	sigset_t all;
	sigset_t before;
	pthread_condattr_t attributes;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&watch->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&watch->lock, NULL);
	/* The thread inherits the mask, so no signal can ever be delivered to it. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int failure = pthread_create(&watch->thread, NULL, thread_run, watch);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failure;
}

enum tp_status tp_nvml_thread_start(struct tp_nvml_thread **out, const char *path, const char *root,
				    struct tp_error *err)
{
	struct tp_nvml_thread *watch = tp_alloc(sizeof(*watch));
	enum tp_status status = tp_nvml_library_open(&watch->library, path, err);
	if (status) {
		free(watch);
		return status;
	}
	watch->root = tp_strdup(root);
	watch->host = (struct tp_host){.root = watch->root, .is_live = true};
	tp_nvml_process_init(&watch->owner, &watch->host);
	int failure = start_thread(watch);
	if (failure) {
		thread_free(watch);
		return tp_fail_errno(err, failure, "no thread for NVML");
	}
	*out = watch;
	return TP_OK;
}

void tp_nvml_thread_set_pids(struct tp_nvml_thread *watch, const pid_t *pids, size_t n)
{
	pid_t *copy = tp_alloc((n + 1) * sizeof(*copy));
	if (n)
		memcpy(copy, pids, n * sizeof(*copy));
	pthread_mutex_lock(&watch->lock);
	pid_t *before = watch->pids;
	watch->pids = copy;
	watch->n_pids = n;
	watch->has_new_pids = true;
	pthread_mutex_unlock(&watch->lock);
	free(before);
}

void tp_nvml_thread_read_all(struct tp_nvml_thread *watch)
{
	pthread_mutex_lock(&watch->lock);
	watch->asks_all = true;
	pthread_mutex_unlock(&watch->lock);
}

void tp_nvml_thread_receive(struct tp_nvml_thread *watch, struct tp_nvml_update *out)
{
	pthread_mutex_lock(&watch->lock);
	*out = watch->news;
	watch->news.readings = NULL;
	watch->news.n_readings = 0;
	watch->readings_capacity = 0;
	pthread_mutex_unlock(&watch->lock);
}

const char *tp_nvml_thread_device_name(struct tp_nvml_thread *watch, uint32_t device)
{
	pthread_mutex_lock(&watch->lock);
	const char *name =
		watch->names && device < watch->news.n_devices ? watch->names[device] : "";
	pthread_mutex_unlock(&watch->lock);
	return name;
}

void tp_nvml_thread_end(struct tp_nvml_thread *watch)
{
	uint64_t until_ns = tp_clock_now_ns() + END_WAIT_NS;
	struct timespec until = time_of(until_ns);
	pthread_t thread = watch->thread; /* the rest may be freed when it is left behind */
	pthread_mutex_lock(&watch->lock);
	watch->is_ending = true;
	pthread_cond_broadcast(&watch->changed);
	int result = 0;
	while (!watch->has_ended && result == 0)
		result = pthread_cond_timedwait(&watch->changed, &watch->lock, &until);
	bool has_ended = watch->has_ended;
	watch->is_left = !has_ended;
	pthread_mutex_unlock(&watch->lock);
	if (has_ended) {
		pthread_join(thread, NULL);
		thread_free(watch);
	} else {
		pthread_detach(thread);
	}
}
