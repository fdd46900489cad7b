/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes files of Ascend, TensorFlow 1, Horovod, rocprofv3 and tools that are not known: reading
 * ends for any contents, and emitted records are valid. Each input is read by all importers. */
#include "importer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_importer(&tp_importer_ascend, data, size);
	fuzz_importer(&tp_importer_ascend_csv, data, size);
	fuzz_importer(&tp_importer_timeline, data, size);
	fuzz_importer(&tp_importer_horovod, data, size);
	fuzz_importer(&tp_importer_rocprof, data, size);
	fuzz_importer(&tp_importer_xprof_json, data, size);
	fuzz_importer(&tp_importer_named_lanes, data, size);
	return 0;
}
