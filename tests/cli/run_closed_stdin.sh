# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Closed descriptors are closed for the program too, and it gets none of trainprof's.
. "$CASES/run.inc"
run -o a -- sh -c 'read line && echo read || echo closed' <&- 2>&1
run -o b -- sh -c '[ -e /proc/self/fd/1 ] && echo open >seen || echo closed >seen' >&-
cat seen
run -o c -- sh -c 'ls /proc/self/fd' >inside
sh -c 'ls /proc/self/fd' >alone
cmp inside alone && echo "as without trainprof"
ls a/report.json b/report.json c/report.json
