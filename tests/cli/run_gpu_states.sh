# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# GPUs that are unused, do not answer or are switched off, from a double of NVML.
. "$CASES/run.inc"
. "$CASES/run_gpu.inc"

# is_told PATTERN RECORDING SECONDS: the source's row after a program has slept that long
is_told() {
	with_gpu "$PWD/script" run -q --summary=none --force -o "$2" -- sleep "$3"
	source_row "$2" | grep -q "$1"
}

echo "-- nobody uses one"
printf 'devices 2\nprocess 1 5\n' >script
longer 2 is_told 'uses none' unused
source_row unused

echo "-- none that works"
printf 'devices 2\nfail_nvmlInit_v2 9\n' >script
longer 1 is_told 'does not start' broken
source_row broken
TRAINPROF_GPU=0 with_gpu "$PWD/script" run -q --summary=none -o off -- sleep 0.1
source_row off

echo "-- the program does not wait for a driver"
touch held
printf 'devices 1\nhold_nvmlInit_v2 %s\n' "$PWD/held" >script
with_gpu "$PWD/script" run -q --summary=none -o slow -- sleep 0.5 && echo soon
source_row slow | sed 's/after [0-9.]* s/after T s/'

echo "-- doctor tries all of every GPU"
export CUPTI_SCRIPT="$PWD/cupti"
printf 'devices 2\nchip AD104\ndram__bytes_read.sum 1\nfail_cuptiPmSamplingEnable 35\n' >cupti
printf 'devices 2\nname NVIDIA L4\nawake 0\ntotal 9\nfield_74 5\ngpu 1 fail_nvmlDeviceGetHandleByIndex_v2 4\n' >script
with_gpu "$PWD/script" doctor --for=gpu | sed -n '/gpu 0/,/disk/p' | sed '$d'
printf 'fail_cuptiPmSamplingGetCounterAvailability 35\n' >>cupti
with_gpu "$PWD/script" doctor --for=gpu | sed -n '/  counters/,/disk/p' | sed '$d'
printf 'devices 2\nfail_nvmlInit_v2 4\n' >script
with_gpu "$PWD/script" doctor --for=gpu | sed -n '/^  WARN  gpu/,/disk/p' | sed '$d'
