/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of the libcupti of this process (which one: cupti_copy.h). Loading calls nothing of
 * it; starting does, and begins CUPTI.
 *
 * Nothing is ever unloaded: CUPTI has crashed at it. Only the agent's own thread calls this.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_CUPTI_LIBRARY_H
#define TRAINPROF_SRC_AGENT_CUPTI_CUPTI_LIBRARY_H

#include "cupti_abi.h"
#include "cupti_copy.h"

#include <stdbool.h>

/* member, symbol, is it needed (what lacks it is no CUPTI), arguments */
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
	char path[TP_CUPTI_PATH_BYTES]; /* as it was opened, or as it is mapped */
	const char *missing;            /* the symbol that was needed and is not there; else NULL */
	bool may_recurse;               /* it is 13.2: see tp_cupti_library_start() */
	const char *failed_call;        /* at which it did not start; else NULL */
	int error;                      /* what that returned */
	uint32_t version;               /* of cuptiGetVersion */
	uint32_t driver_version;        /* 13000 for 13.0; 0 = unknown */
	/* NULL: not there. NOLINTNEXTLINE(bugprone-macro-parentheses): a declarator */
#define X(member, symbol, is_needed, arguments) int(*member) arguments;
	TP_CUPTI_CALL_MAP(X)
#undef X
};

/* False: none is found, or it lacks what is needed (`missing`). May take seconds. */
bool tp_cupti_library_load(struct tp_cupti_library *out);

/*
 * Have a loaded one begin: its version is known then. False: it does not start on this driver
 * (`failed_call`, `error`). Where no driver hands out its core table, CUPTI 13.2 recurses in
 * cuptiGetVersion until the stack is full, so for that version the driver is asked first.
 */
bool tp_cupti_library_start(struct tp_cupti_library *lib);

#endif
