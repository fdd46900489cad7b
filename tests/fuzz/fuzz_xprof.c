/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes an XSpace of XProf: reading ends for any contents, and emitted records are valid. */
#include "importer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_importer(&tp_importer_xprof, data, size);
	return 0;
}
