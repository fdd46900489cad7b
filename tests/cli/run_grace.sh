# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A report that takes too long is aborted, and generated later; the status stays.
. "$CASES/run.inc"
run -o prof --grace=0s -- exit_status 3 2>&1 >/dev/null | grep -v err
run -o other --grace=0s -- exit_status 3 >/dev/null 2>&1
said $?
ls prof/report.json 2>/dev/null
trainprof report prof >/dev/null
said $?
