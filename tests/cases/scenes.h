/* SPDX-License-Identifier: Apache-2.0 */
/* Plays scenes: healthy runs in which one thing was changed (README.md beside this file). */
#ifndef TRAINPROF_TESTS_CASES_SCENES_H
#define TRAINPROF_TESTS_CASES_SCENES_H

#include "trainprof/advise/advise.h"

/* All files of the directory over its healthy.json; adds how many scenes are as they expect. */
void scenes_play(const struct tp_rulebook *book, const char *directory, int *n_passed,
		 int *n_failed);

#endif
