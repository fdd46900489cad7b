#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Rings in a small /dev/shm, on doubles of CUDA: eight ranks, or 300 processes that start CUDA at
# once, then a loader worker that needs the room that trainprof leaves. Nothing fails, all that the
# ranks did is reported, and where there was no room a line says so. Needs a namespace of its own
# for the mount. proof_room.sh BUILD
set -u
# shellcheck source=tests/claims.inc
. "$(dirname "$0")/../claims.inc"
build=$(realpath "$1")
work=$(mktemp -d "${TMPDIR:-/tmp}/proof-room-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
PROCESSES=300

if ! unshare -m mount -t tmpfs -o size=1m shm /dev/shm 2>/dev/null; then
	skip "no mounts of its own are permitted here"
	sum_up room
	exit
fi
: >"$work/script"
printf 'devices 1\nname NVIDIA H200\nawake 50\n' >"$work/nvml"

# The job: N processes at once; when all have ended, a worker fills MIB of /dev/shm.
cat >"$work/job" <<'JOB'
n=$1 mib=$2 wait_ms=$3 launcher=$4
pids=
for _ in $(seq "$n"); do
	"$launcher" return 1 640 0 "$wait_ms" >/dev/null &
	pids="$pids $!"
done
for pid in $pids; do
	wait "$pid" || echo "rank $?"
done
head -c "${mib}M" /dev/zero >/dev/shm/batch || echo "worker $?"
rm -f /dev/shm/batch
JOB

# runs SHM-MIB N WORKER-MIB WAIT-MS: the job under trainprof with so much /dev/shm
runs() {
	recording=$work/of-$1-$2
	LD_LIBRARY_PATH="$build/doubles:$build/doubles/whole" CUPTI_SCRIPT="$work/script" NVML_SCRIPT="$work/nvml" \
		timeout 300 unshare -m sh -c 'mount -t tmpfs -o "size=$1m" shm /dev/shm && shift && exec "$@"' sh "$1" \
		"$build/trainprof" run -q --summary=none --gpu-trace=continuous -o "$recording" -- \
		sh "$work/job" "$2" "$3" "$4" "$build/programs/gpu_launcher" >"$work/output" 2>&1
	status=$?
	[ $status -eq 0 ] && [ ! -s "$work/output" ]
	claim $? "$1 MiB, $2 processes: status $status, $(head -c 300 "$work/output")"
	"$build/trainprof" report --full --steps=none "$recording" >"$work/report" 2>&1
}

# Of 640 units of work 590 are kernels.
for size in 64 256 512; do
	runs $size 8 $((size / 4)) 60000
	n=$(grep -c "^ *work *590 compute kernels" "$work/report")
	[ "$n" -eq 8 ] && grep -q ' 0 lost' "$work/report"
	claim $? "$size MiB: all kernels of $n ranks of 8 are reported"
done

runs 512 $PROCESSES 32 2000
tr -s ' \n' ' ' <"$work/report" | grep -q "no room for GPU events: no space left on device"
claim $? "$PROCESSES processes: the report says that there was no room"
sum_up room
