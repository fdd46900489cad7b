/* SPDX-License-Identifier: Apache-2.0 */
/* Of CUDA's builtin_types.h CUPTI's headers need nothing that is compared. */
#include "cuda.h"
