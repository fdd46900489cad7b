# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A container that forbids perf_event_open: one line before the start, the rest is measured.
. "$CASES/run.inc"
without_perf true 2>/dev/null || { echo 'no seccomp here' >&2; exit 77; }
without_perf trainprof run --summary=none -o a -- exit_status 4 2>&1 | sed 's/^trainprof: CPU.*off: .*/OFF/; s/^  next: .*/NEXT/'
without_perf trainprof run -q --summary=none -o b -- exit_status 4
said $?
without_perf trainprof run -q --require=perf -o c -- exit_status 4 2>&1 | sed 's/^  next: .*/NEXT/'
without_perf trainprof run -q --require=perf -o c -- exit_status 4 2>/dev/null
said $?
without_perf trainprof doctor | grep -c 'WARN  perf'
ls
