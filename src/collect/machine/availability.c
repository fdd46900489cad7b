/* SPDX-License-Identifier: Apache-2.0 */
/* Records problems of sources. */
#include "availability.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tp_availability_degrade(struct tp_availability *availability, const char *format, ...)
{
	char reason[sizeof(availability->reason)];
	va_list args;
	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	size_t len = strlen(availability->reason);
	/* This must work even if the text does not fit. */
	if (availability->presence == TP_PRESENCE_PRESENT)
		availability->presence = TP_PRESENCE_DEGRADED;
	if (len + strlen(reason) + 3 > sizeof(availability->reason) && len)
		return;
	snprintf(availability->reason + len, sizeof(availability->reason) - len, "%s%s",
		 len ? "; " : "", reason);
}

void tp_availability_fail(struct tp_availability *availability, const struct tp_error *err)
{
	static const enum tp_presence presences[] = {
		[TP_DENIED] = TP_PRESENCE_NO_PERMISSION,
		[TP_BUSY] = TP_PRESENCE_IN_USE,
	};
	enum tp_presence presence = TP_PRESENCE_NO_DEVICE;
	if (err->status < sizeof(presences) / sizeof(*presences) && presences[err->status])
		presence = presences[err->status];
	*availability = (struct tp_availability){.presence = presence};
	snprintf(availability->reason, sizeof(availability->reason), "%.*s",
		 (int)sizeof(availability->reason) - 1, err->text);
	snprintf(availability->remedy, sizeof(availability->remedy), "%.*s",
		 (int)sizeof(availability->remedy) - 1, err->next);
}
