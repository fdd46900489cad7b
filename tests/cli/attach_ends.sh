# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A program that ends while it is measured: its end is reported, its status is not ours.
. "$CASES/run.inc"
# until_measured RECORDING: shell code for the program that waits until records of it are written
until_measured() {
	echo "until [ \"\$(stat -c %s '$1/records.tpr' 2>/dev/null || echo 0)\" -gt 4096 ]; do sleep 0.05; done"
}
for last in 'exit 0' 'exit 3' 'kill -TERM $$'; do
	sh -c "$(until_measured "prof $last"); $last" &
	trainprof attach -o "prof $last" $! 2>&1 | tr '\n' ' ' | grep -o 'sh\(: exit status\| was killed\)[^(]*(attached to' | head -1
	wait $!
	said $?
done
sh -c "$(until_measured last)" &
trainprof attach -q --summary=none -o last $!
said $?
