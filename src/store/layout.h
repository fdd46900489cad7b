/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of a recording on disk. docs/format.md has the same in words and is binding for this
 * header and for every other reader; a number never changes its meaning once it was written. */
#ifndef TRAINPROF_SRC_STORE_LAYOUT_H
#define TRAINPROF_SRC_STORE_LAYOUT_H

#include <stdint.h>

#define LAYOUT_MANIFEST "manifest.json"
#define LAYOUT_RECORDS  "records.tpr"
#define LAYOUT_FORMAT   "trainprof-recording/" /* followed by major.minor */
#define LAYOUT_WRITTEN  LAYOUT_FORMAT "1.3"    /* LAYOUT_MAJOR and LAYOUT_MINOR as text */
#define LAYOUT_MAGIC                                                                               \
	{                                                                                          \
		'T', 'P', 'R', 'E', 'C', '\r', '\n', '\x1a'                                        \
	}                                     /* reveals a copy in text mode */
#define LAYOUT_BLOCK_TAG UINT32_C(0x4b4c4254) /* "TBLK" */

/* While recording: reserved disk space for the last manifest and for the report, so that both can
 * be written even if the target or the recording has filled the disk. */
#define LAYOUT_NEXT_MANIFEST ".manifest.next"
#define LAYOUT_RESERVE       ".reserve"

enum {
	LAYOUT_MAJOR = 1, /* changed meaning: older readers refuse */
	LAYOUT_MINOR = 3, /* additional kinds or trailing fields: older readers skip them */

	LAYOUT_NEXT_MANIFEST_BYTES = 256 << 10,
	LAYOUT_RESERVE_BYTES = 1 << 20,

	LAYOUT_BLOCK_FULL = 128 << 10,  /* a writer closes a block at this payload */
	LAYOUT_BLOCK_MAX = 1 << 20,     /* a reader treats a longer payload as damage */
	LAYOUT_STRING_MAX = (64 << 10), /* bytes; longer strings are truncated */
};

/* The file's header: little-endian; the checksum at its end covers all of it. */
enum {
	HEADER_MAGIC = 0,         /* 8 bytes */
	HEADER_MAJOR = 8,         /* u16 */
	HEADER_MINOR = 10,        /* u16 */
	HEADER_CLOCK = 12,        /* u32: LAYOUT_CLOCK_MONOTONIC */
	HEADER_TICK_NS = 16,      /* u64: 1 */
	HEADER_RUN_ID = 24,       /* u64: the number in the manifest's run.id */
	HEADER_CREATED_NS = 32,   /* u64: on the recording's clock */
	HEADER_CREATED_WALL = 40, /* u64: ns since 1970, UTC */
	HEADER_PID = 48,          /* u32: pid of the writer */
	HEADER_ZERO = 52,         /* 8 bytes */
	HEADER_CRC = 60,          /* u32 over the preceding 60 bytes */
	HEADER_BYTES = 64,

	LAYOUT_CLOCK_MONOTONIC = 1,
};

/* A block's header; the payload follows. */
enum {
	BLOCK_TAG = 0,       /* u32 */
	BLOCK_LENGTH = 4,    /* u32: payload bytes */
	BLOCK_N_RECORDS = 8, /* u32 */
	BLOCK_NUMBER = 12,   /* u32: 0, 1, 2 … */
	BLOCK_BASE_NS = 16,  /* u64: base of the first time in the block */
	BLOCK_FIRST_NS = 24, /* u64: earliest time in the block */
	BLOCK_LAST_NS = 32,  /* u64: latest time in the block */
	BLOCK_ZERO = 40,     /* u32 */
	BLOCK_CRC = 44,      /* u32 over the preceding 44 bytes and the payload */
	BLOCK_HEADER_BYTES = 48,
};

/* A record: one byte with the kind in the low and the length in the high four bits, where 15 means
 * that a varint with the length follows; then the payload. Kind 15 is reserved for a second byte of
 * kinds, kind 0 never occurs. */
enum layout_kind {
	LAYOUT_STRING = 1,
	LAYOUT_FRAME = 2,
	LAYOUT_STACK = 3,
	LAYOUT_TASK = 4,
	LAYOUT_RUN = 5,
	LAYOUT_SAMPLE = 6,
	LAYOUT_GAUGE = 7,
	LAYOUT_MARK = 8,
	LAYOUT_GAP = 9,
	LAYOUT_SOURCE = 10,
	LAYOUT_METRIC = 11, /* defines the number that gauges use */
	LAYOUT_TRACK = 12,
	LAYOUT_DETAIL = 13,
	LAYOUT_SPAN = 14,
};

enum { LAYOUT_LONG = 15 };

/* The first varint of a sample shows which fields follow. */
enum {
	SAMPLE_STATE = 3, /* mask */
	SAMPLE_HAS_FLAGS = 1 << 2,
	SAMPLE_HAS_CAUSE = 1 << 3,
	SAMPLE_HAS_TARGET = 1 << 4,
	SAMPLE_HAS_SYSCALL = 1 << 5,
	SAMPLE_HAS_ADDRESS = 1 << 6,
};

enum { RUN_HOW_BITS = 3 }; /* lowest bits, below the CPU number */

/* The first varint of a span: its kind, and flags for the fields that follow. */
enum {
	SPAN_KIND = 15, /* mask */
	SPAN_HAS_LINK = 1 << 4,
	SPAN_HAS_DETAIL = 1 << 5,
};

#endif
