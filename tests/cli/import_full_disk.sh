# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The disk becomes full during an import: it fails, and no files are left.
. "$CASES/run.inc"
. "$CASES/import_trace.inc"
[ "$(id -u)" -eq 0 ] || { echo 'only root can mount a small disk' >&2; exit 77; }
mkdir disk && mount -t tmpfs -o size=5m none disk 2>/dev/null || { echo 'cannot mount' >&2; exit 77; }
trap 'umount disk' EXIT
trace_of 60000 4 >large.json
trainprof import -o disk/prof large.json 2>&1
said $?
ls disk
dd if=/dev/zero of=disk/fill bs=64k 2>/dev/null
trainprof import -o disk/prof large.json 2>&1 | sed 's/: .* free/: SIZE free/'
ls disk
