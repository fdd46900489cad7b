# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A program that is killed: run ends by the same signal, and the report contains that.
. "$CASES/run.inc"
for number in 1 2 3 6 8 9 11 13 14 15 10 12; do
	sh -c "ulimit -c 0; exec trainprof run -q --summary=none --force -o prof -- signal_death $number" 2>/dev/null
	echo "signal $number: status $?, report: $(grep -A2 '"end"' prof/report.json | sed -n 's/.*"signal": //p')"
done
trainprof report prof | grep -v '^$' | sed -n '2p' | sed 's/after .* The/after TIME. The/'
