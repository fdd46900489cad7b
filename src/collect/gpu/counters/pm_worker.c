/* SPDX-License-Identifier: Apache-2.0 */
/* Samples hardware counters for trainprof in a separate process. */
#include "pm_worker.h"

#include "collect/gpu/common/cuda_init.h"
#include "pm_helper.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#define READ_NS (100 * TP_NS_PER_MS)

struct worker {
	int fd;
	bool is_started;  /* CUDA and CUPTI are initialised */
	bool is_deserted; /* the other end is closed */
	struct tp_pm_library library;
	struct tp_pm_session sessions[TP_PM_DEVICES_MAX]; /* open if library is set */
	bool samples[TP_PM_DEVICES_MAX];                  /* a window is open */
	uint32_t device;                                  /* device of the current bins */
};

static void send_event(struct worker *worker, struct tp_pm_event *news)
{
	if (!news->time_ns)
		news->time_ns = tp_clock_now_ns();
	if (send(worker->fd, news, sizeof(*news), MSG_NOSIGNAL) != (ssize_t)sizeof(*news))
		worker->is_deserted = true;
}

static void send_failure(struct worker *worker, uint32_t device,
			 const struct tp_pm_failure *failure)
{
	struct tp_pm_event news = {.kind = TP_PM_FAILED, .device = device};
	tp_pm_explain(&news.why, failure->call, failure->result);
	send_event(worker, &news);
}

/* ---- start ---------------------------------------------------------------------------------- */

static bool start_cuda(struct tp_availability *why)
{
	int result = tp_cuda_init();
	if (result == 0)
		return true;
	*why = (struct tp_availability){.presence = TP_PRESENCE_NO_DEVICE};
	if (result != TP_CUDA_NO_DRIVER)
		snprintf(why->reason, sizeof(why->reason), "CUDA does not start (cuInit: %d)",
			 result);
	else
		snprintf(why->reason, sizeof(why->reason), "libcuda.so.1 cannot be loaded");
	snprintf(why->remedy, sizeof(why->remedy), "nvidia-smi");
	return false;
}

static bool start(struct worker *worker, const struct tp_pm_request *wish,
		  struct tp_availability *why)
{
	struct tp_error err = {0};
	struct pm_initialize initialize = {.size = PM_SIZE(pm_initialize, zero)};
	if (!start_cuda(why))
		return false;
	if (tp_pm_library_open(&worker->library, wish->runtime, &err)) {
		*why = (struct tp_availability){.presence = TP_PRESENCE_NO_LIBRARY};
		snprintf(why->reason, sizeof(why->reason), "%.119s", err.text);
		snprintf(why->remedy, sizeof(why->remedy), "%.119s", err.next);
		return false;
	}
	int result = worker->library.initialize(&initialize);
	worker->is_started = result == PM_OK;
	if (result != PM_OK)
		tp_pm_explain(why, "ProfilerInitialize", result);
	return worker->is_started;
}

/* ---- requests ------------------------------------------------------------------------------- */

static bool is_requested(const struct tp_pm_request *wish, uint32_t device)
{
	return wish->devices >> device & 1;
}

static void open_session(struct worker *worker, uint32_t device)
{
	struct tp_pm_session *session = &worker->sessions[device];
	struct tp_pm_failure failure;
	if (session->library)
		return;
	if (!tp_pm_session_open(session, &worker->library, device, &failure)) {
		send_failure(worker, device, &failure);
		return;
	}
	struct tp_pm_event news = {.kind = TP_PM_READY, .device = device};
	snprintf(news.why.reason, sizeof(news.why.reason), "%zu counter%s of %s in one pass",
		 session->set.n, session->set.n == 1 ? "" : "s", session->chip);
	send_event(worker, &news);
}

static void open_window(struct worker *worker, uint32_t device)
{
	struct tp_pm_session *session = &worker->sessions[device];
	struct tp_pm_failure failure;
	struct tp_pm_event news = {.kind = TP_PM_OPENED, .device = device};
	if (!session->library)
		return;
	news.time_ns = tp_clock_now_ns(); /* clocks may be locked from now on */
	worker->samples[device] = tp_pm_window_open(session, &failure);
	if (worker->samples[device]) {
		send_event(worker, &news);
		return;
	}
	send_failure(worker, device, &failure);
	/* The tool that has the counters now may have changed which of them are free. */
	tp_pm_session_close(session);
}

static void on_bin(void *context, const struct tp_pm_bin *bin)
{
	struct worker *worker = context;
	struct tp_pm_event news = {.kind = TP_PM_BIN, .device = worker->device, .bin = *bin};
	send_event(worker, &news);
}

static void read_window(struct worker *worker, uint32_t device)
{
	struct tp_pm_session *session = &worker->sessions[device];
	struct tp_pm_failure failure;
	worker->device = device;
	if (tp_pm_window_read(session, on_bin, worker, &failure))
		return;
	tp_pm_window_close(session);
	worker->samples[device] = false;
	struct tp_pm_event news = {.kind = TP_PM_CLOSED,
				   .device = device,
				   .n_samples = session->n_samples};
	tp_pm_explain(&news.why, failure.call, failure.result);
	if (session->has_overflowed)
		snprintf(news.why.reason, sizeof(news.why.reason),
			 "the hardware's buffer ran over");
	send_event(worker, &news);
}

static void close_window(struct worker *worker, uint32_t device)
{
	struct tp_pm_session *session = &worker->sessions[device];
	struct tp_pm_event news = {.kind = TP_PM_CLOSED,
				   .device = device,
				   .n_samples = session->n_samples};
	tp_pm_window_close(session);
	worker->samples[device] = false;
	send_event(worker, &news);
}

/* Sleeps until the given time or until the other end is closed. */
static void sleep_until(struct worker *worker, uint64_t until_ns)
{
	struct pollfd other = {.fd = worker->fd, .events = POLLIN};
	uint64_t now_ns = tp_clock_now_ns();
	uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
	if (left_ns > READ_NS)
		left_ns = READ_NS;
	if (poll(&other, 1, (int)((left_ns + TP_NS_PER_MS - 1) / TP_NS_PER_MS)) > 0)
		worker->is_deserted = true; /* it sends nothing before it has its answer */
}

/* The last read starts when the time is over: on busy CPUs it may be the only one, and it returns
 * everything that was sampled. */
static void sample_until(struct worker *worker, const struct tp_pm_request *wish, uint64_t until_ns)
{
	bool is_over = false;
	while (!worker->is_deserted && !is_over) {
		sleep_until(worker, until_ns);
		is_over = tp_clock_now_ns() >= until_ns;
		for (uint32_t i = 0; i < TP_PM_DEVICES_MAX; i++)
			if (is_requested(wish, i) && worker->samples[i])
				read_window(worker, i);
	}
}

static void serve_request(struct worker *worker, const struct tp_pm_request *wish)
{
	struct tp_pm_event news = {.kind = TP_PM_FAILED};
	bool is_able = worker->is_started || start(worker, wish, &news.why);
	for (news.device = 0; !is_able && news.device < TP_PM_DEVICES_MAX; news.device++)
		if (is_requested(wish, news.device))
			send_event(worker, &news);
	for (uint32_t i = 0; is_able && i < TP_PM_DEVICES_MAX; i++)
		if (is_requested(wish, i))
			open_session(worker, i);
	/* On all devices at once, because their programs wait for each other. */
	for (uint32_t i = 0; wish->window_ns && i < TP_PM_DEVICES_MAX; i++)
		if (is_requested(wish, i))
			open_window(worker, i);
	if (wish->window_ns)
		sample_until(worker, wish, tp_clock_now_ns() + wish->window_ns);
	for (uint32_t i = 0; i < TP_PM_DEVICES_MAX; i++)
		if (worker->samples[i])
			close_window(worker, i);
	send_event(worker,
		   &(struct tp_pm_event){.kind = TP_PM_DONE, .cpu_ns = tp_clock_self_cpu_ns()});
}

void tp_pm_worker_run(int fd)
{
	struct worker *worker = tp_alloc(sizeof(*worker));
	struct tp_pm_request wish;
	worker->fd = fd;
	while (!worker->is_deserted && recv(fd, &wish, sizeof(wish), 0) == (ssize_t)sizeof(wish))
		serve_request(worker, &wish);
	free(worker);
}
