/* One line of /proc/PID/maps. */
#ifndef TRAINPROF_SRC_STACK_SYMBOLS_PROC_MAPS_H
#define TRAINPROF_SRC_STACK_SYMBOLS_PROC_MAPS_H

#include "trainprof/stack/maps.h"

/* Cuts `line` (NUL-terminated, no newline) up in place; `out->path` points into it. */
bool tp_procmaps_parse(char *line, struct tp_mapping *out);

#endif
