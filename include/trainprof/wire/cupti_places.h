/* SPDX-License-Identifier: Apache-2.0 */
/* The places where the agent, inside the program, and trainprof itself search for libcupti. */
#ifndef TRAINPROF_WIRE_CUPTI_PLACES_H
#define TRAINPROF_WIRE_CUPTI_PLACES_H

/* Environment variable: path of the CUPTI to use if none is mapped. */
#define TP_CUPTI_ENV "TRAINPROF_CUPTI"

/* From the folder of a libcudart to that of the libcupti next to it in Python wheels: nvidia/cu13
 * has both in one folder, nvidia/cuda_runtime/lib is paired with nvidia/cuda_cupti/lib. */
#define TP_CUPTI_WHEEL "../../cuda_cupti/lib/"

/* The same in a toolkit, whose lib64 holds libcudart. */
#define TP_CUPTI_EXTRAS "../extras/CUPTI/lib64/"

/* Folders of toolkits. */
#define TP_CUPTI_FOLDERS                                                                           \
	{                                                                                          \
		"/usr/local/cuda/extras/CUPTI/lib64/",                                             \
			"/usr/local/cuda/targets/x86_64-linux/lib/",                               \
			"/usr/local/cuda/targets/sbsa-linux/lib/", "/usr/local/cuda/lib64/",       \
			"/usr/local/cuda/lib/"                                                     \
	}

#endif
