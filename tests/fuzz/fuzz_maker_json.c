/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever a file of Ascend, TensorFlow 1, Horovod or rocprofv3 holds, reading it ends, and what is
 * emitted makes sense. Each input is read by all of them. */
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
	return 0;
}
