/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever an XSpace of XProf holds, reading it ends, and what is emitted makes sense. */
#include "importer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_importer(&tp_importer_xprof, data, size);
	return 0;
}
