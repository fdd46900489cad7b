/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a command by its name. */
#include "command.h"

#include <string.h>

const struct tp_command *tp_command_find(const struct tp_command_table *table, const char *name)
{
	for (size_t i = 0; table->commands[i]; i++)
		if (strcmp(table->commands[i]->name, name) == 0)
			return table->commands[i];
	return NULL;
}
