# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Another user's program is refused, with the command that has the permission; if the kernel refuses
# a source, the rest is shown, and the missing part is named.
. "$CASES/run.inc"
[ "$(id -u)" -eq 0 ] || { echo 'only root can become another user' >&2; exit 77; }
refuse vmread EPERM true || exit 77
sh -c 'while :; do :; done' &
pid=$!
as_user trainprof top $pid >said 2>&1
said $?
sed "s/$pid/PID/g" said
for call in vmread perf; do
	refuse $call EPERM "$BUILD/trainprof" top -n 1 -i 1s --width=160 $pid >out
	said $?
	sed -En 's/this container forbids|something here forbids/it forbids/; /are off|are not available/p' out
done
kill $pid
