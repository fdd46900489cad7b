#!/bin/sh
# The library that is loaded into other people's programs: two names visible, nothing but libc needed,
# nothing that prints, ends or allocates; and, where CUPTI's headers are installed, their layouts are
# ours. check_agent.sh LIBRARY [CUDA_INCLUDE]
set -u
library=$1
include=${2:-/usr/local/cuda/include}
n_passed=0
n_failed=0
n_skipped=0

claim() { # claim TEXT STATUS
	if [ "$2" -eq 0 ]; then
		n_passed=$((n_passed + 1))
	else
		n_failed=$((n_failed + 1))
		echo "failed: $1"
	fi
}

visible=$(nm -D --defined-only "$library" | awk '{ print $3 }' | sort | tr '\n' ' ')
[ "$visible" = "InitializeInjection " ]
claim "it shows $visible" $?

needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^lib\(c\|dl\|pthread\)\.so\.' | grep -v '^ld-linux')
[ -z "$needed" ]
claim "it needs $needed" $?

# What would print, end the program, take its allocator's locks or its signals.
forbidden=$(nm -D --undefined-only "$library" | awk '{ sub(/@.*/, "", $2); print $2 }' |
	grep -x 'printf\|puts\|putchar\|fputs\|fwrite\|fprintf\|vfprintf\|perror\|write\|exit\|_exit\|abort\|__assert_fail\|malloc\|calloc\|realloc\|free\|signal\|sigaction\|fork\|vfork\|execve\|system\|dlclose\|kill\|raise')
[ -z "$forbidden" ]
claim "it calls $forbidden" $?

readelf -d "$library" | grep -q 'NODELETE'
claim "it cannot be unloaded" $?

if [ -e "$include/cupti_activity.h" ]; then
	# Those headers need C++ for one include; an empty file of that name will do.
	work=$(mktemp -d "${TMPDIR:-/tmp}/agent-XXXXXX") || exit 2
	: >"$work/string"
	${CC:-gcc} -std=c11 -D_GNU_SOURCE -Isrc -Iinclude -isystem "$work" -isystem "$include" -fsyntax-only \
		tests/agent/cupti_layouts.c
	claim "the layouts are those of $include" $?
	rm -r "$work"
else
	n_skipped=$((n_skipped + 1))
	echo "skipped: no cupti_activity.h in $include"
fi

echo "agent: $n_passed passed, $n_failed failed, $n_skipped skipped"
[ "$n_failed" -eq 0 ]
