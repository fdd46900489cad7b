/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the declarations in src/collect/gpu/counters/pm_abi.h with NVIDIA's own headers.
 * Compiled, never run. */
#include "collect/gpu/counters/pm_abi.h"

#include <cuda.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>
#include <cupti_version.h>

#define SAME(type, field, theirs, their_field)                                                     \
	_Static_assert(offsetof(struct type, field) == offsetof(theirs, their_field) &&            \
			       sizeof(((struct type *)0)->field) ==                                \
				       sizeof(((theirs *)0)->their_field),                         \
		       "layout of " #theirs)
#define PRIVATE(type, theirs)                                                                      \
	SAME(type, size, theirs, structSize);                                                      \
	SAME(type, zero, theirs, pPriv)
#define WHOLE(type, last, theirs)                                                                  \
	_Static_assert(PM_SIZE(type, last) == theirs##_STRUCT_SIZE, "size of " #theirs);           \
	PRIVATE(type, theirs)
#define NUMBER(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), "number of " #theirs)

WHOLE(pm_initialize, zero, CUpti_Profiler_Initialize_Params);

WHOLE(pm_chip_name, chip, CUpti_Device_GetChipName_Params);
SAME(pm_chip_name, device, CUpti_Device_GetChipName_Params, deviceIndex);
SAME(pm_chip_name, chip, CUpti_Device_GetChipName_Params, pChipName);

WHOLE(pm_supported_chips, chips, CUpti_Profiler_Host_GetSupportedChips_Params);
SAME(pm_supported_chips, n, CUpti_Profiler_Host_GetSupportedChips_Params, numChips);
SAME(pm_supported_chips, chips, CUpti_Profiler_Host_GetSupportedChips_Params, ppChipNames);

/* From 13.2 on it has one more member, and CUPTI accepts the structure without it. */
#if CUPTI_API_VERSION >= 130200
PRIVATE(pm_host_initialize, CUpti_Profiler_Host_Initialize_Params);
#else
WHOLE(pm_host_initialize, host, CUpti_Profiler_Host_Initialize_Params);
#endif
SAME(pm_host_initialize, profiler, CUpti_Profiler_Host_Initialize_Params, profilerType);
SAME(pm_host_initialize, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
SAME(pm_host_initialize, availability, CUpti_Profiler_Host_Initialize_Params,
     pCounterAvailabilityImage);
SAME(pm_host_initialize, host, CUpti_Profiler_Host_Initialize_Params, pHostObject);

WHOLE(pm_host_deinitialize, host, CUpti_Profiler_Host_Deinitialize_Params);
SAME(pm_host_deinitialize, host, CUpti_Profiler_Host_Deinitialize_Params, pHostObject);

WHOLE(pm_add_metrics, n, CUpti_Profiler_Host_ConfigAddMetrics_Params);
SAME(pm_add_metrics, host, CUpti_Profiler_Host_ConfigAddMetrics_Params, pHostObject);
SAME(pm_add_metrics, names, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
SAME(pm_add_metrics, n, CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics);

WHOLE(pm_image_size, bytes, CUpti_Profiler_Host_GetConfigImageSize_Params);
SAME(pm_image_size, host, CUpti_Profiler_Host_GetConfigImageSize_Params, pHostObject);
SAME(pm_image_size, bytes, CUpti_Profiler_Host_GetConfigImageSize_Params, configImageSize);

WHOLE(pm_image, image, CUpti_Profiler_Host_GetConfigImage_Params);
SAME(pm_image, host, CUpti_Profiler_Host_GetConfigImage_Params, pHostObject);
SAME(pm_image, bytes, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize);
SAME(pm_image, image, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage);

WHOLE(pm_passes, n, CUpti_Profiler_Host_GetNumOfPasses_Params);
SAME(pm_passes, bytes, CUpti_Profiler_Host_GetNumOfPasses_Params, configImageSize);
SAME(pm_passes, image, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
SAME(pm_passes, n, CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses);

WHOLE(pm_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params);
SAME(pm_evaluate, host, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pHostObject);
SAME(pm_evaluate, data, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage);
SAME(pm_evaluate, bytes, CUpti_Profiler_Host_EvaluateToGpuValues_Params, counterDataImageSize);
SAME(pm_evaluate, index, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
SAME(pm_evaluate, names, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames);
SAME(pm_evaluate, n, CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics);
SAME(pm_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues);

WHOLE(pm_enable, sampling, CUpti_PmSampling_Enable_Params);
SAME(pm_enable, device, CUpti_PmSampling_Enable_Params, deviceIndex);
SAME(pm_enable, sampling, CUpti_PmSampling_Enable_Params, pPmSamplingObject);

#if CUPTI_API_VERSION >= 26
WHOLE(pm_set_config, append, CUpti_PmSampling_SetConfig_Params);
#else
WHOLE(pm_set_config, trigger, CUpti_PmSampling_SetConfig_Params);
#endif
SAME(pm_set_config, sampling, CUpti_PmSampling_SetConfig_Params, pPmSamplingObject);
SAME(pm_set_config, bytes, CUpti_PmSampling_SetConfig_Params, configSize);
SAME(pm_set_config, image, CUpti_PmSampling_SetConfig_Params, pConfig);
SAME(pm_set_config, buffer_bytes, CUpti_PmSampling_SetConfig_Params, hardwareBufferSize);
SAME(pm_set_config, interval, CUpti_PmSampling_SetConfig_Params, samplingInterval);
SAME(pm_set_config, trigger, CUpti_PmSampling_SetConfig_Params, triggerMode);
#if CUPTI_API_VERSION >= 26
SAME(pm_set_config, append, CUpti_PmSampling_SetConfig_Params, hwBufferAppendMode);
#endif

WHOLE(pm_decode, overflowed, CUpti_PmSampling_DecodeData_Params);
SAME(pm_decode, sampling, CUpti_PmSampling_DecodeData_Params, pPmSamplingObject);
SAME(pm_decode, data, CUpti_PmSampling_DecodeData_Params, pCounterDataImage);
SAME(pm_decode, bytes, CUpti_PmSampling_DecodeData_Params, counterDataImageSize);
SAME(pm_decode, stopped, CUpti_PmSampling_DecodeData_Params, decodeStopReason);
SAME(pm_decode, overflowed, CUpti_PmSampling_DecodeData_Params, overflow);

WHOLE(pm_availability, image, CUpti_PmSampling_GetCounterAvailability_Params);
SAME(pm_availability, device, CUpti_PmSampling_GetCounterAvailability_Params, deviceIndex);
SAME(pm_availability, bytes, CUpti_PmSampling_GetCounterAvailability_Params,
     counterAvailabilityImageSize);
SAME(pm_availability, image, CUpti_PmSampling_GetCounterAvailability_Params,
     pCounterAvailabilityImage);

WHOLE(pm_data_size, bytes, CUpti_PmSampling_GetCounterDataSize_Params);
SAME(pm_data_size, sampling, CUpti_PmSampling_GetCounterDataSize_Params, pPmSamplingObject);
SAME(pm_data_size, names, CUpti_PmSampling_GetCounterDataSize_Params, pMetricNames);
SAME(pm_data_size, n, CUpti_PmSampling_GetCounterDataSize_Params, numMetrics);
SAME(pm_data_size, samples_most, CUpti_PmSampling_GetCounterDataSize_Params, maxSamples);
SAME(pm_data_size, bytes, CUpti_PmSampling_GetCounterDataSize_Params, counterDataSize);

WHOLE(pm_data_initialize, data, CUpti_PmSampling_CounterDataImage_Initialize_Params);
SAME(pm_data_initialize, sampling, CUpti_PmSampling_CounterDataImage_Initialize_Params,
     pPmSamplingObject);
SAME(pm_data_initialize, bytes, CUpti_PmSampling_CounterDataImage_Initialize_Params,
     counterDataSize);
SAME(pm_data_initialize, data, CUpti_PmSampling_CounterDataImage_Initialize_Params, pCounterData);

WHOLE(pm_data_info, n_completed, CUpti_PmSampling_GetCounterDataInfo_Params);
SAME(pm_data_info, data, CUpti_PmSampling_GetCounterDataInfo_Params, pCounterDataImage);
SAME(pm_data_info, bytes, CUpti_PmSampling_GetCounterDataInfo_Params, counterDataImageSize);
SAME(pm_data_info, n_total, CUpti_PmSampling_GetCounterDataInfo_Params, numTotalSamples);
SAME(pm_data_info, n_populated, CUpti_PmSampling_GetCounterDataInfo_Params, numPopulatedSamples);
SAME(pm_data_info, n_completed, CUpti_PmSampling_GetCounterDataInfo_Params, numCompletedSamples);

WHOLE(pm_sample_info, end_ns, CUpti_PmSampling_CounterData_GetSampleInfo_Params);
SAME(pm_sample_info, sampling, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
     pPmSamplingObject);
SAME(pm_sample_info, data, CUpti_PmSampling_CounterData_GetSampleInfo_Params, pCounterDataImage);
SAME(pm_sample_info, bytes, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
     counterDataImageSize);
SAME(pm_sample_info, index, CUpti_PmSampling_CounterData_GetSampleInfo_Params, sampleIndex);
SAME(pm_sample_info, start_ns, CUpti_PmSampling_CounterData_GetSampleInfo_Params, startTimestamp);
SAME(pm_sample_info, end_ns, CUpti_PmSampling_CounterData_GetSampleInfo_Params, endTimestamp);

WHOLE(pm_control, sampling, CUpti_PmSampling_Disable_Params);
SAME(pm_control, sampling, CUpti_PmSampling_Disable_Params, pPmSamplingObject);
WHOLE(pm_control, sampling, CUpti_PmSampling_Start_Params);
SAME(pm_control, sampling, CUpti_PmSampling_Start_Params, pPmSamplingObject);
WHOLE(pm_control, sampling, CUpti_PmSampling_Stop_Params);
SAME(pm_control, sampling, CUpti_PmSampling_Stop_Params, pPmSamplingObject);

NUMBER(PM_OK, CUPTI_SUCCESS);
NUMBER(PM_INVALID_PARAMETER, CUPTI_ERROR_INVALID_PARAMETER);
NUMBER(PM_INVALID_DEVICE, CUPTI_ERROR_INVALID_DEVICE);
NUMBER(PM_INVALID_CONTEXT, CUPTI_ERROR_INVALID_CONTEXT);
NUMBER(PM_INVALID_OPERATION, CUPTI_ERROR_INVALID_OPERATION);
NUMBER(PM_OUT_OF_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY);
NUMBER(PM_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED);
NUMBER(PM_INVALID_METRIC_NAME, CUPTI_ERROR_INVALID_METRIC_NAME);
NUMBER(PM_HARDWARE_BUSY, CUPTI_ERROR_HARDWARE_BUSY);
NUMBER(PM_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
NUMBER(PM_VIRTUALIZED, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
NUMBER(PM_NO_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
NUMBER(PM_VIRTUALIZED_NO_PRIVILEGES, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
NUMBER(PM_CONFIDENTIAL, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
NUMBER(PM_MINING, CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED);
#if CUPTI_API_VERSION >= 26
NUMBER(PM_MIG, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
NUMBER(PM_SLI, CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED);
NUMBER(PM_WSL, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);
#endif
#if CUPTI_API_VERSION >= 130000
NUMBER(PM_UNKNOWN_CHIP, CUPTI_ERROR_INVALID_CHIP_NAME);
#endif
NUMBER(PM_UNKNOWN, CUPTI_ERROR_UNKNOWN);
NUMBER(PM_PROFILER_SAMPLING, CUPTI_PROFILER_TYPE_PM_SAMPLING);
NUMBER(PM_TRIGGER_CLOCK, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL);
NUMBER(PM_TRIGGER_TIME, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
#if CUPTI_API_VERSION >= 26
NUMBER(PM_KEEP_OLDEST, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST);
#endif
