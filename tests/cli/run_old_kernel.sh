# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# On a kernel without the system calls of Linux 5.1 and later: runs are measured and shown while
# they go on; attaching is refused with the reason, and doctor says so beforehand.
. "$CASES/run.inc"
old_kernel true || exit 77
old_kernel trainprof run -q --summary=none -o short -- sh -c 'exit 3'
said $?
old_kernel trainprof doctor | grep -A 1 ' attach '
old_kernel trainprof doctor --json | grep -c '"attach"'
trainprof doctor --json | grep -c '"attach"'
trainprof run -q --summary=none -o prof -- trainer --milliseconds 600000 --steps 1000000 --marks steps >/dev/null &
run=$!
wait_for prof/records.tpr
old_kernel trainprof attach -o no $run 2>&1 | sed "s/pid $run/pid PID/"
old_kernel trainprof stacks $run 2>&1 | sed "s/pid $run/pid PID/"
old_kernel trainprof top -n 1 prof | sed -En 's/^trainprof top +prof +(trainer).*/\1/p'
kill $run
wait $run 2>/dev/null
said $?
old_kernel trainprof top -n 1 prof 2>&1
said $?
