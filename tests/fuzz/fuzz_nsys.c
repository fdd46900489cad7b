/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes exports of nsys. */
#include "database.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_database("nsys", data, size);
	return 0;
}
