#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the library that is loaded into other people's programs: it exports three names, needs only
# libc, and uses nothing that prints, ends or allocates; if CUPTI's headers are installed, their
# layouts equal ours. check_agent.sh LIBRARY [CUDA_INCLUDE]
set -u
# shellcheck source=tests/claims.inc
. "$(dirname "$0")/../claims.inc"
library=$1
include=${2:-/usr/local/cuda/include}

visible=$(nm -D --defined-only "$library" | awk '{ print $3 }' | sort | tr '\n' ' ')
[ "$visible" = "InitializeInjection InitializeInjectionNvtx2 InitializeInjectionNvtxExtension trainprof_agent_attach " ]
claim $? "it shows $visible"

needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^lib\(c\|dl\|pthread\)\.so\.' | grep -v '^ld-linux')
[ -z "$needed" ]
claim $? "it needs $needed"

# Functions that print, end the program, take its allocator's locks or its signals.
forbidden=$(nm -D --undefined-only "$library" | awk '{ sub(/@.*/, "", $2); print $2 }' |
	grep -x 'printf\|puts\|putchar\|fputs\|fwrite\|fprintf\|vfprintf\|perror\|write\|exit\|_exit\|abort\|__assert_fail\|malloc\|calloc\|realloc\|free\|signal\|sigaction\|fork\|vfork\|execve\|system\|dlclose\|kill\|raise')
[ -z "$forbidden" ]
claim $? "it calls $forbidden"

readelf -d "$library" | grep -q 'NODELETE'
claim $? "it cannot be unloaded"

if [ -e "$include/cupti_activity.h" ]; then
	# Those headers need C++ for one include; an empty file of that name is enough.
	work=$(mktemp -d "${TMPDIR:-/tmp}/agent-XXXXXX") || exit 2
	: >"$work/string"
	for layouts in cupti_layouts pm_layouts; do
		[ $layouts = pm_layouts ] && [ ! -e "$include/cupti_pmsampling.h" ] && continue
		${CC:-gcc} -std=c11 -D_GNU_SOURCE -Isrc -Iinclude -isystem "$work" -isystem "$include" \
			-fsyntax-only tests/agent/$layouts.c
		claim $? "$layouts are those of $include"
	done
	rm -r "$work"
else
	skip "no cupti_activity.h in $include"
fi

if [ -e "$include/nvtx3/nvToolsExtPayload.h" ]; then
	${CC:-gcc} -std=c11 -D_GNU_SOURCE -Isrc -Iinclude -isystem "$include" -fsyntax-only tests/agent/nvtx_layouts.c
	claim $? "the layouts of NVTX are those of $include"
else
	skip "no nvtx3/nvToolsExtPayload.h in $include"
fi

sum_up agent
