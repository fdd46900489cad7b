/* SPDX-License-Identifier: Apache-2.0 */
/* Rule files and the rulebook that is loaded from them, new for each test of a suite. */
#ifndef TRAINPROF_TESTS_ADVISE_SHELFBOOK_H
#define TRAINPROF_TESTS_ADVISE_SHELFBOOK_H

#include "advise/shelf.h"

#include <check.h>

static struct shelf shelf;
static struct tp_rulebook *book;
static struct tp_error err;

__attribute__((unused)) static void setup(void)
{
	shelf_open(&shelf);
	book = NULL;
	err = (struct tp_error){0};
}

/* With shelf_put_guide() and without thresholds. */
__attribute__((unused)) static void setup_guide(void)
{
	setup();
	shelf_put_guide(&shelf);
	shelf_put(&shelf, "thresholds.json", "{\"thresholds\": []}");
}

static void teardown(void)
{
	tp_rulebook_free(book);
	shelf_close(&shelf);
}

/* Replaces the rulebook that was loaded before. */
__attribute__((unused)) static void load_anew(void)
{
	tp_rulebook_free(book);
	book = NULL;
	ck_assert_msg(!shelf_load(&shelf, &book, &err), "%s", err.text);
}

#endif
