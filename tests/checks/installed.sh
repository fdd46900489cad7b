#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An installed trainprof runs away from its sources, and uninstalling leaves nothing. installed.sh BUILD
set -u
# shellcheck source=tests/claims.inc
. "$(dirname "$0")/../claims.inc"
build=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/installed-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT

"${MAKE:-make}" -s --no-print-directory install DESTDIR="$work" PREFIX=/opt/tp >"$work.log" 2>&1
claim $? "make install: $(tail -3 "$work.log")"
rm -f "$work.log"
[ -x "$work/opt/tp/bin/trainprof" ]
claim $? "the program is there"
[ -x "$work/opt/tp/lib/trainprof/libtrainprof-agent.so" ]
claim $? "the library for programs with a GPU is there"
[ "$(find "$work/opt/tp/share/trainprof/rules" -name '*.json' | wc -l)" -eq "$(find rules -name '*.json' | wc -l)" ]
claim $? "all rules are there"
(cd "$work" && opt/tp/bin/trainprof version >/dev/null)
claim $? "it tells its version"
(cd "$work" && opt/tp/bin/trainprof rules test >/dev/null)
claim $? "it finds its rules"
echo '#include <trainprof/mark.h>
int main(void) { trainprof_step(); return 0; }' >"$work/mark.c"
${CC:-gcc} -std=c11 -I "$work/opt/tp/include" -o "$work/mark" "$work/mark.c" && "$work/mark"
claim $? "a program can mark its steps"
rm -f "$work/mark" "$work/mark.c"
[ "$(cd "$work/opt/tp/share/trainprof/python" && find . -name '*.py' | sort)" = "$(cd src/python && find . -name '*.py' | sort)" ]
claim $? "all of the Python module is there"
"${MAKE:-make}" -s --no-print-directory uninstall DESTDIR="$work" PREFIX=/opt/tp >/dev/null
[ -z "$(find "$work" -type f)" ]
claim $? "uninstall leaves $(find "$work" -type f | head -3)"
[ -x "$build/trainprof" ]
claim $? "what was built stays"
sum_up install
