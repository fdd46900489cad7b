/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of this process's libcupti (cupti_copy.h chooses which one). Loading calls none of
 * them; starting does, and initialises CUPTI.
 *
 * Nothing is ever unloaded, because unloading has crashed CUPTI. Only the agent's own thread calls
 * this.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_CUPTI_LIBRARY_H
#define TRAINPROF_SRC_AGENT_CUPTI_CUPTI_LIBRARY_H

#include "cupti_abi.h"
#include "cupti_copy.h"

#include <stdbool.h>

/* member, symbol, is it required (a library without it is not CUPTI), arguments */
#define TP_CUPTI_CALL_MAP(X)                                                                       \
	X(get_version, cuptiGetVersion, 1, (uint32_t *))                                           \
	X(get_timestamp, cuptiGetTimestamp, 1, (uint64_t *))                                       \
	X(get_callback_name, cuptiGetCallbackName, 1, (int, uint32_t, const char **))              \
	X(subscribe, cuptiSubscribe, 1, (cupti_subscriber *, cupti_callback_fn *, void *))         \
	X(unsubscribe, cuptiUnsubscribe, 1, (cupti_subscriber))                                    \
	X(register_callbacks, cuptiActivityRegisterCallbacks, 1,                                   \
	  (cupti_request_fn *, cupti_complete_fn *))                                               \
	X(enable, cuptiActivityEnable, 1, (int))                                                   \
	X(disable, cuptiActivityDisable, 1, (int))                                                 \
	X(flush_all, cuptiActivityFlushAll, 1, (uint32_t))                                         \
	X(get_next_record, cuptiActivityGetNextRecord, 1,                                          \
	  (uint8_t *, size_t, struct cupti_record **))                                             \
	X(get_num_dropped, cuptiActivityGetNumDroppedRecords, 1, (void *, uint32_t, size_t *))     \
	X(set_attribute, cuptiActivitySetAttribute, 0, (int, size_t *, void *))                    \
	X(set_thread_id_type, cuptiSetThreadIdType, 0, (int))                                      \
	X(subscribe_v2, cuptiSubscribe_v2, 0,                                                      \
	  (cupti_subscriber *, cupti_callback_fn *, void *, struct cupti_subscriber_params *))     \
	X(enable_callback, cuptiEnableCallback, 0, (uint32_t, cupti_subscriber, int, uint32_t))    \
	X(enable_driver_call, cuptiActivityEnableDriverApi, 0, (uint32_t, uint8_t))                \
	X(enable_runtime_call, cuptiActivityEnableRuntimeApi, 0, (uint32_t, uint8_t))              \
	X(enable_all_syncs, cuptiActivityEnableAllSyncRecords, 0, (uint8_t))

struct tp_cupti_library {
	char path[TP_CUPTI_PATH_BYTES]; /* the path by which it was opened or mapped */
	const char *missing;            /* a required symbol that is missing; else NULL */
	bool may_recurse;               /* it is version 13.2: see tp_cupti_library_start() */
	const char *failed_call;        /* the call that failed during the start; else NULL */
	int error;                      /* the result of that call */
	uint32_t version;               /* result of cuptiGetVersion */
	uint32_t driver_version;        /* 13000 for 13.0; 0 = unknown */
	/* NULL = missing. NOLINTNEXTLINE(bugprone-macro-parentheses): a declarator */
#define X(member, symbol, is_needed, arguments) int(*member) arguments;
	TP_CUPTI_CALL_MAP(X)
#undef X
};

/*
 * Returns false if none is found or a required function is missing (`missing`). May take seconds.
 */
bool tp_cupti_library_load(struct tp_cupti_library *out);

/* Starts a loaded CUPTI; its version is known afterwards. Returns false if it does not start with
 * this driver (`failed_call`, `error`). If the driver does not provide its core table, CUPTI 13.2
 * recurses in cuptiGetVersion until the stack overflows, so for that version the driver is checked
 * first. */
bool tp_cupti_library_start(struct tp_cupti_library *lib);

#endif
