# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Few descriptors, no locked memory, no root: the program runs and is reported on.
. "$CASES/run.inc"
chmod 777 .
# dash and bash know it.
# shellcheck disable=SC3045
(ulimit -n 64 && run -o a -- exit_status 4) >/dev/null 2>&1
said $?
as_user sh -c 'ulimit -l 0; trainprof run -q --summary=none -o b -- exit_status 4' >/dev/null 2>&1
said $?
ls a/report.json b/report.json
