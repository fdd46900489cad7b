# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A program that executes another one is followed; the status is that of the last one.
. "$CASES/run.inc"
run -o prof -- sh -c 'exec sh -c "exec exit_status 9"' >/dev/null 2>&1
said $?
ls prof/report.json
