/* SPDX-License-Identifier: Apache-2.0 */
/* The table of record lengths. */
#include "strides.h"

#include "agent/cupti/cupti_abi.h"

#include <string.h>

/* Each row begins with the first version that has these lengths. From the structures and the notes
 * of their deprecation in cupti_activity.h and cupti_activity_deprecated.h of CUDA 13.0U1, read
 * 2026-11-22; check_replay.sh compares them with real libraries. */
static const struct {
	uint32_t since;
	uint16_t kernel;
	uint16_t memcpy;
	uint16_t memcpy2;
	uint16_t memset;
	uint16_t call;
	uint16_t sync;
	uint16_t overhead;
} rows[] = {
	{18, 200, 88, 96, 88, 40, 40, 40},     /* 11.8 */
	{19, 208, 88, 96, 88, 40, 40, 40},     /* 12.0 */
	{20, 208, 88, 96, 88, 40, 40, 48},     /* 12.2 */
	{26, 208, 96, 96, 88, 40, 56, 48},     /* 12.8 */
	{130000, 216, 96, 96, 88, 40, 56, 56}, /* 13.0 */
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

uint32_t stride_version(size_t i)
{
	return i < N_ROWS ? rows[i].since : 0;
}

size_t stride_of(uint32_t version, uint32_t kind)
{
	size_t i = N_ROWS - 1;
	while (i && rows[i].since > version)
		i--;
	switch (kind) {
	case CUPTI_KERNEL:
	case CUPTI_CONCURRENT_KERNEL:
		return rows[i].kernel;
	case CUPTI_MEMCPY:
		return rows[i].memcpy;
	case CUPTI_MEMCPY2:
		return rows[i].memcpy2;
	case CUPTI_MEMSET:
		return rows[i].memset;
	case CUPTI_DRIVER:
	case CUPTI_RUNTIME:
		return rows[i].call;
	case CUPTI_SYNCHRONIZATION:
		return rows[i].sync;
	case CUPTI_OVERHEAD:
		return rows[i].overhead;
	default:
		return 0;
	}
}

int stride_next(uint32_t version, uint8_t *buffer, size_t valid, struct cupti_record **record)
{
	uint8_t *at = buffer;
	uint32_t kind = 0;
	if (*record)
		at = (uint8_t *)*record + stride_of(version, (*record)->kind);
	size_t left = valid - (size_t)(at - buffer);
	if (left >= sizeof(kind))
		memcpy(&kind, at, sizeof(kind));
	size_t bytes = stride_of(version, kind);
	if (!bytes || bytes > left)
		return CUPTI_LIMIT_REACHED;
	memcpy(record, &at, sizeof(at));
	return CUPTI_OK;
}
