/* SPDX-License-Identifier: Apache-2.0 */
/* Gains in words, the same on every page: a bound is never printed as if it were an estimate. */
#ifndef TRAINPROF_SRC_REPORT_DIGEST_GAIN_TEXT_H
#define TRAINPROF_SRC_REPORT_DIGEST_GAIN_TEXT_H

#include "trainprof/base/buf.h"
#include "trainprof/model/finding.h"

/* Append "1.17× (1.11–1.24)"; "at least 1.9×" if the upper end is not known (it is the cap of all
 * gains then); "up to 4.9×" if the lower end is no gain; "not known" if the upper end says nothing
 * either (tp_gain_has_high()). */
void tp_report_add_gain(struct tp_buf *out, double low, double value, double high);
/* Append the gain of several changes at once: "1.02–2.9×", "at least 1.9×, likely 2.4×" where the
 * value is above that floor, "up to 4.9×", "not known". Of an interval the middle is not printed:
 * it is no estimate if one of the changes has only a bound. */
void tp_report_add_gain_range(struct tp_buf *out, double low, double value, double high);
/* True if a limit, also as a factor of today's rate, is below the printed gain. */
bool tp_report_gain_is_above(double low, double high, double limit);
/* "estimate", "floor" or "bound": the kind of the interval of a gain, for data formats. */
const char *tp_report_gain_kind(double low, double high);

#endif
