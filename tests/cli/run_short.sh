# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# 20 ms: too short for a verdict, which is reported.
trainprof run -o prof -- short_run 20 2>err >/dev/null
echo "status $?"
sed -n 's/^\(TOO SHORT TO JUDGE\|NO VERDICT\).*/\1/p' err
grep -c 'exit status 0' err
grep -c '"kind": "exited"' prof/report.json
{ trainprof run --summary=none --delay 30s -o late -- short_run 20 >/dev/null; } 2>&1
