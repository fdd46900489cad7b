# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The disk becomes full: recording stops, the program does not.
. "$CASES/run.inc"
[ "$(id -u)" -eq 0 ] || { echo 'only root can mount a small disk' >&2; exit 77; }
mkdir disk && mount -t tmpfs -o size=8m none disk 2>/dev/null || { echo 'cannot mount' >&2; exit 77; }
trap 'umount disk' EXIT
run -o disk/prof -- sh -c 'dd if=/dev/zero of=disk/fill bs=64k 2>/dev/null; thread_crowd 50 3000 >/dev/null; exit 7' 2>err
said $?
sed 's/after [0-9:]*/after TIME/' err
trainprof report disk/prof >/dev/null
said $?
: >disk/fill
dd if=/dev/zero of=disk/fill bs=64k 2>/dev/null
run -o disk/other -- true 2>&1 | sed 's/: .* free/: SIZE free/'
