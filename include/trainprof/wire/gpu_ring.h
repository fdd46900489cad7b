/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GPU ring: a file in which libtrainprof-agent.so, inside the measured program, reports what
 * the GPU did, and from which trainprof drains it. One file per process; the agent creates it in
 * the directory $TRAINPROF_GPU_RINGS (the profiler's own, mode 0700, preferably on a tmpfs) under
 * the name
 *
 * 	gpu-PID-START-N.ring	PID as the process sees itself, START its start in clock ticks
 * 				(field 22 of /proc/PID/stat), N from 0: one more after each exec
 *
 * 	offset 0          struct tp_gpu_ring_header (4096 bytes)
 * 	clocks_at         n_clocks x struct tp_gpu_clock; pair c lies in slot c mod n_clocks
 * 	places_at         n_places_most x struct tp_gpu_place; place p, from 1, lies in slot p - 1
 * 	names_at          names_bytes of struct tp_gpu_name, one after the other; it only grows
 * 	events_at         n_events x struct tp_gpu_event; event e lies in slot e mod n_events
 *
 * An agent that cannot create its ring leaves an empty file instead where it can, with the errno at
 * the end of its name: gpu-PID-START-N.ring.ERRNO. It never takes more than half of the free space
 * of the file system (ENOSPC), because programs and their loader workers need /dev/shm too.
 *
 * Numbers are in the byte order of the machine; the file is read on the machine that wrote it.
 *
 * In a program that was running already (trainprof attach) the file has no name: the agent creates
 * a memfd, which the profiler receives as a descriptor, so that neither needs to see the other's
 * files.
 *
 * If `reader_ns` is not 0 and 10 s old, the agent stops collecting, and an agent that was attached
 * to a running program leaves, because nothing else would end it.
 *
 * Writers. The reader writes `tail`, `wanted` and `reader_ns` only; the agent writes everything
 * else, from one thread at a time. Words are stored whole, by aligned stores.
 *
 * Versions. A reader refuses another `major`. A newer `minor` may use fields that are reserved
 * here, have a longer header or longer events (step by event_bytes), and have event types, states,
 * flags and calls that are not listed here: skip them and report it.
 *
 * Creation. The file has its name before it has its contents. `magic` is stored last, with release:
 * while it reads 0, or the file is shorter than events_at, try again later. Space for events is
 * added when collection begins: until head has moved, the file may end at events_at.
 *
 * Events. `head` counts the events written, `tail` the events that the reader has consumed. The
 * agent writes the slots of [head, h), then stores h to head with release. The reader loads head
 * with acquire, reads [tail, head), then stores tail with release. Events that belong together (one
 * and the MORE events that follow it) become visible together. The agent never waits and never
 * overwrites: while head - tail is n_events, events are dropped and counted in n_dropped by type;
 * the next event that fits is preceded by a LOST event with the number. Everything below head is
 * therefore complete and in order, and  every event made = head + sum of n_dropped - LOST events
 * always holds. If head - tail > n_events, head runs backwards, or a table ends beyond its size,
 * the file is damaged: stop reading it.
 *
 * Tables. A name, place or clock pair is complete before the word that counts it (n_name_bytes,
 * n_places: release), and that word is stored before the event that uses it. A reader that has
 * loaded head with acquire and then loads the counts finds everything that these events use. The
 * oldest clock pairs are overwritten: read the count, copy, read the count again, and drop the
 * pairs that are n_clocks or more behind it, and one more for the pair that is being written.
 *
 * Death. The agent's process may die between any two instructions, by any signal; the pages of the
 * file outlive it. Events below head are complete and later ones do not exist. Records that CUPTI
 * had not yet delivered, and ranges of the last moments (mostly less than 0.2 s), are lost and not
 * counted. A ring whose state is not FINISHED and whose process is gone, or has a ring with a
 * higher N, has died: drain it once more after having seen the death, and it is complete. A live
 * agent stores heartbeat_ns at least once per second until its state is FINISHED; an agent whose
 * heartbeat is older than 10 s hangs (a CUPTI call may), and may still continue later. With minor 0
 * the heartbeat also ends when CUPTI delivers nothing. A forked child does not write: the mapping
 * is not inherited.
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
 * Entry point of an agent that is loaded into a running program. Called from a thread of the
 * program, outside its signal handlers:
 *
 * 	int trainprof_agent_attach(void *block, size_t bytes)
 *
 * Starts the agent's thread, which is idle until `wanted` is EVENTS. Returns the descriptor of the
 * ring in the program, or a negative errno: EBUSY (there is a thread already), ECANCELED
 * (TRAINPROF_GPU=0), or the error of what failed. The mapping of `bytes` at `block` (both 0: none)
 * belongs to the agent from then on; it is unmapped when the agent leaves, if the calling thread
 * has ended by then. The ring and its descriptor stay; a later call returns the same ring, with
 * nothing unread and counts reset.
 */
#define TP_GPU_AGENT_ENTRY "trainprof_agent_attach"

/* Environment of the measured program. */
#define TP_GPU_RINGS_ENV "TRAINPROF_GPU_RINGS" /* directory; without it the agent does nothing */
#define TP_GPU_ENV       "TRAINPROF_GPU" /* "0": do nothing at all; "idle": wait for `wanted` */

enum {
	TP_GPU_RING_MAJOR = 1,
	/* 1: NVTX ranges with numbers and payloads; BACKOFF. 2: attach, LEAVE, reader_ns */
	TP_GPU_RING_MINOR = 2,
	TP_GPU_RING_HEADER_BYTES = 4096,
	TP_GPU_RING_EVENTS = 1 << 20, /* 32 MiB: 2.6 s at 400,000 events per second */
	TP_GPU_RING_CLOCKS = 1 << 10, /* 204 s at five pairs per second */
	TP_GPU_RING_PLACES = 1 << 12,
	TP_GPU_RING_NAME_BYTES = 1 << 20, /* size of the whole table */
	TP_GPU_NAME_MAX = 4095,           /* bytes of one name; a longer one is truncated */
	TP_GPU_NUMBER_MARK = 1,           /* the byte that replaces a number in a name */
	TP_GPU_PAYLOAD_WORDS = 7,
};

/* Request of the reader. The agent reads the word five times per second, and at once after a
 * FUTEX_WAKE (not a private one) on it. */
enum tp_gpu_request {
	TP_GPU_REQUEST_DEFAULT = 0, /* as given by TRAINPROF_GPU */
	TP_GPU_REQUEST_IDLE = 1,
	TP_GPU_REQUEST_EVENTS = 2,
	TP_GPU_REQUEST_LEAVE = 3, /* for an attached agent: release CUPTI and end the thread */
};

enum tp_gpu_state {
	TP_GPU_STATE_STARTING = 0, /* searching for CUPTI; may take many seconds */
	TP_GPU_STATE_IDLE = 1,     /* able to collect, not requested */
	TP_GPU_STATE_OPEN = 2,     /* collecting */
	TP_GPU_STATE_FINISHED = 3, /* the program ends in an orderly way; nothing follows */
	TP_GPU_STATE_UNREAD = 4,   /* the ring was full for 10 s: paused until tail moves */
	TP_GPU_STATE_BACKOFF = 5,  /* another tool uses CUPTI, see `owner`; tried again later */
	/* From here on CUPTI delivers nothing and will not; NVTX ranges are still recorded. */
	TP_GPU_STATE_NO_CUPTI = 16, /* none found, or a required call is missing */
	TP_GPU_STATE_IN_USE = 17,   /* another tool uses it again: `owner`, if it says its name */
	TP_GPU_STATE_FAILED = 18,   /* a call failed: `failed_call`, `error` */
	TP_GPU_STATE_TAKEOVER = 19, /* another tool has replaced our callbacks: `owner`, if known */
	TP_GPU_STATE_UNSUPPORTED = 20, /* a version of CUPTI that is not supported */
	TP_GPU_STATE_NO_ROOM = 21,     /* no memory for events: `error` is the errno */
	TP_GPU_STATE_SECOND_COPY =
		22, /* a second libcupti is mapped: `owner` holds the end of its path */
};

enum tp_gpu_event_type {
	TP_GPU_EVENT_NONE = 0,     /* never written; a slot that reads so is damaged */
	TP_GPU_EVENT_KERNEL = 1,   /* a kernel ran on the GPU */
	TP_GPU_EVENT_COPY = 2,     /* the GPU copied memory */
	TP_GPU_EVENT_SET = 3,      /* the GPU filled memory */
	TP_GPU_EVENT_CALL = 4,     /* a thread was in a call of the runtime or the driver */
	TP_GPU_EVENT_SYNC = 5,     /* a thread waited for the GPU, or a stream for an event */
	TP_GPU_EVENT_OVERHEAD = 6, /* work of CUPTI or of the driver itself */
	TP_GPU_EVENT_PUSH = 7,     /* NVTX: a range begins in a thread */
	TP_GPU_EVENT_POP = 8,      /* NVTX: the innermost range of a thread and domain ends */
	TP_GPU_EVENT_START = 9,    /* NVTX: a range begins; any thread may end it */
	TP_GPU_EVENT_END = 10,     /* NVTX: a started range ends */
	TP_GPU_EVENT_MARK = 11,    /* NVTX: a point in time */
	TP_GPU_EVENT_OPEN = 12,  /* collection began; records of earlier launches may be missing */
	TP_GPU_EVENT_CLOSE = 13, /* collection ended; records of earlier work may follow */
	TP_GPU_EVENT_LOST = 14,  /* events were dropped here */
	TP_GPU_EVENT_NODE = 15,  /* MORE: the event before it was a node of a CUDA graph */
	TP_GPU_EVENT_PEER = 16,  /* MORE: the copy before it went between two GPUs */
	TP_GPU_EVENT_PAYLOAD = 17, /* MORE: a number that the NVTX range before it carries */
	TP_GPU_EVENT_TYPES = 32,   /* room in n_dropped */
};

enum tp_gpu_event_flag {
	TP_GPU_FLAG_LONG = 1,       /* dur is in us, not ns; 0xffffffff then: that long or longer */
	TP_GPU_FLAG_HOST_CLOCK = 2, /* t0 is CLOCK_MONOTONIC, not CUPTI's clock */
	TP_GPU_FLAG_ASYNC = 4,      /* of a copy or memset: it was asynchronous */
	TP_GPU_FLAG_PTHREAD = 8,    /* the thread is not a tid but the low half of a pthread_t */
	TP_GPU_FLAG_DRIVER = 16,  /* the call belongs to the driver API, otherwise to the runtime */
	TP_GPU_FLAG_NUMBERS = 32, /* of a range: numbers were extracted from its name, see below */
};

/*
 * One event. CUPTI records without times (start or end 0, or end before start) make no event and
 * are counted in n_untimed. By type:
 *
 * 	          place    id                    x
 * 	KERNEL    where    name                  blocks | threads per block << 32 | registers << 48,
 * 	                                         each the most that fits where it is more
 * 	COPY      where    enum tp_gpu_copy | from << 8 | to << 16 (enum tp_gpu_memory)    bytes
 * 	SET       where    memory << 16          bytes
 * 	CALL      enum tp_gpu_call   name        thread | returned value << 32
 * 	SYNC      where    enum tp_gpu_sync      CUDA's number of the event, else 0
 * 	OVERHEAD  0        enum tp_gpu_overhead  thread, else 0
 * 	PUSH      0        name                  thread | domain (a name) << 32
 * 	POP       0        0                     thread | domain << 32
 * 	START     0        name                  number of the range | thread << 32
 * 	END       0        0                     the same as in its START
 * 	MARK      0        name                  thread | domain << 32
 * 	OPEN      0        number of the window, from 1      0
 * 	CLOSE     0        number of the window  0
 * 	LOST      0        0                     number of events dropped
 * 	NODE      0        graph                 node
 * 	PEER      0        from device           to device
 * 	PAYLOAD   which    schema                8 bytes of the payload, from 8 * which on
 *
 * For a PAYLOAD, dur is the size of the whole payload in bytes. The range before it, which begins
 * or ends there, has as many PAYLOAD events as that needs, at most 7. Only ranges of the domain
 * "NCCL" have them.
 *
 * Ranges that differ only in numbers share a name ("step 12" and "step 13"): if NUMBERS is set,
 * TP_GPU_NUMBER_MARK in the name stands for a decimal number, the first one being dur, the second
 * link.
 *
 * link (CUPTI's correlation id) is the same in a CALL and in the work that it caused; 0 = unknown.
 * NVTX ranges are recorded outside windows too, those of a thread in order, and a START before its
 * END. NVTX events, OPEN, CLOSE and LOST use the host's clock. Events of CUPTI come in the order in
 * which CUPTI delivers its buffers, which is NOT the order of time: a kernel may come before its
 * call.
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

/* Device, context and stream in CUPTI's numbers; all ones = not reported. The place of a SYNC has
 * no device (use the context's) and may have no stream. */
struct tp_gpu_place {
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t reserved;
};

/* One name: its id is its offset in the table divided by 8, plus 1; id 0 = unknown (no name, or the
 * table is full: n_unnamed). The next one follows at the next multiple of 8. Names of kernels are
 * mangled, as the compiler generated them. */
struct tp_gpu_name {
	uint32_t length; /* without the NUL after it */
	char text[];
};

/* A reading of CUPTI's clock between two readings of the host's clock, and the middle of those
 * two. */
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
	TP_GPU_SYNC_STREAM_EVENT = 2, /* a stream waits for an event */
	TP_GPU_SYNC_STREAM = 3,       /* a thread waited for a stream */
	TP_GPU_SYNC_CONTEXT = 4,      /* a thread waited for a whole context */
};

enum tp_gpu_overhead {
	TP_GPU_OVERHEAD_OTHER = 0,
	TP_GPU_OVERHEAD_COMPILER = 1,     /* the driver compiles device code */
	TP_GPU_OVERHEAD_FLUSH = 2,        /* CUPTI empties its buffers */
	TP_GPU_OVERHEAD_INSTRUMENT = 3,   /* CUPTI instruments kernels to time them */
	TP_GPU_OVERHEAD_RESOURCE = 4,     /* CUPTI creates its own resources */
	TP_GPU_OVERHEAD_MODULE_LOAD = 5,  /* the runtime loads a module */
	TP_GPU_OVERHEAD_LAZY_LOAD = 6,    /* the driver loads a function at its first launch */
	TP_GPU_OVERHEAD_QUEUE_FULL = 7,   /* a launch waited for room in the queue */
	TP_GPU_OVERHEAD_BUFFER = 8,       /* CUPTI asked the agent for a buffer */
	TP_GPU_OVERHEAD_MANAGED_INIT = 9, /* CUPTI prepares the tracing of managed memory */
};

/* Function of a call, independent of the vendor's number and of the version of its name. */
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
	TP_GPU_CALL_LOAD = 11, /* loads a module or library */
	TP_GPU_CALL_QUERY = 12,
};

struct tp_gpu_ring_header {
	/* Constant once magic is stored. */
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

	/* Written by the agent, rarely. */
	uint64_t heartbeat_ns;   /* CLOCK_MONOTONIC */
	uint32_t state;          /* enum tp_gpu_state; stored with release, after its explanation */
	int32_t error;           /* CUPTI's result, or an errno; 0 = none */
	uint32_t cupti_version;  /* result of cuptiGetVersion; 0 = unknown */
	uint32_t driver_version; /* result of cuDriverGetVersion, 13000 for 13.0; 0 = unknown */
	uint32_t n_name_bytes;
	uint32_t n_places;
	uint64_t n_clock_pairs;
	uint32_t agent_tid; /* the agent's own thread, as the process sees it; 0 = none yet */
	uint32_t n_windows; /* windows begun so far */
	uint64_t cost_ns;   /* CPU time of decoding so far, over all threads */
	uint64_t kinds; /* bit t: events of type t were enabled in CUPTI, in any window so far */

	uint64_t head;
	uint64_t reserved_head[7];

	/* Written by the reader. */
	uint64_t tail;
	uint32_t wanted; /* enum tp_gpu_request */
	uint32_t reserved_word;
	uint64_t reader_ns; /* CLOCK_MONOTONIC of its last read */
	uint32_t reserved_tail[10];

	/* Counters of the agent: plain stores; each only grows. */
	uint64_t n_dropped[TP_GPU_EVENT_TYPES]; /* did not fit into the ring */
	uint64_t n_records;                     /* records of CUPTI of any kind */
	uint64_t n_untimed;                     /* of these, records without times */
	uint64_t n_unknown;   /* of these, records of a kind that was not enabled */
	uint64_t n_ignored;   /* of these, calls that carry no information (queries, settings) */
	uint64_t n_lost;      /* records that CUPTI itself reports as lost */
	uint64_t n_buffers;   /* delivered buffers */
	uint64_t n_scratch;   /* buffers given to CUPTI whose records are discarded because the pool
				 is used up */
	uint64_t n_unnamed;   /* names that did not fit into the table */
	uint64_t n_unplaced;  /* events whose place did not fit into the table */
	uint64_t n_nvtx_lost; /* ranges left out: too many at once, or 32 open in their thread */
	char owner[64];       /* name of the other tool, NUL-terminated; empty if it does not say */
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
