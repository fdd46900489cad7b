/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes archives: for any contents reading the members ends, and yields no more bytes than there
 * are. Checksums of headers are corrected first: a fuzzer cannot guess one, and the code after the
 * check is the target. */
#include "../unit/giver.h"
#include "import/reader/tarball.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { UNPACKED_MOST = 1 << 20, SUM_AT = 148, MAGIC_AT = 257 };

static void demand(bool claim)
{
	if (!claim)
		abort();
}

static void headers_mend(uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at + TP_TAR_BLOCK <= size; at += TP_TAR_BLOCK) {
		unsigned sum = 0;
		if (memcmp(bytes + at + MAGIC_AT, "ustar", 5) != 0)
			continue;
		memset(bytes + at + SUM_AT, ' ', 8);
		for (size_t i = 0; i < TP_TAR_BLOCK; i++)
			sum += bytes[at + i];
		snprintf((char *)bytes + at + SUM_AT, 8, "%06o", sum);
	}
}

/* Reads members unchanged, or uncompressed if they are compressed. */
static void members_read(struct tp_tarball *tar, size_t size, bool unpacks)
{
	static char bytes[64 << 10];
	while (tp_tarball_next(tar)) {
		size_t n = 0;
		size_t total = 0;
		demand(strlen(tp_buf_text(&tar->name)) == tar->name.len);
		struct tp_stream *stream =
			unpacks ? tp_stream_from_source(tp_tarball_read, tar) : NULL;
		do {
			n = unpacks ? tp_stream_read(stream, bytes, sizeof(bytes))
				    : tp_tarball_read(tar, bytes, sizeof(bytes));
			total += n;
		} while (n && total < UNPACKED_MOST);
		demand(unpacks || total <= size);
		tp_stream_close(stream);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes = tp_alloc(size + 1);
	memcpy(bytes, data, size);
	headers_mend(bytes, size);
	(void)tp_tarball_probe(bytes, size);
	for (int unpacks = 0; unpacks < 2; unpacks++) {
		struct giver giver = {bytes, size};
		struct tp_tarball tar;
		struct tp_stream *stream = tp_stream_from_source(give, &giver);
		tp_tarball_init(&tar, stream);
		members_read(&tar, size, unpacks);
		tp_tarball_release(&tar);
		tp_stream_close(stream);
	}
	free(bytes);
	return 0;
}
