/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's headers need nothing from CUDA's builtin_types.h that is compared. */
#include "cuda.h"
