# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# If the reader of stderr is gone, neither the report nor the program's status is lost. The program
# ends when the reader has gone.
. "$CASES/run.inc"
{
	trainprof run -o prof -- sh -c 'grep SigIgn /proc/self/status >measured; while (echo heard >&2); do sleep 0.05; done; exit 3'
	echo "status $?" >noticed
} 2>&1 | :
wait_for noticed && cat noticed
ls prof/report.json
sh -c 'grep SigIgn /proc/self/status' >alone
cmp measured alone && echo 'the program ignores what it did without us'
