# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The program's status is the status of run: those that shells and trainprof give a meaning, and some of the
# others.
. "$CASES/run.inc"
wrong=0
# The cheapest source alone: the way of the status is the same.
n=0
for status in 0 1 2 $(seq 3 12 123) 124 125 126 127 128 129 130 137 139 143 $(seq 150 15 240) 254 255; do
	n=$((n + 1))
	run --force -o prof --collect=marks -- exit_status "$status" >/dev/null 2>&1
	got=$?
	[ $got -eq "$status" ] || { echo "$status became $got"; wrong=$((wrong + 1)); }
done
echo "$wrong of $n changed"
