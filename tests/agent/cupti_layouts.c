/* SPDX-License-Identifier: Apache-2.0 */
/* What src/agent/cupti/cupti_abi.h declares by hand, held to NVIDIA's own headers. Compiled, never
 * run.
 */
#include "agent/cupti/cupti_abi.h"
#include "trainprof/wire/gpu_ring.h"

#include <cupti.h>

#define SAME(type, field, theirs, their_field)                                                     \
	_Static_assert(offsetof(struct type, field) == offsetof(theirs, their_field) &&            \
			       sizeof(((struct type *)0)->field) ==                                \
				       sizeof(((theirs *)0)->their_field),                         \
		       "layout of " #theirs)

SAME(cupti_kernel, registers, CUpti_ActivityKernel10, registersPerThread);
SAME(cupti_kernel, start, CUpti_ActivityKernel10, start);
SAME(cupti_kernel, end, CUpti_ActivityKernel10, end);
SAME(cupti_kernel, device, CUpti_ActivityKernel10, deviceId);
SAME(cupti_kernel, context, CUpti_ActivityKernel10, contextId);
SAME(cupti_kernel, stream, CUpti_ActivityKernel10, streamId);
SAME(cupti_kernel, grid[0], CUpti_ActivityKernel10, gridX);
SAME(cupti_kernel, grid[2], CUpti_ActivityKernel10, gridZ);
SAME(cupti_kernel, block[0], CUpti_ActivityKernel10, blockX);
SAME(cupti_kernel, block[2], CUpti_ActivityKernel10, blockZ);
SAME(cupti_kernel, correlation, CUpti_ActivityKernel10, correlationId);
SAME(cupti_kernel, name, CUpti_ActivityKernel10, name);
SAME(cupti_kernel, graph_node, CUpti_ActivityKernel10, graphNodeId);
SAME(cupti_kernel, graph, CUpti_ActivityKernel10, graphId);

SAME(cupti_memcpy, copy_kind, CUpti_ActivityMemcpy6, copyKind);
SAME(cupti_memcpy, from, CUpti_ActivityMemcpy6, srcKind);
SAME(cupti_memcpy, to, CUpti_ActivityMemcpy6, dstKind);
SAME(cupti_memcpy, flags, CUpti_ActivityMemcpy6, flags);
SAME(cupti_memcpy, bytes, CUpti_ActivityMemcpy6, bytes);
SAME(cupti_memcpy, start, CUpti_ActivityMemcpy6, start);
SAME(cupti_memcpy, end, CUpti_ActivityMemcpy6, end);
SAME(cupti_memcpy, device, CUpti_ActivityMemcpy6, deviceId);
SAME(cupti_memcpy, context, CUpti_ActivityMemcpy6, contextId);
SAME(cupti_memcpy, stream, CUpti_ActivityMemcpy6, streamId);
SAME(cupti_memcpy, correlation, CUpti_ActivityMemcpy6, correlationId);
SAME(cupti_memcpy, graph_node, CUpti_ActivityMemcpy6, graphNodeId);
SAME(cupti_memcpy, graph, CUpti_ActivityMemcpy6, graphId);

SAME(cupti_memcpy2, bytes, CUpti_ActivityMemcpyPtoP4, bytes);
SAME(cupti_memcpy2, start, CUpti_ActivityMemcpyPtoP4, start);
SAME(cupti_memcpy2, stream, CUpti_ActivityMemcpyPtoP4, streamId);
SAME(cupti_memcpy2, from_device, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
SAME(cupti_memcpy2, to_device, CUpti_ActivityMemcpyPtoP4, dstDeviceId);
SAME(cupti_memcpy2, correlation, CUpti_ActivityMemcpyPtoP4, correlationId);
SAME(cupti_memcpy2, graph_node, CUpti_ActivityMemcpyPtoP4, graphNodeId);
SAME(cupti_memcpy2, graph, CUpti_ActivityMemcpyPtoP4, graphId);

SAME(cupti_memset, bytes, CUpti_ActivityMemset4, bytes);
SAME(cupti_memset, start, CUpti_ActivityMemset4, start);
SAME(cupti_memset, end, CUpti_ActivityMemset4, end);
SAME(cupti_memset, device, CUpti_ActivityMemset4, deviceId);
SAME(cupti_memset, stream, CUpti_ActivityMemset4, streamId);
SAME(cupti_memset, correlation, CUpti_ActivityMemset4, correlationId);
SAME(cupti_memset, flags, CUpti_ActivityMemset4, flags);
SAME(cupti_memset, memory, CUpti_ActivityMemset4, memoryKind);
SAME(cupti_memset, graph_node, CUpti_ActivityMemset4, graphNodeId);
SAME(cupti_memset, graph, CUpti_ActivityMemset4, graphId);

SAME(cupti_call, cbid, CUpti_ActivityAPI, cbid);
SAME(cupti_call, start, CUpti_ActivityAPI, start);
SAME(cupti_call, end, CUpti_ActivityAPI, end);
SAME(cupti_call, thread, CUpti_ActivityAPI, threadId);
SAME(cupti_call, correlation, CUpti_ActivityAPI, correlationId);
SAME(cupti_call, returned, CUpti_ActivityAPI, returnValue);

SAME(cupti_sync, type, CUpti_ActivitySynchronization2, type);
SAME(cupti_sync, start, CUpti_ActivitySynchronization2, start);
SAME(cupti_sync, end, CUpti_ActivitySynchronization2, end);
SAME(cupti_sync, correlation, CUpti_ActivitySynchronization2, correlationId);
SAME(cupti_sync, context, CUpti_ActivitySynchronization2, contextId);
SAME(cupti_sync, stream, CUpti_ActivitySynchronization2, streamId);
SAME(cupti_sync, event, CUpti_ActivitySynchronization2, cudaEventId);

SAME(cupti_overhead, overhead, CUpti_ActivityOverhead3, overheadKind);
SAME(cupti_overhead, object, CUpti_ActivityOverhead3, objectKind);
SAME(cupti_overhead, object_thread, CUpti_ActivityOverhead3, objectId.pt.threadId);
SAME(cupti_overhead, start, CUpti_ActivityOverhead3, start);
SAME(cupti_overhead, end, CUpti_ActivityOverhead3, end);

SAME(cupti_subscriber_params, own_name, CUpti_SubscriberParams, subscriberName);
SAME(cupti_subscriber_params, other_name, CUpti_SubscriberParams, oldSubscriberName);
SAME(cupti_subscriber_params, other_name_bytes, CUpti_SubscriberParams, oldSubscriberSize);

/* Calls: their types, as far as C compares them. */
_Static_assert(sizeof(cupti_request_fn *) == sizeof(CUpti_BuffersCallbackRequestFunc), "pointers");

#define NUMBER(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), "number of " #theirs)
NUMBER(CUPTI_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED);
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
NUMBER(CUPTI_NAME_BYTES, CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN);
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
