/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the type of each member of manifest.json. */
#ifndef TRAINPROF_SRC_STORE_MANIFEST_TYPES_H
#define TRAINPROF_SRC_STORE_MANIFEST_TYPES_H

#include "trainprof/base/json.h"
#include "trainprof/base/status.h"

/* Members that are absent or null are unknown, and unknown members are ignored, because a newer
 * version may have added them; any other wrong type or value out of range is refused with the
 * member's name. Errors  TP_PARSE. */
TP_MUST_CHECK enum tp_status tp_manifest_check_types(const struct tp_json_doc *doc,
						     struct tp_error *err);

#endif
