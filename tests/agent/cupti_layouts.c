/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the declarations in src/agent/cupti/cupti_abi.h with NVIDIA's own headers. Compiled,
 * never run. */
#include "agent/cupti/cupti_abi.h"
#include "trainprof/wire/gpu_ring.h"

#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_version.h>

/* The newest record of each kind, as that version delivers it. */
#if CUPTI_API_VERSION >= 130400
#define KERNEL CUpti_ActivityKernel13
#elif CUPTI_API_VERSION >= 130300
#define KERNEL CUpti_ActivityKernel12
#elif CUPTI_API_VERSION >= 130100
#define KERNEL CUpti_ActivityKernel11
#elif CUPTI_API_VERSION >= 130000
#define KERNEL CUpti_ActivityKernel10
#elif CUPTI_API_VERSION >= 19
#define KERNEL CUpti_ActivityKernel9
#else
#define KERNEL CUpti_ActivityKernel8
#endif
#if CUPTI_API_VERSION >= 130400
#define COPY CUpti_ActivityMemcpy7
#define SET  CUpti_ActivityMemset5
#elif CUPTI_API_VERSION >= 26
#define COPY CUpti_ActivityMemcpy6
#define SET  CUpti_ActivityMemset4
#else
#define COPY CUpti_ActivityMemcpy5
#define SET  CUpti_ActivityMemset4
#endif
#if CUPTI_API_VERSION >= 26
#define SYNC CUpti_ActivitySynchronization2
#else
#define SYNC CUpti_ActivitySynchronization
#endif
#if CUPTI_API_VERSION >= 19
#define OVERHEAD CUpti_ActivityOverhead3
#else
#define OVERHEAD CUpti_ActivityOverhead
#endif

#define SAME(type, field, theirs, their_field)                                                     \
	_Static_assert(offsetof(struct type, field) == offsetof(theirs, their_field) &&            \
			       sizeof(((struct type *)0)->field) ==                                \
				       sizeof(((theirs *)0)->their_field),                         \
		       "layout of " #theirs)

SAME(cupti_kernel, registers, KERNEL, registersPerThread);
SAME(cupti_kernel, start, KERNEL, start);
SAME(cupti_kernel, end, KERNEL, end);
SAME(cupti_kernel, device, KERNEL, deviceId);
SAME(cupti_kernel, context, KERNEL, contextId);
SAME(cupti_kernel, stream, KERNEL, streamId);
SAME(cupti_kernel, grid[0], KERNEL, gridX);
SAME(cupti_kernel, grid[2], KERNEL, gridZ);
SAME(cupti_kernel, block[0], KERNEL, blockX);
SAME(cupti_kernel, block[2], KERNEL, blockZ);
SAME(cupti_kernel, correlation, KERNEL, correlationId);
SAME(cupti_kernel, name, KERNEL, name);
SAME(cupti_kernel, graph_node, KERNEL, graphNodeId);
SAME(cupti_kernel, graph, KERNEL, graphId);

SAME(cupti_memcpy, copy_kind, COPY, copyKind);
SAME(cupti_memcpy, from, COPY, srcKind);
SAME(cupti_memcpy, to, COPY, dstKind);
SAME(cupti_memcpy, flags, COPY, flags);
SAME(cupti_memcpy, bytes, COPY, bytes);
SAME(cupti_memcpy, start, COPY, start);
SAME(cupti_memcpy, end, COPY, end);
SAME(cupti_memcpy, device, COPY, deviceId);
SAME(cupti_memcpy, context, COPY, contextId);
SAME(cupti_memcpy, stream, COPY, streamId);
SAME(cupti_memcpy, correlation, COPY, correlationId);
SAME(cupti_memcpy, graph_node, COPY, graphNodeId);
SAME(cupti_memcpy, graph, COPY, graphId);

SAME(cupti_memcpy2, bytes, CUpti_ActivityMemcpyPtoP4, bytes);
SAME(cupti_memcpy2, start, CUpti_ActivityMemcpyPtoP4, start);
SAME(cupti_memcpy2, stream, CUpti_ActivityMemcpyPtoP4, streamId);
SAME(cupti_memcpy2, from_device, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
SAME(cupti_memcpy2, to_device, CUpti_ActivityMemcpyPtoP4, dstDeviceId);
SAME(cupti_memcpy2, correlation, CUpti_ActivityMemcpyPtoP4, correlationId);
SAME(cupti_memcpy2, graph_node, CUpti_ActivityMemcpyPtoP4, graphNodeId);
SAME(cupti_memcpy2, graph, CUpti_ActivityMemcpyPtoP4, graphId);

SAME(cupti_memset, bytes, SET, bytes);
SAME(cupti_memset, start, SET, start);
SAME(cupti_memset, end, SET, end);
SAME(cupti_memset, device, SET, deviceId);
SAME(cupti_memset, stream, SET, streamId);
SAME(cupti_memset, correlation, SET, correlationId);
SAME(cupti_memset, flags, SET, flags);
SAME(cupti_memset, memory, SET, memoryKind);
SAME(cupti_memset, graph_node, SET, graphNodeId);
SAME(cupti_memset, graph, SET, graphId);

SAME(cupti_call, cbid, CUpti_ActivityAPI, cbid);
SAME(cupti_call, start, CUpti_ActivityAPI, start);
SAME(cupti_call, end, CUpti_ActivityAPI, end);
SAME(cupti_call, thread, CUpti_ActivityAPI, threadId);
SAME(cupti_call, correlation, CUpti_ActivityAPI, correlationId);
SAME(cupti_call, returned, CUpti_ActivityAPI, returnValue);

SAME(cupti_sync, type, SYNC, type);
SAME(cupti_sync, start, SYNC, start);
SAME(cupti_sync, end, SYNC, end);
SAME(cupti_sync, correlation, SYNC, correlationId);
SAME(cupti_sync, context, SYNC, contextId);
SAME(cupti_sync, stream, SYNC, streamId);
SAME(cupti_sync, event, SYNC, cudaEventId);

SAME(cupti_overhead, overhead, OVERHEAD, overheadKind);
SAME(cupti_overhead, object, OVERHEAD, objectKind);
SAME(cupti_overhead, object_thread, OVERHEAD, objectId.pt.threadId);
SAME(cupti_overhead, start, OVERHEAD, start);
SAME(cupti_overhead, end, OVERHEAD, end);

#if CUPTI_API_VERSION >= 130000
SAME(cupti_subscriber_params, own_name, CUpti_SubscriberParams, subscriberName);
SAME(cupti_subscriber_params, other_name, CUpti_SubscriberParams, oldSubscriberName);
SAME(cupti_subscriber_params, other_name_bytes, CUpti_SubscriberParams, oldSubscriberSize);
#endif

/* The types of calls, as far as C compares them. */
_Static_assert(sizeof(cupti_request_fn *) == sizeof(CUpti_BuffersCallbackRequestFunc), "pointers");

#define NUMBER(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), "number of " #theirs)
NUMBER(CUPTI_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED);
NUMBER(CUPTI_NOT_COMPATIBLE, CUPTI_ERROR_NOT_COMPATIBLE);
NUMBER(CUPTI_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED);
NUMBER(CUPTI_IN_USE, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
NUMBER(CUPTI_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
NUMBER(CUPTI_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
NUMBER(CUPTI_KERNEL, CUPTI_ACTIVITY_KIND_KERNEL);
NUMBER(CUPTI_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER);
NUMBER(CUPTI_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME);
NUMBER(CUPTI_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
NUMBER(CUPTI_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD);
NUMBER(CUPTI_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2);
NUMBER(CUPTI_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
NUMBER(CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
NUMBER(CUPTI_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
NUMBER(CUPTI_DEVICE_BUFFER_POOL_LIMIT, CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT);
NUMBER(CUPTI_DEVICE_BUFFER_PRE_ALLOCATE, CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE);
NUMBER(CUPTI_THREAD_ID_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
NUMBER(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
NUMBER(CUPTI_COPY_ASYNC, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
NUMBER(CUPTI_COPY_ASYNC, CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC);
NUMBER(CUPTI_OBJECT_THREAD, CUPTI_ACTIVITY_OBJECT_THREAD);
#if CUPTI_API_VERSION >= 130000
NUMBER(CUPTI_NAME_BYTES, CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN);
#endif
NUMBER(TP_GPU_COPY_HTOD, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
NUMBER(TP_GPU_COPY_DTOH, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
NUMBER(TP_GPU_COPY_DTOD, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
NUMBER(TP_GPU_COPY_HTOH, CUPTI_ACTIVITY_MEMCPY_KIND_HTOH);
NUMBER(TP_GPU_COPY_PTOP, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
NUMBER(TP_GPU_MEMORY_PAGEABLE, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
NUMBER(TP_GPU_MEMORY_PINNED, CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
NUMBER(TP_GPU_MEMORY_DEVICE, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
NUMBER(TP_GPU_MEMORY_ARRAY, CUPTI_ACTIVITY_MEMORY_KIND_ARRAY);
NUMBER(TP_GPU_MEMORY_MANAGED, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED);
NUMBER(TP_GPU_MEMORY_MANAGED_STATIC, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC);
NUMBER(TP_GPU_SYNC_EVENT, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE);
NUMBER(TP_GPU_SYNC_STREAM_EVENT, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT);
NUMBER(TP_GPU_SYNC_STREAM, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE);
NUMBER(TP_GPU_SYNC_CONTEXT, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE);
