# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The status of run is the program's status: all of them.
. "$CASES/run.inc"
wrong=0
# The cheapest source only: the status takes the same way.
for status in $(seq 0 255); do
	run --force -o prof --collect=marks -- exit_status "$status" >/dev/null 2>&1
	got=$?
	[ $got -eq "$status" ] || { echo "$status became $got"; wrong=$((wrong + 1)); }
done
echo "$wrong of 256 changed"
