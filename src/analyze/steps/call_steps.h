/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps by the calls of a function of a native program: the collector found that it is called once
 * a step, and a breakpoint gives each call its instant (TP_MARK_CALL). Analysis believes it only
 * where calls are as regular as the rounds of a counter have to be.
 */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_CALL_STEPS_H
#define TRAINPROF_SRC_ANALYZE_STEPS_CALL_STEPS_H

#include "analyze/analysis.h"
#include "counter_steps.h"

/* Of the main thread. out->name is the function; all borders are exact. False, and nothing given,
 * when no function's calls are regular. Release with tp_counter_steps_release(). */
bool tp_call_steps_find(struct tp_counter_steps *out, const struct tp_analysis *analysis);

#endif
