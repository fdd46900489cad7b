# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Another user's program is refused, with the command that has the permission.
. "$CASES/run.inc"
[ "$(id -u)" -eq 0 ] || { echo 'only root can become another user' >&2; exit 77; }
chmod 755 . .. 2>/dev/null
mkdir -m 777 open && cd open || exit 2
sleep 300 &
pid=$!
as_user trainprof attach -d 1s $pid 2>&1 | sed "s/$pid/PID/g"
as_user sleep 300 &
other=$!
trainprof attach -q --summary=none -d 300ms -o prof $other
said $?
kill $pid $other
ls
