/* SPDX-License-Identifier: Apache-2.0 */
/* Where a libcupti is looked for, by the agent in the program and by trainprof itself. */
#ifndef TRAINPROF_WIRE_CUPTI_PLACES_H
#define TRAINPROF_WIRE_CUPTI_PLACES_H

/* Environment: path of the CUPTI to use where none is mapped. */
#define TP_CUPTI_ENV "TRAINPROF_CUPTI"

/* From the folder of a libcudart to that of the libcupti beside it, in Python's wheels: nvidia/cu13
 * has both in one, nvidia/cuda_runtime/lib has nvidia/cuda_cupti/lib. */
#define TP_CUPTI_WHEEL "../../cuda_cupti/lib/"

/* The same in a toolkit, whose lib64 has the libcudart. */
#define TP_CUPTI_EXTRAS "../extras/CUPTI/lib64/"

/* Of a toolkit. */
#define TP_CUPTI_FOLDERS                                                                           \
	{                                                                                          \
		"/usr/local/cuda/extras/CUPTI/lib64/",                                             \
			"/usr/local/cuda/targets/x86_64-linux/lib/",                               \
			"/usr/local/cuda/targets/sbsa-linux/lib/", "/usr/local/cuda/lib64/",       \
			"/usr/local/cuda/lib/"                                                     \
	}

#endif
