/* SPDX-License-Identifier: Apache-2.0 */
/* Records the ranges of the program's threads. */
#include "nvtx_ranges.h"

#include "agent/ring/host_clock.h"
#include "nvtx_message.h"
#include "nvtx_names.h"
#include "nvtx_queue.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	DOMAINS_MAX = 256, /* further domains share one entry */
	OUTER_LEVELS = 2,  /* levels of a thread's ranges that hold steps and phases */
	LEVELS_MAX = 32,   /* levels per thread; deeper ranges are left out */
	DRAIN_BATCH = 64,  /* events moved per locked section */
};

/* The target of the handle that a program has for a domain. */
struct domain {
	uint32_t name;
	bool has_payloads; /* its payloads are decoded: NCCL's domain */
};

static struct {
	struct tp_ring_writer *ring;
	pthread_mutex_t *lock;
	struct tp_nvtx_queue queue;
	struct tp_nvtx_names names;
	struct domain domains[DOMAINS_MAX]; /* the first one holds ranges without a domain */
	uint32_t n_domains;                 /* domains requested so far */
	uint32_t n_started;                 /* ranges that any thread may end */
	bool has_room;                      /* the ring has room for events */
	bool has_tried; /* room was requested once; only the agent's thread uses it */
	pthread_key_t key;
} ranges;

/* ---- state of a thread ---------------------------------------------------------------------- */

/* State of a thread, packed into one word of thread-specific data, because that needs no allocation
 * (glibc keeps the first 32 keys of a process inside the thread itself). */
struct self {
	uint32_t tid;      /* 22 bits: PID_MAX_LIMIT of Linux */
	uint32_t level;    /* depth of open ranges, up to LEVELS_MAX */
	uint32_t left_out; /* bit l: the range at that level was not recorded */
};

enum { TID_BITS = 22, LEVEL_BITS = 10 };

static struct self self_get(void)
{
	uint64_t word = (uint64_t)(uintptr_t)pthread_getspecific(ranges.key);
	struct self self = {
		.tid = word & ((1u << TID_BITS) - 1),
		.level = word >> TID_BITS & ((1u << LEVEL_BITS) - 1),
		.left_out = (uint32_t)(word >> (TID_BITS + LEVEL_BITS)),
	};
	if (!self.tid)
		self.tid = (uint32_t)syscall(SYS_gettid);
	return self;
}

static void self_set(struct self self)
{
	uint64_t word = self.tid | (uint64_t)self.level << TID_BITS |
			(uint64_t)self.left_out << (TID_BITS + LEVEL_BITS);
	pthread_setspecific(ranges.key, (const void *)(uintptr_t)word);
}

/* ---- enqueue -------------------------------------------------------------------------------- */

/* Wakes the agent's thread, which sleeps on that word; takes a few microseconds, once in thousands
 * of events. */
static void wake_agent(void)
{
	int saved = errno;
	syscall(SYS_futex, &ranges.ring->header->wanted, FUTEX_WAKE, 1, NULL, NULL, 0);
	errno = saved;
}

static void leave_out(void)
{
	__atomic_fetch_add(&ranges.ring->header->n_nvtx_lost, 1, __ATOMIC_RELAXED);
}

/* Appends the payload after the range's first event. Returns the new number of events. */
static size_t add_payload(struct tp_gpu_event *events, const struct nvtx_payload *payload)
{
	const char *data = payload->data;
	size_t n = 1;
	if (!data || payload->size > UINT32_MAX)
		return n;
	for (size_t done = 0; done < payload->size && n <= TP_GPU_PAYLOAD_WORDS; done += 8) {
		size_t left = payload->size - done;
		struct tp_gpu_event *event = &events[n];
		*event = (struct tp_gpu_event){
			.type = TP_GPU_EVENT_PAYLOAD,
			.flags = TP_GPU_FLAG_HOST_CLOCK,
			.place = (uint16_t)(n - 1),
			.id = (uint32_t)payload->schema,
			.t0 = events[0].t0,
			.dur = (uint32_t)payload->size,
		};
		memcpy(&event->x, data + done, left < 8 ? left : 8);
		n++;
	}
	return n;
}

/* Reads the time as its last action. `payload` may be NULL. */
static bool enqueue(const struct tp_gpu_event *first, const struct nvtx_payload *payload,
		    enum tp_nvtx_queue_use use)
{
	struct tp_gpu_event events[TP_NVTX_QUEUE_GROUP_MAX];
	bool is_much = false;
	size_t n = 1;
	events[0] = *first;
	events[0].flags |= TP_GPU_FLAG_HOST_CLOCK;
	events[0].t0 = tp_host_clock_ns(CLOCK_MONOTONIC);
	if (payload)
		n = add_payload(events, payload);
	bool is_put = tp_nvtx_queue_push(&ranges.queue, events, n, use, &is_much);
	if (is_much)
		wake_agent();
	return is_put;
}

/* ---- domains and names ---------------------------------------------------------------------- */

static const struct domain *domain_of(const void *handle)
{
	const struct domain *domain = handle;
	bool is_ours = domain >= ranges.domains && domain < ranges.domains + DOMAINS_MAX;
	return is_ours ? domain : &ranges.domains[0];
}

static void *create_domain(const struct tp_nvtx_message *text)
{
	uint32_t name = tp_nvtx_names_id(&ranges.names, text);
	uint32_t n = __atomic_load_n(&ranges.n_domains, __ATOMIC_ACQUIRE);
	if (!name)
		return &ranges.domains[0];
	for (uint32_t i = 1; i <= n && i < DOMAINS_MAX; i++)
		if (__atomic_load_n(&ranges.domains[i].name, __ATOMIC_ACQUIRE) == name)
			return &ranges.domains[i];
	uint32_t at = __atomic_add_fetch(&ranges.n_domains, 1, __ATOMIC_ACQ_REL);
	if (at >= DOMAINS_MAX)
		return &ranges.domains[0];
	ranges.domains[at].has_payloads = strcmp(text->text, "NCCL") == 0;
	__atomic_store_n(&ranges.domains[at].name, name, __ATOMIC_RELEASE);
	return &ranges.domains[at];
}

/* Returns false in a forked child. */
static bool read_plain(struct tp_nvtx_message *text, const struct tp_nvtx_range_message *message)
{
	if (!tp_ring_writer_is_ours(ranges.ring))
		return false;
	if (message->wide)
		tp_nvtx_message_read_wide(text, message->wide);
	else
		tp_nvtx_message_copy(text, message->ascii);
	return true;
}

void *tp_nvtx_range_domain(const struct tp_nvtx_range_message *name)
{
	struct tp_nvtx_message text;
	return read_plain(&text, name) ? create_domain(&text) : &ranges.domains[0];
}

void *tp_nvtx_range_register(const struct tp_nvtx_range_message *message)
{
	struct tp_nvtx_message text;
	uint32_t id = read_plain(&text, message) ? tp_nvtx_names_id(&ranges.names, &text) : 0;
	return (void *)(uintptr_t)id; /* NOLINT(performance-no-int-to-ptr): the handle is the id */
}

static void set_text(struct tp_gpu_event *event, const struct tp_nvtx_message *text)
{
	event->id = tp_nvtx_names_id(&ranges.names, text);
	if (!text->n_numbers || !event->id)
		return;
	event->flags |= TP_GPU_FLAG_NUMBERS;
	event->dur = text->numbers[0];
	event->link = text->n_numbers > 1 ? text->numbers[1] : 0;
}

/* ---- messages ------------------------------------------------------------------------------- */

static bool are_whole(const struct nvtx_attributes *attributes)
{
	return attributes && attributes->size >= sizeof(*attributes);
}

static void set_message(struct tp_gpu_event *event, const struct tp_nvtx_range_message *message)
{
	struct tp_nvtx_range_message effective = *message;
	struct tp_nvtx_message text;
	if (are_whole(effective.attributes)) {
		const struct nvtx_attributes *attributes = effective.attributes;
		if (attributes->message_type == NVTX_MESSAGE_REGISTERED)
			event->id = (uint32_t)(uintptr_t)attributes->message.registered;
		else if (attributes->message_type == NVTX_MESSAGE_ASCII)
			effective.ascii = attributes->message.ascii;
		else if (attributes->message_type == NVTX_MESSAGE_WIDE)
			effective.wide = attributes->message.wide;
	}
	if (effective.ascii)
		tp_nvtx_message_read(&text, effective.ascii);
	else if (effective.wide)
		tp_nvtx_message_read_wide(&text, effective.wide);
	else
		return;
	set_text(event, &text);
}

/* Returns the first payload of the attributes; NULL if there is none. */
static const struct nvtx_payload *payload_of(const struct tp_nvtx_range_message *message)
{
	const struct nvtx_attributes *attributes = message->attributes;
	if (!are_whole(attributes) || attributes->payload_type != NVTX_PAYLOAD_EXTENDED ||
	    attributes->n_payloads < 1)
		return NULL;
	return attributes->payload.list;
}

/* ---- ranges of a thread --------------------------------------------------------------------- */

/* Calls of NCCL are counted, so each must be recorded. */
static enum tp_nvtx_queue_use use_of(const struct domain *domain, struct self self)
{
	if (domain->has_payloads)
		return TP_NVTX_QUEUE_END;
	return self.level < OUTER_LEVELS ? TP_NVTX_QUEUE_OUTER : TP_NVTX_QUEUE_INNER;
}

static bool push_recorded(const struct domain *domain, struct self self,
			  const struct tp_nvtx_range_message *message,
			  const struct nvtx_payload *payload)
{
	enum tp_nvtx_queue_use use = use_of(domain, self);
	struct tp_gpu_event event = {
		.type = TP_GPU_EVENT_PUSH,
		.x = self.tid | (uint64_t)domain->name << 32,
	};
	if (self.level >= LEVELS_MAX || !tp_nvtx_queue_can_add(&ranges.queue, 1, use)) {
		leave_out();
		return false;
	}
	set_message(&event, message);
	return enqueue(&event, domain->has_payloads ? payload : NULL, use);
}

int tp_nvtx_range_push(const void *handle, const struct tp_nvtx_range_message *message,
		       const struct nvtx_payload *payload)
{
	if (!tp_ring_writer_is_ours(ranges.ring))
		return NVTX_NO_LEVELS;
	struct self self = self_get();
	bool is_recorded = push_recorded(domain_of(handle), self, message,
					 payload ? payload : payload_of(message));
	if (self.level < LEVELS_MAX && !is_recorded)
		self.left_out |= 1u << self.level;
	if (self.level < (1u << LEVEL_BITS) - 1)
		self.level++;
	self_set(self);
	return NVTX_NO_LEVELS;
}

/* If a range was not recorded, neither is its end. The reader ignores a surplus end; in another
 * domain it may close a range. */
int tp_nvtx_range_pop(const void *handle, const struct nvtx_payload *payload)
{
	if (!tp_ring_writer_is_ours(ranges.ring))
		return NVTX_NO_LEVELS;
	const struct domain *domain = domain_of(handle);
	struct self self = self_get();
	bool is_recorded = true;
	if (self.level) {
		self.level--;
		uint32_t bit = self.level < LEVELS_MAX ? 1u << self.level : 0;
		is_recorded = bit && !(self.left_out & bit);
		self.left_out &= ~bit;
		self_set(self);
	}
	struct tp_gpu_event event = {
		.type = TP_GPU_EVENT_POP,
		.x = self.tid | (uint64_t)domain->name << 32,
	};
	if (is_recorded)
		enqueue(&event, domain->has_payloads ? payload : NULL, TP_NVTX_QUEUE_END);
	return NVTX_NO_LEVELS;
}

/* ---- ranges that any thread may end, and instants ------------------------------------------- */

/* Returns 0 if the range is not recorded; its end will not be either. */
uint64_t tp_nvtx_range_start(const struct tp_nvtx_range_message *message)
{
	if (!tp_ring_writer_is_ours(ranges.ring))
		return 0;
	struct self self = self_get();
	self_set(self);
	if (!tp_nvtx_queue_can_add(&ranges.queue, 1, TP_NVTX_QUEUE_INNER)) {
		leave_out();
		return 0;
	}
	uint32_t number = __atomic_add_fetch(&ranges.n_started, 1, __ATOMIC_RELAXED);
	struct tp_gpu_event event = {
		.type = TP_GPU_EVENT_START,
		.x = number | (uint64_t)self.tid << 32,
	};
	set_message(&event, message);
	return enqueue(&event, NULL, TP_NVTX_QUEUE_INNER) ? event.x : 0;
}

void tp_nvtx_range_end(uint64_t range)
{
	struct tp_gpu_event event = {.type = TP_GPU_EVENT_END, .x = range};
	if (range && tp_ring_writer_is_ours(ranges.ring))
		enqueue(&event, NULL, TP_NVTX_QUEUE_END);
}

void tp_nvtx_range_mark(const void *handle, const struct tp_nvtx_range_message *message)
{
	if (!tp_ring_writer_is_ours(ranges.ring))
		return;
	struct self self = self_get();
	self_set(self);
	struct tp_gpu_event event = {
		.type = TP_GPU_EVENT_MARK,
		.x = self.tid | (uint64_t)domain_of(handle)->name << 32,
	};
	if (!tp_nvtx_queue_can_add(&ranges.queue, 1, TP_NVTX_QUEUE_INNER)) {
		leave_out();
		return;
	}
	set_message(&event, message);
	enqueue(&event, NULL, TP_NVTX_QUEUE_INNER);
}

/* ---- drain ---------------------------------------------------------------------------------- */

/* Moves a few events, holding the lock. Returns false if none are left. */
static bool drain_some(bool has_room)
{
	struct tp_gpu_event events[TP_NVTX_QUEUE_GROUP_MAX];
	uint64_t n_lost;
	size_t n = 1;
	pthread_mutex_lock(ranges.lock);
	for (int i = 0; i < DRAIN_BATCH && n; i++) {
		n = tp_nvtx_queue_pop(&ranges.queue, events, &n_lost);
		if (n && n_lost)
			tp_ring_writer_add_lost(ranges.ring, n_lost);
		if (n && has_room)
			tp_ring_writer_append(ranges.ring, events, n);
		else if (n)
			tp_ring_writer_add_lost(ranges.ring, n);
	}
	if (has_room)
		tp_ring_writer_publish(ranges.ring);
	pthread_mutex_unlock(ranges.lock);
	return n != 0;
}

/* Finds out whether there is room, and makes it if the caller may. The free space of the file
 * system is known beforehand, but not that of a quota or of a control group: an attempt that one of
 * these refuses briefly takes all that it has left. There is therefore one attempt, and no further
 * one until a session has made room. */
static bool prepare(bool makes_room, bool *has_room)
{
	*has_room = __atomic_load_n(&ranges.has_room, __ATOMIC_ACQUIRE);
	if (*has_room || !makes_room)
		return *has_room;
	if (!ranges.has_tried || ranges.ring->fd < 0)
		*has_room = tp_ring_writer_reserve(ranges.ring) == 0;
	ranges.has_tried = true;
	__atomic_store_n(&ranges.has_room, *has_room, __ATOMIC_RELEASE);
	return true;
}

static void emit_lost(void)
{
	uint64_t n = tp_nvtx_queue_pop_lost(&ranges.queue, UINT64_MAX);
	if (!n)
		return;
	pthread_mutex_lock(ranges.lock);
	tp_ring_writer_add_lost(ranges.ring, n);
	pthread_mutex_unlock(ranges.lock);
}

void tp_nvtx_ranges_drain(uint64_t at_ns, bool makes_room)
{
	/* Events that are pushed during the drain wait for the next one, so a busy program cannot
	 * keep us here. */
	size_t n = tp_nvtx_queue_length(&ranges.queue);
	bool has_room;
	if (tp_nvtx_queue_has_news(&ranges.queue) && prepare(makes_room, &has_room)) {
		for (size_t i = 0; i <= n / DRAIN_BATCH && drain_some(has_room); i++)
			;
		emit_lost();
	}
	if (makes_room)
		tp_nvtx_queue_allow(&ranges.queue, at_ns);
}

bool tp_nvtx_ranges_need_drain(void)
{
	return tp_nvtx_queue_length(&ranges.queue) >= TP_NVTX_QUEUE_CELLS / 4;
}

bool tp_nvtx_ranges_init(struct tp_ring_writer *ring, pthread_mutex_t *lock)
{
	ranges.ring = ring;
	ranges.lock = lock;
	ranges.names.ring = ring;
	ranges.names.lock = lock;
	tp_nvtx_queue_allow(&ranges.queue, tp_host_clock_ns(CLOCK_MONOTONIC));
	return pthread_key_create(&ranges.key, NULL) == 0;
}
