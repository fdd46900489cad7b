/* SPDX-License-Identifier: Apache-2.0 */
/* Runs scenes: healthy runs with one change each (see README.md in this folder). */
#ifndef TRAINPROF_TESTS_CASES_SCENES_H
#define TRAINPROF_TESTS_CASES_SCENES_H

#include "trainprof/advise/advise.h"

/* Runs all files of the directory on top of its healthy.json; adds to the numbers of scenes that
 * match their expectations, or do not. */
void scenes_play(const struct tp_rulebook *book, const char *directory, int *n_passed,
		 int *n_failed);

#endif
