# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The content of doctor's output depends on the machine; we check its two forms and its exit status.
trainprof doctor >text
echo "status $?"
grep -c '^  \(ok\|WARN\|----\)  ' text | awk '{ print ($1 > 4) ? "rows" : $0 }'
trainprof doctor --json | grep -o '"schema": ".*"'
trainprof doctor --json | grep -c '"id": "disk"'
# Gains that a source has already are not promised.
[ "$(id -u)" -ne 0 ] || chmod 755 .
. "$CASES/run.inc"
as_user trainprof doctor | grep -A1 'user space only' | grep adds
# A failed write makes it fail.
mkdir ro && chmod 555 ro && cd ro || exit 1
if [ "$(id -u)" -eq 0 ]; then
	chmod 755 .. && setpriv --reuid=65534 --regid=65534 --clear-groups trainprof doctor >../text
else
	trainprof doctor >../text
fi
echo "status $?"
grep 'FAIL' ../text
mkdir ../bad && mkdir -p ../bad/bottlenecks/x && echo '{' >../bad/bottlenecks/x/y.json
trainprof doctor --rules ../bad | grep -A1 'FAIL  rules' | head -1 | cut -c1-14
