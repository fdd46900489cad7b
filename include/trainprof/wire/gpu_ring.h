/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GPU ring: a file in which libtrainprof-agent.so, inside the measured program, tells what the
 * GPU did, and from which trainprof drains it. One file a process; the agent makes it in the
 * directory $TRAINPROF_GPU_RINGS (the profiler's own, mode 0700, best on a tmpfs) under the name
 *
 *	gpu-PID-START-N.ring	PID as the process sees itself, START its start in clock ticks
 *				(field 22 of /proc/PID/stat), N from 0: one more after each exec
 *
 *	offset 0          struct tp_gpu_ring_header (4096 bytes)
 *	clocks_at         n_clocks x struct tp_gpu_clock; pair c lies in slot c mod n_clocks
 *	places_at         n_places_most x struct tp_gpu_place; place p, from 1, lies in slot p - 1
 *	names_at          names_bytes of struct tp_gpu_name, one behind the other; it only grows
 *	events_at         n_events x struct tp_gpu_event; event e lies in slot e mod n_events
 *
 * Numbers are in the byte order of the machine; the file is read on the machine that wrote it.
 *
 * In a program that ran already (trainprof attach) it has no name: the agent makes a memfd, which
 * the profiler takes over as a descriptor, so that neither needs to see the other's files.
 *
 * Where `reader_ns` is not 0 and 10 s old an agent stops collecting, and one of a program that ran
 * already leaves: nobody else would end it.
 *
 * Who writes what. The reader writes `tail`, `wanted` and `reader_ns`, nothing else; all else is
 * the agent's, and of the agent one thread's at a time. Words are stored whole, by aligned stores.
 *
 * Versions. A reader refuses another `major`. A newer `minor` may use what is reserved here, have
 * a longer header or longer events (step by event_bytes), and event types, states, flags and calls
 * that are not listed here: skip them and say so.
 *
 * Beginning. The file has its name before it has its contents. `magic` is stored last, with
 * release: while it reads 0, or the file is shorter than events_at, try again later. The room for
 * events is added when collecting begins: until head has moved the file may end at events_at.
 *
 * Events. `head` counts the events written, `tail` those the reader is done with. The agent writes
 * the slots of [head, h), then stores h to head with release. The reader loads head with acquire,
 * reads [tail, head), then stores tail with release. Events that belong together (one followed by
 * its MORE events) become visible together. The agent never waits and never overwrites: while
 * head - tail is n_events, events are dropped and counted in n_dropped by type; the next event
 * that fits is preceded by a LOST event with the number. So what is below head is whole, in order,
 * and  every event made = head + sum of n_dropped - LOST events  always. head - tail > n_events,
 * a head that runs backwards, or a table end beyond its table: the file is damaged, leave it.
 *
 * Tables. A name, place or clock pair is whole before the word that counts it (n_name_bytes,
 * n_places: release), and that before the event that uses it. A reader that has loaded head with
 * acquire and then loads the counts finds all that these events use. Of the clock pairs the oldest
 * are overwritten: read the count, copy, read the count again, and leave out what is n_clocks or
 * more behind it, with one more for the pair being written.
 *
 * Death. The agent's process may die between any two instructions, by any signal: pages of the
 * file outlive it. What head covers is whole; what was written behind head is not there; what CUPTI
 * had not yet delivered, and ranges of the last moments (mostly less than 0.2 s), are lost and not
 * counted. A ring whose state is
 * not FINISHED and whose process is gone, or has a ring with a higher N, has died: drain it once
 * more after having seen the death, and it is complete. A live agent stores heartbeat_ns at least
 * once a second until its state is FINISHED; one that is older than 10 s hangs (a CUPTI call may),
 * and may yet go on. Of an agent of minor 0 the heartbeat also ends where CUPTI tells nothing.
 * A forked child does not write: the mapping is not inherited.
 *
 * Nothing in the file is trusted: names may lack their NUL, ids may be beyond their tables.
 */
#ifndef TRAINPROF_WIRE_GPU_RING_H
#define TRAINPROF_WIRE_GPU_RING_H

#include <stddef.h>
#include <stdint.h>

#define TP_GPU_RING_MAGIC  UINT64_C(0x474e525550475054) /* "TPGPURNG" */
#define TP_GPU_RING_PREFIX "gpu-"
#define TP_GPU_RING_SUFFIX ".ring"

/*
 * The door of an agent that is put into a running program. From a thread of the program, outside
 * its signal handlers:
 *
 *	int trainprof_agent_attach(void *block, size_t bytes)
 *
 * Starts the agent's thread, which does nothing before `wanted` says EVENTS. The descriptor of the
 * ring in the program, or a negative errno: EBUSY (a thread is there already), ECANCELED
 * (TRAINPROF_GPU=0), what failed else. The mapping of `bytes` at `block` (both 0: none) is the
 * agent's from then on: removed when it leaves, if the thread that called has ended by then. The
 * ring and its descriptor stay; the same are told when it is called again after that, with nothing
 * unread and the counts of before forgotten.
 */
#define TP_GPU_AGENT_ENTRY "trainprof_agent_attach"

/* Environment of the measured program. */
#define TP_GPU_RINGS_ENV "TRAINPROF_GPU_RINGS" /* directory; without it the agent does nothing */
#define TP_GPU_ENV       "TRAINPROF_GPU" /* "0": do nothing at all; "idle": wait for `wanted` */

enum {
	TP_GPU_RING_MAJOR = 1,
	/* 1: ranges of NVTX, with numbers and payloads; ASIDE. 2: joining, LEAVE, reader_ns */
	TP_GPU_RING_MINOR = 2,
	TP_GPU_RING_HEADER_BYTES = 4096,
	TP_GPU_RING_EVENTS = 1 << 20, /* 32 MiB: 2.6 s of 400,000 events a second */
	TP_GPU_RING_CLOCKS = 1 << 10, /* 204 s of five pairs a second */
	TP_GPU_RING_PLACES = 1 << 12,
	TP_GPU_RING_NAME_BYTES = 1 << 20, /* of the whole table */
	TP_GPU_NAME_MAX = 4095, /* bytes of one name; of a longer one only that much is kept */
	TP_GPU_NUMBER_MARK = 1, /* the byte of a name that stands for a number */
	TP_GPU_PAYLOAD_WORDS = 7,
};

/* What the reader wants. The agent looks five times a second, and at once after a FUTEX_WAKE (not
 * a private one) on the word. */
enum tp_gpu_request {
	TP_GPU_REQUEST_DEFAULT = 0, /* what TRAINPROF_GPU says */
	TP_GPU_REQUEST_IDLE = 1,
	TP_GPU_REQUEST_EVENTS = 2,
	TP_GPU_REQUEST_LEAVE = 3, /* of one that joined a running program: let go, end the thread */
};

enum tp_gpu_state {
	TP_GPU_STATE_STARTING = 0, /* looking for CUPTI; it may take many seconds */
	TP_GPU_STATE_IDLE = 1,     /* able to collect, not asked to */
	TP_GPU_STATE_OPEN = 2,     /* collecting */
	TP_GPU_STATE_FINISHED = 3, /* the program ends in order; nothing follows */
	TP_GPU_STATE_UNREAD = 4,   /* the ring was full for 10 s: paused until tail moves */
	TP_GPU_STATE_BACKOFF = 5,  /* another tool has CUPTI, see `owner`: tried again later */
	/* From here on CUPTI tells nothing and will not; ranges of NVTX are told all the same. */
	TP_GPU_STATE_NO_CUPTI = 16, /* none found, or it lacks a call that is needed */
	TP_GPU_STATE_IN_USE = 17,   /* another tool has it, again: `owner` where it says its name */
	TP_GPU_STATE_FAILED = 18,   /* a call failed: `failed_call`, `error` */
	TP_GPU_STATE_TAKEOVER = 19, /* another tool has replaced our callbacks: `owner`, if known */
	TP_GPU_STATE_UNSUPPORTED = 20, /* a version of CUPTI that is not supported */
	TP_GPU_STATE_NO_ROOM = 21,     /* no memory for events: `error` is the errno */
	TP_GPU_STATE_SECOND_COPY =
		22, /* a second libcupti is mapped: `owner`, the end of its path */
};

enum tp_gpu_event_type {
	TP_GPU_EVENT_NONE = 0,     /* never written; a slot that reads so is damaged */
	TP_GPU_EVENT_KERNEL = 1,   /* a kernel ran on the GPU */
	TP_GPU_EVENT_COPY = 2,     /* the GPU copied memory */
	TP_GPU_EVENT_SET = 3,      /* the GPU filled memory */
	TP_GPU_EVENT_CALL = 4,     /* a thread was in a call of the runtime or the driver */
	TP_GPU_EVENT_SYNC = 5,     /* a thread waited for the GPU, or a stream for an event */
	TP_GPU_EVENT_OVERHEAD = 6, /* CUPTI's or the driver's own doings */
	TP_GPU_EVENT_PUSH = 7,     /* NVTX: a range begins in a thread */
	TP_GPU_EVENT_POP = 8,      /* NVTX: the innermost range of a thread and domain ends */
	TP_GPU_EVENT_START = 9,    /* NVTX: a range begins; any thread may end it */
	TP_GPU_EVENT_END = 10,     /* NVTX: a started range ends */
	TP_GPU_EVENT_MARK = 11,    /* NVTX: an instant */
	TP_GPU_EVENT_OPEN = 12,    /* collecting began; what was launched before may be missing */
	TP_GPU_EVENT_CLOSE = 13,   /* collecting ended; records of what ran before may follow */
	TP_GPU_EVENT_LOST = 14,    /* events were dropped here */
	TP_GPU_EVENT_NODE = 15,    /* MORE: the event before it was a node of a CUDA graph */
	TP_GPU_EVENT_PEER = 16,    /* MORE: the copy before it went between two devices */
	TP_GPU_EVENT_PAYLOAD = 17, /* MORE: a number that the NVTX range before it carries */
	TP_GPU_EVENT_TYPES = 32,   /* room in n_dropped */
};

enum tp_gpu_event_flag {
	TP_GPU_FLAG_LONG = 1,       /* dur is in us, not ns; 0xffffffff then: that long or longer */
	TP_GPU_FLAG_HOST_CLOCK = 2, /* t0 is CLOCK_MONOTONIC, not CUPTI's clock */
	TP_GPU_FLAG_ASYNC = 4,      /* of a copy or set: asked for asynchronously */
	TP_GPU_FLAG_PTHREAD = 8,    /* the thread is not a tid but the low half of a pthread_t */
	TP_GPU_FLAG_DRIVER = 16,    /* the call is one of the driver, else of the runtime */
	TP_GPU_FLAG_NUMBERS = 32,   /* of a range: its name has numbers left out, see below */
};

/*
 * One event. Records of CUPTI that have no times (start or end 0, or end before start) make no
 * event: they are counted in n_untimed. By type:
 *
 *	          place    id                    x
 *	KERNEL    where    name                  blocks | threads per block << 32 | registers << 48,
 *	                                         each the most that fits where it is more
 *	COPY      where    enum tp_gpu_copy | from << 8 | to << 16 (enum tp_gpu_memory)    bytes
 *	SET       where    memory << 16          bytes
 *	CALL      enum tp_gpu_call   name        thread | returned value << 32
 *	SYNC      where    enum tp_gpu_sync      CUDA's number of the event, else 0
 *	OVERHEAD  0        enum tp_gpu_overhead  thread, else 0
 *	PUSH      0        name                  thread | domain (a name) << 32
 *	POP       0        0                     thread | domain << 32
 *	START     0        name                  number of the range | thread << 32
 *	END       0        0                     the same as in its START
 *	MARK      0        name                  thread | domain << 32
 *	OPEN      0        number of the window, from 1      0
 *	CLOSE     0        number of the window  0
 *	LOST      0        0                     number of events dropped
 *	NODE      0        graph                 node
 *	PEER      0        from device           to device
 *	PAYLOAD   which    schema                8 bytes of the payload, from 8 * which on
 *
 * Of a PAYLOAD dur is the size of the whole payload in bytes: the range before it, which begins or
 * ends there, has as many PAYLOAD events as that needs, but 7 at most. Only ranges of the domain
 * "NCCL" have them.
 *
 * Ranges that differ in numbers only share a name ("step 12" and "step 13"): where NUMBERS is set
 * TP_GPU_NUMBER_MARK stands for a decimal number in it, the first time for dur, then for link.
 *
 * link (CUPTI's correlation id) is the same in a CALL and in what it caused; 0 = unknown. Ranges of
 * NVTX are told also outside windows, those of a thread in order, and a START before its END. NVTX
 * events, OPEN, CLOSE and LOST are on the host's clock. Events of CUPTI come in the order in which
 * CUPTI delivers its buffers: NOT in order of time, and a kernel may come before its call.
 */
struct tp_gpu_event {
	uint8_t type; /* enum tp_gpu_event_type */
	uint8_t flags;
	uint16_t place; /* 0 = none or unknown */
	uint32_t id;
	uint64_t t0;  /* ns; begin, on CUPTI's clock unless flagged */
	uint32_t dur; /* ns, unless LONG */
	uint32_t link;
	uint64_t x;
};

/* Device, context and stream, as CUPTI numbers them; all ones = not told: a SYNC's place has no
 * device (that of the context is meant) and perhaps no stream. */
struct tp_gpu_place {
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t reserved;
};

/*
 * One name: its id is its offset in the table divided by 8, plus 1; id 0 = unknown (no name, or
 * the table is full: n_unnamed). The next one follows at the next multiple of 8. Kernels have the
 * names that the compiler gave them, mangled.
 */
struct tp_gpu_name {
	uint32_t length; /* without the NUL behind it */
	char text[];
};

/* Read at one moment: the host's clock before and after CUPTI's, and the middle of the two. */
struct tp_gpu_clock {
	uint64_t host_ns;  /* CLOCK_MONOTONIC */
	uint64_t cupti_ns; /* the clock of events; jumps when the machine's date is set */
	uint32_t error_ns; /* half of the time between the two readings of the host's clock */
	uint32_t reserved;
};

/* Numbers of CUPTI's CUpti_ActivityMemcpyKind. */
enum tp_gpu_copy {
	TP_GPU_COPY_UNKNOWN = 0,
	TP_GPU_COPY_HTOD = 1,
	TP_GPU_COPY_DTOH = 2,
	TP_GPU_COPY_HTOA = 3,
	TP_GPU_COPY_ATOH = 4,
	TP_GPU_COPY_ATOA = 5,
	TP_GPU_COPY_ATOD = 6,
	TP_GPU_COPY_DTOA = 7,
	TP_GPU_COPY_DTOD = 8,
	TP_GPU_COPY_HTOH = 9,
	TP_GPU_COPY_PTOP = 10,
};

/* Numbers of CUPTI's CUpti_ActivityMemoryKind. */
enum tp_gpu_memory {
	TP_GPU_MEMORY_UNKNOWN = 0,
	TP_GPU_MEMORY_PAGEABLE = 1,
	TP_GPU_MEMORY_PINNED = 2,
	TP_GPU_MEMORY_DEVICE = 3,
	TP_GPU_MEMORY_ARRAY = 4,
	TP_GPU_MEMORY_MANAGED = 5,
	TP_GPU_MEMORY_DEVICE_STATIC = 6,
	TP_GPU_MEMORY_MANAGED_STATIC = 7,
};

/* Numbers of CUPTI's CUpti_ActivitySynchronizationType. */
enum tp_gpu_sync {
	TP_GPU_SYNC_UNKNOWN = 0,
	TP_GPU_SYNC_EVENT = 1,        /* a thread waited for an event */
	TP_GPU_SYNC_STREAM_EVENT = 2, /* a stream was told to wait for an event */
	TP_GPU_SYNC_STREAM = 3,       /* a thread waited for a stream */
	TP_GPU_SYNC_CONTEXT = 4,      /* a thread waited for all of a context */
};

enum tp_gpu_overhead {
	TP_GPU_OVERHEAD_OTHER = 0,
	TP_GPU_OVERHEAD_COMPILER = 1,     /* the driver compiles device code */
	TP_GPU_OVERHEAD_FLUSH = 2,        /* CUPTI empties its buffers */
	TP_GPU_OVERHEAD_INSTRUMENT = 3,   /* CUPTI changes kernels so that they are timed */
	TP_GPU_OVERHEAD_RESOURCE = 4,     /* CUPTI makes its own resources */
	TP_GPU_OVERHEAD_MODULE_LOAD = 5,  /* the runtime loads a module */
	TP_GPU_OVERHEAD_LAZY_LOAD = 6,    /* the driver loads a function at its first launch */
	TP_GPU_OVERHEAD_QUEUE_FULL = 7,   /* a launch waited for room in the queue */
	TP_GPU_OVERHEAD_BUFFER = 8,       /* CUPTI asked the agent for a buffer */
	TP_GPU_OVERHEAD_MANAGED_INIT = 9, /* CUPTI prepares the tracing of managed memory */
};

/* What a call does, whatever the vendor's number and the version of its name. */
enum tp_gpu_call {
	TP_GPU_CALL_OTHER = 0,
	TP_GPU_CALL_LAUNCH = 1,
	TP_GPU_CALL_GRAPH_LAUNCH = 2,
	TP_GPU_CALL_COPY = 3,
	TP_GPU_CALL_COPY_ASYNC = 4,
	TP_GPU_CALL_SET = 5,
	TP_GPU_CALL_SYNC = 6,
	TP_GPU_CALL_ALLOC = 7,
	TP_GPU_CALL_FREE = 8,
	TP_GPU_CALL_WAIT_EVENT = 9,
	TP_GPU_CALL_RECORD_EVENT = 10,
	TP_GPU_CALL_LOAD = 11, /* of a module or library */
	TP_GPU_CALL_QUERY = 12,
};

struct tp_gpu_ring_header {
	/* Constant once magic is there. */
	uint64_t magic;
	uint16_t major;
	uint16_t minor;
	uint32_t header_bytes;
	uint32_t event_bytes;
	uint32_t n_events; /* a power of two */
	uint32_t events_at;
	uint32_t names_at;
	uint32_t names_bytes;
	uint32_t places_at;
	uint32_t n_places_most;
	uint32_t clocks_at;
	uint32_t n_clocks; /* a power of two */
	uint32_t pid;      /* as the process sees itself: differs in a pid namespace */
	uint64_t start_ticks;

	/* The agent's, seldom written. */
	uint64_t heartbeat_ns;   /* CLOCK_MONOTONIC */
	uint32_t state;          /* enum tp_gpu_state; with release, after what explains it */
	int32_t error;           /* CUPTI's result, or an errno; 0 = none */
	uint32_t cupti_version;  /* of cuptiGetVersion; 0 = unknown */
	uint32_t driver_version; /* of cuDriverGetVersion, 13000 for 13.0; 0 = unknown */
	uint32_t n_name_bytes;
	uint32_t n_places;
	uint64_t n_clock_pairs;
	uint32_t agent_tid; /* the agent's own thread, as the process sees it; 0 = none yet */
	uint32_t n_windows; /* begun so far */
	uint64_t cost_ns;   /* CPU time of decoding so far, in whichever thread */
	uint64_t kinds;     /* bit t: CUPTI is asked for events of type t */

	uint64_t head;
	uint64_t reserved_head[7];

	/* The reader's. */
	uint64_t tail;
	uint32_t wanted; /* enum tp_gpu_request */
	uint32_t reserved_word;
	uint64_t reader_ns; /* CLOCK_MONOTONIC of its last look */
	uint32_t reserved_tail[10];

	/* The agent's counts: plain stores, each only ever grows. */
	uint64_t n_dropped[TP_GPU_EVENT_TYPES]; /* found no room in the ring */
	uint64_t n_records;                     /* of CUPTI, of whatever kind */
	uint64_t n_untimed;                     /* of them without times */
	uint64_t n_unknown;                     /* of them of a kind that was not asked for */
	uint64_t n_ignored; /* of them of calls that say nothing (queries, settings) */
	uint64_t n_lost;    /* records that CUPTI itself says it has lost */
	uint64_t n_buffers; /* delivered */
	uint64_t n_scratch; /* buffers given to CUPTI whose records are thrown away: pool used up */
	uint64_t n_unnamed; /* names that did not fit into the table */
	uint64_t n_unplaced;  /* events whose place did not fit into the table */
	uint64_t n_nvtx_lost; /* ranges left out: too many at once, or 32 open in their thread */
	char owner[64];       /* of the other tool, NUL-terminated; empty = it does not say */
	char failed_call[64]; /* "cuptiSubscribe" */
	char library[512];    /* path of the CUPTI in use */
};

_Static_assert(sizeof(struct tp_gpu_event) == 32, "layout");
_Static_assert(offsetof(struct tp_gpu_event, x) == 24, "layout");
_Static_assert(sizeof(struct tp_gpu_place) == 16, "layout");
_Static_assert(sizeof(struct tp_gpu_clock) == 24, "layout");
_Static_assert(offsetof(struct tp_gpu_ring_header, heartbeat_ns) == 64, "layout");
_Static_assert(offsetof(struct tp_gpu_ring_header, head) == 128, "layout");
_Static_assert(offsetof(struct tp_gpu_ring_header, tail) == 192, "layout");
_Static_assert(offsetof(struct tp_gpu_ring_header, reader_ns) == 208, "layout");
_Static_assert(offsetof(struct tp_gpu_ring_header, n_dropped) == 256, "layout");
_Static_assert(sizeof(struct tp_gpu_ring_header) <= TP_GPU_RING_HEADER_BYTES, "layout");

#endif
