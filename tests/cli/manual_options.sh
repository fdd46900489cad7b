# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The option list of the manual page equals that of the tables.
trainprof help --manual >made
sed -n '/^<!-- made by/,/^<!-- end/p' "$CASES/../../docs/trainprof.1.md" | sed '1,2d;$d' | sed '$d' | diff - made
echo "status $?"
# The manual page is formatted without warnings.
command -v groff >/dev/null || exit 0
awk -f "$CASES/../../docs/roff.awk" "$CASES/../../docs/trainprof.1.md" >trainprof.1
groff -man -Tutf8 -ww trainprof.1 2>&1 >/dev/null | head -5
