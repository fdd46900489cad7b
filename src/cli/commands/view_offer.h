/* SPDX-License-Identifier: Apache-2.0 */
/* Offers the viewer in the last line of run and attach. */
#ifndef TRAINPROF_SRC_CLI_COMMANDS_VIEW_OFFER_H
#define TRAINPROF_SRC_CLI_COMMANDS_VIEW_OFFER_H

#include "cli/options/command.h"
#include "cli/session/run_session.h"

/*
 * Asks for one key, and opens the viewer if that is v. Does nothing where a key could be meant for
 * something else, and where nobody is asked:
 * - the program could read the terminal: keys typed meanwhile were for it;
 * - keys are waiting already: they were typed for the shell;
 * - stdin or stderr is no terminal, or the terminal belongs to another job;
 * - trainprof is not the leader of its job: a script, make or another program started it.
 * The summary then names the command. Ends by itself after some seconds.
 */
void tp_view_offer(const struct tp_cli *cli, const struct tp_run_session_result *measured);

#endif
