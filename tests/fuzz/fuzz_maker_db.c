/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes databases of Ascend, rocprofv3 and rocmProfileData; each input is read by all
 * importers. */
#include "database.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_database("ascend-db", data, size);
	fuzz_database("rocpd", data, size);
	fuzz_database("rpd", data, size);
	return 0;
}
