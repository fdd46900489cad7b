/* SPDX-License-Identifier: Apache-2.0 */
/* The names from CUDA's cuda.h that CUPTI's headers use, for comparing layouts without an installed
 * toolkit. Handles are pointers, results and attributes are enumerations. */
#ifndef TRAINPROF_TESTS_AGENT_CUDA_STUB_CUDA_H
#define TRAINPROF_TESTS_AGENT_CUDA_STUB_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef void *CUcontext;
typedef void *CUstream;
typedef void *CUmodule;
typedef void *CUfunction;
typedef void *CUgraph;
typedef void *CUgraphExec;
typedef void *CUgraphNode;
typedef void *CUevent;
typedef enum { CUDA_SUCCESS } CUresult;
typedef enum { CU_DEVICE_ATTRIBUTE } CUdevice_attribute;
typedef enum { CU_GRAPH_NODE_TYPE } CUgraphNodeType;
typedef int CUstreamAttrID;
typedef uint64_t CUstreamAttrValue;
typedef struct CUuuid_st {
	char bytes[16];
} CUuuid;
typedef struct {
	void *at;
	size_t bytes;
	float ratio;
	int on_hit;
	int on_miss;
} CUaccessPolicyWindow;

#define CUDA_VERSION 13000

#endif
